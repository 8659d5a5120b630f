"""Correlation of scores, pooled and within groups, and of ranks with marks in clusters."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
import scipy.stats

from ragauge.core.errors import UsageError
from ragauge.stats import correlation
from ragauge.stats.correlation import correlate, spearman_of_marks

Draw = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64]]


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
    for cells in (correlation.MAX_CELLS, 12):
        monkeypatch.setattr(correlation, "MAX_CELLS", cells)
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
    with pytest.raises(UsageError, match="values, marks and clusters differ in length: 2, 1, 2"):
        spearman_of_marks([1, 2], [1], [1, 2])
    with pytest.raises(UsageError, match="0 or 1"):
        spearman_of_marks([1, 2], [1, 3], [1, 2])


def truth(spread: float) -> float:
    """The correlation of very many answers."""
    return float(scipy.stats.spearmanr(*answers(np.random.default_rng(0), 40_000, spread)[:2]).statistic)


@pytest.mark.parametrize(
    ("count", "spread"),
    [(20, 0.0), pytest.param(80, 0.0, marks=pytest.mark.prove), pytest.param(40, 1.5, marks=pytest.mark.prove)],
)
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


# --- two scores ---


@pytest.mark.parametrize("seed", range(4))
def test_pooled_correlations_are_scipys(seed: int) -> None:
    """Pearson's and Spearman's correlations are SciPy's, ties and all, Pearson's interval too."""
    g = np.random.default_rng(seed)
    x = g.integers(0, 6, 40) / 5
    y = x + g.normal(0, 0.5, 40)
    pearson, spearman = correlate(x, y), correlate(x, y, method="spearman")
    theirs = scipy.stats.pearsonr(x, y)
    ends = theirs.confidence_interval()
    assert pearson is not None
    assert pearson.interval is not None
    assert pearson.value == pytest.approx(theirs.statistic)
    assert (pearson.interval.low, pearson.interval.high) == pytest.approx((ends.low, ends.high))
    assert spearman is not None
    assert spearman.value == pytest.approx(scipy.stats.spearmanr(x, y).statistic)


def test_within_groups_is_the_partial_correlation() -> None:
    """Within groups it is the correlation of what regression on the group leaves over."""
    g = np.random.default_rng(7)
    groups = g.integers(0, 4, 80)
    x, y = g.normal(groups, 1), g.normal(-groups, 1)
    dummies = np.eye(4)[groups]
    left = [side - dummies @ np.linalg.lstsq(dummies, side, rcond=None)[0] for side in (x, y)]
    found = correlate(x, y, within=groups)
    assert found is not None
    assert found.value == pytest.approx(np.corrcoef(left[0], left[1])[0, 1])
    assert (found.n, found.groups) == (80, 4)
    moved = correlate(x + 100 * groups, y - 7 * groups, within=groups)
    assert moved is not None
    assert moved.value == pytest.approx(found.value)


@pytest.mark.parametrize("method", ["pearson", "spearman"])
def test_coverage_within_groups(method: str) -> None:
    """Of 1,500 intervals within three groups of 12, 93 to 97 % hold the truth, which pooling would miss."""
    g, held, pooled = np.random.default_rng(8), 0, 0
    groups = np.repeat([0, 1, 2], 12)
    # Spearman's of 12 normal pairs is (6/π)·(asin(ρ) + (n−2)·asin(ρ/2)) / (n+1) on average (Moran 1948)
    truth = 0.5 if method == "pearson" else 6 / np.pi * (np.arcsin(0.5) + 10 * np.arcsin(0.25)) / 13
    for _ in range(1_500):
        x = g.normal(0, 1, 36)
        y = 0.5 * x + 0.75**0.5 * g.normal(0, 1, 36) - 3 * groups
        found = correlate(x + 3 * groups, y, method=method, within=groups)  # type: ignore[arg-type]
        whole = correlate(x + 3 * groups, y, method=method)  # type: ignore[arg-type]
        assert found is not None
        assert found.interval is not None
        assert whole is not None
        held += found.interval.low <= truth <= found.interval.high
        pooled += whole.value < 0
    assert 0.93 <= held / 1_500 <= 0.97
    assert pooled == 1_500


def test_scores_that_do_not_vary_have_no_correlation() -> None:
    """Constant scores, groups of one, and no pairs have none; few pairs and perfect ones have no interval."""
    assert correlate([], []) is None
    assert correlate([1, 1, 1], [1, 2, 3]) is None
    assert correlate([1, 2, 3], [1, 2, 3], within=["a", "b", "c"]) is None
    few = correlate([1, 2, 4], [1, 3, 2])
    assert few is not None
    assert few.interval is None
    for wrong in (([1, 2], [1]), ([1, float("nan")], [1, 2])):
        with pytest.raises(UsageError, match=r"must|differ in length"):
            correlate(*wrong)
