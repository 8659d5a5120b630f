"""From what a user names to the system that is meant. An adapter for another framework is one file and one line here.

An adapter's file gives two functions: `takes(target)`, whether an object is of its kind (by the names of the object's
classes, so that the framework is not imported), and `adapt(target, name, settings)`, the System.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from ragauge.core.errors import UsageError
from ragauge.core.example import EvalSet
from ragauge.core.object_lookup import is_object_path, load_object
from ragauge.core.values import describe_value
from ragauge.systems import callable as python
from ragauge.systems import haystack, http, langchain, llamaindex, pgvector, vector_store
from ragauge.systems import response_file as recorded
from ragauge.systems.base import System

FORMS = "module:name of something in Python, http://… or https://…, or a file of recorded responses"


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
        settings: of the adapter: see `callable.adapt`, `http.adapt`, `recorded.adapt`.
        eval_set: what it will be asked; recorded responses are joined with it.
        columns: our field -> column, of such a set and of recorded responses.

    Raises:
        UsageError: nothing of that name, with the nearest; or a setting that is not known.
        DataError: recorded responses that cannot be read.
    """
    options = dict(settings or {})
    if isinstance(target, System):
        if options:
            raise UsageError(f"settings are for a system that is named, and {target.name} is made already.")
        return target
    if is_recorded(target):
        return recorded.adapt(Path(target), str(target), options, eval_set, columns)
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
