"""Which passages support a claim, and which contradict it.

The verdicts on the claims that one sentence makes.
"""

from __future__ import annotations

import re
from collections.abc import Container, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from math import exp, log
from typing import NamedTuple

from ragauge.core.facts import Window
from ragauge.judges.judge import plain
from ragauge.judges.local.checks import Opposed, check
from ragauge.judges.local.index import Indexed, Mode, haystack, indexed, mode_of
from ragauge.judges.local.overlap import FEATURES, Overlap, PreparedClaim, features, overlap, together, wanted
from ragauge.judges.local.signs import held, signs
from ragauge.judges.local.statements import ClaimPart
from ragauge.judges.local.weights import Scorer, scorer
from ragauge.text.language import guess
from ragauge.text.specifics import EVERY, SPACELESS, Haystack, Specific, find, found_in

LONGEST = 3_000  # characters of a claim that are looked at
MOST_SPECIFICS = 48  # specifics of a claim that are looked up
CONTRADICTED = 0.05  # most that p may be beside a near-copy that says another number
CLOSE = 0.3  # share of a claim's units, names and numbers included, that a sentence of a near-copy holds
ABSENT = 0.3  # most that p may be where digits of the claim are nowhere; of such claims about 1 in 10 was
NOTHING = 0.05  # most that p may be where no word of the claim with content is there
STATED = 0.85  # least that p is where a sentence states the claim item by item; of such claims 94 % were
MENTIONED = 1.3  # times p of question and answer together: the most that p of a bare answer is
MENTIONED_UNSPACED = 2  # the same where words are not told from endings: an own guess, which leaves most unclear
COPIED = 0.97  # and where it has its very words: 96 %, the rest in the source whose labels are the noisiest
SURE = 0.8  # least p of a passage that supports beside a near-copy which holds as much and contradicts
VERBATIM = 0.9  # share of the claim's units that a copy has in order
SAMPLE = 2_000  # characters read to tell a passage's language
ENOUGH = 100  # characters that it takes to tell it
BEYOND_WORDS = "\u0e00"  # from here on, scripts are written without blanks between words


class Weighed(NamedTuple):
    """The verdict on one claim: fields as in `Claim`."""

    p: float
    supporting: tuple[int, ...] = ()
    contradicting: tuple[int, ...] = ()
    window: Window | None = None
    reason: str = ""


@dataclass(frozen=True)
class ClaimOverPassages:
    """A claim laid against every passage."""

    claim: str  # as written, without its end where it is endless
    wants: tuple[PreparedClaim, ...]  # per passage, the claim's units as they are compared with it
    specifics: tuple[Specific, ...]  # its numbers, dates, percentages and names
    overlaps: tuple[Overlap, ...]  # with each passage, in order
    lacking: tuple[tuple[Specific, ...], ...]  # per passage, the specifics that it does not hold
    texts: Sequence[str]  # the passages as written
    passages: Sequence[Indexed]  # the same, ready for comparison
    modes: Sequence[Mode]  # how each is compared

    @cached_property
    def signs(self) -> tuple[str, ...]:
        """Signs and operators of the claim."""
        return signs(self.claim)

    @cached_property
    def checks(self) -> tuple[Opposed | bool, ...]:
        """Per passage what it says in almost the words of the claim."""
        rows = zip(self.overlaps, self.wants, self.texts, self.passages, self.modes, strict=True)
        return tuple(
            pair.one.bit_count() >= CLOSE * len(want.distinct) and check(self.claim, want, text, passage, mode)
            for pair, want, text, passage, mode in rows
        )

    def features(self, numbers: Sequence[int]) -> tuple[float, ...]:
        """Features of the claim against these passages taken together; all of them are compared in one way."""
        missing = self.missing(numbers)
        named = sum(specific.kind == "name" for specific in missing)
        names = sum(specific.kind == "name" for specific in self.specifics)
        want = self.wants[numbers[0] - 1]
        chosen = [self.overlaps[n - 1] for n in numbers]
        chosen_overlap = chosen[0] if len(chosen) == 1 else together(want, chosen)
        return features(want, chosen_overlap, len(missing) - named, named / names if names else 0.0)

    def most(self, number: int) -> float:
        """The most that p may be: some word, and all numbers in digits, have to stand there."""
        at = number - 1
        if not self.overlaps[at].found:
            return NOTHING if self.passages[at].segments else 0.0
        if isinstance(self.checks[at], Opposed):
            return CONTRADICTED
        if self.signs and not held(self.signs, self.texts[at]):
            return ABSENT
        if any(specific.kind != "name" and any(map(str.isdigit, specific.text)) for specific in self.lacking[at]):
            return ABSENT
        return 1.0

    def least(self, number: int) -> float:
        """The least that p is by this passage: what a sentence states is supported."""
        if self.checks[number - 1] is not True:
            return 0.0
        if self.signs and not held(self.signs, self.texts[number - 1]):
            return 0.0
        return COPIED if self.overlaps[number - 1].rouge_l >= VERBATIM else STATED

    def p(self, number: int) -> float:
        """The probability that a passage supports the claim. No other passage changes it."""
        p = min(_judge(self.modes[number - 1]).p(self.features([number])), self.most(number))
        return max(p, self.least(number))

    def missing(self, numbers: Sequence[int]) -> tuple[Specific, ...]:
        """Specifics of the claim that none of these passages holds."""
        first, *others = [self.lacking[n - 1] for n in numbers]
        return tuple(specific for specific in first if all(specific in other for other in others))


