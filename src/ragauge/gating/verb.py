"""Gate: does a run meet its rules? From what is stored to a verdict; nothing is judged."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from ragauge.comparison.baselines.baseline import build_unpaired_error, find_baseline_run
from ragauge.core.config.config_loader import ConfigFile, read_config
from ragauge.core.errors import ConfigError, UnknownName, UsageError
from ragauge.core.messages import format_count
from ragauge.core.response import Run
from ragauge.evaluation.scorecard.result import Scorecard
from ragauge.gating.gate_result import GateResult
from ragauge.gating.gated_run import GatedRun, find_tagged, find_unanswered
from ragauge.gating.result import Gated, SmallSegment
from ragauge.verbs.coroutines import make_async
from ragauge.verbs.option_specs import expand_options
from ragauge.verbs.options import GateOptions
from ragauge.verbs.sources import LATEST, HasRun, find_run, load_store_metrics

if TYPE_CHECKING:
    from ragauge.comparison.score_pairs import PairedScores
    from ragauge.gating.compute.slices import Slices
    from ragauge.gating.compute.unpaired_samples import UnpairedRuns
    from ragauge.gating.kinds.mean_rule import ScoreSource
    from ragauge.gating.rules import Rules
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
        if base is None and understood.differences:
            drop = understood.differences[0]
            raise UsageError(
                f"{understood.source}: {drop.key} of {drop.metric} needs a baseline, and none was given. Name the run "
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
        self._store, self._run, self._base, self._file, self._rules = store, run, base, file, rules
        self._gated = GatedRun(store, run, judge)
        self._judge_id = self._gated.judge_id
        self._refuse_unmeasured()
        self._find_tags()
        self._refuse_unknown_segments()

    def build_result(self) -> Gated:
        """Every check, and the verdict."""
        from ragauge.engine.judge_error import find_judge_errors
        from ragauge.gating.compute.missing_scores import FailedCalls
        from ragauge.gating.kinds.mean_rule import ScoreSource
        from ragauge.gating.rules import check_conditions, decide_verdict

        paired, gated, base, run = self._paired_scores, self._gated, self._base, self._run
        slices = gated.build_slices(gated.index.query_ids)
        failed_in_base = frozenset[str]() if base is None else find_unanswered(self._store, base, self._judge_id)
        renamed = {} if paired is None else paired.renamed  # where they are matched by question
        source = ScoreSource(
            gated.read_merged_scores,
            lambda metric: None if paired is None else paired.pairs(metric, whole=True),
            slices,
            None if paired is None else gated.build_slices(paired.new.index.query_ids),
            None if self._is_paired else self._build_samples(slices),
            base is not None and base.run_id == run.run_id,
            find_judge_errors(self._judge_id, self._store, (run.run_id,)),
            {} if base is None else find_judge_errors(self._judge_id, self._store, (run.run_id, base.run_id)),
            FailedCalls(gated.unanswered_ids, frozenset(renamed.get(name, name) for name in failed_in_base)),
        )
        sizes = None if paired is None else (len(paired.new.index.query_ids), len(paired.base.index.query_ids))
        decided, families = check_conditions(self._rules.conditions, source)
        on_examples = [rule.check(gated) for rule in self._rules.on_examples]
        checks = sorted([*on_examples, *decided], key=lambda check: check.rule)
        return Gated(
            run,
            base,
            self._judge_id or "",
            self._rules.source,
            decide_verdict(checks),
            tuple(checks),
            tuple(families),
            None if paired is None else paired.join.matched,
            None if self._is_paired else sizes,
            self._list_small_segments(slices),
            gated.index.clusters() or (None if paired is None else paired.base.index.clusters()),
            tuple(self._list_warnings(source)),
            gated.failure_note,
        )

    @cached_property
    def _paired_scores(self) -> PairedScores | None:
        from ragauge.comparison.comparability import is_paired
        from ragauge.comparison.score_pairs import PairedRuns, PairedScores

        metrics = list(dict.fromkeys(rule.metric for rule in self._rules.differences))
        if self._base is None or not metrics:
            return None
        runs = PairedRuns(self._store, self._run, self._base, self._judge_id)
        paired = PairedScores(runs, metrics, new_index=self._gated.index, whole=True)
        absent = [str(metric) for metric in metrics if metric not in paired.metrics]
        if absent:
            raise self._build_unmeasured_error(self._base, absent[0])
        if is_paired(self._run, self._base, paired.join) and not paired.join.matched:
            first, first_base = (side.index.query_ids[0] for side in (paired.new, paired.base))
            raise build_unpaired_error(self._run, self._base, first, first_base)
        return paired

    @cached_property
    def _is_paired(self) -> bool:
        """Whether rules of max_drop look at pairs of answers to the same question; else at two samples."""
        from ragauge.comparison.comparability import is_paired

        both = self._paired_scores
        return both is None or self._base is None or is_paired(self._run, self._base, both.join)

    def _list_small_segments(self, slices: Slices) -> tuple[SmallSegment, ...]:
        """The segments that rules which name none leave out as too small."""
        if not any(condition.segments is None for condition in self._rules.conditions):
            return ()
        checked = {(column, value) for column, value, _ in slices.parts(None)}
        small = (SmallSegment(column, value, n) for column, values in slices.few.items() for value, n in values.items())
        return tuple(segment for segment in small if segment[:2] not in checked)

    def _build_samples(self, slices: Slices) -> UnpairedRuns | None:
        """The run and its baseline as two samples."""
        from ragauge.gating.compute.slices import Slices, combine_slices
        from ragauge.gating.compute.unpaired_samples import UnpairedRuns

        paired, base = self._paired_scores, self._base
        if paired is None or base is None:
            return None
        tags = {tag: find_tagged(self._store, base, tag) for tag in self._gated.tagged}
        base_slices = Slices(paired.base.index.query_ids, self._store.runs.segments(base.run_id), tags)
        named_segments = {name for condition in self._rules.conditions for name in condition.segments or ()}
        joint_slices = combine_slices(slices, base_slices, named_segments)
        return UnpairedRuns(lambda metric: paired.load_both(metric, whole=True), joint_slices, len(slices.query_ids))

    def _find_tags(self) -> None:
        """Tells the run the tags of the rules; refuses those that no example has."""
        from ragauge.gating.rules import can_wait_for_tag

        mistakes = []
        for rule in self._rules.every:
            if not rule.tag or self._gated.tagged.get(rule.tag):
                continue
            try:
                self._gated.add_tag(rule.tag)
            except UnknownName as error:
                if not can_wait_for_tag(rule, error.known):
                    mistakes.append((rule.rule, "tag", f"no example of {self._run.name} has this tag: {error}"))
        self._refuse(mistakes)

    def _refuse_unmeasured(self) -> None:
        absent = [metric for metric in self._rules.metrics if str(metric) not in self._gated.measured]
        if not absent:
            return
        if broken := self._gated.failure_note:
            raise UsageError(f"{self._run.name} cannot be checked against the rules: {broken}")
        self._refuse(
            (rule.rule, "metric", str(self._build_unmeasured_error(self._run, str(rule.metric))))
            for rule in self._rules.every
            if rule.metric in absent
        )

    def _refuse_unknown_segments(self) -> None:
        declared = self._gated.segments.columns[1:]
        self._refuse(
            (rule.rule, "segments", str(UnknownName("segment column", name, declared)))
            for rule in self._rules.conditions
            for name in rule.segments or ()
            if name not in declared
        )

    def _refuse(self, mistakes: Iterable[tuple[int, str, str]]) -> None:
        """Raises what is wrong with rules, each mistake once: (place of the rule, key, text)."""
        from ragauge.gating.rules import build_rule_problem

        if problems := [build_rule_problem(self._file, *mistake) for mistake in dict.fromkeys(mistakes)]:
            raise ConfigError(problems)

    def _build_unmeasured_error(self, run: Run, metric: str) -> UsageError:
        from ragauge.evaluation.scorecard.cards import build_unmeasured_error

        return build_unmeasured_error(self._store, run, metric, self._judge_id)

    def _list_warnings(self, source: ScoreSource) -> list[str]:
        from ragauge.gating.rules import describe_unchecked_columns, list_untagged_rules, list_unused_labels

        warnings, run, base, gated = list[str](), self._run, self._base, self._gated
        pending = len(gated.every) - len(gated.evaluated)
        if pending > 0:
            those = format_count(pending, "response is", "responses are")
            remainder = "the verdict covers the others, which are a random sample"
            if not gated.is_sample:
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
        return [
            *warnings,
            *describe_unchecked_columns(self._rules.conditions, source),
            *list_untagged_rules(self._rules, [tag for tag, ids in gated.tagged.items() if ids]),
            *list_unused_labels(self._rules, gated.measured, gated.read_merged_scores),
        ]
