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

from ragauge.judges.local.answer_type import POLAR
from ragauge.judges.local.english import NEGATIONS
from ragauge.judges.local.index import Mode, carries_content, units_of
from ragauge.judges.local.refusals import is_refusal
from ragauge.judges.local.short_answers import (
    FORMS,
    AnswerClaim,
    ReferencePart,
    figures,
    is_figure,
    is_short,
    plain_units,
    plain_words,
    readings,
)
from ragauge.judges.local.signs import says, sign_of
from ragauge.judges.local.statements import bare
from ragauge.judges.local.support import PreparedPassages, Weighed
from ragauge.text.names import codes
from ragauge.text.numerals import asks_label
from ragauge.text.specifics import EXACT, NAME, Specific, find
from ragauge.text.tokens import words


def names_another(claim: AnswerClaim, references: Sequence[str], query: str) -> bool:
    """Whether a claim that states none of the accepted answers gives another number, date or name in their place.

    What the question names already is no answer to it, and a claim that shares a word with an accepted answer may be
    another form of it. Of claims found so in labelled answers (EVOUNA, the tuning half) people called 92 % wrong.

    >>> names_another(AnswerClaim("The capital is Lyon."), ["Paris"], "What is the capital of France?")
    True
    >>> names_another(AnswerClaim("It is the largest city of France."), ["Paris"], "What is the capital of France?")
    False
    """
    parts = [part for text in references for reading in readings(text, labels=claim.labels) for part in reading]
    if parts and all(map(claim.renumbers, parts)):
        return True
    if any(claim.where(word) for part in parts for word in part.words):
        return False
    asked = set(plain_words(query))
    if all(part.numbers and not part.words for part in parts):
        figures = [number for part in parts if part.is_bare for number in part.numbers]
        wanted = [number for part in parts for number in part.numbers]
        return not any(map(claim.scales, figures)) and _another_number(claim, wanted, query)
    named = sum(bool(find(text, NAME)) for text in references)
    if 2 * named < len(references):
        return False
    return any(not asked.issuperset(plain_words(name.text)) for name in find(claim.text, NAME))


def _another_number(claim: AnswerClaim, wanted: Sequence[Specific], query: str) -> bool:
    if any(map(claim.counts, wanted)):
        return False
    asked = {mark.normal for mark in find(query, EXACT)}
    kinds, units = {number.kind for number in wanted}, {number.unit for number in wanted}
    scaled = set().union(*map(figures, wanted))  # "1,577" may leave out the scale of "1,577 million"
    return any(
        not (is_figure(specific) and specific.normal in scaled)
        and specific.kind in kinds
        and specific.normal not in asked
        and (not specific.unit or "" in units or specific.unit in units)
        for specific in find(claim.text, EXACT)
    )


VERBATIM = 0.99  # the reference's words stand there as they are: of 2,920 such answers 99.7 % were right
NAMED = 0.97  # its parts are there in another form or order: of 986 98.5 %
TOLD = 0.95  # yes or no, as the reference says: not measured
OPENED = 0.6  # yes or no alone, of a reference that says the same and more: not measured
WHOLE = 0.9  # all sentences of another accepted answer: of 18 94 %
SHARED = 0.35  # a part of it or another form of it may be named: of 191 68 %, of 34 with little shared 44 %
TOUCHED = 1 / 3  # of the letters of a part of a short reference that a claim has
ELSE = 0.13  # nothing of it, and nothing of its kind in its place: of 318 12 %
ANOTHER = 0.07  # another thing of its kind: of 366 7 %
ALTERED = 0.05  # a near-copy in which one thing differs, as for support
SILENT = 0.05  # no claim at all, and no short answer that could be one: of 33 6 %
LEAST = 0.5  # of a verdict that agrees
MOST = 0.49  # of one that does not


MOST_REFERENCES = 256  # accepted answers that are looked for
LONGEST_BARE = 60  # characters of an answer that claims nothing and yet may be a name: "Let", "In"
NEWS = 0.6  # share of what a reference says beyond the question that a claim has to hold
YES_NO = FORMS["yes_no"]


class Stated(NamedTuple):
    """A reference is stated."""

    p: float  # the probability that it is, at least 0.5
    by: frozenset[int] = frozenset()  # numbers of the claims that state it or name a part of it, from 1


