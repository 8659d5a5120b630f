"""Whether a candidate may take over production's requests: from a paired comparison to cut over, ramp or stop."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ragauge.scores.results.comparison import WORSE

if TYPE_CHECKING:
    from ragauge.scores.results.comparison import MetricChange

Move = Literal["cut over", "ramp", "stop"]
RAMP_SHARES = (0.25, 0.05)  # shares of the requests at which the loss may be small enough, the larger first
MAX_RAMP_SHARE = 0.5  # share where nothing but other documents speaks against all requests
MAX_SAME_DIVERGENCE = 0.1  # JS divergence up to which the documents are the same: a tenth of them are others


@dataclass(frozen=True, slots=True)
class RetrievedDocuments:
    """What a candidate retrieves beside production, for the same questions."""

    n: int  #: questions of which both recorded their passages.
    k: int  #: passages of each that are looked at, at most.
    #: Jensen-Shannon, of how often each document is retrieved, base 2, in [0, 1]. Where a share u of what is retrieved
    #: is replaced by documents that the other never retrieves, it is u.
    divergence: float
    overlap: float  #: mean share of a question's documents that both retrieve, in [0, 1].


def compare_retrieved_documents(
    production: Sequence[Sequence[str]], challenger: Sequence[Sequence[str]], k: int
) -> RetrievedDocuments | None:
    """How alike two systems retrieve; None where neither finds anything.

    Args:
        production: production's doc_ids in order, a list a question.
        challenger: the candidate's, of the same questions.
        k: looked at, at most.

    >>> compare_retrieved_documents([["a", "b"], ["c", "d"]], [["b", "a"], ["c", "e"]], 10)
    RetrievedDocuments(n=2, k=10, divergence=0.25, overlap=0.75)
    """
    from ragauge.stats.drift import js_divergence, neighbour_overlap

    counts, counts_now = (
        Counter(doc_id for ids in doc_lists for doc_id in dict.fromkeys(ids[:k]))
        for doc_lists in (production, challenger)
    )
    every = sorted(counts | counts_now)
    divergence = js_divergence([counts[doc_id] for doc_id in every], [counts_now[doc_id] for doc_id in every])
    overlap = neighbour_overlap(production, challenger, k)
    if divergence is None:  # one of them finds nothing at all
        divergence = 1.0 if every else None
    if divergence is None or overlap is None:
        return None
    return RetrievedDocuments(len(production), k, round(divergence, 12), overlap)


@dataclass(frozen=True, slots=True)
class ShadowVerdict:
    """What to do with a candidate."""

    #: cut over: give it all requests; ramp: give it a share, and more (25, 50, 100 %) while nothing is worse; stop:
    #: none.
    move: Move
    share: float  #: of the requests that it may have now, in [0, 1]: 0, 0.05, 0.25, 0.5 or 1.
    rule: str  #: what decided, in words.


def decide_shadow(
    changes: Sequence[MetricChange],
    margin: float,
    golden: Sequence[MetricChange] = (),
    documents: RetrievedDocuments | None = None,
) -> ShadowVerdict:
    """What a paired comparison on production's own requests allows.

    Stop where a metric is worse after the correction for several. Else the loss of a metric may be as large as its
    interval reaches: where that is at most `margin` of the mean for all (of 1 − mean where lower is better), cut over;
    else the largest share of the requests at which the mean of all of them loses no more than that; where 5 % is too
    much, stop. Metrics without end, such as latency, and those without a better side decide nothing. Recall on a golden
    set decides as they do. Other documents than production's hold a candidate at half of the requests, unless golden
    recall says that they are right.

    Args:
        changes: of the candidate against production, on its requests.
        margin: the share of production's mean that may be lost, in (0, 1).
        golden: of recall on a golden set.
        documents: what both retrieve; None = not recorded.
    """
    every = (*changes, *golden)
    deciding = [
        change for change in every if change.kind in ("rate", "mean") and change.direction in ("higher", "lower")
    ]
    worse = [change.metric for change in deciding if change.verdict == WORSE]
    if worse:
        return ShadowVerdict("stop", 0.0, f"{', '.join(worse)} got worse")
    losses = [
        (_compute_loss(change), change.metric) for change in deciding if change.difference.widest_interval is not None
    ]
    if not losses:
        return ShadowVerdict("stop", 0.0, "Not enough data: no quality metric has an interval")
    loss, metric = max(losses)
    reaches = f"{metric} may have dropped by up to {loss:.1%}"
    if loss <= margin and not golden and documents is not None and documents.divergence > MAX_SAME_DIVERGENCE:
        others = f"its documents differ (JS divergence {documents.divergence:.2f}, above {MAX_SAME_DIVERGENCE:g})"
        rule = f"Nothing got worse, and {reaches}, but {others}, and no golden set confirms that they are right"
        return ShadowVerdict("ramp", MAX_RAMP_SHARE, rule)
    if loss <= margin:
        return ShadowVerdict("cut over", 1.0, f"Nothing got worse, and {reaches}; at most {margin:.1%} is allowed")
    for share in RAMP_SHARES:
        if share * loss <= margin:
            over = f"at {share:.0%} of the requests that is {share * loss:.1%} overall, at most {margin:.1%} is allowed"
            return ShadowVerdict("ramp", share, f"Nothing got worse, but {reaches}; {over}")
    return ShadowVerdict("stop", 0.0, f"Not enough data: {reaches}, too much for even 5 % of the requests. Sample more")


def _compute_loss(change: MetricChange) -> float:
    """How much may be lost, as far as the interval reaches, as a share of what there is to lose; 0 of nothing.

    That is the mean; where lower is better, 1 − mean.
    """
    interval, base = change.difference.widest_interval, change.base
    if interval is None or base is None:
        return 0.0
    high = change.direction == "higher"
    good = base if high else 1 - base
    return max(0.0, -interval.low if high else interval.high) / good if good > 0 else 0.0
