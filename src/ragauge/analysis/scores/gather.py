"""One pass over the responses of a run: everything that looks at examples, responses or evidence takes part in it.

A gatherer keeps numbers, never the objects: memory then grows by a few bytes a response, however long the texts are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from ragauge.data.example import Example
from ragauge.data.facts import AnswerFacts, Evidence
from ragauge.data.response import Response


@dataclass(frozen=True, slots=True)
class Visit:
    """One response on its way past the gatherers.

    Attributes:
        place: its place in the index of the responses looked at, from 0; visits come in this order.
        query: number of its example; of an example's several responses the first has the next number.
        example: the question and its labels.
        response: what the system returned.
        evidence: question -> what the judge found; empty where nobody was asked.
    """

    place: int
    query: int
    example: Example
    response: Response
    evidence: Mapping[str, Evidence]


class Gatherer(Protocol):
    """Takes in one response after another."""

    def add(self, visit: Visit) -> None:
        """Takes in what it needs of a response, and keeps nothing else."""


def gather(visits: Iterable[Visit], gatherers: Sequence[Gatherer]) -> None:
    """Shows every response to every gatherer, once."""
    for visit in visits:
        for gatherer in gatherers:
            gatherer.add(visit)


class UncertainShare:
    """The share of claims whose probability lies in the judge's middle band.

    Args:
        band: its ends, included; None = the judge says no probabilities.
    """

    def __init__(self, band: tuple[float, float] | None) -> None:
        self._band = band
        self._seen = self._middle = 0

    def add(self, visit: Visit) -> None:
        """Counts the claims of a response."""
        if self._band is None:
            return
        found = visit.evidence.get("verify_answer")
        claims = found.facts.claims if found is not None and isinstance(found.facts, AnswerFacts) else ()
        low, high = self._band
        for claim in claims:
            if claim.p is not None:
                self._seen += 1
                self._middle += low <= claim.p <= high

    @property
    def share(self) -> float | None:
        """Of all claims seen; None when none has a probability."""
        return self._middle / self._seen if self._seen else None
