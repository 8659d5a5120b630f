"""Where a run without a baseline is called low or high. Starting points, not targets: set your own from a baseline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, TypeVar

from ragauge.analysis.results.change import MetricChange
from ragauge.analysis.results.scorecard import Summary

Level = Literal["low", "high", "unclear"]

STARTING = "starting point"     # what they are called, everywhere that one is shown


class StartingPoint(NamedTuple):
    """A value to begin with.

    Attributes:
        value: low is wholly below it, high wholly above.
        source: BEE-30050, or ours where the literature gives none.
    """

    value: float
    source: Literal["BEE-30050", "ours"]


STARTING_POINTS: Mapping[str, StartingPoint] = {
    "faithfulness": StartingPoint(0.85, "BEE-30050"),
    "answer_relevance": StartingPoint(0.75, "BEE-30050"),
    "context_recall": StartingPoint(0.80, "BEE-30050"),
    # the article counts sentences; of five passages one may be all that there is to find, and all that is needed
    "context_precision:unit=sentence": StartingPoint(0.70, "BEE-30050"),
    "context_precision": StartingPoint(0.20, "ours"),
    "ignored_top_ranked": StartingPoint(0.30, "BEE-30050"),
    "completeness": StartingPoint(0.75, "ours"),
    "answer_correctness": StartingPoint(0.75, "ours"),
    "citation_precision": StartingPoint(0.70, "ours"),
    "invented_citations": StartingPoint(0.05, "ours"),
    "source_conflict": StartingPoint(0.10, "ours"),
    "noise_sensitivity:source=irrelevant": StartingPoint(0.10, "ours"),
    "empty_result_rate": StartingPoint(0.05, "ours"),
}
# where a metric was not measured or is unclear, this one is read, against its own point where it has one: label recall
# is context recall without a judge, precision by sentence asks of less text what precision by passage asks
STAND_INS: Mapping[str, str] = {"context_recall": "recall", "context_precision": "context_precision:unit=sentence"}
OF_LABELS = ("recall",)     # stand-ins that no judge is asked for
# metrics that are read whatever their parameters are
ANY_PARAMETER = ("no_retrieval_rate",)

Named = TypeVar("Named", Summary, MetricChange)


def level_of(summary: Summary, point: StartingPoint) -> Level:
    """Low or high where the whole interval, failed scores at either extreme included, lies on that side.

    The interval is the one with the judge's error, where that is known. Anything else is unclear: not enough data.
    """
    found = summary.widest
    if found is None or summary.mean is None or summary.low is None or summary.high is None:
        return "unclear"
    if max(found.high, summary.high) < point.value:
        return "low"
    return "high" if min(found.low, summary.low) > point.value else "unclear"


def measured(name: str, summaries: Sequence[Summary]) -> list[Summary]:
    """The summaries with a mean that speak for a metric, the best first."""
    return [summary for summary in speaks_for(name, summaries) if summary.mean is not None]


def speaks_for(name: str, found: Sequence[Named]) -> list[Named]:
    """Summaries or changes that speak for a metric, the best first: its own, at any cutoff, then its stand-in's.

    Labels come before a judge who is known to err: one whose means have an interval with the judge's error.
    """
    stand_in = STAND_INS.get(name)
    errs = any(isinstance(one, Summary) and one.judged is not None for one in found if _plain(one.metric) == name)
    order = (stand_in, name) if errs and stand_in in OF_LABELS else (name, stand_in)
    return [one for wanted in order for one in found if _plain(one.metric) == wanted]


def barren(summaries: Sequence[Summary]) -> bool:
    """Whether hardly anything relevant was handed on: precision and recall, where measured, are below 0.20."""
    known = [one.mean for name in ("context_precision", "context_recall") for one in measured(name, summaries)]
    point = STARTING_POINTS["context_precision"].value
    return bool(known) and all(mean is not None and mean < point for mean in known)


def point_of(metric: str, stands_for: str = "") -> StartingPoint | None:
    """The starting point of a metric by its printed name, else of the one that it stands for; None = there is none.

    >>> point_of("context_precision:unit=sentence"), point_of("recall@5", "context_recall")
    (StartingPoint(value=0.7, source='BEE-30050'), StartingPoint(value=0.8, source='BEE-30050'))
    """
    return STARTING_POINTS.get(_plain(metric)) or STARTING_POINTS.get(stands_for)


def _plain(metric: str) -> str:
    """A printed name without its cutoff, and without a parameter that it always has and that changes no meaning."""
    plain = metric.partition("@")[0]
    head = plain.partition(":")[0]
    return head if head in ANY_PARAMETER else plain


def estimate(summary: Summary) -> str:
    """A metric with its mean and interval: recall@5 0.41 [0.33, 0.49]; with the judge's error where that is known."""
    if summary.mean is None:
        return summary.metric
    found = summary.widest
    said = " with the judge's error" if summary.judged is not None else ""
    ends = "" if found is None else f"{said} [{found.low:.2f}, {found.high:.2f}]"
    return f"{summary.metric} {summary.mean:.2f}{',' if said else ''}{ends}"
