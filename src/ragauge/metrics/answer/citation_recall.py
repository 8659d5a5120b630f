"""Citation recall."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from ragauge.core.facts import Claim
from ragauge.core.response import Citation, Passage
from ragauge.metrics.base import Metric, Ratio, Undefined
from ragauge.metrics.specifics import find_cited_passages


@dataclass(frozen=True, slots=True)
class CitationRecall(Metric):
    """Share of the answer's claims that are cited with a passage that supports them.

    citation_recall           = #{i : Z[i] meets S[i]} / c
    citation_recall:cited=all = #{i : S[i] is not empty and lies in Z[i]} / c

    c     claims in the answer
    S[i]  passages that together support claim i
    Z[i]  passages cited in the sentence of claim i; citing a document cites all its passages

    cited=all asks for every supporting passage, equal copies included.
    Undefined when c = 0. Not applicable when the system does not cite or passages were not recorded.
    Source: ALCE, arXiv:2305.14627; its rule, that the cited passages jointly entail, lies between the two forms.

    >>> passages = [Passage("p1", "d1"), Passage("p2", "d2")]
    >>> claim, citations = Claim(1, "a", end=9, supporting=(1, 2)), [Citation(0, 9, "d2")]
    >>> CitationRecall().value([claim], citations, passages)
    Ratio(numerator=1, denominator=1)
    >>> CitationRecall(cited="all").value([claim], citations, passages)
    Ratio(numerator=0, denominator=1)
    """

    measures: ClassVar = "generation"
    needs: ClassVar = {
        "claims": "verify_answer.support",
        "citations": "response.citations",
        "passages": "response.passages",
    }
    separable: ClassVar = True

    cited: Literal["any", "all"] = "any"

    def value(
        self, claims: Sequence[Claim], citations: Sequence[Citation], passages: Sequence[Passage]
    ) -> Ratio | Undefined:
        if not claims:
            return Undefined("the answer makes no claims")
        rights = [find_cited_passages(claim, citations, passages).intersection(claim.supporting) for claim in claims]
        pairs = zip(claims, rights, strict=True)
        return Ratio.count_items(
            [bool(right) and (self.cited == "any" or right.issuperset(claim.supporting)) for claim, right in pairs]
        )
