"""The facts that a judge finds about one answer: what every metric is computed from.

Passages, sentences and claims are numbered from 1, by us. A verdict that could not be had is None (or a claim
whose status is "failed"); it is never replaced by a guess.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from ragauge.core.criterion import CriterionVerdict

SupportLabel = Literal["supported", "contradicted", "not_in_context"]
Strength = Literal["direct", "implied"]
Address = Literal["fully", "partly", "no"]
Agreement = Literal["agrees", "contradicts", "absent"]


@dataclass(frozen=True, slots=True)
class Window:
    """The piece of a passage that decided a verdict.

    Attributes:
        passage: its number, from 1.
        start: first character of the piece in the passage's text.
        end: one past its last character.
        missing: specifics of the claim that the passages do not hold.
    """

    passage: int
    start: int
    end: int
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Claim:
    """One statement of the answer.

    Attributes:
        n: number, from 1, over the whole answer.
        text: the statement; None when the sentence's claims could not be had (then their number is unknown).
        start: first character of its sentence in the answer, or of its own part of the sentence.
        end: one past the last.
        status: "ok"; "failed" = no verdict on it.
        supporting: numbers of the passages that together support it.
        joint: the passages support it only together.
        contradicting: numbers of the passages that contradict it.
        strength: stated or following directly, or only implied; None when unsupported.
        p: the judge's probability that it is supported.
        window: the piece of a passage that decided.
        reason: why it failed, or the judge's words.
        within: characters [first, last + 1) of the whole sentence where the claim is one part of it; else None.
    """

    n: int
    text: str | None
    start: int = 0
    end: int = 0
    status: Literal["ok", "failed"] = "ok"
    supporting: tuple[int, ...] = ()
    joint: bool = False
    contradicting: tuple[int, ...] = ()
    strength: Strength | None = None
    p: float | None = None
    window: Window | None = None
    reason: str = ""
    within: tuple[int, int] | None = None

    @property
    def label(self) -> SupportLabel | None:
        """What the verdict says in one word; None when it failed."""
        if self.status == "failed":
            return None
        if self.supporting:
            return "supported"
        return "contradicted" if self.contradicting else "not_in_context"

    @property
    def chance(self) -> float:
        """How much of the claim counts as supported: the judge's probability; 1 or 0 by the label where it has none.

        >>> Claim(1, "a", p=0.3).chance, Claim(2, "b", supporting=(1,)).chance
        (0.3, 1.0)
        """
        return float(bool(self.supporting)) if self.p is None else self.p


CLAIMS_ONLY = ("address", "refuse")  # what was not asked where only claims were


@dataclass(frozen=True, slots=True)
class AnswerFacts:
    """Facts of `verify_answer`.

    Attributes:
        claims: every claim of the answer in order; () = it claims nothing.
        address: whether the answer addresses the question; None = failed.
        address_p: the judge's probabilities that it does so fully, partly, and not; they sum to 1. None = it has none.
        refuse: whether the answer declines to answer; None = failed, or not known in its language: see `unread`.
        support_asked: False when the passages were not recorded: claims then carry no support.
        parts: calls that the passages went out in; support that is spread over several of them is not seen.
        both: of a hybrid judge, verdicts that both its halves gave, since the local one was not sure.
        same: of these, those in which both lean the same way.
        unread: language code of an answer in whose language the judge cannot tell a refusal; "" = it can.
        unasked: of "address" and "refuse" what nobody was asked.
        unnamed: verdicts of a model that named no sentence which shows them, and were asked for again.
    """

    claims: tuple[Claim, ...]
    address: Address | None
    refuse: bool | None
    support_asked: bool = True
    parts: int = 1
    both: int = 0
    same: int = 0
    address_p: tuple[float, float, float] | None = None
    unread: str = ""
    unasked: tuple[str, ...] = ()
    unnamed: int = 0

    @property
    def claims_only(self) -> bool:
        """Whether nobody was asked about more than claims."""
        return {*CLAIMS_ONLY} <= {*self.unasked}


@dataclass(frozen=True, slots=True)
class ReferenceClaim:
    """One reference claim and the passages that support it (T_h); supporting None = failed."""

    n: int
    text: str
    supporting: tuple[int, ...] | None
    p: float | None = None

    @property
    def chance(self) -> float:
        """How much of it counts as supported: the judge's probability; 1 or 0 by the label where it has none."""
        return float(bool(self.supporting)) if self.p is None else self.p


