"""The one place that chooses how a mean, a rate or a difference gets its interval and its test."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ragauge
from ragauge.metrics.catalogue import parse_metric
from ragauge.scores.estimation import (
    ScoreSample,
    compute_difference_interval,
    compute_judged_difference,
    compute_judged_mean,
    compute_mean_interval,
    compute_quantiles,
    estimate_examples_to_decide,
    run_difference_test,
)
from ragauge.scores.summarize import summarize_metric
from ragauge.stats.weighted import Interval

HOUSE = Path(ragauge.__file__).parent
CHOSEN = {
    "mean_interval",
    "paired_interval",
    "unpaired_interval",
    "paired_test",
    "unpaired_test",
    "widen_interval",
    "widen_difference_interval",
    "wilson_interval",
    "order_statistics",
    "compute_detectable_difference",
}
FORMULAS = ("diagnosis/explain/means.py", "wilson_interval")  # writes out the formula of a chosen interval
N = 40
RANDOM = np.random.default_rng(5)
SCORES, BEFORE = np.round(RANDOM.beta(5, 2, N), 2), np.round(RANDOM.beta(4, 2, N), 2)
HITS, HITS_BEFORE = (SCORES > 0.6).astype(float), (BEFORE > 0.6).astype(float)
KNOWN: dict[str, dict[str, Any]] = {
    "weights": {"weights": np.where(np.arange(N) % 3, 1.0, 4.0)},
    "clusters": {"clusters": np.arange(N) // 5},
}
ESTIMATES: dict[str, Callable[[ScoreSample, ScoreSample], Interval | None]] = {
    "mean": lambda new, _: compute_mean_interval(new),
    "pairs": compute_difference_interval,
    "two samples": lambda new, base: compute_difference_interval(new, base, paired=False),
}


def imported() -> Iterator[tuple[str, str]]:
    """(file, name) of everything that code outside `stats` takes from it."""
    for path in sorted(HOUSE.rglob("*.py")):
        place = path.relative_to(HOUSE).as_posix()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("ragauge.stats"):
                yield from ((place, name.name) for name in node.names if not place.startswith("stats/"))


def test_nobody_else_chooses() -> None:
    """No module but the seam takes an interval of a mean, rate, quantile or difference, or a test of one."""
    users = {(place, name) for place, name in imported() if name in CHOSEN} - {FORMULAS}
    assert {name for _, name in users} == CHOSEN
    assert {place for place, _ in users} == {"scores/estimation.py"}


@pytest.mark.parametrize("what", KNOWN)
@pytest.mark.parametrize("of", ESTIMATES)
@pytest.mark.parametrize("kind", ["rate", "mean"])
def test_what_a_sample_knows_decides(of: str, what: str, kind: str) -> None:
    """Weights and clusters change the interval of every estimate, of rates and of means."""
    values = (HITS, HITS_BEFORE) if kind == "rate" else (SCORES, BEFORE)
    plain = tuple(ScoreSample(side, bounds=(0.0, 1.0)) for side in values)
    more = tuple(replace(side, **KNOWN[what]) for side in plain)
    found, other = ESTIMATES[of](*plain), ESTIMATES[of](*more)
    assert found is not None
    assert other is not None
    assert (found.low, found.high) != (other.low, other.high)


def test_the_kind_of_a_sample_decides() -> None:
    """Rates of 0 and 1 are counted, amounts never: interval and test have other methods."""
    counted = ScoreSample(HITS, "rate"), ScoreSample(HITS_BEFORE, "rate")
    measured = ScoreSample(HITS, "amount"), ScoreSample(HITS_BEFORE, "amount")
    for paired in (True, False):
        intervals = [compute_difference_interval(*pair, paired=paired) for pair in (counted, measured)]
        tests = [run_difference_test(*pair, paired=paired) for pair in (counted, measured)]
        assert len({found.method for found in intervals if found is not None}) == 2
        assert len({found.method for found in tests if found is not None}) == 2


def test_examples_to_decide_by_hand() -> None:
    """An interval of 1/8 to either side needs 4 times as many examples to be half as wide, a quarter to be twice so."""
    interval = Interval(0.5, 0.75, "by hand")
    assert [estimate_examples_to_decide(100, interval, room) for room in (1 / 16, 1 / 4, 3 / 32)] == [400, 25, 178]


def test_weights_move_quantiles() -> None:
    """Without weights a quantile is interpolated; with them it is the least value that reaches the share."""
    values = np.array([1.0, 2.0, 4.0, 8.0])
    assert compute_quantiles(values, (0.5, 0.25)) == [3.0, 1.75]
    assert compute_quantiles(values, (0.5, 0.25), np.array([1.0, 1.0, 1.0, 3.0])) == [4.0, 2.0]


def test_a_judge_whose_error_is_not_known_adds_nothing() -> None:
    """Without an error there is no second interval, and none of what has no interval."""
    found = Interval(-0.2, -0.1, "by hand")
    assert compute_judged_difference(found, -0.15, None) is None
    assert compute_judged_mean(found, -0.15, None, SCORES) is None
    assert summarize_metric(parse_metric("recall@5"), None).judged is None
