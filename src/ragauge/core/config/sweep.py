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
        default_factory=dict, description="Name -> values; may be left out with a preset."
    )
    index: list[str] = Field(default_factory=list, description="Parameters that index takes; the others go to build.")
    base: dict[str, Any] = Field(default_factory=dict, description="One value of each: what is used today.")
    leave_out: list[dict[str, Any]] = Field(
        default_factory=list, alias="except", description="Parts of configurations that are not tried."
    )
    objective: SpecValue = Field(default="context_recall", description="A metric, or composite: {metric: weight, …}.")
    metrics: list[str] = Field(default_factory=list, description="Metrics to show beside the objective.")
    design: Literal["grid", "one_factor", "random", "staged"] = Field(
        default="grid", description="Which configurations are tried."
    )
    trials: int = Field(default=24, ge=2, description="How many, where they are drawn at random.")
    race: bool = Field(default=True, description="Drop what surely loses on the way.")
    margin: float = Field(default=0.0, ge=0, description="Also drop what surely cannot beat the leader by this.")
    budget: int | None = Field(default=None, ge=1, description="Tokens of context in place of k passages.")
    confirm: str | float | None = Field(default=None, description="A set, or a share held back, to confirm on.")
    judge: JudgeText = Field(
        default="local", description="Who answers what labels do not: its text, or {model, key_env, headers, …}."
    )
    noise: float = Field(default=0.03, ge=0, description="Differences within ± this are no bottleneck.")
    cost: str = Field(default="", description="What a trial costs: cost, latency or context_tokens.")
    keep_open: int | None = Field(
        default=None, ge=1, description="Indexes held at a time, at most; the others are made again at each look."
    )
