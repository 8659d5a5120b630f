"""What a gate says where it holds two stretches of traffic against each other: unpaired, and what is sharper."""

from __future__ import annotations

from ragauge.core.messages import format_command, format_count
from ragauge.gating.result import Check, Gated
from ragauge.rendering.words import make_safe

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
