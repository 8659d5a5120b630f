"""Alarms on scores that come in one by one: the formula, what does not matter, and how often they are false."""

from __future__ import annotations

import subprocess
import sys
from math import isfinite, prod
from pathlib import Path

import numpy as np
import pytest
from bench.alarms import (
    DAYS,
    FIRST_BASELINES,
    Setting,
    delays,
    everything,
    first_months,
    stable_months,
    usual_rule,
)
from hypothesis import given
from hypothesis import strategies as st

from ragauge.errors import UsageError
from ragauge.stats.many_series import ManySeries
from ragauge.stats.sequential import DropEvidence, alarm_limit, drop_reference

ROOT = Path(__file__).parents[2]
SCORES = st.lists(st.lists(st.floats(0, 1), max_size=8), min_size=1, max_size=5)


def by_hand(m: float, days: int, seen: list[list[tuple[float, float]]]) -> float:
    """M as the formula says it: loops over days, bets and scores (x, w)."""
    largest = 0.9 / (1 - m)
    bets = [0.02 * largest * 50 ** (n / 9) for n in range(10)]
    total = 0.0
    for s in range(len(seen)):
        later = [pair for day in seen[s:] for pair in day]
        total += sum(prod(1 + bet * w * (m - x) for x, w in later) for bet in bets) / 10
    return (total + days - len(seen)) / days


@given(SCORES, st.floats(0.05, 0.95))
def test_the_formula(days: list[list[float]], m: float) -> None:
    """The evidence is the mean over days and bets of the products, days not begun at 1, weights inside."""
    evidence = DropEvidence(m, 7)
    for day in days:
        evidence, _ = evidence.next_day().after(day, [1 / (1 + n) for n in range(len(day))])
    seen = [[(x, 1 / (1 + n)) for n, x in enumerate(day)] for day in days]
    assert evidence.value == pytest.approx(by_hand(m, 7, seen), rel=1e-9)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12), st.integers(1, 5))
def test_batches_do_not_matter(scores: list[float], size: int) -> None:
    """The course of the evidence is the same in batches of any size, and its end is the value."""
    start, _ = DropEvidence(0.9, 30).next_day().after([0.5, 0.9])
    whole, course = start.next_day().after(scores)
    evidence, courses = start.next_day(), []
    for n in range(0, len(scores), size):
        evidence, part = evidence.after(scores[n : n + size])
        courses += part.tolist()
    assert courses == pytest.approx(course.tolist())
    assert whole.value == pytest.approx(evidence.value)
    assert whole.value == pytest.approx(course[-1])


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20), st.data())
def test_failures_never_add_evidence(scores: list[float], data: st.DataObject) -> None:
    """Scores that failed instead leave at most the evidence that there was."""
    failed = data.draw(st.lists(st.booleans(), min_size=len(scores), max_size=len(scores)))
    begun = DropEvidence(0.8, 10).next_day()
    with_failures = [float("nan") if fails else score for fails, score in zip(failed, scores, strict=True)]
    assert begun.after(with_failures)[0].value <= begun.after(scores)[0].value * (1 + 1e-12)


def test_evidence_is_one_on_average_at_the_reference() -> None:
    """Of scores 0 and 1 with mean m, the evidence after five of them is 1, all 32 cases weighed by their chance."""
    m = 0.7
    total = 0.0
    for case in range(32):
        scores = [float(case >> bit & 1) for bit in range(5)]
        chance = prod(m if x else 1 - m for x in scores)
        evidence, _ = DropEvidence(m, 3).next_day().after(scores[:2])
        total += chance * evidence.next_day().after(scores[2:])[0].value
    assert total == pytest.approx(1)


def test_since_when() -> None:
    """A drop on the eleventh day is dated to it or a day beside it."""
    draw = np.random.default_rng(1)
    evidence = DropEvidence(0.87, 30)
    for day in range(14):
        evidence, _ = evidence.next_day().after(draw.random(50) < (0.9 if day < 10 else 0.6))
    assert evidence.value > alarm_limit(0.05)
    assert evidence.likeliest_day in (9, 10, 11)


def test_an_outage_overflows_nothing() -> None:
    """Thousands of failures in a row leave a number that is finite, and the day on which they began."""
    evidence = DropEvidence(0.9, 30).next_day().after([1.0] * 50)[0].next_day()
    evidence, course = evidence.after([0.0] * 5_000)
    evidence = evidence.next_day().after([0.0] * 5_000)[0]
    assert isfinite(evidence.value)
    assert np.isfinite(course).all()
    assert course[-1] >= alarm_limit(0.05, 10_000)
    assert evidence.likeliest_day == 1


