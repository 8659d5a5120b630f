"""Tests of differences: against SciPy, by hand, exactly, and their choice by kind."""

from __future__ import annotations

from collections.abc import Callable
from math import comb
from typing import Any

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.stats.students import paired_t

from ragauge.core.errors import UsageError
from ragauge.stats.difference import HypothesisTest, paired_test, unpaired_test
from ragauge.stats.sign_flips import MAX_FLIPPED, sign_flip
from ragauge.stats.skew_corrected_t import skew_corrected_test
from ragauge.stats.textbook_tests import fisher_mid_p, mcnemar_test, welch_t, wilcoxon

ALTERNATIVES: tuple[Any, ...] = ("two-sided", "greater", "less")


def p_of(found: HypothesisTest | None) -> float:
    assert found is not None
    return found.p_value


# --- sign flips ---


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_sign_flips_of_few_pairs_are_scipys_exact_permutation(alternative: Any) -> None:
    """With all patterns taken, p is that of scipy.stats.permutation_test over all of them, ties included."""
    for seed in range(6):
        d = np.random.default_rng(seed).integers(-4, 5, 9) / 4 + 0.25
        theirs = scipy.stats.permutation_test(
            (d,), np.sum, permutation_type="samples", alternative=alternative, n_resamples=2**9
        )
        ours = sign_flip(d, alternative=alternative)
        # SciPy's two-sided p is twice the smaller tail; of sums that are symmetric about 0 that is the same
        assert p_of(ours) == pytest.approx(theirs.pvalue)
        assert ours is not None
        assert ours.method == "sign flips, exact"


def test_no_resample_as_extreme_is_one_of_a_thousand() -> None:
    """With none of 999 resamples as extreme p is 0.001, never 0 (case 70)."""
    assert p_of(sign_flip(np.full(60, 2.0), resamples=999)) == 0.001
    assert p_of(sign_flip(np.full(60, 2.0), resamples=999, alternative="less")) == 1.0


def test_sampled_flips_are_near_the_exact_answer() -> None:
    """Random patterns give p within their noise of all patterns, the same for a seed."""
    d = np.random.default_rng(3).normal(0.4, 1, 16)
    exact = p_of(sign_flip(d, resamples=2**16))
    sampled = p_of(sign_flip(d))
    assert sampled == pytest.approx(exact, abs=4 * (exact / 10_000) ** 0.5)
    assert sampled == p_of(sign_flip(d))
    assert sampled != p_of(sign_flip(d, seed=2))


def test_clusters_flip_together() -> None:
    """Ten copies of eight differences, clustered, are the test of the eight; unclustered they would prove far more."""
    d = np.array([1.0, 2, 3, -1, 4, 2, 5, -2])
    copies, labels = np.repeat(d, 10), np.repeat(np.arange(8), 10)
    assert p_of(sign_flip(copies, clusters=labels)) == p_of(sign_flip(d))
    assert p_of(sign_flip(copies)) < p_of(sign_flip(d)) / 10
    assert p_of(paired_t(copies, clusters=labels)) == pytest.approx(p_of(paired_t(d)))


def test_weights_scale_the_flipped_parts() -> None:
    """A weighted difference flips as the product does, and a weight of 0 leaves a pair out."""
    d, w = np.array([1.0, -1, 2, 3, 1]), np.array([1.0, 4, 1, 1, 0])
    assert p_of(sign_flip(d, weights=w)) == p_of(sign_flip((d * w)[:4]))
    found = sign_flip(d, weights=w)
    assert found is not None
    assert found.estimate == pytest.approx((1 - 4 + 2 + 3) / 7)
    assert found.n == 4


# --- counts ---


@pytest.mark.parametrize(("gained", "lost"), [(2, 8), (8, 2), (5, 5), (0, 5), (0, 0), (30, 51)])
def test_mcnemar_mid_p_is_exact_less_half_of_what_was_seen(gained: int, lost: int) -> None:
    """Mid-p is SciPy's exact binomial p less the chance of what was seen (half of it in either tail)."""
    n = gained + lost
    exact = scipy.stats.binomtest(gained, n).pvalue if n else 1.0
    seen = comb(n, gained) / 2**n
    wanted = 1.0 if gained == lost else exact - seen
    assert p_of(mcnemar_test(gained, lost, 100)) == pytest.approx(wanted)
    for alternative in ("greater", "less"):
        one = scipy.stats.binomtest(gained, n, alternative=alternative).pvalue if n else 1.0
        assert p_of(mcnemar_test(gained, lost, 100, alternative)) == pytest.approx(one - seen / 2)


