"""Chunkers of our own: by tokens, by sentences, and by separators from coarse to fine."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ragauge.core.errors import UsageError
from ragauge.studies.chunking.alignment import ReturnedChunk
from ragauge.studies.chunking.tokens import TokenizedDocument
from ragauge.text.sentences import split_sentences
from ragauge.text.tokens import count_tokens

SEPARATORS = ("\n\n", "\n", ".", "?", "!", " ", "")
TextRange = tuple[int, int]  # start and end of a part of a text


def split_by_tokens(document: TokenizedDocument, size: int = 400, overlap: int = 0) -> list[ReturnedChunk]:
    """Windows of `size` tokens of the whole document, each beginning size − overlap tokens after the one before."""
    _check_sizes("token", size, overlap)
    pieces, n = [], len(document)
    for start in range(0, n, size - overlap):
        first, last = int(document.first[start]), int(document.last[min(start + size, n) - 1])
        pieces.append(ReturnedChunk(document.text[first : last + 1], first))
        if start + size >= n:
            break
    return pieces


def split_by_sentences(document: TokenizedDocument, size: int = 400, overlap: int = 0) -> list[ReturnedChunk]:
    """Whole sentences, as many as `size` tokens hold, the last ones of a chunk repeated up to `overlap` tokens.

    A sentence that is longer stands alone.
    """
    _check_sizes("sentence", size, overlap)
    text = document.text
    return _trim_ranges(
        text, _pack_ranges(text, [(sentence.start, sentence.end) for sentence in split_sentences(text)], size, overlap)
    )


def split_by_separators(document: TokenizedDocument, size: int = 400, overlap: int = 0) -> list[ReturnedChunk]:
    """Parts between paragraphs, else lines, sentence ends, words, characters, packed to at most `size` tokens.

    A part that is too long is cut at the next finer separator. Parts of a chunk are repeated up to `overlap` tokens.
    Source: the recursive splitter of LangChain with Chroma's separators.
    """
    _check_sizes("recursive", size, overlap)
    text = document.text
    return _trim_ranges(text, _split_recursively(text, (0, len(text)), SEPARATORS, size, overlap))


CUTTERS: dict[str, Callable[..., Sequence[ReturnedChunk]]] = {
    "token": split_by_tokens,
    "sentence": split_by_sentences,
    "recursive": split_by_separators,
}


def _check_sizes(name: str, size: int, overlap: int) -> None:
    if size < 1:
        raise UsageError(f"{name}: size must be at least 1, got {size}.")
    if not 0 <= overlap < size:
        raise UsageError(f"{name}: overlap must be at least 0 and below size={size}, got {overlap}.")


def _trim_ranges(text: str, ranges: Sequence[TextRange]) -> list[ReturnedChunk]:
    """The parts without the white space around them; what is then empty is left out."""
    pieces = []
    for start, end in ranges:
        range_text = text[start:end]
        bare = range_text.strip()
        if bare:
            pieces.append(ReturnedChunk(bare, start + len(range_text) - len(range_text.lstrip())))
    return pieces


def _split_recursively(
    text: str, bounds: TextRange, separators: Sequence[str], size: int, overlap: int
) -> list[TextRange]:
    separator_index = next(
        n for n, separator in enumerate(separators) if separator == "" or text.find(separator, *bounds) >= 0
    )
    finer = separators[separator_index + 1 :]
    ranges: list[TextRange] = []
    good: list[TextRange] = []
    for text_range in _split_at(text, bounds, separators[separator_index]):
        if count_tokens(text[text_range[0] : text_range[1]]) < size:
            good.append(text_range)
            continue
        ranges += _pack_ranges(text, good, size, overlap)
        good = []
        ranges += _split_recursively(text, text_range, finer, size, overlap) if finer else [text_range]
    return ranges + _pack_ranges(text, good, size, overlap)


def _split_at(text: str, bounds: TextRange, separator: str) -> list[TextRange]:
    """Parts that begin with the separator, but for the first."""
    start, end = bounds
    if not separator:
        return [(n, n + 1) for n in range(start, end)]
    edges, offset = [start], text.find(separator, start, end)
    while offset >= 0:
        edges.append(offset)
        offset = text.find(separator, offset + len(separator), end)
    return [(a, b) for a, b in zip(edges, [*edges[1:], end], strict=True) if a < b]


def _pack_ranges(text: str, ranges: Sequence[TextRange], size: int, overlap: int) -> list[TextRange]:
    """Neighbouring parts joined while they hold at most `size` tokens, counted part by part."""
    packed: list[TextRange] = []
    current: list[tuple[TextRange, int]] = []
    total = 0
    for text_range in ranges:
        length = count_tokens(text[text_range[0] : text_range[1]])
        if current and total + length > size:
            packed.append((current[0][0][0], current[-1][0][1]))
            while current and (total > overlap or total + length > size):
                total -= current.pop(0)[1]
        current.append((text_range, length))
        total += length
    return [*packed, (current[0][0][0], current[-1][0][1])] if current else packed
