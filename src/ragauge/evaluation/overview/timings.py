"""How long responses took and what they spent, and the bins that show it."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from math import ceil, floor, fsum, isfinite, log10
from typing import TYPE_CHECKING, NamedTuple

from ragauge.metrics.base import Metric
from ragauge.scores.arrays import ResponseIndex
from ragauge.scores.estimates import estimate_response_mean
from ragauge.scores.estimation import compute_quantiles
from ragauge.scores.gather import Visit
from ragauge.scores.results.overview import Bin, Distribution, LengthBand, MeanEstimate, Spending, Timing
from ragauge.scores.values import MetricValues

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
    Counts = npt.NDArray[np.int64]


FEW_VALUES = 6  # different values up to which each has a bin of its own
RANGE_BINS = 20  # of a metric with a range
AMOUNT_BINS = 20  # of the bulk of amounts; a little more or fewer, so that the edges are round numbers
BULK_SHARE = 0.98  # share of the amounts that decides the width; the tail beyond may be long
MAX_BINS = 40
# spans that floats cannot be cut into round parts of: all in one bin
MIN_SPAN, MAX_SPAN, MIN_RELATIVE_SPAN = 1e-290, 1e300, 1e-9


def build_exact_bins(values: Floats, counts: Counts) -> tuple[Bin, ...]:
    """One bin a value."""
    return tuple(Bin(float(v), float(v), int(n)) for v, n in zip(values, counts, strict=True))


def build_range_bins(values: Floats, counts: Counts, low: float, high: float) -> tuple[Bin, ...]:
    """Bins of equal width over a range.

    Args:
        values: different ones, within the range.
        counts: how many of each.
        low: least possible value.
        high: greatest possible value.
    """
    return _build_bins([low + (high - low) * n / RANGE_BINS for n in range(RANGE_BINS + 1)], values, counts)


def build_amount_bins(values: Floats, counts: Counts) -> tuple[Bin, ...]:
    """Bins of a round width for amounts without a range, about twenty for their bulk.

    The width is 1, 2 or 5 times a power of ten. What lies beyond 98 % of the amounts is drawn out in further bins of
    that width while there are no more than forty; a longer tail is one wider last bin that ends at the greatest.

    Args:
        values: different ones, finite, ascending.
        counts: how many of each.
    """
    import numpy as np

    if values.size == 0:
        return ()
    if values.size == 1:
        return build_exact_bins(values, counts)
    smallest, greatest = float(values[0]), float(values[-1])
    span, size = greatest - smallest, max(abs(smallest), abs(greatest))
    if not (MIN_SPAN < span < MAX_SPAN and span > MIN_RELATIVE_SPAN * size):
        return (Bin(smallest, greatest, int(counts.sum())),)
    reached = np.searchsorted(np.cumsum(counts), BULK_SHARE * counts.sum())
    bulk = float(values[min(int(reached), values.size - 1)])
    inner = bulk - smallest
    width, scale = _find_round_width(inner if inner > MIN_RELATIVE_SPAN * size and inner > MIN_SPAN else span)
    step = width * 10.0**scale
    first, last = floor(smallest / step), ceil(greatest / step)
    has_tail = last - first > MAX_BINS
    if has_tail:
        last = max(first + 1, ceil(bulk / step))
    # as decimals, so that the edges are the numbers that are shown
    edges = [float(f"{n * width}e{scale}") for n in range(first, max(last, first + 1) + 1)]
    if edges[-1] < greatest:
        edges.append(greatest)
    edges[0] = min(edges[0], smallest)
    return _build_bins(edges, values, counts)


def build_metric_bins(
    values: Floats, counts: Counts, kind: str, bounds: tuple[float, float]
) -> tuple[tuple[Bin, ...], bool]:
    """The bins of a metric's values, and whether each is one value.

    A rate has the bins 0 and 1, empty or not. Up to six different values have a bin each. A metric with a range has
    twenty bins of equal width over it, an amount those of `build_amount_bins`.
    """
    import numpy as np

    if kind == "rate" and bool(np.isin(values, (0.0, 1.0)).all()):
        counts_by_value = dict(zip(values.tolist(), counts.tolist(), strict=True))
        return tuple(Bin(mark, mark, counts_by_value.get(mark, 0)) for mark in (0.0, 1.0)), True
    if values.size <= FEW_VALUES:
        return build_exact_bins(values, counts), True
    low, high = bounds
    if kind != "amount" and isfinite(low) and isfinite(high):
        return build_range_bins(values, counts, low, high), False
    return build_amount_bins(values, counts), False


def _find_round_width(span: float) -> tuple[int, int]:
    """1, 2 or 5 and a power of ten, so that about twenty such widths make the span."""
    scale = floor(log10(span / AMOUNT_BINS))
    width_ratio = span / AMOUNT_BINS / 10.0**scale
    for width, max_ratio in ((1, 1.5), (2, 3.5), (5, 7.5)):
        if width_ratio < max_ratio:
            return width, scale
    return 1, scale + 1


def _build_bins(edges: list[float], values: Floats, counts: Counts) -> tuple[Bin, ...]:
    """Bins between edges, the last with its high."""
    import numpy as np

    bins = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, len(edges) - 2)
    sizes = np.bincount(bins, weights=counts, minlength=len(edges) - 1)
    return tuple(Bin(edges[n], edges[n + 1], int(size)) for n, size in enumerate(sizes))


def build_distributions(values: MetricValues) -> tuple[Distribution, ...]:
    """One a metric that has scored values, in the order read; its bins hold every scored response once."""
    collected = []
    for metric in values.metrics:
        bins, exact = build_metric_bins(*values.counted(str(metric)), metric.scale, metric.range)
        collected.append(Distribution(str(metric), metric.scale, bins, exact))
    return tuple(collected)


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