@pytest.mark.parametrize("table", [(8, 10, 1, 10), (0, 5, 3, 9), (40, 70, 30, 80), (3, 6, 2, 4), (0, 9, 0, 9)])
def test_fisher_mid_p_is_exact_less_half_of_what_was_seen(table: tuple[int, int, int, int]) -> None:
    """One-sided mid-p is SciPy's Fisher test less half the chance of the table; two-sided twice the smaller."""
    hits, n, other, other_n = table
    cells = np.array([[hits, n - hits], [other, other_n - other]])
    seen = float(scipy.stats.hypergeom.pmf(hits, n + other_n, hits + other, n))
    sides = []
    for alternative in ("greater", "less"):
        wanted = float(scipy.stats.fisher_exact(cells, alternative=alternative).pvalue) - seen / 2
        assert p_of(fisher_mid_p(*table, alternative)) == pytest.approx(wanted)
        sides.append(wanted)
    assert p_of(fisher_mid_p(*table)) == pytest.approx(min(1, 2 * min(sides)))


# --- t and ranks ---


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("n", [2, 5, 40, 3_000])
def test_t_tests_equal_scipy(n: int, alternative: Any) -> None:
    """Paired and Welch's t are SciPy's, in p, statistic and sign."""
    g = np.random.default_rng(n)
    new, base = g.normal(0.2, 2, n), g.normal(0, 1, n)
    theirs: Any = scipy.stats.ttest_rel(new, base, alternative=alternative)
    ours = paired_t(new - base, alternative=alternative)
    assert ours is not None
    assert (ours.p_value, ours.statistic) == pytest.approx((theirs.pvalue, theirs.statistic))
    other = g.normal(0, 1, n + 3)
    apart: Any = scipy.stats.ttest_ind(new, other, equal_var=False, alternative=alternative)
    found = welch_t(new, other, alternative=alternative)
    assert found is not None
    assert (found.p_value, found.statistic) == pytest.approx((apart.pvalue, apart.statistic))


@pytest.mark.parametrize("zeros", ["wilcox", "pratt", "zsplit"])
def test_wilcoxon_treats_ties_and_zeros_as_asked(zeros: Any) -> None:
    """The signed-rank test is SciPy's with the same rule for zeros, and the rules differ."""
    d = np.random.default_rng(2).integers(-3, 6, 60) / 4
    theirs: Any = scipy.stats.wilcoxon(d, zero_method=zeros)
    assert p_of(wilcoxon(d, zeros=zeros)) == theirs.pvalue
    assert p_of(wilcoxon(d, zeros="wilcox")) != p_of(wilcoxon(d, zeros="pratt"))
    assert p_of(wilcoxon([0.0, 0.0, 0.0], zeros=zeros)) == 1.0


# --- the choice ---


def test_test_follows_the_kind() -> None:
    """Pairs of 0 and 1 take McNemar, everything else the corrected t, where few differ held back by sign flips."""
    g = np.random.default_rng(0)
    base, new = (g.random((2, 1_000)) < 0.6).astype(float)
    gained, lost = int((new > base).sum()), int((new < base).sum())
    assert paired_test(new, base, kind="rate") == mcnemar_test(gained, lost, 1_000)
    assert paired_test(new, base, kind="rate", weights=[3.0] * 1_000) == mcnemar_test(gained, lost, 1_000)
    assert paired_test(new, base, kind="mean") == mcnemar_test(gained, lost, 1_000)
    assert paired_test(new, base, kind="amount") == skew_corrected_test(new - base)
    assert paired_test(new / 2, base / 2, kind="mean") == skew_corrected_test(new / 2 - base / 2)
    assert gained + lost > MAX_FLIPPED
    many = np.arange(1_000) // 2
    assert paired_test(new, base, kind="mean", clusters=many) == skew_corrected_test(new - base, clusters=many)
    five = np.arange(1_000) // 200
    assert paired_test(new, base, kind="mean", clusters=five) == skew_corrected_test(new - base, clusters=five)
    weights = g.random(1_000) + 0.5
    assert paired_test(new, base, kind="rate", weights=weights) == skew_corrected_test(new - base, weights=weights)
    assert paired_test(new, base, kind="rate", clusters=np.arange(1_000)) == mcnemar_test(gained, lost, 1_000)
    continuous = g.normal(0.3, 1, 30)
    assert paired_test(continuous, 0 * continuous, kind="amount") == skew_corrected_test(continuous)


