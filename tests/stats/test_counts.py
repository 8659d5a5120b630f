"""Fisher's test and Holm's correction."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from ragauge.core.errors import UsageError
from ragauge.stats.families import benjamini_hochberg, holm
from ragauge.stats.textbook_tests import fisher_greater, mcnemar_test


@settings(deadline=None)
@given(st.integers(0, 60), st.integers(0, 60), st.data())
def test_fisher_equals_scipy(n: int, other_n: int, data: st.DataObject) -> None:
    """fisher_greater is SciPy's one-sided exact test."""
    hits, other = data.draw(st.integers(0, n)), data.draw(st.integers(0, other_n))
    table = np.array([[hits, n - hits], [other, other_n - other]])
    theirs = scipy.stats.fisher_exact(table, alternative="greater").pvalue
    assert fisher_greater(hits, n, other, other_n) == pytest.approx(theirs, abs=1e-9)


def test_fisher_at_scale() -> None:
    """Large groups do not overflow."""
    assert fisher_greater(3_000, 20_000, 3_000, 30_000) < 1e-50
    assert fisher_greater(0, 20_000, 3_000, 30_000) == pytest.approx(1.0)


def test_fisher_refuses_impossible_counts() -> None:
    """More hits than trials is a UsageError."""
    with pytest.raises(UsageError, match="between 0 and the group's size 3"):
        fisher_greater(4, 3, 0, 1)


@pytest.mark.parametrize("sizes", [range(2, 31), pytest.param((*range(31, 61), 80, 100, 150), marks=pytest.mark.prove)])
@pytest.mark.parametrize("alternative", ["two-sided", "greater"])
def test_level_of_mcnemar(alternative: Any, sizes: Sequence[int]) -> None:
    """Over all outcomes McNemar's test cries wolf in at most 5.2 %, for every n and share of pairs that differ.

    Where more than nine of ten do it is without mid-p, which would be at 7.7 % of 16 pairs that all differ.
    """
    for n in sizes:
        level = np.zeros(n + 1)
        for k in range(1, n + 1):
            outcomes = np.arange(k + 1)
            found = [mcnemar_test(int(up), int(k - up), n, alternative) for up in outcomes]
            rejected = np.array([one is not None and one.p_value <= 0.05 for one in found])
            level[k] = float((scipy.stats.binom.pmf(outcomes, k, 0.5) * rejected).sum())
        differ = scipy.stats.binom.pmf(np.arange(n + 1), n, np.linspace(0.01, 1, 100)[:, None])
        assert (differ @ level).max() <= 0.0521
    sure, unsure = mcnemar_test(16, 0, 16), mcnemar_test(16, 0, 18)
    assert sure is not None
    assert unsure is not None
    assert (sure.method, unsure.method) == ("exact McNemar", "mid-p McNemar")
    assert (sure.p_value, unsure.p_value) == pytest.approx((2 * 0.5**16, 0.5**16))


def test_holm_by_hand() -> None:
    """Of 0.01, 0.02, 0.03, 0.2: 4·0.01, 3·0.02, max with 2·0.03, 1·0.2; order kept; at most 1."""
    assert holm([0.2, 0.01, 0.03, 0.02]) == pytest.approx([0.2, 0.04, 0.06, 0.06])
    assert holm([0.9, 0.8]) == pytest.approx([1.0, 1.0])
    assert holm([]) == []


def test_holm_holds_the_familywise_error() -> None:
    """Of 2,000 families of ten true nulls between 3.5 and 6.5 % raise any alarm at 0.05; without Holm about 40 %."""
    draw = random.Random(8)
    families_of_ten = [[draw.random() for _ in range(10)] for _ in range(2_000)]
    corrected = sum(min(holm(family)) < 0.05 for family in families_of_ten) / 2_000
    plain = sum(min(family) < 0.05 for family in families_of_ten) / 2_000
    assert 0.035 <= corrected <= 0.065
    assert plain > 0.3


@settings(deadline=None)
@given(st.lists(st.floats(0, 1), max_size=30))
def test_benjamini_hochberg_equals_scipy(p_values: list[float]) -> None:
    """The adjusted p-values are SciPy's, between the raw ones and Holm's."""
    ours = benjamini_hochberg(p_values)
    if p_values:
        assert ours == pytest.approx(scipy.stats.false_discovery_control(p_values), abs=1e-12)
    for raw, mild, strict in zip(p_values, ours, holm(p_values), strict=True):
        assert raw <= mild + 1e-15
        assert mild <= strict + 1e-12


def test_families_hold_their_level() -> None:
    """Of 1,500 families of 40 related tests without effect Holm raises one false alarm in at most 5 % (case 82).

    Where half of the metrics did move, at most 5 % of what Benjamini and Hochberg find is false, and they find more.
    """
    g, times = np.random.default_rng(9), 1_500
    d = (g.normal(0, 1, (times, 2, 40, 1)) + g.normal(0, 1, (times, 2, 40, 20))) / 2**0.5
    none = np.reshape(scipy.stats.ttest_1samp(d, 0, axis=2).pvalue, (times, 40))
    d[..., :10] += 0.5
    some = np.reshape(scipy.stats.ttest_1samp(d, 0, axis=2).pvalue, (times, 40))
    still = np.tile(np.arange(20) >= 10, 2)
    alarms = np.mean([min(holm(p)) <= 0.05 for p in none.tolist()])
    strict, mild = (np.array([adjust(p) for p in some.tolist()]) <= 0.05 for adjust in (holm, benjamini_hochberg))
    assert (none.min(axis=1) <= 0.05).mean() > 0.4  # what uncorrected tests would do
    assert 0.015 <= alarms <= 0.05
    assert np.mean(mild[:, still].sum(axis=1) / np.maximum(1, mild.sum(axis=1))) <= 0.05
    assert mild[:, ~still].mean() > strict[:, ~still].mean() + 0.1
