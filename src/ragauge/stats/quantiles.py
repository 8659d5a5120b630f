"""Quantiles of Student's and of the normal distribution, without SciPy where it can be spared."""

from __future__ import annotations

from functools import lru_cache
from math import atan, cos, exp, lgamma, log, log1p, pi, sin, sqrt
from statistics import NormalDist

from ragauge.errors import UsageError


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
        return _t_solved(int(df), level)
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


def _t_solved(df: int, level: float) -> float:
    """Newton from the normal quantile, which lies below: the share is concave in t, so every step stays below."""
    log_height = lgamma((df + 1) / 2) - lgamma(df / 2) - log(df * pi) / 2
    t = normal_quantile(level)
    for _ in range(500):
        step = (level - _share_within(t, df)) / (2 * exp(log_height - (df + 1) / 2 * log1p(t * t / df)))
        t += step
        if abs(step) <= 1e-13 * t:
            break
    return t


def _share_within(t: float, df: int) -> float:
    """P(|T| < t) for a whole number of degrees of freedom: a finite sum in cos² of atan(t/√df)."""
    angle = atan(t / sqrt(df))
    squared, odd = cos(angle) ** 2, df % 2
    term, total = (cos(angle) if odd else 1.0), 0.0
    for n in range(odd, df - 1, 2):     # n terms' powers of cos: 1, 3 … or 0, 2 …
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
