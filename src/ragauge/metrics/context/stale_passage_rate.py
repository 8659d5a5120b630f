"""Stale passage rate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ragauge.data.response import Passage
from ragauge.metrics.base import Metric, NotApplicable, Ratio, Undefined


@dataclass(frozen=True, slots=True)
class StalePassageRate(Metric):
    """Share of the passages that a newer version has replaced.

    stale_passage_rate = #{passages superseded, or older than their document's newest version here} / n

    n  passages handed on

    The newest version of a document is the latest updated_at among its passages. Undefined when nothing was
    retrieved. Not applicable when no passage records a date or what superseded it.
    Source: A5.

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
        if not any(passage.updated_at or passage.superseded_by for passage in passages):
            return NotApplicable("dates of the passages not recorded")
        newest: dict[str, str] = {}
        for passage in passages:
            newest[passage.doc_id] = max(newest.get(passage.doc_id, ""), passage.updated_at or "")
        stale = [p.superseded_by is not None or "" < (p.updated_at or "") < newest[p.doc_id] for p in passages]
        return Ratio(sum(stale), len(passages))
