"""Sums of days say what all their values say."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragauge.stats.moments import Moments
from ragauge.stats.weighted import estimate_mean

VALUES = st.lists(st.tuples(st.floats(0, 1), st.floats(0.01, 50)), min_size=2, max_size=30)


@given(VALUES, st.integers(0, 30))
def test_days_add_up_to_the_estimate(pairs: list[tuple[float, float]], cut: int) -> None:
    """Mean and standard error of two days' sums are those that `estimate_mean` gives for all values at once."""
    values, weights = zip(*pairs, strict=True)
    summed = Moments.of(values[:cut], weights[:cut]) + Moments.of(values[cut:], weights[cut:])
    known = estimate_mean(values, weights)
    assert known is not None
    assert summed.mean == pytest.approx(known.mean)
    assert summed.error == pytest.approx(known.error, rel=1e-4, abs=2e-6)


def test_too_few_say_so() -> None:
    """No value has no mean, and one has no error."""
    assert (Moments().mean, Moments.of([0.5]).mean, Moments.of([0.5]).error) == (None, 0.5, None)
    assert Moments.of([0.7] * 9).error == 0
