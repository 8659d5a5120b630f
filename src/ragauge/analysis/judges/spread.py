"""How far the scores of several askings of one judge lie apart."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from ragauge.analysis.results.judging import JudgeSpread
from ragauge.analysis.scores.arrays import SCORED, Columns, by_example
from ragauge.analysis.scores.summarize import summary
from ragauge.metrics.base import Metric

SAME = 1e-9     # values that differ by less are the same


def spread(metric: Metric, askings: Sequence[Columns]) -> JudgeSpread:
    """A metric's means in several askings, over the responses that all of them have scored, failed or left out.

    Args:
        metric: whose scores.
        askings: one entry a response each.
    """
    import numpy as np

    places = reduce(np.intersect1d, [one.place for one in askings])
    parts = [one.take(np.isin(one.place, places).nonzero()[0]) for one in askings]
    means = tuple(summary(metric, by_example(part)).mean for part in parts)
    scored = np.logical_and.reduce([part.status == SCORED for part in parts])
    values = np.stack([part.value[scored] for part in parts])
    changed = int((np.ptp(values, axis=0) > SAME).sum()) if values.size else 0
    return JudgeSpread(str(metric), means, changed, int(scored.sum()))
