"""Phoenix's tables of spans: what was retrieved, as one passage, or one row a document of a search.

A table of retrievals has the ids of spans (`context.span_id`), an input, and the text that was retrieved in a column
called reference, document or context, as versions of Phoenix have it. It is no row that is taken apart by itself: the
documents of one search follow each other and become one row.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import groupby

from ragauge.core.values import is_null
from ragauge.readers.aliases import to_snake_case
from ragauge.readers.lines import Row

IDS = ("context.span_id", "context.trace_id")
TEXTS = ("reference", "document", "context")  # what versions of Phoenix call a retrieved text
DOCUMENT_COLUMNS = frozenset({"document_position", "document_score"})
DOUBT_MESSAGE = (
    "column {column} is read as the reference answer. In a Phoenix table it has the retrieved "
    "passages: --map passages={column}."
)


def merge_search_rows(rows: Iterator[tuple[int, Row]], named_columns: Collection[str]) -> Iterator[tuple[int, Row]]:
    """The rows, those of Phoenix's tables by our names; the documents of one search as one row.

    Args:
        rows: of a source.
        named_columns: columns that the user named, which stay as they are.
    """
    for key, group in groupby(rows, lambda numbered: _get_search_id(numbered[1])):
        if not key:
            yield from ((n, _rename_columns(row, named_columns)) for n, row in group)
            continue
        search_rows = list(group)
        n, first = search_rows[0]
        passages = [passage for _, row in search_rows if (passage := _build_passage(row)) is not None]
        other_fields = {
            name: value for name, value in first.items() if not _is_phoenix_column(name, first) or name in named_columns
        }
        yield n, {**other_fields, "passages": passages}


def describe_doubt(read: Mapping[str, str], named_columns: Collection[str]) -> str:
    """What to say of a reference that may be one of Phoenix's; "" of any other table.

    Args:
        read: our field -> the column that is read as it.
        named_columns: columns that the user named.
    """
    columns = [read.get(field, "") for field in ("query", "answer", "reference_answer")]
    unsure = list(map(to_snake_case, columns)) == ["input", "output", "reference"] and "passages" not in read
    return DOUBT_MESSAGE.format(column=columns[-1]) if unsure and columns[-1] not in named_columns else ""


def _is_phoenix(row: Row) -> bool:
    return any(name in row for name in IDS) and "input" in row and any(name in row for name in TEXTS)


def _get_search_id(row: Row) -> str:
    """Which search a row holds a document of; "" where it holds no document."""
    if not _is_phoenix(row) or DOCUMENT_COLUMNS.isdisjoint(row):
        return ""
    return str(next(row[name] for name in IDS if name in row))


def _is_phoenix_column(name: str, row: Row) -> bool:
    """Whether a column is Phoenix's own: an id, or of one document."""
    return name in IDS or name.startswith("document_") or name == next(text for text in TEXTS if text in row)


def _rename_columns(row: Row, named_columns: Collection[str]) -> Row:
    if not _is_phoenix(row):
        return row
    text = next(name for name in TEXTS if name in row)
    if text in named_columns:
        return row
    other_fields = {name: value for name, value in row.items() if name in named_columns or name not in (*IDS, text)}
    return {**other_fields, "passages": row[text]}


def _build_passage(row: Row) -> Row | None:
    text = row[next(name for name in TEXTS if name in row)]
    if is_null(text):
        return None
    score = row.get("document_score")
    return {"text": text} | ({} if is_null(score) else {"score": score})
