"""The gaps of a run as plain values; `gaps` makes them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ragauge.scores.results.overview import MeanEstimate


@dataclass(frozen=True, slots=True)
class Oracle:
    """Own retrieval beside the labelled passages, over the examples that both scored."""

    own: float  #: the mean on own retrieval.
    oracle: float  #: the mean on the labelled passages.
    gap: MeanEstimate  #: oracle − own: what is lost to retrieval.
    rest: MeanEstimate  #: best − oracle: what is lost to generation.
    failed: int = 0  #: examples left out because a score failed on one side.
    undefined: int = 0  #: examples left out because a score is undefined on one side, such as that of a refusal.


@dataclass(frozen=True, slots=True)
class ClosedBook:
    """Own retrieval beside no passages, over the examples that both scored."""

    own: float  #: the mean on own retrieval.
    alone: MeanEstimate  #: the mean without passages: what the model knew by itself, with its interval.
    gap: MeanEstimate  #: own − without: what retrieval buys.
    failed: int = 0  #: examples left out because a score failed on one side.
    undefined: int = 0  #: examples left out because a score is undefined on one side, such as that of a refusal.


@dataclass(frozen=True, slots=True)
class MetricGaps:
    """One metric's gaps; None where there is no such run, or no pair."""

    metric: str  #: printed name.
    direction: str  #: higher or lower is better.
    oracle: Oracle | None = None  #: against the labelled passages.
    closed_book: ClosedBook | None = None  #: against no passages.


@dataclass(frozen=True, slots=True)
class Gaps:
    """The gaps of a run."""

    run: str  #: name of the run on its own retrieval.
    oracle: str  #: name of the run on the labelled passages; "" for none.
    closed_book: str  #: name of the run without passages; "" for none.
    metrics: tuple[MetricGaps, ...]  #: overall.
    #: column -> value -> the same, of values with at least 5 pairs.
    segments: Mapping[str, Mapping[str, tuple[MetricGaps, ...]]]
    notes: tuple[str, ...] = ()  #: why something is not here.
