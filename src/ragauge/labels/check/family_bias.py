"""Whether a judge favours the answers of some family of systems: judge less people, family by family."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragauge.scores.estimation import interval_of_gap

if TYPE_CHECKING:
    from ragauge.scores.verdict_pairs import PairedCases
    from ragauge.stats.weighted import Interval

FEWEST = 10  # verdicts of a family below which nothing is said of it


@dataclass(frozen=True, slots=True, eq=False)
class FamilyGap:
    """How much more the judge favours one family than all others.

    Attributes:
        family: which.
        pairs: judge's and people's verdicts on it.
        others: the same elsewhere.
        chosen: families that it was chosen from; its interval is as much wider.
    """

    family: str
    pairs: PairedCases[Any]
    others: PairedCases[Any]
    chosen: int

    @property
    def value(self) -> float:
        """Mean of judge less people in the family, less that elsewhere."""
        (new, base), (other_new, other_base) = self.pairs.means, self.others.means
        return (new - base) - (other_new - other_base)

    def at(self, level: float) -> Interval | None:
        """The interval of the value, by Bonferroni over the families that it was chosen from."""
        return interval_of_gap(self.pairs.samples(), self.others.samples(), 1 - (1 - level) / self.chosen)


def family_gap(families: Sequence[str], pairs: PairedCases[Any], own: str = "") -> FamilyGap | None:
    """The family that is favoured most, or `own`, against all others; None where there are no two of 10 verdicts.

    Args:
        families: of each case; "" = not known, which is left out.
        pairs: judge's and people's verdicts, case by case.
        own: the family that is looked at; "" = the one with the greatest gap.
    """
    counts = Counter(name for name in families if name)
    names = sorted(name for name, count in counts.items() if FEWEST <= count <= counts.total() - FEWEST)
    if not names or (own and own not in names):
        return None

    def gap(name: str) -> FamilyGap:
        mine = [place for place, one in enumerate(families) if one == name]
        others = [place for place, one in enumerate(families) if one and one != name]
        # of two the gap of one is that of the other turned round: nothing was chosen
        return FamilyGap(name, pairs.among(mine), pairs.among(others), 1 if own or len(counts) < 3 else len(names))

    return gap(own) if own else max(map(gap, names), key=lambda one: one.value)
