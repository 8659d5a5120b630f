"""Words of a text, stems, and folded text."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from ragauge.text.stopwords import ENGLISH

# Thai, Lao, Myanmar, Khmer, Hiragana, Katakana, Han: written without spaces between words
UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u19e0-\u19ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
MARKS = "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc\u0900-\u0903\u093a-\u094f"
INDIC_MARKS = "\u0951-\u0957\u0962\u0963\u0981-\u0983\u09bc-\u09cd\u0a01-\u0a4d\u0a81-\u0acd\u0b01-\u0b4d\u0b82-\u0bcd"
SOUTH_MARKS = "\u0c00-\u0c4d\u0c81-\u0ccd\u0d00-\u0d4d\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff"
LETTER = rf"(?:(?![{UNSPACED}])[^\W_]|[{MARKS}{INDIC_MARKS}{SOUTH_MARKS}])"
TOKEN = re.compile(rf"[{UNSPACED}]|\d+(?:[.,:/]\d+)+|{LETTER}+(?:['’]{LETTER}+)*")
PLAIN = re.compile(r"[0-9]+(?:[.,:/][0-9]+)+|[a-z0-9]+(?:'[a-z0-9]+)*")


def words(text: str) -> list[str]:
    """The words of a text: NFKC, casefolded; letters, digits and marks.

    A number with separators inside is one word; a script written without spaces gives a word a character.

    >>> words("Don't pay 1,000.50 €"), words("東京 tower"), words("Straße ﬁn")
    (["don't", 'pay', '1,000.50'], ['東', '京', 'tower'], ['strasse', 'fin'])
    """
    if text.isascii():
        return PLAIN.findall(text.lower())
    return TOKEN.findall(unicodedata.normalize("NFKC", text).casefold().replace("’", "'"))


def content_words(text: str) -> list[str]:
    """The words without English stop words.

    >>> content_words("The cat is on the mat")
    ['cat', 'mat']
    """
    return [word for word in words(text) if word not in ENGLISH]


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """A light English stem of a folded word: possessive, plural, -ing, -ed and -ly taken off.

    >>> [stem(word) for word in ("cities", "running", "stopped", "boss", "quickly", "company's", "uses", "bring")]
    ['city', 'run', 'stop', 'boss', 'quick', 'company', 'use', 'bring']
    """
    if not word.isascii() or not word.replace("'", "").isalpha():
        return word
    if "'" in word:
        word = word.partition("'")[0] if word.endswith(("'s", "'")) else word
    return _without_ending(_singular(word))


def _singular(word: str) -> str:
    if len(word) < 4 or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies"):
        return word[:-3] + "y" if len(word) > 4 else word[:-1]
    if word.endswith(("sses", "shes", "ches", "xes", "zzes")):
        return word[:-2]
    return word[:-1]


def _without_ending(word: str) -> str:
    for ending in ("ing", "edly", "ed", "ly"):
        base = word.removesuffix(ending)
        if base == word or len(base) < 3 or not any(letter in "aeiouy" for letter in base):
            continue
        if ending == "ly":
            return base
        if base[-1] == base[-2] and base[-1] not in "aeiouylsz":
            return base[:-1]
        return base
    return word[:-1] if len(word) > 4 and word.endswith("e") else word


def folded(text: str) -> str:
    """NFKC, casefolded, white space folded to single spaces and stripped: for comparing.

    >>> folded("  ＡＣＭＥ\\n Corp ")
    'acme corp'
    """
    if text.isascii():
        return " ".join(text.lower().split())
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())
