"""Classes of characters, and stretches of text with their canonical form."""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from typing import NamedTuple

# Thai, Lao, Myanmar, Khmer, Hiragana, Katakana, Han: written without spaces between words
UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u19e0-\u19ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
HANGUL = "\u1100-\u11ff\u3130-\u318f\uac00-\ud7af"
SPACED_UNTIL = 0x0E00  # below, a letter beside a digit or a Latin word belongs to the same word


@cache
def build_mark_ranges() -> str:
    """Signs that are part of a letter, as vowel signs and accents are, in scripts written with spaces."""
    codes = [*range(0x300, 0xE00), *range(0xF00, 0x1000), *range(0x1AB0, 0x2100), *range(0xA800, 0xAC00)]
    return _format_ranges([code for code in codes if unicodedata.category(chr(code)).startswith("M")])


@cache
def build_capital_ranges() -> str:
    """Capital letters of every script that has them."""
    return _format_ranges([code for code in range(0x2D00) if unicodedata.category(chr(code)) in ("Lu", "Lt")])


def _format_ranges(codes: list[int]) -> str:
    """Ascending code points as the inside of a character class."""
    ranges: list[list[int]] = []
    for code in codes:
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    return "".join(chr(first) if first == last else f"{chr(first)}-{chr(last)}" for first, last in ranges)


class Mark(NamedTuple):
    """Characters [start, end) of a text, read as something."""

    kind: str  # number, date, name, percent or quote
    start: int  # first character
    end: int  # one past the last
    normal: str  # canonical form
    unit: str = ""  # what a number counts, "" where nothing says so
    other: str = ""  # canonical form of the other way to read it, "" where there is one way only


SAME_CHARACTERS = dict(zip("．，：％﹪٪٫٬＄￥’／（）［］＋", ".,:%%%.,$¥'/()[]+", strict=True))
SAME_CHARACTERS |= dict.fromkeys("－−‐‑‒–—―⁻﹣", "-") | dict.fromkeys("\u00a0\u202f\u2009\u3000", " ")
ASTRAL = re.compile("[\U00010000-\U0010ffff]")


@cache
def _build_digit_table() -> tuple[re.Pattern[str], dict[str, str]]:
    """Every decimal digit of Unicode to 0-9, and punctuation that means the same; one character to one."""
    zeros = [code for code in range(0x0660, 0x1FBF1) if unicodedata.decimal(chr(code), None) == 0]
    same = {chr(zero + value): str(value) for zero in zeros for value in range(10)} | SAME_CHARACTERS
    # a class without characters beyond 0xFFFF is searched many times faster
    return re.compile(f"[{''.join(char for char in same if ord(char) < 0x10000)}]"), same


def normalize_characters(text: str) -> str:
    """The text with digits of any script as 0-9 and full-width punctuation as ASCII; no offset changes.

    >>> normalize_characters("３．５％ of ١٢")
    '3.5% of 12'
    """
    if text.isascii():
        return text
    pattern, same = _build_digit_table()
    text = pattern.sub(lambda match: same[match[0]], text)
    return text if ASTRAL.search(text) is None else ASTRAL.sub(lambda match: same.get(match[0], match[0]), text)
