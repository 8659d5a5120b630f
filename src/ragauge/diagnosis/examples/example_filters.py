"""Which examples of a run a list shows, and the index by which it filters and sorts them."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import TYPE_CHECKING, Self, cast

from ragauge.core.errors import UnknownName, UsageError
from ragauge.core.verdict import VERDICTS, Verdict
from ragauge.scores.results.scorecard import Cause
from ragauge.scores.segments import DERIVED_COLUMNS
from ragauge.store.cards import CardKey
from ragauge.verbs.columns import iter_visits, load_verdicts

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ragauge.scores.arrays import ResponseIndex
    from ragauge.scores.failures import FailedResponses
    from ragauge.scores.verdicts import ResponseVerdicts
    from ragauge.store.example_index import ExampleIndex
    from ragauge.store.example_list import ExampleOrder
    from ragauge.store.store_access import Store


FILTER_NAMES = (  # beside segments by their plain names
    "cause",
    "status",
    "tag",
    "q",
    "segment.NAME",
    "status.METRIC",
    "metric.METRIC.lt",
    "metric.METRIC.lte",
    "metric.METRIC.gt",
    "metric.METRIC.gte",
)
BATCH_SIZE_RESPONSES = 500  # responses whose texts are in memory while words are looked for
COMPARISONS = ("lt", "lte", "gt", "gte")


@dataclass(frozen=True, slots=True)
class Bound:
    """A limit of a metric's score: the metric, lt, lte, gt or gte, and the number."""

    metric: str
    how: str
    limit: float


@dataclass(frozen=True, slots=True)
class ExampleFilters:
    """What all examples of a list have in common."""

    groups: Mapping[str, str] = field(default_factory=dict)  #: segment column or "tag" -> value.
    cause: str | None = None  #: of the failure; None = any, and none.
    status: Verdict | None = None  #: failed, unclear, passed or not_judged; None = any.
    words: tuple[str, ...] = ()  #: that question or answer hold, all of them, in any case.
    bounds: tuple[Bound, ...] = ()  #: of scores; a response without a score is outside.
    statuses: Mapping[str, str] = field(default_factory=dict)  #: metric -> status of its score.
    prefixed: frozenset[str] = frozenset()  #: segment columns that were named after "segment.".

    @classmethod
    def of(cls, raw: Mapping[str, str], metrics: tuple[str, ...]) -> Self:
        """The filters that were given.

        Args:
            raw: name -> value. A segment is named as it is, or after "segment." where another filter has its name.
            metrics: that were scored.

        Raises:
            UnknownName: a metric that was not scored, a status that there is none of, or another comparison.
            UsageError: a limit that is no number.
        """
        from ragauge.core.score import STATUSES

        groups: dict[str, str] = {}
        prefixed: set[str] = set()
        bounds: list[Bound] = []
        statuses: dict[str, str] = {}
        for name, value in raw.items():
            kind, _, key = name.partition(".")
            if name in ("cause", "status", "q"):
                continue
            if kind == "segment" and key:
                groups[key] = value
                prefixed.add(key)
            elif kind == "metric" and key:
                bounds.append(_parse_bound(name, key, value, metrics))
            elif kind == "status" and key:
                statuses[_validate_name("scored metric", key, metrics)] = _validate_name(
                    "status of a score", value, STATUSES
                )
            else:
                groups[name] = value
        status = raw.get("status")
        words = tuple(raw.get("q", "").casefold().split())
        verdict = None if not status else cast(Verdict, _validate_name("status", status, VERDICTS))
        return cls(groups, raw.get("cause"), verdict, words, tuple(bounds), statuses, frozenset(prefixed))

    def build_order(self, declared: Collection[str], sort: str = "", *, highest: bool = False) -> ExampleOrder:
        """What the store chooses by.

        Args:
            declared: segment columns of the run; others are those that questions themselves give.
            sort: a metric; "" = as in the run.
            highest: its highest score first.
        """
        from ragauge.store.example_list import ExampleOrder

        groups = {name: value for name, value in self.groups.items() if name not in self._select_derived(declared)}
        bounds = tuple((bound.metric, bound.how, bound.limit) for bound in self.bounds)
        return ExampleOrder(groups=groups, bounds=bounds, statuses=self.statuses, sort=sort, highest=highest)

    def _select_derived(self, declared: Collection[str]) -> dict[str, str]:
        return {name: value for name, value in self.groups.items() if name in DERIVED_COLUMNS and name not in declared}

    def validate_groups(self, store: Store, run_id: str, groups: Mapping[str, str]) -> None:
        """Raises UnknownName where no example has such a segment or tag, or such a value in it."""
        try:
            store.runs.load_order(run_id, groups)
        except UnknownName as error:
            if error.name in groups and "tag" in error.known:  # the column, not a value in it
                if error.name in self.prefixed:
                    columns = [f"segment.{column}" for column in error.known if column != "tag"]
                    hint = "" if columns else "No example here has a segment."
                    raise UnknownName("filter of examples", f"segment.{error.name}", columns, hint) from None
                raise UnknownName("filter of examples", error.name, {*error.known, *FILTER_NAMES}) from None
            raise

    def select_by_question(
        self, store: Store, run_id: str, declared: Collection[str], numbers: array[int]
    ) -> array[int]:
        """Those of a kind that is read from the questions themselves, such as their length.

        Raises:
            UnknownName: no question is of this kind.
        """
        derived = self._select_derived(declared)
        if not derived:
            return numbers
        index = store.runs.index(run_id, store.runs.load_order(run_id).numbers)
        matching = set(index.number[_match_questions(store, index, derived)].tolist())
        return array("q", (number for number in numbers if number in matching))

    def select_by_words(self, store: Store, numbers: array[int]) -> array[int]:
        """Those whose question or answer hold all words; texts are read a few at a time."""
        if not self.words:
            return numbers
        matching = array("q")
        for start in range(0, len(numbers), BATCH_SIZE_RESPONSES):
            for item in store.runs.load(numbers[start : start + BATCH_SIZE_RESPONSES]):
                text = f"{item.example.query}\n{item.response.answer or ''}".casefold()
                if all(word in text for word in self.words):
                    matching.append(item.response_no)
        return matching


