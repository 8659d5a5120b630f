"""Whether pieces of a document cover a span of it."""

from __future__ import annotations

from collections.abc import Iterable

from ragauge.data.example import Span

LEAST_GAP = 3     # characters of a gold span: chunkers drop the white space between two chunks


def open_in(span: Span, pieces: Iterable[tuple[int, int]]) -> bool:
    """Whether a stretch of the span of some length lies in none of the pieces, which are sorted."""
    reached = span.start
    for start, end in pieces:
        if min(start, span.end) - reached >= LEAST_GAP:
            return True
        reached = max(reached, end)
    return span.end - reached >= LEAST_GAP
