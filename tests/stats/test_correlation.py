"""Spearman's correlation of marks in clusters."""

from __future__ import annotations

import doctest

import numpy as np
import numpy.typing as npt
import pytest
import scipy.stats

from ragauge.errors import UsageError
from ragauge.stats import correlation
from ragauge.stats.correlation import spearman_of_marks

Draw = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64]]


def test_docstring_examples() -> None:
    """Every example in the docstrings gives what it says."""
    assert not doctest.testmod(correlation).failed


def answers(generator: np.random.Generator, count: int, spread: float = 0.0) -> Draw:
    """Ranks, uses and numbers of answers: some use much, some little; first passages more, with spread not always."""
    ranks, used, owner = [], [], []
    for answer in range(count):
        n = int(generator.integers(2, 7))
        leaning, slope = generator.normal(), 0.4 + spread * generator.normal()
        for rank in range(1, n + 1):
            ranks.append(rank)
            used.append(int(generator.random() < 1 / (1 + np.exp(slope * (rank - 2) - leaning))))
            owner.append(answer)
    return np.array(ranks), np.array(used), np.array(owner)


@pytest.mark.parametrize("seed", range(5))
def test_correlation_is_scipys(seed: int) -> None:
    """The correlation is SciPy's spearmanr, ties and all."""
    ranks, used, owner = answers(np.random.default_rng(seed), 30)
    rho, _ = spearman_of_marks(ranks, used, owner)
    assert rho == pytest.approx(scipy.stats.spearmanr(ranks, used).statistic, abs=1e-12)


def test_interval_is_the_jackknife_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """The interval is that of SciPy's spearmanr left one cluster out at a time, in one block or in many."""
    ranks, used, owner = answers(np.random.default_rng(3), 25)
    left = [scipy.stats.spearmanr(ranks[owner != g], used[owner != g]).statistic for g in range(25)]
    z = np.arctanh(left)
    error = np.sqrt(24 / 25 * ((z - z.mean()) ** 2).sum())
    centre = np.arctanh(scipy.stats.spearmanr(ranks, used).statistic)
    half = scipy.stats.t.ppf(0.975, 24) * error
    for cells in (correlation.CELLS, 12):
        monkeypatch.setattr(correlation, "CELLS", cells)
        _, interval = spearman_of_marks(ranks, used, owner)
        assert interval is not None
        assert (interval.low, interval.high) == pytest.approx((np.tanh(centre - half), np.tanh(centre + half)))


def test_order_does_not_matter() -> None:
    """Shuffled pairs, and clusters under other names, give the same."""
    generator = np.random.default_rng(4)
    ranks, used, owner = answers(generator, 40)
    places = generator.permutation(ranks.size)
    rho, interval = spearman_of_marks(ranks, used, owner)
    rho_too, interval_too = spearman_of_marks(ranks[places], used[places], -7 * owner[places])
    assert rho_too == pytest.approx(rho, abs=1e-12)
    assert interval is not None
    assert interval_too is not None
    assert (interval_too.low, interval_too.high) == pytest.approx((interval.low, interval.high), abs=1e-9)


@pytest.mark.parametrize(
    ("ranks", "used"), [([], []), ([1, 1, 1], [1, 0, 1]), ([1, 2, 3], [1, 1, 1]), ([1, 2, 3], [0, 0, 0])]
)
def test_nothing_to_correlate(ranks: list[int], used: list[int]) -> None:
    """Without pairs, with one rank only, or where all or none is used, there is no correlation."""
    assert spearman_of_marks(ranks, used, list(range(len(ranks)))) == (None, None)


def test_no_interval_that_nothing_supports() -> None:
    """A perfect correlation, one that rests on a single cluster, and one of two clusters have no interval."""
    rho, interval = spearman_of_marks([1, 2] * 4, [1, 0] * 4, [0, 0, 1, 1, 2, 2, 3, 3])
    assert rho == pytest.approx(-1)
    assert interval is None
    assert spearman_of_marks([1, 2, 3] * 3, [1, 0, 0, *[0] * 6], [0, 0, 0, 1, 1, 1, 2, 2, 2])[1] is None
    assert spearman_of_marks([1, 2, 3, 1, 2, 3], [1, 0, 0, 0, 1, 0], [0, 0, 0, 1, 1, 1])[1] is None


def test_lengths_and_marks_are_checked() -> None:
    """Arrays of different lengths and marks other than 0 and 1 are refused."""
    with pytest.raises(UsageError, match="as many"):
        spearman_of_marks([1, 2], [1], [1, 2])
    with pytest.raises(UsageError, match="0 or 1"):
        spearman_of_marks([1, 2], [1, 3], [1, 2])


def truth(spread: float) -> float:
    """The correlation of very many answers."""
    return float(scipy.stats.spearmanr(*answers(np.random.default_rng(0), 40_000, spread)[:2]).statistic)


@pytest.mark.parametrize(("count", "spread"), [(20, 0.0), (80, 0.0), (40, 1.5)])
def test_coverage_is_near_nominal(count: int, spread: float) -> None:
    """At level 0.95 between 91.5 and 97.5 % of 800 intervals hold the truth."""
    generator, hit, wanted = np.random.default_rng(5), 0, truth(spread)
    for _ in range(800):
        _, interval = spearman_of_marks(*answers(generator, count, spread))
        assert interval is not None
        hit += interval.low <= wanted <= interval.high
    assert 0.915 <= hit / 800 <= 0.975


def test_taking_pairs_as_independent_is_too_sure() -> None:
    """The simulation has teeth: where answers differ in what they use, one of single pairs covers below 90 %."""
    generator, hit, wanted = np.random.default_rng(6), 0, truth(1.5)
    for _ in range(300):
        ranks, used, _ = answers(generator, 40, 1.5)
        z = np.arctanh(scipy.stats.spearmanr(ranks, used).statistic)
        half = 1.96 * np.sqrt(1.06 / (ranks.size - 3))
        hit += np.tanh(z - half) <= wanted <= np.tanh(z + half)
    assert hit / 300 < 0.9
