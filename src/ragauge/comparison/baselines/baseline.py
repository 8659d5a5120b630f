"""What a run is held against: a baseline that was asked for, and a run on oracle passages where the store has one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ragauge.comparison.baselines.verb import describe_name_clash, resolve_baseline
from ragauge.comparison.score_pairs import PairedRuns, PairedScores, build_measurement_spec
from ragauge.core.errors import UnknownName, UsageError
from ragauge.core.messages import format_command
from ragauge.core.response import Run
from ragauge.verbs.columns import compute_mean_passages, has_same_questions, load_causes
from ragauge.verbs.sources import HasRun, find_run

if TYPE_CHECKING:
    import polars as pl

    from ragauge.comparison.runs import BaselineReader
    from ragauge.engine.plan import Plan
    from ragauge.metrics.base import Metric
    from ragauge.scores.arrays import ResponseIndex
    from ragauge.scores.indicators import Against, OracleRun
    from ragauge.scores.results.comparison import RunComparison
    from ragauge.store.store_access import Store

MAX_NAMED_BASELINES = 10  # baselines in an error
ORACLE_METRICS = ("answer_correctness", "faithfulness")  # what oracle passages are read by


def find_baseline_run(which: Any, store: Store) -> Run | None:
    """The run that is meant: by a baseline's name or tag, a run's id or name, "latest", or what stands for a run.

    None for none. A baseline's name wins over a run's; `baselines.also_a_run` says so.

    Raises:
        UnknownName: no such baseline or run; the nearest names and all baselines are in the text.
        UsageError: something that names no run.
    """
    if which is None or which == "":
        return None
    if isinstance(which, Run):
        return which
    if isinstance(which, HasRun):
        return which.run
    if isinstance(which, str):
        try:
            return find_run(resolve_baseline(which, store) or which, store)
        except UnknownName as error:
            raise _build_unknown_error(error, store) from None
    raise UsageError(f"baseline must be a stored run (id, name, or what open_run gives), got {type(which).__name__}.")


def _build_unknown_error(error: UnknownName, store: Store) -> UnknownName:
    """The error of a name that no run has, where a baseline's was possible too."""
    names = [line.name for line in store.baselines.list()]
    if not names:
        hint = (
            f"No baseline is set: {format_command('baseline', 'set', 'latest')} sets one; {format_command('runs')} "
            "lists the runs."
        )
    else:
        remaining = f" and {len(names) - MAX_NAMED_BASELINES:,} more" if len(names) > MAX_NAMED_BASELINES else ""
        baselines_text = f"Baselines: {', '.join(names[:MAX_NAMED_BASELINES])}{remaining}"
        hint = f"{baselines_text} ({format_command('baseline', 'list')}); {format_command('runs')} lists the runs."
    return UnknownName("baseline or run", error.name, {*error.known, *names}, hint)


def check_baseline(store: Store, plan: Plan, run: Run, base: Run | None) -> None:
    """Refuses a baseline that the run could not be compared with once it is evaluated, before anything is asked.

    Raises:
        UsageError: no example in both, or another judge, metric version or question version.
    """
    if base is None:
        return
    from ragauge.comparison.comparability import MeasurementSpec, list_comparable_metrics
    from ragauge.engine.judges import find_spec

    question_versions = {q: (plan.judge.version(q),) for q in plan.questions} if plan.judge is not None else {}
    versions = {str(metric): metric.version for metric in plan.metrics}
    spec = (find_spec(plan.judge) if plan.judge is not None else None) or ""
    run_spec = MeasurementSpec(run.name, plan.judge_id, versions, question_versions, spec, planned=True)
    list_comparable_metrics(run_spec, build_measurement_spec(store, base, plan.judge_id), plan.metrics)
    if "traffic" in (run.kind, base.kind):
        return
    run_ids, base_ids = (store.runs.clusters(either_run.run_id)["query_id"].to_list() for either_run in (run, base))
    if not set(run_ids) & set(base_ids) and not has_same_questions(store, run.run_id, base.run_id):
        raise build_unpaired_error(run, base, run_ids[0], base_ids[0])


