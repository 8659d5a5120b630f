"""A stretch of text with its canonical form, and the characters that mean the same everywhere."""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from typing import NamedTuple


class Mark(NamedTuple):
    """Characters [start, end) of a text, read as something.

    Attributes:
        kind: number, date, name, percent or quote.
        start: first character.
        end: one past the last.
        normal: canonical form.
        unit: what a number counts, "" where nothing says so.
        other: canonical form of the other way to read it, "" where there is one way only.
    """

    kind: str
    start: int
    end: int
    normal: str
    unit: str = ""
    other: str = ""


SAME = {"．": ".", "，": ",", "：": ":", "％": "%", "﹪": "%", "٪": "%", "٫": ".", "٬": ",", "＄": "$", "￥": "¥"}
SAME |= {"－": "-", "−": "-", "‐": "-", "‑": "-", "–": "-", "’": "'", "／": "/", "（": "(", "）": ")"}
SAME |= {"［": "[", "］": "]"}
SAME |= {"\u00a0": " ", "\u202f": " ", "\u2009": " ", "\u3000": " ", "＋": "+"}


ASTRAL = re.compile("[\U00010000-\U0010ffff]")


@cache
def _table() -> tuple[re.Pattern[str], dict[str, str]]:
    """Every decimal digit of Unicode to 0-9, and punctuation that means the same; one character to one."""
    zeros = [code for code in range(0x0660, 0x1FBF1) if unicodedata.decimal(chr(code), None) == 0]
    same = {chr(zero + value): str(value) for zero in zeros for value in range(10)} | SAME
    # a class without characters beyond 0xFFFF is searched many times faster
    return re.compile(f"[{''.join(char for char in same if ord(char) < 0x10000)}]"), same


def plain(text: str) -> str:
    """The text with digits of any script as 0-9 and full-width punctuation as ASCII; no offset changes.

    >>> plain("３．５％ of ١٢")
    '3.5% of 12'
    """
    if text.isascii():
        return text
    pattern, same = _table()
    text = pattern.sub(lambda found: same[found[0]], text)
    return text if ASTRAL.search(text) is None else ASTRAL.sub(lambda found: same.get(found[0], found[0]), text)
