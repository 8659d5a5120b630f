"""Precision of all chunks that touch the gold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ragauge.core.ranking import GoldOverlap
from ragauge.metrics.base import Metric, Needs, NotApplicable, Ratio
from ragauge.metrics.spans.span_coverage import Unit, count_covered, count_units, merge_spans


@dataclass(frozen=True, slots=True)
class PrecisionOmega(Metric):
    """Gold tokens, of all tokens in the chunks that touch a gold span: what boundaries cost, whatever the retriever.

    precision_omega = #(G and C) / #(C or G)

    G  tokens of the gold spans, each once
    C  tokens of every chunk that shares a token with a gold span, each once

    It is no ceiling: some of the touching chunks can do better. unit=char counts characters.
    Not applicable without gold spans, or where the chunks of the index are not available.
    Source: Smith and Troynikov, Evaluating Chunking Strategies for Retrieval, 2024, there in characters.

    >>> from ragauge.core.example import Span
    >>> PrecisionOmega().value(GoldOverlap((Span("d", 2, 6),), (), (Span("d", 0, 4), Span("d", 4, 8))))
    Ratio(numerator=4, denominator=8)
    """

    measures: ClassVar = "retrieval"

    unit: Unit = "token"

    @property
    def needs(self) -> Needs:
        """The spans, in tokens or characters."""
        return {"overlap": f"labels.{self.unit}_spans"}

    def value(self, overlap: GoldOverlap) -> Ratio | NotApplicable:
        if not overlap.gold:
            return NotApplicable("no gold spans")
        if overlap.touching is None:
            return NotApplicable("the chunks of the index are not available")
        return Ratio(
            count_covered(overlap.gold, overlap.touching), count_units(merge_spans((*overlap.gold, *overlap.touching)))
        )
