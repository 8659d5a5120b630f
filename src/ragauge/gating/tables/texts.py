"""How a gate's checks are said, the same in every report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from ragauge.core.json_keys import json_property
from ragauge.core.messages import format_command, format_count
from ragauge.diagnosis.findings.cause_texts import advise_label_draw
from ragauge.gating.kinds.rule import KINDS
from ragauge.gating.result import Check, Gated, Verdict
from ragauge.gating.tables import phrases
from ragauge.gating.tables.phrases import format_change, format_examples
from ragauge.rendering.words import make_safe

TITLES: Mapping[Verdict, str] = {
    "pass": "Gate passed",
    "fail": "Gate failed",
    "not_enough_data": "Gate: not enough data",
}
VERDICTS: Mapping[Verdict, str] = {"pass": "pass", "fail": "FAIL", "not_enough_data": "not enough data"}
MARKS: Mapping[Verdict, str] = {"pass": "✓", "fail": "✗", "not_enough_data": "?"}
WHOLE_RUN = "whole run"
SETTLED_ELSEWHERE = ("failed", "examples", "itself", "not_read", "unanswered")
MAX_NAMED = 50  # segments that are too small for a check


def format_scope(check: Check) -> str:
    """The whole run, or the segment."""
    return WHOLE_RUN if check.segment is None else f"{make_safe(check.segment[0])}={make_safe(check.segment[1])}"


@json_property(Check, "reason")
def explain_verdict(check: Check) -> str:
    """Why the verdict is what it is, in a sentence."""
    return KINDS[check.kind].explain(check)


def describe_check(check: Check) -> str:
    """A check in one line: what is asked, where, and why the verdict."""
    place_words = "" if check.segment is None else f" in {format_scope(check)}"
    kind, change = KINDS[check.kind], format_change(check)
    numbers = f" {change}, {kind.format_estimate(check)}:" if change else ""
    return f"{check.asks}{place_words}:{numbers} {kind.explain(check)}"


def format_worst(check: Check) -> str:
    """The examples that lost most; "" where there are none, or the explanation names them."""
    return "" if KINDS[check.kind].names_examples else format_examples(check.examples)


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
    words += [phrases.describe_compared(outcome)] if outcome.matched is not None else []
    words += [f"{format_count(outcome.clusters, 'cluster')} of examples"] if outcome.clusters else []
    return words + ([f"judged by {make_safe(outcome.judge_id)}"] if outcome.judge_id else [])


def list_caveats(outcome: Gated) -> list[str]:
    """What the reader must know: that differences are unpaired, and the gate's warnings."""
    note = phrases.describe_unpaired(outcome)
    return [*([note] if note else []), *(make_safe(warning) for warning in outcome.warnings)]


def format_tally(outcome: Gated) -> str:
    """How many checks came out how."""
    counts = Counter(check.verdict for check in outcome.checks)
    verdict_words: dict[Verdict, str] = {"fail": "failed", "not_enough_data": "not enough data", "pass": "passed"}
    counted = [f"{counts[verdict]} {name}" for verdict, name in verdict_words.items() if counts[verdict]]
    return f"{len(outcome.checks)} checks: {', '.join(counted)}"


def list_stopping(outcome: Gated) -> list[Check]:
    """The checks that decided the verdict: those that fail, or those without enough data."""
    if outcome.verdict == "pass":
        return []
    return [check for check in outcome.checks if check.stops and check.verdict == outcome.verdict]


def list_warnings(outcome: Gated) -> list[Check]:
    """Failed checks that do not stop the gate."""
    return [check for check in outcome.checks if check.verdict == "fail" and not check.stops]


@json_property(Gated, "summary")
def format_summary(outcome: Gated) -> str:
    """The verdict with what decided it, one line a check."""
    lines = [f"{format_title(outcome)}: {describe_runs(outcome)}.", *phrases.build_lead(outcome)]
    lines += [note] if (note := phrases.describe_unpaired(outcome)) else []
    lines += [describe_check(check) for check in outcome.checks if KINDS[check.kind].may_wait and not check.n]
    for check in list_stopping(outcome):
        worst = format_worst(check)
        lines.append(f"- {describe_check(check)}" + (f" Worst: {worst}." if worst else ""))
    if advice := advise_next(outcome):
        lines.append(advice)
    return "\n".join(lines)


