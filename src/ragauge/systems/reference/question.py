"""What a question asks for, as far as its words show it."""

from __future__ import annotations

import re
from collections.abc import Iterable

# English question words after which a number or a date is expected
AMOUNT = re.compile(
    r"\bhow (?:many|much|long|fast|quickly|soon|often|far|big|large|high|old)\b"
    r"|\bwhen\b|\bat what\b|\buntil\b|\bsince\b"
    r"|\bwhat (?:date|price|percentage|time|temperature|year)\b|\bwhich (?:date|port|version|year)\b"
    r"|\bcosts?\b|\bprice\b|\bbiggest\b|\blargest\b|\bdiffer\b",
    re.IGNORECASE,
)
NUMBER = re.compile(
    r"\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|half|once|twice)\b", re.IGNORECASE
)

# A name: a word with a capital (not a sentence's first), a word with digits and letters, a version number.
# A number behind it belongs to it: ISO 27001.
NAME = re.compile(r"\b(?:[a-z]*[A-Z]\w*(?:-\d+)?(?: \d+(?:\.\d+)*)?|[A-Za-z]*\d+[A-Za-z]\w*|\d+(?:\.\d+)+)\b")
AFTER_STOP = re.compile(r"(?:^|[.!?:]\s+|[\"'“‘(])$")
# written with a capital, and no name of a thing that a page would have to mention
CAPITALISED = """
    january february march april may june july august september october november december
    monday tuesday wednesday thursday friday saturday sunday i ok pc pcs tv id ids faq
"""
NAMELESS = frozenset(CAPITALISED.split())


def asks_for_amount(query: str) -> bool:
    """Whether a number or a date is expected in the answer."""
    return AMOUNT.search(query) is not None


def holds_amount(text: str) -> bool:
    """Whether a text holds a number, in digits or as an English word from two to twelve."""
    return NUMBER.search(text) is not None


def names(query: str) -> tuple[str, ...]:
    """The names in a question: capitalised words within a sentence, codes, versions; no months and days.

    >>> names("Is Brindle certified according to ISO 27001 since March 2024?")
    ('Brindle', 'ISO 27001')
    """
    found = []
    for match in NAME.finditer(query):
        first = match.group().split()[0]
        opens = first.istitle() and AFTER_STOP.search(query[: match.start()]) is not None
        if first.casefold() not in NAMELESS and not opens:
            found.append(match.group())
    return tuple(dict.fromkeys(found))


def unmentioned(query: str, texts: Iterable[str]) -> tuple[str, ...]:
    """The names in a question that open no word of any of the texts.

    A plural counts as its singular. Capitals matter for abbreviations only: US is not us.
    """
    whole = "\n".join(texts)
    return tuple(name for name in names(query) if not _mentioned(name, whole))


def _mentioned(name: str, text: str) -> bool:
    singular = name[:-1] if len(name) > 2 and name.endswith("s") else name
    ending = r"(?!\d|\.\d)" if singular[-1].isdigit() else ""
    flags = re.NOFLAG if singular.isupper() and singular.isalpha() else re.IGNORECASE
    return re.search(rf"(?<!\w){re.escape(singular)}{ending}", text, flags) is not None
