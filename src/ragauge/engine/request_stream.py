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
from ragauge.monitoring.series.alert_details import NOT_SAID
from ragauge.scores.request_stream import Arrival, ArrivedScore

if TYPE_CHECKING:
    from ragauge.core.response import Run
    from ragauge.scores.arrays import ResponseIndex
    from ragauge.scores.results.scorecard import Cause
    from ragauge.store.store_access import Store

NEWEST, LEAST_SERVED = 200, 0.05  # requests that say which models answer, and the share of one that counts
MADE_BY = ("model", "prompt", "embedder", "index", "k", "version")  # facts of a response's origin
LOOKED_AT, LEAST_SAID = 100, 0.1  # responses that say what made a run, and the share of one value that counts
TRACE_DIGITS = 32  # a response is called as its trace is, or begins so


class _ArrivedScores(NamedTuple):
    """One metric's scores in a run: place of the response -> status and value; by what and by whom they were made."""

    found: Mapping[int, tuple[int, float]]
    instrument: str
    judged: bool


def watched_project(store: Store, named: str = "") -> str:
    """The project that is watched: the one that is named, else the one whose traffic came first; "" = none came yet."""
    return named or _first_project(store.runs.list(filter={"kind": "traffic"}, sort="oldest"))


def _first_project(oldest_first: Sequence[Run]) -> str:
    return oldest_first[0].system if oldest_first else ""


def traffic_runs(store: Store, since: str = "", *, project: str = "") -> list[Run]:
    """The runs of one project's traffic that began on a day (ISO) or later, the oldest first.

    Args:
        store: with the runs.
        since: the day; "" = all.
        project: whose traffic; "" = that of the project whose traffic came first.
    """
    found = store.runs.list(filter={"kind": "traffic"}, sort="oldest")
    meant = project or _first_project(found)
    return sorted((run for run in found if run.system == meant and day_of(run) >= since), key=day_of)


def traffic_projects(store: Store) -> list[str]:
    """The projects that have runs of traffic, in the order in which they came."""
    return list(dict.fromkeys(run.system for run in store.runs.list(filter={"kind": "traffic"}, sort="oldest")))


def facts_of(store: Store, numbers: Sequence[int]) -> dict[str, Counter[str]]:
    """What some responses say of how they were made: fact -> how many have which value."""
    found: dict[str, Counter[str]] = {fact: Counter() for fact in ("passages", "error", *MADE_BY)}
    for loaded in store.runs.load(numbers):
        response = loaded.response
        if response.passages is not None:
            found["passages"][str(len(response.passages))] += 1
        found["error"]["none" if response.error is None else "some"] += 1
        for fact in MADE_BY:
            found[fact][response.origin.get(fact, NOT_SAID)] += 1
    return found


def said_of(store: Store, run_id: str) -> dict[str, str]:
    """What a run's system says of itself in `origin`: fact -> value; what it does not say is left out.

    Read from 100 responses. Of several values those stand that a tenth of them have, joined by "and".
    """
    said = store.runs.origins(run_id, LOOKED_AT)
    found: dict[str, str] = {}
    for fact in MADE_BY:
        counted = Counter(origin[fact] for origin in said if fact in origin)
        often = sorted(value for value, n in counted.items() if n >= LEAST_SAID * len(said))
        if often:
            found[fact] = " and ".join(often)
    return found


def causes_of(store: Store, run_ids: Sequence[str]) -> dict[int, Cause]:
    """Number of a response that failed -> why."""
    found: dict[int, Cause] = {}
    for run_id in dict.fromkeys(run_ids):
        judge_id = next(iter(store.scores.judges(run_id)), None)
        found |= dict(store.causes.read(run_id, judge_id))
    return found


def verdicts_of(store: Store, run_ids: Sequence[str]) -> dict[int, tuple[Verdict, int]]:
    """Number of a response -> its verdict, and the version of the rule by which it was decided."""
    found: dict[int, tuple[Verdict, int]] = {}
    for run_id in dict.fromkeys(run_ids):
        columns = store.verdicts.columns(run_id, next(iter(store.scores.judges(run_id)), None))
        verdicts = zip(columns.verdict.tolist(), columns.rule.tolist(), strict=True)
        pairs = ((VERDICTS[code], rule) for code, rule in verdicts)
        found |= dict(zip(columns.number.tolist(), pairs, strict=True))
    return found


def count_verdicts(verdicts: Mapping[int, tuple[Verdict, int]], numbers: Iterable[int]) -> VerdictCounts:
    """Counts of the verdicts on some responses; one without any was not judged."""
    pairs = [verdicts.get(number, ("not_judged", RULE_VERSION)) for number in numbers]
    return VerdictCounts.from_verdicts((verdict for verdict, _ in pairs), min((rule for _, rule in pairs), default=0))


