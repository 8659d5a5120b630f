"""Where failed scores might lie decides who may fail, could have failed, and by how much."""

from __future__ import annotations

import numpy as np
import pytest
from tests.gating.scores import columns, pairs

from ragauge.gating.compute.decision import CheckCell, split_alpha
from ragauge.gating.compute.sample import FailedPlacement, MeanDifference, MetricLevel
from ragauge.metrics.catalogue import parse_metric
from ragauge.stats.mean_difference import paired_interval

FAITHFULNESS, RECALL = parse_metric("faithfulness"), parse_metric("recall@5")
# twenty scores of 0.5 and one that failed: the mean is 10/21 = 0.476 at least, 11/21 = 0.524 at most
HALVES = MetricLevel.of(FAITHFULNESS, columns([0.5] * 20 + [0.0], failed={20: (0.0, 1.0)}))


@pytest.mark.parametrize(
    ("above", "limit", "fails", "could", "passes"),
    [
        (True, 0.53, True, True, False),
        (True, 0.51, False, True, False),
        (True, 0.48, False, True, False),
        (True, 0.47, False, False, True),
        (False, 0.47, True, True, False),
        (False, 0.49, False, True, False),
        (False, 0.52, False, True, False),
        (False, 0.53, False, False, True),
    ],
)
def test_the_extremes_decide_on_the_estimate_alone(
    above: bool, limit: float, fails: bool, could: bool, passes: bool
) -> None:
    """It fails only if the best that is left fails, could have failed if the worst would, passes if the worst does."""
    cell = CheckCell(HALVES, limit, above, min_n=10, point=True)
    assert (cell.fails(), cell.could_fail(), cell.passes()) == (fails, could, passes)


@pytest.mark.parametrize("alpha", [0.05, 0.005])
@pytest.mark.parametrize("above", [True, False])
def test_could_have_failed_by_the_width_that_remains(above: bool, alpha: float) -> None:
    """What might have failed is bounded by the worst estimate and the width that no failed score can take away."""
    base = np.full(41, 0.5)
    new = base + np.append(np.tile([0.2, 0.0], 20), 0.0)
    sample = MeanDifference(pairs(RECALL, columns(new, failed={40: (0.4, 0.6)}), columns(base)))
    width = sample.compute_min_width(1 - 2 * alpha)
    least, most = sample.reach()
    assert width > 0.009
    end = least + width if above else most - width
    side = 1e-6 if above else -1e-6  # to where the limit is missed
    assert CheckCell(sample, end + side, above, min_n=10).could_fail(alpha)
    assert not CheckCell(sample, end - side, above, min_n=10).could_fail(alpha)
    harder = CheckCell(sample, end - side, above, min_n=10, strict=end + side)
    assert harder.could_fail(alpha)


def test_a_failed_baseline_is_put_where_it_hurts() -> None:
    """Least is the difference with the new score at its least and the baseline's at its greatest; most the reverse."""
    new, base = np.linspace(0.2, 0.9, 12), np.linspace(0.3, 0.8, 12)
    sample = MeanDifference(
        pairs(
            RECALL,
            columns([*new, 0.5, 0.0], failed={13: (0.1, 0.9)}),
            columns([*base, 0.0, 0.6], failed={12: (0.2, 0.7)}),
        )
    )
    ends: dict[FailedPlacement, tuple[list[float], list[float]]] = {
        "low": ([*new, 0.5, 0.1], [*base, 0.7, 0.6]),
        "high": ([*new, 0.5, 0.9], [*base, 0.2, 0.6]),
    }
    for where, (here, there) in ends.items():
        expected = paired_interval(here, there, kind="mean", bounds=(0, 1), level=0.9)
        found = sample.interval(0.9, where)
        assert found is not None
        assert expected is not None
        assert (found.low, found.high) == pytest.approx((expected.low, expected.high))


def test_the_baselines_reach_is_its_own() -> None:
    """The mean of the baseline reaches as far as its failed scores do, whatever the new run's scores are."""
    scored, lost = [0.9] * 10, {10: (0.0, 1.0)}
    sample = MeanDifference(pairs(RECALL, columns([0.1] * 11), columns([*scored, 0.0], failed=lost)))
    assert sample.compute_base_reach() == pytest.approx((9 / 11, 10 / 11))


def test_support_is_asked_at_the_level_of_the_check() -> None:
    """A p-value below the level, though above that at which flips always suffice, supports a failure; else none."""
    # 24 of 32 differ by −1, 8 by +1: sign flips see that in 0.35 % of patterns, one-sided
    d = np.array([-0.5] * 24 + [0.5] * 8)
    sample = MeanDifference(pairs(RECALL, columns(0.5 + d / 2), columns(np.full(32, 0.5))))
    assert sample.supported(0.05, worse_is_less=True)
    assert not sample.supported(0.002, worse_is_less=True)
    assert not sample.supported(0.05, worse_is_less=False)


def test_shares_sum_to_one() -> None:
    """Checks that are all of one kind share everything."""
    assert split_alpha([True, True]) == [0.5, 0.5]
    assert split_alpha([False]) == [1.0]
    assert sum(split_alpha([False, True, True, True])) == pytest.approx(1)
