"""`ragauge testset stats`: what a set is made of, and what a stored run tells of its reach."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from ragauge.comparison.score_pairs import PairedRuns, PairedScores
from ragauge.core.errors import UsageError
from ragauge.core.response import Run
from ragauge.core.variation import SEGMENT
from ragauge.scores.segments import Segments
from ragauge.scores.target_difference import TargetDifference
from ragauge.testsets.options import SetStatsOptions
from ragauge.testsets.stats.set_power import (
    DetectableChange,
    SamplePair,
    SetReach,
    build_pair_samples,
    build_run_samples,
    compare_variations,
    compute_detectable_change,
    iterate_segments,
)
from ragauge.testsets.vary.kinds import KINDS
from ragauge.verbs.columns import StoredColumns
from ragauge.verbs.option_specs import expand_options
from ragauge.verbs.result_base import PageResult
from ragauge.verbs.sources import find_run, parse_names, resolve_store_url

if TYPE_CHECKING:
    from ragauge.core.document import Document
    from ragauge.metrics.base import Metric
    from ragauge.rendering.sections import ReportSection
    from ragauge.scores.arrays import Columns, ResponseIndex
    from ragauge.store.store_access import Store
    from ragauge.testsets.set_file import SetFile
    from ragauge.testsets.stats.set_power import TwoSampleTest
    from ragauge.testsets.stats.set_profile import SetDescription


RUN_OPTIONS = ("detect", "baseline", "judge", "metrics")  # options that say nothing without a run


@dataclass(frozen=True, slots=True)
class SetStats:
    """What a set is and can."""

    made_of: SetDescription  #: states, types, origins, topics, overlap, likeness.
    reach: SetReach | None  #: what a run tells of it; None without one.


class SetStatsResult(PageResult):
    """What a set is and can, in every form.

    Attributes:
        data: every number as plain frozen values.
    """

    _what = "set"

    def __init__(self, data: SetStats) -> None:
        self.data = data

    @property
    def _value(self) -> dict[str, Any]:
        from ragauge.testsets.stats.tables import encode_stats

        return encode_stats(self.data.made_of, self.data.reach)

    def _build_sections(self) -> Iterable[ReportSection]:
        from ragauge.testsets.stats.tables import build_stats_sections

        return build_stats_sections(self.data.made_of, self.data.reach)


@expand_options(SetStatsOptions)
def set_stats(options: SetStatsOptions) -> SetStatsResult:
    """What a set is made of and what it is fit to show.

    Counts by state, type, origin and variation, and how much of a question's words its gold holds. With a corpus:
    topics without a question. With real questions: whether a classifier tells the set's from them, and by what. With
    a run: by metric and segment the change that the set can show, and what other wordings of a question cost.

    Options:
        set: JSON lines, or any set that `read_set` reads.
        corpus: its documents; without it overlap rests on quoted evidence.
        like: questions of people: any set.
        run: a stored run on the set that was evaluated: id, name or "latest".
        baseline: another run, whose pairs with it tell how far differences spread, as in `compare`. Without it they are
            taken to spread as the run's own scores do: right where two runs correlate at one half.
        detect: the change that is to be seen in 80 of 100 comparisons: "3%" of the mean, "3 points".
        metrics: names and presets; all that the run has by default.
        judge: whose verdicts; the last judge by default.
        seed: of the folds of the classifier.
        store: URL of the store; RAGAUGE_STORE or sqlite:///.ragauge/ragauge.db by default.

    Raises:
        UsageError: an option of a run without one, or a run that was not evaluated.
        UnknownName: no such run, judge or metric.
        DataError: a set or corpus that cannot be read.
    """
    from ragauge.testsets.corpus_view import CorpusView
    from ragauge.testsets.set_file import read_set_lines
    from ragauge.testsets.stats.set_profile import describe_set

    run_options = [name for name in RUN_OPTIONS if getattr(options, name)]
    if run_options and not options.run:
        raise UsageError(f"testset stats: {', '.join(run_options)} needs a run. Add --run RUN.")
    lines = read_set_lines(options.set)
    real = None if options.like is None else read_set_lines(options.like)
    documents = None if options.corpus is None else _load_documents(options.corpus, lines, real)
    like = None if real is None else _compare_likeness(lines, real, documents, options.seed)
    made_of = describe_set(lines, None if documents is None else CorpusView(documents), like)
    return SetStatsResult(SetStats(made_of, compute_run_reach(options, made_of.version) if options.run else None))


def _load_documents(corpus: Any, lines: SetFile, real: SetFile | None) -> tuple[Document, ...]:
    """The corpus, documents named as the labels name them."""
    from ragauge.readers.corpus import match_label_names, read_corpus
    from ragauge.testsets.lock import list_gold_ids

    documents = read_corpus(corpus)
    all_lines = (*lines.lines, *(real.lines if real is not None else ()))
    names = match_label_names(
        [entry.doc_id for entry in documents], (doc_id for entry in all_lines for doc_id in list_gold_ids(entry))
    )
    return tuple(replace(entry, doc_id=names.get(entry.doc_id, entry.doc_id)) for entry in documents)


def _compare_likeness(
    lines: SetFile, real: SetFile, documents: tuple[Document, ...] | None, seed: int
) -> TwoSampleTest:
    from ragauge.testsets.stats.set_profile import compare_with_real

    return compare_with_real(
        lines.lines, real.lines, {document.doc_id: document.text for document in documents or ()}, seed
    )


def compute_run_reach(options: SetStatsOptions, version: str) -> SetReach:
    """What the run of the options tells of a version of its set.

    Raises:
        UsageError: the run was not evaluated.
        UnknownName: no such run, judge or metric.
    """
    from ragauge.comparison.baselines.baseline import find_baseline_run
    from ragauge.evaluation.scorecard.cards import resolve_scored_judge
    from ragauge.metrics.catalogue import parse_metric, select_metrics
    from ragauge.store.store_access import open_store

    with open_store(resolve_store_url(options.store or getattr(options.run, "url", None))) as store:
        run = find_run(options.run, store)
        judge_id = resolve_scored_judge(store, run, options.judge)
        valid_names = store.scores.metrics(run.run_id, judge_id)
        requested = (
            select_metrics(parse_names(options.metrics))
            if options.metrics
            else [parse_metric(name) for name in valid_names]
        )
        measured = MeasuredRun(run, judge_id, find_baseline_run(options.baseline, store))
        metrics = [metric for metric in requested if str(metric) in valid_names]

        def build_reach() -> SetReach:
            return compute_set_reach(store, measured, metrics, options.detect, version)

        if measured.base is not None:
            return build_reach()
        what = ("reach", judge_id, *map(str, metrics), options.detect, version)
        return store.cache_for_run(run.run_id, what, build_reach)


class MeasuredRun(NamedTuple):
    """A run, who judged it, and what it is paired with."""

    run: Run
    judge_id: str | None
    base: Run | None


def compute_set_reach(
    store: Store, measured: MeasuredRun, metrics: Sequence[Metric], detect: str, set_version: str
) -> SetReach:
    """What a run tells of its set.

    Args:
        store: where it is.
        measured: the run, its judge and the run that it is paired with.
        metrics: of interest; amounts, such as times, are left out.
        detect: the change that is to be seen, such as "3%"; "" = none.
        set_version: of the set that is described.
    """
    from ragauge.scores.arrays import merge_repeats

    run, judge_id, base = measured
    target = TargetDifference.from_text(detect) if detect else None
    requested = [metric for metric in metrics if metric.scale != "amount"]
    names = [str(metric) for metric in requested]
    index = store.runs.index(run.run_id, store.scores.evaluated(run.run_id, judge_id, names))
    columns = StoredColumns(store, run.run_id, judge_id, index, ahead=names, values_only=True)
    read = [(metric, merge_repeats(item)) for metric in requested if (item := columns.column(str(metric))) is not None]
    frame = store.runs.segments(run.run_id)
    segments = Segments.of(frame).select_examples(index.query_ids)
    kinds = _find_kinds(segments)
    kept_kinds = {item: kind for item, kind in kinds.items() if KINDS[kind].keeps_labels}
    others = Counter(kind for kind in kinds.values() if not KINDS[kind].keeps_labels)
    changes = (
        _build_run_changes(read, index, segments, target)
        if base is None
        else _build_paired_changes(PairedScores(PairedRuns(store, run, base, judge_id), requested), target)
    )
    return SetReach(
        run.name,
        judge_id or "",
        base.name if base is not None else "",
        detect,
        changes,
        compare_variations(read, index.query_ids, kept_kinds),
        tuple(others.items()),
        run.set_version == set_version,
    )


def _find_kinds(segments: Segments) -> dict[str, str]:
    """query_id -> kind of variation, of the variants."""
    column = segments.columns.get(SEGMENT)
    if column is None:
        return {}
    values = [column.values[code] for code in column.codes]
    return {query_id: kind for query_id, kind in zip(segments.query_ids, values, strict=True) if kind in KINDS}


def _build_run_changes(
    read: Sequence[tuple[Metric, Columns]], index: ResponseIndex, segments: Segments, target: TargetDifference | None
) -> tuple[DetectableChange, ...]:
    segment_rows = list(iterate_segments(segments.tidy_columns().align_columns(index.query_ids)))
    every = [(metric, build_run_samples(metric, metric_scores), ("", "")) for metric, metric_scores in read]
    every += [
        (metric, build_run_samples(metric, metric_scores, rows), (name, value))
        for metric, metric_scores in read
        for name, value, rows in segment_rows
    ]
    return _list_changes(every, target)


def _build_paired_changes(paired: PairedScores, target: TargetDifference | None) -> tuple[DetectableChange, ...]:
    ids = paired.new.index.query_ids
    segment_rows = list(iterate_segments(Segments.of(paired.segments).tidy_columns().align_columns(ids)))
    read = [(metric, pairs) for metric in paired.metrics if (pairs := paired.pairs(metric)) is not None]
    every = [(metric, build_pair_samples(pairs), ("", "")) for metric, pairs in read]
    every += [
        (metric, build_pair_samples(pairs, rows), (name, value))
        for metric, pairs in read
        for name, value, rows in segment_rows
    ]
    return _list_changes(every, target)


def _list_changes(
    every: Sequence[tuple[Metric, SamplePair, tuple[str, str]]], target: TargetDifference | None
) -> tuple[DetectableChange, ...]:
    changes = (compute_detectable_change(metric, sides, target, segment) for metric, sides, segment in every)
    return tuple(change for change in changes if change is not None)
