"""Two sentences aligned item by item, and amounts that are equal in another form."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from math import floor, log10
from typing import Literal, NamedTuple

from ragauge.judges.local.english import find_opposed
from ragauge.judges.local.items import Item
from ragauge.judges.local.measures import (
    CURRENCY_SIGNS,
    FORMS,
    SHIFTS,
    Amount,
    find_amounts,
    is_same_amount,
    is_same_day,
    is_same_dimension,
    is_year,
)
from ragauge.text import numerals
from ragauge.text.characters import normalize_characters
from ragauge.text.numerals import ORDINALS, UNITS
from ragauge.text.specifics import Specific
from ragauge.text.tokens import split_words, stem_word
from ragauge.text.word_files import read_words

WORDS = read_words(__file__, "names")

NICKNAMES: dict[str, frozenset[str]] = {}
for _line in WORDS["nicknames"].replace("\n", " ").split("|"):
    _names = frozenset(_line.split())
    for _name in _names:
        NICKNAMES[_name] = NICKNAMES.get(_name, frozenset()) | _names
MIN_SPELLING_RATIO = 0.8  # likeness from which on two words are two spellings of one
MIN_NAME_LETTERS = 4  # letters of a name that another may begin with


@lru_cache(maxsize=2_048)
def is_same_name(name: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether two names, each as its folded words, may be of one thing.

    One may be a part of the other, its initials, a nickname, an inflected form or another spelling.

    >>> (is_same_name(("barack", "obama"), ("obama",)),
    ...     is_same_name(("bbc",), ("british", "broadcasting", "corporation")))
    (True, True)
    >>> is_same_name(("john", "smith"), ("mary", "smith")), is_same_name(("j", "smith"), ("john", "smith"))
    (False, True)
    """
    if "".join(name) == "".join(other):
        return True
    own_words = [word for word in name if word not in other]
    other_words = [word for word in other if word not in name]
    if not own_words or not other_words:
        return True
    if _join_initials(name) == "".join(other) or _join_initials(other) == "".join(name):
        return True
    if _join_initials(own_words) == "".join(other_words) or _join_initials(other_words) == "".join(own_words):
        return True
    shorter, longer = sorted((own_words, other_words), key=len)
    shared = len(own_words) < len(name)
    return all(any(_is_same_word(word, candidate, shared=shared) for candidate in longer) for word in shorter)


def _join_initials(words: Sequence[str]) -> str:
    return "".join(word[0] for word in words)


def _is_same_word(word: str, other: str, *, shared: bool) -> bool:
    """Whether two words may be one; an initial counts where the names share another word."""
    if other in NICKNAMES.get(word, ()):
        return True
    shorter, longer = sorted((word, other), key=len)
    if ((shared and len(shorter) == 1) or len(shorter) >= MIN_NAME_LETTERS) and longer.startswith(shorter):
        return True
    if (
        len(shorter) >= MIN_NAME_LETTERS
        and len(longer) - len(shorter) >= MIN_NAME_LETTERS - 1
        and longer.endswith(shorter)
    ):
        return True  # the head of a compound: Frist, Rückgabefrist
    if shorter.isdigit() or len(shorter) < MIN_NAME_LETTERS or word[0] != other[0]:
        return False
    return SequenceMatcher(None, word, other, autojunk=False).ratio() >= MIN_SPELLING_RATIO


# "label": numbers that tell things of a kind apart, so that the two sentences speak of two things
Relation = Literal["same", "name", "number", "unit", "date", "antonym", "quantifier", "comparative", "label"]
Worth = tuple[float, Relation]

# what a pair is worth, and what an item costs that has no partner
CONTENT_WORTH, FUNCTION_WORTH, SLOT_WORTH = 2.0, 0.5, 2.5
RIVALS_WORTH = 1.0
UNMATCHED_COSTS = (0.1, 0.6)  # of the claim: function word, content
SKIPPED_COSTS = (0.06, 0.3)  # of the passage
MIN_DIGITS = 3  # of a number that may stand where a year does
SPAN = re.compile(r"\d\s?(?:-|–|to|and)\s?\d{1,2}\b(?!-)")  # of days: both ends count


