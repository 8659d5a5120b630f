"""Dates in their many spellings, as year, year-month, year-month-day or --month-day."""

from __future__ import annotations

import re

from ragauge.text.characters import Mark
from ragauge.text.word_files import read_patterns, read_words

WORDS, FORMS = read_words(__file__, "dates"), read_patterns(__file__, "dates")
MONTHS = {name: n for n, line in enumerate(WORDS["names"].strip().splitlines(), 1) for name in line.split()}
LINK_WORDS = ("of", "de", "del", "the")
LEADING_WORDS = frozenset(WORDS["leading"].split())
MAX_MONTH_CHARS = 24
MIN_LIKELY_YEAR, MAX_YEAR = 1800, 2099
MAX_SHORT_YEAR = 69  # "FY69" is 2069, "FY70" 1970


def find_date_at(text: str, pos: int, digits: int) -> Mark | None:
    """The date whose first number is at pos, or None; the mark begins earlier where the month's name does."""
    if digits > 4 or digits == 3:
        return None
    forms = ("year_first", "cjk_date", "year_month") if digits == 4 else ("cjk_day", "year_last", "day_month")
    mark = _match_first(forms, text, pos, pos)
    if mark is not None:
        return mark
    text_before = text[max(0, pos - MAX_MONTH_CHARS) : pos]
    words = text_before.replace("-", " ").split() if text_before[-1:] in (" ", "-", "\n", "\t") else []
    near = words[-3:]
    while near and near[-1] in LINK_WORDS:
        near.pop()
    name = near[-1].rstrip(".,").lstrip("([\"'“‘*_") if near else ""
    if month := _find_month(name):
        return _match_first(
            ("bare_year", "day_year"), text, pos, pos - len(text_before) + text_before.rindex(name), month
        )
    return _find_year(text, pos, words[-1].lower() if words else "") if digits == 4 else None


def find_fiscal_year(text: str, pos: int, digits: int) -> Mark | None:
    """The year whose first digit is at pos where "FY" stands before it, of four digits or two; else None.

    >>> [find_fiscal_year("in FY2018", 5, 4).normal, find_fiscal_year("FY 19", 3, 2).start,
    ...     find_fiscal_year("in 2018", 3, 4)]
    ['2018', 0, None]
    """
    match = FORMS["fiscal"].search(text, max(0, pos - 5), pos) if digits in (2, 4) else None
    if match is None or FORMS["no_year_ends"].match(text, pos + digits):
        return None
    year = int(text[pos : pos + digits])
    if digits == 2:
        year += 2000 if year <= MAX_SHORT_YEAR else 1900
    return Mark("date", match.start(), pos + digits, str(year)) if MIN_LIKELY_YEAR <= year <= MAX_YEAR else None


def list_date_parts(normal: str) -> set[str]:
    """Everything that a date says: itself and the less exact dates that contain it.

    >>> sorted(list_date_parts("2024-01-03"))
    ['--01-03', '2024', '2024-01', '2024-01-03']
    """
    if len(normal) == 10:
        return {normal, normal[:7], normal[:4], f"--{normal[5:]}"}
    if len(normal) == 7 and not normal.startswith("--"):
        return {normal, normal[:4]}
    return {normal}


def _find_month(name: str) -> int | None:
    """A month's number; a lower-case word that means something else as well ("may", "march") is none."""
    if name.islower() and (len(name) < 4 or name in ("march", "mars", "mart")) and name not in ("mai", "maj", "mei"):
        return None
    return MONTHS.get(name.lower())


def _match_first(forms: tuple[str, ...], text: str, pos: int, start: int, month: int = 0) -> Mark | None:
    """The first of these forms that makes a date at pos; it begins at start where the month's name stands before it."""
    return next(filter(None, (_build_mark(FORMS[form].match(text, pos), start, month) for form in forms)), None)


def _build_mark(match: re.Match[str] | None, start: int, month: int) -> Mark | None:
    if match is None:
        return None
    groups = match.groupdict()
    year, day, last, link = (groups.get(group) for group in ("year", "day", "last", "link"))
    if "month" in groups and groups["month"] is None:  # 2024年
        return Mark("date", start, match.end(), groups["year"])
    number = month or int(groups.get("month") or 0) or _find_month(groups.get("name") or "") or 0
    normal, other = _format_date(year, number, day), _format_date(year, number, last) if last else ""
    if link:  # 3.4.2024 has the day first; 3/4/2024 is read both ways, the month first
        swapped = _format_date(year, int(day or 0), str(number))
        normal, other = (normal or swapped, "") if link == "." or not swapped else (swapped, normal)
    return Mark("date", start, match.end(), normal, other=other if other != normal else "") if normal else None


def _format_date(year: str | None, month: int, day: str | None) -> str:
    """The canonical form; "" of a month or a day that there is none of."""
    if not 1 <= month <= 12 or (day is not None and not 1 <= int(day) <= 31):
        return ""
    return "-".join([year or "-", f"{month:02}", *([] if day is None else [f"{int(day):02}"])])


def _find_year(text: str, pos: int, word_before: str) -> Mark | None:
    if match := FORMS["decade"].match(text, pos):
        return Mark("date", pos, match.end(), f"{match[1]}s")
    match = FORMS["bare_year"].match(text, pos)
    if match is None or int(match[1]) > MAX_YEAR:
        return None
    if (word_before in LEADING_WORDS or int(match[1]) >= MIN_LIKELY_YEAR) and not FORMS["counted"].match(
        text, match.end()
    ):
        return Mark("date", pos, match.end(), match[1])
    return None
