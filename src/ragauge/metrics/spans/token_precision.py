"""Precision of the tokens returned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from ragauge.core.ranking import GoldOverlap
from ragauge.metrics.base import Metric, Needs, NotApplicable, Ratio
from ragauge.metrics.spans.span_coverage import (
    Fill,
    Unit,
    check_parameters,
    count_covered,
    count_units,
    merge_spans,
    take_first,
)


@dataclass(frozen=True, slots=True)
class TokenPrecision(Metric):
    """Share of the tokens returned that stand in a gold span.

    token_precision@k = #(G and R) / len(R)

    G    tokens of the gold spans, each once
    R    tokens of the chunks returned
    len  counts what stands in two chunks twice, as a context window does; overlap=merge counts it once

    @k takes the first k chunks, budget=B the first that fill B tokens: fill=cut shortens the last one to fit,
    fill=whole leaves it out. unit=char counts characters in place of tokens of the document.
    Not applicable without gold spans; undefined where nothing was returned.
    Source: Smith and Troynikov, Evaluating Chunking Strategies for Retrieval, 2024.

    >>> from ragauge.core.example import Span
    >>> gold = GoldOverlap((Span("d", 2, 6),), (Span("d", 0, 4), Span("d", 8, 12)), (Span("d", 0, 4), Span("d", 4, 8)))
    >>> TokenPrecision(k=1).value(gold)
    Ratio(numerator=2, denominator=4)
    """

    measures: ClassVar = "retrieval"

    overlap: Literal["count", "merge"] = "count"
    unit: Unit = "token"
    budget: int | None = None
    fill: Fill = "cut"
    k: int | None = None

    def __post_init__(self) -> None:
        check_parameters(self.name(), self.unit, self.k, self.budget, self.fill)

    @property
    def needs(self) -> Needs:
        """The spans, in tokens or characters."""
        return {"overlap": f"labels.{self.unit}_spans"}

    def value(self, overlap: GoldOverlap) -> Ratio | NotApplicable:
        if not overlap.gold:
            return NotApplicable("no gold spans")
        chunks = take_first(overlap.retrieved, self.k, self.budget, self.fill)
        return Ratio(
            count_covered(overlap.gold, chunks), count_units(chunks if self.overlap == "count" else merge_spans(chunks))
        )