class AlignedPair(NamedTuple):
    """Item `claim` of the claim beside item `passage` of the passage."""

    claim: int
    passage: int
    relation: Relation


def align_items(claim: Sequence[Item], passage: Sequence[Item]) -> list[AlignedPair]:
    """The best pairs in order: equal items, and in equal surroundings items of which one excludes the other.

    The sum of the worth of the pairs, less the cost of what has none, is the greatest that can be had (dynamic
    programming). What stands in the passage before the first pair and behind the last costs nothing: the claim may be
    a part of it. Equal beginnings and endings are paired without looking further.
    """
    shorter = min(len(claim), len(passage))
    start = 0
    while start < shorter and _is_identical(claim[start], passage[start]):
        start += 1
    end = 0
    while end < shorter - start and _is_identical(claim[-1 - end], passage[-1 - end]):
        end += 1
    middle = claim[start : len(claim) - end], passage[start : len(passage) - end]
    pairs = [AlignedPair(index, index, "same") for index in range(start)]
    if all(middle):
        inner = _align_middle(*middle, free_start=start == 0, free_end=end == 0)
        pairs += [AlignedPair(pair.claim + start, pair.passage + start, pair.relation) for pair in inner]
    tail = zip(range(len(claim) - end, len(claim)), range(len(passage) - end, len(passage)), strict=True)
    return pairs + [AlignedPair(claim_index, passage_index, "same") for claim_index, passage_index in tail]


def _is_identical(item: Item, other: Item) -> bool:
    return item.key == other.key and item.kind == other.kind and item.measure == other.measure


def _align_middle(
    claim: Sequence[Item], passage: Sequence[Item], *, free_start: bool, free_end: bool
) -> list[AlignedPair]:
    table = _build_relations(claim, passage)
    width = len(passage)
    skipped = [SKIPPED_COSTS[word.content] for word in passage]
    previous_row = [0.0]
    for cost in skipped:
        previous_row.append(0.0 if free_start else previous_row[-1] - cost)
    moves: list[bytearray] = []  # per cell: 1 the claim's item alone, 2 the passage's item alone, 3 a pair
    for item, relations in zip(claim, table, strict=True):
        unmatched = UNMATCHED_COSTS[item.content]
        left = previous_row[0] - unmatched
        row = [left]
        move = bytearray(width + 1)
        move[0] = 1
        for column in range(width):
            best, step = previous_row[column + 1] - unmatched, 1
            if left - skipped[column] > best:
                best, step = left - skipped[column], 2
            worth = relations.get(column)
            if worth is not None and previous_row[column] + worth[0] >= best:
                best, step = previous_row[column] + worth[0], 3
            row.append(best)
            move[column + 1] = step
            left = best
        moves.append(move)
        previous_row = row
    return _trace_pairs(moves, table, max(range(width + 1), key=previous_row.__getitem__) if free_end else width)


def _trace_pairs(moves: Sequence[bytearray], table: Sequence[dict[int, Worth]], column: int) -> list[AlignedPair]:
    pairs = []
    row = len(moves)
    while row and column:
        step = moves[row - 1][column]
        if step == 3:
            pairs.append(AlignedPair(row - 1, column - 1, table[row - 1][column - 1][1]))
        row -= step != 2
        column -= step != 1
    return pairs[::-1]


def _build_relations(claim: Sequence[Item], passage: Sequence[Item]) -> list[dict[int, Worth]]:
    """Per item of the claim: the passage's items that it may stand beside, what that is worth, and how they relate."""
    indices_by_key: dict[str, list[int]] = {}
    slots: list[int] = []
    for index, word in enumerate(passage):
        for key in word.keys:
            indices_by_key.setdefault(key, []).append(index)
        if word.kind != "word" or word.capital:
            slots.append(index)
    table = []
    for item in claim:
        worths: dict[int, Worth] = {}
        worth = (CONTENT_WORTH if item.content else FUNCTION_WORTH) if item.kind == "word" else SLOT_WORTH
        for key in item.keys:
            worths.update(dict.fromkeys(indices_by_key.get(key, ()), (worth, "same")))
        if item.kind == "word":
            for key, kind in find_opposed(item.key).items():
                for index in indices_by_key.get(key, ()):
                    worths.setdefault(index, (RIVALS_WORTH, kind))
        if item.kind != "word" or item.capital:
            for index in slots:
                if index not in worths and (relation := find_relation(item, passage[index])):
                    worths[index] = (SLOT_WORTH if relation == "same" else RIVALS_WORTH), relation
        table.append(worths)
    return table


