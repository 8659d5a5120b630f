"""How a gate's checks are said, the same in every report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from ragauge.core.messages import format_command, format_count
from ragauge.diagnosis.findings.cause_texts import advise_label_draw
from ragauge.gating.examples import describe_untagged
from ragauge.gating.result import Check, CheckExample, Gated, Verdict
from ragauge.gating.tables import gate_failures as failures
from ragauge.gating.tables import gate_failures as unpaired
from ragauge.gating.tables.gate_figures import (
    SETTLED_ELSEWHERE,
    format_change,
    format_estimate,
    format_example_count,
    format_figure,
    format_interval,
    format_level,
    format_limit,
    format_with_unit,
)
from ragauge.rendering.words import make_safe

TITLES: Mapping[Verdict, str] = {
    "pass": "Gate passed",
    "fail": "Gate failed",
    "not_enough_data": "Gate: not enough data",
}
VERDICTS: Mapping[Verdict, str] = {"pass": "pass", "fail": "FAIL", "not_enough_data": "not enough data"}
MARKS: Mapping[Verdict, str] = {"pass": "✓", "fail": "✗", "not_enough_data": "?"}
WHOLE_RUN = "whole run"
MAX_NAMED = 50  # segments that are too small for a check


def format_scope(check: Check) -> str:
    """The whole run, or the segment."""
    return WHOLE_RUN if check.segment is None else f"{make_safe(check.segment[0])}={make_safe(check.segment[1])}"


# what settles a check that the judge's error leaves open: more examples do not
SETTLE_ADVICE = {
    "level": "More examples will not settle this. A max_drop rule needs far fewer, because the judge errs equally on "
    "both runs. Otherwise, add labels of your own, which narrow this interval (ragauge judge check FILE), use another "
    "judge or a rule on labels such as recall, or set decide: point, which takes the judge's mean as it is.",
    "max_drop": "More examples will not settle this. What helps is a larger change, another judge that you have "
    "checked on your own labels (ragauge judge check FILE), or a rule on labels.",
}


def explain_verdict(check: Check) -> str:
    """Why the verdict is what it is, in a sentence."""
    if check.kind == "must_pass":
        return _describe_examples(check)
    if check.kind == "max_failed":
        share = f"{failures.describe_failed_share(check)}; {format_limit(check)} are allowed."
        return share if check.n else "no example was evaluated."
    drop = "unpaired difference" if check.unpaired else "difference"
    what = drop if check.kind == "max_drop" else "mean" if check.statistic == "mean" else check.statistic
    limit_text = f"the limit ({format_limit(check)})"
    match check.because:
        case "not_read":
            return failures.describe_unreadable(check)
        case "unanswered":
            return failures.describe_unanswered(check)
        case "few":
            return unpaired.describe_too_few(check) if check.unpaired else _explain_too_few(check)
        case "nothing":
            return _explain_no_interval(check, what)
        case "failed":
            return f"{failures.describe_failed_scores(check)}, and their values would decide the verdict."
        case "itself":
            return "the baseline is this run itself, so there is nothing to compare."
        case "unchanged":
            return f"all {check.n} examples have the same score in both runs."
        case "corrected":
            return (
                f"worse by the 90 % interval {format_interval(check.interval, check)}, but not by "
                f"{format_interval(check.fail_interval, check)}, the interval corrected for the number of checks."
            )
        case "unsupported":
            few = "too few examples or clusters differ"
            return f"the interval says worse, but {few} for a test with fewer assumptions to confirm it."
        case "judge":
            return (
                f"sampling error alone, {format_interval(check.sampled, check)}, would decide this, but "
                f"including judge error the interval of the {what} is {format_interval(check.interval, check)} "
                f"and includes {limit_text}: this judge cannot tell. "
                f"{SETTLE_ADVICE['max_drop' if check.kind == 'max_drop' else 'level']}"
            )
        case "point":
            point_relation = "meets" if check.verdict == "pass" else "is beyond"
            return f"the {what} {format_with_unit(check.estimate, check)} {point_relation} {limit_text}."
    found_at = check.fail_interval if check.verdict == "fail" else check.interval
    relation = {"pass": "meets", "fail": "lies beyond", "not_enough_data": "includes"}[check.verdict]
    article = "the whole " if check.verdict != "not_enough_data" else "the "
    level_text = "" if found_at is None else f"{format_level(found_at)} "
    return f"{article}{level_text}interval of the {what}, {format_interval(found_at, check)}, {relation} {limit_text}."


def _explain_no_interval(check: Check, what: str) -> str:
    if check.n > 1 and check.statistic == "mean":
        if check.scale == "amount" and not check.estimate:
            return f"all {check.n} values are 0: the spread of others is unknown. decide: point needs no interval."
        return f"{check.n} examples of one cluster count as one observation, so this {what} has no interval."
    if check.n:
        return f"{format_count(check.n, 'example is', 'examples are')} too few for an interval of this {what}."
    return "no example has a value."


def _explain_too_few(check: Check) -> str:
    """That there are too few examples, and where the metric does not apply to the others, why."""
    if check.rectified:
        both = " in both runs" if check.kind == "max_drop" else ""
        return (
            f"{format_count(check.n, 'example is', 'examples are')} labeled by people{both}; {check.min_n} are needed."
        )
    short = f"fewer than min_n ({check.min_n})"
    if not check.inapplicable:
        return f"{format_count(check.n + check.failed, 'example is', 'examples are')} {short}."
    every = check.applies + check.inapplicable
    if not check.applies:
        return f"{check.metric} applies to none of {format_count(every, 'example')}: {make_safe(check.why)}."
    those = f"{check.applies} of {format_count(every, 'example')}"
    return f"{check.metric} applies to {those}, {short}. It does not apply to the others: {make_safe(check.why)}."


def _describe_examples(check: Check) -> str:
    if check.examples:
        return f"{len(check.examples)} of {check.n} failed: {format_examples(check.examples)}."
    if check.unknown:
        return f"{len(check.unknown)} of {check.n} unclear or not judged: {format_examples(check.unknown)}."
    return f"all {check.n} passed." if check.n else f"{describe_untagged(make_safe(check.tag))}: nothing to check."


def format_examples(examples: Sequence[CheckExample], max_n: int = 5) -> str:
    """Examples by id with what is known about them."""
    texts = [f"{make_safe(example.query_id)}{_format_scores(example)}" for example in examples[:max_n]]
    more = len(examples) - max_n
    return ", ".join([*texts, *([f"and {more} more"] if more > 0 else [])])


def _format_scores(example: CheckExample) -> str:
    if example.new is not None and example.base is not None:
        return f" ({format_figure(example.base)} → {format_figure(example.new)})"
    if example.new is not None:
        return f" ({format_figure(example.new)})"
    return f" ({make_safe(example.why)})" if example.why else ""


def describe_check(check: Check) -> str:
    """A check in one line: what is asked, where, and why the verdict."""
    place_words = "" if check.segment is None else f" in {format_scope(check)}"
    numbers = f" {format_change(check)}, {format_estimate(check)}:" if format_change(check) else ""
    return f"{check.asks}{place_words}:{numbers} {explain_verdict(check)}"


def format_title(outcome: Gated) -> str:
    """The verdict as a heading, with the warnings that a pass has."""
    warnings = len(list_warnings(outcome)) if outcome.verdict == "pass" else 0
    return TITLES[outcome.verdict] + (f" with {format_count(warnings, 'warning')}" if warnings else "")


def describe_runs(outcome: Gated) -> str:
    """Which runs were held against each other."""
    against = f" against {make_safe(outcome.base.name)}" if outcome.base is not None else ""
    return f"{make_safe(outcome.run.name)}{against}"


def list_facts(outcome: Gated) -> list[str]:
    """What the verdict rests on: checks, rules, examples, clusters, judge."""
    words = [format_tally(outcome), f"rules in {make_safe(outcome.source)}"]
    words += [unpaired.describe_compared(outcome)] if outcome.matched is not None else []
    words += [f"{format_count(outcome.clusters, 'cluster')} of examples"] if outcome.clusters else []
    return words + ([f"judged by {make_safe(outcome.judge_id)}"] if outcome.judge_id else [])


def list_caveats(outcome: Gated) -> list[str]:
    """What the reader must know: that differences are unpaired, and the gate's warnings."""
    note = unpaired.describe_unpaired(outcome)
    return [*([note] if note else []), *(make_safe(warning) for warning in outcome.warnings)]


