"""A change that is to be seen, as people type it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from ragauge.core.errors import UsageError


@dataclass(frozen=True, slots=True)
class TargetDifference:
    """The change of a metric that two runs are to show."""

    amount: float  #: above 0.
    relative: bool  #: whether it is a share of the metric's mean; else it is in the metric's unit.

    @classmethod
    def from_text(cls, text: str) -> Self:
        """A share of a mean, or points: hundredths of the metric's unit.

        Raises:
            UsageError: another form, or nothing above 0.

        >>> TargetDifference.from_text("3 points").of(0.8), round(TargetDifference.from_text("5%").of(0.8), 3)
        (0.03, 0.04)
        """
        unit_text = text.strip()
        number = unit_text.removesuffix("%").removesuffix("points").removesuffix("point").strip()
        try:
            amount = float(number) / 100
        except ValueError:
            amount = 0.0
        if not 0 < amount < float("inf") or not unit_text.endswith(("%", "point", "points")):
            raise UsageError(f'detect must look like "3%" (of the mean) or "3 points" (0.03), got {text!r}.')
        return cls(amount, unit_text.endswith("%"))

    def of(self, mean: float) -> float:
        """The change of a metric with this mean, in its unit."""
        return self.amount * abs(mean) if self.relative else self.amount
