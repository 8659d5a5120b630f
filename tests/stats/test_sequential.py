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
    amid_a_day,
    delays,
    everything,
    first_months,
    stable_months,
    usual_rule,
)
from hypothesis import given
from hypothesis import strategies as st

from ragauge.core.errors import UsageError
from ragauge.stats.many_series import ManySeries
from ragauge.stats.sequential import DropEvidence, alarm_limit, drop_reference

ROOT = Path(__file__).parents[2]
SCORES = st.lists(st.lists(st.floats(0, 1), max_size=8), min_size=1, max_size=5)


def by_hand(m: float, days: int, seen: list[list[tuple[float, float]]]) -> float:
    """M as the formula says it: loops over days, the scores of each, bets and all scores (x, w) from there on."""
    largest = 0.9 / (1 - m)
    bets = [0.02 * largest * 50 ** (n / 9) for n in range(10)]
    scores = [pair for day in seen for pair in day]
    shares = {n: ((1 + n / 10) ** -0.2 - (1 + (n + 1) / 10) ** -0.2) / 2 for n in range(len(scores))}
    for s in range(len(seen)):
        first = sum(map(len, seen[:s]))
        shares[first] = shares.get(first, 0.0) + 0.5 / days
    won = [sum(prod(1 + bet * w * (m - x) for x, w in scores[n:]) for bet in bets) / 10 for n in shares]
    return float(sum(share * part for share, part in zip(shares.values(), won, strict=True)) + 1 - sum(shares.values()))


@given(SCORES, st.floats(0.05, 0.95))
def test_the_formula(days: list[list[float]], m: float) -> None:
    """The evidence is the sum over scores, by their shares, of the mean product over bets, and what is not bet yet."""
    evidence = DropEvidence(m, 7)
    for day in days:
        evidence, _ = evidence.next_day().after(day, [1 / (1 + n) for n in range(len(day))])
    seen = [[(x, 1 / (1 + n)) for n, x in enumerate(day)] for day in days]
    assert evidence.value == pytest.approx(by_hand(m, 7, seen), rel=1e-9)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12), st.integers(1, 5))
def test_batches_do_not_matter(scores: list[float], size: int) -> None:
    """The course of the evidence is exactly the same in batches of any size, and so is its end."""
    start, _ = DropEvidence(0.9, 30).next_day().after([0.5, 0.9])
    whole, course = start.next_day().after(scores)
    evidence, courses = start.next_day(), []
    for n in range(0, len(scores), size):
        evidence, part = evidence.after(scores[n : n + size])
        courses += part.tolist()
    assert courses == course.tolist()
    assert whole == evidence
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
    """A drop behind 500 scores of ten days is dated to within 50 scores of there."""
    draw = np.random.default_rng(1)
    evidence = DropEvidence(0.87, 30)
    for day in range(14):
        evidence, _ = evidence.next_day().after(draw.random(50) < (0.9 if day < 10 else 0.6))
    assert evidence.value > alarm_limit(0.05)
    assert 450 <= evidence.likeliest_start <= 550


def test_an_outage_overflows_nothing() -> None:
    """Thousands of failures in a row leave a number that is finite, and the score at which they began."""
    evidence = DropEvidence(0.9, 30).next_day().after([1.0] * 50)[0].next_day()
    evidence, course = evidence.after([0.0] * 5_000)
    evidence = evidence.next_day().after([0.0] * 5_000)[0]
    assert isfinite(evidence.value)
    assert np.isfinite(course).all()
    assert course[-1] >= alarm_limit(0.05, 10_000)
    assert evidence.likeliest_start == 50


@pytest.mark.parametrize("series", [1, 20])
@pytest.mark.parametrize("good", [30, 300, 1000])
def test_a_fall_amid_a_day_is_seen_within_sixty_scores(good: int, series: int) -> None:
    """From .95 to .5 behind 30 to 1,000 good scores of the day: 60 scores or fewer in 95 % of the days, of 1 or 20."""
    waited = amid_a_day(good, 0.5, series, days=20, most=61)
    assert np.quantile(waited, 0.95) <= 60


def test_busy_days_alarm_as_seldom() -> None:
    """A thousand bets a day in place of one: of 60 stable months with 1,000 scores a day at most 3 alarm."""
    assert stable_months(Setting(rate=1000), 60).alarmed <= 3


@pytest.mark.parametrize("days", [[0], [1, 0, 7], [300, 2, 0, 1000, 40]])
def test_no_more_is_bet_than_there_is(days: list[int]) -> None:
    """However many scores the days have, what is bet and what is left add up to the whole that there was."""
    evidence = DropEvidence(0.5, len(days), whole=0.6)
    for scores in days:
        evidence, course = evidence.next_day().after([0.5] * scores)
        assert course == pytest.approx([0.6] * scores)
    assert 0 <= evidence.remaining <= evidence.value == pytest.approx(0.6)


def test_what_is_refused() -> None:
    """Values outside their range, days beyond the period and scores before its first day are refused in words."""
    with pytest.raises(UsageError, match="above 0 and below 1, got 1"):
        DropEvidence(1, 30)
    with pytest.raises(UsageError, match="no day of the period has started"):
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
        together = watched.add_day(values, weights)
        for n, one in enumerate(alone):
            begun = (DropEvidence(one.m, DAYS) if one.is_over else one).next_day()
            alone[n], course = begun.after(values[n], weights[n])
            assert together[n] == pytest.approx(course, rel=1e-9)


@pytest.mark.parametrize(("months", "drops"), [(10, 15), pytest.param(50, 40, marks=pytest.mark.prove)])
def test_failures_add_no_alarm_and_drops_are_seen_in_a_fast_cell(months: int, drops: int) -> None:
    """With 30 % failed judgements no more of 50 months of 20 series alarm; a tenth less is seen within 2.2 times."""
    failing = stable_months(Setting(series=20, failures=0.3), months).alarmed
    assert failing <= stable_months(Setting(series=20), months).alarmed <= 2
    estimated, _ = delays(0.10, 20, drops)
    assert np.median(estimated) <= 2.2


def test_few_false_alarms_in_a_fast_cell() -> None:
    """Of 100 stable months few alarm; the usual rule, the mean of the day's 50 below 0.85, alarms in nearly all."""
    assert stable_months(Setting(), 100).alarmed <= 5
    assert usual_rule(100).alarmed >= 90


@pytest.mark.prove
def test_few_false_alarms_of_everything_in_a_fast_cell() -> None:
    """With monitors, drift of both kinds and the judge canary on, at most one of 6 stable months alarms."""
    assert everything(6).alarmed <= 1


@pytest.mark.prove
def test_all_figures() -> None:
    """1,000 stable months of 1 and 20 series, 200 with drift and canary too, and the delays, keep what is promised."""
    command = [sys.executable, str(ROOT / "bench" / "alarms.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
