"""What a gate reads of a run in the store: its examples, their scores and verdicts."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from ragauge.core.errors import UnknownName
from ragauge.core.response import Run
from ragauge.gating.compute.slices import Slices
from ragauge.verbs.columns import StoredColumns

if TYPE_CHECKING:
    from ragauge.metrics.base import Metric
    from ragauge.scores.arrays import Columns, ResponseIndex
    from ragauge.scores.verdicts import ResponseVerdicts
    from ragauge.store.store_access import Store


class GatedRun:
    """A run as one judge sees it, or nobody; what is read is kept.

    Args:
        store: where it is kept.
        run: an evaluated run.
        judge: whose verdicts, by id or its beginning; None = the last judge's.

    Attributes:
        judge_id: of that judge; None = nobody judged.
        every: its responses, evaluated or not.
        measured: printed names of the metrics that were measured.
        segments: query_id, and a column a declared segment.
        tagged: tag -> ids of its examples, evaluated or not, of the tags that were added.
    """

    def __init__(self, store: Store, run: Run, judge: str | None) -> None:
        from ragauge.evaluation.scorecard.cards import resolve_scored_judge

        self._store, self._run = store, run
        self.judge_id = resolve_scored_judge(store, run, judge)
        self.every = store.runs.index(run.run_id, sorted(store.runs.load_order(run.run_id).numbers))
        self.measured = store.scores.metrics(run.run_id, self.judge_id)
        self.segments = store.runs.segments(run.run_id)
        self.tagged: dict[str, tuple[str, ...]] = {}

    def add_tag(self, tag: str) -> None:
        """Finds the examples of a tag.

        Raises:
            UnknownName: no example has it; then it is added without examples.
        """
        import numpy as np

        self.tagged[tag] = ()
        numbers = self._store.runs.load_order(self._run.run_id, {"tag": tag}).numbers
        queries = np.unique(self.every.query[np.isin(self.every.number, np.array(numbers))])
        self.tagged[tag] = tuple(self.every.query_ids[query] for query in queries)

    @cached_property
    def _numbers(self) -> array[int]:
        return self._store.scores.evaluated(self._run.run_id, self.judge_id, self.measured)

    @cached_property
    def evaluated(self) -> ResponseIndex:
        """The responses that were evaluated."""
        from ragauge.comparison.score_pairs import find_index

        return find_index(self._store, self._run, self._numbers, self.every)

    @cached_property
    def is_sample(self) -> bool:
        """Whether these are a random sample: a part that is none says nothing of the rest."""
        from ragauge.engine.plan import is_sample

        return is_sample(self._store, self._run.run_id, frozenset(self._numbers))

    @property
    def index(self) -> ResponseIndex:
        """The responses that the verdict is about; of what is no sample all, the rest as not judged."""
        return self.evaluated if self.is_sample else self.every

    @property
    def evaluated_ids(self) -> frozenset[str]:
        """The examples that were evaluated; where a judge was asked, those that were drawn for it."""
        index = self.evaluated
        left_out = set() if self.judge_id is None else {index.query_ids[n] for n in index.query[index.left_out()]}
        return frozenset(index.query_ids) - left_out

    @cached_property
    def unanswered_ids(self) -> frozenset[str]:
        """Examples that the system gave no response to."""
        return find_unanswered(self._store, self._run, self.judge_id)

    @cached_property
    def failure_note(self) -> str:
        """That every call failed, with the error and where to look; "" where one was answered."""
        from ragauge.evaluation.runs.costs import describe_all_failed

        has_answer = not self.unanswered_ids.issuperset(self.every.query_ids)
        return "" if has_answer else describe_all_failed(self._store, self._run)

    @cached_property
    def causes_by_example(self) -> Mapping[str, str]:
        """Example that failed -> its cause and what decided it."""
        frame = self._store.causes.load_frame(self._run.run_id, self.judge_id)
        rows = frame.select("query_id", "cause", "decided_by").iter_rows()
        return {query_id: f"{cause}: {by}" if cause and by else cause or by for query_id, cause, by in rows}

    @cached_property
    def verdicts(self) -> tuple[frozenset[str], ResponseVerdicts]:
        """Examples of which a score failed, and the verdicts on all responses."""
        import numpy as np

        from ragauge.metrics.catalogue import parse_metric
        from ragauge.scores.arrays import FAILED
        from ragauge.scores.pass_status import JudgedCoverage
        from ragauge.verbs.columns import load_failures, load_verdicts

        of = self._store, self._run.run_id, self.judge_id, self.index
        failed, coverage = np.zeros(len(self.index.query_ids), dtype=bool), JudgedCoverage(self.index)
        scores = StoredColumns(*of, ahead=self.measured, values_only=True)
        for name in self.measured:
            column = scores.column(name)
            coverage.read(parse_metric(name), column)
            if column is not None:
                failed[column.query[column.status == FAILED]] = True
        ids = frozenset(self.index.query_ids[number] for number in failed.nonzero()[0])
        return ids, coverage.verdicts(load_verdicts(*of), load_failures(*of), self.judge_id)

    @cached_property
    def _scores(self) -> StoredColumns:
        return StoredColumns(self._store, self._run.run_id, self.judge_id, self.index).labelled()

    def read_scores(self, metric: Metric) -> Columns | None:
        """A metric's scores, one entry a response, those that nobody ever made as failed ones."""
        from ragauge.scores.pass_status import add_unjudged

        columns = self._scores.column(str(metric))
        return None if columns is None else add_unjudged(columns, self.index, self.judge_id)

    def read_merged_scores(self, metric: Metric) -> Columns | None:
        """The same, one entry an example."""
        from ragauge.scores.arrays import merge_repeats

        columns = self.read_scores(metric)
        return None if columns is None else merge_repeats(columns)

    def build_slices(self, query_ids: Sequence[str]) -> Slices:
        """Masks over some of its examples."""
        return Slices(query_ids, self.segments, {tag: frozenset(ids) for tag, ids in self.tagged.items()})


def find_tagged(store: Store, run: Run, tag: str) -> frozenset[str]:
    """The examples of a run that have a tag; none where no example has it."""
    try:
        numbers = set(store.runs.load_order(run.run_id, {"tag": tag}).numbers)
    except UnknownName:
        return frozenset()
    return frozenset(store.runs.index(run.run_id, sorted(numbers)).query_ids)


def find_unanswered(store: Store, run: Run, judge_id: str | None) -> frozenset[str]:
    """Ids of the examples without a response, as the causes say, by this judge or else the last."""
    from ragauge.comparison.comparability import FAILED_CALLS_NAME

    judges = store.scores.judges(run.run_id)
    by = judge_id if judge_id is None or judge_id in judges else next(iter(judges), None)
    frame = store.causes.load_frame(run.run_id, by)
    return frozenset(frame.filter(frame["cause"] == FAILED_CALLS_NAME)["query_id"])
