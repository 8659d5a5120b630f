"""Two stored runs, joined: the scores of any metric that both have, example by example."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from ragauge.core.errors import UnknownName
from ragauge.core.response import Run
from ragauge.verbs.columns import StoredColumns, match_by_question

if TYPE_CHECKING:
    import polars as pl

    from ragauge.comparison.comparability import MeasurementSpec
    from ragauge.comparison.pairs import Pairs
    from ragauge.metrics.base import Metric
    from ragauge.scores.arrays import Columns, ResponseIndex
    from ragauge.store.store_access import Store


def build_measurement_spec(
    store: Store, run: Run, judge_id: str | None, specs: dict[str, str] | None = None
) -> MeasurementSpec:
    """How a run was measured by this judge or, where it was not, by its last one.

    `specs` holds what was read of judges for other runs, and takes in what is read now.
    """
    from ragauge.comparison.comparability import MeasurementSpec

    judges = store.scores.judges(run.run_id)
    by = judge_id if judge_id in judges or judge_id is None else next(iter(judges), None)
    question_versions = {} if by is None else store.evidence.list_versions(run.run_id, by)
    spec_by_judge = {} if specs is None else specs
    if by is not None and by not in spec_by_judge:
        spec_by_judge[by] = store.judges.find_spec(by) or ""
    spec = spec_by_judge[by] if by is not None else ""
    called = store.runs.word(run) if specs is None else run.name
    return MeasurementSpec(
        run.name, by, store.scores.find_versions(run.run_id, by), question_versions, spec, called=called
    )


class PairedRuns(NamedTuple):
    """Two runs that are held against each other."""

    store: Store  #: where both are.
    new: Run  #: the run that is looked at.
    base: Run  #: the run that it is held against.
    judge_id: str | None  #: who judged the new run; None = nobody.


class PairedScores:
    """Reads two runs metric by metric.

    Args:
        runs: which, and whose verdicts.
        metrics: of interest; those that one run lacks are left out.
        keep: segment column or "tag" -> value; only examples that match. Of one in both runs the new run's say so.
        measured: how the new run and the baseline were measured, where the caller has asked already.
        known: the responses of the new run to look at, where the caller has chosen them.
        whole: responses of the baseline that were evaluated in other metrics alone count, too.

    Attributes:
        runs: which, and whose verdicts.
        metrics: those that both runs have.
        join: which examples are the same; they are matched by query_id, else by question (see `match_by_question`).
        renamed: id of an example in the baseline -> its id here, where they are matched by question; else empty.
        new: the new run's scores.
        base: the baseline's.

    Raises:
        UsageError: the runs were not measured alike; the command that judges them alike is in the text.
    """

    def __init__(
        self,
        runs: PairedRuns,
        metrics: Sequence[Metric],
        keep: Mapping[str, str] | None = None,
        measured: tuple[MeasurementSpec, MeasurementSpec] | None = None,
        new_index: ResponseIndex | None = None,
        *,
        whole: bool = False,
    ) -> None:
        from ragauge.comparison.comparability import list_comparable_metrics
        from ragauge.comparison.pairs import Join

        store, new, base, judge_id = self.runs = runs
        new_spec, base_spec = measured or (
            build_measurement_spec(store, new, judge_id),
            build_measurement_spec(store, base, judge_id),
        )
        self.metrics = list_comparable_metrics(new_spec, base_spec, metrics)
        names = [str(metric) for metric in self.metrics]
        self._store, self._run = store, new
        self.new = self._load_columns(new, judge_id, names, keep, new_index)
        wide = [*names, *store.scores.metrics(base.run_id, judge_id)] if whole else names
        self.base = self._load_columns(base, judge_id, names, keep, None, wide)
        base_ids = self.base.index.query_ids
        renamed_index = match_by_question(store, self.new.index, self.base.index)
        self.renamed = (
            dict(zip(base_ids, renamed_index.query_ids, strict=True)) if renamed_index is not self.base.index else {}
        )
        if self.renamed:
            columns = StoredColumns(store, base.run_id, judge_id, renamed_index, ahead=names, values_only=True)
            self.base = columns.labelled()
        self.join = Join(self.new.index.query_ids, self.base.index.query_ids)

    def pairs(self, metric: Metric, *, whole: bool = False) -> Pairs | None:
        """One metric's scores in both runs, matched; None where one of them has none.

        Args:
            metric: whose.
            whole: a response without a score, in either run, counts as one whose score failed.
        """
        from ragauge.comparison.pairs import pair_scores

        sides = self.load_both(metric, whole=whole)
        return None if sides is None else pair_scores(metric, *sides, self.join)

    def load_both(self, metric: Metric, *, whole: bool = False) -> tuple[Columns, Columns] | None:
        """One metric's scores in the new run and in the baseline, one entry an example; as `pairs`, not matched."""
        from ragauge.scores.arrays import merge_repeats
        from ragauge.scores.pass_status import add_unjudged

        new_columns, base_columns = (side.column(str(metric)) for side in (self.new, self.base))
        if new_columns is None or base_columns is None:
            return None
        if whole:
            new_columns, base_columns = (
                add_unjudged(new_columns, self.new.index, None),
                add_unjudged(base_columns, self.base.index, None),
            )
        return merge_repeats(new_columns), merge_repeats(base_columns)

    @cached_property
    def segments(self) -> pl.DataFrame:
        """The declared segments of the new run: query_id and one column each, null where an example has none.

        A row an example, in the order of the numbers in `Pairs.query`.
        """
        import polars as pl

        ids = pl.DataFrame({"query_id": self.new.index.query_ids}, schema={"query_id": pl.String})
        frame = self._store.runs.segments(self._run.run_id)
        return ids.join(frame, on="query_id", how="left", maintain_order="left")

    def _load_columns(
        self,
        run: Run,
        judge_id: str | None,
        names: Sequence[str],
        keep: Mapping[str, str] | None,
        chosen_index: ResponseIndex | None,
        wide: Sequence[str] = (),
    ) -> StoredColumns:
        store = self._store
        index = chosen_index
        if index is None:
            numbers = store.scores.evaluated(run.run_id, judge_id, list(dict.fromkeys(wide)) or names)
            index = self._filter_responses(run, store.runs.index(run.run_id, numbers), keep or {})
        return StoredColumns(store, run.run_id, judge_id, index, ahead=names, values_only=True).labelled()

    def _filter_responses(self, run: Run, index: ResponseIndex, keep: Mapping[str, str]) -> ResponseIndex:
        """The responses that a filter lets through; of the baseline also those to examples of the new run."""
        if not keep:
            return index
        is_base = run is not self._run
        ids = frozenset(self.new.index.query_ids) if is_base else frozenset()
        try:
            matching = {number for number, _ in self._store.runs.load_order(run.run_id, keep)}
        except UnknownName:
            if not is_base:
                raise
            matching = set()  # the baseline has no such segment: what the new run says of its examples is enough
        each = zip(index.number.tolist(), index.query.tolist(), strict=True)
        numbers = [number for number, query in each if number in matching or index.query_ids[query] in ids]
        return self._store.runs.index(run.run_id, numbers)


def find_index(store: Store, run: Run, numbers: array[int], existing_index: ResponseIndex | None) -> ResponseIndex:
    """The index of some responses of a run: `existing_index` where it holds just these, else read from the store."""
    if existing_index is not None and existing_index.number.tolist() == numbers.tolist():
        return existing_index
    return store.runs.index(run.run_id, numbers)
