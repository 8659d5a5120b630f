"""Where chunks stand in their document: offsets that are given are verified, others are found."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field

from ragauge.core.errors import DataError

MAX_SHOWN_CHARS = 60
ALLOW_HINT = "With --allow-changed, such chunks are skipped and counted."


@dataclass(frozen=True, slots=True)
class ReturnedChunk:
    """A chunk as a chunker returned it."""

    text: str  #: of the chunk.
    start: int | None = None  #: its first character in the document, as the chunker says; None = it does not say.


@dataclass
class ChunkAlignment:
    """Where the chunks of one document stand, and what had to be done for it."""

    #: (start, end, text) of each chunk that has text, in order.
    spans: list[tuple[int, int, str]] = field(default_factory=list)
    found: int = 0  #: chunks whose offset was missing or wrong.
    ambiguous: int = 0  #: of these, those whose text stands in several places.
    empty: int = 0  #: chunks without text, which are left out.
    changed: int = 0  #: chunks whose text is not in the document, which are left out too.


def align_chunks(
    doc_id: str, text: str, chunks: Sequence[ReturnedChunk], *, allow_changed: bool = False
) -> ChunkAlignment:
    """The places of a document's chunks, in the order given.

    An offset counts if the text there is the chunk's; where that text also stands elsewhere, it has to fit the order of
    the other offsets too. Other chunks are looked for in order, white space ignored: of the places that begin after the
    chunk before began (if there is none, of all places) the one nearest to where that ended.

    Raises:
        DataError: the text of a chunk is not in the document, unless `allow_changed`.
    """
    result, squeezed = ChunkAlignment(), _Squeezed(text)
    verified = _verify_offsets(text, chunks)
    before_start, before_end = -1, 0
    for number, (chunk, offset) in enumerate(zip(chunks, verified, strict=True), 1):
        if not chunk.text.strip():
            result.empty += 1
            continue
        start, end = offset, offset + len(chunk.text)
        if offset < 0:
            result.found += 1
            near = squeezed.find_places(chunk.text, before_start + 1, before_end)
            near = near or squeezed.find_places(chunk.text, 0, before_end)
            if not near:
                if not allow_changed:
                    message = f"the text is not in the document: {' '.join(chunk.text.split())[:MAX_SHOWN_CHARS]!r}."
                    raise DataError(message, source=f"chunk {number} of {doc_id}", hint=ALLOW_HINT)
                result.changed += 1
                continue
            result.ambiguous += len(near) > 1
            start, end = _extend_to_edges(
                text, chunk.text, *min(near, key=lambda offsets: abs(offsets[0] - before_end))
            )
        result.spans.append((start, end, chunk.text))
        before_start, before_end = start, end
    return result


def _verify_offsets(text: str, chunks: Sequence[ReturnedChunk]) -> list[int]:
    """The offset of each chunk; -1 where there is none, or it is wrong.

    Offsets that are in order are those of the longest rising run; another one counts only if its text stands nowhere
    else: a library that looks for a text may have found a later copy of it.
    """
    offsets = [chunk.start if chunk.start is not None else -1 for chunk in chunks]
    right = [
        n
        for n, (start, chunk) in enumerate(zip(offsets, chunks, strict=True))
        if start >= 0 and text[start : start + len(chunk.text)] == chunk.text
    ]
    rising = _find_rising_run([offsets[n] for n in right])
    starts = [-1] * len(chunks)
    for index, n in enumerate(right):
        if index in rising or text.find(chunks[n].text) == text.rfind(chunks[n].text):
            starts[n] = offsets[n]
    return starts


def _find_rising_run(numbers: Sequence[int]) -> set[int]:
    """Places of the longest run of numbers that rise, others left out.

    >>> sorted(_find_rising_run([0, 4, 90, 8, 12]))
    [0, 1, 3, 4]
    """
    tails: list[int] = []  # the least number that a run of each length ends with
    last: list[int] = []  # the place of that number
    predecessors: list[int] = []
    for index, number in enumerate(numbers):
        length = bisect_left(tails, number)
        predecessors.append(last[length - 1] if length else -1)
        tails[length : length + 1], last[length : length + 1] = [number], [index]
    run, index = set[int](), last[-1] if last else -1
    while index >= 0:
        run.add(index)
        index = predecessors[index]
    return run


def _extend_to_edges(text: str, chunk: str, start: int, end: int) -> tuple[int, int]:
    """A chunk's place with the white space at its ends, where the document has the same."""
    leading = chunk[: len(chunk) - len(chunk.lstrip())]
    trailing = chunk[len(chunk.rstrip()) :]
    if text.endswith(leading, 0, start):
        start -= len(leading)
    return start, end + len(trailing) if text.startswith(trailing, end) else end


class _Squeezed:
    """A text without white space, and where each character that is left stood."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at: list[int] | None = None
        self._bare = ""

    def find_places(self, chunk: str, min_start: int, near: int) -> list[tuple[int, int]]:
        """(start, end) where the chunk stands from `min_start` on, up to the first place at or after `near`."""
        if self._at is None:
            self._at = [n for n, sign in enumerate(self._text) if not sign.isspace()]
            self._bare = "".join(self._text.split())
        needle = "".join(chunk.split())
        spans: list[tuple[int, int]] = []
        offset = self._bare.find(needle, bisect_left(self._at, min_start))
        while offset >= 0:
            spans.append((self._at[offset], self._at[offset + len(needle) - 1] + 1))
            if spans[-1][0] >= near:
                break
            offset = self._bare.find(needle, offset + 1)
        return spans
