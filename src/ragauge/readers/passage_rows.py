"""Files with one passage a row: the rows of one question become one, its passages in their order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ragauge.core.messages import format_count
from ragauge.core.values import is_null
from ragauge.readers.aliases import RESPONSE_FIELDS, plan_columns, to_snake_case
from ragauge.readers.lines import Row

PASSAGE_FIELDS = frozenset({"passages", "retrieved_ids"})  # fields of which each row holds one
CHUNK_IDS = frozenset({"passage_id", "chunk_id"})


@dataclass(slots=True)
class PassageRows:
    """Joins rows that follow each other, with one query_id and one query, and differ in the text of their passage.

    What else is read of them must be equal, or stand in one of them alone, as an answer beside the first passage.

    Args:
        rows: of a source.
        mapped: our field -> column.
    """

    rows: Iterator[tuple[int, Row]]
    mapped: Mapping[str, str]
    joined: int = 0  #: questions whose passages stood in several rows.
    #: of two rows of one query_id and query that are not joined, the column with the longest texts that differ.
    text: str = ""
    number: str = ""  #: the column of whole numbers that do.

    def __iter__(self) -> Iterator[tuple[int, Row]]:
        first, group, last_values = 0, list[Row](), dict[str, Any]()
        broken: Exception | None = None
        try:
            for n, row in self.rows:
                if group and self._is_continuation(last_values, row):
                    group.append(row)
                    last_values |= {column: value for column, value in row.items() if not _is_blank(value)}
                    continue
                if group:
                    yield first, self._merge_group(group, last_values)
                first, group, last_values = n, [row], dict(row)
        except Exception as error:  # the row before it comes first: it may be wrong too
            broken = error
        if group:
            yield first, self._merge_group(group, last_values)
        if broken is not None:
            raise broken

    def warnings(self, units: str) -> Iterator[str]:
        """That passages were joined; units are what the source's rows are called."""
        if self.joined:
            yield (
                f"the passages of {format_count(self.joined, 'question')} are spread over several "
                f"{units} and joined in order."
            )

    def _is_continuation(self, previous: Row, row: Row) -> bool:
        """Whether a row is one more passage of the question of the rows before, whose last values are given."""
        if previous.keys() != row.keys():
            return False
        columns = plan_columns(row, self.mapped).columns
        naming = [columns[ours] for ours in ("query_id", "query", "repeat") if ours in columns]
        if "query_id" not in columns or any(previous[column] != row[column] for column in naming):
            return False
        name = columns.get("passages", "")
        is_continuation = _are_different_texts(previous.get(name), row.get(name)) and all(
            previous[column] == row[column]
            or (ours in RESPONSE_FIELDS and (_is_blank(previous[column]) or _is_blank(row[column])))
            for ours, column in columns.items()
            if ours not in PASSAGE_FIELDS
        )
        if not is_continuation:
            differ = [column for column in row if previous[column] != row[column] and column != columns.get("answer")]
            numbers = [
                column for column in differ if str(previous[column]).isdecimal() and str(row[column]).isdecimal()
            ]
            texts = [
                column
                for column in differ
                if column not in numbers and _are_different_texts(previous[column], row[column])
            ]
            self.number = self.number or next(iter(numbers), "")
            self.text = self.text or max(texts, key=lambda column: len(row[column]), default="")
        return is_continuation

    def _merge_group(self, group: list[Row], last_values: Row) -> Row:
        if len(group) == 1:
            return group[0]
        self.joined += 1
        columns = plan_columns(group[0], self.mapped).columns
        merged = dict(last_values)
        for column in (columns[ours] for ours in PASSAGE_FIELDS if ours in columns):
            merged[column] = [row[column] for row in group]
        id_column = next((column for column in merged if to_snake_case(column) in CHUNK_IDS), None)
        if id_column is not None and len({str(row[id_column]) for row in group}) == len(group):
            texts, ids = columns["passages"], [str(row[id_column]).strip(" []") for row in group]
            merged[texts] = [
                {"text": row[texts], "passage_id": passage_id} for row, passage_id in zip(group, ids, strict=True)
            ]
            del merged[id_column]
        return merged


def _are_different_texts(previous: Any, current: Any) -> bool:
    """Whether both are the text of a passage, and not the same."""
    return (
        isinstance(previous, str)
        and isinstance(current, str)
        and bool(previous.strip() and current.strip())
        and previous != current
    )


def _is_blank(value: Any) -> bool:
    return is_null(value) or (isinstance(value, str) and not value.strip())
