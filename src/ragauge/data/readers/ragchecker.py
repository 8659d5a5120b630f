"""RAGChecker's meta-evaluation files: one question a row with the answers of two systems, model1 and model2.

RAGChecker's own inputs and outputs, {"results": [...]}, need no reader: their columns are among the aliases.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ragauge.data.readers.rows import Row
from ragauge.errors import UsageError

SIDES = ("model1", "model2")
LABELS = frozenset({"correctness_label", "completeness_label", "overall_label", "instance_id"})


def reads(found: Iterable[str]) -> bool:
    """Whether the columns are those of such a file."""
    return {"query", *SIDES} <= set(found)


def flat(row: Row, system: str | None) -> Row | None:
    """One system's answer.

    Args:
        row: of the file.
        system: model1 or model2, or the name of a system; None is refused, since the row holds two answers.

    Returns:
        The row as one response; None where the named system did not answer this question. query_id is unique only
        within a data set, so the data set's name comes before it.
    """
    if not system:
        names = ", ".join(_name(row[side]) or side for side in SIDES)
        problem = "the file holds the answers of two systems."
        raise UsageError(f"{problem} Choose one with system=: model1, model2 or a name such as {names}.")
    side = system if system in SIDES else next((one for one in SIDES if _name(row[one]) == system), None)
    if side is None:
        return None
    chosen = row[side]
    dropped = {*SIDES, *LABELS, "dataset", "query_id"}
    out: dict[str, Any] = {key: value for key, value in row.items() if key not in dropped}
    out["answer"] = chosen.get("response") if isinstance(chosen, Mapping) else None
    dataset, query_id = row.get("dataset"), row.get("query_id")
    if query_id is not None:
        out["query_id"] = f"{dataset}:{query_id}" if dataset else query_id
    if dataset:
        out["segments"] = {"dataset": dataset}
    return out


def systems(row: Row) -> set[str]:
    """The names of the two systems."""
    return {name for side in SIDES if (name := _name(row[side]))}


def _name(side: Any) -> str:
    name = side.get("model_name") if isinstance(side, Mapping) else None
    return name if isinstance(name, str) else ""
