"""What labels say and how many it takes, in sentences."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ragauge.core.messages import command, plural
from ragauge.rendering.words import line

if TYPE_CHECKING:
    from ragauge.labels.plan.compute import LabelPlan
    from ragauge.stats.rate_transfer import TransferredRate


def sentences(found: LabelPlan) -> Iterator[str]:
    """What is needed, by what that is known, and what to do where the run is too small."""
    wide = found.goal == "width"
    goal = f"{found.metric} within ±{found.amount:.3f}" if wide else f"a change of {found.amount:.3f} in {found.metric}"
    more = "" if wide else ", of the same examples in each of both runs"
    if found.labels is None:
        reached = f"±{found.reached:.3f}" if wide else f"changes from {found.reached:.3f} on"
        yield (
            f"{goal}: {plural(found.responses, 'response')} are too few. All of them labelled give {reached}; it takes "
            f"{found.needed:,} or more responses."
        )
    elif found.labels <= found.there:
        takes = f"it takes {found.labels:,} answers drawn at random{more}"
        yield f"{goal}: enough already: {takes}, and {found.there:,} are labelled."
    else:
        yield f"{goal}: label {found.labels:,} answers drawn at random{more}; {found.there:,} are labelled."
        if found.alone is not None and found.alone > found.labels:
            yield f"Without the judge it would take {found.alone:,}."
        elif found.alone is None:
            yield "Without the judge all responses together would not do."
    if found.correlation is None:
        yield (
            "Below 20 labels nothing is known of the judge, nor of how much people's scores differ: the plan does "
            "without the judge and takes the most that they can differ. Labels tell better: ask again from 20 on."
        )
    else:
        yield f"Judge and people correlate at {found.correlation:.2f} on the {found.there:,} labelled."


def transferred(run: str, labelled: str, rate: TransferredRate, judged: float, sizes: tuple[int, int]) -> str:
    """A rate by another run's labels, with what it takes for granted; sizes: labelled answers, answers of the run."""
    ends = f"[{rate.interval.low:.2f}, {rate.interval.high:.2f}]"
    return (
        f"Answers of {line(run)} that hold as a whole: {rate.rate:.2f} {ends} by {sizes[0]:,} labels of "
        f"{line(labelled)}; the judge says {judged:.2f} of {sizes[1]:,}.\n"
        f"On {line(labelled)} it finds {rate.sensitivity:.0%} of what people call supported, and "
        f"{rate.specificity:.0%} of what they do not.\n"
        f"This takes for granted that it errs alike on both runs, which nothing in the labels can show. Labels drawn "
        f"from {line(run)} need no such thing: {command('label', 'draw', line(run), '-o', 'page.html')}"
    )
