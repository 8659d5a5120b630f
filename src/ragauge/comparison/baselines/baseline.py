"""What a run is held against: a baseline that was asked for, and a run on oracle passages where the store has one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ragauge.comparison.baselines.verb import also_a_run, resolve
from ragauge.comparison.score_pairs import Paired, PairedRuns, measuring
from ragauge.core.errors import UnknownName, UsageError
from ragauge.core.messages import command
from ragauge.core.response import Run
from ragauge.verbs.columns import causes_of, handed_on, same_questions
from ragauge.verbs.sources import HasRun, run_of

if TYPE_CHECKING:
    import polars as pl

    from ragauge.comparison.changes import BaselineReader
    from ragauge.engine.plan import Plan
    from ragauge.metrics.base import Metric
    from ragauge.scores.arrays import ResponseIndex
    from ragauge.scores.indicators import Against, OracleRun
    from ragauge.scores.results.comparison import RunComparison
    from ragauge.store.store_access import Store

MOST_NAMED = 10  # baselines in an error
OF_ANSWERS = ("answer_correctness", "faithfulness")  # what oracle passages are read by


def baseline_run(which: Any, store: Store) -> Run | None:
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
            return run_of(resolve(which, store) or which, store)
        except UnknownName as error:
            raise _unknown(error, store) from None
    raise UsageError(f"baseline must be a stored run (id, name, or what open_run gives), got {type(which).__name__}.")


def _unknown(error: UnknownName, store: Store) -> UnknownName:
    """The error of a name that no run has, where a baseline's was possible too."""
    names = [line.name for line in store.baselines.list()]
    if not names:
        hint = f"No baseline is set: {command('baseline', 'set', 'latest')} sets one; {command('runs')} lists the runs."
    else:
        rest = f" and {len(names) - MOST_NAMED:,} more" if len(names) > MOST_NAMED else ""
        held = f"Baselines: {', '.join(names[:MOST_NAMED])}{rest}"
        hint = f"{held} ({command('baseline', 'list')}); {command('runs')} lists the runs."
    return UnknownName("baseline or run", error.name, {*error.known, *names}, hint)


def check(store: Store, plan: Plan, run: Run, base: Run | None) -> None:
    """Refuses a baseline that the run could not be compared with once it is evaluated, before anything is asked.

    Raises:
        UsageError: no example in both, or another judge, metric version or question version.
    """
    if base is None:
        return
    from ragauge.comparison.comparability import MeasurementSpec, comparable
    from ragauge.engine.judges import spec_of

    asked = {q: (plan.judge.version(q),) for q in plan.questions} if plan.judge is not None else {}
    versions = {str(metric): metric.version for metric in plan.metrics}
    spec = (spec_of(plan.judge) if plan.judge is not None else None) or ""
    mine = MeasurementSpec(run.name, plan.judge_id, versions, asked, spec, planned=True)
    comparable(mine, measuring(store, base, plan.judge_id), plan.metrics)
    if "traffic" in (run.kind, base.kind):
        return
    here, there = (store.runs.clusters(side.run_id)["query_id"].to_list() for side in (run, base))
    if not set(here) & set(there) and not same_questions(store, run.run_id, base.run_id):
        raise nothing_in_common(run, base, here[0], there[0])


