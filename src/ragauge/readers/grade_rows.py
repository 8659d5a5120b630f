"""Grades that people gave, from any file of rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ragauge.core.errors import UnknownName, find_nearest
from ragauge.core.human_labels import GradedItem
from ragauge.core.values import BadValue, Notes, decode_cell, parse_identifier, parse_number, parse_scalar
from ragauge.readers.aliases import list_field_names, to_snake_case
from ragauge.readers.fields import parse_weight
from ragauge.readers.lines import Row, Rows
from ragauge.readers.source import read_rows

FIELDS: Mapping[str, tuple[str, ...]] = {
    "label": ("label", "labels", "grade", "grades", "score", "rating", "human_label", "annotations"),
    "query_id": tuple(list_field_names("query_id")),
    "weight": tuple(list_field_names("weight")),
}


@dataclass(frozen=True, slots=True)
class GradeOptions:
    """How a file of grades is read."""

    columns: Mapping[str, str] = field(default_factory=dict)  #: our field -> the file's column.
    verdicts: Sequence[str] = ()  #: columns with the grades of judges.
    segments: Sequence[str] = ()  #: columns to report by.


def read_grades(source: Any, options: GradeOptions = GradeOptions()) -> Iterator[GradedItem]:
    """The rows of a file: a number, or a list with one an annotator, and the numbers of judges beside it.

    Args:
        source: a path or a table.
        options: how it is read.

    Raises:
        DataError: a field that is missing or no number, with its line and the nearest name.
        UnknownName: a mapping onto a field that does not exist.
    """
    for name in options.columns:
        if name not in FIELDS:
            raise UnknownName("field", name, FIELDS, "Write FIELD=COLUMN, such as label=score.")
    rows = read_rows(source)
    notes, count = Notes(cells=rows.cells), 0
    for n, row in rows.rows:
        count += 1
        try:
            yield _parse_row(rows, n, row, options, notes)
        except BadValue as bad:
            raise rows.error(str(bad), n, bad.hint) from None
    if not count:
        raise rows.error("it has no rows.")


def _parse_row(rows: Rows, n: int, row: Row, options: GradeOptions, notes: Notes) -> GradedItem:
    taken = {*options.columns.values(), *options.verdicts, *options.segments}
    spelled = {to_snake_case(column): column for column in row if column not in taken}
    names = {
        ours: options.columns.get(ours) or next((spelled[entry] for entry in theirs if entry in spelled), "")
        for ours, theirs in FIELDS.items()
    }
    required_columns = {names["label"] or "label": "--map label="}
    required_columns |= dict.fromkeys(options.verdicts, "--verdict ") | dict.fromkeys(options.segments, "--segments ")
    for column, option in required_columns.items():
        if column not in row:
            near = find_nearest(column, list(row), 1, 0.6)
            raise rows.error(
                f"no field {column!r} (found: {', '.join(row)}).", n, f"Use {option}{near[0] if near else 'COLUMN'}."
            )
    raw = decode_cell(row[names["label"]], names["label"], notes)
    several = list(raw) if isinstance(raw, list | tuple) else [raw]
    grades = tuple(parse_number(entry, names["label"]) for entry in several if entry is not None)
    if not grades:
        raise BadValue(names["label"], "a number, or a list of numbers, one per annotator", raw)
    name, counted = names["query_id"], names["weight"]
    return GradedItem(
        parse_identifier(row[name], name, notes) if name in row else f"{rows.unit} {n}",
        grades,
        tuple(None if row[column] is None else parse_number(row[column], column) for column in options.verdicts),
        {column: parse_scalar(row[column], column, notes) for column in options.segments if row[column] is not None},
        parse_weight(row[counted], counted) if counted in row else 1.0,
    )
