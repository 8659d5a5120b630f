"""Citation precision."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ragauge.core.facts import Claim
from ragauge.core.response import Citation, Passage
from ragauge.metrics.base import Metric, Ratio, Undefined
from ragauge.metrics.specifics import find_named_passages, list_targets


@dataclass(frozen=True, slots=True)
class CitationPrecision(Metric):
    """Share of the citations that support the claim they are given for.

    citation_precision = #{(i, z) : z names a passage of S[i]} / #{(i, z)}

    (i, z)  claim i and something cited in its sentence, each once a claim
    S[i]    passages that together support claim i

    A citation names a passage, or a document and so any of its passages. One that names nothing retrieved is wrong.
    Undefined when no claim has a citation. Not applicable when the system does not cite or passages were not recorded.
    Source: ALCE, arXiv:2305.14627, here per claim.

    >>> passages = [Passage("p1", "d1"), Passage("p2", "d2")]
    >>> claim = Claim(1, "a", end=9, supporting=(2,))
    >>> CitationPrecision().value([claim], [Citation(0, 9, "d2"), Citation(0, 9, "d7")], passages)
    Ratio(numerator=1, denominator=2)
    """

    measures: ClassVar = "generation"
    needs: ClassVar = {
        "claims": "verify_answer.support",
        "citations": "response.citations",
        "passages": "response.passages",
    }
    separable: ClassVar = True

    def value(
        self, claims: Sequence[Claim], citations: Sequence[Citation], passages: Sequence[Passage]
    ) -> Ratio | Undefined:
        targets = [list_targets(claim, citations) for claim in claims]
        if not any(targets):
            return Undefined("no claim has a citation")
        right = [
            sum(not find_named_passages(target, passages).isdisjoint(claim.supporting) for target in cited)
            for claim, cited in zip(claims, targets, strict=True)
        ]
        return Ratio.count_items(right, [len(cited) for cited in targets])
