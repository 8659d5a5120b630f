"""The requests of production as monitors take them: out of the runs of traffic, in order of arrival."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from heapq import merge
from math import isnan
from typing import TYPE_CHECKING, Any, NamedTuple

from ragauge.core.score import STATUSES
from ragauge.core.verdict import RULE_VERSION, VERDICTS, Verdict, VerdictCounts
from ragauge.scores.request_stream import NOT_RECORDED, Arrival, ArrivedScore

if TYPE_CHECKING:
    from ragauge.core.response import Run
    from ragauge.scores.arrays import ResponseIndex
    from ragauge.scores.results.scorecard import Cause
    from ragauge.store.store_access import Store

MAX_NEWEST_REQUESTS, MIN_SERVED_SHARE = (
    200,
    0.05,
)  # requests that say which models answer, and the share of one that counts
ORIGIN_FACTS = ("model", "prompt", "embedder", "index", "k", "version")  # facts of a response's origin
MAX_ORIGIN_RESPONSES, MIN_VALUE_SHARE = (
    100,
    0.1,
)  # responses that say what made a run, and the share of one value that counts
TRACE_DIGITS = 32  # a response is called as its trace is, or begins so


class _ArrivedScores(NamedTuple):
    """One metric's scores in a run: place of the response -> status and value; by what and by whom they were made."""

    scores_by_response: Mapping[int, tuple[int, float]]
    instrument: str
    judged: bool


def find_watched_project(store: Store, requested: str = "") -> str:
    """The project that is watched: the one that is named, else the one whose traffic came first; "" = none came yet."""
    return requested or _get_first_project(store.runs.list(filter={"kind": "traffic"}, sort="oldest"))


def _get_first_project(oldest_first: Sequence[Run]) -> str:
    return oldest_first[0].system if oldest_first else ""


def list_traffic_runs(store: Store, since: str = "", *, project: str = "") -> list[Run]:
    """The runs of one project's traffic that began on a day (ISO) or later, the oldest first.

    Args:
        store: with the runs.
        since: the day; "" = all.
        project: whose traffic; "" = that of the project whose traffic came first.
    """
    runs = store.runs.list(filter={"kind": "traffic"}, sort="oldest")
    selected_project = project or _get_first_project(runs)
    return sorted(
        (run for run in runs if run.system == selected_project and get_traffic_day(run) >= since), key=get_traffic_day
    )


def list_traffic_projects(store: Store) -> list[str]:
    """The projects that have runs of traffic, in the order in which they came."""
    return list(dict.fromkeys(run.system for run in store.runs.list(filter={"kind": "traffic"}, sort="oldest")))


def count_origin_facts(store: Store, numbers: Sequence[int]) -> dict[str, Counter[str]]:
    """What some responses say of how they were made: fact -> how many have which value."""
    counts_by_fact: dict[str, Counter[str]] = {fact: Counter() for fact in ("passages", "error", *ORIGIN_FACTS)}
    for loaded in store.runs.load(numbers):
        response = loaded.response
        if response.passages is not None:
            counts_by_fact["passages"][str(len(response.passages))] += 1
        counts_by_fact["error"]["none" if response.error is None else "some"] += 1
        for fact in ORIGIN_FACTS:
            counts_by_fact[fact][response.origin.get(fact, NOT_RECORDED)] += 1
    return counts_by_fact


def summarize_origins(store: Store, run_id: str) -> dict[str, str]:
    """What a run's system says of itself in `origin`: fact -> value; what it does not say is left out.

    Read from 100 responses. Of several values those stand that a tenth of them have, joined by "and".
    """
    origins = store.runs.list_origins(run_id, MAX_ORIGIN_RESPONSES)
    values_by_fact: dict[str, str] = {}
    for fact in ORIGIN_FACTS:
        counted = Counter(origin[fact] for origin in origins if fact in origin)
        frequent = sorted(value for value, n in counted.items() if n >= MIN_VALUE_SHARE * len(origins))
        if frequent:
            values_by_fact[fact] = " and ".join(frequent)
    return values_by_fact


def load_causes(store: Store, run_ids: Sequence[str]) -> dict[int, Cause]:
    """Number of a response that failed -> why."""
    causes: dict[int, Cause] = {}
    for run_id in dict.fromkeys(run_ids):
        judge_id = next(iter(store.scores.judges(run_id)), None)
        causes |= dict(store.causes.read(run_id, judge_id))
    return causes


def load_verdicts(store: Store, run_ids: Sequence[str]) -> dict[int, tuple[Verdict, int]]:
    """Number of a response -> its verdict, and the version of the rule by which it was decided."""
    verdicts_by_number: dict[int, tuple[Verdict, int]] = {}
    for run_id in dict.fromkeys(run_ids):
        columns = store.verdicts.columns(run_id, next(iter(store.scores.judges(run_id)), None))
        verdicts = zip(columns.verdict.tolist(), columns.rule.tolist(), strict=True)
        pairs = ((VERDICTS[code], rule) for code, rule in verdicts)
        verdicts_by_number |= dict(zip(columns.number.tolist(), pairs, strict=True))
    return verdicts_by_number


def count_verdicts(verdicts: Mapping[int, tuple[Verdict, int]], numbers: Iterable[int]) -> VerdictCounts:
    """Counts of the verdicts on some responses; one without any was not judged."""
    pairs = [verdicts.get(number, ("not_judged", RULE_VERSION)) for number in numbers]
    return VerdictCounts.from_verdicts((verdict for verdict, _ in pairs), min((rule for _, rule in pairs), default=0))


