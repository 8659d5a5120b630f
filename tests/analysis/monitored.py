"""Requests for tests of monitors: days of scores in order of arrival."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import groupby
from typing import Any

import numpy as np

from ragauge.core.config.gate import Drop
from ragauge.core.example import Example
from ragauge.core.response import Passage, Response, Run
from ragauge.metrics.base import MetricResult
from ragauge.monitoring.series.monitor_specs import MonitorSpec
from ragauge.monitoring.series.monitor_tracker import Alert, MonitorTracker, TrackerState
from ragauge.scores.request_stream import Arrival, ArrivedScore
from ragauge.store.scores import Column
from ragauge.store.store_access import Store

FIRST = datetime(2026, 1, 1, tzinfo=UTC)
TENANTS = ("acme", "bolt")


def monitor(**changed: Any) -> MonitorSpec:
    """Faithfulness no more than 3 % below the 28 days before, or another monitor."""
    usual: dict[str, Any] = {
        "place": 1,
        "metric": "faithfulness",
        "share_above": None,
        "lower": False,
        "level": None,
        "drop": Drop(0.03, True, "3%"),
        "baseline": timedelta(days=28),
        "segments": (),
        "decide": "test",
        "wait": timedelta(0),
    }
    return MonitorSpec(**(usual | changed))


def watching(watch: MonitorSpec, monitors: int = 1, cool_down: timedelta = timedelta(days=1)) -> MonitorTracker:
    """At most 5 % of the months with a false alarm."""
    return MonitorTracker(watch, monitors, 0.05, 30, cool_down)


def traffic(
    means: Sequence[float],
    rate: int = 100,
    *,
    failed: float = 0.0,
    instrument: str = "local",
    seed: int = 1,
    first: int = 0,
) -> list[Arrival]:
    """Days of scores, each with its mean: 1 in most, lower in some."""
    draw, out = np.random.default_rng(seed), list[Arrival]()
    for day, mean in enumerate(means):
        for place in range(rate):
            x = float(draw.random()) if draw.random() < 2 * (1 - mean) else 1.0
            fails = draw.random() < failed
            score = ArrivedScore("failed" if fails else "scored", None if fails else x, 1.0, instrument)
            number = first + len(out)
            at = FIRST + timedelta(days=day, seconds=place * 86_400 / rate)
            out.append(
                Arrival(
                    number, at, f"t{number}", segments={"tenant": TENANTS[number % 2]}, scores={"faithfulness": score}
                )
            )
    return out


def fallen_at_noon() -> list[Arrival]:
    """Thirty days of scores, 1,000 on the last, in whose second half half of the answers are wrong."""
    draw = np.random.default_rng(8)
    found = traffic([0.95] * 29, rate=40)
    for place in range(1000):
        x = float(draw.random() < (0.95 if place < 500 else 0.5))
        at = FIRST + timedelta(days=29, seconds=place * 86)
        score = ArrivedScore("scored", x, 1.0, "local")
        found.append(Arrival(len(found), at, f"t{len(found)}", scores={"faithfulness": score}))
    return found


def batches(arrivals: Sequence[Arrival], size: int) -> Iterator[Sequence[Arrival]]:
    """In batches of a size."""
    for start in range(0, len(arrivals), size):
        yield arrivals[start : start + size]


def watched(by: MonitorTracker, arrivals: Sequence[Arrival], size: int = 10**9) -> tuple[TrackerState, list[Alert]]:
    """All of them, batch by batch."""
    state, found = TrackerState(), list[Alert]()
    for batch in batches(arrivals, size):
        state, alerts = by.after(state, batch)
        found += alerts
    return state, found


def stored(
    store: Store,
    arrivals: Sequence[Arrival],
    judge: str = "local",
    queries: Callable[[int], str] | None = None,
    origin: Callable[[int], dict[str, str]] | None = None,
    project: str = "shop",
) -> None:
    """Runs of traffic with these requests and scores, one a day, as the server keeps them."""
    for day, several in groupby(arrivals, key=lambda one: one.at.date().isoformat()):
        requests = list(several)
        made = f"{day}T12:00:00+00:00"
        given = Run(f"{project}{day}", f"{project} {day}", kind="traffic", system=project, created_at=made)
        run = store.collecting.open_traffic(given)
        pairs = []
        for one in requests:
            passages = tuple(Passage(f"p{n}", f"d{n}", "A passage.") for n in range(2))
            query = queries(one.number) if queries else "How long?"
            example = Example(one.trace_id, query, segments=dict(one.segments))
            pairs.append(
                (
                    example,
                    Response(
                        one.trace_id, passages=passages, answer="Long.", origin=origin(one.number) if origin else {}
                    ),
                )
            )
        store.collecting.replace_responses(run.run_id, pairs, ())
        ascending = sorted(number for number, _ in store.runs.load_order(run.run_id))
        rows = [
            (number, [MetricResult.of(score.value) if score.value is not None else MetricResult.failed("late", (0, 1))])
            for number, one in zip(ascending, requests, strict=True)
            for score in one.scores.values()
            if score.status != "pending"
        ]
        store.scores.write(run.run_id, [Column("faithfulness", 1, judge)], rows)
