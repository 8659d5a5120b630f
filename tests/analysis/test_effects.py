"""What values of parameters change: planted effects, zeros and interactions are found as such."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from ragauge.metrics.catalogue import parse_metric
from ragauge.studies.effects import compute_effects, find_interactions
from ragauge.studies.sweep.race_runner import find_losers

METRIC = parse_metric("context_recall")
SPACE: dict[str, list[Any]] = {"k": [1, 5], "retriever": ["bm25", "hybrid"], "shown": [False, True]}
TRIALS: list[dict[str, Any]] = [dict(zip(SPACE, row, strict=True)) for row in product(*SPACE.values())]
BASE = {name: values[0] for name, values in SPACE.items()}


def planted(seed: int, n: int = 200, together: float = 0.0) -> Any:
    """Scores where k=5 adds .10, hybrid and shown add nothing, and k=5 with hybrid adds `together` besides."""
    rng = np.random.default_rng(seed)
    common = rng.normal(0.5, 0.12, (n, 1))
    means = [0.1 * (one["k"] == 5) + together * (one["k"] == 5 and one["retriever"] == "hybrid") for one in TRIALS]
    return np.clip(common + np.array(means) + rng.normal(0, 0.08, (n, len(TRIALS))), 0, 1)


def test_difference_is_the_mean_over_pairs_and_examples() -> None:
    """An effect is what hand arithmetic gives: the mean difference over all pairs otherwise equal, and so are costs."""
    values = planted(0)
    (effect,) = (
        one
        for one in compute_effects(TRIALS, values, METRIC, BASE, costs={"cost": [float(t["k"]) for t in TRIALS]})
        if one.parameter == "k"
    )
    high = [n for n, one in enumerate(TRIALS) if one["k"] == 5]
    low = [n for n, one in enumerate(TRIALS) if one["k"] == 1]
    assert effect.pairs == 4
    assert effect.difference == pytest.approx((values[:, high] - values[:, low]).mean())
    assert effect.costs == {"cost": 4.0}


@pytest.mark.parametrize("seeds", [50, pytest.param(100, marks=pytest.mark.prove)])
def test_planted_verdicts_in_a_hundred_seeds(seeds: int) -> None:
    """A planted effect matters, planted zeros lie inside the noise, each in at least 95 of 100 seeds."""
    right = {"k": 0, "retriever": 0, "shown": 0}
    for seed in range(seeds):
        for one in compute_effects(TRIALS, planted(seed), METRIC, BASE):
            right[one.parameter] += one.verdict == ("matters" if one.parameter == "k" else "inside the noise")
    assert min(right.values()) >= 0.95 * seeds, right


@pytest.mark.parametrize("seeds", [20, pytest.param(100, marks=pytest.mark.prove)])
def test_interaction_is_found_and_none_is_invented(seeds: int) -> None:
    """A k that helps hybrid alone is named in 95 of 100 seeds; without it at most 5 of 100 seeds name any."""
    found = sum(
        ("k", 5)
        in {
            pair
            for one in find_interactions(TRIALS, planted(seed, together=0.1), METRIC, BASE)
            for pair in (one.first, one.second)
        }
        for seed in range(seeds)
    )
    invented = sum(bool(find_interactions(TRIALS, planted(seed), METRIC, BASE)) for seed in range(seeds))
    assert found >= 0.95 * seeds
    assert invented <= 0.05 * seeds + 3 * (0.05 * 0.95 * seeds) ** 0.5  # 5 % and three standard errors


def test_missing_scores_cost_their_pairs_alone() -> None:
    """An example that one trial of a pair has no score for is left out of that pair, not of the others."""
    values = planted(1)
    values[:50, 0] = np.nan
    effects = {one.parameter: one for one in compute_effects(TRIALS, values, METRIC, BASE)}
    assert effects["k"].examples == 200
    values[:, :] = np.nan
    assert all(one.difference is None for one in compute_effects(TRIALS, values, METRIC, BASE))


def test_margin_drops_what_cannot_lead_by_it_and_never_the_leader() -> None:
    """With a margin, ties with the leader are dropped and the leader stays; without one, ties stay."""
    rng = np.random.default_rng(2)
    common = rng.normal(0.6, 0.1, 150)
    bounds = {name: (scores, scores) for name in "abc" for scores in [common + rng.normal(0, 0.02, 150)]}
    assert find_losers(bounds, 1, 0.05) == []
    dropped = find_losers(bounds, 1, 0.05, margin=0.05)
    assert len(dropped) == 2
    leader = max(bounds, key=lambda name: bounds[name][0].mean())
    assert leader not in {one.trial for one in dropped}
    assert all(one.rival == leader and one.margin == 0.05 for one in dropped)
