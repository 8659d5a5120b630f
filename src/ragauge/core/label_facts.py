"""What people's labels say of one response, in the form in which a judge's findings come."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ragauge.core.facts import AnswerFacts, JudgeFacts


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
