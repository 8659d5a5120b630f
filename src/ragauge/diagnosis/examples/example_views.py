"""The examples of a run, a page at a time: sorted, filtered, with the scores that were asked for."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ragauge.core.errors import UnknownName, UsageError
from ragauge.core.verdict import OPEN_VERDICTS, VERDICTS, Verdict
from ragauge.diagnosis.examples.example_filters import ExampleFilters, load_example_index
from ragauge.verbs.columns import StoredColumns
from ragauge.verbs.example_views import select_scored_metrics

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ragauge.core.response import Run
    from ragauge.scores.arrays import ResponseIndex
    from ragauge.store.example_list import ListedTexts
    from ragauge.store.store_access import Store

EXTRA_SORTS = ("cause", "quality")  # beside the metrics


@dataclass(frozen=True, kw_only=True)
class ExamplePageOptions:
    """Which examples are listed, and how. Each field is an argument of `OpenRun.examples`, which explains it."""

    limit: int | None = 50
    after: object = None
    sort: str = ""
    filter: Mapping[str, str] | None = None
    metrics: str | Sequence[object] = ()
    skip: int = 0

    def __post_init__(self) -> None:
        if self.limit is not None and self.limit < 1:
            raise UsageError(f"examples: limit must be at least 1, got {self.limit}. None lists all.")


@dataclass(frozen=True, slots=True)
class ExampleRow:
    """One response of a run in a list."""

    query_id: str  #: of the example.
    repeat: int  #: which of the system's answers, from 0.
    query: str  #: the question.
    status: Verdict  #: failed, unclear, passed or not_judged.
    cause: str  #: why it failed; "" where it did not, or where the cause is unclear.
    reason: str  #: why it is unclear or not judged; "" where it failed or passed.
    quality: float | None  #: mean of all its scores on their ranges, 1 = best; None without scores.
    values: Mapping[str, float | None]  #: printed name of a metric -> value; None where it was not scored.
    answer: str | None = None  #: of the system; None where it gave none.
    segments: Mapping[str, str] = field(default_factory=dict)  #: column -> value, of the example.
    tags: tuple[str, ...] = ()  #: of the example, in the order of the alphabet.


@dataclass(frozen=True, slots=True)
class ListedExamples:
    """A page of a run's examples, with what there is to choose from."""

    run_id: str  #: of the run.
    judge_id: str | None  #: whose verdicts; None = nobody's.
    rows: tuple[ExampleRow, ...]  #: a row a response.
    matching: int  #: responses that the filters let through, on all pages.
    of: int  #: responses of the run.
    metrics: tuple[str, ...]  #: printed names of what is shown.
    scored: tuple[str, ...]  #: printed names of what can be shown and sorted by.
    causes: Mapping[str, int]  #: of failures in the run -> how many, the most frequent first.
    segments: Mapping[str, tuple[str, ...]]  #: column -> its values in the order of the alphabet.
    tags: tuple[str, ...]  #: of its examples.


@dataclass(frozen=True, slots=True)
class ExamplePosition:
    """Where an example stands in a list, counted from 1, and the (query_id, repeat) of those beside it, or None."""

    number: int
    of: int
    before: tuple[str, int] | None
    behind: tuple[str, int] | None


def list_examples(store: Store, run: Run, judge_id: str | None, options: ExamplePageOptions) -> list[ExampleRow]:
    """A page of a run's examples, a row a response.

    Args:
        store: where the run is.
        run: whose.
        judge_id: whose verdicts; None = nobody's.
        options: which page, in which order, of which examples, with which scores.

    Raises:
        UnknownName: no such order, filter, value of a filter or scored metric, or no such example in `after`.
    """
    run_examples = _RunExamples(store, run, judge_id, options)
    return run_examples.rows(run_examples.select_page(options))


def build_example_list(store: Store, run: Run, judge_id: str | None, options: ExamplePageOptions) -> ListedExamples:
    """The same with how many there are, and what there is to choose from."""
    run_examples = _RunExamples(store, run, judge_id, options)
    index = run_examples.known
    return ListedExamples(
        run.run_id,
        judge_id,
        tuple(run_examples.rows(run_examples.select_page(options))),
        len(run_examples.numbers),
        len(index.number),
        run_examples.shown,
        index.metrics,
        run_examples.causes,
        index.segments,
        index.tags,
    )


def find_place(
    store: Store, run: Run, judge_id: str | None, key: tuple[str, int], options: ExamplePageOptions
) -> ExamplePosition | None:
    """Where an example stands in a list; None where the list does not hold it."""
    numbers = _RunExamples(store, run, judge_id, options).numbers
    number = store.example_list.number(run.run_id, *key)
    if number is None or number not in numbers:
        return None
    index = numbers.index(number)
    previous_number, next_number = (
        numbers[index - 1] if index else None,
        numbers[index + 1] if index + 1 < len(numbers) else None,
    )
    keys = store.example_list.keys([neighbor for neighbor in (previous_number, next_number) if neighbor is not None])
    return ExamplePosition(
        index + 1,
        len(numbers),
        None if previous_number is None else keys[previous_number],
        None if next_number is None else keys[next_number],
    )


