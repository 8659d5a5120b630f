"""Two or more stored runs held against one: what got better, what got worse, and how sure that is."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ragauge.comparison.baselines.baseline import build_unpaired_error, find_baseline_run
from ragauge.comparison.baselines.verb import describe_name_clash
from ragauge.comparison.result import ComparisonResult
from ragauge.comparison.score_pairs import PairedRuns, PairedScores, build_measurement_spec
from ragauge.core.errors import UnknownName, UsageError
from ragauge.core.messages import format_command, format_count, name_store
from ragauge.core.response import Run
from ragauge.core.verdict import OPEN_VERDICTS, RULE_VERSION
from ragauge.verbs.columns import load_causes
from ragauge.verbs.coroutines import make_async
from ragauge.verbs.judge_lookup import resolve_judge_id
from ragauge.verbs.options import CompareOptions
from ragauge.verbs.sources import HasRun, find_run, parse_names, resolve_store_url

if TYPE_CHECKING:
    import polars as pl

    from ragauge.comparison.comparability import MeasurementSpec
    from ragauge.comparison.correction import Correction
    from ragauge.comparison.runs import CorrectedChanges, RunComparer
    from ragauge.metrics.base import Metric
    from ragauge.scores.results.comparison import BaselineComparison, Matched, MetricChange, RunComparison
    from ragauge.scores.verdicts import ResponseVerdicts
    from ragauge.store.store_access import Store

MAX_UNMATCHED_IDS = 50  # unmatched examples named
LAYERS = ("retrieval", "generation", "end_to_end")


def compare(
    base: Any,
    new: Any,
    *more: Any,
    metrics: str | Sequence[object] = (),
    store: str | None = None,
    judge: str | None = None,
    filter: Mapping[str, str] | None = None,
    level: float = 0.95,
    segments: bool = True,
    correction: Correction = "holm",
) -> ComparisonResult:
    """What changed between runs: per metric and segment, with intervals and corrected p-values.

    Examples are matched by query_id; several answers to one count once, at their mean. Nothing is judged.

    Args:
        base: the run to hold the others against: its id, its name, "latest", what `open_run` gives, or a scorecard.
        new: the run that is looked at, likewise.
        more: further runs held against the same baseline; all tests together are one family.
        metrics: names and presets; () = all that both runs have.
        store: URL of the store; RAGAUGE_STORE or sqlite:///.ragauge/ragauge.db by default.
        judge: whose verdicts, by id or its beginning; None = the last one of `new` that all runs have in common.
        filter: segment column (or "tag") -> value; only the examples that match.
        level: of the intervals, in (0, 1); a corrected p-value of at most 1 − level is a change.
        segments: look at every declared segment too.
        correction: of the p-values, over all metrics and over all metrics × segments: "holm" bounds the
            chance of even one false alarm, "bh" (Benjamini-Hochberg) the share of false alarms among the alarms, "none"
            corrects nothing.

    Returns:
        The comparison: shows itself in a notebook; `.save("change.html")`, `.to_dict()`, `.to_polars()`.

    Raises:
        UnknownName: no such run, metric, judge or segment; the nearest names are in the text.
        UsageError: the runs were judged differently, or by another version of a metric or question, with the command
            that judges the stored responses alike; or no example is in both.
    """
    from ragauge.store.store_access import open_store

    _validate_test_options(level, correction)
    options = CompareOptions(
        metrics=metrics, judge=judge, store=store, filter=filter, level=level, segments=segments, correction=correction
    )
    url = _resolve_url((base, new, *more), store)
    with open_store(url) as opened_store, name_store("" if url == resolve_store_url(None) else url):
        first = _resolve_run(base, opened_store)
        others = [_resolve_run(which, opened_store, looked_at=True) for which in (new, *more)]
        return ComparisonResult(_compare_runs(opened_store, first, others, options))


compare_async = make_async(compare)


def _validate_test_options(level: float, correction: str) -> None:
    from ragauge.comparison.correction import CORRECTIONS

    if not 0 < level < 1:
        raise UsageError(f"level must be between 0 and 1, got {level:g}. Write 0.95 for 95 %.")
    if correction not in CORRECTIONS:
        raise UnknownName("correction", str(correction), CORRECTIONS)


def build_comparison_state(base: Run, runs: Sequence[Run], *, store: str | None = None) -> Hashable:
    """What a comparison is computed from, as counts of writes: where they are the same, so is the comparison.

    Args:
        base: the run that the others are held against.
        runs: the others.
        store: URL of the store.
    """
    from ragauge.store.cards import CardKey
    from ragauge.store.store_access import open_store

    with open_store(resolve_store_url(store)) as opened_store:
        name_warnings = " ".join(describe_name_clash(opened_store, run) for run in (base, *runs))
        keys = [CardKey(run.run_id, None, base.run_id) for run in runs]
        return tuple((key, opened_store.cards.state(key, "comparison", (), name_warnings)) for key in keys)


def _resolve_url(run_refs: Sequence[Any], store: str | None) -> str:
    """The store of the runs: as given, or where the ones that know their store are."""
    urls = list(dict.fromkeys(url for run_ref in run_refs if (url := getattr(run_ref, "url", None)) is not None))
    if len(urls) > 1 and store is None:
        raise UsageError(f"the runs are in different stores, {urls[0]} and {urls[1]}. Import them into one.")
    return resolve_store_url(store) if store is not None or not urls else str(urls[0])


def _resolve_run(which: Any, store: Store, *, looked_at: bool = False) -> Run:
    """The run that is meant, a baseline's name or tag included; a run's own name comes first where it is looked at."""
    if which == "" or not isinstance(which, str | Run | HasRun):
        got = "''" if which == "" else type(which).__name__
        raise UsageError(
            f"compare takes stored runs (id, name, latest, what open_run gives, or a scorecard), got {got}."
        )
    if looked_at and isinstance(which, str):
        with suppress(UnknownName):
            return find_run(which, store)
    run = find_baseline_run(which, store)
    if run is None:  # only None and "" name no run
        raise UsageError("compare needs the id or name of a run.")
    return run


def _compare_runs(store: Store, base: Run, runs: Sequence[Run], options: CompareOptions) -> BaselineComparison:
    from ragauge.comparison.runs import correct_changes
    from ragauge.scores.results.comparison import BaselineComparison

    judge_id, names = _resolve_judge(store, base, runs, options.judge), parse_names(options.metrics)
    compared_runs = []
    base_spec = build_measurement_spec(store, base, judge_id)
    for run in runs:
        run_spec = build_measurement_spec(store, run, judge_id)
        metrics, both = _select_metrics(run, run_spec, names), (run_spec, base_spec)
        metrics += [] if names else _list_base_only_metrics(store, base, judge_id, base_spec, metrics)
        pair = PairedScores(PairedRuns(store, run, base, judge_id), metrics, options.filter or {}, both)
        compared_runs.append(_ComparedRun(pair, metrics, options))
    corrected_runs, tests, segment_tests = correct_changes(
        [compared.comparer for compared in compared_runs], options.level, options.correction
    )
    comparisons = tuple(
        compared.build_comparison(changes) for compared, changes in zip(compared_runs, corrected_runs, strict=True)
    )
    return BaselineComparison(
        base, judge_id or "", comparisons, options.level, tests, segment_tests, options.correction
    )


def _resolve_judge(store: Store, base: Run, runs: Sequence[Run], judge: str | None) -> str | None:
    """Whose verdicts are compared: the one asked for, or the last of the first run's that every run has.

    Raises:
        UnknownName: no judge of the first run has such an id.
    """
    judges = store.scores.judges(runs[0].run_id)
    if judge is not None:
        return resolve_judge_id(store, judge, judges, "this run")
    others = [set(store.scores.judges(run.run_id)) for run in (base, *runs[1:])]
    shared = (judge for judge in judges if all(judge in other for other in others))
    return next(shared, next(iter(judges), None))


def _select_metrics(run: Run, measured: MeasurementSpec, names: tuple[str, ...]) -> list[Metric]:
    """The metrics asked for, or all that a run has scores of, by layer.

    Raises:
        UsageError: the run has not been evaluated.
    """
    from ragauge.metrics.catalogue import parse_metric, select_metrics

    if names:
        return select_metrics(names)
    if not measured.metrics:
        raise UsageError(
            f"run {run.name} has not been evaluated. Evaluate it with: {format_command('evaluate', run.name)}"
        )
    return sorted((parse_metric(name) for name in measured.metrics), key=lambda metric: LAYERS.index(metric.measures))


def _list_base_only_metrics(
    store: Store, base: Run, judge_id: str | None, measured: MeasurementSpec, metrics: Sequence[Metric]
) -> list[Metric]:
    """The metrics that the baseline has and the new run lacks: they are asked for too, and said to be left out."""
    from ragauge.metrics.catalogue import parse_metric

    by = judge_id if judge_id is not None else next(iter(store.scores.judges(base.run_id)), None)
    metric_names = {str(metric) for metric in metrics}
    base_metrics = measured.metrics if by == measured.judge_id else store.scores.find_versions(base.run_id, by)
    return [parse_metric(name) for name in base_metrics if name not in metric_names]


class _ComparedRun:
    """One run held against the baseline: reads both, metric by metric, then says what changed."""

    def __init__(self, pair: PairedScores, requested: Sequence[Metric], options: CompareOptions) -> None:
        from ragauge.comparison.comparability import is_paired, score_failed_calls
        from ragauge.comparison.runs import RunComparer
        from ragauge.engine.judge_error import find_judge_errors
        from ragauge.scores.arrays import merge_repeats

        self.pair, self._asked, self._keep, self._level = pair, requested, options.filter, options.level
        self._store, self._run, self._base, self._judge_id = store, run, base, judge_id = pair.runs
        join = self.pair.join
        self.paired = is_paired(run, base, join)
        run_ids, base_ids = self.pair.new.index.query_ids, self.pair.base.index.query_ids
        if self.paired and not join.matched and run_ids and base_ids:
            raise build_unpaired_error(run, base, run_ids[0], base_ids[0])
        looked_at = self.pair.segments if options.segments and self.paired else None
        self.comparer: RunComparer = RunComparer(
            self.pair.new.index,
            join,
            looked_at,
            level=options.level,
            paired=self.paired,
            errors=find_judge_errors(judge_id, store, (run.run_id, base.run_id)),
        )
        self._causes = tuple(
            load_causes(store, either.run_id, judge_id, side.index, renamed)
            for either, side, renamed in ((run, self.pair.new, {}), (base, self.pair.base, self.pair.renamed))
        )
        indexes = (self.pair.new.index, self.pair.base.index)
        self.comparer.set_failed_calls(*map(score_failed_calls, indexes, self._causes))
        for metric in self.pair.metrics:
            sides = (side.column(str(metric)) for side in (self.pair.new, self.pair.base))
            self.comparer.read(metric, *(None if side is None else merge_repeats(side) for side in sides))
        self.comparer.read_failed_calls()

    def build_comparison(self, changes: CorrectedChanges) -> RunComparison:
        """What changed, after the correction."""
        from ragauge.comparison.changes import build_failures
        from ragauge.comparison.comparability import collect_settings, diff_configs
        from ragauge.comparison.comparison_inputs import find_failing_metrics, load_flips
        from ragauge.comparison.runs import build_findings, find_grown_causes
        from ragauge.engine.request_stream import summarize_origins
        from ragauge.scores.results.comparison import Failures, Flips, RunComparison

        store, run, base, pair = self._store, self._run, self._base, self.pair
        both = set(pair.new.index.query_ids) & set(pair.base.index.query_ids)
        open_, same_rule = self._open_examples, self._outdated_warning is None
        judged_ids = both - open_ if self.paired and same_rule else both
        new_causes, base_causes = self._filter_causes(judged_ids) if self.paired else self._causes
        flips = Flips()
        if self.paired:
            failed_in = (new_causes, base_causes) if same_rule else (new_causes.clear(), base_causes.clear())
            flips = load_flips(store, pair, self.comparer.flips, *failed_in, judged_ids)
        matched = self._match_examples(both)
        result = RunComparison(
            base,
            run,
            matched,
            changes.metrics,
            changes.segments,
            tuple(self.comparer.amounts),
            flips,
            diff_configs(
                *(collect_settings(either, summarize_origins(store, either.run_id)) for either in (base, run))
            ),
            build_failures(new_causes, base_causes, judged_ids if self.paired else None)
            if same_rule
            else Failures(same_rule=False),
            warnings=tuple(self._list_warnings(len(both) - len(judged_ids), changes.metrics, matched)),
            newly_unanswered=self.comparer.whole.newly_unanswered,
        )
        hurt = any(segment.change.verdict == "worse" for segment in changes.segments) or bool(
            find_failing_metrics(changes.metrics)
        )
        findings = build_findings(
            self.comparer,
            result,
            new_causes,
            self._judge_id or "",
            quiet=hurt,
            more_often=find_grown_causes(new_causes, base_causes, len(judged_ids), self._level) if self.paired else (),
        )
        return replace(result, findings=findings)

    @cached_property
    def _verdicts_by_run(self) -> tuple[tuple[Run, ResponseVerdicts], ...]:
        from ragauge.verbs.example_views import compute_verdicts

        sides = ((self._run, self.pair.new.index), (self._base, self.pair.base.index))
        return tuple((run, compute_verdicts(self._store, run.run_id, self._judge_id, index)) for run, index in sides)

    @property
    def _open_examples(self) -> frozenset[str]:
        """Examples that are unclear or not judged in one run or both."""
        verdicts = (each for _, each in self._verdicts_by_run)
        return frozenset(
            query_id for each in verdicts for name in OPEN_VERDICTS for query_id in each.list_reasons(name)
        )

    @property
    def _outdated_warning(self) -> str | None:
        """That a run's failures were decided by an older rule, with what renews them; None where none were."""
        older = [run for run, each in self._verdicts_by_run if each.rule_version != RULE_VERSION]
        renewed = " and ".join(format_command("evaluate", run.name) for run in older)
        return (
            f"Failures and flips are not compared, because an older rule decided them. To update them: {renewed}"
            if older
            else None
        )

    def _filter_causes(self, query_ids: Collection[str]) -> tuple[pl.DataFrame, ...]:
        import polars as pl

        return tuple(frame.filter(pl.col("query_id").is_in(list(query_ids))) for frame in self._causes)

    def _list_warnings(self, n_left_out: int, changes: Sequence[MetricChange], matched: Matched) -> Iterator[str]:
        from ragauge.comparison.comparison_inputs import list_warnings

        store, run, base = self._store, self._run, self._base
        yield from filter(None, (self._outdated_warning,))
        if n_left_out:
            those = f"{format_count(n_left_out, 'example is', 'examples are')} left out of failures and flips"
            yield f"{those}: unclear or not judged in one run or both."
        yield from filter(None, (describe_name_clash(store, either) for either in (base, run)))
        yield from list_warnings(store, run, base, self.pair, self._asked, changes, matched)

    def _match_examples(self, both: set[str]) -> Matched:
        from ragauge.scores.results.comparison import Matched

        run_only, base_only = (
            [query_id for query_id in side.index.query_ids if query_id not in both]
            for side in (self.pair.new, self.pair.base)
        )
        among = both if self.paired else None
        clusters = self.pair.new.index.clusters(among) or self.pair.base.index.clusters(among)
        if self._keep:  # which of the baseline's examples match is not asked
            return Matched(
                len(both), len(run_only), None, tuple(run_only[:MAX_UNMATCHED_IDS]), (), self.paired, clusters
            )
        return Matched(
            len(both),
            len(run_only),
            len(base_only),
            tuple(run_only[:MAX_UNMATCHED_IDS]),
            tuple(base_only[:MAX_UNMATCHED_IDS]),
            self.paired,
            clusters,
        )
