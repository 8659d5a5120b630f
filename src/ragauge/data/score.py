"""One metric's value for one response, and how it came about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Status = Literal["scored", "undefined", "not_applicable", "failed"]
STATUSES: tuple[Status, ...] = ("scored", "undefined", "not_applicable", "failed")


@dataclass(frozen=True, slots=True)
class Score:
    """A metric's result for one response of a run.

    Attributes:
        run_id: the run.
        query_id: the example.
        repeat: which of the system's answers.
        metric: printed name, its identity everywhere.
        metric_version: raised when the metric's meaning changes.
        judge_id: None where no judge was asked.
        judge_repeat: which asking of the judge.
        status: scored, undefined, not_applicable or failed.
        value: None unless scored.
        numerator: of a ratio, for micro averages.
        denominator: of a ratio.
        low: least value that the missing verdicts allow; equals value when scored.
        high: greatest such value.
        reason: why there is no value.
    """

    run_id: str
    query_id: str
    repeat: int
    metric: str
    metric_version: int
    judge_id: str | None
    judge_repeat: int
    status: Status
    value: float | None = None
    numerator: float | None = None
    denominator: float | None = None
    low: float | None = None
    high: float | None = None
    reason: str = ""
