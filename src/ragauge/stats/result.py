"""What statistics return: small frozen values."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval and how it was made.

    Attributes:
        low: lower end.
        high: upper end.
        method: such as "t", "wilson" or "order statistics".
        level: such as 0.95.
    """

    low: float
    high: float
    method: str
    level: float = 0.95
