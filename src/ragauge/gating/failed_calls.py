"""What a check decides where calls of a run failed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragauge.gating.result import FailureCounts
from ragauge.gating.sample import MeanDifference, MetricLevel
from ragauge.gating.unpaired_samples import UnpairedDifference

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ragauge.comparison.score_pairs import PairedScores
    from ragauge.core.response import Run
    from ragauge.store.store_access import Store

    Mask = npt.NDArray[np.bool_]


AnySample = MeanDifference | UnpairedDifference | MetricLevel


@dataclass(frozen=True, slots=True)
class FailedCalls:
    """Examples whose call failed, in a run and in its baseline."""

    new: frozenset[str] = frozenset()  #: ids of the run's.
    #: ids of the baseline's, as the run names these examples where the two are paired.
    base: frozenset[str] = frozenset()

    def with_prefixes(self) -> FailedCalls:
        """The same by the ids of two samples that were put `rules.combine_slices`."""
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

        (n_new, few_new), (n_base, few_base), (n_both, few_both) = (
            count_without(new),
            count_without(base),
            count_without(new | base),
        )
        if not (few_both and n_both):
            return None
        either = few_new or few_base
        lost_calls = FailureCounts(
            system=n_new if few_new or not either else 0, baseline=n_base if few_base or not either else 0
        )
        return lost_calls if lost_calls.system or lost_calls.baseline else None


def _count_values(sample: AnySample) -> int:
    return sample.new.scored + sample.base.scored if isinstance(sample, UnpairedDifference) else sample.scored


def find_unanswered(store: Store, run: Run, judge_id: str | None) -> frozenset[str]:
    """Ids of the examples without a response, as the causes say, by this judge or else the last."""
    from ragauge.comparison.comparability import FAILED_CALLS_NAME

    judges = store.scores.judges(run.run_id)
    by = judge_id if judge_id is None or judge_id in judges else next(iter(judges), None)
    frame = store.causes.load_frame(run.run_id, by)
    return frozenset(frame.filter(frame["cause"] == FAILED_CALLS_NAME)["query_id"])


def find_failed_calls(
    store: Store, run: Run, base: Run | None, judge_id: str | None, paired: PairedScores | None
) -> FailedCalls:
    """Those of the run, and those of the baseline by their ids in the run where they are matched by question."""
    theirs = frozenset[str]() if base is None else find_unanswered(store, base, judge_id)
    renamed = {} if paired is None else paired.renamed
    return FailedCalls(find_unanswered(store, run, judge_id), frozenset(renamed.get(name, name) for name in theirs))
