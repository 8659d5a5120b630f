"""Judges that a store knows: what each judged, and how far people's labels have tried it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ragauge.labels.history.compute import CheckStep
from ragauge.stats.judge_error import JudgeMeanError


@dataclass(frozen=True, slots=True)
class KnownJudge:
    """A judge."""

    judge_id: str  #: names everything that changes its verdicts.
    spec: str  #: what it is built from; "" where that is not known.
    runs: int  #: how many it judged.
    last: CheckStep | None = None  #: its newest check against people; None where there was none.


@dataclass(frozen=True, slots=True)
class JudgeTrust:
    """What is known of how far a judge can be trusted."""

    judge: KnownJudge  #: which.
    #: printed name of a metric -> how far its mean errs; what is not there is not known.
    errors: Mapping[str, JudgeMeanError] = field(default_factory=dict)
    #: its checks against people, and those of other judges under the same names, the oldest first.
    steps: tuple[CheckStep, ...] = ()
    judged: tuple[tuple[str, str], ...] = ()  #: id and name of the newest runs that it judged.
    labels: int = 0  #: of people that the store has, of whatever run.
    #: number of the newest draw from these runs, and the run's id; None where there is none.
    drawn: tuple[int, str] | None = None
