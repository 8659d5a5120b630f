"""Dates in their many spellings, as year, year-month, year-month-day or --month-day."""

from __future__ import annotations

import re

from ragauge.text.characters import Mark
from ragauge.text.word_files import read_patterns, read_words

WORDS, FORMS = read_words(__file__, "dates"), read_patterns(__file__, "dates")
MONTHS = {name: n for n, line in enumerate(WORDS["names"].strip().splitlines(), 1) for name in line.split()}
LINKS = ("of", "de", "del", "the")
LEADING = frozenset(WORDS["leading"].split())
LONGEST_MONTH = 24
FIRST_LIKELY, LAST_YEAR = 1800, 2099
LATEST_SHORT = 69  # "FY69" is 2069, "FY70" 1970


def at(plain: str, pos: int, digits: int) -> Mark | None:
    """The date whose first number is at pos, or None; the mark begins earlier where the month's name does."""
    if digits > 4 or digits == 3:
        return None
    forms = ("year_first", "cjk_date", "year_month") if digits == 4 else ("cjk_day", "year_last", "day_month")
    mark = _first(forms, plain, pos, pos)
    if mark is not None:
        return mark
    before = plain[max(0, pos - LONGEST_MONTH) : pos]
    words = before.replace("-", " ").split() if before[-1:] in (" ", "-", "\n", "\t") else []
    near = words[-3:]
    while near and near[-1] in LINKS:
        near.pop()
    name = near[-1].rstrip(".,").lstrip("([\"'“‘*_") if near else ""
    if month := _month(name):
        return _first(("bare_year", "day_year"), plain, pos, pos - len(before) + before.rindex(name), month)
    return _year(plain, pos, words[-1].lower() if words else "") if digits == 4 else None


def fiscal(plain: str, pos: int, digits: int) -> Mark | None:
    """The year whose first digit is at pos where "FY" stands before it, of four digits or two; else None.

    >>> [fiscal("in FY2018", 5, 4).normal, fiscal("FY 19", 3, 2).start, fiscal("in 2018", 3, 4)]
    ['2018', 0, None]
    """
    match = FORMS["fiscal"].search(plain, max(0, pos - 5), pos) if digits in (2, 4) else None
    if match is None or FORMS["no_year_ends"].match(plain, pos + digits):
        return None
    year = int(plain[pos : pos + digits])
    if digits == 2:
        year += 2000 if year <= LATEST_SHORT else 1900
    return Mark("date", match.start(), pos + digits, str(year)) if FIRST_LIKELY <= year <= LAST_YEAR else None


def parts(normal: str) -> set[str]:
    """Everything that a date says: itself and the less exact dates that contain it.

    >>> sorted(parts("2024-01-03"))
    ['--01-03', '2024', '2024-01', '2024-01-03']
    """
    if len(normal) == 10:
        return {normal, normal[:7], normal[:4], f"--{normal[5:]}"}
    if len(normal) == 7 and not normal.startswith("--"):
        return {normal, normal[:4]}
    return {normal}


def _month(name: str) -> int | None:
    """A month's number; a lower-case word that means something else as well ("may", "march") is none."""
    if name.islower() and (len(name) < 4 or name in ("march", "mars", "mart")) and name not in ("mai", "maj", "mei"):
        return None
    return MONTHS.get(name.lower())


def _first(forms: tuple[str, ...], plain: str, pos: int, start: int, month: int = 0) -> Mark | None:
    """The first of these forms that makes a date at pos; it begins at start where the month's name stands before it."""
    return next(filter(None, (_read(FORMS[form].match(plain, pos), start, month) for form in forms)), None)


def _read(match: re.Match[str] | None, start: int, month: int) -> Mark | None:
    if match is None:
        return None
    read = match.groupdict()
    year, day, last, link = (read.get(part) for part in ("year", "day", "last", "link"))
    if "month" in read and read["month"] is None:  # 2024年
        return Mark("date", start, match.end(), read["year"])
    number = month or int(read.get("month") or 0) or _month(read.get("name") or "") or 0
    normal, other = _normal(year, number, day), _normal(year, number, last) if last else ""
    if link:  # 3.4.2024 has the day first; 3/4/2024 is read both ways, the month first
        swapped = _normal(year, int(day or 0), str(number))
        normal, other = (normal or swapped, "") if link == "." or not swapped else (swapped, normal)
    return Mark("date", start, match.end(), normal, other=other if other != normal else "") if normal else None


def _normal(year: str | None, month: int, day: str | None) -> str:
    """The canonical form; "" of a month or a day that there is none of."""
    if not 1 <= month <= 12 or (day is not None and not 1 <= int(day) <= 31):
        return ""
    return "-".join([year or "-", f"{month:02}", *([] if day is None else [f"{int(day):02}"])])


def _year(plain: str, pos: int, before: str) -> Mark | None:
    if match := FORMS["decade"].match(plain, pos):
        return Mark("date", pos, match.end(), f"{match[1]}s")
    match = FORMS["bare_year"].match(plain, pos)
    if match is None or int(match[1]) > LAST_YEAR:
        return None
    if (before in LEADING or int(match[1]) >= FIRST_LIKELY) and not FORMS["counted"].match(plain, match.end()):
        return Mark("date", pos, match.end(), match[1])
    return None
