"""Whether an amount of an answer is that of a reference in another form: another scale, per cent, or rounded.

Whether a number stands in a text as an amount of its own, not within "7-play", "24-7" or "the 7th".
"""

from __future__ import annotations

from collections.abc import Iterator
from math import floor, log10
from typing import NamedTuple

from ragauge.judges.local.measures import CURRENCY_SIGNS, FORMS, SHIFTS, Amount, find_amounts, is_year
from ragauge.text import numerals
from ragauge.text.characters import normalize_characters
from ragauge.text.numerals import ORDINALS, UNITS
from ragauge.text.specifics import Specific
from ragauge.text.tokens import split_words, stem_word

PER_CENT_SCALE, PER_CENT_DECIMALS = 0.01, 2  # 5.4 % is 0.054: two more decimals
MIN_DIGITS = 2  # of an amount that another may be rounded to
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
    if rough.n_digits < MIN_DIGITS and not (rough is meant and rough.scale_asked and rough.n_digits):
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
