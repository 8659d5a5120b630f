"""A file of recorded responses as a system that answers from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ragauge.core.example import EvalSet
from ragauge.core.response import Passage, Response
from ragauge.readers.aliases import RESPONSE_FIELDS
from ragauge.readers.options import Options
from ragauge.readers.source import derive_name, join_answers, read_source
from ragauge.systems.base import Question, System, SystemTrouble, check_setting_names, read_mapping

SETTINGS = ("name", "config", "columns")


class RecordedSystem(System):
    """Gives the responses of a file, or of a table in memory.

    Args:
        source: as `ragauge evaluate` reads it; query_id and, where that is absent, the query says whose they are.
        name: of the system.
        config: its settings, for the record.
        eval_set: what it will be asked; None = the questions stand beside the responses.
        columns: our field -> the source's column.
        shared: the same, of a column that may stand in the set alone.

    Raises:
        DataError: what cannot be read.
    """

    implement = "the system itself instead of its recorded responses"

    def __init__(
        self,
        source: Any,
        name: str,
        config: Mapping[str, Any] | None = None,
        eval_set: EvalSet | None = None,
        columns: Mapping[str, str] | None = None,
        shared: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(name, config)
        self.measured = False
        if eval_set is None:
            rows = read_source(source, columns=columns)
        else:
            both = Options({**(shared or {}), **(columns or {})})
            rows = join_answers(eval_set, source, both, found_columns=(shared or {}).values(), on_unknown="warn")
        self._responses = {
            (row.response.query_id, row.response.repeat): row.response for row in rows if row.response is not None
        }

    async def respond(self, question: Question, passages: Sequence[Passage] | None = None) -> Response:
        """The recorded response."""
        if passages is not None:
            self.check_variant("replayed")
        response = self._responses.get((question.query_id, question.repeat))
        if response is None:
            again = f", repeat {question.repeat}" if question.repeat else ""
            raise SystemTrouble("absent", f"no response to {question.query_id}{again} in {self.name}")
        return response


def adapt(
    target: Path,
    name: str,
    settings: Mapping[str, Any],
    eval_set: EvalSet | None = None,
    columns: Mapping[str, str] | None = None,
) -> System:
    """The recorded responses of a file; see `RecordedSystem`."""
    check_setting_names(settings, SETTINGS, "recorded responses")
    config = {"file": derive_name(target), **read_mapping(settings, "config")}
    all_columns = columns or {}
    response_columns = {ours: theirs for ours, theirs in all_columns.items() if ours in RESPONSE_FIELDS}
    response_columns |= read_mapping(settings, "columns")
    system_name = str(settings.get("name") or name)
    return RecordedSystem(
        target,
        system_name,
        config,
        eval_set,
        response_columns,
        {ours: all_columns[ours] for ours in all_columns.keys() - response_columns},
    )