def find_relation(item: Item, other: Item) -> Relation | None:
    """How a name, number or date of the claim relates to one of the passage; None where they are of different kinds."""
    if item.measure and other.measure:
        if is_same_amount(item.measure, other.measure):
            return "same"
        if item.label or other.label:
            return "label"
        units = {item.measure.unit, other.measure.unit} - {""}
        if len(units) > 1 and not {*item.measure.values}.isdisjoint(other.measure.values):
            return "unit"
        return "number" if is_same_dimension(item.measure, other.measure) else None
    if {item.kind, other.kind} == {"date", "number"}:
        return _relate_year(item, other) if item.kind == "date" else _relate_year(other, item)
    if item.kind == other.kind == "date":
        spans = SPAN.search(item.text) is not None and SPAN.search(other.text) is not None
        same = set(item.parts) == set(other.parts) if spans else is_same_day(item.parts, other.parts)
        return "same" if same else "date"
    if not {item.kind, other.kind} <= {"name", "word"} or not item.parts or not other.parts:
        return None
    if is_same_name(item.parts, other.parts):
        return "same"
    return "name" if item.kind == other.kind == "name" else None


def _relate_year(date: Item, number: Item) -> Relation | None:
    """How a bare year relates to a number that may be one, as its place alone tells: "in 1844", "between 1790 and"."""
    year, figure, measure = date.key, number.figure, number.measure
    if not (year.isdigit() and figure.isdigit()) or len(figure) < MIN_DIGITS or measure is None or measure.unit:
        return None
    if year == figure:
        return "same"
    return "date" if len(figure) == len(year) else "number"


PER_CENT_SCALE, PER_CENT_DECIMALS = 0.01, 2  # 5.4 % is 0.054: two more decimals
SAME_AMOUNTS_MIN_DIGITS = 2  # of an amount that another may be rounded to
TOLERANCE = 1e-9  # share of a value that is lost in reckoning
_COUNTS = {"one": 1, "two": 2, "three": 3, "1": 1, "2": 2, "3": 3}


class AmountForm(NamedTuple):
    """In what form a question asks for an amount."""

    scale: int | None = None  # the power of ten that it names ("in USD millions"); None without one
    percent: bool = False  # whether it names per cent
    decimals: int | None = None  # to how many decimals it asks to round; None without

    @classmethod
    def of(cls, query: str) -> AmountForm:
        """The form that a question names.

        >>> AmountForm.of("What was paid, in USD millions? Round to two decimal places.")
        AmountForm(scale=6, percent=False, decimals=2)
        """
        scales = (match[1] or match[2] for match in FORMS["in_scale"].finditer(query))
        named_scales = {SHIFTS[scale.lower().removesuffix("s")] for scale in scales}
        decimals = FORMS["decimals"].search(query)
        return cls(
            named_scales.pop() if len(named_scales) == 1 else None,
            FORMS["in_per_cent"].search(query) is not None,
            _COUNTS[decimals[1].lower()] if decimals else None,
        )


class AmountReading(NamedTuple):
    """What an amount may mean."""

    value: float  # in units
    step: float  # what its last written digit counts
    named: bool  # whether its scale or per cent is written beside it or named in the question
    percent: bool = False  # whether it is per cent
    scale_asked: bool = False  # whether the question has said that it is in this scale

    @property
    def whole(self) -> bool:
        """Whether it has neither decimals nor a scale: a count, maybe."""
        return not self.named and self.step >= 1

    @property
    def n_digits(self) -> int:
        """How many of its digits count."""
        return floor(log10(abs(self.value) / self.step) + TOLERANCE) + 1 if abs(self.value) >= self.step else 0


