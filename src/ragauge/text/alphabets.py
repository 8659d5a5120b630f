"""Classes of characters for regular expressions, where `re` has no name for them."""

from __future__ import annotations

import unicodedata
from functools import cache

# Thai, Lao, Myanmar, Khmer, Hiragana, Katakana, Han: written without spaces between words
UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u19e0-\u19ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
HANGUL = "\u1100-\u11ff\u3130-\u318f\uac00-\ud7af"
SPACED_UNTIL = 0x0E00     # below, a letter beside a digit or a Latin word belongs to the same word


@cache
def marks() -> str:
    """Signs that are part of a letter, as vowel signs and accents are, in scripts written with spaces."""
    codes = [*range(0x300, 0xE00), *range(0xF00, 0x1000), *range(0x1AB0, 0x2100), *range(0xA800, 0xAC00)]
    return _ranges([code for code in codes if unicodedata.category(chr(code)).startswith("M")])


@cache
def capitals() -> str:
    """Capital letters of every script that has them."""
    return _ranges([code for code in range(0x2D00) if unicodedata.category(chr(code)) in ("Lu", "Lt")])


def _ranges(codes: list[int]) -> str:
    """Ascending code points as the inside of a character class."""
    parts: list[list[int]] = []
    for code in codes:
        if parts and parts[-1][1] == code - 1:
            parts[-1][1] = code
        else:
            parts.append([code, code])
    return "".join(chr(first) if first == last else f"{chr(first)}-{chr(last)}" for first, last in parts)
