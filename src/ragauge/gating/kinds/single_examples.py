"""Rules on single examples: those that must pass, and the share with failed calls."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from ragauge.gating.compute.missing_scores import is_never_judged, is_system_failure
from ragauge.gating.kinds.rule import Rule, RuleEntry, format_level, rule_kind
from ragauge.gating.result import FAIL, PASS, UNKNOWN, Check, CheckExample, FailureCounts, Verdict
from ragauge.gating.tables.phrases import format_examples, format_lost
from ragauge.rendering.words import make_safe
from ragauge.scores.arrays import FAILED, SCORED

if TYPE_CHECKING:
    from ragauge.core.config.gate import GateSection
    from ragauge.gating.gated_run import GatedRun
    from ragauge.scores.arrays import Columns
    from ragauge.scores.verdicts import ResponseVerdicts

NOT_EVALUATED = "not evaluated"
JUDGE_CALL_FAILED = "a judge call failed"  # how `causes.verdicts` says it


@dataclass(frozen=True)
class ExampleRule(Rule):
    """A rule that gives a single check, without an interval."""

    def check(self, run: GatedRun) -> Check:
        """Whether the run meets it."""
        raise NotImplementedError


@rule_kind
@dataclass(frozen=True)
class MustPass(ExampleRule):
    """Every example with a tag must pass: it did not fail, or its score of a metric reaches a level."""

    key: ClassVar[str] = "must_pass"
    alone: ClassVar[bool] = True
    may_wait: ClassVar[bool] = True
    names_examples: ClassVar[bool] = True

    min: float | None = None  #: least score.
    max: float | None = None  #: greatest score.

    @classmethod
    def read(cls, entry: RuleEntry) -> Self:
        from ragauge.core.config.gate import RuleSection, list_mean_keys

        section, metric = entry.section, entry.metric
        if section.tag is None:
            entry.add_problem("must_pass", "needs a tag: {tag: regression, must_pass: true}.")
        for key in list_mean_keys(RuleSection):
            if section.has_key(key):
                entry.add_problem(key, "cannot be combined with must_pass, which checks each example on its own.")
        levels = {key: level for key in ("min", "max") if (level := getattr(section, key)) is not None}
        if section.metric is None and levels:
            entry.add_problem(next(iter(levels)), "needs a metric.")
        if metric is not None and not levels:
            entry.add_problem("metric", "needs min or max: the score at which an example passes.")
        for key, level in levels.items():
            entry.check_level(key, level, point=True)
        return cls(section.place, section.line(), section.tag or "", section.on_fail, metric, section.min, section.max)

    def describe(self) -> str:
        if self.metric is None:
            return f"every example tagged {self.tag} must pass"
        limits = [f"at least {format_level(self.metric, self.min)}"] if self.min is not None else []
        limits += [f"at most {format_level(self.metric, self.max)}"] if self.max is not None else []
        return f"{self.metric} of every example tagged {self.tag} must be {' and '.join(limits)}"

    def check(self, run: GatedRun) -> Check:
        ids = run.tagged[self.tag]
        if self.metric is not None:
            return check_scores(self, ids, run.index.query_ids, run.read_scores(self.metric))
        absent = frozenset(ids) - run.evaluated_ids
        return check_verdicts(self, ids, run.causes_by_example, run.verdicts[1], absent)

    @classmethod
    def explain(cls, check: Check) -> str:
        if check.examples:
            return f"{len(check.examples)} of {check.n} failed: {format_examples(check.examples)}."
        if check.unknown:
            return f"{len(check.unknown)} of {check.n} unclear or not judged: {format_examples(check.unknown)}."
        return f"all {check.n} passed." if check.n else f"{describe_untagged(make_safe(check.tag))}: nothing to check."

    @classmethod
    def format_limit(cls, check: Check) -> str:
        return "all"

    @classmethod
    def format_estimate(cls, check: Check) -> str:
        return f"{len(check.examples)} of {check.n} failed"

    @classmethod
    def name_subject(cls, check: Check) -> str:
        return check.metric or f"tag {check.tag}"

    @classmethod
    def advise(cls, check: Check) -> str:
        """What to do where an example is not known for another reason than failed calls."""
        lost = check.lost
        if lost is not None and len(check.unknown) <= lost.system + lost.judge + lost.unjudged:
            return ""
        return "An example without a value cannot pass: label it, evaluate it, or remove its tag."


@rule_kind
@dataclass(frozen=True)
class MaxFailed(ExampleRule):
    """At most a share of the examples may have failed calls, of the system or of a judge."""

    key: ClassVar[str] = "max_failed"

    max_share: float = 0.0  #: greatest share of the examples.

    @classmethod
    def read_gate(cls, gate: GateSection) -> Self:
        line = gate.line(cls.key) if gate.has_key(cls.key) else None
        return cls(0, line, "", "block", max_share=gate.max_failed)

    def describe(self) -> str:
        return f"at most {100 * self.max_share:g} % of the examples may have failed calls (system or judge)"

    def check(self, run: GatedRun) -> Check:
        unanswered = run.unanswered_ids & run.evaluated_ids
        failed = run.verdicts[0] | unanswered
        return self.check_share(len(failed), len(unanswered), len(run.evaluated_ids))

    def check_share(self, failed: int, unanswered: int, n: int) -> Check:
        """The check of a run.

        Args:
            failed: examples with a failed call.
            unanswered: of these, those that the system gave no response to.
            n: examples.
        """
        share = failed / n if n else 0.0
        verdict: Verdict = PASS if n and share <= self.max_share + 1e-12 else FAIL
        return self.build_check(
            verdict,
            "share",
            stops=verdict == FAIL,
            decide="point",
            higher=False,
            limit=self.max_share,
            amount=self.max_share,
            estimate=share,
            n=n,
            failed=failed,
            applies=n,
            lost=FailureCounts(unanswered, failed - unanswered) if failed else None,
        )

    @classmethod
    def explain(cls, check: Check) -> str:
        whose = "" if check.lost is None else f" ({format_lost(check.lost)})"
        share = f"{check.failed} of {check.n} examples have failed calls{whose}; {cls.format_limit(check)} are allowed."
        return share if check.n else "no example was evaluated."

    @classmethod
    def list_steps(cls, check: Check) -> Iterator[tuple[str, str]]:
        if check.n:  # with examples, nothing but the share decides
            share, answer = 100 * (check.estimate or 0.0), "yes" if check.verdict == "pass" else "no"
            yield "examples with failed calls", f"{check.failed} of {check.n} = {share:.1f} %"
            yield "passes when within the allowed share", f"{share:.1f} % ≤ {100 * check.amount:g} %? {answer}"

    @classmethod
    def format_limit(cls, check: Check) -> str:
        return f"at most {100 * check.amount:g} %"

    @classmethod
    def format_estimate(cls, check: Check) -> str:
        return f"{check.failed} of {check.n}"

    @classmethod
    def name_subject(cls, check: Check) -> str:
        return "failed calls"


def check_verdicts(
    rule: MustPass,
    tagged: Sequence[str],
    causes: Mapping[str, str],
    verdicts: ResponseVerdicts,
    absent: Collection[str] = (),
) -> Check:
    """Every tagged example must have passed.

    Args:
        rule: without a metric.
        tagged: ids of the examples with the tag.
        causes: id of an example that failed -> why, in words.
        verdicts: on the responses.
        absent: examples that were not evaluated.
    """
    failing = tuple(CheckExample(query_id, why=causes[query_id]) for query_id in tagged if query_id in causes)
    unclear, not_judged = (verdicts.list_reasons(verdict) for verdict in ("unclear", "not_judged"))
    reasons = (
        {query_id: f"unclear: {reason}" for query_id, reason in unclear.items()}
        | {
            query_id: reason if is_never_judged(reason) else f"not judged: {reason}"
            for query_id, reason in not_judged.items()
        }
        | dict.fromkeys(absent, NOT_EVALUATED)
    )
    unresolved = tuple(
        CheckExample(query_id, why=reasons[query_id])
        for query_id in tagged
        if query_id not in causes and query_id in reasons
    )
    n_judge_errors = sum(JUDGE_CALL_FAILED in example.why for example in unresolved)
    unjudged = sum(is_never_judged(example.why) for example in unresolved)
    return _build_check(rule, len(tagged), failing, unresolved, FailureCounts(judge=n_judge_errors, unjudged=unjudged))


def check_scores(rule: MustPass, tagged: Sequence[str], query_ids: Sequence[str], columns: Columns | None) -> Check:
    """Every tagged example must reach a score, every repeat of it.

    Args:
        rule: with a metric.
        tagged: ids of the examples with the tag.
        query_ids: of the run, by number.
        columns: the metric's scores, one entry a response; None where it has none.
    """
    tagged_ids = frozenset(tagged)
    failing: dict[str, CheckExample] = {}
    unknown: dict[str, CheckExample] = {}
    unseen, of_judge = dict.fromkeys(tagged), set[str]()
    for index, number in enumerate(() if columns is None else columns.query):
        name = query_ids[number]
        if columns is None or name not in tagged_ids:
            continue
        unseen.pop(name, None)
        verdict, example = _check_score(rule, name, columns, index)
        if verdict == FAIL:
            failing.setdefault(name, example)
        elif verdict == UNKNOWN:
            unknown.setdefault(name, example)
            of_judge |= {name} if columns.status[index] == FAILED else set()
    unknown |= {name: CheckExample(name, why=NOT_EVALUATED) for name in unseen}
    unresolved = tuple(example for name, example in unknown.items() if name not in failing)
    system, unjudged = (
        {e.query_id for e in unresolved if whose(e.why)} for whose in (is_system_failure, is_never_judged)
    )
    judge = {example.query_id for example in unresolved} & of_judge - system - unjudged
    lost = FailureCounts(len(system), len(judge), unjudged=len(unjudged))
    return _build_check(rule, len(tagged), tuple(failing.values()), unresolved, lost)


def _check_score(rule: MustPass, name: str, columns: Columns, index: int) -> tuple[Verdict, CheckExample]:
    """Whether one score reaches the level, wherever a failed one might lie."""
    assert rule.metric is not None  # noqa: S101 - the caller's rule has one
    status, reason = int(columns.status[index]), columns.reasons[int(columns.reason[index])]
    if status not in (SCORED, FAILED):
        return UNKNOWN, CheckExample(name, why=reason or "it has no score")
    value, ends = float(columns.value[index]), (float(columns.low[index]), float(columns.high[index]))
    bounds = (end if end == end else bound for end, bound in zip(ends, rule.metric.range, strict=True))
    low, high = (value, value) if status == SCORED else bounds
    min_allowed = float("-inf") if rule.min is None else rule.min
    max_allowed = float("inf") if rule.max is None else rule.max
    if high < min_allowed or low > max_allowed:
        return FAIL, CheckExample(name, new=low if status == SCORED else None)
    if min_allowed <= low and high <= max_allowed:
        return PASS, CheckExample(name)
    return UNKNOWN, CheckExample(name, why=reason or JUDGE_CALL_FAILED)


def _build_check(
    rule: MustPass,
    n: int,
    failing: tuple[CheckExample, ...],
    unknown: tuple[CheckExample, ...],
    lost_calls: FailureCounts,
) -> Check:
    verdict: Verdict = FAIL if failing else UNKNOWN if unknown else PASS
    return rule.build_check(
        verdict,
        "examples",
        stops=rule.on_fail == "block" and verdict != PASS,
        n=n,
        failed=len(unknown),
        lost=lost_calls,
        applies=n,
        estimate=float(len(failing)),
        examples=failing,
        unknown=unknown,
        decide="point",
        amount=rule.min if rule.min is not None else rule.max if rule.max is not None else 0.0,
        higher=rule.max is None,
    )


def describe_untagged(tag: str) -> str:
    """What to say where nothing has to pass yet."""
    return f"no example is tagged {tag} yet"