def format_tally(outcome: Gated) -> str:
    """How many checks came out how."""
    counts = Counter(check.verdict for check in outcome.checks)
    verdict_words: dict[Verdict, str] = {"fail": "failed", "not_enough_data": "not enough data", "pass": "passed"}
    phrases = [f"{counts[verdict]} {name}" for verdict, name in verdict_words.items() if counts[verdict]]
    return f"{len(outcome.checks)} checks: {', '.join(phrases)}"


def list_stopping(outcome: Gated) -> list[Check]:
    """The checks that decided the verdict: those that fail, or those without enough data."""
    if outcome.verdict == "pass":
        return []
    return [check for check in outcome.checks if check.stops and check.verdict == outcome.verdict]


def list_warnings(outcome: Gated) -> list[Check]:
    """Failed checks that do not stop the gate."""
    return [check for check in outcome.checks if check.verdict == "fail" and not check.stops]


def format_summary(outcome: Gated) -> str:
    """The verdict with what decided it, one line a check."""
    lines = [f"{format_title(outcome)}: {describe_runs(outcome)}.", *failures.build_lead(outcome)]
    lines += [note] if (note := unpaired.describe_unpaired(outcome)) else []
    lines += [describe_check(check) for check in outcome.checks if check.kind == "must_pass" and not check.n]
    for check in list_stopping(outcome):
        lost_text = (
            f" Worst: {format_examples(check.examples)}." if check.examples and check.kind != "must_pass" else ""
        )
        lines.append(f"- {describe_check(check)}{lost_text}")
    if advice := advise_next(outcome):
        lines.append(advice)
    return "\n".join(lines)


