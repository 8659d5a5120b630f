"""From what a user names to the system that is meant. An adapter for another framework is one file and one line here.

An adapter's file gives two functions: `takes(target)`, whether an object is of its kind (by the names of the object's
classes, so that the framework is not imported), and `adapt(target, name, settings)`, the System.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from ragauge.core.errors import UsageError
from ragauge.core.example import EvalSet
from ragauge.core.object_lookup import is_object_path, load_object
from ragauge.core.response import Passage, Response
from ragauge.core.values import describe_value
from ragauge.readers.aliases import RESPONSE_FIELDS
from ragauge.readers.options import Options
from ragauge.readers.source import derive_name, join_answers, read_source
from ragauge.systems import callable as python
from ragauge.systems import haystack, http, langchain, llamaindex, pgvector, vector_store
from ragauge.systems.base import Question, System, SystemTrouble, check_setting_names, read_mapping

FORMS = "a Python object as module:name, a URL (http://… or https://…), or a file of recorded responses"


class Adapter(Protocol):
    """What the file of an adapter gives."""

    def takes(self, target: object) -> bool:
        """Whether the object is of this adapter's kind."""

    def adapt(self, target: Any, name: str, settings: Mapping[str, Any]) -> System:
        """The system behind the object. UsageError for a setting that is not known, or an object that will not do."""


# the first that takes an object has it; plain Python comes last
ADAPTERS: tuple[Adapter, ...] = (langchain, llamaindex, haystack, vector_store, python)


def find_system(
    target: Any,
    settings: Mapping[str, Any] | None = None,
    eval_set: EvalSet | None = None,
    columns: Mapping[str, str] | None = None,
) -> System:
    """The system that is meant.

    Args:
        target: a System; a URL; module:name; a path of recorded responses; a function, class or object.
        settings: of the adapter: see `callable.adapt`, `http.adapt`, `adapt_recorded`.
        eval_set: what it will be asked; recorded responses are joined with it.
        columns: our field -> column, of such a set and of recorded responses.

    Raises:
        UsageError: nothing of that name, with the nearest; or a setting that is not known.
        DataError: recorded responses that cannot be read.
    """
    options = dict(settings or {})
    if isinstance(target, System):
        if options:
            raise UsageError(
                f"settings apply only to a system given by name, but {target.name} already exists as an object."
            )
        return target
    if is_recorded(target):
        return adapt_recorded(Path(target), str(target), options, eval_set, columns)
    if not isinstance(target, str):
        return _adapt_target(target, _name_of(target), options)
    if target.startswith(("http://", "https://")):
        return http.adapt(target, target, options)
    if target.startswith(pgvector.SCHEMES):
        return pgvector.adapt(target, target, options)
    if is_object_path(target) and not Path(target).exists():
        return _adapt_target(load_object(target), target, options)
    looks = Path(target).suffix in (".jsonl", ".json", ".csv", ".tsv", ".parquet", ".gz")
    problem = "no such file" if looks else f"expected {FORMS}"
    hint = f" Write {Path(target).stem}:NAME." if target.endswith(".py") or target.isidentifier() else ""
    raise UsageError(f"system {target!r}: {problem}.{hint}")


def is_recorded(target: Any) -> bool:
    """Whether a file of recorded responses is meant."""
    return isinstance(target, Path) or (isinstance(target, str) and _is_response_file(target))


def _is_response_file(target: str) -> bool:
    try:
        return bool(target) and Path(target).is_file() and not target.endswith(".py")
    except (OSError, ValueError):  # too long a name, or NUL in it
        return False


def _adapt_target(target: Any, name: str, settings: Mapping[str, Any]) -> System:
    if isinstance(target, System):
        return find_system(target, settings)
    for adapter in ADAPTERS:
        if adapter.takes(target):
            return adapter.adapt(target, name, settings)
    raise UsageError(f"{name}: expected {FORMS}, or a function or object, got {describe_value(target)}.")


def _name_of(target: Any) -> str:
    """module:name of a function or class; of an object, its class's."""
    definition = target if hasattr(target, "__qualname__") else type(target)
    return f"{definition.__module__}:{definition.__qualname__}"


RECORDED_SETTINGS = ("name", "config", "columns")


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


def adapt_recorded(
    target: Path,
    name: str,
    settings: Mapping[str, Any],
    eval_set: EvalSet | None = None,
    columns: Mapping[str, str] | None = None,
) -> System:
    """The recorded responses of a file; see `RecordedSystem`."""
    check_setting_names(settings, RECORDED_SETTINGS, "recorded responses")
    config = {"file": derive_name(target), **read_mapping(settings, "config")}
    all_columns = columns or {}
    response_columns = {ours: theirs for ours, theirs in all_columns.items() if ours in RESPONSE_FIELDS}
    response_columns |= read_mapping(settings, "columns")
    return RecordedSystem(
        target,
        str(settings.get("name") or name),
        config,
        eval_set,
        response_columns,
        {ours: all_columns[ours] for ours in all_columns.keys() - response_columns},
    )
