"""The facts that a judge or a person's labels give about one answer, and criteria for every answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

VisibleField = Literal["query", "answer", "passages", "reference", "history"]
DEFAULT_VISIBLE_FIELDS: tuple[VisibleField, ...] = ("query", "answer", "history")


@dataclass(frozen=True, slots=True)
class Criterion:
    """A statement that each answer is held against."""

    name: str  #: of the metric that it is.
    text: str  #: the statement, or what the levels describe.
    sees: tuple[VisibleField, ...] = DEFAULT_VISIBLE_FIELDS  #: what the judge is shown of an example.
    levels: tuple[str, ...] = ()  #: descriptions, from the worst to the best; () = met or not.
    pass_from: int = 0  #: number of the least level, from 1, that meets it; 0 of one without levels.
    required: bool = False  #: an answer that does not meet it is not right.


@dataclass(frozen=True, slots=True)
class CriterionVerdict:
    """What a judge says of one criterion."""

    name: str  #: of the criterion.
    text: str  #: its statement.
    met: bool | None  #: None = no verdict.
    reason: str = ""  #: the judge's sentence, or why there is no verdict.
    level: int | None = None  #: the one chosen; None = there are none, or no verdict.
    n_levels: int = 0  #: how many there are; 0 = met or not.
    required: bool = False  #: as of the criterion.

    @classmethod
    def of(cls, criterion: Criterion, reply: bool | int | None, reason: str) -> CriterionVerdict:
        """The verdict by what was said: met or not, or the number of a level; None = nothing.

        >>> CriterionVerdict.of(Criterion("tone", "Tone", levels=("rude", "plain", "kind"), pass_from=3), 2, "").met
        False
        """
        level = reply if criterion.levels and reply is not None else None
        met = None if reply is None else bool(reply) if level is None else level >= criterion.pass_from
        return cls(criterion.name, criterion.text, met, reason, level, len(criterion.levels), criterion.required)

    @property
    def value(self) -> float | None:
        """1 = met or the best level, 0 = not met or the worst; None = no verdict."""
        if self.level is not None:
            return (self.level - 1) / (self.n_levels - 1)
        return None if self.met is None else float(self.met)


SupportLabel = Literal["supported", "contradicted", "not_in_context"]
Strength = Literal["direct", "implied"]
Address = Literal["fully", "partly", "no"]
Agreement = Literal["agrees", "contradicts", "absent"]


@dataclass(frozen=True, slots=True)
class Window:
    """The piece of a passage that decided a verdict."""

    passage: int  #: its number, from 1.
    start: int  #: first character of the piece in the passage's text.
    end: int  #: one past its last character.
    missing: tuple[str, ...] = ()  #: specifics of the claim that the passages do not hold.


@dataclass(frozen=True, slots=True)
class Claim:
    """One statement of the answer."""

    n: int  #: number, from 1, over the whole answer.
    text: str | None  #: the statement; None when the sentence's claims could not be had (then their number is unknown).
    start: int = 0  #: first character of its sentence in the answer, or of its own part of the sentence.
    end: int = 0  #: one past the last.
    status: Literal["ok", "failed"] = "ok"  #: "ok"; "failed" = no verdict on it.
    supporting: tuple[int, ...] = ()  #: numbers of the passages that together support it.
    joint: bool = False  #: the passages support it only together.
    contradicting: tuple[int, ...] = ()  #: numbers of the passages that contradict it.
    strength: Strength | None = None  #: stated or following directly, or only implied; None when unsupported.
    p: float | None = None  #: the judge's probability that it is supported.
    window: Window | None = None  #: the piece of a passage that decided.
    reason: str = ""  #: why it failed, or the judge's words.
    #: characters [first, last + 1) of the whole sentence where the claim is one part of it; else None.
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
    """Facts of `verify_answer`."""

    claims: tuple[Claim, ...]  #: every claim of the answer in order; () = it claims nothing.
    address: Address | None  #: whether the answer addresses the question; None = failed.
    #: whether the answer declines to answer; None = failed, or not known in its language: see `unread`.
    refuse: bool | None
    support_asked: bool = True  #: False when the passages were not recorded: claims then carry no support.
    parts: int = 1  #: calls that the passages went out in; support that is spread over several of them is not seen.
    both: int = 0  #: of a hybrid judge, verdicts that both its halves gave, since the local one was not sure.
    same: int = 0  #: of these, those in which both lean the same way.
    #: the judge's probabilities that it does so fully, partly, and not; they sum to 1. None = it has none.
    address_p: tuple[float, float, float] | None = None
    unread: str = ""  #: language code of an answer in whose language the judge cannot tell a refusal; "" = it can.
    unasked: tuple[str, ...] = ()  #: of "address" and "refuse" what nobody was asked.
    unnamed: int = 0  #: verdicts of a model that named no sentence which shows them, and were asked for again.

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
    """Facts of `verify_reference`."""

    claims: tuple[ReferenceClaim, ...]  #: every reference claim in order.
    #: calls that the passages went out in; support that is spread over several of them is not seen. both, same,
    #: unnamed: as of AnswerFacts.
    parts: int = 1
    both: int = 0
    same: int = 0
    unnamed: int = 0
    reason: str = ""  #: why verdicts are missing; "" where none are.


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
    """Facts of `agree`: answer claims against reference claims, both in the order of their numbers."""

    answer: tuple[Agreement | None, ...]  #: per answer claim, whether it agrees with the reference; None = failed.
    reference: tuple[bool | None, ...]  #: per reference claim, whether the answer states it; None = failed.
    #: per answer claim, the judge's probability that it agrees; () = it has none, None = failed.
    answer_p: tuple[float | None, ...] = ()
    #: per reference claim, its probability that the answer states it; likewise.
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
    """Facts of `similarity`: cosine of the answer with the reference."""

    cosine: float | None  #: None = failed, or one of both has no vector.
    blank: bool = False  #: a text without content has no vector.


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
    """One question's answer about one response."""

    key: str  #: hash of {judge, question, version, what it saw, judge_repeat}: no run, no query id.
    question: str  #: such as verify_answer.
    question_version: int  #: raised when the question's meaning changes.
    judge_id: str  #: who answered.
    #: "ok"; "failed" when nothing could be had; "partial" when a call brought no reply, so that verdicts are missing
    #: that the next start may get.
    status: Literal["ok", "failed", "partial"]
    facts: JudgeFacts | None  #: None when failed.
    judge_repeat: int = 0  #: 0 for the first time of asking.
    reply_keys: tuple[str, ...] = ()  #: the stored replies that it was read from.
    reason: str = ""  #: why it failed; else why a call for it brought nothing to read, where one did.


def _to_probability(verdict: bool | None) -> float | None:
    return None if verdict is None else float(verdict)


EvidenceByQuestion = Mapping[str, Evidence]  # by question


@dataclass(frozen=True, slots=True)
class LabelFacts:
    """What people labeled of one response."""

    #: question of a judge (verify_answer, rate_passages) -> what the labels say of it; a question that nobody labeled
    #: is absent.
    facts: Mapping[str, JudgeFacts] = field(default_factory=dict)
    right: bool | None = None  #: whether they call the answer right; None = nobody said, or they are split.

    @property
    def is_support_labeled(self) -> bool:
        """Whether people labeled the support of a claim of the answer."""
        answer = self.facts.get("verify_answer")
        return isinstance(answer, AnswerFacts) and answer.support_asked and any(c.status == "ok" for c in answer.claims)

    @property
    def decided_verdicts(self) -> tuple[str, ...]:
        """The verdicts on an example that the labels decide: right, grounded."""
        return ("right",) * (self.right is not None) + ("grounded",) * self.is_support_labeled


NO_LABELS = LabelFacts()
