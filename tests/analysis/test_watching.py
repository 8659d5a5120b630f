"""Monitors over days of requests: what fires, when, since when, and what makes no difference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.analysis.monitored import FIRST, fallen_at_noon, monitor, traffic, watched, watching

from ragauge.monitoring.alerts.tables import build_status_sections
from ragauge.monitoring.replay.compute import MonitoringStatus, list_statuses
from ragauge.monitoring.series.alert_details import build_account, select_alert_requests
from ragauge.monitoring.series.monitor_specs import MonitorState, Observation
from ragauge.monitoring.series.monitor_tracker import Alert, MonitorTracker, TrackerState
from ragauge.monitoring.series.no_data_detection import detect_silence
from ragauge.monitoring.series.series import ALL
from ragauge.scores.request_stream import Arrival, ArrivedScore

STABLE, FALLEN = [0.9] * 40, [0.9] * 40 + [0.75] * 8
LOOKS = st.lists(st.tuples(st.sampled_from(["ok", "off", "no_data", "error"]), st.integers(0, 90)), max_size=30)
HOUR = timedelta(hours=1)


@given(LOOKS, st.sampled_from([0, 30, 60]), st.sampled_from([0, 30, 60]))
def test_laws_of_states(looks: list[tuple[Observation, int]], wait: int, cool_down: int) -> None:
    """Nothing fires that was not off for as long as asked, and no alert ends before it was well for the cool-down.

    Nothing but a look that is ok ends an alert, and no data or an error leave it open.
    """
    state, at = MonitorState(), FIRST
    off_since = well_since = None
    for seen, minutes in looks:
        at += timedelta(minutes=minutes)
        off_since = (off_since or at) if seen == "off" else None
        well_since = (well_since or at) if seen == "ok" else None
        after = state.after(seen, at, timedelta(minutes=wait), timedelta(minutes=cool_down))
        if after.state == "firing" and not state.open:
            assert off_since is not None
            assert at - off_since >= timedelta(minutes=wait)
        if state.open and not after.open:
            assert well_since is not None
            assert at - well_since >= timedelta(minutes=cool_down)
        assert after.state in {"ok": ("normal", "recovering"), "off": ("pending", "firing")}.get(seen, (seen,))
        assert not (after.state == "pending" and (after.open or not wait))
        state = after


def test_a_drop_fires_and_is_dated() -> None:
    """A drop on the 41st day is an alert soon after, dated to within a day; 40 days without one have none."""
    assert watched(watching(monitor()), traffic(STABLE))[1] == []
    _, (alert,) = watched(watching(monitor()), traffic(FALLEN))
    assert (alert.monitor, alert.segment, alert.series, alert.limit) == ("faithfulness", ALL, 1, 20)
    assert FIRST + timedelta(days=40) <= alert.fired_at <= FIRST + timedelta(days=42)
    assert abs(alert.since - date(2026, 2, 10)) <= timedelta(days=1)
    assert alert.baseline == pytest.approx(0.9, abs=0.02)
    assert alert.allowed == pytest.approx(0.97 * (alert.baseline or 0))
    assert alert.mean == pytest.approx(0.75, abs=0.06)


@pytest.mark.parametrize(
    "size", [pytest.param(1, marks=pytest.mark.prove), 7, pytest.param(100, marks=pytest.mark.prove), 1234]
)
def test_batches_make_no_difference(size: int) -> None:
    """Batches of any size come to equal alerts and states, segments and the end of an alert included."""
    arrivals = traffic([*STABLE, *[0.55] * 6, *[0.95] * 5], rate=40)
    by = watching(monitor(segments=("tenant",)), monitors=2)
    whole, alerts = watched(by, arrivals)
    assert {alert.segment for alert in alerts} == {ALL, ("tenant", "acme"), ("tenant", "bolt")}
    assert any(alert.ended_at for alert in alerts)
    parts, found = watched(by, arrivals, size)
    key = [(one.alert_id, one.fired_at, one.since, one.n, one.ended_at) for one in alerts]
    assert [(one.alert_id, one.fired_at, one.since, one.n, one.ended_at) for one in found] == key
    assert (parts.cursor, parts.day, parts.watched) == (whole.cursor, whole.day, whole.watched)
    assert parts.series[ALL].state == whole.series[ALL].state


@pytest.mark.parametrize("size", [10**9, 37])
@pytest.mark.parametrize("decide", ["test", "point"])
def test_an_alert_bears_the_mean_of_its_rules_window(decide: str, size: int) -> None:
    """A fall at noon fires within 60 scores; mean and number of scores are those since it fell, or of the last 50."""
    came = fallen_at_noon()
    asks = {} if decide == "test" else {"level": 0.8, "drop": None}
    by = watching(monitor(decide=decide, **asks))
    alert = watched(by, came, size)[1][-1]
    fell = len(came) - 500
    assert fell < alert.number <= fell + 60
    window = [one.scores["faithfulness"].value or 0.0 for one in came if alert.first <= one.number <= alert.number]
    assert alert.n == len(window)
    assert alert.mean == pytest.approx(np.mean(window))
    assert (alert.n == 50) if decide == "point" else (abs(alert.first - fell) <= 10)
    told = build_account(alert, by.watch, select_alert_requests(alert, by.watch, came), {})
    assert told.now == pytest.approx(alert.mean)
    assert told.n_now == alert.n
    assert told.since_at == came[alert.first].at


def test_scores_wait_behind_the_first_that_is_pending() -> None:
    """What arrived after a request whose judgement is open is not looked at, and changes nothing once it is there."""
    arrivals = traffic(FALLEN)
    open_one = replace(arrivals[4100], scores={"faithfulness": ArrivedScore("pending")})
    by = watching(monitor())
    state, early = watched(by, [*arrivals[:4100], open_one, *arrivals[4101:]])
    assert (state.cursor, early) == (4099, [])
    _, late = by.after(state, arrivals)
    assert list(late) == watched(by, arrivals)[1]


def test_failed_judgements_speak_against_an_alarm() -> None:
    """With a quarter of the judgements failed a stable mean has no alert and a drop still has one, later.

    Where most fail it is an error, not an alert.
    """
    assert watched(watching(monitor()), traffic(STABLE, failed=0.25))[1] == []
    _, (sound,) = watched(watching(monitor()), traffic(FALLEN))
    _, (failing,) = watched(watching(monitor()), traffic(FALLEN, failed=0.25))
    assert failing.fired_at > sound.fired_at
    state, none = watched(watching(monitor()), traffic(STABLE[:30], failed=0.9))
    assert (state.series[ALL].state.state, none) == ("error", [])


def test_an_alert_ends_after_the_cool_down() -> None:
    """Scores that are back within the limit for a day end the alert; a second drop is a second one."""
    arrivals = traffic([*FALLEN, *[0.95] * 6, *[0.7] * 6])
    _, found = watched(watching(monitor()), arrivals)
    opened = [alert for alert in found if alert.ended_at is None]
    ended = [alert for alert in found if alert.ended_at is not None]
    assert len(opened) == 2
    assert ended[0].alert_id == opened[0].alert_id
    assert ended[0].ended_at is not None
    assert ended[0].ended_at >= FIRST + timedelta(days=49)


def test_another_judge_is_another_series() -> None:
    """A stricter judge from the 41st day on is no drop: the series begins anew, and lacks a baseline at first."""
    before = traffic(STABLE)
    after = traffic([0.9] * 40 + [0.75] * 3, instrument="stricter", seed=2)[4000:]
    state, found = watched(watching(monitor()), [*before, *after])
    assert found == []
    assert state.instrument == "stricter"
    reference = state.series[ALL].reference
    assert reference is not None
    assert (reference.m, reference.needed > 200) == (None, True)


def test_levels_and_shares() -> None:
    """A level needs no baseline; latency is watched as the share above a value, of which less is better."""
    lenient = watching(monitor(level=0.8, drop=None))
    assert watched(lenient, traffic([0.9] * 6))[1] == []
    _, (alert,) = watched(lenient, traffic([0.9, 0.6, 0.6]))
    assert (alert.allowed, alert.fired_at < FIRST + timedelta(days=2)) == (0.8, True)
    slow = monitor(metric="latency", share_above=4000, lower=True, level=0.05, drop=None)
    times = [
        replace(one, scores={"latency": ArrivedScore("scored", 5000.0 if one.number % 8 == 0 else 900.0)})
        for one in traffic([0.9] * 8)
    ]
    _, (late,) = watched(watching(slow), times)
    assert late.mean == pytest.approx(0.125, abs=0.03)
    assert (str(slow), late.lower, late.allowed) == ("latency above 4000", True, 0.05)


def test_the_estimate_alone_alerts_on_nothing() -> None:
    """decide: point alerts in a stable month in which the test does not."""
    assert watched(watching(monitor(decide="point")), traffic(STABLE))[1]
    assert watched(watching(monitor()), traffic(STABLE))[1] == []


def looked_hourly(by: MonitorTracker, arrivals: Sequence[Arrival], until: datetime) -> list[Alert]:
    """What is raised or ends where somebody looks every hour, and waits for six."""
    state, found, at = TrackerState(), list[Alert](), FIRST
    while at < until:
        at += HOUR
        before = state
        state, alerts = by.after(state, [one for one in arrivals if one.at <= at])
        state, missing = detect_silence(by, state, at, FIRST, 6 * HOUR, moved=state.cursor != before.cursor)
        found += [*alerts, *missing]
    return found


def hourly(day: int, first: int, last: int, tenant: str) -> list[Arrival]:
    """Three requests an hour of a tenant, from an hour of a day up to another."""
    return [
        replace(one, segments={"tenant": tenant})
        for one in traffic([0.95] * (day + 1), rate=72)
        if one.at.date() == (FIRST + timedelta(days=day)).date() and first <= one.at.hour < last
    ]


def in_order(arrivals: Sequence[Arrival]) -> list[Arrival]:
    """Numbered by when they came."""
    return [replace(one, number=n) for n, one in enumerate(sorted(arrivals, key=lambda one: one.at))]


def test_a_segment_that_is_silent_every_night_is_missed_once() -> None:
    """The first night, before anybody knows, is told and ends in the morning; the next three are not.

    A silence of more than twice a night is told again, and names the segment alone.
    """
    by = watching(monitor(level=0.5, drop=None, segments=("tenant",)))
    others = [one for day in range(7) for one in hourly(day, 0, 24, "acme")]
    office = [one for day in range(4) for one in hourly(day, 8, 18, "bolt")]
    found = looked_hourly(by, in_order([*others, *office]), FIRST + timedelta(days=7))
    assert [(one.fired_at - FIRST) // HOUR for one in found if one.ended_at is None] == [24, 3 * 24 + 47]
    assert [(one.ended_at - FIRST) // HOUR for one in found if one.ended_at is not None] == [32]
    assert {one.segment for one in found} == {("tenant", "bolt")}


def test_where_nothing_comes_no_segment_is_told_of() -> None:
    """A day without any traffic is one alert, of all requests, and the tenant that comes back last is given its time.

    A tenant of fewer than twenty scores is not missed.
    """
    by = watching(monitor(level=0.5, drop=None, segments=("tenant",)))
    both = [one for tenant in ("acme", "bolt") for one in hourly(0, 0, 24, tenant)]
    few = hourly(0, 0, 3, "calm")
    later = [*hourly(2, 0, 24, "acme"), *hourly(2, 4, 24, "bolt")]
    found = looked_hourly(by, in_order([*both, *few, *later]), FIRST + timedelta(days=3))
    assert [(one.segment, one.ended_at is None) for one in found] == [(ALL, True), (ALL, False)]


def test_a_level_is_tested_from_the_first_score() -> None:
    """Of scores far below the level from the very first on, the first day has an alert, of all and of each tenant.

    While it is open how many tenants come, each series is asked for the evidence of 101; batches make no difference.
    """
    by, arrivals = watching(monitor(level=0.8, drop=None, segments=("tenant",))), traffic([0.55], rate=400)
    state, found = watched(by, arrivals)
    assert {one.segment for one in found} == {ALL, ("tenant", "acme"), ("tenant", "bolt")}
    assert {(one.series, one.fired_at < FIRST + timedelta(days=1)) for one in found} == {(101, True)}
    key = [(one.alert_id, one.fired_at, one.series) for one in found]
    assert [(one.alert_id, one.fired_at, one.series) for one in watched(by, arrivals, 7)[1]] == key
    assert by.limit(by.after(state, traffic([0.55, 0.9], rate=400))[0]) == 3 / 0.05
    assert watched(watching(monitor(segments=("tenant",))), arrivals)[0].series[ALL].evidence is None


def first_day(seed: int) -> list[Arrival]:
    """Requests of which 20 % fail; failures are judged every time, of the others one in twenty."""
    draw, out = np.random.default_rng(seed), list[Arrival]()
    for _ in range(600):
        fails = draw.random() < 0.2
        if fails or draw.random() < 0.05:
            score = ArrivedScore("scored", 0.0 if fails else 1.0, 1.0 if fails else 20.0)
            out.append(Arrival(len(out), FIRST, f"t{len(out)}", scores={"faithfulness": score}))
    return out


def test_a_first_day_at_its_level_does_not_alarm() -> None:
    """Where failures are judged every time and the mean is the level itself, at most 5 % of first days alarm.

    Were the first scores not divided by what a drawn one weighs, every third would.
    """
    by = watching(monitor(level=0.8, drop=None))
    alarms = {
        weight: sum(bool(watched(replace(by, heaviest=weight), first_day(seed))[1]) for seed in range(60))
        for weight in (20.0, 0.0)
    }
    assert alarms[20.0] <= 3
    assert alarms[0.0] > 12


@pytest.mark.parametrize("size", [7, 10**9])
def test_what_is_not_read_raises_no_alert(size: int) -> None:
    """Scores that the judge cannot read move no mean, raise no alert, not even of silence, and are shown as such."""
    by = watching(monitor(segments=("tenant",)))
    unread = {"faithfulness": ArrivedScore("not_read", None, 1.0, "local")}
    days = traffic([0.9] * 45, rate=40)
    end = len(traffic(STABLE, rate=40))
    arrivals = [*days[:end], *(replace(one, scores=unread) for one in days[end:])]
    state, alerts = watched(by, arrivals, size)
    assert alerts == []
    assert detect_silence(by, state, arrivals[-1].at + HOUR, FIRST, 6 * HOUR) == (state, ())
    whole, *segments = list_statuses(by, state, simulated=False)
    assert (whole.segment, whole.state, whole.not_read) == (ALL, "not_read", 5 * 40)
    assert [one.not_read for one in segments] == [100, 100]
    read, _ = watched(by, arrivals[:end], size)
    assert state.series[ALL].days == read.series[ALL].days
    (table,) = [
        one.table for one in build_status_sections(MonitoringStatus((whole, *segments))) if one.heading == "Series"
    ]
    assert table is not None
    assert "not read" in [column.head for column in table.columns]