def served_models(store: Store, segment: str, *, project: str = "") -> list[str]:
    """The models that answered at least 5 % of the newest 200 requests, in the order of the alphabet.

    Args:
        store: with the traffic.
        segment: whose values are the models.
        project: whose traffic, as `traffic_runs` takes it.
    """
    numbers: list[int] = []
    for run in reversed(traffic_runs(store, project=project)):
        numbers += store.runs.order(run.run_id).numbers
        if len(numbers) >= NEWEST:
            break
    loaded = store.runs.load(sorted(numbers)[-NEWEST:])
    counted = Counter(one.example.segments[segment] for one in loaded if segment in one.example.segments)
    return sorted(name for name, n in counted.items() if n >= LEAST_SERVED * counted.total())


def day_of(run: Run) -> str:
    """The UTC date that a run of traffic is of: that its name ends with, else that of its making."""
    last = run.name.rpartition(" ")[2]
    try:
        return date.fromisoformat(last).isoformat()
    except ValueError:
        return run.created_at[:10]


def arrivals(
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
        project: whose traffic, as `traffic_runs` takes it.
    """
    runs = traffic_runs(store, since, project=project)
    if after >= 0:
        newer = store.runs.newer(after)
        runs = [run for run in runs if run.run_id in newer]
    yield from merge(*(_of_run(store, run, metrics, after) for run in runs), key=lambda one: one.number)


def _of_run(store: Store, run: Run, metrics: Sequence[str], after: int) -> Iterator[Arrival]:
    numbers = store.runs.order(run.run_id, after=after).numbers
    if not numbers:
        return
    index = store.runs.index(run.run_id, sorted(numbers))
    scores = _scores(store, run, metrics, index)
    waiting = frozenset(store.ledger.waiting(run.run_id))
    segments = {row.pop("query_id"): row for row in store.runs.segments(run.run_id, after=after).to_dicts()}
    traces = [query_id if len(query_id) <= TRACE_DIGITS else query_id[:TRACE_DIGITS] for query_id in index.query_ids]
    times = store.inbox.arrived(traces)
    began = datetime.fromisoformat(run.created_at).astimezone(UTC)
    for place, number in enumerate(index.number.tolist()):
        query = int(index.query[place])
        stands_for = _StandsFor.of(index, place)
        came = times.get(traces[query])
        pending = traces[query] in waiting or index.query_ids[query] in waiting
        yield Arrival(
            number,
            began if came is None else datetime.fromtimestamp(came.at, UTC),
            index.query_ids[query],
            run.run_id,
            {name: value for name, value in segments.get(index.query_ids[query], {}).items() if value is not None},
            {name: score for name, one in scores.items() if (score := _score(one, place, stands_for, pending))},
            came is not None and came.past,
        )


class _StandsFor(NamedTuple):
    """How many requests a response stands for: by itself, and where it was drawn for the judge; None = it was not."""

    itself: float
    drawn: float | None

    @classmethod
    def of(cls, index: ResponseIndex, place: int) -> _StandsFor:
        weight = 1.0 if index.weight is None else float(index.weight[place])
        chance = 1.0 if index.chance is None else float(index.chance[place])
        return cls(weight, None if isnan(chance) else weight / chance)


def _score(scores: _ArrivedScores, place: int, stands_for: _StandsFor, pending: bool) -> ArrivedScore | None:
    weight = stands_for.drawn if scores.judged else stands_for.itself
    if weight is None:  # of this one the judge is not asked
        return None
    if place not in scores.found:
        return ArrivedScore("pending", None, weight, scores.instrument) if pending else None
    status, value = scores.found[place]
    named = STATUSES[status]
    return ArrivedScore(named, value if named == "scored" else None, weight, scores.instrument)


def _scores(store: Store, run: Run, metrics: Sequence[str], index: Any) -> dict[str, _ArrivedScores]:
    from ragauge.metrics.catalogue import parse, questions

    judge_id = next(iter(store.scores.judges(run.run_id)), None)
    columns = store.scores.of_metrics(run.run_id, judge_id, metrics, index, values_only=True)
    versions = store.scores.versions(run.run_id, judge_id)
    asked = store.evidence.versions(run.run_id, judge_id) if judge_id is not None else {}
    out = {}
    for name in metrics:
        column = columns[name]
        found = zip(column.place.tolist(), column.status.tolist(), column.value.tolist(), strict=True)
        needs = questions([parse(name)])
        parts = [f"{question}:{'/'.join(map(str, asked.get(question, ())))}" for question in needs]
        judge = f" {judge_id}" if needs and judge_id is not None else ""
        instrument = " ".join([f"{versions.get(name, parse(name).version)}{judge}", *parts])
        by_place = {place: (status, value) for place, status, value in found}
        out[name] = _ArrivedScores(by_place, instrument, bool(needs))
    return out
