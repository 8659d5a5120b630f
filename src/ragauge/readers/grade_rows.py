"""Grades that people gave, from any file of rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ragauge.core.errors import UnknownName, nearest
from ragauge.core.human_labels import GradedItem
from ragauge.core.values import BadValue, Notes, identifier, number, opened, scalar_text
from ragauge.readers.aliases import names_of, snake
from ragauge.readers.fields import weight
from ragauge.readers.lines import Row, Rows
from ragauge.readers.source import rows_of

FIELDS: Mapping[str, tuple[str, ...]] = {
    "label": ("label", "labels", "grade", "grades", "score", "rating", "human_label", "annotations"),
    "query_id": tuple(names_of("query_id")),
    "weight": tuple(names_of("weight")),
}


@dataclass(frozen=True, slots=True)
class GradeOptions:
    """How a file of grades is read.

    Attributes:
        columns: our field -> the file's column.
        verdicts: columns with the grades of judges.
        segments: columns to report by.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    verdicts: Sequence[str] = ()
    segments: Sequence[str] = ()


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
    rows = rows_of(source)
    notes, count = Notes(cells=rows.cells), 0
    for n, row in rows.rows:
        count += 1
        try:
            yield _graded(rows, n, row, options, notes)
        except BadValue as bad:
            raise rows.error(str(bad), n, bad.hint) from None
    if not count:
        raise rows.error("there is no row in it.")


def _graded(rows: Rows, n: int, row: Row, options: GradeOptions, notes: Notes) -> GradedItem:
    taken = {*options.columns.values(), *options.verdicts, *options.segments}
    spelled = {snake(column): column for column in row if column not in taken}
    names = {
        ours: options.columns.get(ours) or next((spelled[one] for one in theirs if one in spelled), "")
        for ours, theirs in FIELDS.items()
    }
    wanted = {names["label"] or "label": "--map label="}
    wanted |= dict.fromkeys(options.verdicts, "--verdict ") | dict.fromkeys(options.segments, "--segments ")
    for column, option in wanted.items():
        if column not in row:
            near = nearest(column, list(row), 1, 0.6)
            raise rows.error(
                f"no field {column!r} (found: {', '.join(row)}).", n, f"Use {option}{near[0] if near else 'COLUMN'}."
            )
    given = opened(row[names["label"]], names["label"], notes)
    several = list(given) if isinstance(given, list | tuple) else [given]
    grades = tuple(number(one, names["label"]) for one in several if one is not None)
    if not grades:
        raise BadValue(names["label"], "a number, or a list of numbers, one an annotator", given)
    name, counted = names["query_id"], names["weight"]
    return GradedItem(
        identifier(row[name], name, notes) if name in row else f"{rows.unit} {n}",
        grades,
        tuple(None if row[column] is None else number(row[column], column) for column in options.verdicts),
        {column: scalar_text(row[column], column, notes) for column in options.segments if row[column] is not None},
        weight(row[counted], counted) if counted in row else 1.0,
    )
