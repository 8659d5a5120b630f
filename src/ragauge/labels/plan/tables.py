"""What labels say and how many it takes, in sentences."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ragauge.core.messages import format_command, format_count
from ragauge.rendering.words import to_line

if TYPE_CHECKING:
    from ragauge.labels.plan.compute import LabelPlan
    from ragauge.stats.rate_transfer import TransferredRate


def describe_plan(plan: LabelPlan) -> Iterator[str]:
    """What is needed, by what that is known, and what to do where the run is too small."""
    wide = plan.goal == "width"
    goal = f"{plan.metric} within ±{plan.amount:.3f}" if wide else f"a change of {plan.amount:.3f} in {plan.metric}"
    more = "" if wide else ", of the same examples in each of both runs"
    if plan.labels is None:
        reached = f"±{plan.reached:.3f}" if wide else f"changes from {plan.reached:.3f} on"
        yield (
            f"{goal}: {format_count(plan.responses, 'response')} are too few. All of them labelled give {reached}; "
            "it takes "
            f"{plan.needed:,} or more responses."
        )
    elif plan.labels <= plan.there:
        takes = f"it takes {plan.labels:,} answers drawn at random{more}"
        yield f"{goal}: enough already: {takes}, and {plan.there:,} are labelled."
    else:
        yield f"{goal}: label {plan.labels:,} answers drawn at random{more}; {plan.there:,} are labelled."
        if plan.alone is not None and plan.alone > plan.labels:
            yield f"Without the judge it would take {plan.alone:,}."
        elif plan.alone is None:
            yield "Without the judge all responses together would not do."
    if plan.correlation is None:
        yield (
            "Below 20 labels nothing is known of the judge, nor of how much people's scores differ: the plan does "
            "without the judge and takes the most that they can differ. Labels tell better: ask again from 20 on."
        )
    else:
        yield f"Judge and people correlate at {plan.correlation:.2f} on the {plan.there:,} labelled."


def describe_transferred_rate(
    run: str, labelled: str, rate: TransferredRate, judge_rate: float, sizes: tuple[int, int]
) -> str:
    """A rate by another run's labels, with what it takes for granted; sizes: labelled answers, answers of the run."""
    interval_text = f"[{rate.interval.low:.2f}, {rate.interval.high:.2f}]"
    return (
        f"Answers of {to_line(run)} that hold as a whole: {rate.rate:.2f} {interval_text} by {sizes[0]:,} labels of "
        f"{to_line(labelled)}; the judge says {judge_rate:.2f} of {sizes[1]:,}.\n"
        f"On {to_line(labelled)} it finds {rate.sensitivity:.0%} of what people call supported, and "
        f"{rate.specificity:.0%} of what they do not.\n"
        f"This takes for granted that it errs alike on both runs, which nothing in the labels can show. Labels drawn "
        f"from {to_line(run)} need no such thing: {format_command('label', 'draw', to_line(run), '-o', 'page.html')}"
    )
