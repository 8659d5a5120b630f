"""Specifics: the numbers, dates, names, percentages and quotations of a text, and whether another text has them.

Quotations of three words or more.

What kind of thing a statement is, by what it takes to find it: an amount, a phrase, or a sentence.

Which specifics are looked for, by what they are.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple

from ragauge.text import dates, names, numerals
from ragauge.text.characters import UNSPACED, Mark, plain
from ragauge.text.language import guess
from ragauge.text.tokens import ENGLISH, words
from ragauge.text.word_files import read_patterns

MARKS = '"“”„«»‘‹「『＂'
FORMS = read_patterns(__file__, "specifics")
SPACELESS = re.compile(f"[{UNSPACED}]")
FEWEST_WORDS, FEWEST_CHARACTERS = 3, 6


def find_quotes(text: str) -> Iterator[Mark]:
    """What stands in quotation marks: at least three words, or six characters of a script without spaces."""
    if not any(mark in text for mark in MARKS) and "'" not in text:
        return
    for match in FORMS["quoted"].finditer(text):
        start, end = match.span(match.lastindex or 0)
        normal = canonical_quote(text[start:end])
        least = FEWEST_CHARACTERS if SPACELESS.search(normal) else FEWEST_WORDS
        if len(normal.replace("… ", "").split()) >= least:
            yield Mark("quote", start, end, normal)


def canonical_quote(quote: str) -> str:
    """A quotation's folded words, one space between; what was left out is marked by "…".

    >>> canonical_quote("We “will” not ... give in.")
    'we will not … give in'
    """
    return " … ".join(part for part in (" ".join(words(piece)) for piece in FORMS["cut"].split(quote)) if part)


Kind = Literal["number", "date", "name", "percent", "quote"]
ALL: tuple[Kind, ...] = ("number", "date", "name", "percent", "quote")
CACHED = 50_000  # characters; the finds of a longer text are not kept
SAMPLE = 1_000  # characters that tell the language
TELLING = 3  # digits of a number that is known without its multiplier: "5 million" is not 5
APART = 100  # places between two texts
DIGITS, DIGITS_OR_NOT = re.compile(r"[0-9]+"), re.compile(r"[0-9]+|[^0-9]+")


@dataclass(frozen=True, slots=True)
class Specific:
    """One checkable detail: `text` is characters [start, end) of the whole."""

    kind: Kind  # number, date, name, percent or quote
    text: str  # as written
    start: int  # first character
    end: int  # one past the last
    normal: str  # canonical form: equal for equal meaning
    unit: str = ""  # what a number counts ("GB", "days", "$"); "" where nothing says so
    # canonical form of the other reading where the spelling has two ("03/04/2024", "1.234"); else ""
    other: str = ""


def find(text: str, kinds: Collection[Kind] = ALL) -> tuple[Specific, ...]:
    """The specifics of a text in order, not overlapping: a date is not numbers too, a quotation covers what is in it.

    Numbers compare by value ("1,000", "1000", "5.2 million"), dates by day, month and year, names by their words,
    whatever the case, accents and dots. A capitalised word is no name where only its position asks for the capital.

    >>> [(found.kind, found.normal, found.unit) for found in find("On 3 Jan 2024 ACME Corp. paid $5.2 million, 20%.")]
    [('date', '2024-01-03', ''), ('name', 'acme corp', ''), ('number', '5200000', '$'), ('percent', '20%', '')]
    """
    wanted = frozenset(kinds)
    return (_kept if len(text) <= CACHED else _find)(text, wanted)


def _find(text: str, kinds: frozenset[Kind]) -> tuple[Specific, ...]:
    fixed = _apart([], list(names.addresses(text)))
    exact = list(numerals.find(plain(text))) if kinds & {"number", "date", "percent"} else []
    exact = [mark for mark in _apart(fixed, exact) if mark.kind != "name"]  # 2024 in an address is no year
    called = list(names.find(text, guess(text[:SAMPLE]))) if "name" in kinds else []
    groups = [
        list(find_quotes(text)) if "quote" in kinds else [],
        fixed,
        [mark for mark in exact if mark.kind == "date"],
        [mark for mark in exact if mark.kind != "date"],
        _apart(fixed, called),
    ]
    taken: list[Mark] = []
    for group in groups:
        taken = _apart(taken, group)
    return tuple(Specific(mark.kind, text[mark.start : mark.end], *mark[1:]) for mark in taken if mark.kind in kinds)


_kept = lru_cache(maxsize=512)(_find)


def _apart(taken: list[Mark], more: list[Mark]) -> list[Mark]:
    """The marks taken, in order, and those of the others that overlap none of them."""
    merged = list(taken)
    at = end = 0
    for mark in sorted(more, key=lambda mark: (mark.start, -mark.end)):
        while at < len(taken) and taken[at].end <= mark.start:
            at += 1
        if mark.start >= end and (at == len(taken) or taken[at].start >= mark.end):
            merged.append(mark)
            end = mark.end
    return sorted(merged, key=lambda mark: mark.start)


class Haystack(NamedTuple):
    """Texts made ready to be searched for many specifics."""

    exact: frozenset[str]  # canonical numbers, dates and percentages, less exact dates included
    # folded word -> its places, ascending, over all the texts; texts lie far apart
    places: Mapping[str, Sequence[int]]
    # places of words with a capital; shouted: folded words that occur in capitals throughout
    capital: frozenset[int]
    shouted: frozenset[str]

    @classmethod
    def of(cls, texts: Iterable[str]) -> Haystack:
        """Reads the texts once, or one text; what was read last is kept."""
        return _haystack((texts,) if isinstance(texts, str) else tuple(texts))


@lru_cache(maxsize=64)
def _haystack(texts: tuple[str, ...]) -> Haystack:
    exact: set[str] = set()
    places: dict[str, list[int]] = {}
    capital: set[int] = set()
    shouted: set[str] = set()
    offset = 0
    for text in texts:
        same = plain(text)
        for mark in numerals.find(same, liberal=True):
            exact |= _readings(mark, same)
        for word in names.written(text):
            small = names.fold(word)
            places.setdefault(small, []).append(offset)
            if small != word and word[0].isupper():
                capital.add(offset)
                if word.isupper() and len(word) > 1:
                    shouted.add(small)
            offset += 1
        offset += APART
    return Haystack(frozenset(exact), places, frozenset(capital), frozenset(shouted))


def _readings(mark: Mark, text: str) -> set[str]:
    """Everything that a mark of the searched text vouches for."""
    both = {mark.normal, mark.other} - {""}
    if mark.kind == "date":
        both = {part for normal in both for part in dates.parts(normal)}
        if text.startswith("FY", mark.start):  # FY18 is no 18
            return both
        return both | {numerals.canonical(digits, "") for digits in DIGITS.findall(text, mark.start, mark.end)}
    if FORMS["bracketed"].search(text, max(0, mark.start - 3), mark.start) and text[mark.end : mark.end + 1] == ")":
        both |= {f"-{normal}" for normal in both if normal[0] != "-"}  # as accounts write a negative
    if mark.kind == "percent":
        return both | {normal.removesuffix("%") for normal in both}
    figure = numerals.figure(text, mark.start, mark.end)
    if sum(map(str.isdigit, figure)) >= TELLING:
        both.add(figure)  # "1,577 million" where a table in millions has 1,577
    both |= {normal.removeprefix("-") for normal in both}
    if " " in text[mark.start : mark.end]:  # "room 5 100 people" is not always 5,100
        both |= {numerals.canonical(digits, "") for digits in DIGITS.findall(text, mark.start, mark.end)}
    return both


def found_in(specific: Specific, haystack: Haystack) -> bool:
    """Whether the texts hold the specific.

    A number is found by its value (also as the number of a percentage, or as digits written in a date), a
    percentage as a percentage, a date when a date at least as exact is there, a name or a quotation as whole words.
    Of a name the words may stand apart where capitalised words lie between ("John F. Kennedy", "Kennedy, John");
    a longer one's in any order within one stretch.

    >>> texts = Haystack.of(["ACME Corp. paid 1,000 dollars on January 3, 2024. USAGE rose 20 percent."])
    >>> [found_in(found, texts) for found in find("In 2024, Acme Corp paid $1000; 20% went to the US.")]
    [True, True, True, True, False]
    """
    if specific.kind in ("number", "date", "percent"):
        exact = haystack.exact
        readings = {specific.normal, specific.other} - {""}
        days = (form for form in readings if len(form) == 10 and form[4] == "-")  # day and year may stand apart
        return not readings.isdisjoint(exact) or any({day[:4], f"--{day[5:]}"} <= exact for day in days)
    if specific.kind == "quote":
        parts = (names.pieces(part) for part in specific.normal.split("…"))
        return all(_in_a_row(part, haystack) is not None for part in parts if part)
    if specific.normal in ENGLISH and specific.text.isupper():
        return specific.normal in haystack.shouted
    return _named(specific, haystack)


def _named(specific: Specific, haystack: Haystack) -> bool:
    words = specific.normal.split()
    if _in_a_row(words, haystack) is not None or _joined(words, haystack):
        return True
    if len(words) < 2 or "://" in specific.text or "@" in specific.text:
        return False
    if "of" in words:
        at = words.index("of")
        sides = (words[:at], [word for n, word in enumerate(words) if n > at and word != "the"])
        return all(_in_a_row(side, haystack) is not None for side in sides if side)
    if any(word not in haystack.places for word in words):
        return False
    if len(words) == 2:
        return _between_capitals(words[0], words[1], haystack)
    reach = 2 * len(words) + 2
    rarest = min((haystack.places[word] for word in words), key=len)
    return any(all(_near(haystack.places[word], index, reach) for word in words) for index in rarest)


def _in_a_row(words: Sequence[str], haystack: Haystack) -> int | None:
    if not words or any(word not in haystack.places for word in words):
        return None
    rarest = min(range(len(words)), key=lambda n: len(haystack.places[words[n]]))
    for position in haystack.places[words[rarest]]:
        start = position - rarest
        if all(_near(haystack.places[word], start + n) for n, word in enumerate(words)):
            return start
    return None


def _joined(words: Sequence[str], haystack: Haystack) -> bool:
    """A code written in one piece there and in several here, or the other way round ("X-200", "X200")."""
    whole = "".join(words)
    if DIGITS.search(whole) is None:
        return False
    return whole in haystack.places or _in_a_row(DIGITS_OR_NOT.findall(whole), haystack) is not None


def _between_capitals(first: str, last: str, haystack: Haystack) -> bool:
    for start in haystack.places[first]:
        if start not in haystack.capital:
            continue
        if start - 1 in haystack.capital and _near(haystack.places[last], start - 1):
            return True
        for gap in (1, 2):
            if start + gap not in haystack.capital:
                break
            if _near(haystack.places[last], start + gap + 1):
                return True
    return False


def _near(places: Sequence[int], index: int, reach: int = 0) -> bool:
    at = bisect_left(places, index - reach)
    return at < len(places) and places[at] <= index + reach


ClaimKind = Literal["amount", "phrase", "sentence"]

MOST_BESIDE = 2  # words with content beside a number that is a statement by itself
SHORT = 5  # words with content: fewer make a phrase


def claim_kind(text: str) -> ClaimKind:
    """Amount: a number and at most two words of content. Phrase: fewer than five of these.

    >>> [claim_kind(text) for text in ("$1,577 million", "the Port of Leith", "Two sisters founded it in Leeds, Ohio.")]
    ['amount', 'phrase', 'sentence']
    """
    content = [word for word in words(text) if word not in ENGLISH and not word[0].isdigit()]
    if len(content) <= MOST_BESIDE and find(text, ("number", "percent")):
        return "amount"
    return "phrase" if len(content) < SHORT else "sentence"


NAME: tuple[Kind, ...] = ("name",)
DATE: tuple[Kind, ...] = ("date",)
NUMBER: tuple[Kind, ...] = ("number",)
PERCENT: tuple[Kind, ...] = ("percent",)
TIME: tuple[Kind, ...] = ("number", "date")  # "in 1912" is a number where no month stands beside it
EXACT: tuple[Kind, ...] = ("number", "date", "percent")
EVERY: tuple[Kind, ...] = ("number", "date", "percent", "name")  # quotations are not: their words are compared
