"""What explains drift, measured of some days: texts, what users did, and what scheduled runs of a golden set found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from statistics import fmean
from typing import TYPE_CHECKING, Any, NamedTuple

from ragauge.core.errors import UnknownName, UsageError
from ragauge.core.outcomes import mark_values
from ragauge.engine.request_stream import get_traffic_day
from ragauge.monitoring.drift.compute import (
    MIN_VECTORS,
    DriftDay,
    DriftDetail,
    DriftMeasure,
    DriftReport,
    PlacedText,
    Texts,
    compute_drift_detail,
    learn_band,
    list_marked_days,
    measure_drift,
)

if TYPE_CHECKING:
    from ragauge.monitoring.series.gauge_monitors import SignalPoint
    from ragauge.scores.request_stream import Arrival
    from ragauge.scores.results.monitoring import Job
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


DOCUMENT_CUTOFF = 10  # documents of a golden question that are looked at
MAX_MARKED_DAYS = 60  # marked days that are measured, the newest
MAX_RUNS = 400  # of a schedule, the newest
MIN_SIMILARITY = 0.8  # cosine of a question and the one that puts it otherwise
MIN_FOLLOW_UPS = 20  # questions that follow another in their conversation; answers with a click or without
CLICK_OUTCOMES = ("click", "clicked", "ctr")

Values = dict[tuple[str, str], float]  # what is measured, and on what: value


class GoldenRun(NamedTuple):
    """What a scheduled run found for a golden set."""

    doc_ids: Mapping[str, tuple[str, ...]]  #: query_id -> ids of the first ten documents.
    recall: float | None  #: mean recall@10; None where nothing is labelled.
    #: share of the gold documents that the index has, by id or by text; None where its listing is not known.
    alive: float | None
    renamed: float | None = None  #: share of them that it has by text alone, under another id; None likewise.


def build_drift_report(
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
    marks_by_day = list_marked_days(store.periods.list())
    compared_days = sorted(day for day in marks_by_day if day < last)[-MAX_MARKED_DAYS:]
    project = among[0] if len(among) > 1 else ""
    tests = run_drift_tests(store, arrivals, kinds, permutations=permutations, project=project)
    details = build_drift_details(store, arrivals, kinds, {*compared_days, last})
    values = _collect_values(store, arrivals, details, {*compared_days, last})
    measures = []
    for key, value in values.get(last, {}).items():
        good, bad = (
            [values[day][key] for day in compared_days if marks_by_day[day] == mark and key in values.get(day, {})]
            for mark in ("good", "bad")
        )
        measures.append(DriftMeasure(*key, value, learn_band(good, bad)))
    day_details = tuple(day_detail for day_detail in details if day_detail.day == last)
    return DriftReport(
        tests,
        day_details,
        tuple(measures),
        sum(marks_by_day[day] == "good" for day in compared_days),
        sum(marks_by_day[day] == "bad" for day in compared_days),
        project,
        tuple(among[1:]),
    )


def _collect_values(
    store: Store, arrivals: Sequence[Arrival], details: Iterable[DriftDetail], days: Collection[date]
) -> dict[date, Values]:
    out: dict[date, Values] = {}
    for day_detail in details:
        out.setdefault(day_detail.day, {}).update(
            {(day_detail.of, name): value for name, value in day_detail.values.items()}
        )
    by_day: dict[date, list[int]] = {}
    for request in arrivals:
        by_day.setdefault(request.at.date(), []).append(request.number)
    for day in days:
        if day in by_day:
            out.setdefault(day, {}).update(_measure_behavior(store, day, by_day[day]))
    for day, day_values in _measure_golden_runs(store, days).items():
        out.setdefault(day, {}).update(day_values)
    return out


def _measure_behavior(store: Store, day: date, numbers: Sequence[int]) -> Values:
    """What users did on a day: whether they put questions otherwise, and clicked. Of a stretch of the day's requests.

    A stretch, since a question and the next one of its conversation must both be seen.
    """
    loaded = store.runs.load(numbers[:MAX_TEXTS_PER_DAY])
    click_marks: list[bool] = []
    for item in loaded:
        for name in CLICK_OUTCOMES:
            if name in item.response.outcome:
                try:
                    (good,), _ = mark_values([item.response.outcome[name]], name)
                except UsageError:  # a number or word whose meaning nobody has said
                    continue
                click_marks += [] if good is None else [good]
                break
    values: Values = {}
    if len(click_marks) >= MIN_FOLLOW_UPS:
        values["requests", "click_through_rate"] = fmean(click_marks)
    elif points := [item.value for item in _list_day_points(store, "ctr", day)]:
        values["requests", "click_through_rate"] = fmean(points)
    conversations: dict[str, list[str]] = {}
    for item in loaded:
        if item.example.cluster is not None:
            conversations.setdefault(item.example.cluster, []).append(item.example.query)
    if (rate := compute_reformulation_rate(list(conversations.values()))) is not None:
        values["queries", "reformulation_rate"] = rate
    return values


def _list_day_points(store: Store, name: str, day: date) -> list[SignalPoint]:
    day_start = datetime.combine(day, datetime.min.time(), UTC).timestamp()
    return [point for point in store.inbox.list_signal_points(name, day_start) if point.at < day_start + 86_400]


def compute_reformulation_rate(conversations: Sequence[Sequence[str]]) -> float | None:
    """The share of questions after another in their conversation that ask the same in other words.

    That is a cosine of their local embeddings of at least 0.8. The same words again count too: nothing helped.

    Args:
        conversations: the questions of each, in order.

    Returns:
        In [0, 1]; None with fewer than 20 questions that follow another.
    """
    import numpy as np

    from ragauge.engine.retrievers import build_local_embedder

    pairs = [pair for conversation in conversations for pair in pairwise(conversation)]
    if len(pairs) < MIN_FOLLOW_UPS:
        return None
    texts = list(dict.fromkeys(text for pair in pairs for text in pair))
    vectors = np.asarray(build_local_embedder().embed(texts), dtype=float)
    unit = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    index_by_text = {text: n for n, text in enumerate(texts)}
    return fmean(float(unit[index_by_text[a]] @ unit[index_by_text[b]]) >= MIN_SIMILARITY for a, b in pairs)


def _measure_golden_runs(store: Store, days: Collection[date]) -> dict[date, Values]:
    """What the runs of each schedule found on its days, beside the first run of the 28 days before."""
    from ragauge.stats.drift import neighbour_overlap

    out: dict[date, Values] = {}
    by_name: dict[str, dict[date, Job]] = {}
    for job in store.jobs.list_latest(MAX_RUNS):
        if job.run_id:  # the newest of a day counts, and stands first
            by_name.setdefault(job.name, {}).setdefault(datetime.fromtimestamp(job.due, UTC).date(), job)
    run_cache: dict[str, GoldenRun | None] = {}
    for name, jobs in by_name.items():
        for day in sorted(jobs.keys() & set(days)):
            current = _load_cached_golden_run(store, jobs[day].run_id, run_cache)
            if current is None:
                continue
            values: Values = {}
            if current.recall is not None:
                values[name, f"recall@{DOCUMENT_CUTOFF}"] = current.recall
            if current.alive is not None:
                values[name, "gold_alive"] = current.alive
            if current.renamed is not None:
                values[name, "gold_renamed"] = current.renamed
            since = day - timedelta(days=BASELINE_DAYS)
            earlier = next((jobs[key].run_id for key in sorted(jobs) if since <= key < day), "")
            previous = _load_cached_golden_run(store, earlier, run_cache) if earlier else None
            if previous is not None and (shared_queries := sorted(current.doc_ids.keys() & previous.doc_ids.keys())):
                pairs = (
                    [previous.doc_ids[key] for key in shared_queries],
                    [current.doc_ids[key] for key in shared_queries],
                )
                overlap = neighbour_overlap(*pairs, DOCUMENT_CUTOFF)
                values |= {} if overlap is None else {(name, f"neighbour_overlap@{DOCUMENT_CUTOFF}"): overlap}
            out.setdefault(day, {}).update(values)
    return out


def _load_cached_golden_run(store: Store, run_id: str, run_cache: dict[str, GoldenRun | None]) -> GoldenRun | None:
    """What a run found; None where it is gone, or recorded no passages."""
    if run_id not in run_cache:
        run_cache[run_id] = load_golden_run(store, run_id)
    return run_cache[run_id]


def load_golden_run(store: Store, run_id: str) -> GoldenRun | None:
    """What a run over a labelled set found in its first ten documents; None where it is gone or recorded none."""
    from ragauge.metrics.catalogue import parse_metric
    from ragauge.metrics.facts import Facts
    from ragauge.metrics.measure import measure_metric
    from ragauge.metrics.retrieval.ranks import rank_responses

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
    metric = parse_metric(f"recall@{DOCUMENT_CUTOFF}")
    scored = [
        measure_metric(metric, Facts(*pair, ranking=item))
        for pair, item in zip(pairs, rank_responses(pairs), strict=True)
    ]
    recalls = [item.value for item in scored if item.status == "scored" and item.value is not None]
    gold = {
        doc_id for example, _ in pairs for item in example.relevant or () if item.grade > 0 for doc_id in item.doc_ids
    }
    documents = {
        example.query_id: tuple(dict.fromkeys(item.doc_id for item in response.passages or ()))[:DOCUMENT_CUTOFF]
        for example, response in pairs
    }
    listing = store.listings.read(run.run_id)
    recall = fmean(recalls) if recalls else None
    if listing is None or not gold:
        return GoldenRun(documents, recall, None)
    alive = sum(item in listing for item in gold) / len(gold)
    return GoldenRun(documents, recall, alive, len(gold & listing.renamed) / len(gold))
