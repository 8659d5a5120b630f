"""Quotations of three words or more."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ragauge.text.alphabets import UNSPACED
from ragauge.text.marks import Mark
from ragauge.text.tokens import words

MARKS = '"“”„«»‘‹「『＂'
# each form begins with its mark, so that the search can run from mark to mark
QUOTED = re.compile(
    r"""["＂](?<!\w.)(?=\S)([^"＂\n]{5,1000})["＂]
    |[“„]([^“”„\n]{5,1000})[”“]
    |«\s?([^«»\n]{5,1000}?)\s?»
    |»([^«»\n]{5,1000})«
    |[‘‚](?<!\w.)((?:[^‘’‚\n]|(?<=\w)’(?=\w)){5,1000})[’‘]
    |‹([^‹›\n]{5,1000})›
    |「([^「」\n]{4,1000})」
    |『([^『』\n]{4,1000})』
    |'(?<![\w'].)(?=\S)((?:[^'\n]|(?<=\w)'(?=\w)){5,400})(?<=\S)'(?!\w)""",
    re.VERBOSE,
)
CUT = re.compile(r"\s*(?:\[\s*)?(?:\.\.\.|…)(?:\s*\])?\s*")
SPACELESS = re.compile(f"[{UNSPACED}]")
FEWEST_WORDS, FEWEST_CHARACTERS = 3, 6


def find(text: str) -> Iterator[Mark]:
    """What stands in quotation marks: at least three words, or six characters of a script without spaces."""
    if not any(mark in text for mark in MARKS) and "'" not in text:
        return
    for found in QUOTED.finditer(text):
        start, end = found.span(found.lastindex or 0)
        normal = canonical(text[start:end])
        least = FEWEST_CHARACTERS if SPACELESS.search(normal) else FEWEST_WORDS
        if len(normal.replace("… ", "").split()) >= least:
            yield Mark("quote", start, end, normal)


def canonical(quote: str) -> str:
    """A quotation's folded words, one space between; what was left out is marked by "…".

    >>> canonical("We “will” not ... give in.")
    'we will not … give in'
    """
    return " … ".join(part for part in (" ".join(words(piece)) for piece in CUT.split(quote)) if part)
