"""What a probe of a judge found."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ragauge.reporting.sections import ReportSection

if TYPE_CHECKING:
    from ragauge.analysis.judges.check import PositionProbe
    from ragauge.analysis.results.overview import MeanEstimate

MOST = 10     # pairs that are named


def sections(judge_id: str, probe: PositionProbe) -> Iterator[ReportSection]:
    """The shares with their intervals, and the pairs to look at."""
    lines = [
        f"{judge_id}: {probe.n:,} pairs, each in both orders; {probe.decided:,} with both verdicts",
        f"position_flip  {_said(probe.position_flip)}  the order changed the verdict",
    ]
    if probe.flipped:
        lines.append(f"first place    {_said(probe.first_place)}  of the changed: won by being shown first")
    lines.append(f"ties           {_said(probe.ties)}  alike, or inconsistent, which counts as a tie")
    if probe.agreement.mean is not None:
        lines.append(f"agreement      {_said(probe.agreement)}  with the human preference")
    if probe.flipped:
        more = f" and {len(probe.flipped) - MOST:,} more" if len(probe.flipped) > MOST else ""
        lines.append(f"changed: {', '.join(probe.flipped[:MOST])}{more}")
    for name, reason in list(probe.undecided.items())[:MOST]:
        lines.append(f"no verdict on {name}: {reason}")
    yield ReportSection(lead=tuple(lines))


def _said(estimate: MeanEstimate) -> str:
    if estimate.mean is None:
        return "–"
    ends = f" [{estimate.interval.low:.2f}, {estimate.interval.high:.2f}]" if estimate.interval is not None else ""
    return f"{estimate.mean:.2f}{ends}  n {estimate.n:,}"
