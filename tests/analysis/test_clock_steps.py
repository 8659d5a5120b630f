"""Monitors whose clock is put forward and back: nothing of the present is passed by, and days are right again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from tests.analysis.monitored import FIRST, monitor, traffic, watched, watching

from ragauge.monitoring.replay.compute import list_statuses, replay_requests
from ragauge.monitoring.series.monitor_specs import MonitorSpec
from ragauge.monitoring.series.monitor_tracker import TrackerState
from ragauge.monitoring.series.no_data_detection import detect_silence
from ragauge.monitoring.series.series import ALL
from ragauge.monitoring.series.tables import _list_passed_notes
from ragauge.scores.request_stream import Arrival, ArrivedScore

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
LEVEL = monitor(level=0.7, drop=None)
APART = monitor(level=0.7, drop=None, segments=("tenant",))
DROP = monitor()


def burst(at: datetime, n: int, x: float, first: int, *, past: bool = False) -> list[Arrival]:
    """Scores that come a minute apart, of two tenants in turn."""
    scores = {"faithfulness": ArrivedScore("scored", x, 1.0, "local")}
    return [
        Arrival(
            first + place,
            at + timedelta(minutes=place),
            f"t{first + place}",
            past=past,
            segments={"tenant": ("acme", "bolt")[place % 2]},
            scores=scores,
        )
        for place in range(n)
    ]


def stepped(days: int, ahead: int = 2, bad: int = 100, before: Sequence[Arrival] = ()) -> list[Arrival]:
    """Sixty good scores, some good ones by a clock so many days ahead, and bad ones after it is right again."""
    start = before[-1].at + HOUR if before else FIRST
    found = [*before, *burst(start, 60, 0.95, len(before))]
    found += burst(start + HOUR + days * DAY, ahead, 0.95, len(found))
    return [*found, *burst(start + 2 * HOUR, bad, 0.2, len(found))]


@pytest.mark.parametrize("size", [pytest.param(1, marks=pytest.mark.prove), 7, 10**9])
@pytest.mark.parametrize("days", [1, *(pytest.param(days, marks=pytest.mark.prove) for days in (3, 30)), 4000])
@pytest.mark.parametrize("watch", [LEVEL, APART, DROP], ids=["level", "segments", "drop"])
def test_a_clock_that_is_put_forward_and_back_blinds_no_monitor(watch: MonitorSpec, days: int, size: int) -> None:
    """A drop after the step is told, whichever the monitor and the batches; it is dated to its own day, not ahead."""
    given = stepped(days, before=traffic([0.95] * 35) if watch is DROP else ())
    state, alerts = watched(watching(watch), given, size)
    opened = [one for one in alerts if one.ended_at is None]
    assert {one.segment for one in opened} == {ALL, *(("tenant", name) for name in ("acme", "bolt") if watch is APART)}
    assert {(one.since, one.fired_at.date()) for one in opened} == {(given[-1].at.date(), given[-1].at.date())}
    assert state.series[ALL].days[state.day].n >= 100
    assert state.passed == 0
    _, (again, *_) = replay_requests([watching(watch)], {"": given})
    assert again.alert_id == opened[0].alert_id
    if days > 2:
        assert (state.day, state.doubted) == (given[-1].at.date().toordinal(), None)


def test_many_scores_by_the_wrong_clock_do_not_hide_the_drop() -> None:
    """While fewer came by the right clock than by the wrong one they count for the last day, are tested and shown."""
    given = stepped(30, ahead=300, bad=100)
    state, alerts = watched(watching(LEVEL), given)
    assert [one.segment for one in alerts] == [ALL]
    assert alerts[0].since == alerts[0].fired_at.date() == FIRST.date()
    assert (state.day - FIRST.date().toordinal(), state.doubted) == (30, 200)
    (note,) = _list_passed_notes(list_statuses(watching(LEVEL), state, simulated=False))
    assert "2026-01-31, so the clock was set back" in note
    assert "After 201 more scores" in note
    after, _ = watching(LEVEL).after(state, burst(FIRST + 5 * HOUR, 201, 0.95, len(given)))
    assert (after.day, after.doubted) == (FIRST.date().toordinal(), None)


@pytest.mark.parametrize("size", [3, 10**9])
def test_a_clock_that_is_behind_for_a_while_costs_no_baseline(size: int) -> None:
    """A few requests by a clock of ten days ago count for the last day; days and baseline stay as they are."""
    known = traffic([0.95] * 40)
    behind = burst(known[-1].at - 10 * DAY, 5, 0.95, len(known))
    given = [*known, *behind, *burst(known[-1].at + HOUR, 50, 0.95, len(known) + 5)]
    state, alerts = watched(watching(DROP), given, size)
    plain, _ = watched(watching(DROP), known)
    assert alerts == []
    assert (state.day, state.doubted) == (given[-1].at.date().toordinal(), None)
    now, before = (one.series[ALL].target_mean for one in (state, plain))
    assert now is not None
    assert now == pytest.approx(before)


def test_logs_of_the_past_are_passed_by_and_counted() -> None:
    """Scores that are dated to the past by more than two days are counted and shown; those of yesterday are taken."""
    known = traffic([0.95] * 5)
    old = burst(FIRST, 30, 0.2, len(known), past=True)
    late = burst(known[-1].at - DAY, 4, 0.9, len(known) + 30, past=True)
    pending = {"faithfulness": ArrivedScore("pending", None, 1.0, "local")}
    waiting = [replace(one, number=one.number + 40, scores=pending) for one in old]
    state, alerts = watched(watching(LEVEL), [*known, *old, *late, *waiting])
    assert alerts == []
    assert state.passed == 60  # what waits for its judgement holds up nothing
    assert state.series[ALL].days[state.day].n == 104
    (note,) = _list_passed_notes(list_statuses(watching(LEVEL), state, simulated=False))
    assert note.startswith("faithfulness: skipped 60 scores from past logs")


@pytest.mark.parametrize("came", [True, False])
def test_silence_is_told_by_the_right_clock(came: bool) -> None:
    """After the clock was put back nothing is missed at once, and what comes no more is told six hours later."""
    by, given = watching(APART), stepped(30, bad=3 if came else 0)
    back = FIRST + 2 * HOUR
    state, _ = watched(by, given)
    assert detect_silence(by, state, back + 5 * HOUR, back, 6 * HOUR) == (state, ())
    _, (missing,) = detect_silence(by, state, back + 7 * HOUR, back, 6 * HOUR)
    assert missing.segment == ALL
    assert "2026-01-01 02:0" in missing.said


def test_an_alert_that_fired_by_the_wrong_clock_ends_when_all_is_well() -> None:
    """It ends a cool-down after the clock was put back, not weeks later."""
    wrong = burst(FIRST + 30 * DAY, 40, 0.1, 60)
    given = [*burst(FIRST, 60, 0.95, 0), *wrong, *burst(FIRST + HOUR, 100, 0.95, 100)]
    given += burst(FIRST + 27 * HOUR, 10, 0.95, 200)
    _, alerts = watched(watching(LEVEL), given, 5)
    assert [one.ended_at is None for one in alerts] == [True, False]
    assert alerts[1].ended_at == max(alerts[0].fired_at, given[-10].at)


def test_nothing_is_taken_twice() -> None:
    """What was passed by or taken before is not counted again in a later batch."""
    given = [*traffic([0.95] * 5), *burst(FIRST, 30, 0.2, 500, past=True)]
    state, _ = watched(watching(LEVEL), given)
    again, alerts = watching(LEVEL).after(state, given)
    assert (again, alerts) == (state, ())
    assert watching(LEVEL).after(TrackerState(), given)[0] == state