def nothing_in_common(run: Run, base: Run, here: str, there: str) -> UsageError:
    """The refusal of two runs without a common example; `here` and `there` are an id of each."""
    return UsageError(
        f"{run.name} and {base.name} have no example in common: they are matched by query_id, and this one has "
        f"{here!r} where the baseline has {there!r}. Stretches of traffic, which never ask the same questions, are "
        "compared as two samples: evaluate them with --traffic."
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
        self._baseline = None if base is None else self._beside(base, self._metrics)
        self._causes = () if base is None or self._baseline is None else self._know_unanswered(base, self._baseline)
        self._oracle = self._found()
        self.readers: tuple[BaselineReader, ...] = tuple(
            comparison for comparison in (self._baseline, self._oracle and self._oracle[1]) if comparison is not None
        )
        self.warnings = tuple(_warn(store, run, base))

    def within(self, segments: pl.DataFrame) -> None:
        """Looks from now on for the segment in which a metric got worse most; `segments` is a tidy segment frame."""
        if self._baseline is not None:
            self._baseline.within(segments)

    def against(self) -> Against:
        """What the diagnosis reads the run against, once every metric was read."""
        from ragauge.comparison.comparability import handed_on_more
        from ragauge.scores.indicators import Against

        more = "" if self._base is None else handed_on_more(self._run.config, self._base.config)
        baseline = self._of_baseline()
        return Against(baseline, self._of_oracle(), self._run.kind == "traffic", more, self._fewer(baseline))

    def _fewer(self, baseline: RunComparison | None) -> tuple[float, float] | None:
        """Passages handed on in the baseline and here; read only where evidence was lost, None where not fewer."""
        from ragauge.diagnosis.findings.findings import CLEARLY, lost_evidence

        base_side = self._baseline
        if baseline is None or base_side is None or lost_evidence(baseline.metrics) is None:
            return None
        before, now = (handed_on(self._store, index) for index in (base_side.base.index, self._index))
        return (before, now) if before is not None and now is not None and now <= CLEARLY * before else None

    def _of_baseline(self) -> RunComparison | None:
        baseline = self._baseline
        if self._base is None or baseline is None:
            return None
        import polars as pl

        from ragauge.comparison.changes import failures_of
        from ragauge.core.verdict import RULE_VERSION
        from ragauge.scores.results.comparison import Failures, Matched, RunComparison
        from ragauge.verbs.columns import rule_version

        here, causes = self._causes
        baseline.read_unanswered()
        among = None
        if baseline.paired:
            among = set(self._index.query_ids) & set(baseline.base.index.query_ids)
            causes, here = (frame.filter(pl.col("query_id").is_in(list(among))) for frame in (causes, here))
        clusters = self._index.clusters(among) or baseline.base.index.clusters(among)
        matched = Matched(
            baseline.join.matched,
            baseline.join.only_here,
            baseline.join.only_there,
            paired=baseline.paired,
            clusters=clusters,
        )
        rules = {
            rule_version(self._store, run.run_id, self._judge_id, index)
            for run, index in ((self._run, self._index), (self._base, baseline.base.index))
        }
        calls = baseline.calls
        failures = failures_of(here, causes) if rules == {RULE_VERSION} else Failures(same_rule=False)
        return RunComparison(
            self._base,
            self._run,
            matched,
            tuple(baseline.changes),
            failures=failures,
            newly_unanswered=calls.losses if calls is not None else 0,
            calls=calls,
        )

    def _know_unanswered(self, base: Run, reader: BaselineReader) -> tuple[pl.DataFrame, ...]:
        """Tells the reader which calls failed; the cause frames of this run and of the baseline."""
        from ragauge.comparison.comparability import unanswered

        renamed = self._renamed.get(base.run_id, {})
        here = causes_of(self._store, self._run.run_id, self._judge_id, self._index)
        there = causes_of(self._store, base.run_id, self._judge_id, reader.base.index, renamed)
        reader.know_unanswered(unanswered(self._index, here), unanswered(reader.base.index, there))
        return here, there

    def _of_oracle(self) -> OracleRun | None:
        from ragauge.scores.indicators import OracleRun

        if self._oracle is None:
            return None
        run, outputs = self._oracle
        given = self._base is not None and self._base.run_id == run.run_id
        return OracleRun(run.name, outputs.there, outputs.changes, given)

    def _beside(self, base: Run, metrics: Sequence[Metric]) -> BaselineReader:
        from ragauge.comparison.changes import BaselineReader
        from ragauge.comparison.comparability import is_paired
        from ragauge.engine.judge_error import judge_errors

        pair = Paired(PairedRuns(self._store, self._run, base, self._judge_id), metrics, self._keep, known=self._index)
        self._renamed[base.run_id] = pair.renamed
        return BaselineReader(
            self._index,
            pair.base,
            pair.metrics,
            paired=is_paired(self._run, base, pair.join),
            errors=judge_errors(self._judge_id, self._store, (self._run.run_id, base.run_id)),
        )

    def _found(self) -> tuple[Run, BaselineReader] | None:
        """The newest run on oracle passages of the same set that was measured alike, or the one given as baseline."""
        metrics = [metric for metric in self._metrics if str(metric) in OF_ANSWERS]
        if self._run.variant not in ("own", "replayed") or not metrics:
            return None
        if self._base is not None and self._base.variant == "oracle":
            every = [self._base]
        else:
            every = self._store.runs.like(self._run, "oracle")
        for run in every:
            try:
                return run, self._beside(run, metrics)
            except UsageError:  # measured otherwise: the baseline's refusal was raised before
                continue
        return None


def _warn(store: Store, run: Run, base: Run | None) -> list[str]:
    if base is None:
        return []
    named = also_a_run(store, base)
    return [*([named] if named else []), *_warn_of_pair(run, base)]


def _warn_of_pair(run: Run, base: Run) -> list[str]:
    if base.run_id == run.run_id:
        return [f"The baseline {base.name} is this run itself: every difference is 0."]
    if "traffic" not in (run.kind, base.kind) and base.set_version != run.set_version:
        return [
            f"The baseline {base.name} answered another version of the eval set: examples are matched by query_id, "
            "whatever else changed about them."
        ]
    return []
