"""Verdicts of a probe as pairs: what the change did, beside what the judge does by itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from ragauge.scores.estimation import ScoreSample, compute_difference_interval, compute_mean_interval

if TYPE_CHECKING:
    from ragauge.stats.weighted import Interval

SUPPORTED = "supported"
BISECTION_STEPS = 24  # halvings of the search for a level: to 1e-7


class JudgedTwice(Protocol):
    """A case with the judge's verdict, a second one on the same text, and one on the changed text."""

    @property
    def example(self) -> str:
        """What the case is of."""

    @property
    def base(self) -> str:
        """The verdict; "" = none."""

    @property
    def again(self) -> str:
        """The verdict when asked a second time."""

    @property
    def changed(self) -> str:
        """The verdict on the changed text."""

    @property
    def human(self) -> str:
        """What people say; "" = nothing."""


Case = TypeVar("Case", bound=JudgedTwice)


def _compare_supported(case: JudgedTwice) -> tuple[bool, bool] | None:
    """Only what the judge called supported before: there a verdict can show that it saw the change."""
    return (case.changed == SUPPORTED, case.again != SUPPORTED) if case.base == SUPPORTED else None


def _compare_with_people(case: JudgedTwice) -> tuple[bool, bool] | None:
    """Only verdicts that the judge gave twice: a wavering judge errs towards the middle without favouring anything."""
    if not case.human or case.base != case.again:
        return None
    return case.base == SUPPORTED, case.human == SUPPORTED


COMPARISONS: dict[str, Callable[[JudgedTwice], tuple[bool, bool] | None]] = {
    "again": lambda case: (case.base != case.again, False),
    "flip": lambda case: (case.base != case.changed, case.base != case.again),
    "support": _compare_supported,
    "rise": lambda case: (case.changed == SUPPORTED, case.base == SUPPORTED),
    "people": _compare_with_people,
    "families": _compare_with_people,
}


@dataclass(frozen=True, slots=True, eq=False)
class PairedCases(Generic[Case]):
    """The cases that count, each with both sides of its comparison."""

    cases: tuple[Case, ...]  #: in the order given.
    new: tuple[float, ...]  #: 1 where what must hold does not; of labels, where the judge says supported.
    #: 1 where the judge's second asking about the unchanged text differs likewise; of labels, where people say
    #: supported.
    base: tuple[float, ...]
    without: int  #: cases that lack a verdict.

    @classmethod
    def of(cls, compares: str, cases: Sequence[Case]) -> PairedCases[Case]:
        """Both sides of every case.

        Args:
            compares: again = the second verdict differs; flip = the changed text's differs; support = what was
                supported still is; rise = supported now, beside before; people, families = supported by the judge,
                beside by people.
            cases: of one probe.
        """
        complete = [case for case in cases if case.base and case.again and case.changed]
        read = [(case, sides) for case in complete if (sides := COMPARISONS[compares](case)) is not None]
        return cls(
            tuple(case for case, _ in read),
            tuple(float(sides[0]) for _, sides in read),
            tuple(float(sides[1]) for _, sides in read),
            len(cases) - len(complete),
        )

    @property
    def clusters(self) -> tuple[str, ...]:
        """What each case is of."""
        return tuple(case.example for case in self.cases)

    @property
    def means(self) -> tuple[float, float]:
        """Of both sides, of at least one case."""
        return sum(self.new) / len(self.new), sum(self.base) / len(self.base)

    def among(self, indices: Sequence[int]) -> PairedCases[Case]:
        """Some of the cases, by place."""
        new, base = (tuple(column[index] for index in indices) for column in (self.new, self.base))
        return PairedCases(tuple(self.cases[index] for index in indices), new, base, 0)

    def build_samples(self) -> tuple[ScoreSample, ScoreSample]:
        """Both sides; cases of one example depend on each other."""
        import numpy as np

        groups = np.unique(self.clusters, return_inverse=True)[1]
        clusters = groups if groups.max() + 1 < groups.size else None
        columns = map(np.asarray, (self.new, self.base))
        new, base = (ScoreSample(column, "rate", (0.0, 1.0), None, clusters) for column in columns)
        return new, base


def compute_excess_interval(pairs: PairedCases[Case], level: float) -> Interval | None:
    """The interval of the mean of new less base; of new alone where base is 0 by definition."""
    new, base = pairs.build_samples()
    return compute_difference_interval(new, base, level) if any(pairs.base) else compute_mean_interval(new, level)


def find_min_alpha(interval_at: Callable[[float], Interval | None], limit: float, two_sided: bool) -> float:
    """The least alpha whose interval at level 1 - alpha lies beyond the limit: a p-value of the interval.

    Args:
        interval_at: level -> interval; a greater level gives an interval that holds the others.
        limit: the value lies beyond where it exceeds it.
        two_sided: or where it lies below its negative.
    """

    def is_beyond(alpha: float) -> bool:
        interval = interval_at(1 - alpha)
        return interval is not None and (interval.low > limit or (two_sided and interval.high < -limit))

    low, high = 0.0, 1.0 - 1e-6
    if not is_beyond(high):
        return 1.0
    for _ in range(BISECTION_STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if is_beyond(middle) else (middle, high)
    return high
