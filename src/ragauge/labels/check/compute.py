"""Checks of a judge against labels, and whether it favors a family of systems."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragauge.scores.estimation import compute_gap_interval

if TYPE_CHECKING:
    from ragauge.scores.verdict_pairs import PairedCases
    from ragauge.stats.weighted import Interval


MIN_FAMILY_VERDICTS = 10  # verdicts of a family below which nothing is said of it


@dataclass(frozen=True, slots=True, eq=False)
class FamilyGap:
    """How much more the judge favours one family than all others."""

    family: str  #: which.
    pairs: PairedCases[Any]  #: judge's and people's verdicts on it.
    others: PairedCases[Any]  #: the same elsewhere.
    chosen: int  #: families that it was chosen from; its interval is as much wider.

    @property
    def value(self) -> float:
        """Mean of judge less people in the family, less that elsewhere."""
        (new, base), (other_new, other_base) = self.pairs.means, self.others.means
        return (new - base) - (other_new - other_base)

    def at(self, level: float) -> Interval | None:
        """The interval of the value, by Bonferroni over the families that it was chosen from."""
        return compute_gap_interval(
            self.pairs.build_samples(), self.others.build_samples(), 1 - (1 - level) / self.chosen
        )


def find_family_gap(families: Sequence[str], pairs: PairedCases[Any], judge_family: str = "") -> FamilyGap | None:
    """The family that is favored most, or `judge_family`, against all others.

    None where no two families have 10 verdicts.

    Args:
        families: of each case; "" = not known, which is left out.
        pairs: judge's and people's verdicts, case by case.
        judge_family: the family that is looked at; "" = the one with the greatest gap.
    """
    counts = Counter(name for name in families if name)
    names = sorted(
        name for name, count in counts.items() if MIN_FAMILY_VERDICTS <= count <= counts.total() - MIN_FAMILY_VERDICTS
    )
    if not names or (judge_family and judge_family not in names):
        return None

    def build_gap(name: str) -> FamilyGap:
        """The gap of one family of systems compared with the others."""
        family_indices = [index for index, family in enumerate(families) if family == name]
        others = [index for index, family in enumerate(families) if family and family != name]
        # of two the gap of one is that of the other turned round: nothing was chosen
        return FamilyGap(
            name, pairs.among(family_indices), pairs.among(others), 1 if judge_family or len(counts) < 3 else len(names)
        )

    return build_gap(judge_family) if judge_family else max(map(build_gap, names), key=lambda family: family.value)
