"""Gate: does a run meet its rules? From what is stored to a verdict; nothing is judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from ragauge.comparison.baselines.baseline import build_unpaired_error, find_baseline_run
from ragauge.core.config.config_loader import ConfigFile, read_config
from ragauge.core.errors import ConfigError, DataError, UnknownName, UsageError
from ragauge.core.messages import format_count
from ragauge.core.response import Run
from ragauge.evaluation.scorecard.result import Scorecard
from ragauge.gating.failed_calls import find_failed_calls, find_unanswered
from ragauge.gating.gate_result import GateResult
from ragauge.verbs.columns import StoredColumns
from ragauge.verbs.coroutines import make_async
from ragauge.verbs.option_specs import expand_options
from ragauge.verbs.options import GateOptions
from ragauge.verbs.sources import LATEST, HasRun, find_run, load_store_metrics

if TYPE_CHECKING:
    from ragauge.comparison.pairs import Pairs
    from ragauge.comparison.score_pairs import PairedScores
    from ragauge.gating.check_builder import ScoreSource
    from ragauge.gating.result import Check, Gated
    from ragauge.gating.rules import Rules, Slices
    from ragauge.gating.unpaired_samples import UnpairedRuns
    from ragauge.metrics.base import Metric
    from ragauge.scores.arrays import Columns
    from ragauge.scores.verdicts import ResponseVerdicts
    from ragauge.store.store_access import Store

__all__ = ["GateResult", "gate", "gate_async"]


@expand_options(GateOptions)
def gate(options: GateOptions) -> GateResult:
    """Whether a run meets the rules of the section `gate` of ragauge.yaml.

    Nothing is judged and no score changes: the rules are read against what is stored. ragauge docs gates says how each
    verdict is reached.

    Options:
        run: an evaluated run: its id, its name, "latest", what `open_run` gives, or a scorecard.
        baseline: the run that max_drop speaks of, in the same forms, or the name of a baseline; None where no rule
            needs one.
        rules: path of ragauge.yaml, or its content as a mapping: {"gate": {"rules": [...]}}.
        store: URL of the store; that of the run, RAGAUGE_STORE or sqlite:///.ragauge/ragauge.db by default.
        judge: whose verdicts, by id or its beginning; a scorecard's own, else the last judge's by default.

    Returns:
        The verdict with every check: `.raise_if_failed()`, `.explain()`, `.to_markdown()`, `.exit_code`.

    Raises:
        ConfigError: the rules cannot be used: a mistake in the file, a metric that was not measured, a segment or tag
            that no example has. All of them are in the text.
        UsageError: the run was not evaluated, no baseline where a rule needs one, or a baseline that was judged
            otherwise or shares no example.
        UnknownName: no such run, baseline or judge.
    """
    from ragauge.gating.rules import read_rules
    from ragauge.store.store_access import open_store

    run, file = options.run, read_config(options.rules)
    url = load_store_metrics(options.store or getattr(run, "url", None))
    understood = read_rules(file)
    judge = options.judge or (run.card.judge.judge_id if isinstance(run, Scorecard) else None) or None
    with open_store(url) as opened_store:
        chosen_run = (
            run if isinstance(run, Run) else run.run if isinstance(run, HasRun) else _find_named_run(run, opened_store)
        )
        base = find_baseline_run(options.baseline, opened_store)
        if base is None and understood.needs_baseline:
            drops = next(str(condition.metric) for condition in understood.conditions if condition.kind == "max_drop")
            raise UsageError(
                f"{understood.source}: max_drop of {drops} needs a baseline, and none was given. Name the run "
                "to compare with: --baseline RUN, in Python baseline=."
            )
        return GateResult(_GateCheck(opened_store, chosen_run, base, file, understood, judge).build_result())


def _find_named_run(which: str, store: Store) -> Run:
    """A stored run, called by the name that was asked for: the same answers may have several."""
    run = find_run(which, store)
    return run if which == LATEST or run.run_id.startswith(which) else replace(run, name=which)


gate_async = make_async(gate)


class _GateCheck:
    """One run held to its rules while the store is open."""

    def __init__(
        self, store: Store, run: Run, base: Run | None, file: ConfigFile, rules: Rules, judge: str | None
    ) -> None:
        from ragauge.comparison.score_pairs import find_index
        from ragauge.engine.plan import is_sample
        from ragauge.evaluation.scorecard.cards import resolve_scored_judge

        self._store, self._run, self._base, self._file, self._rules = store, run, base, file, rules
        self._judge_id = resolve_scored_judge(store, run, judge)
        self._every = store.runs.index(run.run_id, sorted(store.runs.load_order(run.run_id).numbers))
        self._measured = store.scores.metrics(run.run_id, self._judge_id)
        self._refuse_unmeasured()
        self._tagged = self._find_tags()
        numbers = store.scores.evaluated(run.run_id, self._judge_id, self._measured)
        self._evaluated = find_index(store, run, numbers, self._every)
        # a part that is no sample says nothing of the rest, which then counts as not judged
        self._sample = is_sample(store, run.run_id, frozenset(numbers))
        self._index = self._evaluated if self._sample else self._every
        self._scores = StoredColumns(store, run.run_id, self._judge_id, self._index).labelled()
        self._segments = store.runs.segments(run.run_id)
        self._refuse_unknown_segments()

    def build_result(self) -> Gated:
        """Every check, and the verdict."""
        from ragauge.engine.judge_error import find_judge_errors
        from ragauge.gating.check_builder import ScoreSource, check_conditions, decide_verdict
        from ragauge.gating.result import Gated

        paired, slices, base = self._paired_scores, self._build_slices(self._index.query_ids), self._base
        source = ScoreSource(
            self._get_columns,
            self._get_pairs,
            slices,
            None if paired is None else self._build_slices(paired.new.index.query_ids),
            None if self._is_paired else self._build_samples(slices),
            base is not None and base.run_id == self._run.run_id,
            find_judge_errors(self._judge_id, self._store, (self._run.run_id,)),
            {} if base is None else find_judge_errors(self._judge_id, self._store, (self._run.run_id, base.run_id)),
            find_failed_calls(self._store, self._run, self._base, self._judge_id, paired),
        )
        decided, families = check_conditions(self._rules.conditions, source)
        checks = sorted([*self._check_examples(), *decided], key=lambda check: check.rule)
        return Gated(
            self._run,
            self._base,
            self._judge_id or "",
            self._rules.source,
            decide_verdict(checks),
            tuple(checks),
            tuple(families),
            None if paired is None else paired.join.matched,
            self._sample_sizes,
            self._list_small_segments(slices),
            self._index.clusters() or (None if paired is None else paired.base.index.clusters()),
            tuple(self._list_warnings(source)),
            self._failure_note,
        )

    @cached_property
    def _paired_scores(self) -> PairedScores | None:
        from ragauge.comparison.comparability import is_paired
        from ragauge.comparison.score_pairs import PairedRuns, PairedScores

        drops = [condition.metric for condition in self._rules.conditions if condition.kind == "max_drop"]
        if self._base is None or not drops:
            return None
        metrics = list(dict.fromkeys(drops))
        runs = PairedRuns(self._store, self._run, self._base, self._judge_id)
        paired = PairedScores(runs, metrics, new_index=self._index, whole=True)
        absent = [str(metric) for metric in drops if metric not in paired.metrics]
        if absent:
            raise self._build_unmeasured_error(self._base, absent[0])
        if is_paired(self._run, self._base, paired.join) and not paired.join.matched:
            raise build_unpaired_error(
                self._run, self._base, paired.new.index.query_ids[0], paired.base.index.query_ids[0]
            )
        return paired

    @cached_property
    def _is_paired(self) -> bool:
        """Whether rules of max_drop look at pairs of answers to the same question; else at two samples."""
        from ragauge.comparison.comparability import is_paired

        both = self._paired_scores
        return both is None or self._base is None or is_paired(self._run, self._base, both.join)

    @property
    def _sample_sizes(self) -> tuple[int, int] | None:
        """Examples of both runs, where they are two samples."""
        both = None if self._is_paired else self._paired_scores
        return None if both is None else (len(both.new.index.query_ids), len(both.base.index.query_ids))

    def _list_small_segments(self, slices: Slices) -> tuple[tuple[str, str, int], ...]:
        """The segments that rules which name none leave out as too small."""
        if not any(condition.segments is None for condition in self._rules.conditions):
            return ()
        checked = {(column, value) for column, value, _ in slices.parts(None)}
        small = ((column, value, n) for column, values in slices.few.items() for value, n in values.items())
        return tuple(segment for segment in small if segment[:2] not in checked)

    def _build_samples(self, slices: Slices) -> UnpairedRuns | None:
        """The run and its baseline as two samples."""
        from ragauge.gating.rules import Slices, combine_slices
        from ragauge.gating.unpaired_samples import UnpairedRuns

        paired, base = self._paired_scores, self._base
        if paired is None or base is None:
            return None
        tags = {tag: self._find_tagged(base, tag) for tag in self._tagged}
        base_slices = Slices(paired.base.index.query_ids, self._store.runs.segments(base.run_id), tags)
        named_segments = {name for condition in self._rules.conditions for name in condition.segments or ()}
        joint_slices = combine_slices(slices, base_slices, named_segments)
        return UnpairedRuns(lambda metric: paired.load_both(metric, whole=True), joint_slices, len(slices.query_ids))

    def _find_tagged(self, run: Run, tag: str) -> frozenset[str]:
        """The examples of a run that have a tag; none where no example has it."""
        try:
            numbers = set(self._store.runs.load_order(run.run_id, {"tag": tag}).numbers)
        except UnknownName:
            return frozenset()
        index = self._store.runs.index(run.run_id, sorted(numbers))
        return frozenset(index.query_ids)

    def _get_pairs(self, metric: Metric) -> Pairs | None:
        return None if self._paired_scores is None else self._paired_scores.pairs(metric, whole=True)

    def _get_columns(self, metric: Metric) -> Columns | None:
        from ragauge.scores.arrays import merge_repeats

        columns = self._read_scores(metric)
        return None if columns is None else merge_repeats(columns)

    def _read_scores(self, metric: Metric) -> Columns | None:
        """A metric's scores, those that nobody ever made as failed ones."""
        from ragauge.scores.pass_status import add_unjudged

        columns = self._scores.column(str(metric))
        return None if columns is None else add_unjudged(columns, self._index, self._judge_id)

    def _build_slices(self, query_ids: Sequence[str]) -> Slices:
        from ragauge.gating.rules import Slices

        return Slices(query_ids, self._segments, {tag: frozenset(ids) for tag, ids in self._tagged.items()})

    @property
    def _evaluated_ids(self) -> frozenset[str]:
        """The examples that were evaluated; where a judge was asked, those that were drawn for it."""
        index = self._evaluated
        left_out = set() if self._judge_id is None else {index.query_ids[n] for n in index.query[index.left_out()]}
        return frozenset(index.query_ids) - left_out

    def _check_examples(self) -> list[Check]:
        """Rules on single examples."""
        from ragauge.gating.examples import check_scores, check_share, check_verdicts

        evaluated, rules = self._evaluated_ids, self._rules
        (failed_ids, verdicts), unanswered = self._compute_verdicts(), self._unanswered_ids & evaluated
        failed = failed_ids | unanswered
        checks = [check_share(len(failed), len(unanswered), len(evaluated), rules.max_failed, rules.max_failed_line)]
        for rule in self._rules.must_pass:
            ids = self._tagged[rule.tag]
            if rule.metric is not None:
                checks.append(check_scores(rule, ids, self._index.query_ids, self._read_scores(rule.metric)))
            else:
                checks.append(check_verdicts(rule, ids, self._causes_by_example, verdicts, frozenset(ids) - evaluated))
        return checks

    @cached_property
    def _causes_by_example(self) -> Mapping[str, str]:
        """Example that failed -> its cause and what decided it."""
        frame = self._store.causes.load_frame(self._run.run_id, self._judge_id)
        rows = frame.select("query_id", "cause", "decided_by").iter_rows()
        return {query_id: f"{cause}: {by}" if cause and by else cause or by for query_id, cause, by in rows}

    @cached_property
    def _failure_note(self) -> str:
        """That every call failed, with the error and where to look; "" where one was answered."""
        from ragauge.evaluation.runs.costs import describe_all_failed

        return (
            describe_all_failed(self._store, self._run)
            if self._unanswered_ids.issuperset(self._every.query_ids)
            else ""
        )

    @cached_property
    def _unanswered_ids(self) -> frozenset[str]:
        """Examples that the system gave no response to."""
        return find_unanswered(self._store, self._run, self._judge_id)

    def _compute_verdicts(self) -> tuple[frozenset[str], ResponseVerdicts]:
        """Examples of which a score failed, and the verdicts on all responses."""
        import numpy as np

        from ragauge.metrics.catalogue import parse_metric
        from ragauge.scores.arrays import FAILED
        from ragauge.scores.pass_status import JudgedCoverage
        from ragauge.verbs.columns import load_failures, load_verdicts

        failed = np.zeros(len(self._index.query_ids), dtype=bool)
        known_scores = JudgedCoverage(self._index)
        scores = StoredColumns(
            self._store, self._run.run_id, self._judge_id, self._index, ahead=self._measured, values_only=True
        )
        for name in self._measured:
            column = scores.column(name)
            known_scores.read(parse_metric(name), column)
            if column is not None:
                failed[column.query[column.status == FAILED]] = True
        ids = self._index.query_ids
        causes = load_failures(self._store, self._run.run_id, self._judge_id, self._index)
        stored = load_verdicts(self._store, self._run.run_id, self._judge_id, self._index)
        return frozenset(ids[index] for index in failed.nonzero()[0]), known_scores.verdicts(
            stored, causes, self._judge_id
        )

    def _find_tags(self) -> dict[str, tuple[str, ...]]:
        """Tag -> ids of its examples, evaluated or not."""
        import numpy as np

        from ragauge.gating.examples import can_wait_for_tag

        by_tag, problems = dict[str, tuple[str, ...]](), list[DataError]()
        for rule in self._rules.every:
            if not rule.tag or by_tag.get(rule.tag):
                continue
            try:
                numbers = self._store.runs.load_order(self._run.run_id, {"tag": rule.tag}).numbers
            except UnknownName as error:
                by_tag[rule.tag] = ()
                if not can_wait_for_tag(rule, error.known):
                    problems.append(
                        self._build_problem(rule.rule, "tag", f"no example of {self._run.name} has this tag: {error}")
                    )
                continue
            queries = np.unique(self._every.query[np.isin(self._every.number, np.array(numbers))])
            by_tag[rule.tag] = tuple(self._every.query_ids[query] for query in queries)
        if problems:
            raise ConfigError(problems)
        return by_tag

    def _refuse_unmeasured(self) -> None:
        absent = [metric for metric in self._rules.metrics if str(metric) not in self._measured]
        if not absent:
            return
        if broken := self._failure_note:
            raise UsageError(f"{self._run.name} cannot be checked against the rules: {broken}")
        problems = []
        for rule in self._rules.every:
            if rule.metric in absent:
                text = str(self._build_unmeasured_error(self._run, str(rule.metric)))
                problems.append(self._build_problem(rule.rule, "metric", text))
        raise ConfigError({str(problem): problem for problem in problems}.values())

    def _refuse_unknown_segments(self) -> None:
        from ragauge.gating.check_builder import list_unknown_segments

        declared = self._segments.columns[1:]
        unknown = list_unknown_segments(self._rules.conditions, declared)
        if unknown:
            raise ConfigError(
                self._build_problem(rule, "segments", str(UnknownName("segment column", name, declared)))
                for rule, names in unknown.items()
                for name in names
            )

    def _build_unmeasured_error(self, run: Run, metric: str) -> UsageError:
        from ragauge.evaluation.scorecard.cards import build_unmeasured_error

        return build_unmeasured_error(self._store, run, metric, self._judge_id)

    def _build_problem(self, rule: int, key: str, text: str) -> DataError:
        gate = self._file.config.gate
        section = next((section for section in gate.rules if section.place == rule), None) if gate is not None else None
        return self._file.build_problem(f"gate.rules[{rule}].{key}", text, section.line(key) if section else None)

    def _list_warnings(self, source: ScoreSource) -> list[str]:
        from ragauge.gating.check_builder import describe_unchecked_columns
        from ragauge.gating.examples import list_untagged_rules, list_unused_labels

        warnings, run, base = list[str](), self._run, self._base
        pending = len(self._every) - len(self._evaluated)
        if pending > 0:
            those = format_count(pending, "response is", "responses are")
            remainder = "the verdict covers the others, which are a random sample"
            if not self._sample:
                remainder = "the evaluated ones were chosen, not sampled at random, so the others count as not judged"
            warnings.append(f"{those} not evaluated yet: {remainder}.")
        if base is not None and base.run_id == run.run_id:
            warnings.append(f"The baseline {base.name} is this run itself: nothing is compared and no drop is decided.")
        elif base is not None and "traffic" not in (run.kind, base.kind) and base.set_version != run.set_version:
            warnings.append(f"The baseline {base.name} answered another version of the eval set: matched by query_id.")
        join = None if self._paired_scores is None else self._paired_scores.join
        if join is not None and self._is_paired and (join.only_here or join.only_there):
            counts = f"{join.only_here:,} are only in this run, {join.only_there:,} only in the baseline"
            warnings.append(f"Comparing the {join.matched:,} examples in both runs; {counts}.")
        tags = {tag for tag, ids in self._tagged.items() if ids}
        return [
            *warnings,
            *describe_unchecked_columns(self._rules.conditions, source),
            *list_untagged_rules(self._rules, tags),
            *list_unused_labels(self._rules, self._measured, self._get_columns),
        ]
