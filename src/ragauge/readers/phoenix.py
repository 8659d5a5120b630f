"""Phoenix's tables of spans: questions and answers with their reference, and retrieved documents, one a row.

Their `reference` is the text that was retrieved. A table is surely Phoenix's where it has the ids of its spans.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import groupby

from ragauge.core.values import is_null
from ragauge.readers.aliases import snake
from ragauge.readers.lines import Row

IDS = ("context.span_id", "context.trace_id")
TEXTS = ("reference", "document", "context")  # what versions of Phoenix call a retrieved text
OF_DOCUMENT = frozenset({"document_position", "document_score"})
UNSURE = (
    "column {column} is read as the right answer. In a table of Phoenix it is what was retrieved: "
    "--map passages={column}."
)


def spans(rows: Iterator[tuple[int, Row]], named: Collection[str]) -> Iterator[tuple[int, Row]]:
    """The rows, those of Phoenix's tables by our names; the documents of one search as one row.

    Args:
        rows: of a source.
        named: columns that the user named, which stay as they are.
    """
    for key, group in groupby(rows, lambda numbered: _search(numbered[1])):
        if not key:
            yield from ((n, _renamed(row, named)) for n, row in group)
            continue
        found = list(group)
        n, first = found[0]
        listed = [passage for _, row in found if (passage := _passage(row)) is not None]
        kept = {name: value for name, value in first.items() if not _is_of_span(name, first) or name in named}
        yield n, {**kept, "passages": listed}


def doubt(read: Mapping[str, str], named: Collection[str]) -> str:
    """What to say of a reference that may be one of Phoenix's; "" of any other table.

    Args:
        read: our field -> the column that is read as it.
        named: columns that the user named.
    """
    columns = [read.get(field, "") for field in ("query", "answer", "reference_answer")]
    unsure = list(map(snake, columns)) == ["input", "output", "reference"] and "passages" not in read
    return UNSURE.format(column=columns[-1]) if unsure and columns[-1] not in named else ""


def _is_phoenix(row: Row) -> bool:
    return any(name in row for name in IDS) and "input" in row and any(name in row for name in TEXTS)


def _search(row: Row) -> str:
    """Which search a row holds a document of; "" where it holds no document."""
    if not _is_phoenix(row) or OF_DOCUMENT.isdisjoint(row):
        return ""
    return str(next(row[name] for name in IDS if name in row))


def _is_of_span(name: str, row: Row) -> bool:
    """Whether a column is Phoenix's own: an id, or of one document."""
    return name in IDS or name.startswith("document_") or name == next(text for text in TEXTS if text in row)


def _renamed(row: Row, named: Collection[str]) -> Row:
    if not _is_phoenix(row):
        return row
    text = next(name for name in TEXTS if name in row)
    if text in named:
        return row
    kept = {name: value for name, value in row.items() if name in named or name not in (*IDS, text)}
    return {**kept, "passages": row[text]}


def _passage(row: Row) -> Row | None:
    text = row[next(name for name in TEXTS if name in row)]
    if is_null(text):
        return None
    score = row.get("document_score")
    return {"text": text} | ({} if is_null(score) else {"score": score})