class PreparedPassages:
    """The passages of one response, made ready once for all claims.

    What the user `said` in earlier turns is no evidence, but a number or name of it is not missing in a passage that
    says no other one there.
    """

    def __init__(
        self, passages: Sequence[str], claims: Sequence[str], mode: Mode | None = None, said: Sequence[str] = ()
    ) -> None:
        spoken = mode_of(claims)
        claims_tell = spoken != "words" or any(guess(claim[:SAMPLE]) != "und" for claim in claims)
        self.texts = tuple(passages)
        # a passage by its own language, and by that of the claims where it is too short to tell
        tells = (len(text) >= ENOUGH and guess(text[:SAMPLE]) != "und" for text in passages)
        self.modes = tuple(
            mode or (mode_of((text,)) if own else spoken if claims_tell else mode_of((*claims, text)))
            for text, own in zip(passages, tells, strict=True)
        )
        self.passages: list[Indexed] = [indexed(*pair) for pair in zip(passages, self.modes, strict=True)]
        self.haystacks: list[Haystack] = [haystack(text) for text in passages]
        self.said = [haystack(text) for text in said]

    def without(self, numbers: Container[int]) -> PreparedPassages:
        """The same with some passages blank, so that the others keep their numbers."""
        rest = copy(self)
        rest.texts = tuple("" if n in numbers else text for n, text in enumerate(self.texts, 1))
        rest.passages = [indexed(*pair) for pair in zip(rest.texts, self.modes, strict=True)]
        rest.haystacks = [haystack(text) for text in rest.texts]
        return rest

    def stands(self, claim: str) -> bool:
        """Whether a claim of two characters or more stands word for word in a passage that is not in English."""
        wanted = plain(claim)
        if len(wanted) < 2:
            return False
        edges = [r"(?<!\w)" if wanted[0] < BEYOND_WORDS else "", r"(?!\w)" if wanted[-1] < BEYOND_WORDS else ""]
        pattern = re.compile(re.escape(wanted).join(edges))
        return any(
            mode == "grams" and pattern.search(plain(text)) for text, mode in zip(self.texts, self.modes, strict=True)
        )

    def compare(self, claim: str) -> ClaimOverPassages:
        """Lays a claim against every passage."""
        claim = claim[:LONGEST]
        wants = tuple(wanted(claim, mode) for mode in self.modes)
        specifics = find(claim, EVERY)[:MOST_SPECIFICS]
        pairs = enumerate(zip(wants, self.passages, strict=True), 1)
        overlaps = tuple(overlap(want, passage, n) for n, (want, passage) in pairs)
        lacking = (tuple(one for one in specifics if not found_in(one, stack)) for stack in self.haystacks)
        return ClaimOverPassages(
            claim,
            wants,
            specifics,
            overlaps,
            tuple(self._not_said(claim, *pair) for pair in zip(lacking, overlaps, strict=True)),
            self.texts,
            self.passages,
            self.modes,
        )

    def _not_said(self, claim: str, lacking: tuple[Specific, ...], found: Overlap) -> tuple[Specific, ...]:
        """What is missing in a passage without what the user said, where the passage has nothing else in its place."""
        if not lacking or not self.said:
            return lacking
        held = find(self.texts[found.passage - 1][found.start : found.end], EVERY)
        stack = haystack(claim)
        others = {one.kind for one in held if not found_in(one, stack)}
        return tuple(one for one in lacking if one.kind in others or not any(found_in(one, said) for said in self.said))

    def weigh(self, claim: str) -> Weighed:
        """The verdict on a claim.

        A passage supports it when its probability on that passage alone reaches the threshold. A passage with a
        near-copy that differs in one thing contradicts it, and supports nothing. The probability is that of the best
        passage, so another passage never lowers it. Nor does it take support away, with one exception: beside a
        near-copy only those are named as supporting that do so surely, or hold more of the claim in one sentence.
        """
        if not self.passages:
            return Weighed(0.0)
        compared = self.compare(claim)
        numbers = range(1, len(self.passages) + 1)
        alone = [compared.p(n) for n in numbers]
        best = max(numbers, key=lambda n: (alone[n - 1], -n))
        p = alone[best - 1]
        against = {n: check for n, check in enumerate(compared.checks, 1) if isinstance(check, Opposed)}
        held = [overlap.one.bit_count() for overlap in compared.overlaps]
        most = max((held[n - 1] for n in against), default=0)
        bars = [_judge(mode).threshold for mode in self.modes]
        able = tuple(n for n in numbers if alone[n - 1] >= (SURE if against and held[n - 1] <= most else bars[n - 1]))
        if able:
            return Weighed(p, able, tuple(against), _window(compared, best))
        if against:
            return _contradicted(compared, p, against)
        return Weighed(p, window=_window(compared, best))


