"""Numbers that only tell things of a kind apart, such as versions and sections: 2.10 is not 2.1 there."""

from __future__ import annotations

import re

from ragauge.text.dates import MONTHS
from ragauge.text.tokens import ENGLISH, OPENERS, WEEKDAYS

# words before such a number
LABEL = re.compile(
    r"(?:(?<!\w)(?i:versi|верси|wersj|release|firmware|build|secti|secci|sezion|seçã|sección|abschnitt|avsnitt|afsnit"
    r"|раздел|rozdzia|kapit|capít|capit|chapit|chapter|clause|klausel|artik|artic|artíc|appendix|anhang|sürüm|bölüm|§)"
    r"[^\W\d_]*\.?|バージョン|版本|버전|第|条)"
)
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
