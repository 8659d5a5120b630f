"""Gate: does a run meet its rules? From what is stored to a verdict; nothing is judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from ragauge.comparison.baselines.baseline import baseline_run, nothing_in_common
from ragauge.core.config.config_loader import ConfigFile, read_config
from ragauge.core.errors import ConfigError, DataError, UnknownName, UsageError
from ragauge.core.messages import plural
from ragauge.core.response import Run
from ragauge.evaluation.scorecard.result import Scorecard
from ragauge.gating.failed_call_counts import find_failed_calls, find_unanswered
from ragauge.gating.gate_result import GateResult
from ragauge.verbs.columns import StoredColumns
from ragauge.verbs.coroutines import aside
from ragauge.verbs.option_specs import keywords
from ragauge.verbs.options import GateOptions
from ragauge.verbs.sources import LATEST, HasRun, know_own_metrics, run_of

if TYPE_CHECKING:
    from ragauge.comparison.pairs import Pairs
    from ragauge.comparison.score_pairs import Paired
    from ragauge.gating.check_builder import ScoreSource
    from ragauge.gating.result import Check, Gated
    from ragauge.gating.rules import Condition, Rules, Slices
    from ragauge.gating.unpaired_samples import Apart
    from ragauge.metrics.base import Metric
    from ragauge.scores.arrays import Columns
    from ragauge.scores.verdicts import ResponseVerdicts
    from ragauge.store.store_access import Store

__all__ = ["GateResult", "gate", "gate_async"]


@keywords(GateOptions)
def gate(wanted: GateOptions) -> GateResult:
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
    from ragauge.gating.rules import rules_of
    from ragauge.store.store_access import open_store

    run, file = wanted.run, read_config(wanted.rules)
    url = know_own_metrics(wanted.store or getattr(run, "url", None))
    understood = rules_of(file)
    judge = wanted.judge or (run.card.judge.judge_id if isinstance(run, Scorecard) else None) or None
    with open_store(url) as opened:
        chosen_run = run if isinstance(run, Run) else run.run if isinstance(run, HasRun) else _asked(run, opened)
        base = baseline_run(wanted.baseline, opened)
        if base is None and understood.need_baseline:
            drops = next(str(condition.metric) for condition in understood.conditions if condition.kind == "max_drop")
            raise UsageError(
                f"{understood.source}: max_drop of {drops} speaks of a baseline, and none is given. "
                "Name the run to hold this one against: --baseline RUN, in Python baseline=."
            )
        return GateResult(_Gate(opened, chosen_run, base, file, understood, judge).gated())


def _asked(which: str, store: Store) -> Run:
    """A stored run, called by the name that was asked for: the same answers may have several."""
    run = run_of(which, store)
    return run if which == LATEST or run.run_id.startswith(which) else replace(run, name=which)


gate_async = aside(gate)


class _Gate:
    """One run held to its rules while the store is open."""

    def __init__(
        self, store: Store, run: Run, base: Run | None, file: ConfigFile, rules: Rules, judge: str | None
    ) -> None:
        from ragauge.comparison.score_pairs import index_of
        from ragauge.engine.plan import is_sample
        from ragauge.evaluation.scorecard.cards import judged

        self._store, self._run, self._base, self._file, self._rules = store, run, base, file, rules
        self._judge_id = judged(store, run, judge)
        self._every = store.runs.index(run.run_id, sorted(store.runs.order(run.run_id).numbers))
        self._measured = store.scores.metrics(run.run_id, self._judge_id)
        self._refuse_unmeasured()
        self._tagged = self._tags()
        numbers = store.scores.evaluated(run.run_id, self._judge_id, self._measured)
        self._evaluated = index_of(store, run, numbers, self._every)
        # a part that is no sample says nothing of the rest, which then counts as not judged
        self._sample = is_sample(store, run.run_id, frozenset(numbers))
        self._index = self._evaluated if self._sample else self._every
        self._scores = StoredColumns(store, run.run_id, self._judge_id, self._index).labelled()
        self._segments = store.runs.segments(run.run_id)
        self._refuse_unknown_segments()

    def gated(self) -> Gated:
        """Every check, and the verdict."""
        from ragauge.engine.judge_error import judge_errors
        from ragauge.gating.check_builder import ScoreSource, check_conditions, verdict_of
        from ragauge.gating.result import Gated

        paired, slices = self._paired, self._slices(self._index.query_ids)
        source = ScoreSource(
            self._columns,
            self._pairs,
            slices,
            None if paired is None else self._slices(paired.new.index.query_ids),
            None if self._is_paired else self._apart(slices),
            self._base is not None and self._base.run_id == self._run.run_id,
            judge_errors(self._judge_id, self._store, (self._run.run_id,)),
            {}
            if self._base is None
            else judge_errors(self._judge_id, self._store, (self._run.run_id, self._base.run_id)),
            find_failed_calls(self._store, self._run, self._base, self._judge_id, paired),
        )
        decided, families = check_conditions(self._rules.conditions, source)
        checks = sorted([*self._examples(), *decided], key=lambda check: check.rule)
        return Gated(
            self._run,
            self._base,
            self._judge_id or "",
            self._rules.source,
            verdict_of(checks),
            tuple(checks),
            tuple(families),
            None if paired is None else paired.join.matched,
            self._sizes,
            self._few(slices),
            self._index.clusters() or (None if paired is None else paired.base.index.clusters()),
            tuple(self._warnings(source)),
            self._broken,
        )

    @cached_property
    def _paired(self) -> Paired | None:
        from ragauge.comparison.comparability import is_paired
        from ragauge.comparison.score_pairs import Paired, PairedRuns

        drops = [condition.metric for condition in self._rules.conditions if condition.kind == "max_drop"]
        if self._base is None or not drops:
            return None
        metrics = list(dict.fromkeys(drops))
        runs = PairedRuns(self._store, self._run, self._base, self._judge_id)
        paired = Paired(runs, metrics, known=self._index, whole=True)
        absent = [str(metric) for metric in drops if metric not in paired.metrics]
        if absent:
            raise self._unmeasured(self._base, absent[0])
        if is_paired(self._run, self._base, paired.join) and not paired.join.matched:
            raise nothing_in_common(
                self._run, self._base, paired.new.index.query_ids[0], paired.base.index.query_ids[0]
            )
        return paired

    @cached_property
    def _is_paired(self) -> bool:
        """Whether rules of max_drop look at pairs of answers to the same question; else at two samples."""
        from ragauge.comparison.comparability import is_paired

        both = self._paired
        return both is None or self._base is None or is_paired(self._run, self._base, both.join)

    @property
    def _sizes(self) -> tuple[int, int] | None:
        """Examples of both runs, where they are two samples."""
        both = None if self._is_paired else self._paired
        return None if both is None else (len(both.new.index.query_ids), len(both.base.index.query_ids))

    def _few(self, slices: Slices) -> tuple[tuple[str, str, int], ...]:
        """The segments that rules which name none leave out as too small."""
        if not any(_looks_everywhere(condition) for condition in self._rules.conditions):
            return ()
        checked = {(column, value) for column, value, _ in slices.parts(None)}
        small = ((column, value, n) for column, values in slices.few.items() for value, n in values.items())
        return tuple(segment for segment in small if segment[:2] not in checked)

    def _apart(self, slices: Slices) -> Apart | None:
        """The run and its baseline as two samples."""
        from ragauge.gating.rules import Slices, together
        from ragauge.gating.unpaired_samples import Apart

        both, base = self._paired, self._base
        if both is None or base is None:
            return None
        tags = {tag: self._with_tag(base, tag) for tag in self._tagged}
        theirs = Slices(both.base.index.query_ids, self._store.runs.segments(base.run_id), tags)
        named = {name for condition in self._rules.conditions for name in condition.segments or ()}
        every = together(slices, theirs, named)
        return Apart(lambda metric: both.sides(metric, whole=True), every, len(slices.query_ids))

    def _with_tag(self, run: Run, tag: str) -> frozenset[str]:
        """The examples of a run that have a tag; none where no example has it."""
        try:
            numbers = set(self._store.runs.order(run.run_id, {"tag": tag}).numbers)
        except UnknownName:
            return frozenset()
        index = self._store.runs.index(run.run_id, sorted(numbers))
        return frozenset(index.query_ids)

    def _pairs(self, metric: Metric) -> Pairs | None:
        return None if self._paired is None else self._paired.pairs(metric, whole=True)

    def _columns(self, metric: Metric) -> Columns | None:
        from ragauge.scores.arrays import by_example

        columns = self._scored(metric)
        return None if columns is None else by_example(columns)

    def _scored(self, metric: Metric) -> Columns | None:
        """A metric's scores, those that nobody ever made as failed ones."""
        from ragauge.scores.pass_status import with_unjudged

        columns = self._scores.column(str(metric))
        return None if columns is None else with_unjudged(columns, self._index, self._judge_id)

    def _slices(self, query_ids: Sequence[str]) -> Slices:
        from ragauge.gating.rules import Slices

        return Slices(query_ids, self._segments, {tag: frozenset(ids) for tag, ids in self._tagged.items()})

    @property
    def _looked_at(self) -> frozenset[str]:
        """The examples that were evaluated; where a judge was asked, those that were drawn for it."""
        index = self._evaluated
        left_out = set() if self._judge_id is None else {index.query_ids[n] for n in index.query[index.left_out()]}
        return frozenset(index.query_ids) - left_out

    def _examples(self) -> list[Check]:
        """Rules on single examples."""
        from ragauge.gating.examples import check_scores, check_share, check_verdicts

        evaluated, rules = self._looked_at, self._rules
        (lost, verdicts), unanswered = self._verdicts(), self._unanswered & evaluated
        failed = lost | unanswered
        checks = [check_share(len(failed), len(unanswered), len(evaluated), rules.max_failed, rules.max_failed_line)]
        for rule in self._rules.must_pass:
            ids = self._tagged[rule.tag]
            if rule.metric is not None:
                checks.append(check_scores(rule, ids, self._index.query_ids, self._scored(rule.metric)))
            else:
                checks.append(check_verdicts(rule, ids, self._causes, verdicts, frozenset(ids) - evaluated))
        return checks

    @cached_property
    def _causes(self) -> Mapping[str, str]:
        """Example that failed -> its cause and what decided it."""
        frame = self._store.causes.frame(self._run.run_id, self._judge_id)
        rows = frame.select("query_id", "cause", "decided_by").iter_rows()
        return {query_id: f"{cause}: {by}" if cause and by else cause or by for query_id, cause, by in rows}

    @cached_property
    def _broken(self) -> str:
        """That every call failed, with the error and where to look; "" where one was answered."""
        from ragauge.evaluation.runs.costs import broken

        return broken(self._store, self._run) if self._unanswered.issuperset(self._every.query_ids) else ""

    @cached_property
    def _unanswered(self) -> frozenset[str]:
        """Examples that the system gave no response to."""
        return find_unanswered(self._store, self._run, self._judge_id)

    def _verdicts(self) -> tuple[frozenset[str], ResponseVerdicts]:
        """Examples of which a score failed, and the verdicts on all responses."""
        import numpy as np

        from ragauge.metrics.catalogue import parse
        from ragauge.scores.arrays import FAILED
        from ragauge.scores.pass_status import KnownScores
        from ragauge.verbs.columns import failed_of, stored_verdicts

        failed = np.zeros(len(self._index.query_ids), dtype=bool)
        known = KnownScores(self._index)
        scores = StoredColumns(
            self._store, self._run.run_id, self._judge_id, self._index, ahead=self._measured, values_only=True
        )
        for name in self._measured:
            column = scores.column(name)
            known.read(parse(name), column)
            if column is not None:
                failed[column.query[column.status == FAILED]] = True
        ids = self._index.query_ids
        causes = failed_of(self._store, self._run.run_id, self._judge_id, self._index)
        stored = stored_verdicts(self._store, self._run.run_id, self._judge_id, self._index)
        return frozenset(ids[at] for at in failed.nonzero()[0]), known.verdicts(stored, causes, self._judge_id)

    def _tags(self) -> dict[str, tuple[str, ...]]:
        """Tag -> ids of its examples, evaluated or not."""
        import numpy as np

        from ragauge.gating.examples import yet_to_come

        by_tag, problems = dict[str, tuple[str, ...]](), list[DataError]()
        for rule in self._rules.every:
            if not rule.tag or by_tag.get(rule.tag):
                continue
            try:
                numbers = self._store.runs.order(self._run.run_id, {"tag": rule.tag}).numbers
            except UnknownName as error:
                by_tag[rule.tag] = ()
                if not yet_to_come(rule, error.known):
                    problems.append(self._problem(rule.rule, "tag", f"no example of {self._run.name} has it: {error}"))
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
        if broken := self._broken:
            raise UsageError(f"{self._run.name} cannot be held to rules: {broken}")
        problems = []
        for rule in self._rules.every:
            if rule.metric in absent:
                text = str(self._unmeasured(self._run, str(rule.metric)))
                problems.append(self._problem(rule.rule, "metric", text))
        raise ConfigError({str(problem): problem for problem in problems}.values())

    def _refuse_unknown_segments(self) -> None:
        from ragauge.gating.check_builder import segments_unknown

        declared = self._segments.columns[1:]
        unknown = segments_unknown(self._rules.conditions, declared)
        if unknown:
            raise ConfigError(
                self._problem(rule, "segments", str(UnknownName("segment column", name, declared)))
                for rule, names in unknown.items()
                for name in names
            )

    def _unmeasured(self, run: Run, metric: str) -> UsageError:
        from ragauge.evaluation.scorecard.cards import unmeasured

        return unmeasured(self._store, run, metric, self._judge_id)

    def _problem(self, rule: int, key: str, text: str) -> DataError:
        gate = self._file.config.gate
        section = next((section for section in gate.rules if section.place == rule), None) if gate is not None else None
        return self._file.problem(f"gate.rules[{rule}].{key}", text, section.line(key) if section else None)

    def _warnings(self, source: ScoreSource) -> list[str]:
        from ragauge.gating.examples import untagged

        warnings, run, base = list[str](), self._run, self._base
        pending = len(self._every) - len(self._evaluated)
        if pending > 0:
            those = plural(pending, "response is", "responses are")
            rest = (
                "the verdict is about the others, a random sample"
                if self._sample
                else ("what was evaluated was chosen, not drawn, so the others count as not judged")
            )
            warnings.append(f"{those} not evaluated yet: {rest}.")
        if base is not None and base.run_id == run.run_id:
            warnings.append(f"The baseline {base.name} is this run itself: nothing is compared, no drop is decided.")
        elif base is not None and "traffic" not in (run.kind, base.kind) and base.set_version != run.set_version:
            warnings.append(f"The baseline {base.name} answered another version of the eval set: matched by query_id.")
        paired = self._paired
        if paired is not None and self._is_paired and (paired.join.only_here or paired.join.only_there):
            here, there = paired.join.only_here, paired.join.only_there
            warnings.append(
                f"Compared are the {paired.join.matched:,} examples in both runs; only here {here:,}, "
                f"only in the baseline {there:,}."
            )
        seen = () if source.apart is None else source.apart.slices.columns
        few = source.slices.few
        left_out = [name for name in source.slices.left_out if name not in seen and len(few.get(name, ())) < 2]
        if left_out and any(_looks_everywhere(condition) for condition in self._rules.conditions):
            names = ", ".join(left_out)
            warnings.append(
                f"Not looked into, since they have one value or more than 50: {names}. Name one in segments."
            )
        tags = {tag for tag, ids in self._tagged.items() if ids}
        return [*warnings, *untagged(self._rules, tags), *self._unused()]

    def _unused(self) -> list[str]:
        """What to say of labels that no rule looks at, as far as a metric that was measured shows them."""
        from ragauge.gating.examples import USUAL_METRIC, of_labels, unused
        from ragauge.metrics.catalogue import parse
        from ragauge.scores.arrays import NOT_APPLICABLE

        found = [metric for name in self._measured if of_labels(metric := parse(name))]
        metrics = sorted(found, key=lambda metric: str(metric) != USUAL_METRIC)
        column = self._columns(metrics[0]) if metrics else None
        if column is None:
            return []
        said = unused(self._rules, int((column.status != NOT_APPLICABLE).sum()), str(metrics[0]))
        return [said] if said else []


def _looks_everywhere(condition: Condition) -> bool:
    return condition.segments is None
