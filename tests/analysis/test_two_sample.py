"""A classifier tells a planted difference for what it is, and equal draws for nothing."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from ragauge.testsets.stats.set_power import classify_questions


@pytest.mark.parametrize(("draws", "least"), [(60, 0.9), pytest.param(200, 0.93, marks=pytest.mark.prove)])
@pytest.mark.parametrize(("sizes", "clustered"), [((60, 60), False), ((40, 120), False), ((80, 80), True)])
def test_equal_draws_are_alike(sizes: tuple[int, int], clustered: bool, draws: int, least: float) -> None:
    """Of 200 pairs of equal draws the interval holds 0.5 in at least 93 of 100, of all features and of each kind."""
    held = np.zeros(3)
    for seed in range(draws):
        rng = np.random.default_rng(seed)
        n = sum(sizes)
        groups = np.arange(n) // 4 if clustered else np.arange(n)
        here = np.arange(n) < sizes[0]
        features = {
            "a": rng.normal(size=(n, 2)) + (rng.normal(size=(n, 2))[groups] if clustered else 0.0),
            "b": rng.normal(size=(n, 8)) + (rng.normal(size=(n, 8))[groups] if clustered else 0.0),
        }
        whole, each = classify_questions(features, here.tolist(), [str(one) for one in groups], seed)
        for k, (_, interval) in enumerate((whole, each["a"], each["b"])):
            assert interval is not None
            held[k] += interval.low <= 0.5 <= interval.high
    assert (held / draws >= least).all(), held


def test_a_planted_difference_is_told() -> None:
    """Shifted by one deviation in one feature, the AUROC is Φ(1/√2) = 0.76, that of the feature; others stay at 0.5."""
    values, held = [], 0
    true = float(norm.cdf(1 / np.sqrt(2)))
    for seed in range(20):
        rng = np.random.default_rng(seed)
        here = np.arange(400) < 200
        features = {"moved": rng.normal(size=(400, 1)) + here[:, None], "same": rng.normal(size=(400, 4))}
        whole, each = classify_questions(features, here.tolist(), [str(n) for n in range(400)], seed)
        values.append(whole[0])
        assert whole[1] is not None
        assert each["same"][1] is not None
        assert whole[1].low > 0.5
        held += whole[1].low <= true <= whole[1].high
        assert abs(each["moved"][0] - true) < 0.06
        assert abs(each["same"][0] - 0.5) < 0.12
    assert abs(np.mean(values) - true) < 0.02
    assert held >= 18