class Answer:
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
        self.labels = asks_label(query)
        self.written = answer
        self.answer = bare(answer)
        self.mode = mode
        self.asked = frozenset(plain_units(query))
        self._weighed: dict[str, Weighed] = {}

    @cached_property
    def said(self) -> list[AnswerClaim]:
        """What short references are looked for in."""
        if self.claims or len(self.answer) > LONGEST_BARE or is_refusal(self.answer):
            return [AnswerClaim(claim, self.query) for claim in self.claims]
        return [AnswerClaim(self.answer, self.query)]

    @cached_property
    def evidence(self) -> PreparedPassages:
        """What statements are weighed against."""
        return PreparedPassages(self.claims, self.references, self.mode)

    @cached_property
    def contents(self) -> list[set[str]]:
        """The units with content of the question, then of each claim."""
        return [self._content(text) for text in (self.query, *self.claims)]

    @cached_property
    def opening(self) -> str:
        """Yes or no, where the answer begins so; else empty."""
        match = YES_NO.match(self.answer) or YES_NO.match(self.claims[0] if self.claims else "")
        return match[1].lower() if match is not None else ""

    @cached_property
    def told(self) -> str:
        """Yes or no, where the answer says so or the question asks for it; else empty."""
        if self.opening:
            return self.opening
        if POLAR.match(self.query) is None or not self.claims:
            return ""
        negations = sum(word in NEGATIONS or word.endswith("n't") for word in words(self.claims[0]))
        return "no" if negations % 2 else "yes"

    def states(self, reference: str, others: Sequence[str] = ()) -> Stated | None:
        """The claims that state a reference, or one of the others that are as good; None where none does."""
        explicit = YES_NO.match(reference)
        if explicit is not None:
            if self.told and explicit[1].lower() != self.told:
                return None
            rest = reference[explicit.end() :].lstrip(" .!,;:–—-")
            if not rest:
                return Stated(TOLD, frozenset({1} if self.claims else ())) if self.told else None
            if self.opening and not self.claims:
                content = self._content(rest)  # a number, a name of code, or more than it repeats is news
                news = find(rest, EXACT) or codes(rest) or 2 * len(content & self.contents[0]) < len(content)
                return Stated(OPENED if news else TOLD)
            if not self.opening:
                reference = rest  # the answer opens with neither: what it says tells
        signs = [sign for text in (reference, *others) if (sign := sign_of(text))]
        meant = next((sign for sign in signs if says(sign, self.written)), "")
        if meant:
            by = {n for n, text in enumerate(self.claims, 1) if says(meant, text)}
            return Stated(NAMED, frozenset(by or ({1} if len(self.claims) == 1 else ())))
        short = [text for text in (reference, *others) if is_short(text)]
        named = self._names(short[:MOST_REFERENCES]) if short else None
        if named is None:
            long = [text for text in (reference, *others) if text not in short]
            named = next(filter(None, map(self._says, long[:MOST_REFERENCES])), None)
        return named

    def denies(self, reference: str) -> bool:
        """Whether one of the two begins with yes and the other with no."""
        explicit = YES_NO.match(reference)
        return explicit is not None and bool(self.opening) and explicit[1].lower() != self.opening

    def chance(self, reference: str, others: Sequence[str] = ()) -> float:
        """The probability that a reference is stated after all which `states` does not find: below 0.5."""
        explicit = YES_NO.match(reference)
        if explicit is not None and self.told:
            return ANOTHER if explicit[1].lower() != self.told else SHARED
        if not self.said:
            return SILENT
        if not is_short(reference):
            weighed = self._weigh(reference)
            return ALTERED if weighed.contradicting else min(MOST, weighed.p)
        if names_another(self.said[0], (reference, *others), self.query):
            return ANOTHER
        return SHARED if any(self.touches(n, reference) for n in range(len(self.said))) else ELSE

    def touches(self, at: int, reference: str) -> bool:
        """Whether the claim at a place, from 0, may name a form of a short reference.

        It has its figures, or words that make a third of the letters of one of its parts: "de" makes no name.
        """
        parts = [part for reading in readings(reference, labels=self.labels) for part in reading]
        claim = self.said[at]
        if any(claim.share_of(part) >= TOUCHED for part in parts):
            return True
        wanted = {figure for part in parts for number in part.numbers for figure in figures(number)}
        return any(is_figure(other) and other.normal in wanted for other in claim.numbers)

    def _names(self, references: Sequence[str]) -> Stated | None:
        """Phrases: all parts of some reading are named. One that only repeats the question is no evidence."""
        every = [reading for text in references for reading in readings(text, labels=self.labels)]
        new = [reading for reading in every if not all(part.repeats(self.asked) for part in reading)]
        for reading in new or every:
            by = [
                {n for n, claim in enumerate(self.said, 1) if claim.says(part) and (new or self._chosen(part, claim))}
                for part in reading
            ]
            if all(by):
                pairs = zip(reading, by, strict=True)
                exact = all(any(self.said[n - 1].holds(part) for n in numbers) for part, numbers in pairs)
                p = VERBATIM if exact else NAMED
                return Stated(p, frozenset().union(*by) if self.claims else frozenset())
        return None

    def _chosen(self, part: ReferencePart, claim: AnswerClaim) -> bool:
        """Of a question "A or B?": whether the claim speaks of the part, and not before it of the other."""
        cut = FORMS["choice"].search(self.query)
        if cut is None:
            return True
        sides = [plain_units(self.query[: cut.start()]), plain_units(self.query[cut.end() :])]
        own = set(part.words)
        rivals = [side for side in sides if not own & set(side)]
        if len(rivals) != 1 or not rivals[0]:
            return True
        rival = rivals[0][-1] if rivals[0] is sides[0] else rivals[0][0]
        first = min((position for word in part.words for position in claim.where(word)), default=0)
        return all(position > first for position in claim.where(rival))

    def _says(self, reference: str) -> Stated | None:
        """Statements: by overlap with claims that do not alter them, else by what they say beyond the question."""
        if not self.claims:
            return None
        weighed = self._weigh(reference)
        numbers = find(reference, EXACT)
        by = {n for n in weighed.supporting if self._counts(n, numbers)}
        return Stated(max(LEAST, weighed.p), frozenset(by)) if by else self._answers(reference)

    def _answers(self, reference: str) -> Stated | None:
        """Claims that state a reference to one who has read the question: "It lasts 24 months.", "Lisbon"."""
        content = self._content(reference)
        news = content - self.contents[0]
        if not news or news == content:
            return None
        asked = {mark.normal for mark in find(self.query, EXACT)}
        numbers = [mark for mark in find(reference, EXACT) if mark.normal not in asked]
        able = [
            n
            for n in range(1, len(self.claims) + 1)
            if len(news & self.contents[n]) >= NEWS * len(news) and self._counts(n, numbers)
        ]
        if not able:
            return None
        beside = PreparedPassages([f"{self.claims[n - 1]}\n{self.query}" for n in able], (reference,), self.mode)
        weighed = beside.weigh(reference)
        by = {able[number - 1] for number in weighed.supporting}.difference(self._weigh(reference).contradicting)
        return Stated(max(LEAST, weighed.p), frozenset(by)) if by else None

    def _content(self, text: str) -> set[str]:
        return {unit for unit in units_of(text, self.mode) if carries_content(unit, self.mode)}

    def _counts(self, n: int, numbers: Sequence[Specific]) -> bool:
        """Whether a claim has every number, counting the same, and as often: Hub 2 has no 2 bays by its name alone."""
        if not numbers:
            return True
        claim = self.said[n - 1]
        if not all(claim.counts(number) for number in numbers):
            return False
        often = Counter(number.normal for number in numbers)
        if len(often) == len(numbers):
            return True
        there = Counter(number.normal for number in claim.numbers)
        return all(there[normal] >= count for normal, count in often.items() if count > 1)

    def alters(self, n: int, reference: str) -> bool:
        """Whether claim n has a near-copy of a reference in which one thing differs."""
        return n in self._weigh(reference).contradicting

    def _weigh(self, reference: str) -> Weighed:
        if reference not in self._weighed:
            self._weighed[reference] = self.evidence.weigh(reference)
        return self._weighed[reference]
