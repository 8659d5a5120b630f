"""Tails of distributions without SciPy, held to SciPy's incomplete beta function.

Its `stdtr` and `bdtr` are an older code: at 100,000 trials `bdtr` and `betainc` differ from the tenth digit on.
"""

from __future__ import annotations

from math import inf

import numpy as np
import pytest
from scipy.special import bdtr, betainc, betaincc, stdtr

from ragauge.stats.distributions import binomial_cdf, regularized_beta, student_cdf

DEGREES = (0.3, 1, 1.7, 2, 3, 5, 10, 30.5, 79, 200, 1_000.25, 9_999, 1e6)


@pytest.mark.parametrize("df", DEGREES)
def test_student_is_scipys(df: float) -> None:
    """P(T <= t) is half the incomplete beta function to 11 digits (10 for a million df), and SciPy's to 9."""
    right = 1e-11 if df < 1e5 else 1e-10
    for t in (0.0, 1e-12, 1e-3, 0.1, 0.5, 1.0, 1.96, 2.5, 3.7, 6.0, 12.0, 30.0):
        expected = float(betaincc(0.5, df / 2, t * t / (df + t * t))) / 2 if t > 1e-6 else 0.5
        assert student_cdf(df, -t) == pytest.approx(expected, rel=right, abs=1e-290)
        assert student_cdf(df, t) == pytest.approx(1 - expected, rel=right)
        assert student_cdf(df, -t) == pytest.approx(float(stdtr(df, -t)), rel=1e-9, abs=1e-290)


def test_student_ends() -> None:
    """Everything lies below infinity, nothing below its opposite."""
    assert (student_cdf(5, inf), student_cdf(5, -inf)) == (1.0, 0.0)


@pytest.mark.parametrize("n", [1, 2, 7, 40, 333, 5_000, 100_000])
@pytest.mark.parametrize("p", [0.01, 0.5, 0.95])
def test_binomial_is_scipys(n: int, p: float) -> None:
    """P(X <= k) is the incomplete beta function to 11 digits over the whole range of k, and SciPy's to 9."""
    spread = (n * p * (1 - p)) ** 0.5
    middle = {round(n * p + shift * spread) for shift in range(-6, 7)}
    for k in sorted({-1, 0, n - 1, n, n + 1} | {k for k in middle if 0 <= k <= n}):
        expected = 0.0 if k < 0 else 1.0 if k >= n else float(betainc(n - k, k + 1, 1 - p))
        assert binomial_cdf(k, n, p) == pytest.approx(expected, rel=1e-11, abs=1e-290)
        if 0 <= k <= n:
            assert binomial_cdf(k, n, p) == pytest.approx(float(bdtr(k, n, p)), rel=1e-9, abs=1e-290)


def test_beta_is_scipys() -> None:
    """The incomplete beta function equals SciPy's to 11 digits over shapes from 0.2 to 100,000."""
    draw = np.random.default_rng(3)
    for _ in range(400):
        a, b = 10 ** draw.uniform(-0.7, 5, 2)
        x = float(np.clip(draw.beta(a, b), 1e-9, 1 - 1e-9))
        assert regularized_beta(a, b, x, 1 - x) == pytest.approx(float(betainc(a, b, x)), rel=1e-10)
