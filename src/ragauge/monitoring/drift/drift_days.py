"""Drift of stored traffic: the texts of its days, embedded, each day beside those before it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from ragauge.engine.request_stream import get_traffic_day
from ragauge.monitoring.drift.compute import (
    MIN_VECTORS,
    DriftDay,
    DriftDetail,
    PlacedText,
    Texts,
    compute_drift_detail,
    list_marked_days,
    measure_drift,
)

if TYPE_CHECKING:
    from ragauge.scores.request_stream import Arrival
    from ragauge.store.store_access import Store

LAST_DAYS, BASELINE_DAYS = 7, 28
MAX_TEXTS_PER_DAY, MAX_BASELINE_TEXTS = 500, 1500  # texts that are looked at, at most


class DayTexts(NamedTuple):
    """A day's texts of one kind beside those of the 28 days before it, and their embeddings."""

    day: int
    of: Texts
    before: tuple[list[PlacedText], Any]
    now: tuple[list[PlacedText], Any]


def run_drift_tests(
    store: Store,
    arrivals: Sequence[Arrival],
    kinds: Sequence[Texts],
    *,
    last: int = LAST_DAYS,
    permutations: int = 999,
    project: str = "",
) -> tuple[DriftDay, ...]:
    """Whether the texts of each of the last days moved away from those of the 28 days before it.

    Days that people marked bad are left out of what others are held against.

    Args:
        store: with the responses, and what people said of days.
        arrivals: of all days, in order.
        kinds: queries, and documents: the first passage of each request.
        last: how many days with traffic are looked at.
        permutations: of the test.
        project: that the days are to name; "" = there is one.
    """
    days = sorted({day_texts.at.date() for day_texts in arrivals})[-last:]
    return tuple(
        DriftDay(
            date.fromordinal(day_texts.day),
            measure_drift(
                day_texts.of, day_texts.before[1], day_texts.now[1], permutations=permutations, seed=day_texts.day
            ),
            project,
        )
        for day_texts in _iter_day_texts(store, arrivals, kinds, days)
    )


def count_testable_projects(store: Store, projects: Collection[str], day: date) -> int:
    """How many projects may be tested on a day: those with 50 requests or more in the 28 days before it; at least 1.

    No other has a baseline to be held against, and none of this depends on what comes on the day itself.

    Args:
        store: with the traffic.
        projects: that are looked at.
        day: of the test.
    """
    since, until = (day - timedelta(days=BASELINE_DAYS)).isoformat(), day.isoformat()
    counts = Counter[str]()
    for run in store.runs.list(filter={"kind": "traffic"}):
        if run.system in projects and counts[run.system] < MIN_VECTORS and since <= get_traffic_day(run) < until:
            counts[run.system] += len(store.runs.load_order(run.run_id).numbers)
    return max(1, sum(n >= MIN_VECTORS for n in counts.values()))


def build_drift_details(
    store: Store, arrivals: Sequence[Arrival], kinds: Sequence[Texts], days: Collection[date]
) -> tuple[DriftDetail, ...]:
    """How the texts of some days differ from those of the 28 days before each, where there are enough of them."""
    details = (
        compute_drift_detail(
            date.fromordinal(day_texts.day), day_texts.of, day_texts.before, day_texts.now, seed=day_texts.day
        )
        for day_texts in _iter_day_texts(store, arrivals, kinds, days)
    )
    return tuple(day_texts for day_texts in details if day_texts is not None)


def _iter_day_texts(
    store: Store, arrivals: Sequence[Arrival], kinds: Sequence[Texts], requested_days: Collection[date]
) -> Iterator[DayTexts]:
    import numpy as np

    by_day: dict[int, list[Arrival]] = {}
    for item in arrivals:
        by_day.setdefault(item.at.date().toordinal(), []).append(item)
    days = sorted(day.toordinal() for day in requested_days if day.toordinal() in by_day) if kinds else []
    needed = {item for day in days for item in range(day - BASELINE_DAYS, day + 1)}
    sampled = {day: _sample_values(several, MAX_TEXTS_PER_DAY, day) for day, several in by_day.items() if day in needed}
    texts_by_kind = {kind: _embed_texts(store, sampled, kind) for kind in (kinds if days else ())}
    bad_days = {day.toordinal() for day, mark in list_marked_days(store.periods.list()).items() if mark == "bad"}
    for day in days:
        for kind in kinds:
            earlier = [
                item
                for item in sorted(texts_by_kind[kind])
                if day - BASELINE_DAYS <= item < day and item not in bad_days
            ]
            baseline_pairs = [pair for item in earlier for pair in texts_by_kind[kind][item]]
            sampled_pairs = _sample_values(baseline_pairs, MAX_BASELINE_TEXTS, day)
            windows = (
                ([text for text, _ in window], np.asarray([vector for _, vector in window]))
                for window in (sampled_pairs, texts_by_kind[kind].get(day, []))
            )
            yield DayTexts(day, kind, *windows)


def _sample_values(values: Sequence[Any], max_n: int, seed: int) -> list[Any]:
    """So many at most, drawn at random, in their order."""
    import numpy as np

    if len(values) <= max_n:
        return list(values)
    return [values[index] for index in sorted(np.random.default_rng(seed).choice(len(values), max_n, replace=False))]


def _embed_texts(
    store: Store, requests: Mapping[int, Sequence[Arrival]], kind: Texts
) -> dict[int, list[tuple[PlacedText, Any]]]:
    from ragauge.engine.retrievers import build_local_embedder

    texts = {day: list(_iter_texts(store, several, kind)) for day, several in requests.items()}
    unique_texts = list(dict.fromkeys(placed_text.text for several in texts.values() for placed_text in several))
    if len(unique_texts) < MIN_VECTORS:  # mostly the same few texts: nothing to compare
        return {}
    vector = dict(zip(unique_texts, build_local_embedder().embed(unique_texts), strict=True))
    return {day: [(placed_text, vector[placed_text.text]) for placed_text in several] for day, several in texts.items()}


def _iter_texts(store: Store, requests: Sequence[Arrival], kind: Texts) -> Iterator[PlacedText]:
    run_of = {item.number: item.run_id for item in requests}
    for item in store.runs.load([item.number for item in requests]):
        passages = item.response.passages
        text = item.example.query if kind == "queries" else passages[0].text if passages else None
        if text:
            yield PlacedText(text, run_of[item.response_no], item.example.query_id)
