"""What a check lacks: scores that are missing and why, and what it decides on where calls of a run failed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from ragauge.gating.compute.sample import MeanDifference
from ragauge.gating.compute.unpaired_samples import AnySample, UnpairedDifference
from ragauge.gating.result import FailureCounts
from ragauge.metrics.reasons import NOT_JUDGED, SYSTEM_FAILED
from ragauge.scores.arrays import FAILED, NOT_APPLICABLE, NOT_READ

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ragauge.gating.compute.slices import Slices
    from ragauge.scores.arrays import Columns

    Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class FailedCalls:
    """Examples whose call failed, in a run and in its baseline."""

    new: frozenset[str] = frozenset()  #: ids of the run's.
    #: ids of the baseline's, as the run names these examples where the two are paired.
    base: frozenset[str] = frozenset()

    def with_prefixes(self) -> FailedCalls:
        """The same by the ids of two samples that were put `slices.combine_slices`."""
        new, base = (frozenset(f"{prefix} {name}" for name in getattr(self, prefix)) for prefix in ("new", "base"))
        return FailedCalls(new, base)

    def find_too_many(
        self, make: Callable[[Mask], AnySample], mask: Mask, query_ids: Sequence[str], min_n: int
    ) -> FailureCounts | None:
        """How many of a check's values are of failed calls, where fewer than `min_n` examples are left without these.

        Args:
            make: examples, as a mask -> what the check decides on.
            mask: the examples of the check.
            query_ids: of all examples, in the order of the mask.
            min_n: fewest examples to decide on.

        Returns:
            The counts of the run or of the baseline, whichever leaves too few, of both where only both together do;
            None where enough calls were answered, or no failed one has a value.
        """
        import numpy as np

        new, base = (
            np.array([name in failed for name in query_ids], dtype=bool) & mask if failed else np.zeros_like(mask)
            for failed in (self.new, self.base)
        )
        if not (new.any() or base.any()):
            return None
        n_values = _count_values(make(mask))

        def count_without(failed: Mask) -> tuple[int, bool]:
            """Calls without a value, and whether fewer than min_n have one."""
            answered = make(mask & ~failed)
            return n_values - _count_values(answered), answered.size < min_n

        of_run, of_base, (n_both, few_both) = map(count_without, (new, base, new | base))
        if not (few_both and n_both):
            return None
        either = of_run[1] or of_base[1]
        system, baseline = (n if few or not either else 0 for n, few in (of_run, of_base))
        return FailureCounts(system=system, baseline=baseline) if system or baseline else None


def _count_values(sample: AnySample) -> int:
    return sample.new.scored + sample.base.scored if isinstance(sample, UnpairedDifference) else sample.scored


def is_system_failure(reason: str) -> bool:
    """Whether a score failed since the system gave no response.

    >>> is_system_failure("the system failed: time-out"), is_system_failure("no verdict on verify_answer.claims")
    (True, False)
    """
    return SYSTEM_FAILED.parse_reason(reason) is not None


def is_never_judged(reason: str) -> bool:
    """Whether a score is missing since the judge never judged the example.

    >>> is_never_judged("not judged by local-1"), is_never_judged("no verdict on verify_answer.claims")
    (True, False)
    """
    return NOT_JUDGED.parse_reason(reason) is not None


class MissingScores:
    """One metric's scores of the run that are missing. They are read when they are first asked for.

    Args:
        columns: the metric's scores, one entry an example; None where it has none.
        own: slices in the numbering of `columns`.
        asked: slices in the numbering that is asked by.
    """

    def __init__(self, columns: Callable[[], Columns | None], own_slices: Slices, asked_slices: Slices) -> None:
        self._columns, self._own, self._asked = columns, own_slices, asked_slices

    def lost(self, sample: AnySample, mask: Mask) -> FailureCounts | None:
        """Whose failures the failed scores of a sample are; None where none failed."""
        import numpy as np

        if not sample.failed:
            return None
        own_mask = mask
        if isinstance(sample, MeanDifference):
            own_mask = np.zeros_like(mask)
            own_mask[sample.pairs.failed.query] = True
        reasons = self._count_reasons(FAILED, own_mask)
        system = sum(count for reason, count in reasons.items() if is_system_failure(reason))
        unjudged = sum(count for reason, count in reasons.items() if is_never_judged(reason))
        judge = sum(reasons.values()) - system - unjudged
        return FailureCounts(system, judge, sample.failed - system - judge - unjudged, unjudged)

    def not_read(self, mask: Mask) -> tuple[int, str]:
        """How many examples' texts the judge cannot read, and why."""
        reasons = self._count_reasons(NOT_READ, mask)
        return sum(reasons.values()), max(reasons, key=lambda reason: reasons[reason], default="")

    def count_inapplicable(self, mask: Mask) -> tuple[int, str]:
        """How many examples the metric does not apply to, and why."""
        reasons = self._count_reasons(NOT_APPLICABLE, mask)
        commonest = max(reasons, key=lambda reason: reasons[reason], default="")
        return sum(reasons.values()), commonest if len(reasons) < 2 else f"mostly: {commonest}"

    def _count_reasons(self, status: int, mask: Mask) -> dict[str, int]:
        """Reason -> of how many examples with this status."""
        import numpy as np

        read = self._loaded_columns
        if read is None:
            return {}
        columns, query = read
        numbers = columns.reason[(columns.status == status) & (query >= 0) & mask[query]]
        counted: dict[str, int] = {}
        for number, count in zip(*np.unique(numbers, return_counts=True), strict=True):
            reason = columns.reasons[int(number)]
            counted[reason] = counted.get(reason, 0) + int(count)
        return counted

    @cached_property
    def _loaded_columns(self) -> tuple[Columns, npt.NDArray[np.int64]] | None:
        """The scores, and the number of each one's example as it is asked by; -1 = it has none."""
        import numpy as np

        rows = self._columns()
        if rows is None:
            return None
        if self._own.query_ids == self._asked.query_ids:
            return rows, rows.query
        number_of = {query_id: number for number, query_id in enumerate(self._asked.query_ids)}
        numbers = np.array([number_of.get(query_id, -1) for query_id in self._own.query_ids], dtype=np.int64)
        return rows, numbers[rows.query]
