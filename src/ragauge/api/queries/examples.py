"""The examples of a run, a page at a time: sorted, filtered, with the scores that were asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragauge.analysis.scores.quality import Quality
from ragauge.analysis.scores.values import Values
from ragauge.api.queries.columns import StoredColumns, answers_recorded, failed_of, questions_at
from ragauge.api.queries.shown import scored_metrics
from ragauge.errors import UnknownName, UsageError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ragauge.analysis.scores.arrays import ResponseIndex
    from ragauge.analysis.scores.failed import FailedResponses
    from ragauge.data.response import Run
    from ragauge.store.open import Store

    Floats = npt.NDArray[np.float64]
    Places = npt.NDArray[np.int64]

STATUSES = ("failed", "passed", "unknown")
OWN_FILTERS = ("cause", "status", "tag")     # beside the segments
OWN_SORTS = ("cause", "quality")             # beside the metrics


@dataclass(frozen=True, kw_only=True)
class ExamplePage:
    """Which examples are listed, and how. Each field is an argument of `OpenRun.examples`, which explains it."""

    limit: int | None = 50
    after: object = None
    sort: str = ""
    filter: Mapping[str, str] | None = None
    metrics: str | Sequence[object] = ()

    def __post_init__(self) -> None:
        if self.limit is not None and self.limit < 1:
            raise UsageError(f"examples: limit must be at least 1, got {self.limit}. None lists all.")


@dataclass(frozen=True, slots=True)
class ExampleRow:
    """One response of a run in a list.

    Attributes:
        query_id: of the example.
        repeat: which of the system's answers, from 0.
        query: the question.
        status: failed, passed or unknown.
        cause: why it failed; "" where it did not, or where no cause can be named.
        unknown: why it is not known whether it failed; "" where it is known.
        quality: mean of all its scores on their ranges, 1 = best; None without scores.
        values: printed name of a metric -> value; None where it was not scored.
    """

    query_id: str
    repeat: int
    query: str
    status: str
    cause: str
    unknown: str
    quality: float | None
    values: Mapping[str, float | None]


def examples_of(store: Store, run: Run, judge_id: str | None, wanted: ExamplePage) -> list[ExampleRow]:
    """A page of a run's examples, a row a response.

    What is known of each response is read over the whole run, so that a row is the same on whichever page it stands.

    Args:
        store: where the run is.
        run: whose.
        judge_id: whose verdicts; None = nobody's.
        wanted: which page, in which order, of which examples, with which scores.

    Raises:
        UnknownName: no such order, filter, value of a filter or scored metric, or no such example in `after`.
    """
    from ragauge.analysis.scores.known import KnownScores
    from ragauge.api.inputs.sources import named
    from ragauge.metrics.catalogue import parse

    names = store.scores.metrics(run.run_id, judge_id)
    if wanted.sort not in ("", *OWN_SORTS, *names):
        raise UnknownName("order of examples", wanted.sort, (*OWN_SORTS, *names))
    shown = [str(metric) for metric in scored_metrics(chosen, names)] if (chosen := named(wanted.metrics)) else names
    index = store.runs.index(run.run_id, store.runs.order(run.run_id).numbers)
    values, quality = Values(index), Quality(index)
    known = KnownScores(index, answered=answers_recorded(store, index))
    columns = StoredColumns(store, run.run_id, judge_id, index, ahead=names, values_only=True)
    for name in names:
        metric, scores = parse(name), columns.column(name)
        for reader in (values, quality, known):
            reader.read(metric, scores)
    failed = failed_of(store, run.run_id, judge_id, index)
    found = _RunExamples(index, failed, known.unknown(failed, judge_id).by_id(), quality.values(), values)
    places = found.filtered(_in_segments(store, run, index, wanted.filter or {}), wanted.filter or {})
    page = found.page(found.ordered(places, wanted.sort), wanted.after, wanted.limit)
    questions = questions_at(store, index, page)
    return [found.row(place, questions.get(place, ""), shown) for place in page]


def _in_segments(store: Store, run: Run, index: ResponseIndex, filters: Mapping[str, str]) -> Places:
    """The places of the responses that the filters by segment and tag let through, in example order."""
    import numpy as np

    keep = {name: value for name, value in filters.items() if name not in ("cause", "status")}
    if not keep:
        return np.arange(len(index))
    try:
        numbers = store.runs.order(run.run_id, keep).numbers
    except UnknownName as error:
        if error.name in keep and "tag" in error.known:     # the column, not a value in it
            raise UnknownName("filter of examples", error.name, {*error.known, *OWN_FILTERS}) from None
        raise
    return np.flatnonzero(np.isin(index.number, numbers))


class _RunExamples:
    """The responses of a run with what decides their place in a list.

    Args:
        index: the responses.
        failed: those that failed.
        unknown: query_id -> why it is not known whether it failed.
        quality: shape (responses,), NaN = none.
        values: every metric's.
    """

    def __init__(
        self, index: ResponseIndex, failed: FailedResponses, unknown: Mapping[str, str], quality: Floats, values: Values
    ) -> None:
        self._index, self._unknown, self._quality, self._values = index, unknown, quality, values
        causes = failed.cause.values
        self._causes = dict(zip(failed.place.tolist(), failed.cause, strict=True))
        often = dict(zip(causes, failed.cause.counts(), strict=True))
        self._known_causes = sorted(causes, key=lambda cause: (-often[cause], cause))

    def filtered(self, places: Places, filters: Mapping[str, str]) -> Places:
        """Those of the cause and the status wanted."""
        import numpy as np

        chosen = places.tolist()
        if (cause := filters.get("cause")) is not None:
            if cause not in self._known_causes:
                raise UnknownName("cause in this run", cause, self._known_causes)
            chosen = [place for place in chosen if self._causes.get(place) == cause]
        if (status := filters.get("status")) is not None:
            if status not in STATUSES:
                raise UnknownName("status", status, STATUSES)
            chosen = [place for place in chosen if self._status(place) == status]
        return np.array(chosen, dtype=np.int64)

    def ordered(self, places: Places, sort: str) -> list[int]:
        """The places in an order; where it says nothing, in example order."""
        import numpy as np

        if not sort:
            return [int(place) for place in places]
        if sort == "cause":
            turn: dict[str | None, int] = {cause: number for number, cause in enumerate(self._known_causes)}
            turns = np.array([turn.get(self._causes.get(at), len(turn)) for at in places.tolist()])
            order = np.lexsort((self._quality[places], turns))
        else:
            from ragauge.metrics.catalogue import parse

            scores = self._quality if sort == "quality" else self._values.of(sort)
            higher = sort == "quality" or parse(sort).direction == "higher"
            order = np.argsort(scores[places] if higher else -scores[places], kind="stable")
        return [int(place) for place in places[order]]

    def page(self, places: Sequence[int], after: object, limit: int | None) -> list[int]:
        """The places of one page."""
        start = 0
        if after is not None:
            query_id, repeat = position(after)
            keys = {self._key(place): at for at, place in enumerate(places)}
            if (query_id, repeat) not in keys:
                name = query_id if repeat == 0 else f"{query_id} (repeat {repeat})"
                known = dict.fromkeys(query_id for query_id, _ in keys)
                raise UnknownName("query_id in this list", name, known, "after takes the last row of the page before.")
            start = keys[query_id, repeat] + 1
        return list(places[start : None if limit is None else start + limit])

    def row(self, place: int, query: str, metrics: Sequence[str]) -> ExampleRow:
        """One of them as it is listed."""
        query_id, repeat = self._key(place)
        status, quality, values = self._status(place), float(self._quality[place]), self._values.at(place)
        return ExampleRow(
            query_id, repeat, query, status, self._causes.get(place, ""),
            self._unknown.get(query_id, "") if status == "unknown" else "", quality if quality == quality else None,
            {name: values.get(name) for name in metrics},
        )     # fmt: skip

    def _key(self, place: int) -> tuple[str, int]:
        return self._index.query_ids[self._index.query[place]], int(self._index.repeat[place])

    def _status(self, place: int) -> str:
        if place in self._causes:
            return "failed"
        return "unknown" if self._key(place)[0] in self._unknown else "passed"


def position(after: object) -> tuple[str, int]:
    """query_id and repeat of a row, of the pair, or of a query_id alone, which is the first answer's.

    >>> position("q7"), position(["q7", 2])
    (('q7', 0), ('q7', 2))
    """
    match after:
        case str():
            return after, 0
        case ExampleRow(query_id=query_id, repeat=repeat) | (str(query_id), int(repeat)):
            return query_id, repeat
    raise UsageError(
        f"examples: after takes the last row of the page before, its (query_id, repeat) or its query_id, got {after!r}."
    )
