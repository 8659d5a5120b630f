"""Failed calls and unpaired samples in the words of a gate."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ragauge.core.messages import format_command, format_count
from ragauge.gating.result import Check, FailureCounts, Gated
from ragauge.rendering.words import make_safe

RECORDED = "recorded"  # the system of a run that came from a file and names none


def build_lead(outcome: Gated) -> list[str]:
    """What stands before every rule: that every call failed, with the error, and where to look."""
    return [make_safe(outcome.broken)] if outcome.broken else []


def describe_failed_share(check: Check) -> str:
    """How many examples have failed calls, and whose."""
    whose = "" if check.lost is None else f" ({_format_lost(check.lost)})"
    return f"{check.failed} of {check.n} examples have failed calls{whose}"


def describe_failed_scores(check: Check) -> str:
    """How many scores failed, and whose calls these were."""
    lost_calls = check.lost
    if lost_calls is not None and lost_calls.unjudged == check.failed:
        return f"{format_count(check.failed, 'example was', 'examples were')} never judged"
    what = "scores are missing" if lost_calls is not None and lost_calls.unjudged else "scores failed"
    return f"{check.failed} {what}" + ("" if lost_calls is None else f" ({_format_lost(lost_calls)})")


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


def _format_lost(lost_calls: FailureCounts) -> str:
    """Whose calls failed, each with its count where there are several.

    >>> _format_lost(FailureCounts(system=17)), _format_lost(FailureCounts(system=2, judge=3))
    ('the system gave no response', '2 without a system response, 3 with failed judge calls')
    >>> _format_lost(FailureCounts(judge=1, baseline=4))
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
    all_lost = [check.lost for check in failing if check.lost is not None]
    if any(lost_calls.system for lost_calls in all_lost):
        yield _advise_rerun(outcome)
    if any(lost_calls.judge for lost_calls in all_lost):
        again = format_command("evaluate", make_safe(outcome.run.name), "--retry-failed")
        yield f"To retry failed judge calls with the same judge and metrics: {again}."
    if any(lost_calls.unjudged for lost_calls in all_lost):
        again = format_command("evaluate", make_safe(outcome.run.name))
        yield f"To judge the examples that were never judged, with the same judge and metrics: {again}."
    if any(check.because == "not_read" for check in checks):
        again = format_command("evaluate", make_safe(outcome.run.name), "--judge", "openai:MODEL")
        labels = format_command("label", "draw", make_safe(outcome.run.name), "-o", "page.html")
        yield f"A model judge can read these texts: {again}. Or label the answers yourself: {labels}."
    if outcome.base is not None and any(lost_calls.baseline for lost_calls in all_lost):
        yield (
            "To see what failed in the baseline and why: "
            f"{format_command('show', make_safe(outcome.base.name))}. The same fixes apply there."
        )


def _advise_rerun(outcome: Gated) -> str:
    run = outcome.run
    head = "Judging again does not help where the system gave no response: fix the system"
    if run.kind == "traffic":
        return f"{head}. Traffic that already failed cannot be repaired."
    if run.system == RECORDED:
        return f"{head}, record its responses again and evaluate the new file."
    anew = (
        f"repeat its ragauge run with --retry-failed, then {format_command('evaluate', make_safe(run.name))} as before"
    )
    return f"{head}, {anew}. If the responses came from a file, record new ones and evaluate that file."


MIX_NOTE = "The questions differ as well as the system. Use segment rules to tell a new question mix from a new system."
MIN_IMBALANCE = 1.5  # times as many examples on one side as on the other, from which the smaller side is named


def describe_unpaired(outcome: Gated) -> str:
    """That max_drop is unpaired, with n on both sides, what that means, and what is sharper; "" where it is paired."""
    if outcome.sizes is None or outcome.base is None:
        return ""
    return " ".join(
        sentence
        for sentence in (_describe_samples(outcome), _describe_overlap(outcome), MIX_NOTE, _advise_pairing(outcome))
        if sentence
    )


def describe_compared(outcome: Gated) -> str:
    """Over what max_drop was decided, in a few words: 240 examples in both runs, or 240 against 310, unpaired."""
    if outcome.sizes is not None:
        return f"unpaired: {outcome.sizes[0]:,} examples against {outcome.sizes[1]:,}"
    return f"{format_count(outcome.matched or 0, 'example')} in both runs"


def describe_too_few(check: Check) -> str:
    """That one side or both have fewer examples than min_n."""
    counts = f"{check.n:,} examples with a value in this run and {check.n_base or 0:,} in the baseline"
    failed_text = f" ({check.failed:,} more failed)" if check.failed else ""
    return f"{counts}{failed_text}; an unpaired check needs at least min_n ({check.min_n}) on each side."


def _describe_samples(outcome: Gated) -> str:
    new, base = outcome.sizes or (0, 0)
    name = "" if outcome.base is None else make_safe(outcome.base.name)
    return (
        f"Unpaired: the {new:,} examples of {make_safe(outcome.run.name)} are not the same as the {base:,} of "
        f"{name}, so max_drop compares two independent samples."
    )


def _describe_overlap(outcome: Gated) -> str:
    """What happens with the examples that both happen to have."""
    shared = outcome.matched or 0
    if not shared:
        return ""
    are = "1 example is" if shared == 1 else f"{shared:,} examples are"
    return (
        f"{are} in both runs, fewer than half of this run's. They count on both sides as if they were "
        "different examples, which can only widen an interval. From half upward, shared examples are "
        "compared in pairs and the others are left out."
    )


def _advise_pairing(outcome: Gated) -> str:
    new, base = outcome.sizes or (0, 0)
    fewer = min(new, base)
    advice = ""
    if fewer and max(new, base) >= MIN_IMBALANCE * fewer:
        where = "in this run" if new < base else "in the baseline"
        advice = f"more examples {where}, the smaller side, where they count most; "
    return (
        f"For a narrower interval: the same questions in both runs, so that each is compared with itself "
        f"({format_command('run', 'SYSTEM', 'QUESTIONS')} with the baseline's questions); {advice}otherwise, "
        "four times the examples on both sides to halve the interval."
    )
