"""Whether an answer states a short reference: a name, a number, a date, a phrase of few words, a list of such."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from itertools import accumulate, pairwise
from typing import NamedTuple

from ragauge.judges.local.english import NEGATIONS
from ragauge.judges.local.index import STOPS, haystack
from ragauge.judges.local.items import measured
from ragauge.judges.local.measures import same_amount, unit_after
from ragauge.judges.local.same_amounts import one_amount, stands_alone
from ragauge.judges.local.statements import bare
from ragauge.text.names import codes, fold, stands, written
from ragauge.text.numerals import CURRENCIES, asks_label, versioned
from ragauge.text.specifics import EXACT, Specific, find, found_in
from ragauge.text.tokens import stem
from ragauge.text.word_files import read_patterns, read_words

MOST_WORDS = 8  # of a phrase
MOST_SENTENCE_WORDS = 3  # of one that ends as a sentence does
LOOKED_AT = 4_000  # characters of a claim
REACH = 3  # words that may stand between those of a phrase, and as many again as it has words
LONG_WORD = 7  # letters from which on one may differ
COMPOUND = 4  # letters from which on a phrase may be written in one word
BEFORE = 3  # words before a mention that may negate it
MOST_READINGS = 8
ROUND_ZEROS = 2  # at the end of a number that is taken for a rounded one

WORDS, FORMS = read_words(__file__, "short_answers"), read_patterns(__file__, "short_answers")
EITHER, EACH = FORMS["either"], FORMS["each"]
SPELLED = {"one": "1", "zero": "0"}  # no numbers to check elsewhere ("one of them"), but they are as a whole answer
ARTICLES = frozenset(WORDS["articles"].split())
HELD = "\ue000"  # stands around the number of an identifier; of the private use area


class ReferencePart(NamedTuple):
    """One member of a short reference."""

    words: tuple[str, ...]  # stems of its words with content, numbers left out; of all its words where none has any
    numbers: tuple[Specific, ...]  # its numbers, dates and percentages
    joined: str  # its words in one
    compound: bool = True  # whether that is long enough to be looked for as it is
    codes: tuple[str, ...] = ()  # its identifiers of code, which have to stand there as they are

    @property
    def is_bare(self) -> bool:
        """Whether it is one number and nothing else: no word, no unit, no scale."""
        return not self.words and len(self.numbers) == 1 and is_figure(self.numbers[0])

    @property
    def amount(self) -> str:
        """Its first number as it may be written, with its unit."""
        first = self.numbers[0]
        return f"{first.unit}{first.text}" if first.unit in CURRENCIES else f"{first.text} {first.unit}".strip()

    def repeats(self, query: frozenset[str]) -> bool:
        """Whether the part has no word that the question, given by its stems, has not."""
        return not self.numbers and query.issuperset(self.words) and not STOPS.issuperset(self.words)


def is_short(reference: str) -> bool:
    """Whether a reference is a phrase rather than a statement.

    >>> is_short("Paris"), is_short("8 May 1945"), is_short("The warranty lasts two years.")
    (True, True, False)
    """
    count = len(written(reference[:LOOKED_AT]))
    return 0 < count <= (MOST_SENTENCE_WORDS if FORMS["ends"].search(reference) else MOST_WORDS)


@lru_cache(maxsize=512)
def readings(reference: str, *, labels: bool = False) -> tuple[tuple[ReferencePart, ...], ...]:
    """What a short reference accepts: any of these, each of which needs all its parts.

    `labels`: its decimals only tell things apart, as versions do.

    >>> [[part.joined for part in each] for each in readings("Chile and Peru")]
    [['chile', 'peru']]
    >>> [[part.joined for part in each] for each in readings("the sea (or ocean)")]
    [['thesea'], ['ocean']]
    """
    members = ([_part(each, labels=labels) for each in EACH.split(text)] for text in _alternatives(reference))
    parts = (tuple(part for part in each if part is not None) for each in members)
    return tuple(dict.fromkeys(filter(None, parts)))[:MOST_READINGS]


def _alternatives(reference: str) -> Iterator[str]:
    text = bare(reference).strip(" \t\"'“”‘’«».")
    inner = [first or second for first, second in FORMS["round"].findall(text)]
    outer = " ".join(FORMS["round"].sub(" ", text).split())
    for alternative in [FORMS["gloss"].sub("", outer), *inner]:
        gloss = alternative is not outer and alternative in inner and outer
        if gloss and not (FORMS["also"].match(alternative) or FORMS["initials"].match(alternative)):
            continue
        yield from (FORMS["also"].sub("", part) for part in _either(alternative))


def _either(text: str) -> list[str]:
    """The alternatives of a text; the slashes of a path are none."""
    known = codes(text)
    for index, code in enumerate(known):
        text = text.replace(code, f"{HELD}{index}{HELD}")
    parts = EITHER.split(text)
    for index, code in enumerate(known):
        parts = [part.replace(f"{HELD}{index}{HELD}", code) for part in parts]
    return parts


def _part(text: str, *, labels: bool) -> ReferencePart | None:
    text = SPELLED.get(text.strip().lower(), text)
    numbers = _exact(text, labels=labels)
    rest = list(text)
    for number in numbers:
        end = unit_after(text, number.end)[1]
        rest[number.start : end] = " " * (end - number.start)
    own = plain_words("".join(rest))
    content = [_unit(word) for word in own if word not in STOPS and word not in ARTICLES]
    if not content and not numbers:
        content = [_unit(word) for word in plain_words(text)]
    pieces = [fold(word) for word in written(text)]
    joined = "".join(pieces)
    compound = len(joined) >= COMPOUND or (len(joined) > 2 and len(joined) == len(pieces))
    return ReferencePart(tuple(content), numbers, joined, compound, codes(text)) if content or numbers else None


def _exact(text: str, *, labels: bool) -> tuple[Specific, ...]:
    """The numbers, dates and percentages of a text; decimals without a unit as labels where they are such."""
    numbers = find(text, EXACT)
    if not labels:
        return numbers
    return tuple(replace(mark, normal=versioned(mark.text), other="") if _is_label(mark) else mark for mark in numbers)


def _is_label(specific: Specific) -> bool:
    return specific.kind == "number" and not specific.unit and FORMS["dotted"].fullmatch(specific.text) is not None


def plain_words(text: str) -> list[str]:
    """The words of a text, folded, without the endings of owners."""
    return [fold(word) for word in written(FORMS["owner"].sub("", text))]


def plain_units(text: str) -> list[str]:
    """The stems of a text's words with content, as parts are compared by."""
    return [_unit(word) for word in plain_words(text) if word not in STOPS]


