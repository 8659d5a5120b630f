"""One pass over the responses of a run: everything that looks at examples, responses or evidence takes part in it.

A gatherer keeps numbers, never the objects: memory then grows by a few bytes a response, however long the texts are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from ragauge.core.example import Example
from ragauge.core.facts import AnswerFacts, Evidence, ReferenceFacts
from ragauge.core.response import Response
from ragauge.text.specifics import ClaimKind, classify_claim


@dataclass(frozen=True, slots=True)
class Visit:
    """One response on its way past the gatherers."""

    place: int  #: its place in the index of the responses looked at, from 0; visits come in this order.
    query: int  #: number of its example; of an example's several responses the first has the next number.
    example: Example  #: the question and its labels.
    response: Response  #: what the system returned.
    evidence: Mapping[str, Evidence]  #: question -> what the judge found; empty where nobody was asked.


class Gatherer(Protocol):
    """Takes in one response after another."""

    def add(self, visit: Visit) -> None:
        """Takes in what it needs of a response, and keeps nothing else."""


def run_gatherers(visits: Iterable[Visit], gatherers: Sequence[Gatherer]) -> None:
    """Shows every response to every gatherer, once."""
    for visit in visits:
        for gatherer in gatherers:
            gatherer.add(visit)


@dataclass(frozen=True, slots=True)
class ClaimProfile:
    """What kinds of claims a judge with probabilities had before it."""

    #: share of the answers' claims whose probability lies in its middle band; None when none has one.
    uncertain: float | None = None
    #: kind -> share of the reference claims; empty when there are none.
    reference: Mapping[ClaimKind, float] = field(default_factory=dict)


class ClaimCounter:
    """The claims of a run by what a judge can see of them.

    Args:
        band: the ends of the judge's middle band, included; None = the judge says no probabilities.
    """

    def __init__(self, band: tuple[float, float] | None) -> None:
        self._band = band
        self._seen = self._middle = 0
        self._kinds: Counter[ClaimKind] = Counter()

    def add(self, visit: Visit) -> None:
        """Counts the claims of a response and of its reference."""
        if self._band is None:
            return
        reference_evidence = visit.evidence.get("verify_reference")
        if reference_evidence is not None and isinstance(reference_evidence.facts, ReferenceFacts):
            self._kinds.update(classify_claim(claim.text) for claim in reference_evidence.facts.claims)
        answer_evidence = visit.evidence.get("verify_answer")
        claims = (
            answer_evidence.facts.claims
            if answer_evidence is not None and isinstance(answer_evidence.facts, AnswerFacts)
            else ()
        )
        low, high = self._band
        for claim in claims:
            if claim.p is not None:
                self._seen += 1
                self._middle += low <= claim.p <= high

    @property
    def claims(self) -> ClaimProfile:
        """What was counted."""
        total = self._kinds.total()
        reference = {kind: count / total for kind, count in self._kinds.most_common()}
        return ClaimProfile(self._middle / self._seen if self._seen else None, reference)
