"""The rows of the log of evaluations, as plain values that every report renders."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ragauge.core.response import Run
from ragauge.core.verdict import NOT_COUNTED, VerdictCounts
from ragauge.scores.results.summary import Summary


@dataclass(frozen=True, slots=True)
class ChangedSetting:
    """One setting that differs from the run before.

    Attributes:
        path: such as retriever.k.
        how: changed, added or removed.
        base: value in the run before; None where it was added.
        new: value in this run; None where it was removed.
    """

    path: str
    how: Literal["changed", "added", "removed"]
    base: Any
    new: Any


@dataclass(frozen=True, slots=True)
class HistoryRow:
    """One evaluated run in the log.

    Attributes:
        run: whose responses.
        listed: the set that it is listed under: its name when it was evaluated first.
        series: number of the series that it belongs to, from 1: rows that were measured alike.
        judge_id: who judged; "" for nobody.
        n: examples evaluated.
        responses: how many the run has.
        metrics: printed name -> summary, of the columns of the log that were computed.
        evaluated_at: when it was scored last, ISO 8601.
        judging: US dollars that judging one example has cost; None where a price is unknown.
        note: what somebody wrote about it.
        baselines: names of the baselines that mean this run.
        before: the run before it over the same set; None for the first.
        changed: settings that differ from that run's.
        apart: why it cannot be compared with that run, one sentence each; () where it can.
        counts: of the verdicts on its examples.
    """

    run: Run
    listed: str
    series: int
    judge_id: str
    n: int
    responses: int
    metrics: Mapping[str, Summary]
    evaluated_at: str = ""
    judging: float | None = None
    note: str = ""
    baselines: tuple[str, ...] = ()
    before: Run | None = None
    changed: tuple[ChangedSetting, ...] = ()
    apart: tuple[str, ...] = ()
    counts: VerdictCounts = NOT_COUNTED


@dataclass(frozen=True, slots=True)
class History:
    """The log.

    Attributes:
        columns: printed names of the metrics shown, in order.
        rows: the newest first.
        older: whether there are evaluated runs before the last row.
    """

    columns: tuple[str, ...]
    rows: tuple[HistoryRow, ...]
    older: bool = False

    @property
    def set_names(self) -> tuple[str, ...]:
        """Names of the sets, that of the newest row first."""
        return tuple(dict.fromkeys(row.listed for row in self.rows))
