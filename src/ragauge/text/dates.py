"""Dates in their many spellings, as year, year-month, year-month-day or --month-day."""

from __future__ import annotations

from ragauge.text.characters import Mark
from ragauge.text.word_files import read_patterns, read_words

WORDS, FORMS = read_words(__file__, "dates"), read_patterns(__file__, "dates")
MONTHS = {name: n for n, line in enumerate(WORDS["names"].strip().splitlines(), 1) for name in line.split()}
LINKS = ("of", "de", "del", "the")
LEADING = frozenset(WORDS["leading"].split())
LONGEST_MONTH = 24
FIRST_LIKELY, LAST_YEAR = 1800, 2099
LATEST_SHORT = 69       # "FY69" is 2069, "FY70" 1970


def at(plain: str, pos: int, digits: int) -> Mark | None:
    """The date whose first number is at pos, or None; the mark begins earlier where the month's name does."""
    if digits > 4 or digits == 3:
        return None
    mark = _by_year(plain, pos) if digits == 4 else _numeric(plain, pos) or _day_first(plain, pos)
    if mark is not None:
        return mark
    before = plain[max(0, pos - LONGEST_MONTH) : pos]
    words = before.replace("-", " ").split() if before[-1:] in (" ", "-", "\n", "\t") else []
    named = _month_before(words)
    if named:
        name, month = named
        return _month_first(plain, pos, pos - len(before) + before.rindex(name), month)
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


def _month_before(words: list[str]) -> tuple[str, int] | None:
    """The month's name that these words end with, as written, and its number."""
    last = [word for word in words[-3:] if word not in LINKS]
    if not last or (len(words) > 1 and last[-1] != words[-1] and words[-1] not in LINKS):
        return None
    name = last[-1].rstrip(".,").lstrip("([\"'“‘*_")
    month = _month(name)
    return (name, month) if month else None


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


def _mark(start: int, end: int, year: str | None, month: int, day: str | None, other: str = "") -> Mark | None:
    if not 1 <= month <= 12 or (day is not None and not 1 <= int(day) <= 31):
        return None
    if year is None:
        return Mark("date", start, end, f"--{month:02}-{int(day or 0):02}", other=other)
    tail = f"-{int(day):02}" if day is not None else ""
    return Mark("date", start, end, f"{year}-{month:02}{tail}", other=other)


def _by_year(plain: str, pos: int) -> Mark | None:
    if match := FORMS["year_first"].match(plain, pos):
        return _mark(pos, match.end(), match[1], int(match[3]), match[4])
    if match := FORMS["cjk_date"].match(plain, pos):
        if match[2] is None:
            return Mark("date", pos, match.end(), match[1])
        return _mark(pos, match.end(), match[1], int(match[2]), match[3])
    if match := FORMS["year_month"].match(plain, pos):
        return _mark(pos, match.end(), match[1], int(match[2]), None)
    return None


def _numeric(plain: str, pos: int) -> Mark | None:
    """3.4.2024 has the day first; 3/4/2024 is read both ways, the month first."""
    if match := FORMS["cjk_day"].match(plain, pos):
        return _mark(pos, match.end(), None, int(match[1]), match[2])
    match = FORMS["year_last"].match(plain, pos)
    if match is None:
        return None
    first, second, year = match[1], match[3], match[4]
    day_first = _mark(pos, match.end(), year, int(second), first)
    month_first = _mark(pos, match.end(), year, int(first), second)
    if match[2] == "." or month_first is None or day_first is None:
        return day_first or month_first
    return month_first._replace(other=day_first.normal if day_first.normal != month_first.normal else "")


def _day_first(plain: str, pos: int) -> Mark | None:
    match = FORMS["day_month"].match(plain, pos)
    if match is None or not (month := _month(match[3])):
        return None
    last = _mark(pos, match.end(), match[4], month, match[2]) if match[2] else None
    return _mark(pos, match.end(), match[4], month, match[1], last.normal if last else "")


def _month_first(plain: str, pos: int, start: int, month: int) -> Mark | None:
    if match := FORMS["bare_year"].match(plain, pos):
        return _mark(start, match.end(), match[1], month, None)
    if match := FORMS["day_year"].match(plain, pos):
        last = _mark(start, match.end(), match[3], month, match[2]) if match[2] else None
        return _mark(start, match.end(), match[3], month, match[1], last.normal if last else "")
    return None


def _year(plain: str, pos: int, before: str) -> Mark | None:
    if match := FORMS["decade"].match(plain, pos):
        return Mark("date", pos, match.end(), f"{match[1]}s")
    match = FORMS["bare_year"].match(plain, pos)
    if match is None or int(match[1]) > LAST_YEAR:
        return None
    if (before in LEADING or int(match[1]) >= FIRST_LIKELY) and not FORMS["counted"].match(plain, match.end()):
        return Mark("date", pos, match.end(), match[1])
    return None
