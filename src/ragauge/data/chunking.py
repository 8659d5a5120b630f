"""Documents cut into passages at sentence boundaries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ragauge.data.document import Document
from ragauge.errors import UsageError
from ragauge.text.outline import Unit, outline
from ragauge.text.tokens import count


@dataclass(frozen=True, slots=True)
class Chunk:
    """One piece of a document.

    Attributes:
        passage_id: the document's id, ``#`` and the chunk's number from 1.
        doc_id: the document.
        body: the document's text from start to end, unchanged.
        start: first character in the document's text.
        end: one past the last.
        context: the title and the headings that the chunk stands under, each a Markdown heading, without those that
            the body opens with.
    """

    passage_id: str
    doc_id: str
    body: str
    start: int
    end: int
    context: str

    @property
    def text(self) -> str:
        """The body under its title and headings, so that it reads alone."""
        return f"{self.context}\n\n{self.body}" if self.context else self.body


def chunk(document: Document, tokens: int, overlap: int = 0) -> tuple[Chunk, ...]:
    """A document's chunks.

    Whole sentences are packed until the next one would make the body longer than the budget. A section that does not
    fit into what is left opens a new chunk, and a heading never closes one. A single sentence longer than the budget
    stays whole. The title and headings in front of the body come on top of the budget.

    Args:
        document: what is cut.
        tokens: most tokens in a body, by `ragauge.text.tokens`; at least 1.
        overlap: sentences that are repeated from the chunk before, within one section and where the budget allows.

    Raises:
        UsageError: tokens below 1 or overlap below 0.
    """
    if tokens < 1:
        raise UsageError(f"chunk: tokens must be at least 1, got {tokens}.")
    if overlap < 0:
        raise UsageError(f"chunk: overlap must be at least 0 sentences, got {overlap}.")
    units = outline(document.text)
    # each with the white space up to the next, so that the sizes add up to no less than the whole
    edges = [*(unit.left for unit in units[1:]), len(document.text)][: len(units)]
    sizes = [count(document.text[unit.left : edge]) for unit, edge in zip(units, edges, strict=True)]
    chunks: list[Chunk] = []
    first = 0
    while first < len(units):
        last = _last(units, sizes, first, tokens)
        chunks.append(_chunk(document, units[first:last], len(chunks) + 1))
        first = _next(units, sizes, first, last, tokens, overlap)
    return tuple(chunks)


def _last(units: Sequence[Unit], sizes: Sequence[int], first: int, tokens: int) -> int:
    """One past the last unit of the chunk that opens at `first`."""
    used, last, has_sentence = 0, first, False
    while last < len(units):
        unit = units[last]
        needed = _section(units, sizes, last) if unit.level else sizes[last]
        if has_sentence and used + needed > tokens:
            break
        used += sizes[last]
        has_sentence = has_sentence or unit.level == 0
        last += 1
    return last


def _section(units: Sequence[Unit], sizes: Sequence[int], heading: int) -> int:
    """Tokens of a heading, the headings right below it, and their sentences: what must fit for the section to join."""
    size, seen = sizes[heading], False
    for unit, more in zip(units[heading + 1 :], sizes[heading + 1 :], strict=True):
        if unit.level and seen:
            break
        seen = seen or unit.level == 0
        size += more
    return size


def _next(units: Sequence[Unit], sizes: Sequence[int], first: int, last: int, tokens: int, overlap: int) -> int:
    """Where the next chunk opens: `last`, or earlier by the sentences that are repeated."""
    if last >= len(units) or units[last].level:
        return last
    start, used = last, sizes[last]
    while start - 1 > first and last - start < overlap and not units[start - 1].level:
        used += sizes[start - 1]
        if used > tokens:
            break
        start -= 1
    return start


def _chunk(document: Document, units: Sequence[Unit], number: int) -> Chunk:
    opening, start, end = units[0], units[0].left, units[-1].end
    leading = [unit.text for unit in units[: next((n for n, u in enumerate(units) if not u.level), len(units))]]
    path = [words for words in (document.title, *opening.headings) if words]
    known = {words.casefold() for words in leading}
    lines = [words for n, words in enumerate(path) if words.casefold() not in known and words not in path[:n]]
    context = "\n".join(f"{'#' * min(n, 6)} {words}" for n, words in enumerate(lines, start=1))
    return Chunk(
        f"{document.doc_id}#{number}", document.doc_id, document.text[start:end], start, end, context
    )
