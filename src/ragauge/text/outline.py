"""A Markdown text as a flat list of headings and sentences, each with its offsets."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ragauge.text.sentences import split

HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.+?)[ \t]*#*[ \t]*$")
ITEM = re.compile(r"[ \t]*(?:[-*+]|\d{1,3}[.)])[ \t]+(?=\S)")
CODE_FENCE = re.compile(r"[ \t]*(?:```|~~~)")


@dataclass(frozen=True, slots=True)
class Unit:
    """A heading or a sentence."""

    text: str     # `whole[start:end]`; of a heading, its words without the marks
    start: int     # first character
    end: int     # one past the last character
    left: int     # where a piece that begins with this unit begins: before the mark of a heading or list item
    level: int     # 1 to 6 for a heading, 0 for a sentence
    # the headings that a sentence stands under, outermost first; a heading's own are those above it
    headings: tuple[str, ...]


def outline(text: str) -> tuple[Unit, ...]:
    """The headings and sentences of a text, in order.

    Headings are lines that open with one to six ``#``. A list item and a table row are blocks of their own, so that
    no sentence runs over two of them; inside a code fence nothing is a heading.
    """
    units: list[Unit] = []
    stack: list[tuple[int, str]] = []
    for left, start, end, level in _blocks(text):
        if level:
            while stack and stack[-1][0] >= level:
                stack.pop()
            units.append(Unit(text[start:end], start, end, left, level, tuple(words for _, words in stack)))
            stack.append((level, text[start:end]))
            continue
        above = tuple(words for _, words in stack)
        for number, sentence in enumerate(split(text[start:end])):
            first, last = start + sentence.start, start + sentence.end
            units.append(Unit(text[first:last], first, last, first if number else left, 0, above))
    return tuple(units)


def _blocks(text: str) -> Iterator[tuple[int, int, int, int]]:
    """(left, start, end, level) of each heading, list item, table row and paragraph."""
    pending: tuple[int, int, int] | None = None
    position, fenced = 0, False
    for line in text.split("\n"):
        here, position = position, position + len(line) + 1
        bare = line.rstrip()
        fence = CODE_FENCE.match(line) is not None
        heading = None if fenced or fence else HEADING.match(bare)
        item = None if fenced else ITEM.match(line)
        if pending and (not bare or fence or heading or item or bare.lstrip().startswith("|")):
            yield (*pending, 0)
            pending = None
        fenced ^= fence
        if heading:
            yield here, here + heading.start(2), here + heading.end(2), len(heading.group(1))
        elif bare and not fence:
            left = here + len(line) - len(line.lstrip())
            opened = pending[:2] if pending else (left, here + item.end() if item else left)
            pending = (*opened, here + len(bare))
    if pending:
        yield (*pending, 0)
