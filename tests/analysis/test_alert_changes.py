"""What an alert says changed: once each, by a test, and the mix of requests apart from the system."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import timedelta

import numpy as np
from tests.analysis.monitored import FIRST, monitor, traffic, watched, watching

from ragauge.monitoring.alerts.tables import build_alert_sections
from ragauge.monitoring.series.alert_details import (
    AlertAccount,
    build_account,
    build_plain_account,
    select_alert_requests,
)
from ragauge.monitoring.series.monitor_tracker import Alert

WATCH = monitor(level=0.8, drop=None)


def fallen(segment: str, before: list[str], now: list[str], facts: bool = False) -> AlertAccount:
    """An alert of the third day; a segment has some values in turn until then, others since."""
    came = []
    for one in traffic([0.95, 0.95, 0.3], rate=60):
        several = now if one.at >= FIRST + timedelta(days=2) else before
        came.append(replace(one, segments={segment: several[one.number % len(several)]}))
    alert = next(one for one in watched(watching(WATCH), came)[1] if one.ended_at is None)
    looked = select_alert_requests(alert, WATCH, came)
    said = [{"model": Counter(one.segments[segment] for one in side)} if facts else {} for side in looked]
    return build_account(alert, WATCH, looked, {}, (said[0], said[1]))


def test_a_segment_that_is_a_fact_is_told_once() -> None:
    """A model that is a segment too is told as what traces say, and nowhere else."""
    told = fallen("model", ["m-1"], ["m-2"], facts=True)
    assert [(one.fact, one.value, one.now > 0.5) for one in told.facts] == [
        ("model", "m-1", False),
        ("model", "m-2", True),
    ]
    assert told.mix == ()


def test_the_mix_of_requests_is_no_change_of_the_system() -> None:
    """Other shares of tenants stand under the mix; a segment whose values are new, such as a version, is a change."""
    told = fallen("tenant", ["acme", "acme", "acme", "bolt"], ["acme", "bolt", "bolt", "bolt"])
    assert told.facts == ()
    assert {one.value for one in told.mix} == {"acme", "bolt"}
    titles = [one.heading for one in build_alert_sections(told)]
    assert "Mix of requests" in titles
    assert "What changed in the traces" not in titles
    version = fallen("build", ["7"], ["8"])
    assert ({one.value for one in version.facts}, version.mix) == ({"7", "8"}, ())


def test_chance_is_no_change() -> None:
    """Of shares that move by chance alone, seven requests beside fifty, nothing is told in 99 of 100 alerts."""
    at = FIRST + timedelta(days=2)
    alert = Alert(
        "a", "faithfulness", "", ("", ""), at, 9, "t", at.date(), 0.5, 7, 0.8, 0.9, 9.0, 5.0, 1, "test", False
    )
    draw, moved, told = np.random.default_rng(7), 0, 0
    for _ in range(400):
        sides = [Counter(draw.choice(["acme", "bolt", "globex"], n).tolist()) for n in (50, 7)]
        shares = [{value: side[value] / side.total() for value in sides[0]} for side in sides]
        moved += any(abs(shares[1][value] - shares[0][value]) >= 0.1 for value in shares[0])
        told += bool(build_plain_account(alert, ({"model": sides[0]}, {"model": sides[1]})).facts)
    assert moved > 300
    assert told <= 8
    whole = {"model": Counter({"m-1": 50})}, {"model": Counter({"m-2": 7})}
    assert {one.value for one in build_plain_account(alert, whole).facts} == {"m-1", "m-2"}


def test_the_worst_is_lower_scores_of_another_day() -> None:
    """Where scores fell within each value, the account says so, and claims nothing of the same requests."""
    (first, *_) = build_alert_sections(fallen("tenant", ["acme", "bolt"], ["acme", "bolt"]))
    assert any(
        str(one).endswith("mostly due to lower scores, not to a different mix of requests.") for one in first.after
    )
