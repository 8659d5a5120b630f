"""The rows of the log of evaluations, as plain values that every report renders."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from ragauge.core.json_keys import Key, json_keys, key
from ragauge.core.response import Run
from ragauge.core.verdict import NOT_COUNTED, VerdictCounts
from ragauge.scores.results.summary import Summary


@dataclass(frozen=True, slots=True)
class ChangedSetting:
    """One setting that differs from the run before."""

    path: str  #: such as retriever.k.
    how: Literal["changed", "added", "removed"]  #: changed, added or removed.
    base: Any  #: value in the run before; None where it was added.
    new: Any  #: value in this run; None where it was removed.


@json_keys(
    "when evaluated_at run listed set_version series settings judge_id n responses before note judging apart baselines "
    "changed counts metrics",
    when=Key("run", at="created_at"),
    set_version=Key("run", at="set_version"),
    settings=Key("run", at="variant system git"),
    before="before_id",
)
@dataclass(frozen=True, slots=True)
class HistoryRow:
    """One evaluated run in the log."""

    run: Run = field(metadata=key(at="name run_id"))  #: whose responses.
    listed: str = field(metadata=key("set"))  #: the set that it is listed under: its name when it was evaluated first.
    series: int  #: number of the series that it belongs to, from 1: rows that were measured alike.
    judge_id: str = field(metadata=key("judge"))  #: who judged; "" for nobody.
    n: int  #: examples evaluated.
    responses: int  #: how many the run has.
    #: printed name -> summary, of the columns of the log that were computed.
    metrics: Mapping[str, Summary] = field(metadata=key(view="log"))
    evaluated_at: str = ""  #: when it was scored last, ISO 8601.
    #: US dollars that judging one example has cost; None where a price is unknown.
    judging: float | None = field(default=None, metadata=key("judging_cost"))
    note: str = ""  #: what somebody wrote about it.
    baselines: tuple[str, ...] = ()  #: names of the baselines that mean this run.
    before: Run | None = None  #: the run before it over the same set; None for the first.
    changed: tuple[ChangedSetting, ...] = ()  #: settings that differ from that run's.
    apart: tuple[str, ...] = ()  #: why it cannot be compared with that run, one sentence each; () where it can.
    counts: VerdictCounts = NOT_COUNTED  #: of the verdicts on its examples.

    @property
    def before_id(self) -> str:
        """Id of the run before over the same set; "" for the first."""
        return "" if self.before is None else self.before.run_id


@json_keys("columns older rows")
@dataclass(frozen=True, slots=True)
class History:
    """The log."""

    columns: tuple[str, ...]  #: printed names of the metrics shown, in order.
    rows: tuple[HistoryRow, ...]  #: the newest first.
    older: bool = False  #: whether there are evaluated runs before the last row.

    @property
    def set_names(self) -> tuple[str, ...]:
        """Names of the sets, that of the newest row first."""
        return tuple(dict.fromkeys(row.listed for row in self.rows))
