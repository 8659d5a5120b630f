"""What an alert says of failures: only failed requests count, unclear ones stand beside them."""

from __future__ import annotations

import pytest
from tests.analysis.monitored import monitor, stored, traffic, watched, watching

import ragauge.store.verdicts as module
from ragauge.core.verdict import RULE_VERSION, ExampleVerdict, Verdict, VerdictCounts
from ragauge.engine.request_stream import iter_arrivals, list_traffic_runs
from ragauge.monitoring.alerts.tables import build_alert_sections
from ragauge.monitoring.replay.verb import build_alert_account
from ragauge.monitoring.series.alert_details import AlertAccount
from ragauge.monitoring.traffic.tables import build_status_sections
from ragauge.rendering.writers.markdown import render_markdown
from ragauge.scores.results.monitoring import TrafficDay, TrafficStatus
from ragauge.scores.results.scorecard import Cause
from ragauge.store.store_access import Store

BAD_DAY = 30
VERDICTS: tuple[Verdict, ...] = ("failed", "unclear", "unclear", "passed", "not_judged")


def told_of(store: Store) -> AlertAccount:
    """The alert of a drop, before which all passed, and since which one of five failed and two are unclear."""
    watch = monitor(level=0.8, drop=None)
    came = traffic([0.95] * BAD_DAY + [0.4] * 2, rate=40)
    stored(store, came)
    for day, run in enumerate(list_traffic_runs(store)):
        numbers = sorted(store.runs.load_order(run.run_id).numbers)
        verdicts = {n: VERDICTS[place % 5] if day >= BAD_DAY else "passed" for place, n in enumerate(numbers)}
        store.verdicts.write(run.run_id, "local", {n: ExampleVerdict(verdict) for n, verdict in verdicts.items()})
        failed = [n for n, verdict in verdicts.items() if verdict in ("failed", "unclear")]
        cause = Cause("hallucinated", fix="Mend it.", component="generation")
        store.causes.write(run.run_id, "local", dict.fromkeys(failed, cause))
    kept = list(iter_arrivals(store, ["faithfulness"]))
    (alert, *_) = watched(watching(watch), kept)[1]
    return build_alert_account(store, alert, watch, kept)


def test_only_failed_requests_are_failures(store: Store) -> None:
    """An alert counts requests by verdict, and its causes are those of failed ones alone."""
    told = told_of(store)
    assert told.verdicts is not None
    before, now = told.verdicts
    assert before.failed + before.unclear <= 3  # where it most likely fell is known to a few requests
    assert before.passed >= before.n - 3
    assert now.unclear > now.failed > 0
    (cause,) = told.causes
    assert cause.now == pytest.approx(now.failed / now.n)
    text = render_markdown("alert", build_alert_sections(told))
    assert f"{now.unclear:,} ({now.unclear / now.n:.0%})" in text


def test_counts_of_two_rules_are_not_compared(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where an older rule decided the verdicts of a side, no cause is named and no share is shown."""
    monkeypatch.setattr(module, "RULE_VERSION", RULE_VERSION - 1)
    told = told_of(store)
    assert told.causes == ()
    assert told.verdicts is not None
    assert not any(counts.is_current for counts in told.verdicts)
    assert "older rule" in render_markdown("alert", build_alert_sections(told))


def test_a_day_of_traffic_counts_verdicts() -> None:
    """The table of days counts the verdicts on the requests of each, and names the run that an older rule counted."""
    counts = VerdictCounts(1, 2, 1_500), VerdictCounts(9, 9, 9, 9, RULE_VERSION - 1)
    days = tuple(TrafficDay(f"2026-01-0{n}", "shop", {"scored": 5}, f"run{n}", one) for n, one in enumerate(counts))
    text = render_markdown("traffic", build_status_sections(TrafficStatus(1, 1, "", 10, 0, 0.0, 0, days)))
    assert "1 failed · 2 unclear · 1,500 passed" in text
    assert "older rule" in text
    assert "ragauge evaluate run1" in text
    assert "9 failed" not in text
