"""Student's quantile without SciPy, for many degrees of freedom."""

from __future__ import annotations

import subprocess
import sys

import pytest
from scipy.special import ndtri, stdtrit

from ragauge.stats.distributions import normal_quantile, t_quantile

DF = (1, 2, 2.5, 3, 4, 7, 30, 78, 79, 79.9, 80, 150, 999, 999.5, 1_000, 1_234.5, 6_979, 10**6, 10**9)


@pytest.mark.parametrize("df", DF)
@pytest.mark.parametrize("level", [0.1, 0.5, 0.9, 0.95, 0.99, 0.999, 0.9999, 0.99999, 0.9999999])
def test_equals_scipy(df: float, level: float) -> None:
    """The quantile is SciPy's to 12 digits; below 1,000 degrees of freedom to 8, below 80 to 9, where it is ours."""
    digits = 1e-12 if df >= 1_000 or level > 0.99999 else 1e-8 if df >= 80 else 1e-9
    assert t_quantile(df, level) == pytest.approx(stdtrit(df, 0.5 + level / 2), rel=digits)


@pytest.mark.parametrize("level", [0.1, 0.5, 0.9, 0.95, 0.99, 0.999, 0.9999999])
def test_normal_equals_scipy(level: float) -> None:
    """The normal quantile is SciPy's to 12 digits."""
    assert normal_quantile(level) == pytest.approx(ndtri(0.5 + level / 2), rel=1e-12)


def test_many_values_need_no_scipy() -> None:
    """An interval over nine values is had without loading SciPy."""
    code = (
        "import sys; from ragauge.stats.intervals import mean_interval; "
        "found = mean_interval([i % 7 for i in range(9)], kind='mean'); "
        "sys.exit(found is None or any(name.startswith('scipy') for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
