"""Every named value of a segment with its examples, the small ones marked, the same in every report."""

from __future__ import annotations

from dataclasses import dataclass

from ragauge.rendering.words import line
from ragauge.scores.results.scorecard import ScorecardData
from ragauge.scores.segments import FEWEST, OTHER

TOO_FEW = "too few"


@dataclass(frozen=True, slots=True)
class Sizes:
    """The named values of one segment column, most examples first.

    Attributes:
        column: its name.
        enough: (value, examples) of those with 5 or more.
        few: of the others.
        together: the small ones stand together as "(other)" in tables of means.
    """

    column: str
    enough: tuple[tuple[str, int], ...]
    few: tuple[tuple[str, int], ...]
    together: bool

    @property
    def words(self) -> str:
        """In one line: type: lookup 40, howto 38; too few: odd 4, rare 3 (together as (other))."""
        parts = [_listed(self.enough)] if self.enough else []
        if self.few:
            parts.append(f"{TOO_FEW}: {_listed(self.few)}{f' (together as {OTHER})' if self.together else ''}")
        return f"{line(self.column)}: {'; '.join(parts)}"


def sizes(card: ScorecardData) -> list[Sizes]:
    """One a declared column, in the order of the columns."""
    counted = []
    for column, values in card.named.items():
        order = sorted(values.items(), key=lambda item: (-item[1], item[0]))
        enough, few = ([item for item in order if (item[1] < FEWEST) is small] for small in (False, True))
        counted.append(Sizes(column, tuple(enough), tuple(few), OTHER in card.segments.get(column, {})))
    return counted


def counted(n: int) -> str:
    """A number of examples of one value, marked where it is too small."""
    return f"{n:,} {TOO_FEW}" if n < FEWEST else f"{n:,}"


def _listed(values: tuple[tuple[str, int], ...]) -> str:
    return ", ".join(f"{line(value)} {n:,}" for value, n in values)
