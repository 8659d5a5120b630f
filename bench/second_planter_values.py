"""The second planter's numbers and dates: another value in the place of one the sentence has."""

from __future__ import annotations

import re
from collections.abc import Iterator
from random import Random

from second_planter_types import Change, Copied, cased_like

MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_SMALL = """
two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen
nineteen
"""
SMALL = _SMALL.split()
_TENS = """
twenty thirty forty fifty sixty seventy eighty ninety
"""
TENS = _TENS.split()
_ORDINALS = """
second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth
"""
ORDINALS = _ORDINALS.split()
PARTS = ("half", "a third", "a quarter", "two thirds", "three quarters", "one third", "one quarter")
TIMES = ("twice", "three times", "four times")
SCALES = ("hundred", "thousand", "million", "billion")

NUMBER = re.compile(
    r"(?<![\w.,/:-])(?P<money>[$£€]\s?)?(?P<digits>\d{1,3}(?:,\d{3})+|\d+)(?P<decimals>\.\d+)?(?![\w/:]|[.,]\d)"
)
RANGE = re.compile(r"(?<![\w.,/-])(\d{1,3}(?:\.\d+)?)\s?[–-]\s?(\d{1,3}(?:\.\d+)?)(?![\w/-]|[.,]\d)")
RANK = re.compile(r"\b(\d{1,2})(st|nd|rd|th)\b(?! centur|-centur)")
SPELLED = re.compile(rf"\b({'|'.join(SMALL + TENS)})\b(?![-’'])", re.I)
ORDINAL = re.compile(rf"\b(the|his|her|its|their|a) ({'|'.join(ORDINALS)})(?= [a-z]{{3,}})", re.I)
FIRST = re.compile(r"\b(the|his|her|its|their) (first)(?= (?!place|time|and|is|was|of|to|in|half)[a-z]{4,})", re.I)
PART = re.compile(rf"\b({'|'.join(PARTS[1:])}|half)(?= (?:of|the)\b)", re.I)
TWICE = re.compile(rf"\b({'|'.join(TIMES)})\b", re.I)
SCALED = re.compile(rf"(?<=\d )({'|'.join(SCALES[1:])})\b")

YEAR = re.compile(
    r"(?<![\w.,$£€/-])(1[0-9]\d\d|20[0-3]\d)(?![\w/%]|[.,]\d|-\d|\s?(?:people|men|women|patients|cases"
    r"|miles|km|vs|versus|mg|ml|g)\b)"
)
DECADE = re.compile(r"(?<!\w)(1[5-9]|20)([0-9])0s\b")
CENTURY = re.compile(r"\b(\d{1,2})(?:st|nd|rd|th)(?=[ -]centur)")
SPELLED_CENTURY = re.compile(
    r"\b(tenth|eleventh|twelfth|thirteenth|fourteenth|fifteenth|sixteenth|seventeenth|eighteenth"
    r"|nineteenth|twentieth)(?=[ -]centur)",
    re.I,
)
_CENTURIES = """
tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth
"""
CENTURIES = _CENTURIES.split()
MONTH = re.compile(rf"\b({'|'.join(MONTHS)})\b(?=,? \d|$|[ ,.;)])")
DAY = re.compile(rf"\b({'|'.join(DAYS)})\b(?!\s+[A-Z])")
MONTH_DAY = re.compile(
    rf"(?<=\b)(?:(?:{'|'.join(MONTHS)}) (\d{{1,2}})(?!\d)|(?<![\w.,])(\d{{1,2}}) (?:{'|'.join(MONTHS)}))\b"
)

UP = re.compile(
    r"(?:\bat least|more than|over|above|exceed(?:s|ed|ing)?|minimum of|≥|>|greater than|as early as"
    r"|beyond|upwards of)\s*(?:a total of |about )?[$£€]?$"
)
DOWN = re.compile(
    r"(?:\bat most|up to|less than|under|below|fewer than|maximum of|≤|<|within|as many as|as much as"
    r"|almost|nearly|no more than)\s*[$£€]?$"
)
NAMED = re.compile(  # a number that is part of a name or of an address is no quantity
    r"(?:\b(?:[Nn]ote|[Nn]os?|[Ss]ection|[Aa]rticle|[Cc]hapter|[Tt]able|[Ff]ig(?:ure)?|[Tt]opic|ASC"
    r"|ASU|[Ii]tem|[Pp]art|[Pp]age|pp?|[Vv]ol(?:ume)?"
    r"|[Ll]evel|[Rr]oute|[Hh]ighway|[Tt]ype|[Ss]tep|[Gg]rade|[Pp]hase|Form|IFRS|IAS|Rule|Act|FRS"
    r"|[Gg]roup|[Cc]lass)\.?\s?|#|\[|\d\s?[x×/:]\s?|[A-Z][a-z]+ )$"
)
NAMED_AFTER = re.compile(r"^(?:[-–]?[A-Za-z]*\]|\s?[–-]\s?\d|\s?\(\d|\s?[x×/:]\s?\d)")
UNSAID = re.compile(r"^[- ](?:or|to|and) ", re.I)