def advise_next(outcome: Gated) -> str:
    """What to do about the verdict; "" where nothing is to be done."""
    stopped = list_stopping(outcome)
    again = list(failures.list_remedies(outcome, stopped))
    if outcome.verdict == "fail" and not outcome.broken:
        run, base = outcome.run, outcome.base
        name, other = make_safe(run.name), "" if base is None else make_safe(base.name)
        if name == other and base is not None:  # by their names they could not be told apart
            name, other = run.run_id, base.run_id
        arguments = ("compare", other, name) if other else ("show", name)
        return " ".join([f"Examples and causes: {format_command(*arguments)}; calculation: --explain.", *again])
    return " ".join(
        [*again, *([] if outcome.broken else _advise_more_data(stopped, make_safe(outcome.run.name), outcome.run.done))]
    )


def _advise_more_data(stopped: Sequence[Check], run_name: str, n: int) -> Iterator[str]:
    """What helps checks that have not enough data for another reason than failed calls."""
    unlabelled = {check.metric: check for check in stopped if check.because == "few" and check.inapplicable}
    for name, check in unlabelled.items():
        needs = format_command("metrics", make_safe(name))
        yield (
            f"Label or record what {make_safe(name)} needs (see {needs}, ragauge docs data), or drop rule {check.rule}."
        )
    if any(check.kind == "must_pass" and _is_unexplained(check) for check in stopped):
        yield "An example without a value cannot pass: label it, evaluate it, or remove its tag."
    if any(check.because == "itself" for check in stopped):
        yield "A run cannot be its own baseline: change something, run and evaluate again, and gate that run."
    remaining = [check for check in stopped if check.because not in SETTLED_ELSEWHERE and not check.inapplicable]
    if not remaining:
        return
    if any(check.because == "few" and check.rectified for check in remaining):
        yield advise_label_draw(run_name, n)
    elif {check.because for check in remaining} == {"few"}:
        yield "Add examples, or lower min_n if so few should decide. See ragauge docs gates."
    elif any(check.kind == "max_drop" and check.amount == 0 for check in remaining):
        yield (
            "max_drop: 0 passes only a proven improvement. Allow a small drop (max_drop: 2 points), or "
            "decide on the estimate alone (decide: point)."
        )
    else:
        yield "More examples narrow the interval; a larger limit or decide: point needs less: ragauge docs gates."


