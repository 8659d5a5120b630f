"""The section `sweep` of ragauge.yaml."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from ragauge.core.config.section import JudgeText, Section

SpecValue = str | dict[str, Any]


class SweepSection(Section):
    """Which configurations to try, and what decides between them."""

    system: SpecValue = Field(description="module:function that builds a system, reference:FOLDER, or {index, build}.")
    set: str = Field(description="The questions: a file or folder, or a stored set's name.")
    parameters: dict[str, list[Any]] = Field(
        default_factory=dict, description="Name -> values; optional with a preset."
    )
    index: list[str] = Field(default_factory=list, description="Parameters of index; all others go to build.")
    base: dict[str, Any] = Field(default_factory=dict, description="The configuration in use today.")
    leave_out: list[dict[str, Any]] = Field(
        default_factory=list, alias="except", description="Combinations of values to skip."
    )
    objective: SpecValue = Field(default="context_recall", description="A metric, or composite: {metric: weight, …}.")
    metrics: list[str] = Field(default_factory=list, description="Metrics to show next to the objective.")
    design: Literal["grid", "one_factor", "random", "staged"] = Field(
        default="grid", description="Which configurations to try."
    )
    trials: int = Field(default=24, ge=2, description="Number of configurations, if they are sampled at random.")
    race: bool = Field(default=True, description="Drop clear losers early.")
    margin: float = Field(default=0.0, ge=0, description="Also drop what cannot beat the leader by this.")
    budget: int | None = Field(default=None, ge=1, description="Context budget in tokens, instead of k passages.")
    confirm: str | float | None = Field(default=None, description="An eval set, or a share held back, to confirm on.")
    judge: JudgeText = Field(
        default="local", description="Judge for what labels don't cover: its spec, or {model, key_env, headers, …}."
    )
    noise: float = Field(default=0.03, ge=0, description="Differences within ± this value are not a bottleneck.")
    cost: str = Field(default="", description="What to count as the cost of a trial: cost, latency or context_tokens.")
    keep_open: int | None = Field(default=None, ge=1, description="Maximum number of open indexes; others are rebuilt.")