def test_what_is_refused() -> None:
    """Values outside their range, days beyond the period and scores before its first day are refused in words."""
    with pytest.raises(UsageError, match="above 0 and below 1, got 1"):
        DropEvidence(1, 30)
    with pytest.raises(UsageError, match="no day of the period has begun"):
        DropEvidence(0.5, 30).after([1])
    with pytest.raises(UsageError, match=r"in \[0, 1\], got 0 to 2"):
        DropEvidence(0.5, 30).next_day().after([0, 2])
    with pytest.raises(UsageError, match="p_min / p"):
        DropEvidence(0.5, 30).next_day().after([0, 1], [1, 3])
    with pytest.raises(UsageError, match="period of 1 days is over"):
        DropEvidence(0.5, 1).next_day().next_day()
    with pytest.raises(UsageError, match=r"Write 0\.03 for 3 %"):
        drop_reference([1, 1], 3)


def test_not_enough_baseline() -> None:
    """A baseline whose error is above half the allowed drop says how many values it takes; with more, it is known."""
    draw = np.random.default_rng(2)
    few = drop_reference(draw.random(100) < 0.9, 0.03)
    assert few.m is None
    assert few.needed > 100
    many = drop_reference(([1.0] * 9 + [0.0]) * few.needed, 0.03)
    assert many.m == pytest.approx(0.9 * 0.97)
    assert many.certain


def test_baseline_in_doubt_holds_scores_to_less() -> None:
    """Eight good scores are no baseline; one known about as well as the drop allows more until it is certain."""
    assert drop_reference([0.97] * 8, 0.03).m is None
    doubted = drop_reference(([0.97] * 47 + [0.05] * 3) * 6, 0.03)
    assert doubted.m is not None
    assert doubted.baseline is not None
    assert 0.03 < 1 - doubted.m / doubted.baseline < 0.06
    assert not doubted.certain
    assert drop_reference([0.97] * 8, 0.03).needed <= drop_reference([0.97] * 8, 0.03, false_alarm=0.05 / 20).needed


@pytest.mark.parametrize("name", [*FIRST_BASELINES])
def test_first_baselines_alarm_seldom(name: str) -> None:
    """A stable month after the first baseline that counts as known alarms in at most 5 %, with rare failures too."""
    alarmed = first_months(FIRST_BASELINES[name], rate=20, months=200)
    assert alarmed.unknown < alarmed.months
    assert alarmed.alarmed <= 0.05 * alarmed.months


def test_many_series_at_once_are_each_one_alone() -> None:
    """The simulation of many series has the evidence of `DropEvidence` after every score, into the next period too."""
    draw = np.random.default_rng(6)
    m = np.array([0.8, 0.9])
    watched, alone = ManySeries(m, DAYS), [DropEvidence(one, DAYS) for one in m]
    for _ in range(DAYS + 2):
        values, weights = draw.random((2, 5)), draw.uniform(0.2, 1, (2, 5))
        together = watched.day(values, weights)
        for n, one in enumerate(alone):
            begun = (DropEvidence(one.m, DAYS) if one.over else one).next_day()
            alone[n], course = begun.after(values[n], weights[n])
            assert together[n] == pytest.approx(course, rel=1e-9)


def test_failures_add_no_alarm_and_drops_are_seen_in_a_fast_cell() -> None:
    """With 30 % failed judgements no more of 50 months of 20 series alarm; a tenth less is seen within 2.2 times."""
    failing = stable_months(Setting(series=20, failures=0.3), 50).alarmed
    assert failing <= stable_months(Setting(series=20), 50).alarmed <= 2
    estimated, _ = delays(0.10, 20, 40)
    assert np.median(estimated) <= 2.2


def test_few_false_alarms_in_a_fast_cell() -> None:
    """Of 100 stable months few alarm; the usual rule, the mean of the day's 50 below 0.85, alarms in nearly all."""
    assert stable_months(Setting(), 100).alarmed <= 5
    assert usual_rule(100).alarmed >= 90


def test_few_false_alarms_of_everything_in_a_fast_cell() -> None:
    """With monitors, drift of both kinds and the judge canary on, at most one of 6 stable months alarms."""
    assert everything(6).alarmed <= 1


@pytest.mark.prove
def test_all_figures() -> None:
    """1,000 stable months of 1 and 20 series, 200 with drift and canary too, and the delays, keep what is promised."""
    command = [sys.executable, str(ROOT / "bench" / "alarms.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