@lru_cache(maxsize=4_096)
def _unit(word: str) -> str:
    """A word's stem; of a very short stem the word itself, so that "one" is not "on"."""
    stemmed = stem(word)
    return stemmed if len(stemmed) > 2 else word


class AnswerClaim:
    """A claim of the answer, made ready for looking up.

    Args:
        claim: its text.
        query: the question, which tells how a number is meant; "" where it is not known.
    """

    def __init__(self, claim: str, query: str = "") -> None:
        self.text = claim[:LOOKED_AT]
        self.query = query
        self.labels = asks_label(query)
        raw = plain_words(self.text)
        self.words = [glued[1] if (glued := FORMS["glued"].match(word)) else word for word in raw]
        self.places: dict[str, list[int]] = {}
        for index, word in enumerate(self.words):
            for unit in {_unit(word), _unit(raw[index])}:
                self.places.setdefault(unit, []).append(index)
        pieces = [fold(word) for word in written(self.text)]
        self.joined = "".join(pieces)
        self.edges = set(accumulate(map(len, pieces), initial=0))

    def says(self, part: ReferencePart) -> bool:
        """Whether the claim names a part, and does not deny it."""
        if not all(stands(code, self.text) for code in part.codes):
            return False
        single = part.numbers[0] if not part.words and len(part.numbers) == 1 else None
        if not self._has_numbers(part):
            if self.labels or single is None or single.kind == "date":
                return False
            if one_amount(part.amount, self.text, self.query):
                return True
            target = measured(part.amount)[0]  # 5 km for 5,000 m
            others = (measure for measure in measured(self.text) if measure.unit not in ("", target.unit))
            return bool(target.unit) and any(same_amount(target, measure) for measure in others)
        if not part.words:
            count = single is not None and single.kind == "number" and not single.unit
            return not count or stands_alone(part.numbers[0], self.text, self.query)
        places = [self.where(word) for word in part.words]
        reach = 2 * len(places) + REACH if len(places) > 1 else 0
        first = min(places, key=len)  # where all the words stand near each other
        near = (at for at in first if all(any(abs(other - at) <= reach for other in row) for row in places))
        position = next(near, None)
        if position is None:  # whatever is put between them: seashells, sea-shells, sea shells
            ends = (at for at in self.edges if at + len(part.joined) in self.edges)
            return part.compound and any(self.joined.startswith(part.joined, at) for at in ends)
        before = self.words[max(0, position - BEFORE) : position]
        return not NEGATIONS.isdisjoint(part.words) or NEGATIONS.isdisjoint(before) or "only" in before

    def holds(self, part: ReferencePart) -> bool:
        """Whether the claim has a part as it is written, forms of its words and spellings of its numbers aside."""
        return part.joined in self.joined if part.words else self._has_numbers(part)

    def renumbers(self, part: ReferencePart) -> bool:
        """Whether the words of a part stand before another number than the part's: Python 3.1 for Python 3.10."""
        if not part.words or not part.numbers or self._has_numbers(part):
            return False
        places = [self.where(word) for word in part.words]
        return all(places) and any("".join(self.words[at + 1 : at + 2]).isdigit() for at in places[-1])

    def _has_numbers(self, part: ReferencePart) -> bool:
        return all(self.counts(number) or (part.is_bare and self.scales(number)) for number in part.numbers)

    def counts(self, specific: Specific) -> bool:
        """Whether a number or date is there, and counts the same; a round one also where the exact one is."""
        if self.labels and _is_label(specific):
            return any(specific.normal == other.normal for other in self.numbers)
        if not found_in(specific, haystack(self.text)):
            return specific.kind == "number" and any(_rounds(other, specific) for other in self.numbers)
        if not specific.unit:
            return True
        same = {specific.normal, specific.other} - {""}
        units = {other.unit for other in self.numbers if same & {other.normal, other.other}}
        return not units or "" in units or specific.unit in units

    def scales(self, specific: Specific) -> bool:
        """Whether the figures of a bare number stand there with a scale, a currency or per cent: "1,577" in "$1,577m".

        A negative one may be told as a fall: "-0.2" in "a decrease of $0.2 million".
        """
        wanted = {specific.normal}
        if specific.normal.startswith("-") and FORMS["falling"].search(self.text):
            wanted.add(specific.normal[1:])
        return any(wanted & figures(other) for other in self.numbers)

    @cached_property
    def numbers(self) -> tuple[Specific, ...]:
        """The claim's numbers, dates and percentages."""
        return _exact(self.text, labels=self.labels)

    def where(self, unit: str) -> Sequence[int]:
        """Places of a word, or of one spelled nearly so."""
        exact = self.places.get(unit)
        if exact is not None:
            return exact
        return [position for other, places in self.places.items() if _alike(unit, other) for position in places]

    def share_of(self, part: ReferencePart) -> float:
        """Share of the letters of a part's words that the claim has; one character of several only beside its next."""
        places = [set(self.where(word)) for word in part.words]
        if any(len(word) > 1 for word in part.words) or len(part.words) == 1:
            shared = sum(len(word) for word, own in zip(part.words, places, strict=True) if own)
        else:
            pairs = [any(start + 1 in after for start in own) for own, after in pairwise(places)]
            shared = sum(before or after for before, after in zip([False, *pairs], [*pairs, False], strict=True))
        return shared / max(1, sum(map(len, part.words)))


