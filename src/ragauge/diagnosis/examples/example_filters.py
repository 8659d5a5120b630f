"""Which examples of a run a list shows: what its filters say, read once and checked."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import TYPE_CHECKING, Self, cast

from ragauge.core.errors import UnknownName, UsageError
from ragauge.core.verdict import VERDICTS, Verdict
from ragauge.scores.segments import DERIVED
from ragauge.verbs.columns import visits

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ragauge.scores.arrays import ResponseIndex
    from ragauge.store.example_list import ExampleOrder
    from ragauge.store.store_access import Store

OWN_FILTERS = (  # beside segments by their plain names
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
SEARCHED_AT_ONCE = 500  # responses whose texts are in memory while words are looked for
COMPARED = ("lt", "lte", "gt", "gte")


@dataclass(frozen=True, slots=True)
class Bound:
    """A limit of a metric's score: the metric, lt, lte, gt or gte, and the number."""

    metric: str
    how: str
    limit: float


@dataclass(frozen=True, slots=True)
class ExampleFilters:
    """What all examples of a list have in common.

    Attributes:
        groups: segment column or "tag" -> value.
        cause: of the failure; None = any, and none.
        status: failed, unclear, passed or not_judged; None = any.
        words: that question or answer hold, all of them, in any case.
        bounds: of scores; a response without a score is outside.
        statuses: metric -> status of its score.
        prefixed: segment columns that were named after "segment.".
    """

    groups: Mapping[str, str] = field(default_factory=dict)
    cause: str | None = None
    status: Verdict | None = None
    words: tuple[str, ...] = ()
    bounds: tuple[Bound, ...] = ()
    statuses: Mapping[str, str] = field(default_factory=dict)
    prefixed: frozenset[str] = frozenset()

    @classmethod
    def of(cls, given: Mapping[str, str], metrics: tuple[str, ...]) -> Self:
        """The filters that were given.

        Args:
            given: name -> value. A segment is named as it is, or after "segment." where another filter has its name.
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
        for name, value in given.items():
            kind, _, rest = name.partition(".")
            if name in ("cause", "status", "q"):
                continue
            if kind == "segment" and rest:
                groups[rest] = value
                prefixed.add(rest)
            elif kind == "metric" and rest:
                bounds.append(_bound(name, rest, value, metrics))
            elif kind == "status" and rest:
                statuses[_known("scored metric", rest, metrics)] = _known("status of a score", value, STATUSES)
            else:
                groups[name] = value
        status = given.get("status")
        words = tuple(given.get("q", "").casefold().split())
        verdict = None if not status else cast(Verdict, _known("status", status, VERDICTS))
        return cls(groups, given.get("cause"), verdict, words, tuple(bounds), statuses, frozenset(prefixed))

    def order(self, declared: Collection[str], sort: str = "", *, highest: bool = False) -> ExampleOrder:
        """What the store chooses by.

        Args:
            declared: segment columns of the run; others are those that questions themselves give.
            sort: a metric; "" = as in the run.
            highest: its highest score first.
        """
        from ragauge.store.example_list import ExampleOrder

        groups = {name: value for name, value in self.groups.items() if name not in self._derived(declared)}
        bounds = tuple((bound.metric, bound.how, bound.limit) for bound in self.bounds)
        return ExampleOrder(groups=groups, bounds=bounds, statuses=self.statuses, sort=sort, highest=highest)

    def _derived(self, declared: Collection[str]) -> dict[str, str]:
        return {name: value for name, value in self.groups.items() if name in DERIVED and name not in declared}

    def check_groups(self, store: Store, run_id: str, groups: Mapping[str, str]) -> None:
        """Raises UnknownName where no example has such a segment or tag, or such a value in it."""
        try:
            store.runs.order(run_id, groups)
        except UnknownName as error:
            if error.name in groups and "tag" in error.known:  # the column, not a value in it
                if error.name in self.prefixed:
                    columns = [f"segment.{column}" for column in error.known if column != "tag"]
                    hint = "" if columns else "No example here has a segment."
                    raise UnknownName("filter of examples", f"segment.{error.name}", columns, hint) from None
                raise UnknownName("filter of examples", error.name, {*error.known, *OWN_FILTERS}) from None
            raise

    def of_questions(self, store: Store, run_id: str, declared: Collection[str], numbers: array[int]) -> array[int]:
        """Those of a kind that is read from the questions themselves, such as their length.

        Raises:
            UnknownName: no question is of this kind.
        """
        derived = self._derived(declared)
        if not derived:
            return numbers
        index = store.runs.index(run_id, store.runs.order(run_id).numbers)
        mine = set(index.number[_of_question(store, index, derived)].tolist())
        return array("q", (number for number in numbers if number in mine))

    def by_words(self, store: Store, numbers: array[int]) -> array[int]:
        """Those whose question or answer hold all words; texts are read a few at a time."""
        if not self.words:
            return numbers
        found = array("q")
        for start in range(0, len(numbers), SEARCHED_AT_ONCE):
            for item in store.runs.load(numbers[start : start + SEARCHED_AT_ONCE]):
                text = f"{item.example.query}\n{item.response.answer or ''}".casefold()
                if all(word in text for word in self.words):
                    found.append(item.response_no)
        return found


def _of_question(store: Store, index: ResponseIndex, wanted: Mapping[str, str]) -> npt.NDArray[np.bool_]:
    """Which responses answer questions of a kind that is read from the questions themselves, such as their length.

    Raises:
        UnknownName: no question is of this kind.
    """
    import numpy as np

    from ragauge.scores.gather import gather
    from ragauge.scores.segments import SegmentRows

    rows = SegmentRows()
    gather(visits(store, None, index), (rows,))
    frame = rows.segments(index.query_ids).frame()
    keep = np.ones(len(index), dtype=bool)
    for name, value in wanted.items():
        values = frame[name] if name in frame.columns else frame["query_id"].clear()
        known = values.drop_nulls().unique().to_list()
        if value not in known:
            raise UnknownName(f"value of segment {name}", value, known)
        keep &= (values == value).fill_null(False).to_numpy()[index.query]
    return keep


def _bound(name: str, rest: str, value: str, metrics: tuple[str, ...]) -> Bound:
    metric, _, how = rest.rpartition(".")
    if how not in COMPARED:
        raise UnknownName("comparison of a score", how, COMPARED, "Write metric.faithfulness.lt=0.5.")
    try:
        limit = float(value)
    except ValueError:
        limit = float("nan")
    if not isfinite(limit):
        raise UsageError(f"{name}: expected a number, got {value!r}. Write {name}=0.5.")
    return Bound(_known("scored metric", metric, metrics), how, limit)


def _known(kind: str, name: str, known: tuple[str, ...]) -> str:
    if name not in known:
        raise UnknownName(kind, name, known)
    return name
