"""Columns that belong together, and the id of every row."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal

from ragauge.core.example import Example
from ragauge.core.identity import derive_query_id
from ragauge.core.messages import format_count
from ragauge.core.response import Response
from ragauge.core.values import LIST_TYPES, Notes, decode_cell, is_null
from ragauge.readers.aliases import COLUMNS, ColumnGroup, list_field_names, to_snake_case
from ragauge.readers.lines import Row, Rows
from ragauge.readers.passage_rows import PassageRows


class RowIds:
    """The ids of one source's rows, which come in order.

    A question without an id is named by its content, and its second copy `ID-2`, the third `ID-3`.
    """

    def __init__(self, rows: Rows, passage_rows: PassageRows) -> None:
        self._rows, self._passage_rows = rows, passage_rows
        self._lines: dict[tuple[str, int], int] = {}
        self._asked: dict[str, tuple[int, int]] = {}  # query_id -> (hash of the query, line)
        self._copies: Counter[tuple[str, int]] = Counter()  # rows of one question and repeat, without ids
        self._examples: Mapping[str, list[Example]] = {}
        self._repeated = 0
        self._first_copy = ""

    def make_id(self, query: str, repeat: int, *, twice: bool) -> str:
        """The id of an example that has none.

        Args:
            query: its question.
            repeat: which of the answers to it the row holds.
            twice: the same question stands there twice because two annotators judged one answer.
        """
        base = derive_query_id(query)
        if twice:
            return base
        copy = self._copies[base, repeat] + 1
        while (query_id := base if copy == 1 else f"{base}-{copy}", repeat) in self._lines:
            copy += 1
        self._copies[base, repeat] = copy
        if copy > 1:
            self._repeated += 1
            self._first_copy = self._first_copy or query_id
        return query_id

    def set_examples(self, examples: Iterable[Example]) -> None:
        """Takes the examples that the rows answer, so that rows without ids are joined with them on their question."""
        examples_by_id: dict[str, list[Example]] = {}
        for example in examples:
            examples_by_id.setdefault(derive_query_id(example.query), []).append(example)
        self._examples = examples_by_id

    def answered(self, query: str, repeat: int, n: int) -> str:
        """The id of the example that a response without one answers.

        Raises:
            DataError: several examples ask its question, and it is not all one which of them it answers.
        """
        base = derive_query_id(query)
        examples = self._examples.get(base, [])
        if len(examples) < 2:
            return examples[0].query_id if examples else base
        if any(replace(example, query_id=examples[0].query_id) != examples[0] for example in examples):
            problem = f"no query_id, and the set has its question {len(examples)} times with different labels."
            raise self._rows.error(problem, n, "Add a query_id to both files to show which one it answers.")
        self._copies[base, repeat] += 1
        return examples[min(self._copies[base, repeat], len(examples)) - 1].query_id

    def is_repeated_row(self, n: int, example: Example, response: Response | None, *, twice: bool) -> bool:
        """Whether the row stood there before and may (a second annotator's); any other repetition is refused."""
        content = hash((example.query, response.answer if twice and response else None))
        first = self._asked.setdefault(example.query_id, (content, n))
        if first[0] != content:
            problem = f"query_id {example.query_id!r} is on {self._rows.unit} {first[1]} with a different query."
            raise self._rows.error(problem, n, "Give every query its own query_id.")
        if twice and first[1] != n:
            return True
        self.register_row(n, example.query_id, response.repeat if response else 0)
        return False

    def register_row(self, n: int, query_id: str, repeat: int, *, derived: bool = False) -> None:
        """Refuses a second row of one id and repeat."""
        first_line = self._lines.setdefault((query_id, repeat), n)
        if first_line == n:
            return
        if derived:
            problem = f"this query is also on {self._rows.unit} {first_line}, and neither has a query_id."
            raise self._rows.error(problem, n, "Add a field query_id, or use --map query_id=COLUMN.")
        problem = f"query_id {query_id!r} is already on {self._rows.unit} {first_line}."
        hint = "Give every example its own query_id, or number several answers to one question with repeat (0, 1, …)."
        if self._passage_rows.number:
            column = self._passage_rows.number
            hint = f"If {column} numbers the answers to a question: --map repeat={column}."
        elif column := self._passage_rows.text:
            hint += (
                f" If each row holds one passage: --map passages={column}; consecutive rows that are "
                "otherwise equal are joined."
            )
        raise self._rows.error(problem, n, hint)

    def warnings(self) -> Iterator[str]:
        """That ids were made for questions that stand there several times."""
        if self._repeated:
            yield (
                f"{format_count(self._repeated, 'question')} without query_id repeated: each is a separate example, "
                f"named by its order, such as {self._first_copy!r}. These names change if the {self._rows.units} are "
                "reordered; your own query_id does not."
            )


PAIR_SIZE = 2
LIST_NAMES = frozenset(
    name for field in COLUMNS["columns"]["lists"]["fields"].split() for name in list_field_names(field)
)
NUMBERED_COLUMN = re.compile(r"(?P<stem>.*?[^\W\d_])[\W_]*(?P<n>\d{1,2})\W*")


def gather_lists(
    rows: Iterator[tuple[int, Row]], mapped: Mapping[str, str], named_columns: Collection[str]
) -> Iterator[tuple[int, Row]]:
    """The rows, each list in one column.

    Args:
        rows: of a source.
        mapped: our field -> column, or several.
        named_columns: columns that the user named, which stay as they are.
    """
    several = tuple(columns for columns in mapped.values() if isinstance(columns, ColumnGroup))
    taken = frozenset(named_columns)
    for n, row in rows:
        families = _find_families(tuple(row), taken)
        if not families and not several:
            yield n, row
            continue
        grouped_columns = {column for columns in families.values() for column in columns}
        out = {column: value for column, value in row.items() if column not in grouped_columns}
        out |= {name: _join_cells([row[column] for column in columns]) for name, columns in families.items()}
        for columns in several:
            if existing := [column for column in columns.names if column in row]:
                out[columns] = _join_cells([row[column] for column in existing])
        yield n, out


def _join_cells(cells: Sequence[Any]) -> list[Any] | None:
    """What the cells hold, in order; None where all are null."""
    filled = [cell for cell in cells if not is_null(cell)]
    lists = (list(cell) if isinstance(cell, LIST_TYPES) else [cell] for cell in filled)
    joined = [item for values in lists for item in values if not (isinstance(item, str) and not item.strip())]
    return joined if filled else None


@lru_cache(maxsize=256)
def _find_families(columns: tuple[str, ...], taken: frozenset[str]) -> dict[str, tuple[str, ...]]:
    """Name of a list -> its columns in order: those that are numbered from 0 or 1, behind one without a number."""
    numbered: dict[str, dict[int, str]] = {}
    spelled = {to_snake_case(column): column for column in columns if column not in taken}
    for column in spelled.values():
        match = NUMBERED_COLUMN.fullmatch(column.strip())
        name = _find_list_name(to_snake_case(match["stem"])) if match is not None else ""
        if match is not None and name:
            numbered.setdefault(name, {}).setdefault(int(match["n"]), column)
    out = {}
    for name, family in numbered.items():
        first = spelled.get(name)
        if first is not None or min(family) <= 1:
            out[first or name] = (*([first] if first else []), *(family[n] for n in sorted(family)))
    return out


def _find_list_name(stem: str) -> str:
    """The name of a list of what a stem names: context, passages; "" where it names no list."""
    return next((form for form in (stem, f"{stem}s", stem.removesuffix("s")) if form in LIST_NAMES), "")


ID_NAMES = frozenset(list_field_names("retrieved_ids"))
PASSAGE_NAMES = frozenset(list_field_names("passages"))
NAME = re.compile(r"\S{1,300}|[^\n]{1,200}\.\w{1,5}")  # of a document: without blanks, or a file


@dataclass(frozen=True, slots=True)
class NamedTexts:
    """Of two columns that might hold the passages, the one with their texts and the one with names alone."""

    texts: str
    names: str
    # in every row that was looked at: each text has its name, all have one name, or anything else
    match: Literal["each", "all", "none"]

    @property
    def notice(self) -> str:
        """What is read from which of the two."""
        if self.match == "none":
            ids = f"without ids: {self.names} has only names, and not one for each text."
        else:
            ids = f"their ids from {self.names}, which has only names."
        return f"the passages are read from {self.texts}, {ids}"

    def list_ids(self, row: Row) -> list[Any] | None:
        """The name of each text of a row; None where nothing tells which is whose."""
        names, texts = _list_texts(row.get(self.names)), _list_texts(row.get(self.texts))
        if self.match == "none" or names is None or texts is None:
            return None
        return names if self.match == "each" or len(names) != 1 else names * len(texts)


def find_named_texts(rows: Sequence[Row], mapped: Mapping[str, str]) -> NamedTexts | None:
    """Which column holds the passages where several are called so; None where there are not two, or nothing tells.

    Args:
        rows: the first of a source.
        mapped: our field -> column, as the user has it.
    """
    columns = dict.fromkeys(column for row in rows for column in row if to_snake_case(column) in PASSAGE_NAMES)
    others = any(to_snake_case(column) in ID_NAMES for row in rows for column in row)
    if len(columns) != PAIR_SIZE or others or not {"passages", "retrieved_ids"}.isdisjoint(mapped):
        return None
    lists = {column: [_list_texts(row.get(column)) for row in rows] for column in columns}
    names = [column for column, cell_texts in lists.items() if _are_all_names(cell_texts)]
    texts = [column for column in columns if column not in names and any(lists[column])]
    if len(names) != 1 or len(texts) != 1:
        return None
    sizes = [
        (len(cell_names or ()), len(cell_texts or ()))
        for cell_names, cell_texts in zip(lists[names[0]], lists[texts[0]], strict=True)
    ]
    if all(n_names == n_texts for n_names, n_texts in sizes):
        return NamedTexts(texts[0], names[0], "each")
    return NamedTexts(texts[0], names[0], "all" if all(n_names == 1 for n_names, _ in sizes) else "none")


def _list_texts(value: Any) -> list[Any] | None:
    value = decode_cell(value, "", Notes(cells=True)) if isinstance(value, str) else value
    return None if is_null(value) else list(value) if isinstance(value, LIST_TYPES) else [value]


def _are_all_names(lists: Sequence[list[Any] | None]) -> bool:
    items = [item for texts in lists for item in texts or ()]
    return bool(items) and all(isinstance(item, str) and NAME.fullmatch(item.strip()) for item in items)
