"""Rules on single examples: those that must pass, and the share with failed calls.

Whether a gate looks at retrieval where examples have labels for it: rules are often written before labels come.

Why examples have no score: the system gave no response, a judge call failed, or the metric does not apply.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from ragauge.core.errors import find_nearest
from ragauge.gating.decide import MIN_EXAMPLES, suggest_max_drop
from ragauge.gating.result import FAIL, PASS, UNKNOWN, Check, CheckExample, FailureCounts, Verdict
from ragauge.gating.rules import MustPass, Rules, format_limit
from ragauge.gating.sample import MeanDifference, MetricLevel
from ragauge.gating.unpaired_samples import UnpairedDifference
from ragauge.metrics.base import Metric
from ragauge.metrics.catalogue import parse_metric
from ragauge.scores.arrays import FAILED, NOT_APPLICABLE, NOT_READ, SCORED
from ragauge.scores.pass_status import NOT_JUDGED

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ragauge.gating.rules import Condition, Slices
    from ragauge.scores.arrays import Columns
    from ragauge.scores.verdicts import ResponseVerdicts

    Mask = npt.NDArray[np.bool_]


USUAL_METRIC = "recall@5"
NOT_EVALUATED = "not evaluated"
JUDGE_CALL_FAILED = "a judge call failed"  # how `causes.verdicts` says it


def uses_relevance_labels(metric: Metric) -> bool:
    """Whether a metric measures retrieval by relevance labels.

    >>> from ragauge.metrics.catalogue import parse_metric
    >>> (uses_relevance_labels(parse_metric("recall@5")), uses_relevance_labels(parse_metric("context_recall")),
    ...     uses_relevance_labels(parse_metric("empty_result_rate")))
    (True, False, False)
    """
    return metric.measures == "retrieval" and any(fact.startswith("labels.") for fact in metric.needs.values())


def describe_unused_labels(rules: Rules, labelled: int, metric: str = USUAL_METRIC) -> str:
    """What to say where examples are labelled and no rule looks at it, with the line to add; "" where one does.

    Args:
        rules: of the gate.
        labelled: examples with relevance labels; fewer than a rule can decide on are no reason to write one.
        metric: the one to look at.
    """
    if labelled < MIN_EXAMPLES or any(map(uses_relevance_labels, rules.metrics)):
        return ""
    return (
        f"{labelled:,} examples have relevance labels, but no rule uses them to check retrieval: a system "
        f"that retrieves less still passes. Add this line to gate.rules: - {{metric: {metric}, max_drop: "
        f"{suggest_max_drop(labelled)} points}}"
    )


def list_unused_labels(
    rules: Rules, measured: Iterable[str], get_columns: Callable[[Metric], Columns | None]
) -> list[str]:
    """What to say of relevance labels that no rule uses, as far as a metric that was measured shows them."""
    label_metrics = [metric for name in measured if uses_relevance_labels(metric := parse_metric(name))]
    metrics = sorted(label_metrics, key=lambda metric: str(metric) != USUAL_METRIC)
    column = get_columns(metrics[0]) if metrics else None
    if column is None:
        return []
    sentence = describe_unused_labels(rules, int((column.status != NOT_APPLICABLE).sum()), str(metrics[0]))
    return [sentence] if sentence else []


SYSTEM_FAILED_PREFIX = (
    "the system failed: "  # how `metrics.facts` begins the reason of a score that failed with its response
)


def is_system_failure(reason: str) -> bool:
    """Whether a score failed since the system gave no response.

    >>> is_system_failure("the system failed: time-out"), is_system_failure("no verdict on verify_answer.claims")
    (True, False)
    """
    return reason.startswith(SYSTEM_FAILED_PREFIX)


def is_never_judged(reason: str) -> bool:
    """Whether a score is missing since the judge never judged the example.

    >>> is_never_judged("not judged by local-1"), is_never_judged("no verdict on verify_answer.claims")
    (True, False)
    """
    return reason.startswith(NOT_JUDGED)


MIN_TAG_LIKENESS = 0.75  # how alike two tags are, for the one to be the other misspelt


def can_wait_for_tag(rule: Condition | MustPass, tags: Iterable[str]) -> bool:
    """Whether a rule may ask about a tag that no example has: nothing has to pass yet, and no tag is near to it.

    Of a rule on a mean it may not: that would have no value.

    Args:
        rule: with a tag.
        tags: that examples have.

    >>> from ragauge.gating.rules import MustPass
    >>> rule = MustPass(1, None, "regression", "block")
    >>> can_wait_for_tag(rule, []), can_wait_for_tag(rule, ["reported"]), can_wait_for_tag(rule, ["regresion"])
    (True, True, False)
    """
    return isinstance(rule, MustPass) and not find_nearest(rule.tag, tags, min_similarity=MIN_TAG_LIKENESS)


def describe_untagged(tag: str) -> str:
    """What to say where nothing has to pass yet."""
    return f"no example is tagged {tag} yet"


def list_untagged_rules(rules: Rules, tags: Collection[str]) -> Iterator[str]:
    """What to say of rules whose examples are yet to come; `tags` are those that examples have."""
    for rule in rules.must_pass:
        if rule.tag not in tags:
            yield f"rule {rule.rule}: {describe_untagged(rule.tag)}: nothing to check."


class MissingScores:
    """One metric's scores of the run that are missing. They are read when they are first asked for.

    Args:
        columns: the metric's scores, one entry an example; None where it has none.
        own: slices in the numbering of `columns`.
        asked: slices in the numbering that is asked by.
    """

    def __init__(self, columns: Callable[[], Columns | None], own_slices: Slices, asked_slices: Slices) -> None:
        self._columns, self._own, self._asked = columns, own_slices, asked_slices

    def lost(self, sample: MeanDifference | UnpairedDifference | MetricLevel, mask: Mask) -> FailureCounts | None:
        """Whose failures the failed scores of a sample are; None where none failed."""
        import numpy as np

        if not sample.failed:
            return None
        own_mask = mask
        if isinstance(sample, MeanDifference):
            own_mask = np.zeros_like(mask)
            own_mask[sample.pairs.failed.query] = True
        reasons = self._count_reasons(FAILED, own_mask)
        system = sum(count for reason, count in reasons.items() if is_system_failure(reason))
        unjudged = sum(count for reason, count in reasons.items() if is_never_judged(reason))
        judge = sum(reasons.values()) - system - unjudged
        return FailureCounts(system, judge, sample.failed - system - judge - unjudged, unjudged)

    def not_read(self, mask: Mask) -> tuple[int, str]:
        """How many examples' texts the judge cannot read, and why."""
        reasons = self._count_reasons(NOT_READ, mask)
        return sum(reasons.values()), max(reasons, key=lambda reason: reasons[reason], default="")

    def count_inapplicable(self, mask: Mask) -> tuple[int, str]:
        """How many examples the metric does not apply to, and why."""
        reasons = self._count_reasons(NOT_APPLICABLE, mask)
        commonest = max(reasons, key=lambda reason: reasons[reason], default="")
        return sum(reasons.values()), commonest if len(reasons) < 2 else f"mostly: {commonest}"

    def _count_reasons(self, status: int, mask: Mask) -> dict[str, int]:
        """Reason -> of how many examples with this status."""
        import numpy as np

        read = self._loaded_columns
        if read is None:
            return {}
        columns, query = read
        numbers = columns.reason[(columns.status == status) & (query >= 0) & mask[query]]
        counted: dict[str, int] = {}
        for number, count in zip(*np.unique(numbers, return_counts=True), strict=True):
            reason = columns.reasons[int(number)]
            counted[reason] = counted.get(reason, 0) + int(count)
        return counted

    @cached_property
    def _loaded_columns(self) -> tuple[Columns, npt.NDArray[np.int64]] | None:
        """The scores, and the number of each one's example as it is asked by; -1 = it has none."""
        import numpy as np

        rows = self._columns()
        if rows is None:
            return None
        if self._own.query_ids == self._asked.query_ids:
            return rows, rows.query
        number_of = {query_id: number for number, query_id in enumerate(self._asked.query_ids)}
        numbers = np.array([number_of.get(query_id, -1) for query_id in self._own.query_ids], dtype=np.int64)
        return rows, numbers[rows.query]


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
    seen_ids: set[str] = set()
    judge_error_ids: set[str] = set()
    if columns is not None:
        for index, number in enumerate(columns.query):
            name = query_ids[number]
            if name not in tagged_ids:
                continue
            seen_ids.add(name)
            verdict, example = _check_score(rule, name, columns, index)
            if verdict == FAIL:
                failing.setdefault(name, example)
            elif verdict == UNKNOWN:
                unknown.setdefault(name, example)
                judge_error_ids |= {name} if columns.status[index] == FAILED else set()
    for name in tagged:
        if name not in seen_ids:
            unknown[name] = CheckExample(name, why=NOT_EVALUATED)
    unresolved = tuple(example for name, example in unknown.items() if name not in failing)
    system, unjudged = (
        sum(whose(example.why) for example in unresolved) for whose in (is_system_failure, is_never_judged)
    )
    judge = sum(
        example.query_id in judge_error_ids and not is_system_failure(example.why) and not is_never_judged(example.why)
        for example in unresolved
    )
    return _build_check(
        rule, len(tagged), tuple(failing.values()), unresolved, FailureCounts(system, judge, unjudged=unjudged)
    )