def test_a_mean_of_0_and_1_is_a_rate() -> None:
    """Six losses and no win of 30 are as much worse on a bounded mean whose scores are 0 and 1 as on a rate: 1/64."""
    base, new = np.ones(30), np.r_[np.zeros(6), np.ones(24)]
    for kind in ("rate", "mean"):
        assert p_of(paired_test(new, base, kind=kind)) == pytest.approx(1 / 64)
        down = p_of(paired_test(new, base, kind=kind, alternative="less"))
        assert down == pytest.approx(1 / 128)
    assert p_of(paired_test(new, base, kind="amount")) == 2 / 64


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_sign_flips_hold_back_where_few_differ_or_sizes_repeat(alternative: Any) -> None:
    """Then p is the larger of the corrected t and sign flips; where t alone is far from 0.05 flips are not asked."""
    g = np.random.default_rng(4)
    asked = 0
    for _ in range(60):
        d = np.where(g.random(40) < 0.5, g.integers(-5, 6, 40) / 4, 0.0)
        labels = np.arange(40) // 2
        both: tuple[dict[str, Any], ...] = ({}, {"clusters": labels})
        for options in both:
            found = paired_test(d, 0 * d, kind="mean", alternative=alternative, **options)
            by_t, flips = (
                skew_corrected_test(d, alternative=alternative, shorten=False, **options),
                sign_flip(d, alternative=alternative, resamples=99_999, **options),
            )
            assert found is not None
            assert found.method.endswith("t and sign flips")
            if p_of(by_t) > 0.2:
                assert p_of(found) == p_of(by_t)
            else:
                asked += 1
                wanted = max(p_of(by_t), p_of(flips))
                assert wanted - 4 * (wanted / 10_000) ** 0.5 <= p_of(found) <= max(wanted * 1.2 + 0.003, 1e-3)
    assert asked > 20


def test_four_of_a_thousand_prove_nothing() -> None:
    """Four pairs of a thousand that all moved one way are p = 2/2⁴, whatever t says."""
    d = np.zeros(1_000)
    d[:4] = 0.5
    assert p_of(paired_test(d, 0 * d, kind="mean")) == 2 / 2**4
    assert p_of(paired_test(d, 0 * d, kind="mean", alternative="greater")) == 1 / 2**4
    assert p_of(paired_t(d)) < 0.05


def test_where_signs_are_too_many_to_count_a_bound_on_them_stands() -> None:
    """A p too small for 9,999 flips is not 1 in 10,000 but Hoeffding's bound, never below what all signs would say."""
    for seed in range(5):
        g = np.random.default_rng(seed)
        d = np.where(g.random(80) < 0.8, g.integers(1, 4, 80) / 4, -0.25)
        found = paired_test(d, 0 * d, kind="mean")
        assert 0 < p_of(found) < 1e-3
        flips = p_of(sign_flip(d, resamples=99_999))
        assert p_of(found) >= flips - 1e-5 or flips == pytest.approx(1e-5)


