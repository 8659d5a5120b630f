"""Numbers, percentages and dates, read into one form whatever their separators, digits and multipliers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from ragauge.text import dates
from ragauge.text.marks import Mark
from ragauge.text.units import (
    CJK_SCALES,
    CURRENCIES,
    CURRENCY_BEFORE,
    ONES,
    ORDINALS,
    PERCENT,
    SCALES,
    SHORT_SCALES,
    TENS,
    UNITS,
    WORD_SCALES,
)

DIGIT = re.compile(r"[0-9]")
NUMBER = re.compile(
    r"""(?P<comma>\d{1,3}(?:,\d{3})+(?![\d,]\d)(?:\.\d+)?)
    | (?P<indian>\d{1,2}(?:,\d{2})+,\d{3}(?!\d)(?:\.\d+)?)
    | (?P<point>\d{1,3}(?:\.\d{3})+(?:,\d+)|\d{1,3}(?:\.\d{3}){2,}(?![.\d]))
    | (?P<space>\d{1,3}(?:[ ]\d{3})+(?!\d)(?:[.,]\d+)?)
    | (?P<quote>\d{1,3}(?:'\d{3})+(?!\d)(?:[.,]\d+)?)
    | (?P<clock>\d{1,2}:\d{2}(?::\d{2})?(?![:\d]))
    | (?P<dotted>\d+(?:\.\d+){2,})
    | (?P<decimal>\d+[.,]\d+)
    | (?P<whole>\d+)""",
    re.VERBOSE,
)
LIST_MARK = re.compile(r"[.)](?=\s+\S)")
BRACKETS = re.compile(r"\[\^?\d{1,3}(?:\s*[,;-]\s*\d{1,3})*\]|【[^】\n]{1,40}】")
SIGNED = re.compile(r"(?:^|[\s(])-$")
CODE_BEFORE = re.compile(r"[^\W\d_]*[A-Z][^\W_]*-$")
SPOKEN_SCRIPTS = 0x0E00     # from here on scripts do without spaces, or glue number and word


def _spelled(names: object) -> str:
    return "|".join(sorted(map(re.escape, names), key=len, reverse=True))  # type: ignore[call-overload]


TAIL = re.compile(
    rf"""(?:[ ]?-?(?P<scale>{_spelled(SCALES)})\b\.?|(?P<short>{_spelled(SHORT_SCALES)})\b(?!/)
    |[ ]?(?P<cjk>{_spelled(CJK_SCALES)}))?
    (?P<ordinal>(?:st|nd|rd|th)\b)?
    (?:[ ]?-?(?P<percent>{PERCENT})|[ ]?-?(?:US)?(?P<unit>(?:{_spelled(UNITS)})(?![0-9])(?![^\W\d_](?<![\u0e00-\U000fffff]))))?""",
    re.VERBOSE | re.IGNORECASE,
)
_NAMES = _spelled([*TENS, *ONES])
WORDED = re.compile(
    rf"\b(?:(?:an?[ ](?={_spelled(WORD_SCALES)}\b))|(?:{_NAMES})\b)"
    rf"(?:[\s-]*?\b(?:and[ ])?(?:{_NAMES}|{_spelled(WORD_SCALES)})\b)*",
    re.IGNORECASE,
)
ORDINAL_WORD = re.compile(rf"\b(?:{_spelled(ORDINALS)})\b", re.IGNORECASE)
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
    while found := DIGIT.search(plain, pos):
        pos = found.start()
        if pos in taken:
            pos = taken[pos]
            continue
        mark = _at(plain, pos)
        if mark is None:
            run = NUMBER.match(plain, pos)
            pos = run.end() if run else pos + 1
            continue
        pos = max(mark.end, pos + 1)
        if mark.normal:
            yield mark
    yield from _worded(plain, liberal=liberal)


def _skipped(plain: str) -> dict[int, int]:
    """First digit -> end, of citations in brackets."""
    if "[" not in plain and "【" not in plain:
        return {}
    skipped = {}
    for found in BRACKETS.finditer(plain):
        first = DIGIT.search(plain, found.start(), found.end())
        if first:
            skipped[first.start()] = found.end()
    return skipped


def _at(plain: str, pos: int) -> Mark | None:
    """What the digit at pos begins; None inside a code such as X-200, or before a list item."""
    before = plain[pos - 1] if pos else " "
    if before == "_" or (before.isalpha() and ord(before) < SPOKEN_SCRIPTS):
        return None
    if before == "-" and CODE_BEFORE.search(plain, max(0, pos - 24), pos):
        return None
    date = dates.at(plain, pos)
    if date is not None:
        return date
    found = NUMBER.match(plain, pos)
    if found is None or found.end() - pos > LONGEST:
        return None
    if found.lastgroup == "whole" and found.end() - pos <= 3 and LIST_MARK.match(plain, found.end()):
        line = max(plain.rfind("\n", max(0, pos - 40), pos), -1) + 1
        if (line or pos <= 40) and not plain[line:pos].strip(" \t("):
            return None
    return _number(plain, pos, found)


def _number(plain: str, pos: int, found: re.Match[str]) -> Mark | None:
    tail = TAIL.match(plain, found.end())
    if tail is None:
        return None
    end = found.end()
    after = plain[tail.end() : tail.end() + 1]
    if tail.end() == end and after and (after == "_" or (after.isalpha() and ord(after) < SPOKEN_SCRIPTS)):
        return None
    currency = CURRENCY_BEFORE.search(plain, max(0, pos - 5), pos)
    unit = CURRENCIES[(currency[1] or currency[2]).lower()] if currency else ""
    start = currency.start() if currency else pos
    signed = SIGNED.search(plain, max(0, start - 2), start)
    sign = "-" if signed else ""
    whole, fraction, other = _read(found)
    if fraction is None:
        return Mark("number", pos, end, whole, _unit(tail))
    shift, second = _shift(plain, end, tail, currency=bool(currency))
    normal = sign + canonical(whole, fraction, shift)
    if tail["scale"] or tail["short"] or tail["cjk"]:
        end = tail.end("scale") if tail["scale"] else tail.end("short") if tail["short"] else tail.end("cjk")
    if tail["ordinal"]:
        end = tail.end("ordinal")
    first = pos - 1 if sign and not currency else pos
    if second is not None:
        other = sign + canonical(whole, fraction, second)
    elif other:
        other = sign + canonical(*other.split("."), shift) if "." in other else sign + canonical(other, "", shift)
    if tail["percent"]:
        return Mark("percent", first, tail.end(), f"{normal}%", other=f"{other}%" if other else "")
    return Mark("number", first, end, normal, unit or _unit(tail), other)


def _unit(tail: re.Match[str]) -> str:
    return UNITS[tail["unit"].lower()] if tail["unit"] else ""


def _shift(plain: str, end: int, tail: re.Match[str], *, currency: bool) -> tuple[int, int | None]:
    """The power of ten that the multiplier stands for, and that of the other reading ("5.2m": millions or metres)."""
    if tail["scale"]:
        return SCALES[tail["scale"].lower()], None
    if tail["short"]:
        scale = SHORT_SCALES[tail["short"].lower()]
        unambiguous = currency or tail["short"].lower() in ("k", "bn", "mn", "tn")
        return scale, None if unambiguous else 0
    if tail["cjk"]:
        return CJK_SCALES[tail["cjk"]], None
    spaced = tail["unit"] if tail["unit"] and plain[end : end + 1] == " " else ""
    if currency and spaced.lower() in SHORT_SCALES:
        return SHORT_SCALES[spaced.lower()], None
    return 0, None


def _read(found: re.Match[str]) -> tuple[str, str | None, str]:
    """Whole part, fraction (None: taken as it stands) and the other reading."""
    text, kind = found[0], found.lastgroup
    if kind in ("clock", "dotted"):
        return text, None, ""
    if kind == "whole":
        return text, "", ""
    if kind == "decimal":
        whole, _, fraction = text.replace(",", ".").partition(".")
        return whole, fraction, whole + fraction if len(fraction) == 3 and len(whole) <= 3 else ""
    if kind == "comma":
        whole, _, fraction = text.partition(".")
        groups = whole.split(",")
        return "".join(groups), fraction, ".".join(groups) if len(groups) == 2 and not fraction else ""
    mark = "," if kind == "point" or ("," in text and kind != "indian") else "."
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


def _worded(plain: str, *, liberal: bool) -> Iterator[Mark]:
    for found in WORDED.finditer(plain):
        value = _value(found[0].lower())
        if value is None:
            continue
        tail = TAIL.match(plain, found.end())
        percent = tail["percent"] if tail else None
        unit = _unit(tail) if tail else ""
        if found[0].lower() in ("one", "zero") and not (liberal or percent or unit):
            continue
        if percent and tail:
            yield Mark("percent", found.start(), tail.end(), f"{value}%")
        else:
            yield Mark("number", found.start(), found.end(), str(value), unit)
    if liberal:
        for found in ORDINAL_WORD.finditer(plain):
            yield Mark("number", found.start(), found.end(), str(ORDINALS[found[0].lower()]))


@cache
def _value(phrase: str) -> int | None:
    """The value of a number in words; None where the words are no single number ("one two").

    >>> _value("two hundred and five"), _value("twenty-one"), _value("one two")
    (205, 21, None)
    """
    total = group = 0
    last = 10**15
    for word in phrase.replace("-", " ").split():
        if word in ("and",):
            continue
        if word in ("a", "an"):
            group = 1
        elif word in WORD_SCALES:
            scale = WORD_SCALES[word]
            if scale == 100:
                group, last = (group or 1) * 100, 100
            else:
                total, group, last = total + (group or 1) * scale, 0, 10**15
        else:
            value = TENS.get(word, ONES.get(word, 0))
            size = 10 if word in TENS else 1
            if size >= last or (size == 1 and last == 10 and value > 9):
                return None
            group, last = group + value, size
    return total + group
