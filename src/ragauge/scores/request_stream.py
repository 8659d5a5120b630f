"""What comes in: requests in order of arrival, with the scores that they have so far."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from ragauge.core.score import Status


@dataclass(frozen=True, slots=True)
class ArrivedScore:
    """A metric's score of one request.

    Attributes:
        status: pending = its judgement is not there yet.
        value: None unless scored.
        weight: how many requests it stands for, 1 / its chance of being scored; at least 1.
        instrument: metric version, judge and question versions: another one is another series.
    """

    status: Status | Literal["pending"]
    value: float | None = None
    weight: float = 1.0
    instrument: str = ""


@dataclass(frozen=True, slots=True)
class Arrival:
    """One request.

    Attributes:
        number: in order of arrival.
        at: when it arrived, UTC, or the moment in the past that it is dated to.
        trace_id: of the request; the query_id of its response.
        run_id: the run that holds it.
        segments: name -> value.
        scores: printed metric name -> score; a metric that is not asked of it is not there.
        past: whether it is dated to more than a day before it came: it raises no alert.
    """

    number: int
    at: datetime
    trace_id: str
    run_id: str = ""
    segments: Mapping[str, str] = field(default_factory=dict)
    scores: Mapping[str, ArrivedScore] = field(default_factory=dict)
    past: bool = False
