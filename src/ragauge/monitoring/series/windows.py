"""Rolling windows of a series, and how often an alert on them alone would be false."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from ragauge.monitoring.series.series import WINDOW

if TYPE_CHECKING:
    from collections.abc import Sequence

N_MONTHS, MAX_DAY_SCORES = 200, 500  # that are simulated; scores of a simulated day, at most


def simulate_point_alarms(
    values: Sequence[float], m: float, a_day: float, days: int, wait: timedelta = timedelta(0), *, seed: int = 0
) -> float | None:
    """The share of periods in which the mean of the last 50 scores falls below m although nothing changed.

    Simulated: periods of scores that are drawn from those that were seen.

    Args:
        values: scores that were seen, shape (n,), in [0, 1], higher better.
        m: what the mean of the last 50 is held to.
        a_day: scores a day; more than 500 are simulated as 500.
        days: of a period.
        wait: how long it must stay below.
        seed: of the simulation.

    Returns:
        In [0, 1]; None with fewer than 50 values.

    >>> simulate_point_alarms([0.0] + [1.0] * 9, 0.85, 50, 30) is None
    True
    >>> simulate_point_alarms([0.0] * 10 + [1.0] * 90, 0.85, 50, 30) > 0.9
    True
    """
    import numpy as np

    if len(values) < WINDOW:
        return None
    rate = max(1, min(MAX_DAY_SCORES, round(a_day)))
    generator, observed, alarmed = np.random.default_rng(seed), np.asarray(values, dtype=float), 0
    run = max(1, round(wait / timedelta(days=1) * rate))
    for _ in range(N_MONTHS):
        sums = np.cumsum(np.concatenate([[0.0], generator.choice(observed, rate * days + WINDOW)]))
        below = np.concatenate([[0], np.cumsum((sums[WINDOW:] - sums[:-WINDOW]) / WINDOW < m - 1e-12)])
        alarmed += bool((below[run:] - below[:-run] == run).any()) if len(below) > run else False
    return alarmed / N_MONTHS
