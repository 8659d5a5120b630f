"""Drift of what comes in: values by other implementations and by hand, and how often nothing is called something."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
import scipy.spatial.distance
from hypothesis import given
from hypothesis import strategies as st

from ragauge.core.errors import UsageError
from ragauge.stats.drift import js_divergence, mean_shift, neighbour_overlap, pairwise_kl

COUNTS = st.integers(2, 6).flatmap(
    lambda k: st.tuples(*[st.lists(st.integers(0, 50), min_size=k, max_size=k).filter(any) for _ in range(2)])
)


@given(COUNTS)
def test_js_is_the_square_of_scipys_distance(counts: tuple[list[int], list[int]]) -> None:
    """SciPy returns the square root; it is symmetric, and 0 only for equal shares."""
    before, now = counts
    found = js_divergence(before, now)
    assert found == pytest.approx(scipy.spatial.distance.jensenshannon(before, now, base=2) ** 2, abs=1e-7)
    assert found == pytest.approx(js_divergence(now, before))


def test_shift_is_the_linear_kernels_mmd() -> None:
    """The distance is the mean of all inner products within the sides less twice that between them."""
    draw = np.random.default_rng(3)
    x, y = draw.normal(size=(7, 4)), draw.normal(1.0, size=(5, 4))
    kernels = (x @ x.T).mean() + (y @ y.T).mean() - 2 * (x @ y.T).mean()
    assert mean_shift(x, y, permutations=9).distance == pytest.approx(kernels)


def test_p_is_that_of_all_relabellings() -> None:
    """With few vectors the share of all relabellings as far apart is what the drawn ones come to."""
    draw = np.random.default_rng(4)
    x, y = draw.normal(size=(5, 2)), draw.normal(0.8, size=(5, 2))
    pooled = np.concatenate([x, y])
    seen = mean_shift(x, y, permutations=1).distance
    apart = [  # all 252
        ((pooled[list(one)].mean(axis=0) - np.delete(pooled, one, axis=0).mean(axis=0)) ** 2).sum()
        for one in combinations(range(10), 5)
    ]
    exact = np.mean([distance >= seen * (1 - 1e-9) for distance in apart])
    assert mean_shift(x, y, permutations=9999).p == pytest.approx(exact, abs=4 * math.sqrt(exact * (1 - exact) / 9999))
    assert mean_shift(y, x, permutations=9999).p == pytest.approx(exact, abs=0.02)


def test_resamples_seldom_shift_and_foreign_queries_do() -> None:
    """Of 200 pairs of samples of one population about one in twenty has p ≤ .05; a tenth of foreign ones is found."""
    draw = np.random.default_rng(5)
    false = [mean_shift(draw.normal(size=(60, 8)), draw.normal(size=(60, 8)), permutations=99).p for _ in range(200)]
    assert 0.01 <= np.mean(np.array(false) <= 0.05) <= 0.10
    foreign = np.where(np.arange(500)[:, None] < 50, draw.normal(2.0, size=(500, 8)), draw.normal(size=(500, 8)))
    assert mean_shift(draw.normal(size=(500, 8)), foreign).p == 0.001


def test_shift_does_not_depend_on_where_all_lie() -> None:
    """Vectors far from 0 give the same distance and the same p."""
    draw = np.random.default_rng(6)
    x, y = draw.normal(size=(30, 3)), draw.normal(0.3, size=(20, 3))
    near, far = mean_shift(x, y), mean_shift(x + 1e6, y + 1e6)
    assert far.distance == pytest.approx(near.distance, rel=1e-6)
    assert far.p == near.p


def test_kl_by_hand() -> None:
    """Distances 1, 1, 2 against 1, 2, 2 in two bins: counts 2.5 and 1.5 of 4, and the other way round."""
    before, now = [[0.0], [1.0], [2.0]], [[0.0, 0.0], [1.0, 0.0], [0.5, math.sqrt(3.75)]]
    expected = 1.5 / 4 * math.log(1.5 / 2.5) + 2.5 / 4 * math.log(2.5 / 1.5)
    assert pairwise_kl(before, now, bins=2) == pytest.approx(expected)


def test_kl_sees_another_embedder_and_no_resample() -> None:
    """Vectors of another dimension are far off; another sample of the same cloud is near, drawn pairs included."""
    draw = np.random.default_rng(7)
    cloud, again, other = draw.normal(size=(300, 16)), draw.normal(size=(300, 16)), draw.normal(size=(300, 64))
    assert pairwise_kl(cloud, again) < 0.01
    assert pairwise_kl(cloud, other) > 1


def test_overlap() -> None:
    """Order within the first k is nothing; what one side lacks counts against it; empty pairs do not count."""
    assert neighbour_overlap([["a", "b", "c"]], [["c", "b", "a"]], 3) == 1
    assert neighbour_overlap([["a", "b"], []], [["a"], []], 5) == 0.5
    assert neighbour_overlap([[]], [[]], 5) is None
    assert neighbour_overlap([["a", "b"]], [["b", "a"]], 1) == 0


def test_what_is_refused() -> None:
    """Sides that do not fit each other are refused with what was got."""
    with pytest.raises(UsageError, match="embeddings differ in dimension: 2 before, 3 now"):
        mean_shift([[1, 2], [3, 4]], [[1, 2, 3], [4, 5, 6]])
    with pytest.raises(UsageError, match="now: expected at least two embeddings"):
        mean_shift([[1, 2], [3, 4]], [[1, 2]])
    with pytest.raises(UsageError, match="same clusters"):
        js_divergence([1, 2], [1, 2, 3])
    with pytest.raises(UsageError, match="1 before, 2 now"):
        neighbour_overlap([["a"]], [["a"], ["b"]], 1)
    with pytest.raises(UsageError, match="bins must be at least 2"):
        pairwise_kl([[1], [2]], [[1], [2]], bins=1)
