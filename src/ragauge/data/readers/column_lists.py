"""Lists that stand in several columns: Context 1, Context 2, …, and columns that the user maps to one field.

The rows of such a source get one column more that holds the list; of a numbered family it takes the others' place.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from ragauge.data.readers.aliases import SeveralColumns, names_of, snake
from ragauge.data.readers.lines import Row
from ragauge.data.readers.values import LISTED, is_null

LISTS = (     # fields that hold several of a kind
    "passages", "retrieved_ids", "candidates", "references", "reference_answer", "reference_claims", "aspects",
    "criteria", "relevant", "relevant_chunks", "relevant_texts",
)     # fmt: skip
LIST_NAMES = frozenset(name for field in LISTS for name in names_of(field))
NUMBERED = re.compile(r"(?P<stem>.*?[^\W\d_])[\W_]*(?P<n>\d{1,2})\W*")


def gather(
    rows: Iterator[tuple[int, Row]], mapped: Mapping[str, str], named: Collection[str]
) -> Iterator[tuple[int, Row]]:
    """The rows, each list in one column.

    Args:
        rows: of a source.
        mapped: our field -> column, or several.
        named: columns that the user named, which stay as they are.
    """
    several = tuple(columns for columns in mapped.values() if isinstance(columns, SeveralColumns))
    taken = frozenset(named)
    for n, row in rows:
        families = _families(tuple(row), taken)
        if not families and not several:
            yield n, row
            continue
        parts = {column for columns in families.values() for column in columns}
        out = {column: value for column, value in row.items() if column not in parts}
        out |= {name: _joined([row[column] for column in columns]) for name, columns in families.items()}
        for columns in several:
            if there := [column for column in columns.names if column in row]:
                out[columns] = _joined([row[column] for column in there])
        yield n, out


def _joined(cells: Sequence[Any]) -> list[Any] | None:
    """What the cells hold, in order; None where all are null."""
    filled = [cell for cell in cells if not is_null(cell)]
    parts = (list(cell) if isinstance(cell, LISTED) else [cell] for cell in filled)
    joined = [item for part in parts for item in part if not (isinstance(item, str) and not item.strip())]
    return joined if filled else None


@lru_cache(maxsize=256)
def _families(columns: tuple[str, ...], taken: frozenset[str]) -> dict[str, tuple[str, ...]]:
    """Name of a list -> its columns in order: those that are numbered from 0 or 1, behind one without a number."""
    numbered: dict[str, dict[int, str]] = {}
    spelled = {snake(column): column for column in columns if column not in taken}
    for column in spelled.values():
        match = NUMBERED.fullmatch(column.strip())
        name = _list_name(snake(match["stem"])) if match is not None else ""
        if match is not None and name:
            numbered.setdefault(name, {}).setdefault(int(match["n"]), column)
    out = {}
    for name, family in numbered.items():
        first = spelled.get(name)
        if first is not None or min(family) <= 1:
            out[first or name] = (*([first] if first else []), *(family[n] for n in sorted(family)))
    return out


def _list_name(stem: str) -> str:
    """The name of a list of what a stem names: context, passages; "" where it names no list."""
    return next((form for form in (stem, f"{stem}s", stem.removesuffix("s")) if form in LIST_NAMES), "")
