"""Words of a text, stems, and folded text."""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache

from ragauge.text.alphabets import UNSPACED, marks
from ragauge.text.stopwords import ENGLISH

# a number takes at most so many separators, so that a line of "1.1.1…" is not read over and over
ASCII = re.compile(r"[0-9]+(?:[.,:/][0-9]+){1,12}(?![a-z0-9])|[a-z0-9]+(?:'[a-z0-9]+)*")

ENDINGS = (("ied", "y"), ("ily", "y"), ("bly", "bl"), ("ing", ""), ("edly", ""), ("ed", ""), ("ly", ""))
VOWEL = re.compile("[aeiouy]")


@cache
def _tokens() -> re.Pattern[str]:
    """Words of every script; built when a text first needs it."""
    letter = rf"(?:[^\W_{UNSPACED}]|[{marks()}])"
    return re.compile(rf"\d+(?:[.,:/]\d+){{1,12}}(?!{letter})|{letter}+(?:'{letter}+)*|[{UNSPACED}]")


def words(text: str) -> list[str]:
    """The words of a text: NFKC, casefolded; letters, digits and the marks on them.

    A number with separators inside is one word; a script written without spaces gives a word a character.

    >>> words("Don't pay 1,000.50 €"), words("東京 tower"), words("Straße ﬁn")
    (["don't", 'pay', '1,000.50'], ['東', '京', 'tower'], ['strasse', 'fin'])
    """
    if text.isascii():
        return ASCII.findall(text.lower())
    return _tokens().findall(unicodedata.normalize("NFKC", text).casefold().replace("’", "'"))


def content_words(text: str) -> list[str]:
    """The words without English stop words.

    >>> content_words("The cat is on the mat")
    ['cat', 'mat']
    """
    return [word for word in words(text) if word not in ENGLISH]


@lru_cache(maxsize=8_192)     # two megabytes when full
def stem(word: str) -> str:
    """A light English stem of a folded word: possessive, plural, -ing, -ed and -ly taken off.

    A stem is for comparing, not for reading: "family" and "families" give "famy".

    >>> [stem(word) for word in ("cities", "running", "stopped", "boss", "quickly", "company's", "bring")]
    ['city', 'run', 'stop', 'boss', 'quick', 'company', 'bring']
    >>> len({stem(word) for word in ("use", "uses", "used", "using")})
    1
    """
    if not word.isascii() or not word.replace("'", "").isalpha():
        return word
    word = word.removesuffix("'s").removesuffix("'")
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
    for ending, instead in ENDINGS:
        base = word.removesuffix(ending)
        if base == word or len(base) < 2 or word.endswith("eed") or VOWEL.search(base) is None:
            continue
        if instead or ending == "ly":
            return base + instead
        doubled = len(base) > 3 and base[-1] == base[-2] and base[-1] not in "aeiouylsz"
        return base[:-1] if doubled or (len(base) > 2 and base.endswith("e")) else base
    mute = len(word) > 2 and word.endswith("e") and VOWEL.search(word[:-1]) is not None
    return word[:-1] if mute else word


def folded(text: str) -> str:
    """NFKC, casefolded, white space folded to single spaces and stripped: for comparing.

    >>> folded("  ＡＣＭＥ  Corp ")
    'acme corp'
    """
    if text.isascii():
        return " ".join(text.lower().split())
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())
