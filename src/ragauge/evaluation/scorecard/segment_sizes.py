"""Every named value of a segment with its examples, the small ones marked, the same in every report."""

from __future__ import annotations

from dataclasses import dataclass

from ragauge.rendering.words import to_line
from ragauge.scores.results.scorecard import ScorecardData
from ragauge.scores.segments import MIN_SEGMENT_EXAMPLES, OTHER

TOO_FEW = "too few"


@dataclass(frozen=True, slots=True)
class SegmentSizes:
    """The named values of one segment column, most examples first."""

    column: str  #: its name.
    enough: tuple[tuple[str, int], ...]  #: (value, examples) of those with 5 or more.
    few: tuple[tuple[str, int], ...]  #: of the others.
    together: bool  #: the small ones stand together as "(other)" in tables of means.

    @property
    def words(self) -> str:
        """In one line: type: lookup 40, howto 38; too few: odd 4, rare 3 (together as (other))."""
        phrases = [_format_values(self.enough)] if self.enough else []
        if self.few:
            phrases.append(f"{TOO_FEW}: {_format_values(self.few)}{f' (grouped as {OTHER})' if self.together else ''}")
        return f"{to_line(self.column)}: {'; '.join(phrases)}"


def list_sizes(card: ScorecardData) -> list[SegmentSizes]:
    """One a declared column, in the order of the columns."""
    counted = []
    for column, values in card.named.items():
        order = sorted(values.items(), key=lambda item: (-item[1], item[0]))
        enough, few = ([item for item in order if (item[1] < MIN_SEGMENT_EXAMPLES) is small] for small in (False, True))
        counted.append(SegmentSizes(column, tuple(enough), tuple(few), OTHER in card.segments.get(column, {})))
    return counted


def format_size(n: int) -> str:
    """A number of examples of one value, marked where it is too small."""
    return f"{n:,} {TOO_FEW}" if n < MIN_SEGMENT_EXAMPLES else f"{n:,}"


def _format_values(values: tuple[tuple[str, int], ...]) -> str:
    return ", ".join(f"{to_line(value)} {n:,}" for value, n in values)
