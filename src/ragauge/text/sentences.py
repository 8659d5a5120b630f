"""Sentences with their offsets."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache

from ragauge.text.boundaries import continues, other_stops, plain_stops
from ragauge.text.markup import CREDIT


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence: `text[start:end]` of the whole, numbered from 1."""

    n: int
    text: str
    start: int
    end: int


Spans = list[tuple[int, int]]

BREAKS = r"\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029"
LINE, LINE_BREAK = re.compile(f"[^{BREAKS}]+"), re.compile(f"[{BREAKS}]")
MARKER = re.compile(r"[ \t]*(?:[-*+•‣▪◦·–—#>|]|\(?(?:\d{1,3}|[A-Za-z])[.)][ \t])")
LOWER_START = re.compile(r"[ \t]*[(\"'“‘«]?[^\W\d_]")
# a full stop is looked for in the ends of words only, so the middle of an endless one need not be read
LONG_RUN = re.compile(r"(?<!\S)\S{400,}")
CITED = re.compile(r"\s*(?:\[\^?\w{1,12}(?:\s*[,;–-]\s*\w{1,12}){0,9}\]|【[^】\n]{1,40}】|[¹²³⁰⁴-⁹]+|" + CREDIT + ")+")
CODE = re.compile(r"(?<!`)(`{1,3})(?!`)[^`\n]+\1(?!`)")
NEXT, WORD = re.compile(r"\s*(\S)"), re.compile(r"[^\W_]")

NARROWEST_WRAP, WIDEST_WRAP = 50, 132
MOST_REMEMBERED = 4_000_000     # characters after which the splitter forgets what it decided: about a megabyte


def split(text: str) -> tuple[Sentence, ...]:
    """The sentences of a text, in order.

    A line break, a list item, a heading and a table row end a sentence; the line breaks of a paragraph that was
    wrapped at a fixed width do not, nor does a full stop in a code span. A bracketed citation after a full stop belongs
    to the sentence before. A piece without letters or digits is part of its neighbour. No sentence begins or ends with
    white space, and every other character is in exactly one. Never fails.

    >>> [sentence.text for sentence in split("Dr. Lee paid $3.5 million. [1] It rained!")]
    ['Dr. Lee paid $3.5 million. [1]', 'It rained!']
    >>> [sentence.text for sentence in split("他来了。她走了！")]
    ['他来了。', '她走了！']
    """
    spans = _whole_words(text, [span for piece in _pieces(text) for span in _in_piece(text, *piece)])
    return tuple(Sentence(n, text[start:end], start, end) for n, (start, end) in enumerate(spans, 1))


@cache
def _latin() -> Callable[[str], Iterable[tuple[int, int]]]:
    """The splitter for scripts that end a sentence with a full stop; its model is in the package."""
    import nupunkt
    from nupunkt.core import tokens

    splitter = nupunkt.load("default")
    words: dict[str, object] = getattr(tokens, "_derived_cache", {})  # of its own it forgets none of 65,536
    remembered = 0

    def spans(piece: str) -> Iterable[tuple[int, int]]:
        nonlocal remembered
        remembered += len(piece)
        if remembered > MOST_REMEMBERED:
            splitter.clear_decision_cache()
            words.clear()
            remembered = 0
        return splitter.span_tokenize(piece)

    return spans


def _pieces(text: str) -> Iterator[tuple[int, int]]:
    """Lines; a paragraph wrapped at a fixed width is one piece."""
    if LINE_BREAK.search(text) is None:
        yield 0, len(text)
        return
    block: Spans = []
    for match in LINE.finditer(text):
        line = match.span()
        if block and text.count("\n", block[-1][1], line[0]) > 1:
            yield from _unwrapped(text, block)
            block = []
        if text[line[0] : line[1]].strip():
            block.append(line)
        elif block:
            yield from _unwrapped(text, block)
            block = []
    yield from _unwrapped(text, block)


def _unwrapped(text: str, lines: Spans) -> Spans:
    if len(lines) < 2:
        return lines
    widths = [len(text[start:end].strip()) for start, end in lines]
    widest = max(widths)
    if not NARROWEST_WRAP <= widest <= WIDEST_WRAP or min(widths[:-1]) < max(NARROWEST_WRAP - 10, 0.7 * widest):
        return lines
    rest = lines[1:]
    if any(MARKER.match(text, start, end) for start, end in rest):
        return lines
    if not any((found := LOWER_START.match(text, start, end)) and found[0][-1].islower() for start, end in rest):
        return lines
    return [(lines[0][0], lines[-1][1])]


def _in_piece(text: str, start: int, end: int) -> Spans:
    """Spans of one piece, white space around them left out."""
    piece = text[start:end]
    stops = set()
    if _may_stop(piece):
        stops = {stop for _, stop in _latin()(LONG_RUN.sub(_masked, piece))} | plain_stops(piece)
        stops = {stop for stop in stops if not continues(piece, stop)}
    if not piece.isascii():
        stops |= other_stops(piece)
    if stops and "`" in piece:
        stops = {stop for stop in stops if not any(span.start() < stop < span.end() for span in CODE.finditer(piece))}
    spans, begin = [], 0
    for found in sorted(stops | {len(piece)}):
        if found < begin:
            continue
        stop = _after_citations(piece, found) if found < len(piece) else found
        body = piece[begin:stop]
        if stripped := body.strip():
            first = start + begin + len(body) - len(body.lstrip())
            spans.append((first, first + len(stripped)))
        begin = stop
    return spans


def _may_stop(piece: str) -> bool:
    return "." in piece or "!" in piece or "?" in piece or "…" in piece


def _masked(run: re.Match[str]) -> str:
    return run[0][:40] + "x" * (len(run[0]) - 80) + run[0][-40:]


def _after_citations(piece: str, stop: int) -> int:
    """Moves a boundary behind the citations that follow it, unless they open the next sentence ("[1] shows that")."""
    at = stop
    while at and piece[at - 1].isspace():
        at -= 1
    found = CITED.match(piece, at)
    if found is None:
        return stop
    after = NEXT.match(piece, found.end())
    glued = not piece[at].isspace()
    return found.end() if glued or after is None or not after[1].islower() else stop


def _whole_words(text: str, spans: Spans) -> Spans:
    """Joins spans without a letter or digit to the one before, or to the next where there is none before."""
    joined: Spans = []
    pending: int | None = None
    for start, end in spans:
        if WORD.search(text, start, end) is None:
            if joined:
                joined[-1] = (joined[-1][0], end)
            elif pending is None:
                pending = start
            continue
        joined.append((start if pending is None else pending, end))
        pending = None
    if pending is not None:
        joined.append((pending, spans[-1][1]))
    return joined
