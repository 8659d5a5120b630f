"""The section `ui` of ragauge.yaml."""

from __future__ import annotations

from pydantic import Field, field_validator

from ragauge.core.config.section import Section

ENDING = ".jsonl"


class UiSection(Section):
    """What the dashboard does."""

    regression_set: str = Field(
        min_length=1,
        description=f"File that the dashboard adds examples to; its name ends in {ENDING}. See ragauge docs dashboard.",
    )

    @field_validator("regression_set")
    @classmethod
    def _check_ending(cls, value: str) -> str:
        if not value.endswith(ENDING):
            raise ValueError(f"expected a file that ends in {ENDING}, got {value!r}.")
        return value
