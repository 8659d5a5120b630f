"""Numbers, percentages and dates, read into one form whatever their separators, digits and multipliers."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ragauge.text import dates, number_suffixes, spoken
from ragauge.text.alphabets import SPACED_UNTIL
from ragauge.text.marks import Mark
from ragauge.text.markup import CREDIT
from ragauge.text.units import CURRENCIES, CURRENCY_BEFORE

DIGITS = re.compile(r"[0-9]+")
NUMBER = re.compile(
    r"""(?P<comma>\d{1,3}(?:,\d{3})+(?![\d,]\d)(?:\.\d+)?)
    | (?P<indian>\d{1,2}(?:,\d{2}){1,8},\d{3}(?!\d)(?:\.\d+)?)
    | (?P<point>\d{1,3}(?:\.\d{3})+(?:,\d+)|\d{1,3}(?:\.\d{3}){2,}(?![.\d]))
    | (?P<space>\d{1,3}(?:[ ]\d{3})+(?!\d)(?:[.,]\d+)?)
    | (?P<quote>\d{1,3}(?:'\d{3})+(?!\d)(?:[.,]\d+)?)
    | (?P<clock>\d{1,2}:\d{2}(?::\d{2})?(?![:\d]))
    | (?P<dotted>\d+(?:\.\d+){2,})
    | (?P<decimal>\d+[.,]\d+)
    | (?P<whole>\d+)""",
    re.VERBOSE,
)
LIST_MARK = re.compile(r"[.)](?=\s+[^\W_])")
BRACKETS = re.compile(r"\[\^?\d{1,3}(?:\s*[,;-]\s*\d{1,3})*\]|【[^】\n]{1,40}】|" + CREDIT)
SIGNED = re.compile(r"(?:^|[\s(\[{=<>`\"'“‘,:])-$")
CODE_BEFORE = re.compile(r"[^\W\d_]*[A-Z][^\W_]*-$")
CHINESE_PERCENT = "百分之"
LONGEST = 400     # digits; a longer run is no number that anyone wrote


def find(plain: str, *, liberal: bool = False) -> Iterator[Mark]:
    """Numbers, percentages and dates of a text whose digits are 0-9, not overlapping, in no fixed order.

    Args:
        plain: see `marks.plain`.
        liberal: number words count wherever they stand ("one of", "first"); right for text to be searched in,
            wrong for text to be checked.
    """
    taken = _skipped(plain)
    pos = 0
    while found := DIGITS.search(plain, pos):
        pos = found.start()
        if pos in taken:
            pos = taken[pos]
            continue
        mark = _at(plain, pos, found.end() - pos)
        if mark is None:
            run = NUMBER.match(plain, pos)
            pos = run.end() if run else pos + 1
            continue
        pos = mark.end
        yield mark
    yield from spoken.find(plain, liberal=liberal)


def _skipped(plain: str) -> dict[int, int]:
    """First digit -> end, of citations in brackets."""
    if "[" not in plain and "【" not in plain:
        return {}
    skipped = {}
    for found in BRACKETS.finditer(plain):
        first = DIGITS.search(plain, found.start(), found.end())
        if first:
            skipped[first.start()] = found.end()
    return skipped


def _at(plain: str, pos: int, digits: int) -> Mark | None:
    """What the digit at pos begins; None inside a code such as X-200, or before a list item."""
    before = plain[pos - 1] if pos else " "
    if before == "_" or (before.isalpha() and ord(before) < SPACED_UNTIL):
        return None
    if before == "-" and CODE_BEFORE.search(plain, max(0, pos - 24), pos):
        return None
    date = dates.at(plain, pos, digits)
    if date is not None:
        return date
    found = NUMBER.match(plain, pos)
    if found is None or found.end() - pos > LONGEST:
        return None
    return None if _enumerates(plain, pos, found) else _number(plain, pos, found)


def _enumerates(plain: str, pos: int, found: re.Match[str]) -> bool:
    """Whether this is the number of a list item: "1. " at the start of a line, "(1) " anywhere."""
    if found.lastgroup != "whole" or found.end() - pos > 3 or not LIST_MARK.match(plain, found.end()):
        return False
    if plain[pos - 1 : pos] == "(" and plain[found.end()] == ")":
        return True
    line = plain.rfind("\n", max(0, pos - 40), pos) + 1
    return (line > 0 or pos <= 40) and not plain[line:pos].strip(" \t(")


def _number(plain: str, pos: int, found: re.Match[str]) -> Mark | None:
    symbol = CURRENCY_BEFORE.search(plain, max(0, pos - 5), pos)
    tail = number_suffixes.after(plain, found.end(), currency=symbol is not None)
    if tail is None:
        return None
    whole, fraction, other = _read(found)
    if fraction is None:
        return Mark("number", pos, found.end(), whole, tail.unit)
    unit = CURRENCIES[(symbol[1] or symbol[2]).lower()] if symbol else tail.unit
    before = symbol.start() if symbol else pos
    sign = "-" if SIGNED.search(plain, max(0, before - 2), before) else ""
    normal = sign + canonical(whole, fraction, tail.shift)
    if tail.other is not None:
        other = canonical(whole, fraction, tail.other)
    elif other:
        other = canonical(other, "", tail.shift)
    other = sign + other if other else ""
    start = pos - 1 if sign and not symbol else pos
    if tail.percent:
        return Mark("percent", start, tail.end, f"{normal}%", other=f"{other}%" if other else "")
    if plain[max(0, start - 3) : start] == CHINESE_PERCENT:
        return Mark("percent", start - 3, tail.end, f"{normal}%")
    return Mark("number", start, tail.end, normal, unit, other)


def figure(plain: str, start: int, end: int) -> str:
    """The number in characters [start, end) without its multiplier; "" where it has none.

    >>> figure("$1,577 million", 1, 14), figure("1,577", 0, 5)
    ('1577', '')
    """
    first = DIGITS.search(plain, start, end)
    found = NUMBER.match(plain, first.start(), end) if first else None
    if found is None or not plain[found.end() : end].strip(" .-").isalpha():
        return ""
    whole, fraction, _ = _read(found)
    return "" if fraction is None else canonical(whole, fraction)


def _read(found: re.Match[str]) -> tuple[str, str | None, str]:
    """Whole part, fraction (None: taken as it stands) and the digits of the other reading."""
    text, kind = found[0], found.lastgroup
    if kind == "clock":
        return text.lstrip("0") if text[1] != ":" else text, None, ""
    if kind == "dotted":
        return text, None, ""
    if kind == "whole":
        return text, "", ""
    if kind == "decimal":
        whole, _, fraction = text.replace(",", ".").partition(".")
        thousands = "." in text and len(fraction) == 3 and len(whole) <= 3 and whole != "0"
        return whole, fraction, whole + fraction if thousands else ""
    mark = "," if kind == "point" or (kind in ("space", "quote") and "," in text) else "."
    whole, _, fraction = text.partition(mark)
    return re.sub(r"\D", "", whole), fraction, ""


def canonical(whole: str, fraction: str, shift: int = 0) -> str:
    """Digits without leading or trailing zeros, times ten to the power of shift.

    >>> canonical("005", "20", 6), canonical("0", "50"), canonical("1000", "")
    ('5200000', '0.5', '1000')
    """
    digits = whole + fraction
    point = len(whole) + shift
    digits = digits.ljust(point, "0")
    left, right = digits[:point].lstrip("0") or "0", digits[point:].rstrip("0")
    return f"{left}.{right}" if right else left
