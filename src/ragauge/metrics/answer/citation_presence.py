"""Citation presence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ragauge.core.response import Citation
from ragauge.metrics.base import Metric


@dataclass(frozen=True, slots=True)
class CitationPresence(Metric):
    """1 where the answer cites anything at all, right or wrong, else 0.

    citation_presence = 1 if #z > 0, else 0

    z  citations of the answer, read by offset

    Not applicable when the system does not cite or the answer was not recorded.
    Source: ours; what citation recall of ALCE, arXiv:2305.14627, needs before it can be above 0.

    >>> CitationPresence().value([Citation(0, 5, "a#1")]), CitationPresence().value([])
    (1.0, 0.0)
    """

    measures: ClassVar = "end_to_end"
    needs: ClassVar = {"citations": "response.citations"}
    scale: ClassVar = "rate"

    def value(self, citations: Sequence[Citation]) -> float:
        return float(bool(citations))
