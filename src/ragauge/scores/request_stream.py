"""What comes in: requests in order of arrival, with the scores that they have so far."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from ragauge.core.score import Status

NOT_RECORDED = "(not recorded)"  # of what traces do not say


@dataclass(frozen=True, slots=True)
class ArrivedScore:
    """A metric's score of one request."""

    status: Status | Literal["pending"]  #: pending = its judgement is not there yet.
    value: float | None = None  #: None unless scored.
    weight: float = 1.0  #: how many requests it stands for, 1 / its chance of being scored; at least 1.
    instrument: str = ""  #: metric version, judge and question versions: another one is another series.


@dataclass(frozen=True, slots=True)
class Arrival:
    """One request."""

    number: int  #: in order of arrival.
    at: datetime  #: when it arrived, UTC, or the moment in the past that it is dated to.
    trace_id: str  #: of the request; the query_id of its response.
    run_id: str = ""  #: the run that holds it.
    segments: Mapping[str, str] = field(default_factory=dict)  #: name -> value.
    #: printed metric name -> score; a metric that is not asked of it is not there.
    scores: Mapping[str, ArrivedScore] = field(default_factory=dict)
    past: bool = False  #: whether it is dated to more than a day before it came: it raises no alert.