def build_unpaired_error(run: Run, base: Run, here: str, there: str) -> UsageError:
    """The refusal of two runs without a common example; `here` and `there` are an id of each."""
    return UsageError(
        f"{run.name} and {base.name} have no example in common. Examples are matched by query_id, and this run has "
        f"{here!r} where the baseline has {there!r}. To compare "
        "traffic, whose questions differ, evaluate both runs with --traffic."
    )


class RunPair:
    """Holds a run against others while its scores are read.

    Args:
        store: where the runs are.
        run: whose scores are read.
        base: the baseline that was asked for; None = none.
        metrics: of the scorecard.
        judge_id: who judged; None = nobody.
        index: the responses of the scorecard.
        keep: segment column or "tag" -> value; only examples that match.

    Attributes:
        readers: take part in reading the scores.
        warnings: what the reader must know about the baseline.

    Raises:
        UsageError: the runs were not measured alike.
    """

    def __init__(
        self,
        store: Store,
        run: Run,
        base: Run | None,
        metrics: Sequence[Metric],
        judge_id: str | None,
        index: ResponseIndex,
        keep: Mapping[str, str],
    ) -> None:
        self._store, self._run, self._base, self._judge_id = store, run, base, judge_id
        self._index, self._keep = index, keep
        self._metrics = list(metrics)
        self._renamed: dict[str, Mapping[str, str]] = {}  # run -> id of an example there -> its id here
        self._baseline = None if base is None else self._build_reader(base, self._metrics)
        self._causes = () if base is None or self._baseline is None else self._load_causes(base, self._baseline)
        self._oracle = self._find_oracle()
        self.readers: tuple[BaselineReader, ...] = tuple(
            comparison for comparison in (self._baseline, self._oracle and self._oracle[1]) if comparison is not None
        )
        self.warnings = tuple(_list_warnings(store, run, base))

    def set_segments(self, segments: pl.DataFrame) -> None:
        """Looks from now on for the segment in which a metric got worse most; `segments` is a tidy segment frame."""
        if self._baseline is not None:
            self._baseline.set_segments(segments)

    def against(self) -> Against:
        """What the diagnosis reads the run against, once every metric was read."""
        from ragauge.comparison.comparability import describe_more_passages
        from ragauge.scores.indicators import Against

        more = "" if self._base is None else describe_more_passages(self._run.config, self._base.config)
        baseline = self._build_baseline_comparison()
        return Against(
            baseline, self._build_oracle_run(), self._run.kind == "traffic", more, self._count_fewer_passages(baseline)
        )

    def _count_fewer_passages(self, baseline: RunComparison | None) -> tuple[float, float] | None:
        """Passages handed on in the baseline and here; read only where evidence was lost, None where not fewer."""
        from ragauge.diagnosis.findings.findings import CLEARLY_FEWER_SHARE, find_lost_evidence

        base_side = self._baseline
        if baseline is None or base_side is None or find_lost_evidence(baseline.metrics) is None:
            return None
        previous, current = (compute_mean_passages(self._store, index) for index in (base_side.base.index, self._index))
        return (
            (previous, current)
            if previous is not None and current is not None and current <= CLEARLY_FEWER_SHARE * previous
            else None
        )

    def _build_baseline_comparison(self) -> RunComparison | None:
        baseline = self._baseline
        if self._base is None or baseline is None:
            return None
        import polars as pl

        from ragauge.comparison.changes import build_failures
        from ragauge.core.verdict import RULE_VERSION
        from ragauge.scores.results.comparison import Failures, Matched, RunComparison
        from ragauge.verbs.columns import find_rule_version

        here, causes = self._causes
        baseline.read_failed_calls()
        shared_ids = None
        if baseline.paired:
            shared_ids = set(self._index.query_ids) & set(baseline.base.index.query_ids)
            causes, here = (frame.filter(pl.col("query_id").is_in(list(shared_ids))) for frame in (causes, here))
        clusters = self._index.clusters(shared_ids) or baseline.base.index.clusters(shared_ids)
        matched = Matched(
            baseline.join.matched,
            baseline.join.only_here,
            baseline.join.only_there,
            paired=baseline.paired,
            clusters=clusters,
        )
        rules = {
            find_rule_version(self._store, run.run_id, self._judge_id, index)
            for run, index in ((self._run, self._index), (self._base, baseline.base.index))
        }
        calls = baseline.calls
        failures = build_failures(here, causes) if rules == {RULE_VERSION} else Failures(same_rule=False)
        return RunComparison(
            self._base,
            self._run,
            matched,
            tuple(baseline.changes),
            failures=failures,
            newly_unanswered=calls.losses if calls is not None else 0,
            calls=calls,
        )

    def _load_causes(self, base: Run, reader: BaselineReader) -> tuple[pl.DataFrame, ...]:
        """Tells the reader which calls failed; the cause frames of this run and of the baseline."""
        from ragauge.comparison.comparability import score_failed_calls

        renamed = self._renamed.get(base.run_id, {})
        run_causes = load_causes(self._store, self._run.run_id, self._judge_id, self._index)
        base_causes = load_causes(self._store, base.run_id, self._judge_id, reader.base.index, renamed)
        reader.set_failed_calls(
            score_failed_calls(self._index, run_causes), score_failed_calls(reader.base.index, base_causes)
        )
        return run_causes, base_causes

    def _build_oracle_run(self) -> OracleRun | None:
        from ragauge.scores.indicators import OracleRun

        if self._oracle is None:
            return None
        run, outputs = self._oracle
        is_baseline = self._base is not None and self._base.run_id == run.run_id
        return OracleRun(run.name, outputs.there, outputs.changes, is_baseline)

    def _build_reader(self, base: Run, metrics: Sequence[Metric]) -> BaselineReader:
        from ragauge.comparison.comparability import is_paired
        from ragauge.comparison.runs import BaselineReader
        from ragauge.engine.judge_error import find_judge_errors

        pair = PairedScores(
            PairedRuns(self._store, self._run, base, self._judge_id), metrics, self._keep, new_index=self._index
        )
        self._renamed[base.run_id] = pair.renamed
        return BaselineReader(
            self._index,
            pair.base,
            pair.metrics,
            paired=is_paired(self._run, base, pair.join),
            errors=find_judge_errors(self._judge_id, self._store, (self._run.run_id, base.run_id)),
        )

    def _find_oracle(self) -> tuple[Run, BaselineReader] | None:
        """The newest run on oracle passages of the same set that was measured alike, or the one given as baseline."""
        metrics = [metric for metric in self._metrics if str(metric) in ORACLE_METRICS]
        if self._run.variant not in ("own", "replayed") or not metrics:
            return None
        if self._base is not None and self._base.variant == "oracle":
            candidates = [self._base]
        else:
            candidates = self._store.runs.list_variant_runs(self._run, "oracle")
        for run in candidates:
            try:
                return run, self._build_reader(run, metrics)
            except UsageError:  # measured otherwise: the baseline's refusal was raised before
                continue
        return None


def _list_warnings(store: Store, run: Run, base: Run | None) -> list[str]:
    if base is None:
        return []
    name_warning = describe_name_clash(store, base)
    return [*([name_warning] if name_warning else []), *_list_pair_warnings(run, base)]


def _list_pair_warnings(run: Run, base: Run) -> list[str]:
    if base.run_id == run.run_id:
        return [f"The baseline {base.name} is this run itself, so every difference is 0."]
    if "traffic" not in (run.kind, base.kind) and base.set_version != run.set_version:
        return [
            f"The baseline {base.name} answered another version of the eval set: examples are matched by query_id, "
            "whatever else changed about them."
        ]
    return []
