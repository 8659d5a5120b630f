"""The whole of ragauge.yaml. A new section is a model beside this file, and a field here."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, field_validator

from ragauge.core.config.criteria import CriterionSection, add_mapping_form, parse_criteria
from ragauge.core.config.gate import GateSection
from ragauge.core.config.monitor import MonitorSection
from ragauge.core.config.section import Section
from ragauge.core.config.sweep import SweepSection
from ragauge.core.config.ui import UiSection
from ragauge.core.values import describe_value


class Config(Section):
    """The one configuration file of ragauge."""

    controls: Annotated[int, Field(ge=0)] | Literal["none"] | None = Field(
        default=None,
        description="Number of control pairs, whose truth is known, that check what the "
        "judge can read, or none; same as ragauge evaluate --controls. See ragauge docs local-judge.",
    )
    criteria: Annotated[tuple[CriterionSection, ...], BeforeValidator(parse_criteria)] = Field(
        default=(),
        description="Criteria that every answer must meet: a list, or name: text. See ragauge docs criteria.",
        json_schema_extra=add_mapping_form,
    )
    gate: GateSection | None = Field(default=None, description="Rules that a run must meet. See ragauge docs gates.")
    monitor: MonitorSection | None = Field(
        default=None, description="What to monitor in production. See ragauge docs monitoring."
    )
    system: dict[str, Any] | None = Field(
        default=None,
        description="Settings for the system that ragauge run --system-config runs. See ragauge docs systems.",
    )
    sweep: SweepSection | None = Field(default=None, description="Configurations to try. See ragauge docs sweeps.")
    ui: UiSection | None = Field(default=None, description="Dashboard settings. See ragauge docs dashboard.")

    @field_validator("controls", mode="before")
    @classmethod
    def _check_controls(cls, value: Any) -> Any:
        number = isinstance(value, int) and not isinstance(value, bool) and value >= 0
        if value is None or value == "none" or number:
            return value
        raise ValueError(f"expected a number of pairs or none, got {describe_value(value)}.")


def build_json_schema() -> dict[str, Any]:
    """The JSON Schema of ragauge.yaml, for editors."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **Config.model_json_schema(),
        "minProperties": 1,
        "title": "ragauge.yaml",
    }
