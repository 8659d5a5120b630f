"""Plans of monitors: more scores see a drop sooner, and what is simulated is what the test does."""

from __future__ import annotations

import numpy as np
import pytest

from ragauge.core.errors import UsageError
from ragauge.monitoring.plan.compute import PlannedMonitor, generate_scores, monitor_plan


def test_more_scores_see_it_sooner() -> None:
    """Ten times the rate sees a drop sooner and costs ten times as much; a larger drop is seen sooner."""
    plan = monitor_plan(generate_scores(0.9, 0.2), PlannedMonitor(1000, cost=0.01, series=4))
    by_rate = {one.rate: one for one in plan.rates}
    assert by_rate[1.0].cost == pytest.approx(10 * (by_rate[0.1].cost or 0))
    medians = [[one.delays[n].median or np.inf for one in plan.rates] for n in range(3)]
    for of_drop in medians:
        assert of_drop == sorted(of_drop, reverse=True)
    for of_rate in zip(*medians, strict=True):
        assert list(of_rate) == sorted(of_rate, reverse=True)
    # 10 %: the reference is 0.873, the mean falls to 0.81, its deviation rises to 0.33: ((2.24·0.33 + 0.84·0.33) /
    # 0.063)² = 262 scores by a z test at 5 % / 4, of which the test takes 1 to 2 times as many
    assert 200 <= 1000 * medians[1][-1] <= 600


@pytest.mark.parametrize(("mean", "deviation"), [(0.9, 0.2), (0.5, 0.5), (0.97, 0.05)])
def test_scores_have_what_is_asked(mean: float, deviation: float) -> None:
    """Scores made of a mean and a deviation have both."""
    values = generate_scores(mean, deviation)
    assert (values.mean(), values.std()) == pytest.approx((mean, deviation), abs=0.01)
    assert 0 <= values.min() <= values.max() <= 1


def test_what_cannot_be() -> None:
    """A deviation that no scores in [0, 1] have, and scores of 0, are refused in words."""
    with pytest.raises(UsageError, match=r"a mean of 0\.9 allows at most 0\.300|A mean of 0\.9 allows at most 0\.300"):
        generate_scores(0.9, 0.4)
    with pytest.raises(UsageError, match="at least two scores with a mean above 0"):
        monitor_plan(np.zeros(10), PlannedMonitor(1000))
