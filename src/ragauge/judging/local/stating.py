"""Which claims of an answer state a reference: a phrase by its words, a statement by overlap."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from ragauge.judging.local import chances
from ragauge.judging.local.conflicting_answers import names_another
from ragauge.judging.local.contrast import contrast
from ragauge.judging.local.index import Mode, carries_content, units_of
from ragauge.judging.local.kinds import EXACT
from ragauge.judging.local.named_signs import says, sign_of
from ragauge.judging.local.refusals import is_refusal
from ragauge.judging.local.short_answers import (
    AnswerClaim,
    ReferencePart,
    figures,
    is_descriptive,
    is_figure,
    is_negated,
    is_short,
    plain_units,
    readings,
)
from ragauge.judging.local.slots import POLAR
from ragauge.judging.local.statements import bare
from ragauge.judging.local.support import PreparedPassages
from ragauge.text.code import codes
from ragauge.text.specifics import Specific, find

MOST_REFERENCES = 256       # accepted answers that are looked for
LONGEST_BARE = 60           # characters of an answer that claims nothing and yet may be a name: "Let", "In"
NEWS = 0.6                  # share of what a reference says beyond the question that a claim has to hold
CHOICE = re.compile(r"\bor\b", re.IGNORECASE)
# not of --no-cache
YES_NO = re.compile(r"^(?!\W*--?\w)\W*(yes|no)\b(?!-\w)(?!\s+(?:one|longer|more)\b)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Stated:
    """A reference is stated.

    Attributes:
        p: the probability that it is, at least 0.5.
        by: numbers of the claims that state it or name a part of it, from 1; none where only all of them together do.
    """

    p: float
    by: frozenset[int] = frozenset()


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
        self.written = answer
        self.answer = bare(answer)
        self.mode = mode
        self.asked = frozenset(plain_units(query))
        self._altered: dict[tuple[int, str], bool] = {}

    @cached_property
    def said(self) -> list[AnswerClaim]:
        """What short references are looked for in."""
        if self.claims or len(self.answer) > LONGEST_BARE or is_refusal(self.answer):
            return [AnswerClaim(claim) for claim in self.claims]
        return [AnswerClaim(self.answer)]

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
        found = YES_NO.match(self.answer) or YES_NO.match(self.claims[0] if self.claims else "")
        return found[1].lower() if found is not None else ""

    @cached_property
    def told(self) -> str:
        """Yes or no, where the answer says so or the question asks for it; else empty."""
        if self.opening:
            return self.opening
        if POLAR.match(self.query) is None or not self.claims:
            return ""
        return "no" if is_negated(self.claims[0]) else "yes"

    def states(self, reference: str, others: Sequence[str] = ()) -> Stated | None:
        """The claims that state a reference, or one of the others that are as good; None where none does."""
        explicit = YES_NO.match(reference)
        if explicit is not None:
            if self.told and explicit[1].lower() != self.told:
                return None
            rest = reference[explicit.end() :].lstrip(" .!,;:–—-")
            if not rest:
                return Stated(chances.TOLD, frozenset({1} if self.claims else ())) if self.told else None
            if self.opening and not self.claims:
                return Stated(chances.OPENED if self._news(rest) else chances.TOLD)
            if not self.opening:
                reference = rest      # the answer opens with neither: what it says tells
        signs = [sign for text in (reference, *others) if (sign := sign_of(text))]
        meant = next((sign for sign in signs if says(sign, self.written)), "")
        if meant:
            by = {n for n, text in enumerate(self.claims, 1) if says(meant, text)}
            return Stated(chances.NAMED, frozenset(by or ({1} if len(self.claims) == 1 else ())))
        short = [text for text in (reference, *others) if is_short(text)]
        found = self._names(short[:MOST_REFERENCES]) if short else None
        if found is None:
            long = [text for text in (reference, *others) if text not in short or is_descriptive(text)]
            found = next(filter(None, map(self._says, long[:MOST_REFERENCES])), None)
        return found

    def _news(self, rest: str) -> bool:
        """Whether what follows a reference's yes or no says a number, a name of code, or more than it repeats."""
        content = self._content(rest)
        return bool(find(rest, EXACT)) or bool(codes(rest)) or 2 * len(content & self.contents[0]) < len(content)

    def denies(self, reference: str) -> bool:
        """Whether one of the two begins with yes and the other with no."""
        explicit = YES_NO.match(reference)
        return explicit is not None and bool(self.opening) and explicit[1].lower() != self.opening

    def chance(self, reference: str, others: Sequence[str] = ()) -> float:
        """The probability that a reference is stated after all which `states` does not find: below 0.5."""
        explicit = YES_NO.match(reference)
        if explicit is not None and self.told:
            return chances.ANOTHER if explicit[1].lower() != self.told else chances.SHARED
        if not self.said:
            return chances.SILENT
        if not is_short(reference):
            altered = any(self.alters(n, reference) for n in range(1, len(self.claims) + 1))
            return chances.ALTERED if altered else chances.differing(self.evidence.weigh(reference).p)
        if names_another(self.said[0], (reference, *others), self.query):
            return chances.ANOTHER
        return chances.SHARED if any(self.touches(n, reference) for n in range(len(self.said))) else chances.ELSE

    def touches(self, at: int, reference: str) -> bool:
        """Whether the claim at a place, from 0, has a word or the figures of a short reference: maybe a form of it."""
        parts = [part for reading in readings(reference) for part in reading]
        one = self.said[at]
        if any(one.where(word) for part in parts for word in part.words):
            return True
        wanted = {figure for part in parts for number in part.numbers for figure in figures(number)}
        return any(is_figure(other) and other.normal in wanted for other in one.numbers)

    def _names(self, references: Sequence[str]) -> Stated | None:
        """Phrases: all parts of some reading are named. One that only repeats the question is no evidence."""
        every = [reading for text in references for reading in readings(text)]
        new = [reading for reading in every if not all(part.repeats(self.asked) for part in reading)]
        for reading in new or every:
            by = [{n for n, one in enumerate(self.said, 1) if self._named(part, one, new)} for part in reading]
            if all(by):
                pairs = zip(reading, by, strict=True)
                exact = all(any(self.said[n - 1].holds(part) for n in one) for part, one in pairs)
                p = chances.EXACT if exact else chances.NAMED
                return Stated(p, frozenset().union(*by) if self.claims else frozenset())
        return None

    def _named(self, part: ReferencePart, one: AnswerClaim, new: Sequence[object]) -> bool:
        return one.says(part) and (bool(new) or self._chosen(part, one))

    def _chosen(self, part: ReferencePart, one: AnswerClaim) -> bool:
        """Of a question "A or B?": whether the claim speaks of the part, and not before it of the other."""
        cut = CHOICE.search(self.query)
        if cut is None:
            return True
        sides = [plain_units(self.query[: cut.start()]), plain_units(self.query[cut.end() :])]
        own = set(part.words)
        rivals = [side for side in sides if not own & set(side)]
        if len(rivals) != 1 or not rivals[0]:
            return True
        rival = rivals[0][-1] if rivals[0] is sides[0] else rivals[0][0]
        first = min((place for word in part.words for place in one.where(word)), default=0)
        return all(place > first for place in one.where(rival))

    def _says(self, reference: str) -> Stated | None:
        """Statements: by overlap with claims that do not alter them, else by what they say beyond the question."""
        if not self.claims:
            return None
        found = self.evidence.weigh(reference)
        by = {n for n in found.supporting if not self.alters(n, reference)}
        if found.joint and len(by) == len(found.supporting):
            return Stated(chances.agreeing(found.p))
        numbers = find(reference, EXACT)
        by = {n for n in by if not found.joint and self._counts(n, numbers)}
        return Stated(chances.agreeing(found.p), frozenset(by)) if by else self._answers(reference)

    def _answers(self, reference: str) -> Stated | None:
        """Claims that state a reference to one who has read the question: "It lasts 24 months.", "Lisbon"."""
        content = self._content(reference)
        news = content - self.contents[0]
        if not news or news == content:
            return None
        asked = {one.normal for one in find(self.query, EXACT)}
        numbers = [one for one in find(reference, EXACT) if one.normal not in asked]
        able = [
            n
            for n in range(1, len(self.claims) + 1)
            if len(news & self.contents[n]) >= NEWS * len(news) and self._counts(n, numbers)
        ]
        if not able:
            return None
        beside = PreparedPassages([f"{self.claims[n - 1]}\n{self.query}" for n in able], (reference,), self.mode)
        found = beside.weigh(reference)
        by = set() if found.joint else {able[place - 1] for place in found.supporting}
        by = {n for n in by if not self.alters(n, reference)}
        return Stated(chances.agreeing(found.p), frozenset(by)) if by else None

    def _content(self, text: str) -> set[str]:
        return {unit for unit in units_of(text, self.mode) if carries_content(unit, self.mode)}

    def _counts(self, n: int, numbers: Sequence[Specific]) -> bool:
        """Whether a claim has every number, counting the same, and as often: Hub 2 has no 2 bays by its name alone."""
        if not numbers:
            return True
        said = self.said[n - 1]
        if not all(said.counts(one) for one in numbers):
            return False
        often = Counter(one.normal for one in numbers)
        if len(often) == len(numbers):
            return True
        there = Counter(one.normal for one in said.numbers)
        return all(there[normal] >= count for normal, count in often.items() if count > 1)

    def alters(self, n: int, reference: str) -> bool:
        """Whether claim n is a near-copy of a reference in which one thing differs."""
        known = self._altered.get((n, reference))
        if known is None:
            known = self._altered[n, reference] = bool(contrast(self.claims[n - 1], reference, self.mode))
        return known
