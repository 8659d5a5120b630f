"""Context precision."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from ragauge.core.errors import UsageError
from ragauge.metrics.base import Metric, Needs, Ratio, Undefined
from ragauge.metrics.context.rank_weights import compute_ranked_precision

USEFUL = {"question": "rate_passages.chance", "reference": "verify_reference.useful", "answer": "verify_answer.used"}


@dataclass(frozen=True, slots=True)
class ContextPrecision(Metric):
    """Share of the passages handed on that are useful.

    context_precision             = #{j : v[j] = 1} / n; Σ v[j] / n where the judge has probabilities
    context_precision:ranked=true = sum over useful j of prec@j / #{j : v[j] = 1}

    v[j]    passage j is useful: relevant to the question, unless `by` says otherwise; its probability where known
    n       passages handed on; relevant and other sentences of them where unit=sentence
    prec@j  share of useful among the first j

    by=reference counts a passage that supports a reference claim, for its usefulness to the right answer.
    by=answer counts a passage that supports a claim of the answer or is cited for one; it moves with the answer too.
    ranked=true rewards useful passages that come first and is 0 when none is useful; it is blind to what was missed.
    unit=sentence counts sentences of the passages instead of passages; only with by=question.

    Undefined when nothing was retrieved and, by=answer, when the answer makes no claims. Not applicable when the
    passages were not recorded; by=reference, when there is no reference; and by=question, when v is a probability and
    the request names no topic ("summarise this").
    Source: ARES, arXiv:2311.09476; by=reference RAGChecker, arXiv:2408.08067; ranked=true RAGAS, arXiv:2309.15217.

    >>> ContextPrecision().value([True] + [False] * 9), ContextPrecision(ranked=True).value([True] + [False] * 9)
    (Ratio(numerator=1, denominator=10), 1.0)
    """

    measures: ClassVar = "retrieval"
    aliases: ClassVar = {
        "passages_used": {"by": "answer"},
        "context_utilization": {"by": "answer", "ranked": True},
        "context_relevance": {},
        "context_relevancy": {},
        "contextual_relevancy": {},
        "contextual_precision": {"by": "reference", "ranked": True},
    }
    separable: ClassVar = True
    version: ClassVar = 2

    by: Literal["question", "reference", "answer"] = "question"
    ranked: bool = False
    unit: Literal["passage", "sentence"] = "passage"

    def __post_init__(self) -> None:
        if self.unit == "sentence" and self.by != "question":
            raise UsageError(
                f"context_precision: unit=sentence needs by=question, got by={self.by}. "
                f"Write context_precision:unit=sentence or context_precision:by={self.by}."
            )

    @property
    def needs(self) -> Needs:
        if self.by == "answer":
            return {"useful": USEFUL["answer"], "claimed": "verify_answer.claimed"}
        return {"useful": "rate_sentences.chance" if self.unit == "sentence" else USEFUL[self.by]}

    def value(self, useful: Sequence[float], claimed: bool = True) -> Ratio | float | Undefined:
        if not useful:
            return Undefined("nothing was retrieved")
        if not claimed:
            return Undefined("the answer makes no claims")
        return compute_ranked_precision(useful) if self.ranked else Ratio.count_items(useful)
