"""Stale passage rate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ragauge.core.response import Passage
from ragauge.metrics.base import Metric, NotApplicable, Ratio, Undefined


@dataclass(frozen=True, slots=True)
class StalePassageRate(Metric):
    """Share of the passages that a newer version has replaced.

    stale_passage_rate = #{passages superseded, or older than their document's newest version here} / n

    n  passages handed on

    The newest version of a document is the latest updated_at among its passages; dates are compared as far as both
    go. Undefined when nothing was retrieved. Not applicable when a passage records neither its date nor what
    superseded it: taken as fresh, it would make the rate too low.
    Source: "How to Evaluate Your RAG Pipeline", https://dev.to/benchwright/how-to-evaluate-your-rag-pipeline-3kk7.

    >>> new, old = Passage("a#2", "a", updated_at="2024-06-01"), Passage("a#1", "a", updated_at="2023-02-01")
    >>> StalePassageRate().value([new, old])
    Ratio(numerator=1, denominator=2)
    """

    measures: ClassVar = "retrieval"
    needs: ClassVar = {"passages": "response.passages"}
    direction: ClassVar = "lower"
    separable: ClassVar = True

    def value(self, passages: Sequence[Passage]) -> Ratio | Undefined | NotApplicable:
        if not passages:
            return Undefined("nothing was retrieved")
        undated = sum(not (passage.updated_at or passage.superseded_by) for passage in passages)
        if undated:
            return NotApplicable(f"dates of {undated} of {len(passages)} passages not recorded")
        dates: dict[str, list[str]] = {}
        for passage in passages:
            dates.setdefault(passage.doc_id, []).append(passage.updated_at or "")
        stale = [
            p.superseded_by or any(_is_older(p.updated_at or "", date) for date in dates[p.doc_id]) for p in passages
        ]
        return Ratio.count_items([bool(mark) for mark in stale])


def _is_older(date: str, other: str) -> bool:
    """Whether one ISO date is earlier than another, as far as both go: a day is not earlier than an hour of it."""
    length = min(len(date), len(other))
    return date[:length] < other[:length]