def _judge(mode: Mode) -> Scorer:
    return scorer(f"overlap_{mode}", FEATURES)


def _contradicted(compared: ClaimOverPassages, p: float, against: Mapping[int, Opposed]) -> Weighed:
    worst = max(against, key=lambda n: (compared.overlaps[n - 1].one.bit_count(), -n))
    opposed = against[worst]
    differing = opposed.difference
    reason = f"passage {worst} says {differing.passage!r}, the claim {differing.claim!r}"
    reason += "; one is negated" if differing.kind == "negation" else ""
    window = Window(worst, opposed.start, opposed.end, (differing.word,))
    return Weighed(p, (), tuple(against), window, reason)


def _window(compared: ClaimOverPassages, best: int) -> Window | None:
    """The window of the passage that holds most, and what of the claim's specifics is nowhere."""
    overlap = compared.overlaps[best - 1]
    every = range(1, len(compared.overlaps) + 1)
    missing = tuple(dict.fromkeys(specific.text for specific in compared.missing(every)))
    return Window(best, overlap.start, overlap.end, missing) if overlap.found or missing else None


LEAST = 1e-4  # a probability is kept so far from 0 and 1 before its odds are taken


def weighed(sentence: str, parts: Sequence[ClaimPart], evidence: PreparedPassages) -> list[Weighed]:
    """The verdict on each part of a sentence, in order.

    The log odds of a part that was cut out are the mean of those of its own words and of the whole sentence. On
    claims that people labelled that was as good as the whole alone and a little better than the part alone, with or
    without its subject restored; a subject stands in the passages anyhow and raises what is said of it.

    A near-copy is told by the whole too: where that is contradicted and no part is, the part that the passages hold
    least of is the one that differs.
    """
    whole = evidence.weigh(sentence)
    if len(parts) < 2 or not evidence.passages:
        own = parts[0].own if parts and evidence.passages else ""
        behind = evidence.weigh(own) if own not in ("", sentence) else whole  # a lead-in hides no contradiction
        return [behind if _opposed(behind) else whole] * len(parts)
    alone = [evidence.weigh(part.own or part.text) for part in parts]
    if _opposed(whole) and not any(map(_opposed, alone)):
        least = min(range(len(alone)), key=lambda k: alone[k].p)
        alone[least] = whole
    threshold = scorer(f"overlap_{evidence.modes[0]}", FEATURES).threshold
    return [_between(evidence, whole, threshold) for evidence in alone]


def with_question(own: Weighed, asked: str, evidence: PreparedPassages) -> Weighed:
    """The verdict on a bare answer: no likelier than passages bear out its question and it together allow.

    Right short answers of XQuAD have a p together of .5 and more in nine of ten cases beside their own question, and
    of .39 and less beside another about the same passage: MENTIONED times it, so that a mere mention stays unclear.
    """
    if own.p <= NOTHING or not evidence.passages:
        return own
    most = MENTIONED_UNSPACED if SPACELESS.search(asked) else MENTIONED
    p = min(own.p, most * evidence.weigh(asked).p)
    able = p >= min(scorer(f"overlap_{mode}", FEATURES).threshold for mode in evidence.modes)
    return own if p == own.p else own._replace(p=round(p, 6), supporting=own.supporting if able else ())


def _opposed(weighed: Weighed) -> bool:
    return bool(weighed.contradicting) and not weighed.supporting


def _between(own: Weighed, whole: Weighed, threshold: float) -> Weighed:
    """The verdict on a part by its own words and by those of its sentence."""
    if _opposed(own) or _opposed(whole):
        return own
    p = round(1 / (1 + exp(-(_odds(own.p) + _odds(whole.p)) / 2)), 6)
    return own._replace(p=p, supporting=(own.supporting or whole.supporting) if p >= threshold else ())


def _odds(p: float) -> float:
    p = min(max(p, LEAST), 1 - LEAST)
    return log(p / (1 - p))
