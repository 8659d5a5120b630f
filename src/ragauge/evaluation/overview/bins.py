"""How numbers are put into bins that people can read.

How the scores of each metric lie.
"""

from __future__ import annotations

from math import ceil, floor, isfinite, log10
from typing import TYPE_CHECKING

from ragauge.scores.results.overview import Bin, Distribution
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
