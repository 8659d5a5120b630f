"""Why examples have no score: the system gave no response, a judge call failed, or the metric does not apply."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

from ragauge.analysis.scores.arrays import FAILED, NOT_APPLICABLE
from ragauge.analysis.scores.known import NOT_JUDGED
from ragauge.gating.result import Lost
from ragauge.gating.sample import MeanDifference, MetricLevel
from ragauge.gating.unpaired import Unpaired

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ragauge.analysis.scores.arrays import Columns
    from ragauge.gating.slices import Slices

    Mask = npt.NDArray[np.bool_]

OF_SYSTEM = "the system failed: "     # how `metrics.facts` begins the reason of a score that failed with its response


def of_system(reason: str) -> bool:
    """Whether a score failed since the system gave no response.

    >>> of_system("the system failed: time-out"), of_system("no verdict on verify_answer.claims")
    (True, False)
    """
    return reason.startswith(OF_SYSTEM)


def never_judged(reason: str) -> bool:
    """Whether a score is missing since the judge never judged the example.

    >>> never_judged("not judged by local-1"), never_judged("no verdict on verify_answer.claims")
    (True, False)
    """
    return reason.startswith(NOT_JUDGED)


class Missing:
    """One metric's scores of the run that are missing. They are read when they are first asked for.

    Args:
        columns: the metric's scores, one entry an example; None where it has none.
        own: slices in the numbering of `columns`.
        asked: slices in the numbering that is asked by.
    """

    def __init__(self, columns: Callable[[], Columns | None], own: Slices, asked: Slices) -> None:
        self._columns, self._own, self._asked = columns, own, asked

    def lost(self, sample: MeanDifference | Unpaired | MetricLevel, mask: Mask) -> Lost | None:
        """Whose failures the failed scores of a sample are; None where none failed."""
        import numpy as np

        if not sample.failed:
            return None
        mine = mask
        if isinstance(sample, MeanDifference):
            mine = np.zeros_like(mask)
            mine[sample.pairs.failed.query] = True
        reasons = self._reasons(FAILED, mine)
        system = sum(count for reason, count in reasons.items() if of_system(reason))
        unjudged = sum(count for reason, count in reasons.items() if never_judged(reason))
        judge = sum(reasons.values()) - system - unjudged
        return Lost(system, judge, sample.failed - system - judge - unjudged, unjudged)

    def inapplicable(self, mask: Mask) -> tuple[int, str]:
        """How many examples the metric does not apply to, and why."""
        reasons = self._reasons(NOT_APPLICABLE, mask)
        most = max(reasons, key=lambda reason: reasons[reason], default="")
        return sum(reasons.values()), most if len(reasons) < 2 else f"mostly: {most}"

    def _reasons(self, status: int, mask: Mask) -> dict[str, int]:
        """Reason -> of how many examples with this status."""
        import numpy as np

        read = self._read
        if read is None:
            return {}
        found, query = read
        numbers = found.reason[(found.status == status) & (query >= 0) & mask[query]]
        counted: dict[str, int] = {}
        for number, count in zip(*np.unique(numbers, return_counts=True), strict=True):
            reason = found.reasons[int(number)]
            counted[reason] = counted.get(reason, 0) + int(count)
        return counted

    @cached_property
    def _read(self) -> tuple[Columns, npt.NDArray[np.int64]] | None:
        """The scores, and the number of each one's example as it is asked by; -1 = it has none."""
        import numpy as np

        found = self._columns()
        if found is None:
            return None
        if self._own.query_ids == self._asked.query_ids:
            return found, found.query
        place = {query_id: number for number, query_id in enumerate(self._asked.query_ids)}
        numbers = np.array([place.get(query_id, -1) for query_id in self._own.query_ids], dtype=np.int64)
        return found, numbers[found.query]