def is_figure(specific: Specific) -> bool:
    """Whether a number is told by its figures alone, without a unit or a scale."""
    return specific.kind == "number" and not specific.unit and FORMS["figure"].fullmatch(specific.text) is not None


def figures(specific: Specific) -> set[str]:
    """The figures of a number as they are written, without its scale; of one digit with a scale none.

    >>> [figures(one) for one in find("1,577 million and 5.46%", EXACT)]
    [{'1577'}, {'5.46'}]
    """
    match = FORMS["figure"].match(specific.text) if specific.kind in ("number", "percent") else None
    if match is None:
        return set()
    figure = match[0].rstrip(" .,'")
    if len(figure) < 2 and figure != specific.text and specific.kind == "number":
        return set()
    if figure == specific.text:
        return {specific.normal}
    return {each.normal for each in find(figure, EXACT) if each.kind == "number"}


def _rounds(exact: Specific, rough: Specific) -> bool:
    """Whether a number is the rounded form of another: 24,901 miles are 24,900 miles."""
    digits = rough.normal.rstrip("0")
    zeros = len(rough.normal) - len(digits)
    if zeros < ROUND_ZEROS or not digits.isdigit() or not exact.normal.replace(".", "", 1).isdigit():
        return False
    if exact.kind != "number" or (exact.unit and rough.unit and exact.unit != rough.unit):
        return False
    return round(float(exact.normal) / float(f"1e{zeros}")) == int(digits)


def _alike(word: str, other: str) -> bool:
    """Whether two words are spellings or forms of one: one letter of a long one differs, or an ending."""
    if word[0] != other[0] or not word.isalpha() or not other.isalpha():
        return False
    short, long = sorted((word, other), key=len)
    if len(short) >= LONG_WORD - 1 and len(long) - len(short) <= 3 and long.startswith(short):
        return True
    if len(long) < LONG_WORD or len(long) - len(short) > 1:
        return False
    pairs = zip(short, long, strict=False)  # where they part one letter is put in, left out or changed
    at = next((n for n, (left, right) in enumerate(pairs) if left != right), len(short))
    return short[at + (len(short) == len(long)) :] == long[at + 1 :]
