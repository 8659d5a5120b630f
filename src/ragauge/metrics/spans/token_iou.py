"""Intersection over union of tokens."""

from __future__ import annotations

from dataclasses import dataclass

from ragauge.core.ranking import GoldOverlap
from ragauge.metrics.base import NotApplicable, Ratio
from ragauge.metrics.spans.span_coverage import count_covered, count_units, take_first
from ragauge.metrics.spans.span_metric import SpanMetric


@dataclass(frozen=True, slots=True)
class TokenIou(SpanMetric):
    """Gold tokens returned, of all tokens that are gold or were returned.

    token_iou@k = #(G and R) / (len(R) + #(G without R))

    G    tokens of the gold spans, each once
    R    tokens of the chunks returned
    len  counts what stands in two chunks twice

    @k takes the first k chunks, budget=B the first that fill B tokens: fill=cut shortens the last one to fit,
    fill=whole leaves it out. unit=char counts characters in place of tokens of the document.
    Not applicable without gold spans; 0 where nothing was returned.
    Source: Smith and Troynikov, Evaluating Chunking Strategies for Retrieval, 2024.

    >>> from ragauge.core.example import Span
    >>> gold = GoldOverlap((Span("d", 2, 6),), (Span("d", 0, 4), Span("d", 8, 12)), (Span("d", 0, 4), Span("d", 4, 8)))
    >>> TokenIou(k=1).value(gold)
    Ratio(numerator=2, denominator=6)
    """

    def value(self, overlap: GoldOverlap) -> Ratio | NotApplicable:
        if not overlap.gold:
            return NotApplicable("no gold spans")
        chunks = take_first(overlap.retrieved, self.k, self.budget, self.fill)
        shared = count_covered(overlap.gold, chunks)
        return Ratio(shared, count_units(chunks) + count_units(overlap.gold) - shared)
