"""Two or more stored runs held against one: what got better, what got worse, and how sure that is."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ragauge.comparison.baselines.baseline import baseline_run, nothing_in_common
from ragauge.comparison.baselines.verb import also_a_run
from ragauge.comparison.result import ComparisonResult
from ragauge.comparison.score_pairs import Paired, PairedRuns, measuring
from ragauge.core.errors import UnknownName, UsageError
from ragauge.core.messages import command, plural, speaking_of
from ragauge.core.response import Run
from ragauge.core.verdict import OPEN_VERDICTS, RULE_VERSION
from ragauge.verbs.columns import causes_of
from ragauge.verbs.coroutines import aside
from ragauge.verbs.judge_lookup import judge_named
from ragauge.verbs.options import CompareOptions
from ragauge.verbs.sources import HasRun, named, run_of, store_url

if TYPE_CHECKING:
    from ragauge.comparison.comparability import MeasurementSpec
    from ragauge.comparison.correction import Correction
    from ragauge.comparison.runs import Comparer, Corrected
    from ragauge.metrics.base import Metric
    from ragauge.scores.results.comparison import Compared, Matched, RunComparison
    from ragauge.scores.verdicts import ResponseVerdicts
    from ragauge.store.store_access import Store

MOST_IDS = 50  # unmatched examples named
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
    from ragauge.comparison.correction import CORRECTIONS
    from ragauge.store.store_access import open_store

    if not 0 < level < 1:
        raise UsageError(f"level must lie between 0 and 1, got {level:g}. Write 0.95 for 95 %.")
    if correction not in CORRECTIONS:
        raise UnknownName("correction", str(correction), CORRECTIONS)
    wanted = CompareOptions(
        metrics=metrics, judge=judge, store=store, filter=filter, level=level, segments=segments, correction=correction
    )
    sides = (base, new, *more)
    url = _url(sides, store)
    with open_store(url) as opened, speaking_of("" if url == store_url(None) else url):
        first, *others = (_run(base, opened), *(_run(which, opened, looked_at=True) for which in sides[1:]))
        return ComparisonResult(_compared(opened, first, others, wanted))


compare_async = aside(compare)


def comparison_state(base: Run, runs: Sequence[Run], *, store: str | None = None) -> Hashable:
    """What a comparison is computed from, as counts of writes: where they are the same, so is the comparison.

    Args:
        base: the run that the others are held against.
        runs: the others.
        store: URL of the store.
    """
    from ragauge.store.cards import CardKey
    from ragauge.store.store_access import open_store

    with open_store(store_url(store)) as opened:
        named = " ".join(also_a_run(opened, run) for run in (base, *runs))
        keys = [CardKey(run.run_id, None, base.run_id) for run in runs]
        return tuple((key, opened.cards.state(key, (), named)) for key in keys)


def _url(sides: Sequence[Any], store: str | None) -> str:
    """The store of the runs: as given, or where the ones that know their store are."""
    known = list(dict.fromkeys(url for side in sides if (url := getattr(side, "url", None)) is not None))
    if len(known) > 1 and store is None:
        raise UsageError(f"the runs are in different stores, {known[0]} and {known[1]}. Import them into one.")
    return store_url(store) if store is not None or not known else str(known[0])


def _run(which: Any, store: Store, *, looked_at: bool = False) -> Run:
    """The run that is meant, a baseline's name or tag included; a run's own name comes first where it is looked at."""
    if which == "" or not isinstance(which, str | Run | HasRun):
        got = "''" if which == "" else type(which).__name__
        raise UsageError(
            f"compare takes stored runs (id, name, latest, what open_run gives, or a scorecard), got {got}."
        )
    if looked_at and isinstance(which, str):
        with suppress(UnknownName):
            return run_of(which, store)
    run = baseline_run(which, store)
    if run is None:  # only None and "" name no run
        raise UsageError("compare needs the id or name of a run.")
    return run


def _compared(store: Store, base: Run, runs: Sequence[Run], wanted: CompareOptions) -> Compared:
    from ragauge.comparison.runs import corrected
    from ragauge.scores.results.comparison import Compared

    judge_id, names = _judge(store, base, runs, wanted.judge), named(wanted.metrics)
    held = []
    theirs = measuring(store, base, judge_id)
    for run in runs:
        mine = measuring(store, run, judge_id)
        metrics, both = _metrics(run, mine, names), (mine, theirs)
        metrics += [] if names else _of_base_alone(store, base, judge_id, theirs, metrics)
        pair = Paired(PairedRuns(store, run, base, judge_id), metrics, wanted.filter or {}, both)
        held.append(_ComparedRun(pair, metrics, wanted))
    corrected_runs, tests, segment_tests = corrected(
        [compared.comparer for compared in held], wanted.level, wanted.correction
    )
    comparisons = tuple(compared.comparison(changes) for compared, changes in zip(held, corrected_runs, strict=True))
    return Compared(base, judge_id or "", comparisons, wanted.level, tests, segment_tests, wanted.correction)


def _judge(store: Store, base: Run, runs: Sequence[Run], judge: str | None) -> str | None:
    """Whose verdicts are compared: the one asked for, or the last of the first run's that every run has.

    Raises:
        UnknownName: no judge of the first run has such an id.
    """
    judges = store.scores.judges(runs[0].run_id)
    if judge is not None:
        return judge_named(store, judge, judges, "this run")
    others = [set(store.scores.judges(run.run_id)) for run in (base, *runs[1:])]
    shared = (judge for judge in judges if all(judge in other for other in others))
    return next(shared, next(iter(judges), None))


def _metrics(run: Run, measured: MeasurementSpec, names: tuple[str, ...]) -> list[Metric]:
    """The metrics asked for, or all that a run has scores of, by layer.

    Raises:
        UsageError: the run has not been evaluated.
    """
    from ragauge.metrics.catalogue import parse, select

    if names:
        return select(names)
    if not measured.metrics:
        raise UsageError(f"run {run.name} has not been evaluated. Do it with: {command('evaluate', run.name)}")
    return sorted((parse(name) for name in measured.metrics), key=lambda metric: LAYERS.index(metric.measures))


def _of_base_alone(
    store: Store, base: Run, judge_id: str | None, measured: MeasurementSpec, metrics: Sequence[Metric]
) -> list[Metric]:
    """The metrics that the baseline has and the new run lacks: they are asked for too, and said to be left out."""
    from ragauge.metrics.catalogue import parse

    by = judge_id if judge_id is not None else next(iter(store.scores.judges(base.run_id)), None)
    known = {str(metric) for metric in metrics}
    there = measured.metrics if by == measured.judge_id else store.scores.versions(base.run_id, by)
    return [parse(name) for name in there if name not in known]


class _ComparedRun:
    """One run held against the baseline: reads both, metric by metric, then says what changed."""

    def __init__(self, pair: Paired, asked: Sequence[Metric], wanted: CompareOptions) -> None:
        from ragauge.comparison.comparability import is_paired, unanswered
        from ragauge.comparison.runs import Comparer
        from ragauge.engine.judge_error import judge_errors
        from ragauge.scores.arrays import by_example

        self.pair, self._asked, self._keep, self._level = pair, asked, wanted.filter, wanted.level
        self._store, self._run, self._base, self._judge_id = store, run, base, judge_id = pair.runs
        join = self.pair.join
        self.paired = is_paired(run, base, join)
        here, there = self.pair.new.index.query_ids, self.pair.base.index.query_ids
        if self.paired and not join.matched and here and there:
            raise nothing_in_common(run, base, here[0], there[0])
        looked_at = self.pair.segments if wanted.segments and self.paired else None
        self.comparer: Comparer = Comparer(
            self.pair.new.index,
            join,
            looked_at,
            level=wanted.level,
            paired=self.paired,
            errors=judge_errors(judge_id, store, (run.run_id, base.run_id)),
        )
        self._causes = tuple(
            causes_of(store, either.run_id, judge_id, side.index, renamed)
            for either, side, renamed in ((run, self.pair.new, {}), (base, self.pair.base, self.pair.renamed))
        )
        indexes = (self.pair.new.index, self.pair.base.index)
        self.comparer.know_unanswered(*map(unanswered, indexes, self._causes))
        for metric in self.pair.metrics:
            sides = (side.column(str(metric)) for side in (self.pair.new, self.pair.base))
            self.comparer.read(metric, *(None if side is None else by_example(side) for side in sides))
        self.comparer.read_unanswered()

    def comparison(self, changes: Corrected) -> RunComparison:
        """What changed, after the correction."""
        import polars as pl

        from ragauge.comparison.changes import failures_of
        from ragauge.comparison.comparability import config_diff, settings_of
        from ragauge.comparison.comparison_inputs import failing, flips_of, warnings_of
        from ragauge.comparison.runs import findings_of, grown
        from ragauge.engine.request_stream import said_of
        from ragauge.scores.results.comparison import Failures, Flips, RunComparison

        store, run, base, pair = self._store, self._run, self._base, self.pair
        new_causes, base_causes = self._causes
        both = set(pair.new.index.query_ids) & set(pair.base.index.query_ids)
        open_, same_rule = self._open, self._outdated is None
        known = both - open_ if self.paired and same_rule else both
        if self.paired:
            new_causes, base_causes = (
                frame.filter(pl.col("query_id").is_in(list(known))) for frame in (new_causes, base_causes)
            )
        flips = Flips()
        if self.paired:
            failed_in = (new_causes, base_causes) if same_rule else (new_causes.clear(), base_causes.clear())
            flips = flips_of(store, pair, self.comparer.flips, *failed_in, known)
        matched = self._matched(both)
        result = RunComparison(
            base,
            run,
            matched,
            changes.metrics,
            changes.segments,
            tuple(self.comparer.amounts),
            flips,
            config_diff(*(settings_of(either, said_of(store, either.run_id)) for either in (base, run))),
            failures_of(new_causes, base_causes, known if self.paired else None)
            if same_rule
            else Failures(same_rule=False),
            warnings=(
                *filter(None, (self._outdated,)),
                *self._left_out(len(both) - len(known)),
                *filter(None, (also_a_run(store, either) for either in (base, run))),
                *warnings_of(store, run, base, pair, self._asked, changes.metrics, matched),
            ),
            newly_unanswered=self.comparer.whole.newly_unanswered,
        )
        hurt = any(part.change.verdict == "worse" for part in changes.segments) or bool(failing(changes.metrics))
        findings = findings_of(
            self.comparer,
            result,
            new_causes,
            self._judge_id or "",
            quiet=hurt,
            more_often=grown(new_causes, base_causes, len(known), self._level) if self.paired else (),
        )
        return replace(result, findings=findings)

    @cached_property
    def _verdicts(self) -> tuple[tuple[Run, ResponseVerdicts], ...]:
        from ragauge.verbs.example_views import verdicts_of

        sides = ((self._run, self.pair.new.index), (self._base, self.pair.base.index))
        return tuple((run, verdicts_of(self._store, run.run_id, self._judge_id, index)) for run, index in sides)

    @property
    def _open(self) -> frozenset[str]:
        """Examples that are unclear or not judged in one run or both."""
        verdicts = (each for _, each in self._verdicts)
        return frozenset(query_id for each in verdicts for name in OPEN_VERDICTS for query_id in each.reasons_of(name))

    @property
    def _outdated(self) -> str | None:
        """That a run's failures were decided by an older rule, with what renews them; None where none were."""
        older = [run for run, each in self._verdicts if each.rule_version != RULE_VERSION]
        renewed = " and ".join(command("evaluate", run.name) for run in older)
        return f"Failures and flips are not compared: an older rule decided them. Renew: {renewed}" if older else None

    def _left_out(self, examples: int) -> Iterator[str]:
        if examples:
            those = f"{plural(examples, 'example is', 'examples are')} left out of failures and flips"
            yield f"{those}: unclear or not judged in one run or both."

    def _matched(self, both: set[str]) -> Matched:
        from ragauge.scores.results.comparison import Matched

        here, there = (
            [query_id for query_id in side.index.query_ids if query_id not in both]
            for side in (self.pair.new, self.pair.base)
        )
        among = both if self.paired else None
        clusters = self.pair.new.index.clusters(among) or self.pair.base.index.clusters(among)
        if self._keep:  # which of the baseline's examples match is not asked
            return Matched(len(both), len(here), None, tuple(here[:MOST_IDS]), (), self.paired, clusters)
        return Matched(
            len(both), len(here), len(there), tuple(here[:MOST_IDS]), tuple(there[:MOST_IDS]), self.paired, clusters
        )
