"""Empty result rate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ragauge.core.response import Passage
from ragauge.metrics.base import Metric


@dataclass(frozen=True, slots=True)
class EmptyResultRate(Metric):
    """1 where retrieval returned nothing, else 0; its mean is the share of empty retrievals. Needs no labels.

    empty_result_rate = 1 if n = 0, else 0

    n  passages handed on

    Not applicable when passages were not recorded.
    Source: no results rate of search analytics, https://www.algolia.com/doc/guides/search-analytics/concepts/metrics.

    >>> EmptyResultRate().value([]), EmptyResultRate().value([Passage("a#1", "a")])
    (1.0, 0.0)
    """

    measures: ClassVar = "retrieval"
    needs: ClassVar = {"passages": "response.passages"}
    direction: ClassVar = "lower"
    scale: ClassVar = "rate"

    def value(self, passages: Sequence[Passage]) -> float:
        return float(not passages)
