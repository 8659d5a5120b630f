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
from ragauge.text.characters import UNSPACED, Mark, normalize_characters
from ragauge.text.language import guess_language
from ragauge.text.tokens import ENGLISH, split_words
from ragauge.text.word_files import read_patterns

MARKS = '"“”„«»‘‹「『＂'
FORMS = read_patterns(__file__, "specifics")
SPACELESS = re.compile(f"[{UNSPACED}]")
MIN_QUOTE_WORDS, MIN_QUOTE_CHARS = 3, 6


def find_quotes(text: str) -> Iterator[Mark]:
    """What stands in quotation marks: at least three words, or six characters of a script without spaces."""
    if not any(mark in text for mark in MARKS) and "'" not in text:
        return
    for match in FORMS["quoted"].finditer(text):
        start, end = match.span(match.lastindex or 0)
        normal = normalize_quote(text[start:end])
        min_words = MIN_QUOTE_CHARS if SPACELESS.search(normal) else MIN_QUOTE_WORDS
        if len(normal.replace("… ", "").split()) >= min_words:
            yield Mark("quote", start, end, normal)


def normalize_quote(quote: str) -> str:
    """A quotation's folded words, one space between; what was left out is marked by "…".

    >>> normalize_quote("We “will” not ... give in.")
    'we will not … give in'
    """
    return " … ".join(part for part in (" ".join(split_words(piece)) for piece in FORMS["cut"].split(quote)) if part)


Kind = Literal["number", "date", "name", "percent", "quote"]
ALL_KINDS: tuple[Kind, ...] = ("number", "date", "name", "percent", "quote")
MAX_CACHED_CHARS = 50_000  # characters; the finds of a longer text are not kept
SAMPLE_CHARS = 1_000  # characters that tell the language
MIN_TELLING_DIGITS = 3  # digits of a number that is known without its multiplier: "5 million" is not 5
TEXT_GAP = 100  # places between two texts
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


def find_specifics(text: str, kinds: Collection[Kind] = ALL_KINDS) -> tuple[Specific, ...]:
    """The specifics of a text in order, not overlapping: a date is not numbers too, a quotation covers what is in it.

    Numbers compare by value ("1,000", "1000", "5.2 million"), dates by day, month and year, names by their words,
    whatever the case, accents and dots. A capitalised word is no name where only its position asks for the capital.

    >>> [(found.kind, found.normal,
    ...     found.unit) for found in find_specifics("On 3 Jan 2024 ACME Corp. paid $5.2 million, 20%.")]
    [('date', '2024-01-03', ''), ('name', 'acme corp', ''), ('number', '5200000', '$'), ('percent', '20%', '')]
    """
    requested = frozenset(kinds)
    return (_find_cached if len(text) <= MAX_CACHED_CHARS else _find_uncached)(text, requested)


def _find_uncached(text: str, kinds: frozenset[Kind]) -> tuple[Specific, ...]:
    fixed = _merge_apart([], list(names.find_addresses(text)))
    exact = list(numerals.find_numbers(normalize_characters(text))) if kinds & {"number", "date", "percent"} else []
    exact = [mark for mark in _merge_apart(fixed, exact) if mark.kind != "name"]  # 2024 in an address is no year
    called = list(names.find_names(text, guess_language(text[:SAMPLE_CHARS]))) if "name" in kinds else []
    groups = [
        list(find_quotes(text)) if "quote" in kinds else [],
        fixed,
        [mark for mark in exact if mark.kind == "date"],
        [mark for mark in exact if mark.kind != "date"],
        _merge_apart(fixed, called),
    ]
    taken: list[Mark] = []
    for group in groups:
        taken = _merge_apart(taken, group)
    return tuple(Specific(mark.kind, text[mark.start : mark.end], *mark[1:]) for mark in taken if mark.kind in kinds)


_find_cached = lru_cache(maxsize=512)(_find_uncached)


