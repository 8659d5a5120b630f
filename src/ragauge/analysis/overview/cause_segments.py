"""Which causes stand out in which segment."""

from __future__ import annotations

from collections.abc import Mapping

from ragauge.analysis.scores.failed import FailedResponses
from ragauge.analysis.scores.segments import Segments

CauseCounts = Mapping[str, Mapping[str, Mapping[str, int]]]


def causes_by_segment(
    failed: FailedResponses, segments: Segments, shown: Mapping[str, Mapping[str, object]]
) -> CauseCounts:
    """Column -> value -> cause -> failed examples, over the failed examples of a run.

    An example of several failed repeats counts once, as in the causes of the whole run; so the counts of a column
    sum to the failed examples.

    Args:
        failed: the failed responses.
        segments: tidy, of the same run.
        shown: column -> value -> anything, as the scorecard shows segments: its columns and their order are kept.

    Returns:
        The values in the order shown, also those where nothing failed; the causes of each most frequent first.
    """
    import numpy as np

    mine = failed.by_example()
    columns = segments.by_number(mine.index.query_ids)
    by_column: dict[str, dict[str, dict[str, int]]] = {}
    for name, values in shown.items():
        labels, cells = columns[name].take(mine.query), {value: dict[str, int]() for value in values}
        for number, value in enumerate(labels.values):
            counts = mine.cause.take(np.flatnonzero(labels.codes == number)).counts()
            pairs = sorted(zip(mine.cause.values, counts, strict=True), key=lambda pair: (-pair[1], pair[0]))
            known = {cause: count for cause, count in pairs if count}
            if value is not None and known:
                cells.setdefault(value, {}).update(known)
        by_column[name] = cells
    return by_column
