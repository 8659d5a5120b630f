"""A judge's rate on one run, corrected by how it erred on labels of another run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, Any

from ragauge.core.errors import UsageError
from ragauge.stats.distributions import normal_quantile
from ragauge.stats.weighted import Interval

if TYPE_CHECKING:
    import numpy.typing as npt

    Values = Sequence[float] | npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class TransferredRate:
    """A rate by a judge whose errors were measured on labels of another run."""

    rate: float  #: corrected, in [0, 1].
    interval: Interval  #: of it.
    sensitivity: float  #: share of what people call right that the judge calls right.
    specificity: float  #: share of what people call wrong that it calls wrong.


def transferred_rate(
    labels: Values, verdicts: Values, others: Values, *, level: float = 0.95
) -> TransferredRate | None:
    """The rate of right answers in a run without labels, from a judge's verdicts on it and labels of another run.

    π = (p + sp − 1) / (se + sp − 1)

    p       share of the run that the judge calls right
    se, sp  its sensitivity and specificity on the labelled run

    The interval, with z²/2 of z² added to p and one of two to se and sp (marked ′), π′ by the same formula of them:
    π′ + 2z² (π′ se′(1−se′)/n₁ − (1−π′) sp′(1−sp′)/n₀) ± z sqrt(p′(1−p′)/N′ + π′² se′(1−se′)/n₁ + (1−π′)² sp′(1−sp′)/n₀)
    / (se′ + sp′ − 1), clipped to [0, 1].

    **Takes for granted** that the judge has the same sensitivity and specificity on both runs, which nothing in the
    labels can show. Where the labels belong to the run itself, use `rectified_mean`.

    Args:
        labels: shape (n,), 1 = right, 0 = wrong, by people.
        verdicts: shape (n,), the judge's verdicts on the same, 1 or 0.
        others: shape (N,), its verdicts on the run.
        level: confidence, in (0, 1).

    Returns:
        The rate; None where labels of one kind are fewer than 2, the run is empty, or se′ + sp′ ≤ 1: the judge tells
        nothing.

    Raises:
        UsageError: values other than 0 and 1, or labels and verdicts that are not as many.

    Source: Rogan and Gladen (1978), Am. J. Epidemiol. 107; Lang and Reiczigel (2014), Prev. Vet. Med. 113.

    >>> result = transferred_rate([1] * 50 + [0] * 50, [1] * 45 + [0] * 45 + [1] * 10, [1] * 60 + [0] * 40)
    >>> round(result.rate, 3), round(result.sensitivity, 2), round(result.specificity, 2)
    (0.571, 0.9, 0.8)
    """
    import numpy as np

    y, f, g = (np.asarray(numbers, dtype=float) for numbers in (labels, verdicts, others))
    if y.shape != f.shape or any(not np.isin(numbers, (0.0, 1.0)).all() for numbers in (y, f, g)):
        raise UsageError("transferred_rate: labels and verdicts must have the same length, and each must be 0 or 1.")
    ones, zeros = int(y.sum()), int((1 - y).sum())
    if min(ones, zeros) < 2 or not g.size:
        return None
    hits, rejects, called = float(f[y == 1].sum()), float((1 - f)[y == 0].sum()), float(g.sum())
    transferred = _lang_reiczigel((hits, ones), (rejects, zeros), (called, g.size), level)
    return None if transferred is None else TransferredRate(*transferred, hits / ones, rejects / zeros)


def _lang_reiczigel(
    right: tuple[float, int], wrong: tuple[float, int], run: tuple[float, int], level: float
) -> tuple[float, Interval] | None:
    """The corrected rate and its interval, from counts: hits of right, rejected of wrong, called right of the run."""
    z = normal_quantile(level)
    n1, n0, size = right[1] + 2, wrong[1] + 2, run[1] + z * z
    se, sp, p = (right[0] + 1) / n1, (wrong[0] + 1) / n0, (run[0] + z * z / 2) / size
    if (tells := se + sp - 1) <= 0:
        return None
    pi = (p + sp - 1) / tells
    of_se, of_sp = se * (1 - se) / n1, sp * (1 - sp) / n0
    middle = pi + 2 * z * z * (pi * of_se - (1 - pi) * of_sp)
    half = z * sqrt(p * (1 - p) / size + pi * pi * of_se + (1 - pi) ** 2 * of_sp) / tells
    interval = Interval(min(1.0, max(0.0, middle - half)), min(1.0, max(0.0, middle + half)), "lang-reiczigel", level)
    discrimination = right[0] / right[1] + wrong[0] / wrong[1] - 1
    share = (run[0] / run[1] + wrong[0] / wrong[1] - 1) / discrimination if discrimination > 0 else pi
    return min(1.0, max(0.0, share)), interval
