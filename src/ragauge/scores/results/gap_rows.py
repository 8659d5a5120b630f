"""The gaps of a run as plain values; `gaps` makes them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ragauge.scores.results.overview import MeanEstimate


@dataclass(frozen=True, slots=True)
class Oracle:
    """Own retrieval beside the labelled passages, over the examples that both scored.

    Attributes:
        own: the mean on own retrieval.
        oracle: the mean on the labelled passages.
        gap: oracle − own: what is lost to retrieval.
        rest: best − oracle: what is lost to generation.
        failed: examples left out because a score failed on one side.
        undefined: examples left out because a score is undefined on one side, such as that of a refusal.
    """

    own: float
    oracle: float
    gap: MeanEstimate
    rest: MeanEstimate
    failed: int = 0
    undefined: int = 0


@dataclass(frozen=True, slots=True)
class ClosedBook:
    """Own retrieval beside no passages, over the examples that both scored.

    Attributes:
        own: the mean on own retrieval.
        alone: the mean without passages: what the model knew by itself, with its interval.
        gap: own − without: what retrieval buys.
        failed: examples left out because a score failed on one side.
        undefined: examples left out because a score is undefined on one side, such as that of a refusal.
    """

    own: float
    alone: MeanEstimate
    gap: MeanEstimate
    failed: int = 0
    undefined: int = 0


@dataclass(frozen=True, slots=True)
class MetricGaps:
    """One metric's gaps; None where there is no such run, or no pair.

    Attributes:
        metric: printed name.
        direction: higher or lower is better.
        oracle: against the labelled passages.
        closed_book: against no passages.
    """

    metric: str
    direction: str
    oracle: Oracle | None = None
    closed_book: ClosedBook | None = None


@dataclass(frozen=True, slots=True)
class Gaps:
    """The gaps of a run.

    Attributes:
        run: name of the run on its own retrieval.
        oracle: name of the run on the labelled passages; "" for none.
        closed_book: name of the run without passages; "" for none.
        metrics: overall.
        segments: column -> value -> the same, of values with at least 5 pairs.
        notes: why something is not here.
    """

    run: str
    oracle: str
    closed_book: str
    metrics: tuple[MetricGaps, ...]
    segments: Mapping[str, Mapping[str, tuple[MetricGaps, ...]]]
    notes: tuple[str, ...] = ()
