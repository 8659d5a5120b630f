"""Chunkers of our own: by tokens, by sentences, and by separators from coarse to fine."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ragauge.core.errors import UsageError
from ragauge.studies.chunking.alignment import Piece
from ragauge.studies.chunking.tokens import TokenisedDocument
from ragauge.text.sentences import split
from ragauge.text.tokens import count

SEPARATORS = ("\n\n", "\n", ".", "?", "!", " ", "")
Part = tuple[int, int]  # start and end of a part of a text


def by_tokens(document: TokenisedDocument, size: int = 400, overlap: int = 0) -> list[Piece]:
    """Windows of `size` tokens of the whole document, each beginning size − overlap tokens after the one before."""
    _check("token", size, overlap)
    pieces, n = [], len(document)
    for start in range(0, n, size - overlap):
        first, last = int(document.first[start]), int(document.last[min(start + size, n) - 1])
        pieces.append(Piece(document.text[first : last + 1], first))
        if start + size >= n:
            break
    return pieces


def by_sentences(document: TokenisedDocument, size: int = 400, overlap: int = 0) -> list[Piece]:
    """Whole sentences, as many as `size` tokens hold, the last ones of a chunk repeated up to `overlap` tokens.

    A sentence that is longer stands alone.
    """
    _check("sentence", size, overlap)
    text = document.text
    return _pieces(text, _packed(text, [(sentence.start, sentence.end) for sentence in split(text)], size, overlap))


def by_separators(document: TokenisedDocument, size: int = 400, overlap: int = 0) -> list[Piece]:
    """Parts between paragraphs, else lines, sentence ends, words, characters, packed to at most `size` tokens.

    A part that is too long is cut at the next finer separator. Parts of a chunk are repeated up to `overlap` tokens.
    Source: the recursive splitter of LangChain with Chroma's separators.
    """
    _check("recursive", size, overlap)
    text = document.text
    return _pieces(text, _recursive(text, (0, len(text)), SEPARATORS, size, overlap))


CUTTERS: dict[str, Callable[..., Sequence[Piece]]] = {
    "token": by_tokens,
    "sentence": by_sentences,
    "recursive": by_separators,
}


def _check(name: str, size: int, overlap: int) -> None:
    if size < 1:
        raise UsageError(f"{name}: size must be at least 1, got {size}.")
    if not 0 <= overlap < size:
        raise UsageError(f"{name}: overlap must be at least 0 and below size={size}, got {overlap}.")


def _pieces(text: str, parts: Sequence[Part]) -> list[Piece]:
    """The parts without the white space around them; what is then empty is left out."""
    pieces = []
    for start, end in parts:
        part = text[start:end]
        bare = part.strip()
        if bare:
            pieces.append(Piece(bare, start + len(part) - len(part.lstrip())))
    return pieces


def _recursive(text: str, whole: Part, separators: Sequence[str], size: int, overlap: int) -> list[Part]:
    at = next(n for n, separator in enumerate(separators) if separator == "" or text.find(separator, *whole) >= 0)
    finer = separators[at + 1 :]
    parts: list[Part] = []
    good: list[Part] = []
    for part in _split(text, whole, separators[at]):
        if count(text[part[0] : part[1]]) < size:
            good.append(part)
            continue
        parts += _packed(text, good, size, overlap)
        good = []
        parts += _recursive(text, part, finer, size, overlap) if finer else [part]
    return parts + _packed(text, good, size, overlap)


def _split(text: str, whole: Part, separator: str) -> list[Part]:
    """Parts that begin with the separator, but for the first."""
    start, end = whole
    if not separator:
        return [(n, n + 1) for n in range(start, end)]
    edges, offset = [start], text.find(separator, start, end)
    while offset >= 0:
        edges.append(offset)
        offset = text.find(separator, offset + len(separator), end)
    return [(a, b) for a, b in zip(edges, [*edges[1:], end], strict=True) if a < b]


def _packed(text: str, parts: Sequence[Part], size: int, overlap: int) -> list[Part]:
    """Neighbouring parts joined while they hold at most `size` tokens, counted part by part."""
    packed: list[Part] = []
    held: list[tuple[Part, int]] = []
    total = 0
    for part in parts:
        length = count(text[part[0] : part[1]])
        if held and total + length > size:
            packed.append((held[0][0][0], held[-1][0][1]))
            while held and (total > overlap or total + length > size):
                total -= held.pop(0)[1]
        held.append((part, length))
        total += length
    return [*packed, (held[0][0][0], held[-1][0][1])] if held else packed
