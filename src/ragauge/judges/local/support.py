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
from ragauge.judges.judge import normalize_text
from ragauge.judges.local.checks import OpposedSpan, check_claim
from ragauge.judges.local.index import IndexedText, Mode, build_haystack, detect_mode, index_text
from ragauge.judges.local.overlap import (
    FEATURES,
    Overlap,
    PreparedClaim,
    compute_features,
    compute_overlap,
    merge_overlaps,
    prepare_claim,
)
from ragauge.judges.local.signs import find_signs, has_signs
from ragauge.judges.local.statements import ClaimPart
from ragauge.judges.local.weights import Scorer, read_scorer
from ragauge.text.language import guess_language
from ragauge.text.specifics import COMPARED_KINDS, SPACELESS, Haystack, Specific, find_specifics, is_found_in

MAX_CLAIM_CHARS = 3_000  # characters of a claim that are looked at
MAX_SPECIFICS = 48  # specifics of a claim that are looked up
MAX_CONTRADICTED_P = 0.05  # most that p may be beside a near-copy that says another number
MIN_CLOSE_SHARE = 0.3  # share of a claim's units, names and numbers included, that a sentence of a near-copy holds
MAX_ABSENT_P = 0.3  # most that p may be where digits of the claim are nowhere; of such claims about 1 in 10 was
MAX_NOTHING_P = 0.05  # most that p may be where no word of the claim with content is there
MIN_STATED_P = 0.85  # least that p is where a sentence states the claim item by item; of such claims 94 % were
MENTIONED_FACTOR = 1.3  # times p of question and answer together: the most that p of a bare answer is
UNSPACED_MENTIONED_FACTOR = 2  # the same where words are not told from endings: an own guess, which leaves most unclear
MIN_COPIED_P = 0.97  # and where it has its very words: 96 %, the rest in the source whose labels are the noisiest
MIN_SURE_P = 0.8  # least p of a passage that supports beside a near-copy which holds as much and contradicts
MIN_VERBATIM_SHARE = 0.9  # share of the claim's units that a copy has in order
SAMPLE_CHARS = 2_000  # characters read to tell a passage's language
MIN_LANGUAGE_CHARS = 100  # characters that it takes to tell it
BEYOND_WORDS = "\u0e00"  # from here on, scripts are written without blanks between words


class SupportVerdict(NamedTuple):
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
    passages: Sequence[IndexedText]  # the same, ready for comparison
    modes: Sequence[Mode]  # how each is compared

    @cached_property
    def signs(self) -> tuple[str, ...]:
        """Signs and operators of the claim."""
        return find_signs(self.claim)

    @cached_property
    def checks(self) -> tuple[OpposedSpan | bool, ...]:
        """Per passage what it says in almost the words of the claim."""
        rows = zip(self.overlaps, self.wants, self.texts, self.passages, self.modes, strict=True)
        return tuple(
            pair.one.bit_count() >= MIN_CLOSE_SHARE * len(want.distinct)
            and check_claim(self.claim, want, text, passage, mode)
            for pair, want, text, passage, mode in rows
        )

    def compute_features(self, numbers: Sequence[int]) -> tuple[float, ...]:
        """Features of the claim against these passages taken together; all of them are compared in one way."""
        missing = self.list_missing(numbers)
        n_missing_names = sum(specific.kind == "name" for specific in missing)
        names = sum(specific.kind == "name" for specific in self.specifics)
        want = self.wants[numbers[0] - 1]
        selected = [self.overlaps[n - 1] for n in numbers]
        chosen_overlap = selected[0] if len(selected) == 1 else merge_overlaps(want, selected)
        return compute_features(
            want, chosen_overlap, len(missing) - n_missing_names, n_missing_names / names if names else 0.0
        )

    def most(self, number: int) -> float:
        """The most that p may be: some word, and all numbers in digits, have to stand there."""
        index = number - 1
        if not self.overlaps[index].found:
            return MAX_NOTHING_P if self.passages[index].segments else 0.0
        if isinstance(self.checks[index], OpposedSpan):
            return MAX_CONTRADICTED_P
        if self.signs and not has_signs(self.signs, self.texts[index]):
            return MAX_ABSENT_P
        if any(specific.kind != "name" and any(map(str.isdigit, specific.text)) for specific in self.lacking[index]):
            return MAX_ABSENT_P
        return 1.0

    def least(self, number: int) -> float:
        """The least that p is by this passage: what a sentence states is supported."""
        if self.checks[number - 1] is not True:
            return 0.0
        if self.signs and not has_signs(self.signs, self.texts[number - 1]):
            return 0.0
        return MIN_COPIED_P if self.overlaps[number - 1].rouge_l >= MIN_VERBATIM_SHARE else MIN_STATED_P

    def p(self, number: int) -> float:
        """The probability that a passage supports the claim. No other passage changes it."""
        p = min(_read_scorer(self.modes[number - 1]).p(self.compute_features([number])), self.most(number))
        return max(p, self.least(number))

    def list_missing(self, numbers: Sequence[int]) -> tuple[Specific, ...]:
        """Specifics of the claim that none of these passages holds."""
        first, *others = [self.lacking[n - 1] for n in numbers]
        return tuple(specific for specific in first if all(specific in other for other in others))


