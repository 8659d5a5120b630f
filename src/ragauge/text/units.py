"""Units, currencies, number words, and numbers that only tell things apart, such as versions: 2.10 is not 2.1."""

from __future__ import annotations

import re

from ragauge.text.dates import MONTHS
from ragauge.text.tokens import ENGLISH, OPENERS, WEEKDAYS
from ragauge.text.word_files import read_patterns, read_words

WORDS = read_words(__file__, "units")


def _by_name(kind: str) -> dict[str, str]:
    return {name: key for key, names in WORDS[kind].items() for name in names.split()}


UNITS, CURRENCIES = _by_name("units"), _by_name("currencies")
CJK_UNITS = {name: unit for name, unit in UNITS.items() if ord(name[0]) > 0x2E80}
# with capitals these are codes (5G, 4K), in small letters words ("5 ad campaigns")
SMALL_ONLY = frozenset(["g", "h", "l", "m", "s", "t", "x"])
CAPITAL_ONLY = frozenset(["ad", "bc", "bce", "ce", "v", "w"])
CURRENCY_BEFORE = re.compile(r"([$€£¥₹₩₽])\s?$|\b(USD|EUR|GBP|JPY|CNY|CHF|INR|Rs)\.?\s?$")

# powers of ten
SCALES, SHORT_SCALES, CJK_SCALES = (
    {name: int(power) for name, power in _by_name(kind).items()} for kind in ("scales", "short_scales", "cjk_scales")
)
CERTAIN_SCALES = ("k", "bn", "mn", "tn")     # "5m" may be metres and "5b" a label

PERCENT = frozenset(["%", "percent", "pct", "prozent", "procent"])
# first word -> the rest
PERCENT_PHRASES = {"per": " cent", "pour": " cent", "por": " ciento", "percentage": " points"}
ONES, TENS, ORDINALS = (
    {name: n * step for n, name in enumerate(WORDS["in_order"][kind].split(), first)}
    for kind, first, step in (("ones", 0, 1), ("tens", 2, 10), ("ordinals", 1, 1))
)
WORD_SCALES = {"hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 10**9, "trillion": 10**12}

LABEL = read_patterns(__file__, "units")["label"]     # words before such a number
NO_LABELS = ENGLISH | OPENERS | WEEKDAYS | MONTHS.keys()
DOTTED = re.compile(r"(?P<dotted>\d+(?:\.\d+){2,})|(?P<decimal>\d+\.\d+)")
V_BEFORE = re.compile(r"(?<![^\W_])[vV]$")     # of v2.10
LABELED = re.compile(rf"(?:{LABEL.pattern}|(?<![^\W_])[^\W\d_]*[A-Z][^\W\d_]*[a-z]|(?<!\w)v\.?) ?$")


def labeled(plain: str, start: int) -> bool:
    """Whether the number that starts here tells things apart, by the word before it: Version 2.10, Python 3.10."""
    before = plain[max(0, start - 24) : start]
    match = LABELED.search(before)
    return match is not None and match[0].strip().lower() not in NO_LABELS


def versioned(written: str) -> str:
    """A decimal as a version: with the zeros at its end, but for one that is all of its fraction.

    >>> versioned("2.10"), versioned("3.0")
    ('2.10', '3')
    """
    whole, _, fraction = written.partition(".")
    return f"{whole}.{fraction}" if fraction.strip("0") else whole


def asks_label(query: str) -> bool:
    """Whether a question asks for a number that tells things apart: which version, which section."""
    return LABEL.search(query) is not None
