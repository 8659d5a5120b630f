"""Student's quantile without SciPy, for many degrees of freedom."""

from __future__ import annotations

import subprocess
import sys

import pytest
from scipy.special import stdtrit

from ragauge.stats.intervals import t_quantile


@pytest.mark.parametrize("df", [1, 2.5, 30, 999.5, 1_000, 1_234.5, 6_979, 10**6, 10**9])
@pytest.mark.parametrize("level", [0.1, 0.5, 0.9, 0.95, 0.99, 0.999, 0.99999, 0.9999999])
def test_equals_scipy(df: float, level: float) -> None:
    """The quantile is SciPy's to 12 digits, whichever way it is computed."""
    assert t_quantile(df, level) == pytest.approx(stdtrit(df, 0.5 + level / 2), rel=1e-12)


def test_many_values_need_no_scipy() -> None:
    """An interval over thousands of values is had without loading SciPy."""
    code = (
        "import sys; from ragauge.stats.intervals import mean_interval; "
        "found = mean_interval([i % 7 for i in range(5000)], kind='mean'); "
        "sys.exit(found is None or any(name.startswith('scipy') for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