class _RunExamples:
    """The responses of a run that a list shows, in its order.

    Attributes:
        known: what is known of every response of the run.
        causes: of its failures -> how many, the most frequent first.
        numbers: of the responses that are listed, in order.
        shown: printed names of the metrics that rows have.
    """

    def __init__(self, store: Store, run: Run, judge_id: str | None, options: ExamplePageOptions) -> None:
        from ragauge.verbs.sources import parse_names

        self._store, self._run_id, self._judge_id = store, run.run_id, judge_id
        self.known = load_example_index(store, run.run_id, judge_id)
        names = self.known.metrics
        if options.sort not in ("", *EXTRA_SORTS, *names):
            raise UnknownName("order of examples", options.sort, (*EXTRA_SORTS, *names))
        requested = parse_names(options.metrics)
        self.shown = tuple(str(metric) for metric in select_scored_metrics(requested, names)) if requested else names
        filters = ExampleFilters.of(options.filter or {}, names)
        self.causes = self.known.count_causes()
        _validate_cause(filters.cause, self.causes)
        self.numbers = self._sort_numbers(self._filter_numbers(filters, options.sort), options.sort)

    def _filter_numbers(self, filters: ExampleFilters, sort: str) -> array[int]:
        """Those that the filters let through; in the order of a metric where that is wanted, else as in the run."""
        from ragauge.metrics.catalogue import parse_metric

        store, declared = self._store, self.known.segments
        metric = "" if sort in EXTRA_SORTS else sort
        order = filters.build_order(
            declared, metric, highest=bool(metric) and parse_metric(metric).direction != "higher"
        )
        numbers = (
            array("q", self.known.number.tobytes())
            if not order.is_restricted
            else (store.example_list.list_numbers(self._run_id, self._judge_id, order))
        )
        if order.groups and not numbers:
            filters.validate_groups(store, self._run_id, order.groups)
        numbers = filters.select_by_question(store, self._run_id, declared, numbers)
        if filters.status is not None or filters.cause is not None:
            positions = self._find_positions(numbers)
            selected = positions[self.known.build_mask(filters.status, filters.cause)[positions]]
            numbers = array("q", self.known.number[selected].tobytes())
        return filters.select_by_words(store, numbers)

    def _find_positions(self, numbers: Sequence[int]) -> npt.NDArray[np.int64]:
        """Where responses stand among all of the run."""
        import numpy as np

        return np.searchsorted(self.known.number, np.array(numbers, dtype=np.int64))

    def _sort_numbers(self, numbers: array[int], sort: str) -> array[int]:
        """The same by quality or cause, equal ones as they stand."""
        import numpy as np

        if sort not in EXTRA_SORTS or not numbers:
            return numbers
        positions, index = self._find_positions(numbers), self.known
        if sort == "quality":
            order = np.argsort(index.quality[positions], kind="stable")
        else:
            turn = {cause: rank for rank, cause in enumerate(self.causes)}
            turns = np.array([*(turn.get(cause, len(turn)) for cause in index.causes), len(turn)])  # -1 is the last
            order = np.lexsort((index.quality[positions], turns[index.cause[positions]]))
        return array("q", index.number[positions[order]].tobytes())

    def select_page(self, options: ExamplePageOptions) -> array[int]:
        """The numbers of one page."""
        start = options.skip
        if options.after is not None:
            query_id, repeat = parse_position(options.after)
            number = self._store.example_list.number(self._run_id, query_id, repeat)
            if number is None or number not in self.numbers:
                name = query_id if repeat == 0 else f"{query_id} (repeat {repeat})"
                listed_ids = dict.fromkeys(key for key, _ in self._store.example_list.keys(self.numbers).values())
                raise UnknownName(
                    "query_id in this list", name, listed_ids, "after takes the last row of the page before."
                )
            start = self.numbers.index(number) + 1
        return self.numbers[start : None if options.limit is None else start + options.limit]

    def rows(self, page: Sequence[int]) -> list[ExampleRow]:
        """The responses of one page as they are listed."""
        from ragauge.metrics.catalogue import parse_metric
        from ragauge.scores.values import MetricValues
        from ragauge.store.example_list import NO_TEXTS

        if not page:
            return []
        texts = self._store.example_list.load_texts(page)
        index = self._store.runs.index(self._run_id, array("q", sorted(page)))
        columns = StoredColumns(
            self._store, self._run_id, self._judge_id, index, ahead=self.known.metrics, values_only=True
        )
        values = MetricValues(index)
        for name in self.known.metrics:
            values.read(parse_metric(name), columns.entries(name))
        position_by_number = {number: position for position, number in enumerate(index.number.tolist())}
        return [
            self._build_row(
                index,
                position_by_number[number],
                position,
                texts.get(number, NO_TEXTS),
                values.at(position_by_number[number]),
            )
            for number, position in zip(page, self._find_positions(page).tolist(), strict=True)
        ]

    def _build_row(
        self,
        index: ResponseIndex,
        page_position: int,
        run_position: int,
        texts: ListedTexts,
        values: Mapping[str, float | None],
    ) -> ExampleRow:
        """A response as it is listed: its place on the page, and among all of the run."""
        all_examples, cause, quality = (
            self.known,
            int(self.known.cause[run_position]),
            float(self.known.quality[run_position]),
        )
        status: Verdict = VERDICTS[all_examples.verdict[run_position]]
        return ExampleRow(
            index.query_ids[index.query[page_position]],
            int(index.repeat[page_position]),
            texts.query,
            status,
            all_examples.causes[cause] if cause >= 0 else "",
            all_examples.whys[all_examples.why[run_position]] if status in OPEN_VERDICTS else "",
            quality if quality == quality else None,
            {name: values.get(name) for name in self.shown},
            *texts[1:],
        )


def _validate_cause(cause: str | None, causes: Mapping[str, int]) -> None:
    """Raises UnknownName for a cause that there is none of; one that no example of this run has is none wrong."""
    from ragauge.diagnosis.findings.cause_texts import WORDS_BY_CAUSE

    if cause is not None and cause not in causes and cause not in WORDS_BY_CAUSE:
        raise UnknownName("cause in this run", cause, causes)


def parse_position(after: object) -> tuple[str, int]:
    """query_id and repeat of a row, of the pair, or of a query_id alone, which is the first answer's.

    >>> parse_position("q7"), parse_position(["q7", 2])
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
