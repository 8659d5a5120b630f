"""What a probe of a judge found."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ragauge.reporting.sections import ReportSection

if TYPE_CHECKING:
    from ragauge.analysis.judges.check import PositionProbe
    from ragauge.analysis.results.overview import MeanEstimate

MOST = 10     # pairs that are named


def sections(judge_id: str, found: PositionProbe) -> Iterator[ReportSection]:
    """The shares with their intervals, and the pairs to look at."""
    lines = [
        f"{judge_id}: {found.n:,} pairs, each in both orders; {found.decided:,} with both verdicts",
        f"position_flip  {_said(found.position_flip)}  the order changed the verdict",
    ]
    if found.flipped:
        lines.append(f"first place    {_said(found.first_place)}  of the changed: won by being shown first")
    lines.append(f"ties           {_said(found.ties)}  alike, or inconsistent, which counts as a tie")
    if found.agreement.mean is not None:
        lines.append(f"agreement      {_said(found.agreement)}  with the human preference")
    if found.flipped:
        more = f" and {len(found.flipped) - MOST:,} more" if len(found.flipped) > MOST else ""
        lines.append(f"changed: {', '.join(found.flipped[:MOST])}{more}")
    for name, reason in list(found.undecided.items())[:MOST]:
        lines.append(f"no verdict on {name}: {reason}")
    yield ReportSection(lead=tuple(lines))


def _said(one: MeanEstimate) -> str:
    if one.mean is None:
        return "–"
    ends = f" [{one.interval.low:.2f}, {one.interval.high:.2f}]" if one.interval is not None else ""
    return f"{one.mean:.2f}{ends}  n {one.n:,}"
