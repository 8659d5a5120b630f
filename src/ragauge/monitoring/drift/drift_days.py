"""Drift of stored traffic: the texts of its days, embedded, each day beside those before it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from ragauge.engine.request_stream import day_of
from ragauge.monitoring.drift.compute import LEAST, DriftDay, DriftDetail, PlacedText, Texts, detail, drift
from ragauge.monitoring.drift.normal_ranges import marked_days

if TYPE_CHECKING:
    from ragauge.scores.request_stream import Arrival
    from ragauge.store.store_access import Store

LAST_DAYS, BASELINE_DAYS = 7, 28
A_DAY, BEFORE = 500, 1500  # texts that are looked at, at most


class TextsOfDay(NamedTuple):
    """A day's texts of one kind beside those of the 28 days before it, and their embeddings."""

    day: int
    of: Texts
    before: tuple[list[PlacedText], Any]
    now: tuple[list[PlacedText], Any]


def drift_days(
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
    days = sorted({one.at.date() for one in arrivals})[-last:]
    return tuple(
        DriftDay(
            date.fromordinal(one.day),
            drift(one.of, one.before[1], one.now[1], permutations=permutations, seed=one.day),
            project,
        )
        for one in _beside(store, arrivals, kinds, days)
    )


def projects_before(store: Store, projects: Collection[str], day: date) -> int:
    """How many projects may be tested on a day: those with 50 requests or more in the 28 days before it; at least 1.

    No other has a baseline to be held against, and none of this depends on what comes on the day itself.

    Args:
        store: with the traffic.
        projects: that are looked at.
        day: of the test.
    """
    since, before = (day - timedelta(days=BASELINE_DAYS)).isoformat(), day.isoformat()
    found = Counter[str]()
    for run in store.runs.list(filter={"kind": "traffic"}):
        if run.system in projects and found[run.system] < LEAST and since <= day_of(run) < before:
            found[run.system] += len(store.runs.order(run.run_id).numbers)
    return max(1, sum(n >= LEAST for n in found.values()))


def drift_details(
    store: Store, arrivals: Sequence[Arrival], kinds: Sequence[Texts], days: Collection[date]
) -> tuple[DriftDetail, ...]:
    """How the texts of some days differ from those of the 28 days before each, where there are enough of them."""
    found = (
        detail(date.fromordinal(one.day), one.of, one.before, one.now, seed=one.day)
        for one in _beside(store, arrivals, kinds, days)
    )
    return tuple(one for one in found if one is not None)


def _beside(
    store: Store, arrivals: Sequence[Arrival], kinds: Sequence[Texts], wanted: Collection[date]
) -> Iterator[TextsOfDay]:
    import numpy as np

    by_day: dict[int, list[Arrival]] = {}
    for one in arrivals:
        by_day.setdefault(one.at.date().toordinal(), []).append(one)
    days = sorted(day.toordinal() for day in wanted if day.toordinal() in by_day) if kinds else []
    needed = {one for day in days for one in range(day - BASELINE_DAYS, day + 1)}
    sampled = {day: _some(several, A_DAY, day) for day, several in by_day.items() if day in needed}
    known = {of: _embedded(store, sampled, of) for of in (kinds if days else ())}
    left_out = {day.toordinal() for day, was in marked_days(store.periods.list()).items() if was == "bad"}
    for day in days:
        for of in kinds:
            earlier = [one for one in sorted(known[of]) if day - BASELINE_DAYS <= one < day and one not in left_out]
            before = [pair for one in earlier for pair in known[of][one]]
            kept = _some(before, BEFORE, day)
            sides = (
                ([text for text, _ in side], np.asarray([vector for _, vector in side]))
                for side in (kept, known[of].get(day, []))
            )
            yield TextsOfDay(day, of, *sides)


def _some(values: Sequence[Any], most: int, seed: int) -> list[Any]:
    """So many at most, drawn at random, in their order."""
    import numpy as np

    if len(values) <= most:
        return list(values)
    return [values[place] for place in sorted(np.random.default_rng(seed).choice(len(values), most, replace=False))]


def _embedded(
    store: Store, requests: Mapping[int, Sequence[Arrival]], of: Texts
) -> dict[int, list[tuple[PlacedText, Any]]]:
    from ragauge.engine.retrievers import local_embedder

    texts = {day: list(_texts(store, several, of)) for day, several in requests.items()}
    every = list(dict.fromkeys(one.text for several in texts.values() for one in several))
    if len(every) < LEAST:  # mostly the same few texts: nothing to compare
        return {}
    vector = dict(zip(every, local_embedder().embed(every), strict=True))
    return {day: [(one, vector[one.text]) for one in several] for day, several in texts.items()}


def _texts(store: Store, requests: Sequence[Arrival], of: Texts) -> Iterator[PlacedText]:
    run_of = {one.number: one.run_id for one in requests}
    for one in store.runs.load([one.number for one in requests]):
        passages = one.response.passages
        text = one.example.query if of == "queries" else passages[0].text if passages else None
        if text:
            yield PlacedText(text, run_of[one.response_no], one.example.query_id)
