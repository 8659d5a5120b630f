"""Answers made comparable, by the rule of the SQuAD evaluation."""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache

from ragauge.text.alphabets import UNSPACED

ARTICLES = re.compile(r"\b(?:an?|the)\b")
SPACELESS = re.compile(f"[{UNSPACED}]")
ASCII_SIGNS = re.compile(r"[!-/:-@\[-`{-~]")


@lru_cache(maxsize=256)     # an answer and its references are read by several metrics in a row
def answer(text: str) -> str:
    """An answer for comparing: small letters, without punctuation and English articles, single spaces.

    Compatible characters are made the same (NFKC) and punctuation of every script goes, ASCII symbols such as $ and +
    included, as in SQuAD's script; other symbols stay.
    Source: SQuAD, arXiv:1606.05250, normalize_answer of its evaluation script.

    >>> answer("The  Eiffel Tower!"), answer("1,000 (approx.)"), answer("«Café»"), answer("東京。")
    ('eiffel tower', '1000 approx', 'café', '東京')
    """
    return " ".join(ARTICLES.sub(" ", _bare(text)).split())


def answer_tokens(text: str) -> list[str]:
    """The words of `answer`; of scripts written without spaces, the characters.

    >>> answer_tokens("The Eiffel Tower"), answer_tokens("東京 tower")
    (['eiffel', 'tower'], ['東', '京', 'tower'])
    """
    normal = answer(text)
    if normal.isascii():
        return normal.split()
    return SPACELESS.sub(lambda found: f" {found[0]} ", normal).split()


def _bare(text: str) -> str:
    if text.isascii():
        return ASCII_SIGNS.sub("", text.lower())
    signs = _signs()
    return signs.sub("", unicodedata.normalize("NFKC", text).casefold())


@cache
def _signs() -> re.Pattern[str]:
    """Punctuation of every script, and what ASCII counts as such."""
    marks = [chr(code) for code in range(0x80, 0x10000) if unicodedata.category(chr(code)).startswith("P")]
    return re.compile(rf"[!-/:-@\[-`{{-~{re.escape(''.join(marks))}]")