def _match_questions(store: Store, index: ResponseIndex, conditions: Mapping[str, str]) -> npt.NDArray[np.bool_]:
    """Which responses answer questions of a kind that is read from the questions themselves, such as their length.

    Raises:
        UnknownName: no question is of this kind.
    """
    import numpy as np

    from ragauge.scores.gather import run_gatherers
    from ragauge.scores.segments import SegmentCollector

    rows = SegmentCollector()
    run_gatherers(iter_visits(store, None, index), (rows,))
    frame = rows.segments(index.query_ids).to_frame()
    keep = np.ones(len(index), dtype=bool)
    for name, value in conditions.items():
        values = frame[name] if name in frame.columns else frame["query_id"].clear()
        valid_values = values.drop_nulls().unique().to_list()
        if value not in valid_values:
            raise UnknownName(f"value of segment {name}", value, valid_values)
        keep &= (values == value).fill_null(False).to_numpy()[index.query]
    return keep


def _parse_bound(name: str, key: str, value: str, metrics: tuple[str, ...]) -> Bound:
    metric, _, how = key.rpartition(".")
    if how not in COMPARISONS:
        raise UnknownName("comparison of a score", how, COMPARISONS, "Write metric.faithfulness.lt=0.5.")
    try:
        limit = float(value)
    except ValueError:
        limit = float("nan")
    if not isfinite(limit):
        raise UsageError(f"{name}: expected a number, got {value!r}. Write {name}=0.5.")
    return Bound(_validate_name("scored metric", metric, metrics), how, limit)


def _validate_name(kind: str, name: str, valid_names: tuple[str, ...]) -> str:
    if name not in valid_names:
        raise UnknownName(kind, name, valid_names)
    return name


def load_example_index(store: Store, run_id: str, judge_id: str | None) -> ExampleIndex:
    """The index of a run's examples by one judge, as of now; None = nobody judged.

    It is kept when it was made, so that the next list, of this process or another, need not look at every score.
    """

    def load_or_build() -> ExampleIndex:
        from ragauge.store.example_index import ExampleIndex

        key = CardKey(run_id, judge_id)
        cached = store.cards.read(key, ("examples",))["examples"]
        if cached.body is not None:
            return ExampleIndex.from_body(cached.body)
        index = _build_index(store, run_id, judge_id)
        store.cards.save(key, "examples", cached.state, index.pack_index())
        return index

    return store.cache_for_run(run_id, ("example index", judge_id), load_or_build)


def _build_index(store: Store, run_id: str, judge_id: str | None) -> ExampleIndex:
    """From all scores and causes, which the database adds up."""
    import numpy as np

    from ragauge.metrics.catalogue import parse_metric
    from ragauge.scores.quality import find_scale
    from ragauge.store.example_index import ExampleIndex

    example_list, metrics = store.example_list, tuple(store.scores.metrics(run_id, judge_id))
    index, groups = store.runs.index(run_id, store.runs.load_order(run_id).numbers), example_list.groups(run_id)
    names = example_list.load_cause_names(run_id, judge_id)
    causes, cause = tuple(sorted(set(names.values()))), np.full(len(index), -1, dtype=np.int16)
    positions = np.searchsorted(index.number, np.array([*names], dtype=np.int64))
    cause[positions] = [causes.index(name) for name in names.values()]
    scales = {name: scale for name in metrics if (scale := find_scale(parse_metric(name))) is not None}
    means, quality = example_list.compute_qualities(run_id, judge_id, scales), np.full(len(index), np.nan)
    quality[np.searchsorted(index.number, np.array([*means], dtype=np.int64))] = [*means.values()]
    verdicts = _compute_verdicts(store, run_id, judge_id, metrics, _build_failures(index, positions.tolist()))
    tags = groups.pop("", ())
    reason = verdicts.reason.astype(np.int16)
    return ExampleIndex(
        metrics, causes, verdicts.reasons, groups, tags, index.number, verdicts.verdict, cause, reason, quality
    )


def _build_failures(index: ResponseIndex, positions: list[int]) -> FailedResponses:
    """The failed responses, without what only their causes say."""
    from ragauge.scores.failures import FailedResponses

    return FailedResponses.from_causes(index, ((position, Cause("")) for position in positions), lambda _: {})


def _compute_verdicts(
    store: Store, run_id: str, judge_id: str | None, metrics: tuple[str, ...], failed: FailedResponses
) -> ResponseVerdicts:
    """The verdicts, by what the database says of metrics that show alike."""
    import numpy as np

    from ragauge.metrics.catalogue import parse_metric
    from ragauge.scores.pass_status import JudgedCoverage, ShownQuestions

    families: dict[ShownQuestions, list[str]] = {}
    for name in metrics:
        families.setdefault(ShownQuestions.of(parse_metric(name)), []).append(name)
    telling = [shows for shows in families if shows.has_judge]
    known_scores = JudgedCoverage(failed.index)
    for shows in telling:
        known_scores.mark_scored(shows, None)
    for position, numbers, _ in store.example_list.seen(run_id, judge_id, [families[shows] for shows in telling]):
        known_scores.mark_scored(telling[position], np.searchsorted(failed.index.number, numbers))
    return known_scores.verdicts(load_verdicts(store, run_id, judge_id, failed.index), failed, judge_id)