def numbers(copied: Copied, random: Random) -> Iterator[Change]:
    """Other quantities: digits, decimals, shares, ranges, ranks, and numbers in words."""
    text = copied.sentence
    years = [found.span() for found in YEAR.finditer(text)]
    days = [found.span(1 if found[1] else 2) for found in MONTH_DAY.finditer(text)]
    for found in NUMBER.finditer(text):
        start, end = found.start("digits"), found.end()
        before, after = text[:start], text[end:]
        if any(a <= start < b for a, b in years + days) or NAMED.search(before) or NAMED_AFTER.search(after):
            continue
        yield from _digits(copied, before, found["digits"], found["decimals"] or "", after, random)
    for found in RANGE.finditer(text):
        yield from _range(found, random)
    yield from _worded(text, random)


def dates(copied: Copied, random: Random) -> Iterator[Change]:
    """Other years, months, days of the week or month, decades and centuries."""
    text = copied.sentence
    others = [found[1] for found in YEAR.finditer(copied.passage) if found[1] not in text]
    for found in YEAR.finditer(text):
        if NAMED.search(text[: found.start()]) and not re.search(r"\b[A-Z][a-z]+ $", text[: found.start()]):
            continue
        new = (
            random.choice(others)
            if others and random.random() < 0.4
            else _year(int(found[1]), text[: found.start()], random)
        )
        if new not in text:
            yield Change(*found.span(1), new)
    for found in DECADE.finditer(text):
        other = random.choice([n for n in range(10) if n != int(found[2])])
        yield Change(*found.span(2), str(other))
    for found in CENTURY.finditer(text):
        now = int(found[1])
        yield Change(
            *found.span(), _rank(random.choice([n for n in (now - 3, now - 2, now - 1, now + 1) if 2 < n < 22]))
        )
    for pattern, words in ((SPELLED_CENTURY, CENTURIES), (DAY, DAYS)):
        for found in pattern.finditer(text):
            yield Change(*found.span(1), cased_like(_other(words, found[1], text, random), found[1]))
    for found in MONTH.finditer(text):
        if (
            found[1] in ("May", "March")
            and not re.match(r",? \d", text[found.end() :])
            and not re.search(r"\b(?:in|of|since|until|by) $", text[: found.start()])
        ):
            continue
        yield Change(*found.span(1), _other(MONTHS, found[1], text, random))
    for found in MONTH_DAY.finditer(text):
        n = 1 if found[1] else 2
        now = int(found[n])
        days = [day for day in range(1, 29) if abs(day - now) > 1]
        if re.search(r"\b(?:since|before|by|until)\s(?:[A-Z][a-z]+ )?$", text[: found.start(n)], re.I):
            days = [day for day in days if day < now]
        if days and now <= 31:
            yield Change(*found.span(n), str(random.choice(days)))


def _other(words: tuple[str, ...] | list[str], old: str, text: str, random: Random) -> str:
    return random.choice(
        [word for word in words if word.lower() not in text.lower() and word.lower() != old.lower()] or [words[0]]
    )


def _year(now: int, before: str, random: Random) -> str:
    near = [n for n in range(now - 30, min(now + 31, 2024)) if n != now]
    if re.search(r"\b(?:since|before|by|until|prior to) (?:[A-Z][a-z]+ (?:\d+, )?)?$", before, re.I):
        near = [n for n in near if n < now - 1]  # "since 1999" follows from "since 1990": only an earlier year is wrong
    elif re.search(r"\bafter (?:[A-Z][a-z]+ (?:\d+, )?)?$", before, re.I):
        near = [n for n in near if n > now] or near
    if re.search(r"\b(?:around|about|circa|c\.|ca\.|approximately|roughly) ?(?:the )?$", before, re.I):
        near = [n for n in near if abs(n - now) > 15]  # a rough year is not wrong for being a little off
    return str(random.choice(near))


def _rank(n: int) -> str:
    tail = "th" if 10 <= n % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
    return f"{n}{tail}"


