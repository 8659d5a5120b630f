"""What a gate says where it holds two stretches of traffic against each other: unpaired, and what is sharper."""

from __future__ import annotations

from ragauge.core.messages import command, plural
from ragauge.gating.result import Check, Gated
from ragauge.rendering.words import safe

MIX = "The questions differ as well as the system; rules in segments tell a change of their mix from one of the system."
WEAK = 1.5  # times as many examples on one side as on the other, from which the smaller side is named


def note(gated: Gated) -> str:
    """That max_drop is unpaired, with n on both sides, what that means, and what is sharper; "" where it is paired."""
    if gated.sizes is None or gated.base is None:
        return ""
    return " ".join(part for part in (_said(gated), _overlap(gated), MIX, _sharper(gated)) if part)


def about(gated: Gated) -> str:
    """Over what max_drop was decided, in a few words: 240 examples in both runs, or 240 against 310, unpaired."""
    if gated.sizes is not None:
        return f"unpaired: {gated.sizes[0]:,} examples against {gated.sizes[1]:,}"
    return f"{plural(gated.matched or 0, 'example')} in both runs"


def few(check: Check) -> str:
    """That one side or both have fewer examples than min_n."""
    sides = f"{check.n:,} examples with a value in this run and {check.n_base or 0:,} in the baseline"
    lost = f" ({check.failed:,} more failed)" if check.failed else ""
    return f"{sides}{lost}; an unpaired check needs min_n, which is {check.min_n}, on each side."


def _said(gated: Gated) -> str:
    new, base = gated.sizes or (0, 0)
    name = "" if gated.base is None else safe(gated.base.name)
    return (
        f"Unpaired: the {new:,} examples of {safe(gated.run.name)} are not the {base:,} of {name}, so max_drop holds "
        "two independent samples against each other."
    )


def _overlap(gated: Gated) -> str:
    """What happens with the examples that both happen to have."""
    shared = gated.matched or 0
    if not shared:
        return ""
    are = "1 example is" if shared == 1 else f"{shared:,} examples are"
    return (
        f"{are} in both, fewer than half of this run's: they count on both sides as if they were different ones, which "
        "makes an interval wider if anything. From half on, examples in both are compared pair by pair and the others "
        "left out."
    )


def _sharper(gated: Gated) -> str:
    new, base = gated.sizes or (0, 0)
    fewer = min(new, base)
    side = ""
    if fewer and max(new, base) >= WEAK * fewer:
        where = "in this run" if new < base else "in the baseline"
        side = f"more examples {where}, the smaller side, where they count most; "
    return (
        "Sharper: the same questions in both, so that each is compared with itself "
        f"({command('run', 'SYSTEM', 'QUESTIONS')} with the baseline's questions); {side}"
        "else four times the examples on both sides for half the interval."
    )
