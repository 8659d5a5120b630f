"""The most that chunks could reach."""

from __future__ import annotations

from dataclasses import dataclass

from ragauge.core.ranking import GoldOverlap
from ragauge.metrics.base import NotApplicable, Ratio
from ragauge.metrics.spans.span_coverage import compute_attainable, count_units
from ragauge.metrics.spans.span_metric import SpanMetric


@dataclass(frozen=True, slots=True)
class AttainableRecall(SpanMetric):
    """Recall of gold tokens by the best choice of chunks: what is missing to 1 is lost to chunk boundaries.

    attainable_recall@k = max over C of #(G and C) / #G

    G  tokens of the gold spans, each once
    C  tokens of any k chunks, or of any that fill the budget

    @k takes the first k chunks, budget=B the first that fill B tokens: fill=cut shortens the last one to fit,
    fill=whole leaves it out. unit=char counts characters in place of tokens of the document.
    Every choice of up to 12 touching chunks is tried; of more a greedy choice is a lower bound.
    token_recall is lower by what ranking loses. Not applicable without gold spans, or where the index is not known.
    Source: Smith and Troynikov, Evaluating Chunking Strategies for Retrieval, 2024.

    >>> from ragauge.core.example import Span
    >>> gold = GoldOverlap((Span("d", 2, 6),), (Span("d", 0, 4), Span("d", 8, 12)), (Span("d", 0, 4), Span("d", 4, 8)))
    >>> AttainableRecall(k=1).value(gold)
    Ratio(numerator=2, denominator=4)
    """

    def value(self, overlap: GoldOverlap) -> Ratio | NotApplicable:
        if not overlap.gold:
            return NotApplicable("no gold spans")
        if overlap.touching is None:
            return NotApplicable("the chunks of the index are not available")
        reached, _ = compute_attainable(overlap, self.k, self.budget, self.fill)
        return Ratio(reached, count_units(overlap.gold))