def describe_rule(rule: MustPass) -> str:
    """What a rule asks of its examples, in words."""
    if rule.metric is None:
        return f"every example tagged {rule.tag} must pass"
    limits = [f"at least {format_limit(rule.metric, rule.min)}"] if rule.min is not None else []
    limits += [f"at most {format_limit(rule.metric, rule.max)}"] if rule.max is not None else []
    return f"{rule.metric} of every example tagged {rule.tag} must be {' and '.join(limits)}"


def _check_score(rule: MustPass, name: str, columns: Columns, index: int) -> tuple[Verdict, CheckExample]:
    """Whether one score reaches the level, wherever a failed one might lie."""
    assert rule.metric is not None  # noqa: S101 - the caller's rule has one
    status = int(columns.status[index])
    if status == SCORED:
        low = high = float(columns.value[index])
    elif status == FAILED:
        bounds = (float(columns.low[index]), float(columns.high[index]))
        low, high = (end if end == end else bound for end, bound in zip(bounds, rule.metric.range, strict=True))
    else:
        return UNKNOWN, CheckExample(name, why=columns.reasons[int(columns.reason[index])] or "it has no score")
    min_allowed = float("-inf") if rule.min is None else rule.min
    max_allowed = float("inf") if rule.max is None else rule.max
    if high < min_allowed or low > max_allowed:
        return FAIL, CheckExample(name, new=low if status == SCORED else None)
    if min_allowed <= low and high <= max_allowed:
        return PASS, CheckExample(name)
    return UNKNOWN, CheckExample(name, why=columns.reasons[int(columns.reason[index])] or "a judge call failed")


