"""Which passages support a claim, and which contradict it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ragauge.data.facts import Window
from ragauge.judging.local.checks import Opposed, check
from ragauge.judging.local.index import Indexed, Mode, haystack, indexed, mode_of
from ragauge.judging.local.kinds import EVERY
from ragauge.judging.local.overlap import FEATURES, Overlap, Wanted, features, overlap, rarities, wanted
from ragauge.judging.local.weights import Scorer, scorer
from ragauge.text.specifics import Haystack, Specific, find, found_in

LONGEST = 3_000         # characters of a claim that are looked at
MOST_SPECIFICS = 48     # specifics of a claim that are looked up
CONTRADICTED = 0.05     # most that p may be where a near-copy says another number
CLOSE = 0.3             # share of a claim's units, names and numbers included, that a sentence of a near-copy holds
ABSENT = 0.3            # most that p may be where digits of the claim are nowhere; of such claims about 1 in 10 was


@dataclass(frozen=True, slots=True)
class Weighed:
    """The verdict on one claim: fields as in `Claim`."""

    p: float
    supporting: tuple[int, ...] = ()
    joint: bool = False
    contradicting: tuple[int, ...] = ()
    window: Window | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Compared:
    """A claim laid against every passage.

    Attributes:
        want: the claim's units.
        specifics: its numbers, dates, percentages and names.
        overlaps: with each passage, in order.
        lacking: per passage, the specifics that it does not hold.
        rarity: of the claim's units among the passages.
    """

    want: Wanted
    specifics: tuple[Specific, ...]
    overlaps: tuple[Overlap, ...]
    lacking: tuple[tuple[Specific, ...], ...]
    rarity: tuple[float, ...]

    def features(self, numbers: Sequence[int]) -> tuple[float, ...]:
        """Features of the claim against these passages taken together."""
        missing = self.missing(numbers)
        named = sum(one.kind == "name" for one in missing)
        names = sum(one.kind == "name" for one in self.specifics)
        chosen = [self.overlaps[n - 1] for n in numbers]
        return features(self.want, chosen, self.rarity, len(missing) - named, named / names if names else 0.0)

    def most(self, numbers: Sequence[int]) -> float:
        """The most that p may be: a number written in digits has to stand in the passages."""
        absent = self.missing(numbers)
        return ABSENT if any(one.kind != "name" and any(map(str.isdigit, one.text)) for one in absent) else 1.0

    def p(self, judge: Scorer, numbers: Sequence[int]) -> float:
        """The probability that these passages together support the claim."""
        return min(judge.p(self.features(numbers)), self.most(numbers))

    def missing(self, numbers: Sequence[int]) -> tuple[Specific, ...]:
        """Specifics of the claim that none of these passages holds."""
        first, *others = [self.lacking[n - 1] for n in numbers]
        return tuple(one for one in first if all(one in other for other in others))


class Evidence:
    """The passages of one response, made ready once for all claims."""

    def __init__(self, passages: Sequence[str], claims: Sequence[str], mode: Mode | None = None) -> None:
        self.mode = mode or mode_of(passages if any(text.strip() for text in passages) else claims)
        self.texts = tuple(passages)
        self.passages: list[Indexed] = [indexed(text, self.mode) for text in passages]
        self.haystacks: list[Haystack] = [haystack(text) for text in passages]

    def compare(self, claim: str) -> Compared:
        """Lays a claim against every passage."""
        claim = claim[:LONGEST]
        want = wanted(claim, self.mode)
        specifics = find(claim, EVERY)[:MOST_SPECIFICS]
        return Compared(
            want,
            specifics,
            tuple(overlap(want, passage, n) for n, passage in enumerate(self.passages, 1)),
            tuple(tuple(one for one in specifics if not found_in(one, stack)) for stack in self.haystacks),
            tuple(rarities(want, self.passages)),
        )

    def weigh(self, claim: str) -> Weighed:
        """The verdict on a claim.

        A passage supports it when its probability on that passage alone reaches the threshold. Where no passage does
        but all of them together do, those that it takes, best first, support it jointly. A passage with a near-copy
        that differs in one thing contradicts it. Then nothing supports it but a passage that has it as it is, or that
        holds more of it in one sentence than the near-copy.
        """
        if not self.passages:
            return Weighed(0.0)
        judge: Scorer = scorer(f"overlap_{self.mode}", FEATURES)
        compared = self.compare(claim)
        numbers = range(1, len(self.passages) + 1)
        alone = [compared.p(judge, [n]) for n in numbers]
        against, able = self.sides(claim, compared, [n for n in numbers if alone[n - 1] >= judge.threshold])
        if against and not able:
            return _contradicted(compared, alone, against)
        best = max(able or numbers, key=lambda n: (alone[n - 1], -n))
        p = max(compared.p(judge, numbers), alone[best - 1]) if len(numbers) > 1 else alone[0]
        if able or p < judge.threshold:
            return Weighed(p, tuple(able), False, tuple(against), _window(compared, best))
        parts = _fewest(compared, judge, sorted(numbers, key=lambda n: (-alone[n - 1], n)))
        return Weighed(p, parts, True, (), _window(compared, best, parts))

    def sides(
        self, claim: str, compared: Compared, able: Sequence[int]
    ) -> tuple[dict[int, Opposed], list[int]]:
        """The passages that contradict a claim, and those of the able ones that support it.

        Args:
            claim: the claim.
            compared: the same beside every passage.
            able: passages that would support it alone, by their words.
        """
        against, stating = {}, set()
        for one in compared.overlaps:
            text, passage = self.texts[one.passage - 1], self.passages[one.passage - 1]
            close = one.one.bit_count() >= CLOSE * len(compared.want.distinct)
            found = check(claim, compared.want, text, passage, self.mode) if close else None
            if isinstance(found, Opposed):
                against[one.passage] = found
            elif found is not None:
                stating.add(one.passage)
        if not against:
            return {}, list(able)
        held = [one.one.bit_count() for one in compared.overlaps]
        most = max(held[n - 1] for n in against)
        supporting = [n for n in able if n in stating or (n not in against and held[n - 1] > most)]
        return ({} if stating and not supporting else against), supporting


def _contradicted(compared: Compared, alone: Sequence[float], against: Mapping[int, Opposed]) -> Weighed:
    worst = max(against, key=lambda n: (compared.overlaps[n - 1].one.bit_count(), -n))
    found = against[worst]
    said = found.difference
    reason = f"passage {worst} says {said.passage!r}, the claim {said.claim!r}"
    reason += "; one is negated" if said.kind == "negation" else ""
    window = Window(worst, found.start, found.end, (said.word,))
    return Weighed(min(CONTRADICTED, max(alone)), (), False, tuple(against), window, reason)


def _fewest(compared: Compared, judge: Scorer, order: Sequence[int]) -> tuple[int, ...]:
    """The passages that it takes, from the best on, to carry the claim together."""
    for count in range(2, len(order)):
        chosen = sorted(order[:count])
        if compared.p(judge, chosen) >= judge.threshold:
            return tuple(chosen)
    return tuple(sorted(order))


def _window(compared: Compared, best: int, numbers: Sequence[int] = ()) -> Window | None:
    """The window of the passage that holds most, and what of the claim's specifics is nowhere."""
    one = compared.overlaps[best - 1]
    every = range(1, len(compared.overlaps) + 1)
    missing = tuple(dict.fromkeys(s.text for s in compared.missing(numbers or every)))
    return Window(best, one.start, one.end, missing) if one.found or missing else None
