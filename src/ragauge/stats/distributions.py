"""Tails and quantiles of Student's t, the normal and the binomial distribution.

Loading SciPy takes longer than a comparison of two runs, and these are all that most commands need of it.
"""

from __future__ import annotations

from functools import lru_cache
from math import atan, cos, exp, isfinite, lgamma, log, log1p, pi, sin, sqrt
from statistics import NormalDist

from ragauge.core.errors import UsageError

SMALL = 1e-300  # stands for 0 in a denominator
LARGE = 10.0  # from here on the error of Stirling's formula is a short series
MAX_STEPS = 100_000


def student_cdf(df: float, t: float) -> float:
    """P(T <= t) of Student's distribution, right to 12 digits up to 10,000 degrees of freedom, to 10 up to a million.

    P(T <= −t) = I_x(df/2, 1/2) / 2,  x = df / (df + t²),  t >= 0

    Args:
        df: degrees of freedom, above 0.
        t: any number, infinite too.

    Source: Abramowitz and Stegun (1964), 26.7.1; equals scipy.special.stdtr.

    >>> round(student_cdf(3, -2.0), 4)
    0.0697
    """
    if not isfinite(t):
        return float(t > 0)
    square = t * t
    tail = regularized_beta(df / 2, 0.5, df / (df + square), square / (df + square)) / 2
    return 1 - tail if t > 0 else tail


def binomial_cdf(k: int, n: int, p: float) -> float:
    """P(X <= k) of n trials of chance p, right to 12 digits.

    P(X <= k) = I_{1−p}(n − k, k + 1)

    Args:
        k: any whole number.
        n: trials, at least 0.
        p: chance of each, in (0, 1).

    Source: Abramowitz and Stegun (1964), 26.5.24; equals scipy.special.bdtr.

    >>> round(binomial_cdf(1, 3, 0.5), 12)
    0.5
    """
    if k < 0 or k >= n:
        return float(k >= n)
    return regularized_beta(n - k, k + 1, 1 - p, p)


def regularized_beta(a: float, b: float, x: float, complement: float) -> float:
    """The regularized incomplete beta function I_x(a, b).

    By its continued fraction, from the side on which that is short.

    Args:
        a: above 0.
        b: above 0.
        x: in [0, 1].
        complement: 1 − x, without the rounding that x may have.

    Source: Abramowitz and Stegun (1964), 26.5.8, evaluated as by Lentz; equals scipy.special.betainc.
    """
    if x <= 0 or complement <= 0:
        return float(complement <= 0)
    if x * (a + b + 2) > a + 1:
        return 1 - regularized_beta(b, a, complement, x)
    return _compute_height(a, b, x, complement) * _evaluate_fraction(a, b, x, complement) / a


def _compute_height(a: float, b: float, x: float, complement: float) -> float:
    """x^a (1 − x)^b / B(a, b), without the differences of large logarithms (Loader's saddle point form)."""
    n = a + b
    exponent = (
        _compute_stirling_error(n)
        - _compute_stirling_error(a)
        - _compute_stirling_error(b)
        - _compute_deviance(a, n * x)
        - _compute_deviance(b, n * complement)
    )
    return sqrt(a * b / (2 * pi * n)) * exp(exponent)


def _compute_deviance(observed: float, expected: float) -> float:
    """Returns seen log(seen / expected) + expected − seen."""
    off = (observed - expected) / (observed + expected)
    if abs(off) >= 0.1:
        return observed * log(observed / expected) + expected - observed
    total, power, step = (observed - expected) * off, 2 * observed * off, 1
    while True:
        power *= off * off
        step += 2
        following = total + power / step
        if following == total:
            return total
        total = following


def _compute_stirling_error(z: float) -> float:
    """How far log Γ(z) lies above (z − 1/2) log z − z + log(2π)/2."""
    if z < LARGE:
        return lgamma(z) - (z - 0.5) * log(z) + z - log(2 * pi) / 2
    w = 1 / (z * z)
    return (1 / 12 - w * (1 / 360 - w * (1 / 1260 - w * (1 / 1680 - w * (1 / 1188 - w * 691 / 360_360))))) / z


def _evaluate_fraction(a: float, b: float, x: float, complement: float) -> float:
    """The continued fraction of 26.5.8, by Lentz's method."""
    # 1 − (a + b) x / (a + 1), from the smaller of x and 1 − x
    start = 1 - (a + b) * x / (a + 1) if x < complement else (1 - b + (a + b) * complement) / (a + 1)
    c, d = 1.0, 1 / _avoid_zero(start)
    value = d
    for m in range(1, MAX_STEPS):
        last = value
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 / _avoid_zero(1 + term * d)
            c = _avoid_zero(1 + term / c)
            value *= c * d
        if abs(value - last) <= 1e-16 * value:
            break
    return value


def _avoid_zero(value: float) -> float:
    return value if abs(value) > SMALL else SMALL


@lru_cache(maxsize=8_192)
def t_quantile(df: float, level: float) -> float:
    """The t value that a share `level` of Student's distribution lies within, either side of 0.

    Loading SciPy for one number takes longer than everything else that a report needs, so it is asked last. From 80
    degrees of freedom on (1,000 for levels above 0.999) it is a series in 1/df, right to 8 digits and from 1,000 on to
    12; below, whole numbers of them are solved for by Newton's method, right to 9 digits.
    Source: Abramowitz and Stegun (1964), 26.7.3 to 26.7.5.

    >>> round(t_quantile(10, 0.95), 3)
    2.228
    """
    check_level(level)
    short = df >= (80 if level <= 0.999 else 1_000) and level <= 0.99999
    if not short and df == int(df) and level <= 0.99999:
        return _solve_t(int(df), level)
    if not short:
        from scipy.special import stdtrit

        return float(stdtrit(df, 0.5 + level / 2))
    z = NormalDist().inv_cdf(0.5 + level / 2)
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92_160,
    )
    return z + sum(term / df**power for power, term in enumerate(terms, 1))


def _solve_t(df: int, level: float) -> float:
    """Newton from the normal quantile, which lies below: the share is concave in t, so every step stays below."""
    log_height = lgamma((df + 1) / 2) - lgamma(df / 2) - log(df * pi) / 2
    t = normal_quantile(level)
    for _ in range(500):
        step = (level - _compute_share_within(t, df)) / (2 * exp(log_height - (df + 1) / 2 * log1p(t * t / df)))
        t += step
        if abs(step) <= 1e-13 * t:
            break
    return t


def _compute_share_within(t: float, df: int) -> float:
    """P(|T| < t) for a whole number of degrees of freedom: a finite sum in cos² of atan(t/√df)."""
    angle = atan(t / sqrt(df))
    squared, odd = cos(angle) ** 2, df % 2
    term, total = (cos(angle) if odd else 1.0), 0.0
    for n in range(odd, df - 1, 2):  # n terms' powers of cos: 1, 3 … or 0, 2 …
        total += term
        term *= squared * (n + 1) / (n + 2)
    inner = sin(angle) * total
    return 2 / pi * (angle + inner) if odd else inner


@lru_cache(maxsize=64)
def normal_quantile(level: float) -> float:
    """The z value that a share `level` of the normal distribution lies within, either side of 0.

    >>> round(normal_quantile(0.95), 3)
    1.96
    """
    check_level(level)
    return NormalDist().inv_cdf(0.5 + level / 2)


def check_level(level: float) -> None:
    """Refuses a confidence that is none."""
    if not 0 < level < 1:
        raise UsageError(f"level must lie between 0 and 1, got {level:g}. Write 0.95 for 95 %.")
