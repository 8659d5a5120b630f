"""What judging a run took, and how firm the verdicts are."""

from __future__ import annotations

from dataclasses import dataclass

from ragauge.analysis.results.judging import AskedOf, JudgeSpread, JudgeUse
from ragauge.analysis.scores.gather import Visit
from ragauge.data.facts import (
    AgreementFacts,
    AnswerFacts,
    CoverFacts,
    Evidence,
    FactsOf,
    GuessedFacts,
    ReferenceFacts,
    RelevanceFacts,
    SimilarityFacts,
)


@dataclass(slots=True)
class UseGatherer:
    """Counts questions, verdicts and replies of the responses that pass by.

    Attributes:
        hybrid: whether the verdicts are a hybrid judge's.
    """

    hybrid: bool = False
    questions: int = 0
    lacking: int = 0
    replies: int = 0
    verdicts: int = 0
    local: int = 0
    spared: int = 0
    parted: int = 0
    both: int = 0
    same: int = 0

    def add(self, visit: Visit) -> None:
        """Counts what was found about a response."""
        for evidence in visit.evidence.values():
            self.questions += 1
            self.lacking += lacks(evidence)
            self.replies += len(evidence.reply_keys)
            self.parted += _parted(evidence.facts)
            if self.hybrid and evidence.facts is not None:
                self._mixed(evidence, evidence.facts)

    def _mixed(self, evidence: Evidence, facts: FactsOf) -> None:
        sure = _probabilities(facts)
        self.verdicts += len(sure)
        self.local += sum(p is not None for p in sure)     # the model gives no probabilities
        self.spared += bool(sure) and not evidence.reply_keys
        if isinstance(facts, AnswerFacts | ReferenceFacts | RelevanceFacts):
            self.both += facts.both
            self.same += facts.same

    def found(
        self, asked: tuple[AskedOf, ...], spread: tuple[JudgeSpread, ...] = (), more_replies: int = 0
    ) -> JudgeUse:
        """What was counted, with what was paid, and with the replies of further askings."""
        verdicts = self.verdicts if self.hybrid else None
        replies = self.replies + more_replies
        return JudgeUse(
            asked, self.questions, self.lacking, replies, verdicts, self.local, self.spared, spread, self.parted,
            self.both, self.same,
        )


def lacks(evidence: Evidence) -> bool:
    """Whether a verdict that was asked for is missing."""
    return evidence.status != "ok" or evidence.facts is None or _missing(evidence.facts)


def _missing(facts: FactsOf) -> bool:
    match facts:
        case AnswerFacts():
            failed = any(claim.status == "failed" for claim in facts.claims)
            return failed or facts.address is None or (facts.refuse is None and not facts.unread)
        case ReferenceFacts():
            return any(claim.supporting is None for claim in facts.claims)
        case RelevanceFacts():
            return any(rating.relevant is None for rating in facts.ratings)
        case AgreementFacts():
            return None in facts.answer or None in facts.reference
        case CoverFacts():
            return None in facts.met
        case GuessedFacts():
            return None in facts.cosines
        case SimilarityFacts():
            return facts.cosine is None and not facts.blank


def _parted(facts: FactsOf | None) -> int:
    """Claims without support whose passages went out in several calls; a hybrid judge's own half saw all at once."""
    if isinstance(facts, AnswerFacts) and facts.parts > 1:
        return sum(claim.status == "ok" and claim.p is None and not claim.supporting for claim in facts.claims)
    if isinstance(facts, ReferenceFacts) and facts.parts > 1:
        return sum(claim.p is None and claim.supporting == () for claim in facts.claims)
    return 0


def _probabilities(facts: FactsOf) -> list[float | None]:
    """The probability of each verdict on a claim or passage."""
    match facts:
        case AnswerFacts():
            return [claim.p for claim in facts.claims if claim.status == "ok"]
        case ReferenceFacts():
            return [claim.p for claim in facts.claims]
        case RelevanceFacts():
            return [rating.p for rating in facts.ratings]
    return []
