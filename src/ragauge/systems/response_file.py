"""A file of recorded responses as a system that answers from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ragauge.core.example import EvalSet
from ragauge.core.response import Passage, Response
from ragauge.readers.aliases import RESPONSE_FIELDS
from ragauge.readers.options import Options
from ragauge.readers.source import answers_to, name_of, records
from ragauge.systems.base import Question, System, SystemTrouble, known_settings, mapping_of

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
            found = records(source, columns=columns)
        else:
            both = Options({**(shared or {}), **(columns or {})})
            found = answers_to(eval_set, source, both, seen=(shared or {}).values(), on_unknown="warn")
        self._responses = {
            (one.response.query_id, one.response.repeat): one.response for one in found if one.response is not None
        }

    async def respond(self, question: Question, passages: Sequence[Passage] | None = None) -> Response:
        """The recorded response."""
        if passages is not None:
            self.check("replayed")
        found = self._responses.get((question.query_id, question.repeat))
        if found is None:
            again = f", repeat {question.repeat}" if question.repeat else ""
            raise SystemTrouble("absent", f"no response to {question.query_id}{again} in {self.name}")
        return found


def adapt(
    target: Path,
    name: str,
    settings: Mapping[str, Any],
    eval_set: EvalSet | None = None,
    columns: Mapping[str, str] | None = None,
) -> System:
    """The recorded responses of a file; see `RecordedSystem`."""
    known_settings(settings, SETTINGS, "recorded responses")
    config = {"file": name_of(target), **mapping_of(settings, "config")}
    given = columns or {}
    own = {ours: theirs for ours, theirs in given.items() if ours in RESPONSE_FIELDS}
    own |= mapping_of(settings, "columns")
    named = str(settings.get("name") or name)
    return RecordedSystem(target, named, config, eval_set, own, {ours: given[ours] for ours in given.keys() - own})