class PreparedPassages:
    """The passages of one response, made ready once for all claims.

    What the user `said` in earlier turns is no evidence, but a number or name of it is not missing in a passage that
    says no other one there.
    """

    def __init__(
        self, passages: Sequence[str], claims: Sequence[str], mode: Mode | None = None, user_turns: Sequence[str] = ()
    ) -> None:
        spoken = detect_mode(claims)
        claims_tell = spoken != "words" or any(guess_language(claim[:SAMPLE_CHARS]) != "und" for claim in claims)
        self.texts = tuple(passages)
        # a passage by its own language, and by that of the claims where it is too short to tell
        tells = (len(text) >= MIN_LANGUAGE_CHARS and guess_language(text[:SAMPLE_CHARS]) != "und" for text in passages)
        self.modes = tuple(
            mode
            or (detect_mode((text,)) if tells_language else spoken if claims_tell else detect_mode((*claims, text)))
            for text, tells_language in zip(passages, tells, strict=True)
        )
        self.passages: list[IndexedText] = [index_text(*pair) for pair in zip(passages, self.modes, strict=True)]
        self.haystacks: list[Haystack] = [build_haystack(text) for text in passages]
        self.said = [build_haystack(text) for text in user_turns]

    def without(self, numbers: Container[int]) -> PreparedPassages:
        """The same with some passages blank, so that the others keep their numbers."""
        remaining = copy(self)
        remaining.texts = tuple("" if n in numbers else text for n, text in enumerate(self.texts, 1))
        remaining.passages = [index_text(*pair) for pair in zip(remaining.texts, self.modes, strict=True)]
        remaining.haystacks = [build_haystack(text) for text in remaining.texts]
        return remaining

    def has_verbatim(self, claim: str) -> bool:
        """Whether a claim of two characters or more stands word for word in a passage that is not in English."""
        normalized = normalize_text(claim)
        if len(normalized) < 2:
            return False
        edges = [r"(?<!\w)" if normalized[0] < BEYOND_WORDS else "", r"(?!\w)" if normalized[-1] < BEYOND_WORDS else ""]
        pattern = re.compile(re.escape(normalized).join(edges))
        return any(
            mode == "grams" and pattern.search(normalize_text(text))
            for text, mode in zip(self.texts, self.modes, strict=True)
        )

    def compare_claim(self, claim: str) -> ClaimOverPassages:
        """Lays a claim against every passage."""
        claim = claim[:MAX_CLAIM_CHARS]
        wants = tuple(prepare_claim(claim, mode) for mode in self.modes)
        specifics = find_specifics(claim, COMPARED_KINDS)[:MAX_SPECIFICS]
        pairs = enumerate(zip(wants, self.passages, strict=True), 1)
        overlaps = tuple(compute_overlap(want, passage, n) for n, (want, passage) in pairs)
        lacking = (
            tuple(specific for specific in specifics if not is_found_in(specific, stack)) for stack in self.haystacks
        )
        return ClaimOverPassages(
            claim,
            wants,
            specifics,
            overlaps,
            tuple(self._remove_said(claim, *pair) for pair in zip(lacking, overlaps, strict=True)),
            self.texts,
            self.passages,
            self.modes,
        )

    def _remove_said(self, claim: str, lacking: tuple[Specific, ...], passage_overlap: Overlap) -> tuple[Specific, ...]:
        """What is missing in a passage without what the user said, where the passage has nothing else in its place."""
        if not lacking or not self.said:
            return lacking
        window_specifics = find_specifics(
            self.texts[passage_overlap.passage - 1][passage_overlap.start : passage_overlap.end], COMPARED_KINDS
        )
        stack = build_haystack(claim)
        others = {specific.kind for specific in window_specifics if not is_found_in(specific, stack)}
        return tuple(
            specific
            for specific in lacking
            if specific.kind in others or not any(is_found_in(specific, turn) for turn in self.said)
        )

    def weigh_claim(self, claim: str) -> SupportVerdict:
        """The verdict on a claim.

        A passage supports it when its probability on that passage alone reaches the threshold. A passage with a
        near-copy that differs in one thing contradicts it, and supports nothing. The probability is that of the best
        passage, so another passage never lowers it. Nor does it take support away, with one exception: beside a
        near-copy only those are named as supporting that do so surely, or hold more of the claim in one sentence.
        """
        if not self.passages:
            return SupportVerdict(0.0)
        compared = self.compare_claim(claim)
        numbers = range(1, len(self.passages) + 1)
        alone = [compared.p(n) for n in numbers]
        best = max(numbers, key=lambda n: (alone[n - 1], -n))
        p = alone[best - 1]
        against = {n: check for n, check in enumerate(compared.checks, 1) if isinstance(check, OpposedSpan)}
        n_held = [overlap.one.bit_count() for overlap in compared.overlaps]
        max_held = max((n_held[n - 1] for n in against), default=0)
        bars = [_read_scorer(mode).threshold for mode in self.modes]
        able = tuple(
            n for n in numbers if alone[n - 1] >= (MIN_SURE_P if against and n_held[n - 1] <= max_held else bars[n - 1])
        )
        if able:
            return SupportVerdict(p, able, tuple(against), _build_window(compared, best))
        if against:
            return _build_contradicted(compared, p, against)
        return SupportVerdict(p, window=_build_window(compared, best))


