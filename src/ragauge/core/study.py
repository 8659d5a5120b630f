"""Studies: what is varied while the rest is held constant, and what each trial measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

TrialState = Literal["running", "complete", "pruned", "failed"]


@dataclass(frozen=True, slots=True)
class Measurement:
    """A number about a whole trial, beside the scores of its run.

    Attributes:
        name: such as index_tokens or build_seconds.
        value: None where it could not be had.
        unit: such as tokens, bytes or s; "" for a share or a count.
        low: lower end of its 95 % interval; None where there is none.
        high: upper end.
        n: how many observations it rests on.
    """

    name: str
    value: float | None
    unit: str = ""
    low: float | None = None
    high: float | None = None
    n: int = 1


@dataclass(frozen=True, slots=True)
class Trial:
    """One setting of what a study varies: an ordinary run, and measurements beside it.

    Attributes:
        name: unique in its study, and the name of its run.
        parameters: what is varied -> its value here.
        state: running (or stopped on the way: it is done again), complete, pruned, or failed for good.
        reason: why it failed or was pruned.
        run_id: of its run; "" where there is none.
        measurements: in the order in which they were made.
    """

    name: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    state: TrialState = "running"
    reason: str = ""
    run_id: str = ""
    measurements: tuple[Measurement, ...] = ()

    def find_measurement_value(self, name: str) -> float | None:
        """The value of a measurement; None where there is none of this name."""
        return next((measurement.value for measurement in self.measurements if measurement.name == name), None)


@dataclass(frozen=True, slots=True)
class Study:
    """Trials that differ in some settings and share all others.

    Attributes:
        name: its identity in a store.
        kind: what is varied, such as chunking.
        set_name: of the eval set.
        set_version: of the eval set.
        fixed: the settings that every trial shares: a study of other ones is another study.
        trials: in the order in which they were asked for.
        created_at: ISO time; filled in by the store.
    """

    name: str
    kind: str
    set_name: str = ""
    set_version: str = ""
    fixed: Mapping[str, Any] = field(default_factory=dict)
    trials: tuple[Trial, ...] = ()
    created_at: str = ""

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
