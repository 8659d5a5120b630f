"""What statistics return: small frozen values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

Alternative = Literal["two-sided", "greater", "less"]


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


@dataclass(frozen=True, slots=True)
class Tested:
    """What a hypothesis test found.

    Attributes:
        p_value: in (0, 1], never 0: the chance of a difference at least so large where there is none.
        method: such as "mid-p McNemar" or "sign flips of clusters".
        estimate: the difference of the means, new − base, whatever the test looks at.
        n: pairs (or values of both samples) that counted.
        alternative: "greater" asks whether new is greater than base, "less" whether it is less.
        statistic: what was held against the null distribution; None where counts are looked at directly.
    """

    __test__: ClassVar[bool] = False     # not a test class, though pytest would take it for one by its name

    p_value: float
    method: str
    estimate: float
    n: int
    alternative: Alternative = "two-sided"
    statistic: float | None = None