def list_served_models(store: Store, segment: str, *, project: str = "") -> list[str]:
    """The models that answered at least 5 % of the newest 200 requests, in the order of the alphabet.

    Args:
        store: with the traffic.
        segment: whose values are the models.
        project: whose traffic, as `list_traffic_runs` takes it.
    """
    numbers: list[int] = []
    for run in reversed(list_traffic_runs(store, project=project)):
        numbers += store.runs.load_order(run.run_id).numbers
        if len(numbers) >= MAX_NEWEST_REQUESTS:
            break
    loaded = store.runs.load(sorted(numbers)[-MAX_NEWEST_REQUESTS:])
    counted = Counter(response.example.segments[segment] for response in loaded if segment in response.example.segments)
    return sorted(name for name, n in counted.items() if n >= MIN_SERVED_SHARE * counted.total())


def get_traffic_day(run: Run) -> str:
    """The UTC date that a run of traffic is of: that its name ends with, else that of its making."""
    last = run.name.rpartition(" ")[2]
    try:
        return date.fromisoformat(last).isoformat()
    except ValueError:
        return run.created_at[:10]


def iter_arrivals(
    store: Store, metrics: Sequence[str], *, since: str = "", after: int = -1, project: str = ""
) -> Iterator[Arrival]:
    """Every request of a project with its scores, in order of arrival.

    A request whose trace is still to be scored has pending scores; one that a metric was not asked of does not have
    it. A metric that asks the judge stands for those that were not drawn as well, any other for its request alone.
    Scores are the last judge's of each run.

    Args:
        store: with the runs.
        metrics: printed names.
        since: only runs of this day (ISO) and later; "" = all.
        after: only requests with a larger number.
        project: whose traffic, as `list_traffic_runs` takes it.
    """
    runs = list_traffic_runs(store, since, project=project)
    if after >= 0:
        newer = store.runs.list_newer(after)
        runs = [run for run in runs if run.run_id in newer]
    yield from merge(
        *(_iter_run_arrivals(store, run, metrics, after) for run in runs), key=lambda arrival: arrival.number
    )


def _iter_run_arrivals(store: Store, run: Run, metrics: Sequence[str], after: int) -> Iterator[Arrival]:
    numbers = store.runs.load_order(run.run_id, after=after).numbers
    if not numbers:
        return
    index = store.runs.index(run.run_id, sorted(numbers))
    scores = _load_scores(store, run, metrics, index)
    waiting = frozenset(store.ledger.list_waiting(run.run_id))
    segments = {row.pop("query_id"): row for row in store.runs.segments(run.run_id, after=after).to_dicts()}
    traces = [query_id if len(query_id) <= TRACE_DIGITS else query_id[:TRACE_DIGITS] for query_id in index.query_ids]
    times = store.inbox.load_arrival_times(traces)
    started = datetime.fromisoformat(run.created_at).astimezone(UTC)
    for row_index, number in enumerate(index.number.tolist()):
        query = int(index.query[row_index])
        stands_for = _Weights.of(index, row_index)
        arrived = times.get(traces[query])
        pending = traces[query] in waiting or index.query_ids[query] in waiting
        yield Arrival(
            number,
            started if arrived is None else datetime.fromtimestamp(arrived.at, UTC),
            index.query_ids[query],
            run.run_id,
            {name: value for name, value in segments.get(index.query_ids[query], {}).items() if value is not None},
            {
                name: score
                for name, metric_scores in scores.items()
                if (score := _build_score(metric_scores, row_index, stands_for, pending))
            },
            arrived is not None and arrived.is_past,
        )


class _Weights(NamedTuple):
    """How many requests a response stands for: by itself, and where it was drawn for the judge; None = it was not."""

    itself: float
    drawn: float | None

    @classmethod
    def of(cls, index: ResponseIndex, row_index: int) -> _Weights:
        weight = 1.0 if index.weight is None else float(index.weight[row_index])
        chance = 1.0 if index.chance is None else float(index.chance[row_index])
        return cls(weight, None if isnan(chance) else weight / chance)


def _build_score(scores: _ArrivedScores, row_index: int, stands_for: _Weights, pending: bool) -> ArrivedScore | None:
    weight = stands_for.drawn if scores.judged else stands_for.itself
    if weight is None:  # of this one the judge is not asked
        return None
    if row_index not in scores.scores_by_response:
        return ArrivedScore("pending", None, weight, scores.instrument) if pending else None
    status, value = scores.scores_by_response[row_index]
    status_name = STATUSES[status]
    return ArrivedScore(status_name, value if status_name == "scored" else None, weight, scores.instrument)


def _load_scores(store: Store, run: Run, metrics: Sequence[str], index: Any) -> dict[str, _ArrivedScores]:
    from ragauge.metrics.catalogue import list_questions, parse_metric

    judge_id = next(iter(store.scores.judges(run.run_id)), None)
    columns = store.scores.load_metrics(run.run_id, judge_id, metrics, index, values_only=True)
    versions = store.scores.find_versions(run.run_id, judge_id)
    question_versions = store.evidence.list_versions(run.run_id, judge_id) if judge_id is not None else {}
    out = {}
    for name in metrics:
        column = columns[name]
        entries = zip(column.place.tolist(), column.status.tolist(), column.value.tolist(), strict=True)
        needs = list_questions([parse_metric(name)])
        question_parts = [f"{question}:{'/'.join(map(str, question_versions.get(question, ())))}" for question in needs]
        judge = f" {judge_id}" if needs and judge_id is not None else ""
        instrument = " ".join([f"{versions.get(name, parse_metric(name).version)}{judge}", *question_parts])
        by_place = {row_index: (status, value) for row_index, status, value in entries}
        out[name] = _ArrivedScores(by_place, instrument, bool(needs))
    return out