def _merge_apart(taken: list[Mark], more: list[Mark]) -> list[Mark]:
    """The marks taken, in order, and those of the others that overlap none of them."""
    merged = list(taken)
    index = end = 0
    for mark in sorted(more, key=lambda mark: (mark.start, -mark.end)):
        while index < len(taken) and taken[index].end <= mark.start:
            index += 1
        if mark.start >= end and (index == len(taken) or taken[index].start >= mark.end):
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
        return _build_haystack((texts,) if isinstance(texts, str) else tuple(texts))


@lru_cache(maxsize=64)
def _build_haystack(texts: tuple[str, ...]) -> Haystack:
    exact: set[str] = set()
    positions: dict[str, list[int]] = {}
    capital: set[int] = set()
    shouted: set[str] = set()
    offset = 0
    for text in texts:
        same = normalize_characters(text)
        for mark in numerals.find_numbers(same, liberal=True):
            exact |= _list_readings(mark, same)
        for word in names.list_written_words(text):
            small = names.fold_case(word)
            positions.setdefault(small, []).append(offset)
            if small != word and word[0].isupper():
                capital.add(offset)
                if word.isupper() and len(word) > 1:
                    shouted.add(small)
            offset += 1
        offset += TEXT_GAP
    return Haystack(frozenset(exact), positions, frozenset(capital), frozenset(shouted))


def _list_readings(mark: Mark, text: str) -> set[str]:
    """Everything that a mark of the searched text vouches for."""
    both = {mark.normal, mark.other} - {""}
    if mark.kind == "date":
        both = {date_part for normal in both for date_part in dates.list_date_parts(normal)}
        if text.startswith("FY", mark.start):  # FY18 is no 18
            return both
        return both | {numerals.normalize_number(digits, "") for digits in DIGITS.findall(text, mark.start, mark.end)}
    if FORMS["bracketed"].search(text, max(0, mark.start - 3), mark.start) and text[mark.end : mark.end + 1] == ")":
        both |= {f"-{normal}" for normal in both if normal[0] != "-"}  # as accounts write a negative
    if mark.kind == "percent":
        return both | {normal.removesuffix("%") for normal in both}
    figure = numerals.find_figure(text, mark.start, mark.end)
    if sum(map(str.isdigit, figure)) >= MIN_TELLING_DIGITS:
        both.add(figure)  # "1,577 million" where a table in millions has 1,577
    both |= {normal.removeprefix("-") for normal in both}
    if " " in text[mark.start : mark.end]:  # "room 5 100 people" is not always 5,100
        both |= {numerals.normalize_number(digits, "") for digits in DIGITS.findall(text, mark.start, mark.end)}
    return both


def is_found_in(specific: Specific, haystack: Haystack) -> bool:
    """Whether the texts hold the specific.

    A number is found by its value (also as the number of a percentage, or as digits written in a date), a
    percentage as a percentage, a date when a date at least as exact is there, a name or a quotation as whole words.
    Of a name the words may stand apart where capitalised words lie between ("John F. Kennedy", "Kennedy, John");
    a longer one's in any order within one stretch.

    >>> texts = Haystack.of(["ACME Corp. paid 1,000 dollars on January 3, 2024. USAGE rose 20 percent."])
    >>> [is_found_in(found, texts) for found in find_specifics("In 2024, Acme Corp paid $1000; 20% went to the US.")]
    [True, True, True, True, False]
    """
    if specific.kind in ("number", "date", "percent"):
        exact = haystack.exact
        readings = {specific.normal, specific.other} - {""}
        days = (form for form in readings if len(form) == 10 and form[4] == "-")  # day and year may stand apart
        return not readings.isdisjoint(exact) or any({day[:4], f"--{day[5:]}"} <= exact for day in days)
    if specific.kind == "quote":
        parts = (names.split_name(part) for part in specific.normal.split("…"))
        return all(_find_in_a_row(part, haystack) is not None for part in parts if part)
    if specific.normal in ENGLISH and specific.text.isupper():
        return specific.normal in haystack.shouted
    return _is_named(specific, haystack)