def has_same_amount(reference: str, answer: str, query: str) -> bool:
    """Whether one of the amounts of an answer's claim is the single amount of a reference.

    A scale is only taken where the amount or the question names it. Per cent is a hundredth ("5.4%" is 0.054). One of
    the two may be the other rounded, with two digits or more, where both have decimals or a scale; fewer only in a
    reference, where the question names the scale that it is written in.

    >>> has_same_amount("0.054", "The margin was 5.4%.", ""), has_same_amount("0.054", "The margin was 54%.", "")
    (True, False)
    >>> has_same_amount("8.7", "It was $8.738 billion.", "How much, in USD billions?")
    True
    """
    form = AmountForm.of(query)
    reference_amounts = find_amounts(reference)
    if len(reference_amounts) != 1:
        return False
    reference_readings = list(_list_readings(reference_amounts[0], form, reference=True))
    for amount in find_amounts(answer):
        units = {reference_amounts[0].specific.unit, amount.specific.unit} - {""}
        if len(units) > 1 or (units - CURRENCY_SIGNS and (reference_amounts[0].shift or amount.shift)):
            continue
        if not is_year(amount.specific.text, answer[amount.specific.end :]):
            readings = _list_readings(amount, form, reference=False)
            if any(
                _is_same_reading(meant, answer_reading) for answer_reading in readings for meant in reference_readings
            ):
                return True
    return False


def _list_readings(amount: Amount, form: AmountForm, *, reference: bool) -> Iterator[AmountReading]:
    step = amount.step
    if amount.percent:
        yield AmountReading(amount.written * PER_CENT_SCALE, step * PER_CENT_SCALE, named=True, percent=True)
        return
    if amount.shift:
        yield AmountReading(amount.written * 10.0**amount.shift, step * 10.0**amount.shift, named=True)
        return
    if reference and form.decimals is not None:
        step = min(step, 10.0 ** -(form.decimals + PER_CENT_DECIMALS * form.percent))
    yield AmountReading(amount.written, step, named=False)
    if form.scale is not None:
        yield AmountReading(
            amount.written * 10.0**form.scale, step * 10.0**form.scale, named=True, scale_asked=reference
        )
    if form.percent and amount.unit not in CURRENCY_SIGNS:
        yield AmountReading(amount.written * PER_CENT_SCALE, amount.step * PER_CENT_SCALE, named=True, percent=True)


def _is_same_reading(meant: AmountReading, answer_reading: AmountReading) -> bool:
    if (meant.percent and answer_reading.whole) or (answer_reading.percent and meant.whole):
        return False  # 100% is no count of 1
    off = abs(meant.value - answer_reading.value)
    if off <= TOLERANCE * abs(meant.value):
        return True
    if abs(meant.step - answer_reading.step) <= TOLERANCE * answer_reading.step:
        return False
    rough, exact = (meant, answer_reading) if meant.step > answer_reading.step else (answer_reading, meant)
    if rough.whole and not exact.named:
        return False
    if rough.n_digits < SAME_AMOUNTS_MIN_DIGITS and not (rough is meant and rough.scale_asked and rough.n_digits):
        return False
    return off <= rough.step / 2 * (1 + TOLERANCE)


def is_standalone_number(specific: Specific, text: str, query: str) -> bool:
    """Whether a number that a text holds is told there at least once as an amount of its own.

    In a compound with a word it is that of the word, which is an answer only where the question has the word, or
    where the word is a unit and no count is asked for. Where one is, neither an ordinal nor one side of a score or a
    range is one.
    """
    same = normalize_characters(text)
    readings = {specific.normal, specific.other} - {""}
    marks = [mark for mark in numerals.find_numbers(same, liberal=True) if readings & {mark.normal, mark.other}]
    query_stems = {stem_word(word) for word in split_words(query)}
    counted = FORMS["counted"].search(query) is not None
    return not marks or not all(_is_bound(same, mark.start, mark.end, query_stems, counted=counted) for mark in marks)


def _is_bound(text: str, start: int, end: int, query_stems: set[str], *, counted: bool) -> bool:
    compound = FORMS["compound"].match(text, end)
    if compound is not None:
        word = compound[1].lower()
        return stem_word(word) not in query_stems and (counted or word not in UNITS)
    if not counted:
        return False
    written = text[start:end].lower()
    scored = FORMS["scored"].search(text, max(0, start - 2), start) or FORMS["score_goes_on"].match(text, end)
    return written in ORDINALS or FORMS["rank"].search(written) is not None or scored is not None
