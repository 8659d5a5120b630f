"""Studies: what is varied while the rest is held constant, and what each trial measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

TrialState = Literal["running", "complete", "pruned", "failed"]


@dataclass(frozen=True, slots=True)
class Measurement:
    """A number about a whole trial, beside the scores of its run."""

    name: str  #: such as index_tokens or build_seconds.
    value: float | None  #: None where it could not be had.
    unit: str = ""  #: such as tokens, bytes or s; "" for a share or a count.
    low: float | None = None  #: lower end of its 95 % interval; None where there is none.
    high: float | None = None  #: upper end.
    n: int = 1  #: how many observations it rests on.


@dataclass(frozen=True, slots=True)
class Trial:
    """One setting of what a study varies: an ordinary run, and measurements beside it."""

    name: str  #: unique in its study, and the name of its run.
    parameters: Mapping[str, Any] = field(default_factory=dict)  #: what is varied -> its value here.
    #: running (or stopped on the way: it is done again), complete, pruned, or failed for good.
    state: TrialState = "running"
    reason: str = ""  #: why it failed or was pruned.
    run_id: str = ""  #: of its run; "" where there is none.
    measurements: tuple[Measurement, ...] = ()  #: in the order in which they were made.

    def find_measurement_value(self, name: str) -> float | None:
        """The value of a measurement; None where there is none of this name."""
        return next((measurement.value for measurement in self.measurements if measurement.name == name), None)


@dataclass(frozen=True, slots=True)
class Study:
    """Trials that differ in some settings and share all others."""

    name: str  #: its identity in a store.
    kind: str  #: what is varied, such as chunking.
    set_name: str = ""  #: of the eval set.
    set_version: str = ""  #: of the eval set.
    #: the settings that every trial shares: a study of other ones is another study.
    fixed: Mapping[str, Any] = field(default_factory=dict)
    trials: tuple[Trial, ...] = ()  #: in the order in which they were asked for.
    created_at: str = ""  #: ISO time; filled in by the store.

    @property
    def parameter_values(self) -> dict[str, list[Any]]:
        """What was varied -> the values tried, in order."""
        varied: dict[str, list[Any]] = {}
        for trial in self.trials:
            for name, value in trial.parameters.items():
                values = varied.setdefault(name, [])
                if value not in values:
                    values.append(value)
        return varied
