"""How long responses took, and what they spent.

Quality by the length of the context that the generator saw.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from math import fsum, isfinite
from typing import TYPE_CHECKING, NamedTuple

from ragauge.evaluation.overview.bins import FEW_VALUES, build_amount_bins, build_exact_bins
from ragauge.metrics.base import Metric
from ragauge.scores.arrays import ResponseIndex
from ragauge.scores.estimates import estimate_response_mean
from ragauge.scores.estimation import compute_quantiles
from ragauge.scores.gather import Visit
from ragauge.scores.results.overview import LengthBand, MeanEstimate, Spending, Timing
from ragauge.scores.values import MetricValues

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

TOTAL = "total"
QUANTILES = (0.5, 0.95, 0.99)


class TimingGatherer:
    """Takes in the latency of each response by stage: twelve bytes for each number recorded."""

    def __init__(self) -> None:
        self._places: dict[str, array[int]] = {}
        self._times: dict[str, array[float]] = {}

    def add(self, visit: Visit) -> None:
        """Takes in a response. Where no total is recorded it is the sum of the stages, as of the metric `latency`."""
        recorded = visit.response.latency_ms
        if not recorded:
            return
        for stage, milliseconds in recorded.items():
            self._add_time(stage, visit.place, milliseconds)
        if TOTAL not in recorded:
            self._add_time(TOTAL, visit.place, sum(recorded.values()))

    def _add_time(self, stage: str, index: int, milliseconds: float) -> None:
        if isfinite(milliseconds):
            self._places.setdefault(stage, array("i")).append(index)
            self._times.setdefault(stage, array("d")).append(milliseconds)

    def of(self, stage: str, indices: Iterable[int]) -> dict[int, float]:
        """Place -> milliseconds of a stage, of those of these responses that recorded it."""
        requested = set(indices)
        recorded = zip(self._places.get(stage, ()), self._times.get(stage, ()), strict=True)
        return {index: milliseconds for index, milliseconds in recorded if index in requested}

    def find_stage_times(self, indices: Iterable[int]) -> dict[int, dict[str, float]]:
        """Place -> stage -> milliseconds, of those of these responses that recorded any."""
        by_index: dict[int, dict[str, float]] = {}
        requested = set(indices)
        for stage in self._times:
            for index, milliseconds in self.of(stage, requested).items():
                by_index.setdefault(index, {})[stage] = milliseconds
        return by_index

    def timings(self, index: ResponseIndex) -> tuple[Timing, ...]:
        """One a stage: the total first, then the others by median, the slowest first.

        Quantiles are interpolated between values; with weights, the least value that reaches the share.
        """
        measured = [self._build_timing(stage, index) for stage in self._times]
        return tuple(sorted(measured, key=lambda timing: (timing.stage != TOTAL, -timing.p50, timing.stage)))

    def _build_timing(self, stage: str, index: ResponseIndex) -> Timing:
        import numpy as np

        times = np.array(self._times[stage])
        weights = None if index.weight is None else index.weight[np.array(self._places[stage])]
        p50, p95, p99 = compute_quantiles(
            times, QUANTILES, weights if weights is not None and weights.sum() > 0 else None
        )
        different = np.unique(times, return_counts=True)
        bins = build_exact_bins(*different) if different[0].size <= FEW_VALUES else build_amount_bins(*different)
        return Timing(stage, int(times.size), p50, p95, p99, bins)


class SpendingGatherer:
    """Takes in tokens and cost of each response: eight bytes for each cost recorded."""

    def __init__(self) -> None:
        self._tokens: dict[str, int] = {}
        self._counted = 0
        self._costs = array("d")

    def add(self, visit: Visit) -> None:
        """Takes in a response."""
        response = visit.response
        if response.tokens:
            self._counted += 1
            for kind, count in response.tokens.items():
                self._tokens[kind] = self._tokens.get(kind, 0) + count
        if response.cost is not None:
            self._costs.append(response.cost)

    def spending(self) -> Spending | None:
        """Totals over what was recorded; None where nothing was. Their sum does not depend on the order."""
        if not self._counted and not self._costs:
            return None
        tokens = {kind: float(self._tokens[kind]) for kind in sorted(self._tokens)}
        return Spending(tokens, self._counted, fsum(self._costs) if self._costs else None, len(self._costs))


TOKENS, CHARACTERS = "context_tokens", "context_characters"  # the metric, and what stands in for it
QUALITY = ("faithfulness", "answer_correctness", "answer_relevance")
QUARTERS = (0.25, 0.5, 0.75)


class LengthGatherer:
    """Takes in the characters of each context: sixteen bytes a response.

    Counting tokens is slow. So lengths are in tokens where the metric `context_tokens` was measured, else in characters
    (English prose has four or five to a token).
    """

    def __init__(self) -> None:
        self._places = array("q")
        self._characters = array("q")

    def add(self, visit: Visit) -> None:
        """Takes in a response; one without the texts of its passages is left out."""
        response = visit.response
        if response.error is not None or not response.has_passage_texts:
            return
        self._places.append(visit.place)
        self._characters.append(sum(len(passage.text or "") for passage in response.passages or ()))

    def lengths(self, values: MetricValues) -> ContextLengths:
        """The length of every context by place, NaN where not known, and what it is counted in."""
        import numpy as np

        if TOKENS in values:
            return ContextLengths(TOKENS, values.of(TOKENS))
        characters = np.full(len(values.index), np.nan)
        characters[np.array(self._places, dtype=np.int64)] = self._characters
        return ContextLengths(CHARACTERS, characters)


class ContextLengths(NamedTuple):
    """Lengths of contexts."""

    name: str  #: context_tokens or context_characters.
    of: npt.NDArray[np.float64]  #: shape (responses,), NaN = not known.


def build_length_bands(
    values: MetricValues, context_lengths: ContextLengths, level: float = 0.95
) -> tuple[LengthBand, ...]:
    """Quarters of the responses by context length, the shortest first, each with the means of quality.

    Equal lengths stay together, so that quarters may differ in size, and fewer than four are left where many are
    equal. () where no length or no quality is known.

    Args:
        values: every metric's values.
        context_lengths: how long each context is.
        level: of the intervals.
    """
    import numpy as np

    quality_metrics = [metric for metric in values.metrics if metric.name() in QUALITY]
    indices = np.flatnonzero(np.isfinite(context_lengths.of))
    if not indices.size or not quality_metrics:
        return ()
    lengths, unit = context_lengths.of[indices], context_lengths.name.removeprefix("context_")
    bounds = np.unique(np.quantile(lengths, QUARTERS, method="inverted_cdf"))
    bands = np.searchsorted(bounds, lengths, side="left")
    rows = []
    for band in np.unique(bands):
        in_band = bands == band
        means = {str(metric): _estimate_mean(values, metric, indices[in_band], level) for metric in quality_metrics}
        low, high = int(lengths[in_band].min()), int(lengths[in_band].max())
        rows.append(LengthBand(low, high, int(in_band.sum()), means, unit))
    return tuple(rows)


def _estimate_mean(values: MetricValues, metric: Metric, indices: npt.NDArray[np.intp], level: float) -> MeanEstimate:
    import numpy as np

    scores = values.of(str(metric))[indices]
    scored = np.isfinite(scores)
    return estimate_response_mean(
        scores[scored], indices[scored], values.index, kind=metric.scale, bounds=metric.range, level=level
    )
