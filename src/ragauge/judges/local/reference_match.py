"""Which claims of an answer state a reference: a phrase by its words, a statement by overlap.

Whether a claim names another thing of the kind that a short reference names: Lyon for Paris, 1914 for 1912.

How sure a verdict of `agree` is: what share of answers people called right where a rule gave that verdict.

Observed on the answers of five systems to the tuning half of EVOUNA's questions (4,800 answers, of which people called
85 % right, all references short). Where words are shared but no rule decides, the share lay between 44 and 86 %: that
much rests on how many answers are right at all, so that an answer which is not held to state the reference stays
below a half.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

from ragauge.judges.local.answer_type import POLAR_FORM
from ragauge.judges.local.english import NEGATIONS
from ragauge.judges.local.index import Mode, has_content, split_units
from ragauge.judges.local.refusals import is_refusal
from ragauge.judges.local.short_answers import (
    FORMS,
    AnswerClaim,
    ReferencePart,
    is_figure,
    is_short,
    list_figures,
    list_plain_units,
    list_plain_words,
    list_readings,
)
from ragauge.judges.local.signs import find_sign, has_sign
from ragauge.judges.local.statements import strip_marks
from ragauge.judges.local.support import PreparedPassages, SupportVerdict
from ragauge.text.names import find_codes
from ragauge.text.numerals import needs_label
from ragauge.text.specifics import EXACT_KINDS, NAME_KINDS, Specific, find_specifics
from ragauge.text.tokens import split_words


def has_other_answer(claim: AnswerClaim, references: Sequence[str], query: str) -> bool:
    """Whether a claim that states none of the accepted answers gives another number, date or name in their place.

    What the question names already is no answer to it, and a claim that shares a word with an accepted answer may be
    another form of it. Of claims found so in labelled answers (EVOUNA, the tuning half) people called 92 % wrong.

    >>> has_other_answer(AnswerClaim("The capital is Lyon."), ["Paris"], "What is the capital of France?")
    True
    >>> has_other_answer(AnswerClaim("It is the largest city of France."), ["Paris"], "What is the capital of France?")
    False
    """
    parts = [part for text in references for reading in list_readings(text, labels=claim.labels) for part in reading]
    if parts and all(map(claim.has_other_number, parts)):
        return True
    if any(claim.where(word) for part in parts for word in part.words):
        return False
    query_words = set(list_plain_words(query))
    if all(part.numbers and not part.words for part in parts):
        figures = [number for part in parts if part.is_bare for number in part.numbers]
        reference_numbers = [number for part in parts for number in part.numbers]
        return not any(map(claim.scales, figures)) and _has_another_number(claim, reference_numbers, query)
    n_named = sum(bool(find_specifics(text, NAME_KINDS)) for text in references)
    if 2 * n_named < len(references):
        return False
    return any(
        not query_words.issuperset(list_plain_words(name.text)) for name in find_specifics(claim.text, NAME_KINDS)
    )


def _has_another_number(claim: AnswerClaim, reference_numbers: Sequence[Specific], query: str) -> bool:
    if any(map(claim.counts, reference_numbers)):
        return False
    query_normals = {mark.normal for mark in find_specifics(query, EXACT_KINDS)}
    kinds, units = {number.kind for number in reference_numbers}, {number.unit for number in reference_numbers}
    scaled = set().union(*map(list_figures, reference_numbers))  # "1,577" may leave out the scale of "1,577 million"
    return any(
        not (is_figure(specific) and specific.normal in scaled)
        and specific.kind in kinds
        and specific.normal not in query_normals
        and (not specific.unit or "" in units or specific.unit in units)
        for specific in find_specifics(claim.text, EXACT_KINDS)
    )


VERBATIM_P = 0.99  # the reference's words stand there as they are: of 2,920 such answers 99.7 % were right
NAMED_P = 0.97  # its parts are there in another form or order: of 986 98.5 %
POLAR_P = 0.95  # yes or no, as the reference says: not measured
OPENED_P = 0.6  # yes or no alone, of a reference that says the same and more: not measured
WHOLE_P = 0.9  # all sentences of another accepted answer: of 18 94 %
SHARED_P = 0.35  # a part of it or another form of it may be named: of 191 68 %, of 34 with little shared 44 %
MIN_TOUCHED_SHARE = 1 / 3  # of the letters of a part of a short reference that a claim has
ELSE_P = 0.13  # nothing of it, and nothing of its kind in its place: of 318 12 %
ANOTHER_P = 0.07  # another thing of its kind: of 366 7 %
ALTERED_P = 0.05  # a near-copy in which one thing differs, as for support
SILENT_P = 0.05  # no claim at all, and no short answer that could be one: of 33 6 %
MIN_AGREE_P = 0.5  # of a verdict that agrees
MAX_ABSENT_P = 0.49  # of one that does not


MAX_REFERENCES = 256  # accepted answers that are looked for
MAX_BARE_CHARS = 60  # characters of an answer that claims nothing and yet may be a name: "Let", "In"
MIN_NEWS_SHARE = 0.6  # share of what a reference says beyond the question that a claim has to hold
YES_NO_FORM = FORMS["yes_no"]


class StatedReference(NamedTuple):
    """A reference is stated."""

    p: float  # the probability that it is, at least 0.5
    by: frozenset[int] = frozenset()  # numbers of the claims that state it or name a part of it, from 1


class AnswerClaims:
    """The claims of an answer, made ready once for all references.

    Args:
        claims: without marks, in order.
        references: every reference that will be looked for.
        query: the question; "" where it is not known.
        answer: as written: for what no claim holds, such as a bare "Yes.", and for signs in code spans.
        mode: how texts are compared.
    """

    def __init__(self, claims: Sequence[str], references: Sequence[str], query: str, answer: str, mode: Mode) -> None:
        self.claims = tuple(claims)
        self.references = tuple(references)
        self.query = query
        self.labels = needs_label(query)
        self.written = answer
        self.answer = strip_marks(answer)
        self.mode = mode
        self.asked = frozenset(list_plain_units(query))
        self._weighed: dict[str, SupportVerdict] = {}

    @cached_property
    def said(self) -> list[AnswerClaim]:
        """What short references are looked for in."""
        if self.claims or len(self.answer) > MAX_BARE_CHARS or is_refusal(self.answer):
            return [AnswerClaim(claim, self.query) for claim in self.claims]
        return [AnswerClaim(self.answer, self.query)]

    @cached_property
    def evidence(self) -> PreparedPassages:
        """What statements are weighed against."""
        return PreparedPassages(self.claims, self.references, self.mode)

    @cached_property
    def contents(self) -> list[set[str]]:
        """The units with content of the question, then of each claim."""
        return [self._list_content(text) for text in (self.query, *self.claims)]

    @cached_property
    def opening(self) -> str:
        """Yes or no, where the answer begins so; else empty."""
        match = YES_NO_FORM.match(self.answer) or YES_NO_FORM.match(self.claims[0] if self.claims else "")
        return match[1].lower() if match is not None else ""

    @cached_property
    def polarity(self) -> str:
        """Yes or no, where the answer says so or the question asks for it; else empty."""
        if self.opening:
            return self.opening
        if POLAR_FORM.match(self.query) is None or not self.claims:
            return ""
        negations = sum(word in NEGATIONS or word.endswith("n't") for word in split_words(self.claims[0]))
        return "no" if negations % 2 else "yes"

    def find_statement(self, reference: str, others: Sequence[str] = ()) -> StatedReference | None:
        """The claims that state a reference, or one of the others that are as good; None where none does."""
        explicit = YES_NO_FORM.match(reference)
        if explicit is not None:
            if self.polarity and explicit[1].lower() != self.polarity:
                return None
            remaining = reference[explicit.end() :].lstrip(" .!,;:–—-")
            if not remaining:
                return StatedReference(POLAR_P, frozenset({1} if self.claims else ())) if self.polarity else None
            if self.opening and not self.claims:
                content = self._list_content(remaining)  # a number, a name of code, or more than it repeats is news
                news = (
                    find_specifics(remaining, EXACT_KINDS)
                    or find_codes(remaining)
                    or 2 * len(content & self.contents[0]) < len(content)
                )
                return StatedReference(OPENED_P if news else POLAR_P)
            if not self.opening:
                reference = remaining  # the answer opens with neither: what it says tells
        signs = [sign for text in (reference, *others) if (sign := find_sign(text))]
        meant = next((sign for sign in signs if has_sign(sign, self.written)), "")
        if meant:
            by = {n for n, text in enumerate(self.claims, 1) if has_sign(meant, text)}
            return StatedReference(NAMED_P, frozenset(by or ({1} if len(self.claims) == 1 else ())))
        short = [text for text in (reference, *others) if is_short(text)]
        statement = self._find_named(short[:MAX_REFERENCES]) if short else None
        if statement is None:
            long = [text for text in (reference, *others) if text not in short]
            statement = next(filter(None, map(self._find_supported, long[:MAX_REFERENCES])), None)
        return statement

    def is_denied(self, reference: str) -> bool:
        """Whether one of the two begins with yes and the other with no."""
        explicit = YES_NO_FORM.match(reference)
        return explicit is not None and bool(self.opening) and explicit[1].lower() != self.opening

    def compute_chance(self, reference: str, others: Sequence[str] = ()) -> float:
        """The probability that a reference is stated after all which `states` does not find: below 0.5."""
        explicit = YES_NO_FORM.match(reference)
        if explicit is not None and self.polarity:
            return ANOTHER_P if explicit[1].lower() != self.polarity else SHARED_P
        if not self.said:
            return SILENT_P
        if not is_short(reference):
            weighed = self._weigh_reference(reference)
            return ALTERED_P if weighed.contradicting else min(MAX_ABSENT_P, weighed.p)
        if has_other_answer(self.said[0], (reference, *others), self.query):
            return ANOTHER_P
        return SHARED_P if any(self.can_name(n, reference) for n in range(len(self.said))) else ELSE_P

    def can_name(self, index: int, reference: str) -> bool:
        """Whether the claim at a place, from 0, may name a form of a short reference.

        It has its figures, or words that make a third of the letters of one of its parts: "de" makes no name.
        """
        parts = [part for reading in list_readings(reference, labels=self.labels) for part in reading]
        claim = self.said[index]
        if any(claim.compute_share(part) >= MIN_TOUCHED_SHARE for part in parts):
            return True
        reference_figures = {figure for part in parts for number in part.numbers for figure in list_figures(number)}
        return any(is_figure(other) and other.normal in reference_figures for other in claim.numbers)

    def _find_named(self, references: Sequence[str]) -> StatedReference | None:
        """Phrases: all parts of some reading are named. One that only repeats the question is no evidence."""
        every = [reading for text in references for reading in list_readings(text, labels=self.labels)]
        new = [reading for reading in every if not all(part.is_repeated_in(self.asked) for part in reading)]
        for reading in new or every:
            by = [
                {
                    n
                    for n, claim in enumerate(self.said, 1)
                    if claim.says(part) and (new or self._is_chosen(part, claim))
                }
                for part in reading
            ]
            if all(by):
                pairs = zip(reading, by, strict=True)
                exact = all(any(self.said[n - 1].has_exact_part(part) for n in numbers) for part, numbers in pairs)
                p = VERBATIM_P if exact else NAMED_P
                return StatedReference(p, frozenset().union(*by) if self.claims else frozenset())
        return None

    def _is_chosen(self, part: ReferencePart, claim: AnswerClaim) -> bool:
        """Of a question "A or B?": whether the claim speaks of the part, and not before it of the other."""
        cut = FORMS["choice"].search(self.query)
        if cut is None:
            return True
        sides = [list_plain_units(self.query[: cut.start()]), list_plain_units(self.query[cut.end() :])]
        own_words = set(part.words)
        rivals = [side for side in sides if not own_words & set(side)]
        if len(rivals) != 1 or not rivals[0]:
            return True
        rival = rivals[0][-1] if rivals[0] is sides[0] else rivals[0][0]
        first = min((position for word in part.words for position in claim.where(word)), default=0)
        return all(position > first for position in claim.where(rival))

    def _find_supported(self, reference: str) -> StatedReference | None:
        """Statements: by overlap with claims that do not alter them, else by what they say beyond the question."""
        if not self.claims:
            return None
        weighed = self._weigh_reference(reference)
        numbers = find_specifics(reference, EXACT_KINDS)
        by = {n for n in weighed.supporting if self._has_numbers(n, numbers)}
        return StatedReference(max(MIN_AGREE_P, weighed.p), frozenset(by)) if by else self._find_answered(reference)

    def _find_answered(self, reference: str) -> StatedReference | None:
        """Claims that state a reference to one who has read the question: "It lasts 24 months.", "Lisbon"."""
        content = self._list_content(reference)
        news = content - self.contents[0]
        if not news or news == content:
            return None
        query_normals = {mark.normal for mark in find_specifics(self.query, EXACT_KINDS)}
        numbers = [mark for mark in find_specifics(reference, EXACT_KINDS) if mark.normal not in query_normals]
        able = [
            n
            for n in range(1, len(self.claims) + 1)
            if len(news & self.contents[n]) >= MIN_NEWS_SHARE * len(news) and self._has_numbers(n, numbers)
        ]
        if not able:
            return None
        prepared = PreparedPassages([f"{self.claims[n - 1]}\n{self.query}" for n in able], (reference,), self.mode)
        weighed = prepared.weigh_claim(reference)
        by = {able[number - 1] for number in weighed.supporting}.difference(
            self._weigh_reference(reference).contradicting
        )
        return StatedReference(max(MIN_AGREE_P, weighed.p), frozenset(by)) if by else None

    def _list_content(self, text: str) -> set[str]:
        return {unit for unit in split_units(text, self.mode) if has_content(unit, self.mode)}

    def _has_numbers(self, n: int, numbers: Sequence[Specific]) -> bool:
        """Whether a claim has every number, counting the same, and as often: Hub 2 has no 2 bays by its name alone."""
        if not numbers:
            return True
        claim = self.said[n - 1]
        if not all(claim.counts(number) for number in numbers):
            return False
        counts = Counter(number.normal for number in numbers)
        if len(counts) == len(numbers):
            return True
        claim_counts = Counter(number.normal for number in claim.numbers)
        return all(claim_counts[normal] >= count for normal, count in counts.items() if count > 1)

    def is_altered(self, n: int, reference: str) -> bool:
        """Whether claim n has a near-copy of a reference in which one thing differs."""
        return n in self._weigh_reference(reference).contradicting

    def _weigh_reference(self, reference: str) -> SupportVerdict:
        if reference not in self._weighed:
            self._weighed[reference] = self.evidence.weigh_claim(reference)
        return self._weighed[reference]