def advise_next(outcome: Gated) -> str:
    """What to do about the verdict; "" where nothing is to be done."""
    stopped = list_stopping(outcome)
    again = list(phrases.list_remedies(outcome, stopped))
    if outcome.verdict == "fail" and not outcome.broken:
        run, base = outcome.run, outcome.base
        name, other = make_safe(run.name), "" if base is None else make_safe(base.name)
        if name == other and base is not None:  # by their names they could not be told apart
            name, other = run.run_id, base.run_id
        arguments = ("compare", other, name) if other else ("show", name)
        return " ".join([f"Examples and causes: {format_command(*arguments)}; calculation: --explain.", *again])
    more = () if outcome.broken else _advise_more_data(stopped, make_safe(outcome.run.name), outcome.run.done)
    return " ".join([*again, *more])


def _advise_more_data(stopped: Sequence[Check], run_name: str, n: int) -> Iterator[str]:
    """What helps checks that have not enough data for another reason than failed calls."""
    unlabelled = {check.metric: check for check in stopped if check.because == "few" and check.inapplicable}
    for name, check in unlabelled.items():
        needs = format_command("metrics", make_safe(name))
        what = f"what {make_safe(name)} needs (see {needs}, ragauge docs data)"
        yield f"Label or record {what}, or drop rule {check.rule}."
    yield from _list_own_advice(check for check in stopped if check.because == "examples")
    if any(check.because == "itself" for check in stopped):
        yield "A run cannot be its own baseline: change something, run and evaluate again, and gate that run."
    remaining = [check for check in stopped if check.because not in SETTLED_ELSEWHERE and not check.inapplicable]
    if not remaining:
        return
    if any(check.because == "few" and check.rectified for check in remaining):
        yield advise_label_draw(run_name, n)
    elif {check.because for check in remaining} == {"few"}:
        yield "Add examples, or lower min_n if so few should decide. See ragauge docs gates."
    elif own_advice := _list_own_advice(remaining):
        yield from own_advice
    else:
        yield "More examples narrow the interval; a larger limit or decide: point needs less: ragauge docs gates."


def _list_own_advice(checks: Iterable[Check]) -> list[str]:
    """What the kinds of rules advise, each sentence once."""
    return list(dict.fromkeys(advice for check in checks if (advice := KINDS[check.kind].advise(check))))


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
    few = [
        (check, format_scope(check), KINDS[check.kind].format_n(check)) for check in checks if check.because == "few"
    ]
    scopes = Counter(scope for scope, _ in dict.fromkeys((scope, n) for _, scope, n in few))  # > 1: another n by metric
    named = dict.fromkeys(
        f"{scope} {n}{f' of {check.metric}' if scopes[scope] > 1 else ''} (min_n {check.min_n})"
        for check, scope, n in few
    )
    listed = [*named, *(f"{make_safe(column)}={make_safe(value)} {n}" for column, value, n in outcome.few)]
    more = f" and {len(listed) - MAX_NAMED} more (see the JSON for all)" if len(listed) > MAX_NAMED else ""
    return f"Too few examples for a separate check: {', '.join(listed[:MAX_NAMED])}{more}." if listed else ""


def describe_alpha_bounds(outcome: Gated) -> list[str]:
    """How false alarms are bounded, a sentence a family."""
    words = []
    for family in outcome.families:
        n = family.whole + family.segments
        if n == 1:
            name = "blocking" if family.on_fail == "block" else "warning"
            words.append(f"The {name} check fails at one-sided alpha = 0.05.")
            continue
        split = "half of it for the whole run, half for the segments, " if family.whole and family.segments else ""
        words.append(
            f"{n} checks that {family.on_fail} ({family.whole} on the whole run, {family.segments} in segments) share "
            f"alpha = {family.alpha:g}, {split}using Holm's procedure: if nothing got worse, the chance that "
            f"any of them fails is at most {100 * family.alpha:g} %."
        )
    return words
