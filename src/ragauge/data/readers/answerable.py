"""Whether the corpus holds the answer, where a set says so by the kind of question instead of in a field."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ragauge.data.example import Example
from ragauge.data.readers.aliases import snake
from ragauge.data.readers.rows import Row

KINDS = frozenset({"type", "question_type", "query_type", "category", "kind"})     # what sets call such a column
UNANSWERABLE = frozenset({"unanswerable", "not_answerable", "no_answer"})


def settled(example: Example, row: Row) -> Example:
    """The example, not answerable where a segment, a tag or a column of kinds says *unanswerable*.

    What the field answerable says counts before. Another kind says nothing: not every set labels what has no answer.
    """
    if example.answerable is not None or not any(snake(value) in UNANSWERABLE for value in _said(example, row)):
        return example
    return replace(example, answerable=False)


def _said(example: Example, row: Row) -> Iterator[str]:
    yield from example.segments.values()
    yield from example.tags
    for column, value in row.items():
        if isinstance(value, str) and snake(column) in KINDS:
            yield value


