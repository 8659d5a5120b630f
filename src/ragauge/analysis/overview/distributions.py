"""How the scores of each metric lie."""

from __future__ import annotations

from ragauge.analysis.overview.bins import metric_bins
from ragauge.analysis.results.overview import Distribution
from ragauge.analysis.scores.values import Values


def distributions(values: Values) -> tuple[Distribution, ...]:
    """One a metric that has scored values, in the order read; its bins hold every scored response once."""
    drawn = []
    for metric in values.metrics:
        bins, exact = metric_bins(*values.counted(str(metric)), metric.scale, metric.range)
        drawn.append(Distribution(str(metric), metric.scale, bins, exact))
    return tuple(drawn)