def _digits(copied: Copied, before: str, digits: str, decimals: str, after: str, random: Random) -> Iterator[Change]:
    value = float(digits.replace(",", "") + decimals)
    start = len(before)
    end = start + len(digits) + len(decimals)
    low, high = 0.0, 1e15
    if re.match(r"\s?(?:%|percent|per cent)", after) and value <= 100:
        high = 100.0
    if re.search(r"(?:[Pp]|\br|alpha)\s?[=<>≤]\s?$", before):
        high = 1.0
    if UP.search(before):
        low = value * 1.25
    elif DOWN.search(before):
        high = value * 0.75
    wanted = [n for n in _elsewhere(copied, decimals, "," in digits) if low <= n <= high and _apart(n, value)]
    made = [value * factor for factor in (0.2, 0.4, 0.5, 0.6, 0.75, 1.3, 1.5, 1.8, 2, 3, 5)]
    if value < 20 and not decimals:
        made = [float(n) for n in range(1, 25)]
    made = [round(n, max(0, len(decimals) - 1)) for n in made]
    made = [n for n in made if low <= n <= high and _apart(n, value)]
    pool = wanted if wanted and random.random() < 0.4 else made
    if not pool or value in (0, 1):
        return
    new = random.choice(pool)
    shown = f"{new:,.{max(0, len(decimals) - 1)}f}" if "," in digits else f"{new:.{max(0, len(decimals) - 1)}f}"
    if float(shown.replace(",", "")) > 0 and shown != "1" and shown not in copied.sentence:
        yield Change(start, end, shown)


def _apart(new: float, old: float) -> bool:
    return new > 0 and abs(new - old) >= max(0.15 * old, 1e-9)


def _elsewhere(copied: Copied, decimals: str, commas: bool) -> list[float]:
    """Other numbers of the passage, written alike: the likeliest mistake of a writer."""
    found = NUMBER.finditer(copied.passage)
    alike = (one for one in found if bool(one["decimals"]) == bool(decimals) and ("," in one["digits"]) == commas)
    values = [float(one["digits"].replace(",", "") + (one["decimals"] or "")) for one in alike]
    return [n for n in values if not 1000 <= n <= 2040 or commas]


def _range(found: re.Match[str], random: Random) -> Iterator[Change]:
    low, high = float(found[1]), float(found[2])
    if not low < high or "." in found[1] + found[2]:
        return
    if random.random() < 0.5:
        yield Change(*found.span(2), str(int(high + random.choice((3, 5, 8, 12)))))
    elif low > 2:
        yield Change(*found.span(1), str(max(1, int(low // random.choice((2, 3))))))


def _worded(text: str, random: Random) -> Iterator[Change]:
    for found in RANK.finditer(text):
        now = int(found[1])
        yield Change(*found.span(), _rank(random.choice([n for n in range(2, 31) if n != now])))
    for found in SPELLED.finditer(text):
        before, after = text[: found.start()], text[found.end() :]
        words: list[str] = SMALL if found[1].lower() in SMALL else TENS
        at = words.index(found[1].lower())
        keep = (
            words[at + 1 :]
            if UP.search(before)
            else words[:at]
            if DOWN.search(before)
            else [w for w in words if w != words[at]]
        )
        near = [word for word in keep if abs(words.index(word) - at) <= 5 and word not in text.lower()]
        if near and not UNSAID.match(after) and not re.search(r"(?:\bor|\bto|[-’']) ?$", before):
            yield Change(*found.span(1), cased_like(random.choice(near), found[1]))
    for found in [*ORDINAL.finditer(text), *FIRST.finditer(text)]:
        if text[found.end() :].lstrip().startswith(("half", "centur")):
            continue
        yield Change(*found.span(2), _other(ORDINALS[:6], found[2], text, random))
    for pattern, words in ((PART, PARTS), (TWICE, TIMES), (SCALED, SCALES[1:])):
        for found in pattern.finditer(text):
            options = [word for word in words if _share(word) != _share(found[1].lower()) and word not in text.lower()]
            if options:
                yield Change(*found.span(1), cased_like(random.choice(options), found[1]))


def _share(words: str) -> str:
    return words.replace("one ", "a ")


def respelled(text: str, random: Random) -> str:
    """The same sentence with its numbers and denials written another way: as true as before."""
    ways: list[tuple[str, str]] = [
        (r"(?<=\d) ?%", " percent"),
        (r"(?<=\d) percent\b", "%"),
        (r"\b(did|was|were|has|had|is|are|does) not\b", r"\1n't"),
        (r"\b(did|was|were|has|had|is|are|does)n['’]t\b", r"\1 not"),
        (r"\bcannot\b", "can't"),
        (r"\bSeptember\b", "Sept."),
        (rf"\b({'|'.join(MONTHS)}) (\d{{1,2}})(?=,? \d{{4}})", r"\2 \1"),
        (r"(?<![\d,])(\d{1,3}),(\d{3})(?![\d,])", r"\1\2"),
    ]
    ways += [(rf"(?<![\w-]){word}(?![\w-])", str(n)) for n, word in enumerate(SMALL, 2)]
    ways += [(rf"(?<![\w.,:/$£€(–-]){n}(?= [a-z]{{4,}})", word) for n, word in enumerate(SMALL[:11], 2)]
    random.shuffle(ways)
    for old, new in ways:
        made = re.sub(old, new, text, count=1)
        if made != text:
            return made
    return text