def _build_check(
    rule: MustPass,
    n: int,
    failing: tuple[CheckExample, ...],
    unknown: tuple[CheckExample, ...],
    lost_calls: FailureCounts,
) -> Check:
    verdict: Verdict = FAIL if failing else UNKNOWN if unknown else PASS
    return Check(
        rule=rule.rule,
        line=rule.line,
        kind="must_pass",
        metric="" if rule.metric is None else str(rule.metric),
        asks=describe_rule(rule),
        verdict=verdict,
        because="examples",
        on_fail=rule.on_fail,
        stops=rule.on_fail == "block" and verdict != PASS,
        tag=rule.tag,
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


def check_share(failed: int, unanswered: int, n: int, max_share: float, line: int | None) -> Check:
    """At most a share of the examples may have failed calls, of the system or of a judge.

    Args:
        failed: examples with a failed call.
        unanswered: of these, those that the system gave no response to.
        n: examples.
        max_share: the greatest share.
        line: of max_failed in the file; None where it is the default.
    """
    share = failed / n if n else 0.0
    verdict: Verdict = PASS if n and share <= max_share + 1e-12 else FAIL
    return Check(
        rule=0,
        line=line,
        kind="max_failed",
        metric="",
        verdict=verdict,
        because="share",
        on_fail="block",
        asks=describe_max_failed(max_share),
        stops=verdict == FAIL,
        decide="point",
        higher=False,
        limit=max_share,
        amount=max_share,
        estimate=share,
        n=n,
        failed=failed,
        applies=n,
        lost=FailureCounts(unanswered, failed - unanswered) if failed else None,
    )


def describe_max_failed(max_share: float) -> str:
    """What max_failed asks for, in words."""
    return f"at most {100 * max_share:g} % of the examples may have failed calls (system or judge)"