@dataclass(frozen=True, slots=True)
class ReferenceFacts:
    """Facts of `verify_reference`.

    Attributes:
        claims: every reference claim in order.
        parts: calls that the passages went out in; support that is spread over several of them is not seen.
        both, same, unnamed: as of AnswerFacts.
        reason: why verdicts are missing; "" where none are.
    """

    claims: tuple[ReferenceClaim, ...]
    parts: int = 1
    both: int = 0
    same: int = 0
    unnamed: int = 0
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Rating:
    """Whether one passage (or one of its sentences) is relevant to the question; None = failed."""

    passage: int
    relevant: bool | None
    sentence: int | None = None
    p: float | None = None

    @property
    def chance(self) -> float | None:
        """How relevant it counts: the judge's probability; 1 or 0 by the verdict where it has none; None = failed."""
        return self.p if self.p is not None and self.relevant is not None else _to_probability(self.relevant)


@dataclass(frozen=True, slots=True)
class RelevanceFacts:
    """Facts of `rate_passages`: one rating a passage, or one a sentence where `unit` is "sentence".

    Of `rate_answer` the answer is passage 1.

    both and same are as of AnswerFacts.
    """

    ratings: tuple[Rating, ...]
    unit: Literal["passage", "sentence"] = "passage"
    both: int = 0
    same: int = 0


@dataclass(frozen=True, slots=True)
class AgreementFacts:
    """Facts of `agree`: answer claims against reference claims, both in the order of their numbers.

    Attributes:
        answer: per answer claim, whether it agrees with the reference; None = failed.
        reference: per reference claim, whether the answer states it; None = failed.
        answer_p: per answer claim, the judge's probability that it agrees; () = it has none, None = failed.
        reference_p: per reference claim, its probability that the answer states it; likewise.
    """

    answer: tuple[Agreement | None, ...]
    reference: tuple[bool | None, ...]
    answer_p: tuple[float | None, ...] = ()
    reference_p: tuple[float | None, ...] = ()


@dataclass(frozen=True, slots=True)
class CoverFacts:
    """Facts of `cover`: per aspect or criterion, whether the answer meets it; None = failed."""

    met: tuple[bool | None, ...]


@dataclass(frozen=True, slots=True)
class CriteriaFacts:
    """Facts of `meet_criteria`: a verdict on each criterion of the run whose texts are there."""

    verdicts: tuple[CriterionVerdict, ...]


@dataclass(frozen=True, slots=True)
class GuessedFacts:
    """Facts of `guess_questions`: cosine of the question with each question guessed from the answer."""

    cosines: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class SimilarityFacts:
    """Facts of `similarity`: cosine of the answer with the reference.

    Attributes:
        cosine: None = failed, or one of both has no vector.
        blank: a text without content has no vector.
    """

    cosine: float | None
    blank: bool = False


JudgeFacts = (
    AnswerFacts
    | ReferenceFacts
    | RelevanceFacts
    | AgreementFacts
    | CoverFacts
    | CriteriaFacts
    | GuessedFacts
    | SimilarityFacts
)


@dataclass(frozen=True, slots=True)
class Evidence:
    """One question's answer about one response.

    Attributes:
        key: hash of {judge, question, version, what it saw, judge_repeat}: no run, no query id.
        question: such as verify_answer.
        question_version: raised when the question's meaning changes.
        judge_id: who answered.
        status: "ok"; "failed" when nothing could be had; "partial" when a call brought no reply, so that verdicts are
            missing that the next start may get.
        facts: None when failed.
        judge_repeat: 0 for the first time of asking.
        reply_keys: the stored replies that it was read from.
        reason: why it failed; else why a call for it brought nothing to read, where one did.
    """

    key: str
    question: str
    question_version: int
    judge_id: str
    status: Literal["ok", "failed", "partial"]
    facts: JudgeFacts | None
    judge_repeat: int = 0
    reply_keys: tuple[str, ...] = ()
    reason: str = ""


def _to_probability(verdict: bool | None) -> float | None:
    return None if verdict is None else float(verdict)


EvidenceByQuestion = Mapping[str, Evidence]  # by question
