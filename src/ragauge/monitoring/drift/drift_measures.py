"""What explains drift, measured of some days: texts, what users did, and what scheduled runs of a golden set found."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple

from ragauge.core.errors import UnknownName, UsageError
from ragauge.core.outcomes import marks
from ragauge.monitoring.drift.compute import DriftDetail, DriftReport, Texts
from ragauge.monitoring.drift.drift_days import A_DAY, BASELINE_DAYS, drift_days, drift_details
from ragauge.monitoring.drift.normal_ranges import DriftMeasure, learned, marked_days

if TYPE_CHECKING:
    from ragauge.monitoring.series.gauge_monitors import SignalPoint
    from ragauge.scores.request_stream import Arrival
    from ragauge.scores.results.jobs import Job
    from ragauge.store.store_access import Store

K = 10  # documents of a golden question that are looked at
MOST_MARKED = 60  # marked days that are measured, the newest
MOST_RUNS = 400  # of a schedule, the newest
ALIKE = 0.8  # cosine of a question and the one that puts it otherwise
LEAST_FOLLOWING = 20  # questions that follow another in their conversation; answers with a click or without
CLICKS = ("click", "clicked", "ctr")

Values = dict[tuple[str, str], float]  # what is measured, and on what: value


class GoldenRun(NamedTuple):
    """What a scheduled run found for a golden set.

    Attributes:
        found: query_id -> ids of the first ten documents.
        recall: mean recall@10; None where nothing is labelled.
        alive: share of the gold documents that the index has, by id or by text; None where its listing is not known.
        renamed: share of them that it has by text alone, under another id; None likewise.
    """

    found: Mapping[str, tuple[str, ...]]
    recall: float | None
    alive: float | None
    renamed: float | None = None


def drift_report(
    store: Store,
    arrivals: Sequence[Arrival],
    kinds: Sequence[Texts],
    last: date,
    permutations: int = 999,
    among: Sequence[str] = (),
) -> DriftReport:
    """The tests of the last seven days, and what is measured of the last beside the bands of the days marked.

    Args:
        store: with responses, jobs and marks.
        arrivals: of all days, in order; they reach 28 days before the first marked one.
        kinds: queries, documents.
        last: the day that is explained.
        permutations: of each test.
        among: the projects with traffic, that of these requests first; none or one = it need not be named.
    """
    was = marked_days(store.periods.list())
    known = sorted(day for day in was if day < last)[-MOST_MARKED:]
    project = among[0] if len(among) > 1 else ""
    tests = drift_days(store, arrivals, kinds, permutations=permutations, project=project)
    details = drift_details(store, arrivals, kinds, {*known, last})
    values = _values(store, arrivals, details, {*known, last})
    measures = []
    for key, value in values.get(last, {}).items():
        good, wrong = (
            [values[day][key] for day in known if was[day] == said and key in values.get(day, {})]
            for said in ("good", "bad")
        )
        measures.append(DriftMeasure(*key, value, learned(good, wrong)))
    mine = tuple(one for one in details if one.day == last)
    return DriftReport(
        tests,
        mine,
        tuple(measures),
        sum(was[day] == "good" for day in known),
        sum(was[day] == "bad" for day in known),
        project,
        tuple(among[1:]),
    )


def _values(
    store: Store, arrivals: Sequence[Arrival], details: Iterable[DriftDetail], days: Collection[date]
) -> dict[date, Values]:
    out: dict[date, Values] = {}
    for one in details:
        out.setdefault(one.day, {}).update({(one.of, name): value for name, value in one.values.items()})
    by_day: dict[date, list[int]] = {}
    for request in arrivals:
        by_day.setdefault(request.at.date(), []).append(request.number)
    for day in days:
        if day in by_day:
            out.setdefault(day, {}).update(_behaviour(store, day, by_day[day]))
    for day, found in _golden(store, days).items():
        out.setdefault(day, {}).update(found)
    return out


def _behaviour(store: Store, day: date, numbers: Sequence[int]) -> Values:
    """What users did on a day: whether they put questions otherwise, and clicked. Of a stretch of the day's requests.

    A stretch, since a question and the next one of its conversation must both be seen.
    """
    loaded = store.runs.load(numbers[:A_DAY])
    said: list[bool] = []
    for one in loaded:
        for name in CLICKS:
            if name in one.response.outcome:
                try:
                    (good,), _ = marks([one.response.outcome[name]], name)
                except UsageError:  # a number or word whose meaning nobody has said
                    continue
                said += [] if good is None else [good]
                break
    found: Values = {}
    if len(said) >= LEAST_FOLLOWING:
        found["requests", "click_through_rate"] = fmean(said)
    elif points := [one.value for one in _of_day(store, "ctr", day)]:
        found["requests", "click_through_rate"] = fmean(points)
    conversations: dict[str, list[str]] = {}
    for one in loaded:
        if one.example.cluster is not None:
            conversations.setdefault(one.example.cluster, []).append(one.example.query)
    if (rate := reformulation_rate(list(conversations.values()))) is not None:
        found["queries", "reformulation_rate"] = rate
    return found


def _of_day(store: Store, name: str, day: date) -> list[SignalPoint]:
    begins = datetime.combine(day, datetime.min.time(), UTC).timestamp()
    return [one for one in store.inbox.signal(name, begins) if one.at < begins + 86_400]


def reformulation_rate(conversations: Sequence[Sequence[str]]) -> float | None:
    """The share of questions after another in their conversation that ask the same in other words.

    That is a cosine of their local embeddings of at least 0.8. The same words again count too: nothing helped.

    Args:
        conversations: the questions of each, in order.

    Returns:
        In [0, 1]; None with fewer than 20 questions that follow another.
    """
    import numpy as np

    from ragauge.engine.retrievers import local_embedder

    pairs = [pair for one in conversations for pair in pairwise(one)]
    if len(pairs) < LEAST_FOLLOWING:
        return None
    texts = list(dict.fromkeys(text for pair in pairs for text in pair))
    vectors = np.asarray(local_embedder().embed(texts), dtype=float)
    unit = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    place = {text: n for n, text in enumerate(texts)}
    return fmean(float(unit[place[a]] @ unit[place[b]]) >= ALIKE for a, b in pairs)


def _golden(store: Store, days: Collection[date]) -> dict[date, Values]:
    """What the runs of each schedule found on its days, beside the first run of the 28 days before."""
    from ragauge.stats.drift import neighbour_overlap

    out: dict[date, Values] = {}
    by_name: dict[str, dict[date, Job]] = {}
    for job in store.jobs.latest(MOST_RUNS):
        if job.run_id:  # the newest of a day counts, and stands first
            by_name.setdefault(job.name, {}).setdefault(datetime.fromtimestamp(job.due, UTC).date(), job)
    known: dict[str, GoldenRun | None] = {}
    for name, jobs in by_name.items():
        for day in sorted(jobs.keys() & set(days)):
            now = _golden_run(store, jobs[day].run_id, known)
            if now is None:
                continue
            found: Values = {}
            if now.recall is not None:
                found[name, f"recall@{K}"] = now.recall
            if now.alive is not None:
                found[name, "gold_alive"] = now.alive
            if now.renamed is not None:
                found[name, "gold_renamed"] = now.renamed
            since = day - timedelta(days=BASELINE_DAYS)
            earlier = next((jobs[one].run_id for one in sorted(jobs) if since <= one < day), "")
            before = _golden_run(store, earlier, known) if earlier else None
            if before is not None and (both := sorted(now.found.keys() & before.found.keys())):
                pairs = [before.found[one] for one in both], [now.found[one] for one in both]
                overlap = neighbour_overlap(*pairs, K)
                found |= {} if overlap is None else {(name, f"neighbour_overlap@{K}"): overlap}
            out.setdefault(day, {}).update(found)
    return out


def _golden_run(store: Store, run_id: str, known: dict[str, GoldenRun | None]) -> GoldenRun | None:
    """What a run found; None where it is gone, or recorded no passages."""
    if run_id not in known:
        known[run_id] = golden_run(store, run_id)
    return known[run_id]


def golden_run(store: Store, run_id: str) -> GoldenRun | None:
    """What a run over a labelled set found in its first ten documents; None where it is gone or recorded none."""
    from ragauge.metrics.catalogue import parse
    from ragauge.metrics.facts import Facts
    from ragauge.metrics.measure import measure
    from ragauge.metrics.retrieval.ranks import of_responses

    try:
        run = store.runs.find(run_id)
    except UnknownName:
        return None
    pairs = [
        (example, response)
        for example, response in store.runs.pairs(run.run_id)
        if response.passages is not None and response.error is None
    ]
    if not pairs:
        return None
    metric = parse(f"recall@{K}")
    scored = [measure(metric, Facts(*pair, ranking=one)) for pair, one in zip(pairs, of_responses(pairs), strict=True)]
    recalls = [one.value for one in scored if one.status == "scored" and one.value is not None]
    gold = {doc_id for example, _ in pairs for one in example.relevant or () if one.grade > 0 for doc_id in one.doc_ids}
    found = {
        example.query_id: tuple(dict.fromkeys(one.doc_id for one in response.passages or ()))[:K]
        for example, response in pairs
    }
    listing = store.listings.read(run.run_id)
    recall = fmean(recalls) if recalls else None
    if listing is None or not gold:
        return GoldenRun(found, recall, None)
    alive = sum(one in listing for one in gold) / len(gold)
    return GoldenRun(found, recall, alive, len(gold & listing.renamed) / len(gold))