def test_unpaired_test_follows_the_kind() -> None:
    """0/1 rates of two samples take Fisher's mid-p, everything else Welch's t."""
    new, base = [1.0] * 8 + [0.0] * 2, [1.0] + [0.0] * 9
    assert unpaired_test(new, base, kind="rate") == fisher_mid_p(8, 10, 1, 10)
    assert unpaired_test(new, base, kind="mean") == welch_t(new, base)
    weights = ([1.0] * 9 + [2.0], None)
    assert unpaired_test(new, base, kind="rate", weights=weights) == welch_t(new, base, weights=weights)
    labels = [i // 2 for i in range(10)]
    found = unpaired_test(new, base, kind="rate", clusters=(labels, labels))
    assert found == welch_t(new, base, clusters=(labels, labels))
    assert found is not None
    assert found.method == "clustered Welch's t"


def test_constant_samples_are_counted() -> None:
    """Samples that are each constant have no t: they are counted, clusters once; pairs all alike flip their signs."""
    assert p_of(unpaired_test([0.9] * 10, [0.5] * 10, kind="mean")) == pytest.approx(p_of(fisher_mid_p(10, 10, 0, 10)))
    clusters = ([i // 2 for i in range(10)],) * 2
    grouped = unpaired_test([0.5] * 10, [0.9] * 10, kind="mean", clusters=clusters)
    assert p_of(grouped) == pytest.approx(p_of(fisher_mid_p(0, 5, 5, 5)))
    assert grouped is not None
    assert grouped.estimate == pytest.approx(-0.4)
    assert p_of(unpaired_test([0.5] * 10, [0.5] * 10, kind="mean")) == 1.0
    assert p_of(paired_test([0.9] * 10, [0.5] * 10, kind="mean")) == 2 / 2**10
    assert p_of(paired_test([0.9] * 500, [0.5] * 500, kind="mean")) == 1e-4


def test_same_run_twice_is_no_difference() -> None:
    """A run against itself has p = 1 and the difference 0 (case 75), of every kind."""
    values = np.random.default_rng(1).integers(0, 2, 300).astype(float)
    kinds: tuple[Any, ...] = ("rate", "mean", "amount")
    for kind in kinds:
        found = paired_test(values, values, kind=kind)
        assert found is not None
        assert (found.p_value, found.estimate) == (1.0, 0.0)


@pytest.mark.parametrize("kind", ["rate", "mean", "amount"])
def test_too_few_pairs_have_no_test(kind: Any) -> None:
    """Fewer than two pairs, samples' values or clusters have no test, never a p of 0 or 1 (case 72)."""
    assert paired_test([], [], kind=kind) is None
    assert paired_test([1.0], [0.0], kind=kind) is None
    assert paired_test([1.0, 0.0], [0.0, 0.0], kind=kind, clusters=["a", "a"]) is None
    assert paired_test([1.0, 0.0], [0.0, 0.0], kind=kind, weights=[1.0, 0.0]) is None
    assert unpaired_test([1.0], [0.0, 1.0, 0.0], kind=kind) is None
    assert unpaired_test([1.0, 1.0], [0.0, 0.0], kind=kind, weights=([1.0, 0.0], None)) is None
    for single in (sign_flip, paired_t, wilcoxon):
        assert single([0.5]) is None
    assert mcnemar_test(1, 0, 1) is None
    assert fisher_mid_p(0, 0, 1, 3) is None


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from([0.0, 0.25, 1.0]), st.sampled_from([0.0, 0.25, 1.0])), min_size=2, max_size=25),
    st.sampled_from(["rate", "mean"]),
)
def test_laws_of_tests(pairs: list[tuple[float, float]], kind: Any) -> None:
    """0 < p <= 1; swapping the sides swaps the one-sided tests; the estimate is the mean difference."""
    new, base = (np.array([pair[side] for pair in pairs]) for side in (0, 1))
    for test in (paired_test, unpaired_test):
        found: Any = {of: test(new, base, kind=kind, alternative=of) for of in ALTERNATIVES}
        back: Any = {of: test(base, new, kind=kind, alternative=of) for of in ALTERNATIVES}
        for one, other in (("two-sided", "two-sided"), ("greater", "less"), ("less", "greater")):
            assert 0 < found[one].p_value <= 1
            assert found[one].p_value == pytest.approx(back[other].p_value, abs=0.02)  # flips are random
            assert found[one].estimate == pytest.approx(new.mean() - base.mean(), abs=1e-12)


@pytest.mark.parametrize(
    "call",
    [
        lambda: paired_test([1, 2], [1], kind="mean"),
        lambda: paired_test([1, 2], [1, 3], kind="mean", weights=[1, -1]),
        lambda: paired_test([1, 2], [1, 3], kind="mean", weights=[1]),
        lambda: paired_test([1, 2], [1, 3], kind="mean", clusters=["a"]),
        lambda: paired_test([1, float("nan")], [1, 3], kind="mean"),
        lambda: wilcoxon([1, float("nan")]),
        lambda: mcnemar_test(5, 6, 10),
        lambda: fisher_mid_p(5, 4, 6, 10),
    ],
)
def test_wrong_arguments_are_named(call: Callable[[], object]) -> None:
    """Sides of unequal length, wrong weights, clusters and counts, and missing scores are UsageErrors."""
    with pytest.raises(UsageError, match=r"must|differ in length"):
        call()
