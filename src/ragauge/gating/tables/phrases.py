"""The numbers of a gate as text, failed calls and unpaired samples in words: what kinds of rules and reports share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isinf
from typing import NamedTuple

from ragauge.core.json_keys import json_property
from ragauge.core.messages import UNITS, format_command, format_count, format_three_digits
from ragauge.gating.result import Check, CheckExample, FailureCounts, Gated
from ragauge.rendering.words import make_safe
from ragauge.stats.weighted import Interval


def format_figure(value: float | None, scale: str = "mean") -> str:
    """A number of a gate: three decimals for scores, since limits are small; three digits or more for amounts.

    >>> format_figure(0.0244), format_figure(2150.4, "amount"), format_figure(0.00042, "amount"), format_figure(None)
    ('0.024', '2,150', '0.00042', '–')
    """
    if value is None:
        return "–"
    if isinf(value):
        return "∞" if value > 0 else "−∞"
    size = abs(value)
    large = f"{size:,.0f}" if size >= 100 else format_three_digits(size)
    text = large if scale == "amount" else f"{size:.3f}"
    return f"−{text}" if value < 0 and any(digit in text for digit in "123456789") else text


def format_signed(value: float | None, scale: str = "mean") -> str:
    """A difference with its sign.

    >>> format_signed(0.011), format_signed(-0.0244), format_signed(0.0)
    ('+0.011', '−0.024', '0.000')
    """
    text = format_figure(value, scale)
    rose = value is not None and value > 0 and any(digit in text for digit in "123456789")
    return f"+{text}" if rose else text


def format_level(interval: Interval) -> str:
    """An interval's level: 90 %, 99.2 %.

    >>> format_level(Interval(0, 1, "t", 0.9)), format_level(Interval(0, 1, "t", 0.99167))
    ('90 %', '99.2 %')
    """
    share = f"{100 * interval.level:.2f}" if interval.level > 0.999 else f"{100 * interval.level:.1f}"
    return f"{share.removesuffix('.0')} %"


def format_interval(interval: Interval | None, check: Check) -> str:
    """An interval in brackets; of a difference with signs."""
    if interval is None:
        return "no interval"
    write = format_signed if check.is_difference else format_figure
    return f"[{write(interval.low, check.scale)}, {write(interval.high, check.scale)}]"


def format_with_unit(value: float | None, check: Check) -> str:
    """A number with the unit of the metric; of a difference with its sign."""
    return _add_unit((format_signed if check.is_difference else format_figure)(value, check.scale), check)


def format_mean(value: float | None, check: Check) -> str:
    """The mean of one run, with the unit of the metric."""
    return _add_unit(format_figure(value, check.scale), check)


def _add_unit(text: str, check: Check) -> str:
    """A number as written, with the unit of the metric between its sign and itself, and behind it."""
    prefix, suffix = UNITS.get(check.metric.partition(":")[0], ("", ""))
    sign = text[0] if text[:1] in ("+", "−") else ""
    has_digit = any(digit in text for digit in "0123456789")
    return f"{sign}{prefix}{text.removeprefix(sign)}{suffix}" if has_digit else text


def format_change(check: Check) -> str:
    """Baseline → run; of a level nothing."""
    if check.base is None:
        return ""
    return f"{format_figure(check.base, check.scale)} → {format_figure(check.new, check.scale)}"


def format_example_count(check: Check) -> str:
    """How many examples: 240, or 236 + 4 failed, or 40 + 200 not judged; of two samples 240 vs 310."""
    n = f"{check.n:,}" if check.n_base is None else f"{check.n:,} vs {check.n_base:,}"
    if not check.failed:
        return n
    unjudged = 0 if check.lost is None else check.lost.unjudged
    failed, more = check.failed - unjudged, f" + {unjudged:,} not judged" if unjudged else ""
    return n + (f" + {failed:,} failed" if failed else "") + more


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


RECORDED = "recorded"  # the system of a run that came from a file and names none


def build_lead(outcome: Gated) -> list[str]:
    """What stands before every rule: that every call failed, with the error, and where to look."""
    return [make_safe(outcome.broken)] if outcome.broken else []


def describe_failed_scores(check: Check) -> str:
    """How many scores failed, and whose calls these were."""
    lost_calls = check.lost
    if lost_calls is not None and lost_calls.unjudged == check.failed:
        return f"{format_count(check.failed, 'example was', 'examples were')} never judged"
    what = "scores are missing" if lost_calls is not None and lost_calls.unjudged else "scores failed"
    return f"{check.failed} {what}" + ("" if lost_calls is None else f" ({format_lost(lost_calls)})")


def describe_unanswered(check: Check) -> str:
    """That too few calls were answered for a rule on what a call takes, and whose calls failed."""
    lost_calls = check.lost or FailureCounts()
    n_base = check.n if check.n_base is None else check.n_base
    groups = (("", lost_calls.system, check.n), (" of the baseline", lost_calls.baseline, n_base))
    those = [f"{failed} of {format_count(n, 'call')}{whose} failed" for whose, failed, n in groups if failed]
    return (
        f"{' and '.join(those)}: fewer than min_n ({check.min_n}) were answered, and the time and cost of "
        "failed calls say nothing about answers."
    )


def describe_unreadable(check: Check) -> str:
    """That the judge cannot read the texts that a check is about."""
    total_text = format_count(check.n + check.not_read, "example")
    return f"the judge cannot score {check.metric} on {check.not_read} of {total_text}: {make_safe(check.why)}."


def format_lost(lost_calls: FailureCounts) -> str:
    """Whose calls failed, each with its count where there are several.

    >>> format_lost(FailureCounts(system=17)), format_lost(FailureCounts(system=2, judge=3))
    ('the system gave no response', '2 without a system response, 3 with failed judge calls')
    >>> format_lost(FailureCounts(judge=1, baseline=4))
    '1 with failed judge calls, 4 in the baseline'
    """
    if not (lost_calls.judge or lost_calls.baseline or lost_calls.unjudged):
        return "the system gave no response"
    if not (lost_calls.system or lost_calls.baseline or lost_calls.unjudged):
        return "judge calls failed"
    kinds = {
        "without a system response": lost_calls.system,
        "with failed judge calls": lost_calls.judge,
        "in the baseline": lost_calls.baseline,
        "never judged": lost_calls.unjudged,
    }
    return ", ".join(f"{count} {name}" for name, count in kinds.items() if count)


def list_remedies(outcome: Gated, checks: Sequence[Check]) -> Iterator[str]:
    """What brings the scores back that these checks miss, a sentence for each whose calls failed."""
    failing = [
        check
        for check in checks
        if check.because == "unanswered" or (check.failed and (check.because in ("failed", "share") or check.unknown))
    ]
    lost, name = [check.lost for check in failing if check.lost is not None], make_safe(outcome.run.name)
    if any(calls.system for calls in lost):
        yield _advise_rerun(outcome)
    if any(calls.judge for calls in lost):
        again = format_command("evaluate", name, "--retry-failed")
        yield f"To retry failed judge calls with the same judge and metrics: {again}."
    if any(calls.unjudged for calls in lost):
        again = format_command("evaluate", name)
        yield f"To judge the examples that were never judged, with the same judge and metrics: {again}."
    if any(check.because == "not_read" for check in checks):
        again = format_command("evaluate", name, "--judge", "openai:MODEL")
        labels = format_command("label", "draw", name, "-o", "page.html")
        yield f"A model judge can read these texts: {again}. Or label the answers yourself: {labels}."
    if outcome.base is not None and any(calls.baseline for calls in lost):
        shown = format_command("show", make_safe(outcome.base.name))
        yield f"To see what failed in the baseline and why: {shown}. The same fixes apply there."


def _advise_rerun(outcome: Gated) -> str:
    run = outcome.run
    head = "Judging again does not help where the system gave no response: fix the system"
    if run.kind == "traffic":
        return f"{head}. Traffic that already failed cannot be repaired."
    if run.system == RECORDED:
        return f"{head}, record its responses again and evaluate the new file."
    again = format_command("evaluate", make_safe(run.name))
    anew = f"repeat its ragauge run with --retry-failed, then {again} as before"
    return f"{head}, {anew}. If the responses came from a file, record new ones and evaluate that file."


MIX_NOTE = "The questions differ as well as the system. Use segment rules to tell a new question mix from a new system."
MIN_IMBALANCE = 1.5  # times as many examples on one side as on the other, from which the smaller side is named


class UnpairedSizes(NamedTuple):
    """Examples of both runs, which max_drop holds against each other as two samples, and what that means."""

    n: int
    n_baseline: int
    said: str


@json_property(Gated, "unpaired")
def describe_sizes(outcome: Gated) -> UnpairedSizes | None:
    """The sizes of both samples; None where examples are paired."""
    return None if outcome.sizes is None else UnpairedSizes(*outcome.sizes, describe_unpaired(outcome))


def describe_unpaired(outcome: Gated) -> str:
    """That max_drop is unpaired, with n on both sides, what that means, and what is sharper; "" where it is paired."""
    if outcome.sizes is None or outcome.base is None:
        return ""
    (new, base), shared = outcome.sizes, outcome.matched or 0
    text = (
        f"Unpaired: the {new:,} examples of {make_safe(outcome.run.name)} are not the same as the {base:,} of "
        f"{make_safe(outcome.base.name)}, so max_drop compares two independent samples. "
    )
    if shared:
        text += (
            f"{format_count(shared, 'example is', 'examples are')} in both runs, fewer than half of this run's. They "
            "count on both sides as if they were different examples, which can only widen an interval. From half "
            "upward, shared examples are compared in pairs and the others are left out. "
        )
    advice, fewer = "", min(new, base)
    if fewer and max(new, base) >= MIN_IMBALANCE * fewer:
        where = "in this run" if new < base else "in the baseline"
        advice = f"more examples {where}, the smaller side, where they count most; "
    return (
        f"{text}{MIX_NOTE} For a narrower interval: the same questions in both runs, so that each is compared with "
        f"itself ({format_command('run', 'SYSTEM', 'QUESTIONS')} with the baseline's questions); {advice}otherwise, "
        "four times the examples on both sides to halve the interval."
    )


def describe_compared(outcome: Gated) -> str:
    """Over what max_drop was decided, in a few words: 240 examples in both runs, or 240 against 310, unpaired."""
    if outcome.sizes is not None:
        return f"unpaired: {outcome.sizes[0]:,} examples against {outcome.sizes[1]:,}"
    return f"{format_count(outcome.matched or 0, 'example')} in both runs"


def describe_too_few(check: Check) -> str:
    """That there are too few examples, and where the metric does not apply to the others, why."""
    if check.unpaired:
        counts = f"{check.n:,} examples with a value in this run and {check.n_base or 0:,} in the baseline"
        failed_text = f" ({check.failed:,} more failed)" if check.failed else ""
        return f"{counts}{failed_text}; an unpaired check needs at least min_n ({check.min_n}) on each side."
    if check.rectified:
        both = " in both runs" if check.is_difference else ""
        labeled = format_count(check.n, "example is", "examples are")
        return f"{labeled} labeled by people{both}; {check.min_n} are needed."
    short = f"fewer than min_n ({check.min_n})"
    if not check.inapplicable:
        return f"{format_count(check.n + check.failed, 'example is', 'examples are')} {short}."
    every = check.applies + check.inapplicable
    if not check.applies:
        return f"{check.metric} applies to none of {format_count(every, 'example')}: {make_safe(check.why)}."
    those = f"{check.applies} of {format_count(every, 'example')}"
    return f"{check.metric} applies to {those}, {short}. It does not apply to the others: {make_safe(check.why)}."
