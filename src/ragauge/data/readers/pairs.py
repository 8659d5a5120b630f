"""Questions with two answers each, and which of them people prefer, from any file of rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ragauge.data.preference import AnswerPair, Better
from ragauge.data.readers.aliases import names_of, snake
from ragauge.data.readers.rows import Row, Rows
from ragauge.data.readers.source import rows_of
from ragauge.data.readers.values import BadValue, Notes, answer_text, identifier, opened, text
from ragauge.errors import UnknownName

FIELDS: Mapping[str, tuple[str, ...]] = {
    "query": (*names_of("query"), "instruction"),
    "answers": ("answers", "outputs"),
    "answer_1": ("answer_1", "answer_a", "output_1", "response_a", "chosen"),
    "answer_2": ("answer_2", "answer_b", "output_2", "response_b", "rejected"),
    "better": ("better", "label", "winner", "preference"),
    "query_id": tuple(names_of("query_id")),
}
WORDS: Mapping[str, Better] = {
    "1": 1, "first": 1, "a": 1, "answer_a": 1, "answer_1": 1, "model_a": 1,
    "2": 2, "second": 2, "b": 2, "answer_b": 2, "answer_2": 2, "model_b": 2,
    "0": 0, "tie": 0, "same": 0, "both": 0,
}  # fmt: skip


def read_pairs(source: Any, columns: Mapping[str, str] | None = None) -> Iterator[AnswerPair]:
    """The rows of a file: query, two answers (`answers`, or `answer_1` and `answer_2`), and `better` where known.

    Args:
        source: a path or a table.
        columns: our field -> the source's column.

    Raises:
        DataError: a field that is missing or cannot be read, with its line.
        UnknownName: a mapping onto a field that does not exist.
    """
    for name in columns or {}:
        if name not in FIELDS:
            raise UnknownName("field", name, FIELDS, "Write FIELD=COLUMN, such as better=winner.")
    rows = rows_of(source)
    notes = Notes(cells=rows.cells)
    found = 0
    for n, row in rows.rows:
        found += 1
        try:
            yield _pair(rows, n, row, columns or {}, notes)
        except BadValue as bad:
            raise rows.error(str(bad), n, bad.hint) from None
    if not found:
        raise rows.error("there is no row in it.")


def _pair(rows: Rows, n: int, row: Row, columns: Mapping[str, str], notes: Notes) -> AnswerPair:
    spelled = {snake(column): column for column, value in row.items() if value is not None}
    names: dict[str, str] = {}
    for ours, theirs in FIELDS.items():
        column = columns.get(ours) or next((spelled[one] for one in theirs if one in spelled), "")
        if column in row:
            names[ours] = column
    several = opened(row[names["answers"]], names["answers"], notes) if "answers" in names else None
    if several is None:
        for ours in ("answer_1", "answer_2"):
            if ours not in names:
                raise rows.error(f"no field {ours!r} (found: {', '.join(row)}).", n, f"Use --map {ours}=COLUMN.")
        several = [row[names["answer_1"]], row[names["answer_2"]]]
    if not isinstance(several, list | tuple) or len(several) != 2:
        raise BadValue(names["answers"], "a list of two answers", several)
    if "query" not in names:
        raise rows.error(f"no field 'query' (found: {', '.join(row)}).", n, "Use --map query=COLUMN.")
    first, second = (answer_text(one, "answer", notes) for one in several)
    name = names.get("query_id")
    return AnswerPair(
        f"{rows.unit} {n}" if name is None else identifier(row[name], name, notes),
        text(row[names["query"]], names["query"], notes), (first, second),
        _better(row[names["better"]], names["better"]) if "better" in names else None,
    )  # fmt: skip


def _better(value: Any, name: str) -> Better:
    said = snake(str(value)).strip("_") if isinstance(value, str | int | float) else ""
    if said not in WORDS:
        raise BadValue(name, "1 or 2 (first, second; a, b), or tie", value)
    return WORDS[said]
