"""Quality against cost: the settings that nothing beats in both, and where more cost stops paying."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.float64]

RESAMPLES = 1_000
MIN_AGREEMENT = 0.6
MIN_DISTANCE = 0.05
EQUAL_COST_SHARE = {
    "latency": 0.25
}  # costs within this share of the least are alike, and quality decides; 0.02 for others
UNNOTICED_COST = {
    "latency": 50.0
}  # likewise costs that differ by less: no reader notices 50 ms, and runs differ by more
MAX_MISSING_SHARE = (
    0.10  # share of examples without a score, above the least of the settings', that is still comparable
)


@dataclass(frozen=True, slots=True)
class Knee:
    """Where a front of quality against cost bends most."""

    trial: int | None  #: its number; None where there is no clear knee.
    distance: float  #: of the point above the straight line between the ends, both axes scaled to [0, 1].
    agreement: float  #: share of resamples of the examples whose knee is the same trial.
    reason: str = ""  #: why there is no clear knee; "" where there is one.


def find_pareto_front(quality: Sequence[float], cost: Sequence[float]) -> tuple[int, ...]:
    """Numbers of the points that no other point beats: less cost at no less quality, or more quality at no more cost.

    From the cheapest on; of points alike in both, the first.

    >>> find_pareto_front([0.5, 0.9, 0.7, 0.9], [1, 4, 2, 5])
    (0, 2, 1)
    """
    order = sorted(range(len(quality)), key=lambda n: (cost[n], -quality[n], n))
    front: list[int] = []
    for n in order:
        if not front or quality[n] > quality[front[-1]]:
            front.append(n)
    return tuple(front)


def compute_shared_means(values: Array) -> tuple[list[float], list[bool]]:
    """Mean quality over the examples that all comparable settings have, and which settings are comparable.

    A setting is comparable unless the share of examples that it lacks is over 10 points above the least of all.

    Args:
        values: shape (n, m), a row an example, a column a setting with at least one value; NaN where there is none.

    >>> import numpy as np
    >>> compute_shared_means(np.array([[0.0, np.nan, np.nan], [1.0, 0.5, np.nan], *[[1.0, 0.5, 1.0]] * 18]))
    ([1.0, 0.5, 1.0], [True, True, True])
    """
    import numpy as np

    lacks = np.isnan(values)
    share = lacks.mean(axis=0)
    comparable = share <= share.min() + MAX_MISSING_SHARE + 1e-9
    common = ~lacks[:, comparable].any(axis=1)
    counted = ~lacks & common.reshape(-1, 1)
    counted = np.where(counted.any(axis=0), counted, ~lacks)
    means = np.where(counted, values, 0.0).sum(axis=0) / counted.sum(axis=0)
    return means.tolist(), comparable.tolist()


def list_equal_cost(costs: Mapping[str, float], cost: str) -> tuple[list[str], str]:
    """The settings that cost about the same as the cheapest, the cheapest first, and what about the same means.

    >>> list_equal_cost({"dear": 3.0, "near": 1.01, "least": 1.0}, "index_tokens")
    (['least', 'near'], 'within 2 % of the lowest index_tokens')
    """
    share, unnoticed, min_cost = EQUAL_COST_SHARE.get(cost, 0.02), UNNOTICED_COST.get(cost, 0.0), min(costs.values())
    limit = max(min_cost * (1 + share), min_cost + unnoticed)
    description = f"within {100 * share:.0f} %{f' or {unnoticed:g} ms' if unnoticed else ''} of the lowest {cost}"
    return sorted((name for name in costs if costs[name] <= limit), key=lambda name: costs[name]), description


def can_distinguish(costs: Mapping[str, float], cost: str) -> bool:
    """Whether a cost tells settings apart at all: seconds that nobody notices do not.

    >>> can_distinguish({"a": 2.0, "b": 41.0}, "latency"), can_distinguish({"a": 2.0, "b": 90.0}, "latency")
    (False, True)
    """
    return cost not in UNNOTICED_COST or (bool(costs) and len(list_equal_cost(costs, cost)[0]) < len(costs))


def choose_cost(costs: Mapping[str, Mapping[str, float]], taken: Collection[str]) -> str:
    """The first cost that tells those settings apart that may be taken: what others cost changes nothing.

    Args:
        costs: name of a cost -> setting -> what it costs, the cost that decides first where it can; at least one.
        taken: the settings that may be taken.

    >>> choose_cost({"latency": {"a": 7, "b": 19, "lost": 79}, "context_tokens": {"a": 548, "b": 1015}}, ["a", "b"])
    'context_tokens'
    """
    for name, known_costs in costs.items():
        if can_distinguish({setting: cost for setting, cost in known_costs.items() if setting in taken}, name):
            return name
    return next(iter(costs))


def round_unnoticed(costs: Sequence[float], cost: str) -> list[float]:
    """The costs in order, those that nobody tells from the least raised to the greatest of them.

    >>> round_unnoticed([2.0, 90.0, 41.0], "latency"), round_unnoticed([2.0, 90.0, 41.0], "context_tokens")
    ([41.0, 90.0, 41.0], [2.0, 90.0, 41.0])
    """
    if cost not in UNNOTICED_COST or not costs:
        return list(costs)
    equal_names, _ = list_equal_cost({str(n): value for n, value in enumerate(costs)}, cost)
    max_equal = max(costs[int(n)] for n in equal_names)
    return [max(value, max_equal) for value in costs]


def find_knee_point(
    quality: Sequence[float], cost: Sequence[float], *, logarithmic: bool = False
) -> tuple[int, float] | None:
    """The point of the front that lies farthest above the line between its ends, and by how much.

    distance = max over the front of y − x, with quality y and cost x scaled to [0, 1] between the ends

    Returns:
        None for a front of fewer than three points, which has no bend.

    Source: Satopää and others, Finding a "Kneedle" in a Haystack, 2011.

    >>> find_knee_point([0.0, 0.8, 1.0], [0.0, 2.0, 10.0])
    (1, 0.6000000000000001)
    """
    front = find_pareto_front(quality, cost)
    if len(front) < 3:
        return None
    costs = [log(cost[n]) if logarithmic else cost[n] for n in front]
    low, high = costs[0], costs[-1]
    bottom, top = quality[front[0]], quality[front[-1]]
    distances = [
        (quality[n] - bottom) / (top - bottom) - (axis_cost - low) / (high - low)
        for n, axis_cost in zip(front, costs, strict=True)
    ]
    best = max(range(len(front)), key=distances.__getitem__)
    return front[best], distances[best]


def find_knee(
    values: Array,
    cost: Sequence[float],
    clusters: npt.NDArray[np.integer] | None = None,
    *,
    logarithmic: bool = False,
    seed: int = 0,
) -> Knee:
    """The knee of mean quality against cost, and how often resamples of the examples agree.

    Args:
        values: shape (n, m), a row an example, a column a trial, larger is better; rows with NaN are left out.
        cost: of each trial, smaller is better; above 0 where it is taken as a logarithm.
        clusters: shape (n,), labels; drawn whole.
        logarithmic: scale the logarithm of cost.
        seed: of the resamples.
    """
    import numpy as np

    from ragauge.stats.bootstrap import resample_means

    complete = ~np.isnan(values).any(axis=1)
    if complete.sum() < 2:
        return Knee(None, 0.0, 0.0, "no clear knee: fewer than two examples have a score in every trial")
    if len(cost) < 3:
        return Knee(None, 0.0, 0.0, "no clear knee: fewer than three settings are on the front")
    if logarithmic and min(cost, default=1.0) <= 0:
        return Knee(None, 0.0, 0.0, "no clear knee: a cost of 0 has no logarithm")
    resampled = resample_means(
        values[complete], clusters=None if clusters is None else clusters[complete], resamples=RESAMPLES, seed=seed
    )
    point = find_knee_point(resampled.estimates.tolist(), cost, logarithmic=logarithmic)
    return _judge_knee(point, [find_knee_point(row, cost, logarithmic=logarithmic) for row in resampled.draws.tolist()])


def find_paired_knee(
    values: Array, costs: Array, clusters: npt.NDArray[np.integer] | None = None, *, seed: int = 0
) -> Knee:
    """As `find_knee`, where each example has its own cost, as 1 − its precision: both are drawn together.

    Args:
        values: shape (n, m), larger is better.
        costs: shape (n, m), smaller is better; rows with NaN in either are left out.
        clusters: shape (n,), labels; drawn whole.
        seed: of the resamples.
    """
    import numpy as np

    from ragauge.stats.bootstrap import resample_means

    both = np.hstack([values, costs])
    complete = ~np.isnan(both).any(axis=1)
    if complete.sum() < 2:
        return Knee(None, 0.0, 0.0, "no clear knee: fewer than two examples have a score in every trial")
    m, groups = values.shape[1], None if clusters is None else clusters[complete]
    resampled = resample_means(both[complete], clusters=groups, resamples=RESAMPLES, seed=seed)
    point = find_knee_point(resampled.estimates[:m].tolist(), resampled.estimates[m:].tolist())
    return _judge_knee(point, [find_knee_point(row[:m].tolist(), row[m:].tolist()) for row in resampled.draws])


def _judge_knee(point: tuple[int, float] | None, same: Sequence[tuple[int, float] | None]) -> Knee:
    """Whether a bend is one: far enough from the line, and seen in most resamples."""
    if point is None:
        return Knee(None, 0.0, 0.0, "no clear knee: fewer than three settings are on the front")
    agreement = sum(other is not None and other[0] == point[0] for other in same) / len(same)
    if point[1] < MIN_DISTANCE:
        return Knee(None, point[1], agreement, f"no clear knee: the bend is {point[1]:.2f}, below {MIN_DISTANCE}")
    if agreement < MIN_AGREEMENT:
        reason = f"no clear knee: {agreement:.0%} of the resamples agree, below {MIN_AGREEMENT:.0%}"
        return Knee(None, point[1], agreement, reason)
    return Knee(point[0], point[1], agreement)
