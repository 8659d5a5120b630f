"""Judges that a store knows: what each judged, and how far people's labels have tried it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ragauge.labels.history.compute import CheckStep
from ragauge.stats.judge_error import JudgeMeanError


@dataclass(frozen=True, slots=True)
class KnownJudge:
    """A judge.

    Attributes:
        judge_id: names everything that changes its verdicts.
        spec: what it is built from; "" where that is not known.
        runs: how many it judged.
        last: its newest check against people; None where there was none.
    """

    judge_id: str
    spec: str
    runs: int
    last: CheckStep | None = None


@dataclass(frozen=True, slots=True)
class JudgeTrust:
    """What is known of how far a judge can be trusted.

    Attributes:
        judge: which.
        errors: printed name of a metric -> how far its mean errs; what is not there is not known.
        steps: its checks against people, and those of other judges under the same names, the oldest first.
        judged: id and name of the newest runs that it judged.
        labels: of people that the store has, of whatever run.
        drawn: number of the newest draw from these runs, and the run's id; None where there is none.
    """

    judge: KnownJudge
    errors: Mapping[str, JudgeMeanError] = field(default_factory=dict)
    steps: tuple[CheckStep, ...] = ()
    judged: tuple[tuple[str, str], ...] = ()
    labels: int = 0
    drawn: tuple[int, str] | None = None
