"""A stretch of text with its canonical form, and the characters that mean the same everywhere."""

from __future__ import annotations

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
SAME |= {"－": "-", "−": "-", "‐": "-", "‑": "-", "–": "-", "’": "'", "／": "/", "（": "(", "）": ")", "［": "[", "］": "]"}
SAME |= {"\u00a0": " ", "\u202f": " ", "\u2009": " ", "\u3000": " ", "＋": "+"}


@cache
def _table() -> dict[int, str]:
    """Every decimal digit of Unicode to 0-9, and punctuation that means the same; one character to one."""
    zeros = [c for c in range(0x0660, 0x1FBF1) if unicodedata.decimal(chr(c), None) == 0]
    digits = {zero + value: str(value) for zero in zeros for value in range(10)}
    return digits | {ord(char): same for char, same in SAME.items()}


def plain(text: str) -> str:
    """The text with digits of any script as 0-9 and full-width punctuation as ASCII; no offset changes.

    >>> plain("３．５％ of ١٢")
    '3.5% of 12'
    """
    return text if text.isascii() else text.translate(_table())
