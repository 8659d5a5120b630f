"""One metric's value for one response, and how it came about.

Scores as a table.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ragauge.core.json_keys import json_keys

if TYPE_CHECKING:
    import polars as pl


Status = Literal["scored", "undefined", "not_applicable", "failed", "not_read"]
STATUSES: tuple[Status, ...] = ("scored", "undefined", "not_applicable", "failed", "not_read")


@json_keys("value status reason")
@dataclass(frozen=True, slots=True)
class Score:
    """A metric's result for one response of a run."""

    run_id: str  #: the run.
    query_id: str  #: the example.
    repeat: int  #: which of the system's answers.
    metric: str  #: printed name, its identity everywhere.
    metric_version: int  #: raised when the metric's meaning changes.
    judge_id: str | None  #: None where no judge was asked.
    judge_repeat: int  #: which asking of the judge.
    status: Status  #: scored, undefined, not_applicable, failed or not_read: the judge cannot read texts of this kind.
    value: float | None = None  #: None unless scored.
    numerator: float | None = None  #: of a ratio, for micro averages.
    denominator: float | None = None  #: of a ratio.
    low: float | None = None  #: least value that the missing verdicts allow; equals value when scored.
    high: float | None = None  #: greatest such value.
    reason: str = ""  #: why there is no value.


COLUMNS = (
    "query_id",
    "repeat",
    "metric",
    "status",
    "value",
    "numerator",
    "denominator",
    "low",
    "high",
    "reason",
    "judge_id",
)


def build_score_table(scores: Iterable[Score]) -> pl.DataFrame:
    """One row a score, in their order.

    Returns:
        query_id, metric, status, reason, judge_id (text), repeat (integer), value, numerator, denominator, low, high
        (numbers; null where there is none). The same columns with the same types when there are no scores.
    """
    import polars as pl

    numbers = ("value", "numerator", "denominator", "low", "high")
    types = {name: pl.Float64 if name in numbers else pl.Int64 if name == "repeat" else pl.String for name in COLUMNS}
    rows = list(scores)
    return pl.DataFrame({name: [getattr(score, name) for score in rows] for name in COLUMNS}, schema=types)
