"""RAGChecker's meta-evaluation: two systems' answers a row, with people's labels of which is better."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ragauge.core.errors import UsageError
from ragauge.readers.lines import Row, RowContext

SYSTEM_COLUMNS = ("model1", "model2")
LABELS = frozenset({"correctness_label", "completeness_label", "overall_label", "instance_id"})


def takes(columns: Iterable[str]) -> bool:
    """Whether the columns are those of such a file."""
    return {"query", *SYSTEM_COLUMNS} <= set(columns)


def read_row(row: Row, context: RowContext) -> Row | None:
    """One system's answer.

    Args:
        row: of the file.
        context: with the system: model1 or model2, or the name of one; None is refused, since the row holds two
            answers.

    Returns:
        The row as one response; None where the named system did not answer this question. query_id is unique only
        within a data set, so the data set's name comes before it.
    """
    names = {column: _get_model_name(row[column]) for column in SYSTEM_COLUMNS}
    if not context.system:
        known = ", ".join(name or column for column, name in names.items())
        problem = "the file has the answers of two systems."
        raise UsageError(f"{problem} Choose one with system=: model1, model2 or a name such as {known}.")
    selected = next((column for column, name in names.items() if context.system in (column, name)), None)
    if selected is None:
        context.systems |= set(filter(None, names.values()))
        return None
    dropped = {*SYSTEM_COLUMNS, *LABELS, "dataset", "query_id"}
    out: dict[str, Any] = {key: value for key, value in row.items() if key not in dropped}
    out["answer"] = row[selected].get("response") if isinstance(row[selected], Mapping) else None
    dataset, query_id = row.get("dataset"), row.get("query_id")
    if query_id is not None:
        out["query_id"] = f"{dataset}:{query_id}" if dataset else query_id
    if dataset:
        out["segments"] = {"dataset": dataset}
    return out


def _get_model_name(answer: Any) -> str:
    name = answer.get("model_name") if isinstance(answer, Mapping) else None
    return name if isinstance(name, str) else ""