def _is_named(specific: Specific, haystack: Haystack) -> bool:
    words = specific.normal.split()
    if _find_in_a_row(words, haystack) is not None or _is_joined(words, haystack):
        return True
    if len(words) < 2 or "://" in specific.text or "@" in specific.text:
        return False
    if "of" in words:
        at = words.index("of")
        sides = (words[:at], [word for n, word in enumerate(words) if n > at and word != "the"])
        return all(_find_in_a_row(side, haystack) is not None for side in sides if side)
    if any(word not in haystack.places for word in words):
        return False
    if len(words) == 2:
        return _is_between_capitals(words[0], words[1], haystack)
    reach = 2 * len(words) + 2
    rarest = min((haystack.places[word] for word in words), key=len)
    return any(all(_is_near(haystack.places[word], index, reach) for word in words) for index in rarest)


def _find_in_a_row(words: Sequence[str], haystack: Haystack) -> int | None:
    if not words or any(word not in haystack.places for word in words):
        return None
    rarest = min(range(len(words)), key=lambda n: len(haystack.places[words[n]]))
    for position in haystack.places[words[rarest]]:
        start = position - rarest
        if all(_is_near(haystack.places[word], start + n) for n, word in enumerate(words)):
            return start
    return None


def _is_joined(words: Sequence[str], haystack: Haystack) -> bool:
    """A code written in one piece there and in several here, or the other way round ("X-200", "X200")."""
    joined = "".join(words)
    if DIGITS.search(joined) is None:
        return False
    return joined in haystack.places or _find_in_a_row(DIGITS_OR_NOT.findall(joined), haystack) is not None


def _is_between_capitals(first: str, last: str, haystack: Haystack) -> bool:
    for start in haystack.places[first]:
        if start not in haystack.capital:
            continue
        if start - 1 in haystack.capital and _is_near(haystack.places[last], start - 1):
            return True
        for gap in (1, 2):
            if start + gap not in haystack.capital:
                break
            if _is_near(haystack.places[last], start + gap + 1):
                return True
    return False


def _is_near(positions: Sequence[int], index: int, reach: int = 0) -> bool:
    insertion = bisect_left(positions, index - reach)
    return insertion < len(positions) and positions[insertion] <= index + reach


ClaimKind = Literal["amount", "phrase", "sentence"]

MAX_AMOUNT_WORDS = 2  # words with content beside a number that is a statement by itself
MIN_SENTENCE_WORDS = 5  # words with content: fewer make a phrase


def classify_claim(text: str) -> ClaimKind:
    """Amount: a number and at most two words of content. Phrase: fewer than five of these.

    >>> [classify_claim(text) for text in ("$1,577 million", "the Port of Leith",
    ...     "Two sisters founded it in Leeds, Ohio.")]
    ['amount', 'phrase', 'sentence']
    """
    content = [word for word in split_words(text) if word not in ENGLISH and not word[0].isdigit()]
    if len(content) <= MAX_AMOUNT_WORDS and find_specifics(text, ("number", "percent")):
        return "amount"
    return "phrase" if len(content) < MIN_SENTENCE_WORDS else "sentence"


NAME_KINDS: tuple[Kind, ...] = ("name",)
DATE_KINDS: tuple[Kind, ...] = ("date",)
NUMBER_KINDS: tuple[Kind, ...] = ("number",)
PERCENT_KINDS: tuple[Kind, ...] = ("percent",)
TIME_KINDS: tuple[Kind, ...] = ("number", "date")  # "in 1912" is a number where no month stands beside it
EXACT_KINDS: tuple[Kind, ...] = ("number", "date", "percent")
COMPARED_KINDS: tuple[Kind, ...] = ("number", "date", "percent", "name")  # quotations are not: their words are compared
