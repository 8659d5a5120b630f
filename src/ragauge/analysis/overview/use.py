"""What one response's answer made of its passages, found once for everything that counts it."""

from __future__ import annotations

from dataclasses import dataclass

from ragauge.analysis.causes.cause_context import CauseContext
from ragauge.analysis.scores.gather import Visit
from ragauge.metrics.facts import Facts, resolve


@dataclass(frozen=True, slots=True)
class Use:
    """One response with the marks of its passages.

    Attributes:
        place: of the response in its index.
        seen: the facts.
        used: per passage handed on, whether it supports a claim or is cited for one; None where that is not known of
            every passage.
    """

    place: int
    seen: CauseContext
    used: tuple[bool, ...] | None

    @staticmethod
    def of(visit: Visit) -> Use:
        """Reads the marks from the evidence."""
        facts = Facts(visit.example, visit.response, visit.evidence)
        used = resolve("verify_answer.used", facts)
        known = isinstance(used, tuple) and None not in used
        return Use(visit.place, CauseContext(facts), used if known else None)

    @property
    def answers(self) -> bool:
        """Whether it counts for alignment: an answer with claims to a question that can be answered, with passages.

        A correct refusal never counts. Nor does a refusal where nobody said whether the question is answerable, since
        it may be a correct one.
        """
        if not self.used or self.seen.answer is None or not self.seen.answer.claims:
            return False
        answerable = self.seen.example.answerable
        return answerable is True or (answerable is None and self.seen.refuse is False)
