"""How long a monitor takes to see a drop, and what its judge costs a day, by the share of requests that is judged."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, isfinite, sqrt
from typing import TYPE_CHECKING

from ragauge.core.errors import UsageError
from ragauge.stats.many_series import ManySeries
from ragauge.stats.moments import Moments
from ragauge.stats.sequential import alarm_limit, compute_reference

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.float64]

DROPS = (0.05, 0.10, 0.20)
RATES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
N_SIMULATED = 200  # series
DAY_SCORE_BOUNDS = (
    20,
    1000,
)  # scores of a simulated day, at most as many as a test of a fixed size takes: delays count scores
MAX_PERIODS = 2  # that are simulated, at most


@dataclass(frozen=True, slots=True)
class PlannedDelay:
    """How long a drop takes to be seen."""

    drop: float  #: share of the mean that is lost.
    median: float | None  #: days until half of such drops have alerted; None = longer than two periods.
    most: float | None  #: days until 80 % of them have; None likewise.


@dataclass(frozen=True, slots=True)
class PlannedRate:
    """What one share of judged requests gives."""

    rate: float  #: in (0, 1].
    scores: float  #: a day.
    cost: float | None  #: US dollars a day for the judge; None = not known.
    baseline: int  #: days until the baseline is known well enough.
    delays: tuple[PlannedDelay, ...]  #: by drop.


@dataclass(frozen=True, slots=True)
class MonitorPlan:
    """What a monitor can see."""

    metric: str  #: printed name; "" = any.
    mean: float  #: of its scores, in (0, 1), higher better.
    deviation: float  #: of them.
    requests: int  #: a day.
    max_drop: float  #: share of the baseline that may be lost without an alert.
    false_alarms: float  #: the chance of even one, in a period.
    days: int  #: of a period.
    series: int  #: K, monitors × segments.
    rates: tuple[PlannedRate, ...]  #: ascending.


@dataclass(frozen=True, slots=True)
class PlannedMonitor:
    """What is planned for."""

    requests: int  #: a day, at least 1.
    max_drop: float = 0.03  #: share of the baseline that may be lost without an alert, in (0, 1).
    false_alarms: float = 0.05  #: the chance of even one, in a period.
    days: int = 30  #: of a period.
    series: int = 1  #: K, monitors × segments.
    cost: float | None = None  #: US dollars for judging one request; None = not known.
    metric: str = ""  #: printed name; "" = any.


def monitor_plan(values: Array, planned: PlannedMonitor, *, seed: int = 0) -> MonitorPlan:
    """Simulates drops until they alert: in a drop of d a share d of the requests scores 0, the others as before.

    The delay is counted in scores and then in days of the rate. A drop comes on a day of the
    first third of a period. The baseline is taken as known.

    Args:
        values: scores as they are, shape (n,), in [0, 1], higher better.
        planned: what is planned for.
        seed: of the simulation.

    Raises:
        UsageError: fewer than two values, a mean of 0, or a number outside its range.
    """
    moments = Moments.of(values)
    if moments.n < 2 or not moments.mean or moments.error is None:
        raise UsageError(f"a plan needs at least two scores with a mean above 0, got {moments.n}.")
    if planned.requests < 1 or not 0 < planned.max_drop < 1:
        raise UsageError(
            f"requests must be at least 1 a day and max_drop in (0, 1), got {planned.requests} and {planned.max_drop}."
        )
    m, limit = moments.mean * (1 - planned.max_drop), alarm_limit(planned.false_alarms, planned.series)
    needed = compute_reference(moments, moments.mean * planned.max_drop, 1 / limit).needed
    waits: dict[tuple[float, int], Array] = {}
    rates = []
    for rate in RATES:
        scores = rate * planned.requests
        delays = []
        for drop in DROPS:
            size = max(1, min(_estimate_fixed_size(moments, m, drop), round(scores)))
            if (drop, size) not in waits:
                waits[drop, size] = _simulate_waits(values, drop, m, limit, (size, planned.days, seed))
            delays.append(_build_delay(drop, waits[drop, size] / scores))
        cost = None if planned.cost is None else planned.cost * scores
        rates.append(PlannedRate(rate, scores, cost, max(1, ceil(needed / scores)), tuple(delays)))
    return MonitorPlan(
        planned.metric,
        moments.mean,
        moments.error * sqrt(moments.n),
        planned.requests,
        planned.max_drop,
        planned.false_alarms,
        planned.days,
        planned.series,
        tuple(rates),
    )


def _estimate_fixed_size(moments: Moments, m: float, drop: float) -> int:
    """About how many scores a test of a fixed size takes, within the bounds of a simulated day."""
    fell = m - (moments.mean or 0.0) * (1 - drop)
    if fell <= 0:
        return DAY_SCORE_BOUNDS[1]
    return round(
        min(DAY_SCORE_BOUNDS[1], max(DAY_SCORE_BOUNDS[0], moments.n * (3 * (moments.error or 0.0) / fell) ** 2))
    )


def _build_delay(drop: float, days: Array) -> PlannedDelay:
    import numpy as np

    median, p80 = (float(quantile) for quantile in np.quantile(days, [0.5, 0.8], method="higher"))
    return PlannedDelay(drop, median if isfinite(median) else None, p80 if isfinite(p80) else None)


def _simulate_waits(values: Array, drop: float, m: float, limit: float, size: tuple[int, int, int]) -> Array:
    """Scores from the drop to the alarm of each simulated series; infinite where two periods do not do."""
    import numpy as np

    scores, days, seed = size
    draw = np.random.default_rng([seed, scores, int(1000 * drop)])
    change = draw.integers(0, max(1, days // 3), N_SIMULATED)
    waits, watched = np.full(N_SIMULATED, np.inf), ManySeries(np.full(N_SIMULATED, m), days)
    for day in range(MAX_PERIODS * days):
        fallen = (day >= change)[:, None] & (draw.random((N_SIMULATED, scores)) < drop)
        over = watched.add_day(np.where(fallen, 0.0, draw.choice(values, (N_SIMULATED, scores)))) >= limit
        first = over.any(axis=1) & (day >= change) & np.isinf(waits)
        waits[first] = ((day - change) * scores + over.argmax(axis=1) + 1)[first]
        if np.isfinite(waits).all():
            break
    return waits


def generate_scores(mean: float, deviation: float, n: int = 2000) -> Array:
    """Scores in [0, 1] with a mean and a standard deviation: of a beta distribution, at equal steps of its quantiles.

    Raises:
        UsageError: no scores in [0, 1] have them.

    >>> round(float(generate_scores(0.9, 0.2).mean()), 2)
    0.9
    """
    import numpy as np
    from scipy.stats import beta

    max_variance = mean * (1 - mean)
    if not 0 < mean < 1 or not 0 < deviation <= sqrt(max_variance) + 1e-12:
        problem = f"no scores in [0, 1] have a mean of {mean:g} and a standard deviation of {deviation:g}."
        raise UsageError(f"{problem} A mean of {mean:g} allows at most {sqrt(max(0.0, max_variance)):.3f}.")
    steps = (np.arange(n) + 0.5) / n
    if deviation**2 > 0.98 * max_variance:  # as good as 0 and 1 alone
        return np.asarray(steps > 1 - mean, dtype=float)
    size = max_variance / deviation**2 - 1
    return np.asarray(beta.ppf(steps, mean * size, (1 - mean) * size))