def _read_scorer(mode: Mode) -> Scorer:
    return read_scorer(f"overlap_{mode}", FEATURES)


def _build_contradicted(compared: ClaimOverPassages, p: float, against: Mapping[int, OpposedSpan]) -> SupportVerdict:
    worst = max(against, key=lambda n: (compared.overlaps[n - 1].one.bit_count(), -n))
    opposed = against[worst]
    differing = opposed.difference
    reason = f"passage {worst} says {differing.passage!r}, but the claim says {differing.claim!r}"
    reason += "; one is negated" if differing.kind == "negation" else ""
    window = Window(worst, opposed.start, opposed.end, (differing.word,))
    return SupportVerdict(p, (), tuple(against), window, reason)


def _build_window(compared: ClaimOverPassages, best: int) -> Window | None:
    """The window of the passage that holds most, and what of the claim's specifics is nowhere."""
    overlap = compared.overlaps[best - 1]
    every = range(1, len(compared.overlaps) + 1)
    missing = tuple(dict.fromkeys(specific.text for specific in compared.list_missing(every)))
    return Window(best, overlap.start, overlap.end, missing) if overlap.found or missing else None


MIN_P = 1e-4  # a probability is kept so far from 0 and 1 before its odds are taken


def weigh_parts(sentence: str, parts: Sequence[ClaimPart], evidence: PreparedPassages) -> list[SupportVerdict]:
    """The verdict on each part of a sentence, in order.

    The log odds of a part that was cut out are the mean of those of its own words and of the whole sentence. On
    claims that people labelled that was as good as the whole alone and a little better than the part alone, with or
    without its subject restored; a subject stands in the passages anyhow and raises what is said of it.

    A near-copy is told by the whole too: where that is contradicted and no part is, the part that the passages hold
    least of is the one that differs.
    """
    sentence_verdict = evidence.weigh_claim(sentence)
    if len(parts) < 2 or not evidence.passages:
        own_text = parts[0].own if parts and evidence.passages else ""
        behind = (
            evidence.weigh_claim(own_text) if own_text not in ("", sentence) else sentence_verdict
        )  # a lead-in hides no contradiction
        return [behind if _is_opposed(behind) else sentence_verdict] * len(parts)
    alone = [evidence.weigh_claim(part.own or part.text) for part in parts]
    if _is_opposed(sentence_verdict) and not any(map(_is_opposed, alone)):
        weakest = min(range(len(alone)), key=lambda k: alone[k].p)
        alone[weakest] = sentence_verdict
    threshold = read_scorer(f"overlap_{evidence.modes[0]}", FEATURES).threshold
    return [_average_verdicts(evidence, sentence_verdict, threshold) for evidence in alone]


def weigh_with_question(verdict: SupportVerdict, question: str, evidence: PreparedPassages) -> SupportVerdict:
    """The verdict on a bare answer: no likelier than passages bear out its question and it together allow.

    Right short answers of XQuAD have a p together of .5 and more in nine of ten cases beside their own question, and
    of .39 and less beside another about the same passage: MENTIONED times it, so that a mere mention stays unclear.
    """
    if verdict.p <= MAX_NOTHING_P or not evidence.passages:
        return verdict
    factor = UNSPACED_MENTIONED_FACTOR if SPACELESS.search(question) else MENTIONED_FACTOR
    p = min(verdict.p, factor * evidence.weigh_claim(question).p)
    able = p >= min(read_scorer(f"overlap_{mode}", FEATURES).threshold for mode in evidence.modes)
    return verdict if p == verdict.p else verdict._replace(p=round(p, 6), supporting=verdict.supporting if able else ())


def _is_opposed(weighed: SupportVerdict) -> bool:
    return bool(weighed.contradicting) and not weighed.supporting


def _average_verdicts(verdict: SupportVerdict, sentence_verdict: SupportVerdict, threshold: float) -> SupportVerdict:
    """The verdict on a part by its own words and by those of its sentence."""
    if _is_opposed(verdict) or _is_opposed(sentence_verdict):
        return verdict
    p = round(1 / (1 + exp(-(_compute_log_odds(verdict.p) + _compute_log_odds(sentence_verdict.p)) / 2)), 6)
    return verdict._replace(
        p=p, supporting=(verdict.supporting or sentence_verdict.supporting) if p >= threshold else ()
    )


def _compute_log_odds(p: float) -> float:
    p = min(max(p, MIN_P), 1 - MIN_P)
    return log(p / (1 - p))