def _is_unexplained(check: Check) -> bool:
    """Whether an example is not known for another reason than failed calls."""
    lost_calls = check.lost
    return lost_calls is None or len(check.unknown) > lost_calls.system + lost_calls.judge + lost_calls.unjudged


def select_visible(outcome: Gated) -> list[Check]:
    """The checks worth a line: the whole run, and segments that fail or might be worse."""
    alarming = ("corrected", "unsupported")
    return [
        check
        for check in outcome.checks
        if check.segment is None or check.stops or check.verdict == "fail" or check.because in alarming
    ]


def describe_left_out(outcome: Gated) -> str:
    """What is said of the segments that have no line of their own; "" where every check has one."""
    visible_ids = {id(check) for check in select_visible(outcome)}
    remaining = [check for check in outcome.checks if id(check) not in visible_ids]
    passed = sum(check.verdict == "pass" for check in remaining)
    unknown = [check for check in remaining if check.verdict != "pass"]
    counts = [f"{passed} pass"] if passed else []
    counts += [f"{len(unknown)} without enough data, which does not fail the gate"] if unknown else []
    others = f"Other segments: {', '.join(counts)}." if counts else ""
    return " ".join(sentence for sentence in (others, _describe_too_few(outcome, unknown)) if sentence)


def _describe_too_few(outcome: Gated, checks: Sequence[Check]) -> str:
    """The segments that are too small for a check, each with its examples."""
    few = [check for check in checks if check.because == "few"]
    counts = dict.fromkeys((format_scope(check), format_example_count(check)) for check in few)
    twice = {scope for scope, n in Counter(scope for scope, _ in counts).items() if n > 1}  # by metric another count
    phrases = list(
        dict.fromkeys(
            f"{format_scope(check)} "
            f"{format_example_count(check)}{f' of {check.metric}' if format_scope(check) in twice else ''} "
            f"(min_n {check.min_n})"
            for check in few
        )
    )
    phrases += [f"{make_safe(column)}={make_safe(value)} {n}" for column, value, n in outcome.few]
    more = f" and {len(phrases) - MAX_NAMED} more (see the JSON for all)" if len(phrases) > MAX_NAMED else ""
    return f"Too few examples for a separate check: {', '.join(phrases[:MAX_NAMED])}{more}." if phrases else ""


def describe_alpha_bounds(outcome: Gated) -> list[str]:
    """How false alarms are bounded, a sentence a family."""
    words = []
    for family in outcome.families:
        n = family.whole + family.segments
        if n == 1:
            words.append(
                "The blocking check fails at one-sided alpha = 0.05."
                if family.on_fail == "block"
                else "The warning check fails at one-sided alpha = 0.05."
            )
            continue
        split = "half of it for the whole run, half for the segments, " if family.whole and family.segments else ""
        verb = "block" if family.on_fail == "block" else "warn"
        words.append(
            f"{n} checks that {verb} ({family.whole} on the whole run, {family.segments} in segments) share "
            f"alpha = {family.alpha:g}, {split}using Holm's procedure: if nothing got worse, the chance that "
            f"any of them fails is at most {100 * family.alpha:g} %."
        )
    return words
