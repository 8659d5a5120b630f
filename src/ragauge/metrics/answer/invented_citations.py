"""Invented citations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ragauge.core.response import Citation, Passage
from ragauge.metrics.base import Metric, Ratio, Undefined


@dataclass(frozen=True, slots=True)
class InventedCitations(Metric):
    """Share of the citations that name nothing that was handed to the generator.

    invented_citations = #{z : the target of z is no passage and no document handed on} / #z

    z  citations of the answer, read by offset

    Undefined when the answer has no citation. Not applicable when the system does not cite, how it cites is not
    understood (most of what it cites names no passage), or passages were not recorded.
    Source: share of references that exist, Zuccon et al., arXiv:2309.09401; here its complement, within the context.

    >>> InventedCitations().value([Citation(0, 5, "a#1"), Citation(6, 9, "9")], [Passage("a#1", "a")])
    Ratio(numerator=1, denominator=2)
    """

    measures: ClassVar = "generation"
    needs: ClassVar = {"citations": "response.citations", "passages": "response.passages"}
    direction: ClassVar = "lower"
    separable: ClassVar = True

    def value(self, citations: Sequence[Citation], passages: Sequence[Passage]) -> Ratio | Undefined:
        if not citations:
            return Undefined("the answer has no citations")
        known_ids = {name for passage in passages for name in (passage.passage_id, passage.doc_id)}
        return Ratio.count_items([citation.target not in known_ids for citation in citations])
