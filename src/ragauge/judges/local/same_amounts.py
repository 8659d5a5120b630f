"""Whether an amount of an answer is that of a reference in another form: another scale, per cent, or rounded.

Whether a number stands in a text as an amount of its own, not within "7-play", "24-7" or "the 7th".
"""

from __future__ import annotations

from collections.abc import Iterator
from math import floor, log10
from typing import NamedTuple

from ragauge.judges.local.measures import FORMS, MONEY, SHIFTS, Amount, amounts, is_year
from ragauge.text import numerals
from ragauge.text.characters import plain
from ragauge.text.numerals import ORDINALS, UNITS
from ragauge.text.specifics import Specific
from ragauge.text.tokens import stem, words

PER_CENT, PER_CENT_STEPS = 0.01, 2  # 5.4 % is 0.054: two more decimals
FEWEST_DIGITS = 2  # of an amount that another may be rounded to
CLOSE = 1e-9  # share of a value that is lost in reckoning
_COUNTS = {"one": 1, "two": 2, "three": 3, "1": 1, "2": 2, "3": 3}


class AskedForm(NamedTuple):
    """In what form a question asks for an amount."""

    scale: int | None = None  # the power of ten that it names ("in USD millions"); None without one
    percent: bool = False  # whether it names per cent
    decimals: int | None = None  # to how many decimals it asks to round; None without

    @classmethod
    def of(cls, query: str) -> AskedForm:
        """The form that a question names.

        >>> AskedForm.of("What was paid, in USD millions? Round to two decimal places.")
        AskedForm(scale=6, percent=False, decimals=2)
        """
        scales = (match[1] or match[2] for match in FORMS["in_scale"].finditer(query))
        named = {SHIFTS[scale.lower().removesuffix("s")] for scale in scales}
        decimals = FORMS["decimals"].search(query)
        return cls(
            named.pop() if len(named) == 1 else None,
            FORMS["in_per_cent"].search(query) is not None,
            _COUNTS[decimals[1].lower()] if decimals else None,
        )


class AmountReading(NamedTuple):
    """What an amount may mean."""

    value: float  # in units
    step: float  # what its last written digit counts
    named: bool  # whether its scale or per cent is written beside it or named in the question
    percent: bool = False  # whether it is per cent
    told: bool = False  # whether the question has said that it is in this scale

    @property
    def whole(self) -> bool:
        """Whether it has neither decimals nor a scale: a count, maybe."""
        return not self.named and self.step >= 1

    @property
    def digits(self) -> int:
        """How many of its digits count."""
        return floor(log10(abs(self.value) / self.step) + CLOSE) + 1 if abs(self.value) >= self.step else 0


def one_amount(reference: str, answer: str, query: str) -> bool:
    """Whether one of the amounts of an answer's claim is the single amount of a reference.

    A scale is only taken where the amount or the question names it. Per cent is a hundredth ("5.4%" is 0.054). One of
    the two may be the other rounded, with two digits or more, where both have decimals or a scale; fewer only in a
    reference, where the question names the scale that it is written in.

    >>> one_amount("0.054", "The margin was 5.4%.", ""), one_amount("0.054", "The margin was 54%.", "")
    (True, False)
    >>> one_amount("8.7", "It was $8.738 billion.", "How much, in USD billions?")
    True
    """
    form = AskedForm.of(query)
    wanted = amounts(reference)
    if len(wanted) != 1:
        return False
    theirs = list(_readings(wanted[0], form, reference=True))
    for amount in amounts(answer):
        units = {wanted[0].specific.unit, amount.specific.unit} - {""}
        if len(units) > 1 or (units - MONEY and (wanted[0].shift or amount.shift)):
            continue
        if not is_year(amount.specific.text, answer[amount.specific.end :]):
            readings = _readings(amount, form, reference=False)
            if any(_same(meant, own) for own in readings for meant in theirs):
                return True
    return False


def _readings(amount: Amount, form: AskedForm, *, reference: bool) -> Iterator[AmountReading]:
    step = amount.step
    if amount.percent:
        yield AmountReading(amount.written * PER_CENT, step * PER_CENT, named=True, percent=True)
        return
    if amount.shift:
        yield AmountReading(amount.written * 10.0**amount.shift, step * 10.0**amount.shift, named=True)
        return
    if reference and form.decimals is not None:
        step = min(step, 10.0 ** -(form.decimals + PER_CENT_STEPS * form.percent))
    yield AmountReading(amount.written, step, named=False)
    if form.scale is not None:
        yield AmountReading(amount.written * 10.0**form.scale, step * 10.0**form.scale, named=True, told=reference)
    if form.percent and amount.unit not in MONEY:
        yield AmountReading(amount.written * PER_CENT, amount.step * PER_CENT, named=True, percent=True)


def _same(meant: AmountReading, own: AmountReading) -> bool:
    if (meant.percent and own.whole) or (own.percent and meant.whole):
        return False  # 100% is no count of 1
    off = abs(meant.value - own.value)
    if off <= CLOSE * abs(meant.value):
        return True
    if abs(meant.step - own.step) <= CLOSE * own.step:
        return False
    rough, exact = (meant, own) if meant.step > own.step else (own, meant)
    if rough.whole and not exact.named:
        return False
    if rough.digits < FEWEST_DIGITS and not (rough is meant and rough.told and rough.digits):
        return False
    return off <= rough.step / 2 * (1 + CLOSE)


def stands_alone(specific: Specific, text: str, query: str) -> bool:
    """Whether a number that a text holds is told there at least once as an amount of its own.

    In a compound with a word it is that of the word, which is an answer only where the question has the word, or
    where the word is a unit and no count is asked for. Where one is, neither an ordinal nor one side of a score or a
    range is one.
    """
    same = plain(text)
    readings = {specific.normal, specific.other} - {""}
    marks = [mark for mark in numerals.find(same, liberal=True) if readings & {mark.normal, mark.other}]
    asked = {stem(word) for word in words(query)}
    counted = FORMS["counted"].search(query) is not None
    return not marks or not all(_bound(same, mark.start, mark.end, asked, counted=counted) for mark in marks)


def _bound(text: str, start: int, end: int, asked: set[str], *, counted: bool) -> bool:
    compound = FORMS["compound"].match(text, end)
    if compound is not None:
        word = compound[1].lower()
        return stem(word) not in asked and (counted or word not in UNITS)
    if not counted:
        return False
    written = text[start:end].lower()
    scored = FORMS["scored"].search(text, max(0, start - 2), start) or FORMS["score_goes_on"].match(text, end)
    return written in ORDINALS or FORMS["rank"].search(written) is not None or scored is not None
