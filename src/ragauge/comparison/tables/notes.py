"""What is noted below a comparison's table: what could have been seen, and what the judge's own error hides."""

from __future__ import annotations

from collections.abc import Iterator

from ragauge.comparison.tables.words import measured, place
from ragauge.core.messages import number
from ragauge.metrics.catalogue import parse
from ragauge.rendering.words import rectified
from ragauge.scores.estimation import LEAST_LABELS
from ragauge.scores.results.change import MetricChange
from ragauge.scores.results.comparison import RunComparison

SEEN = "A true change this large would be seen in 80 of 100 such comparisons"
HIDDEN = "More than chance by the judge's verdicts (p is of these alone), yet within the judge's own error"
WOULD_TELL = "Labels of people, or a judge that errs less, would tell."
UNSEEN = "So few examples show no change at all, however large"
DOUBTED = "With so few examples and the judge's own error no change is seen at all, however large"
CHANCE = 0.05  # a corrected p above it may be chance
MOST_SIZED = 6


def notes(comparison: RunComparison) -> tuple[str, ...]:
    """What change of quality could have been seen where none was, and which metrics no example was scored on twice."""
    sized = [
        (change.metric, change.detectable)
        for change in measured(comparison)
        if change.detectable and change.kind != "amount" and change.verdict in ("no change seen", "not enough data")
    ]
    could = [f"{metric} {least_seen(least)}" for metric, least in sized if least <= _width(metric)]
    judged = {change.metric for change in measured(comparison) if change.difference.judged and not change.rectified}
    never = [metric for metric, least in sized if least > _width(metric) and metric not in judged]
    doubted = [metric for metric, least in sized if least > _width(metric) and metric in judged]
    rest = f" and {len(could) - MOST_SIZED} more" if len(could) > MOST_SIZED else ""
    absent = [change.metric for change in comparison.metrics if not (change.difference.n or change.failed)]
    hidden = [change.metric for change in comparison.metrics if _hidden(change)]
    parts = [
        *(("", change) for change in comparison.metrics),
        *((f", {place(part)}", part.change) for part in comparison.segments),
    ]
    sentences = ((change.metric + where, rectified(change.rectified, change=True)) for where, change in parts)
    return (
        *(f"{what}: {how}. Its verdict is by the label-corrected difference." for what, how in sentences if how),
        *_whose_means(comparison),
        *([f"{SEEN}: {', '.join(could[:MOST_SIZED])}{rest}."] if could else []),
        *([f"{UNSEEN}: {', '.join(never)}."] if never else []),
        *([f"{DOUBTED}: {', '.join(doubted)}. {WOULD_TELL}"] if doubted else []),
        *([f"{HIDDEN}: {', '.join(hidden)}. {WOULD_TELL}"] if hidden else []),
        *([f"No example was scored in both runs on {', '.join(absent)}."] if absent else []),
    )


def _whose_means(comparison: RunComparison) -> Iterator[str]:
    """Of which metrics label-corrected means are compared; and, where people labeled one run, of which the judge's."""
    corrected = [
        f"{change.metric} ({number(change.judge_base)} and {number(change.judge_new)})"
        for change in measured(comparison)
        if change.rectified is not None
    ]
    if corrected:
        means = ", ".join(corrected)
        yield f"Compared by label-corrected means; beside them the judge's own of the same examples: {means}."
    own = [change for change in measured(comparison) if change.rectified is None and any(change.labeled)]
    if own:
        names = (comparison.base.name, comparison.run.name)
        counts = (zip(change.labeled, names, strict=True) for change in own)
        labels = "; ".join(
            f"{change.metric}: {' and '.join(f'{n:,} of {name}' for n, name in pair)}"
            for change, pair in zip(own, counts, strict=True)
        )
        yield (
            f"Compared by the judge's own means, not by label-corrected ones ({labels}): these take {LEAST_LABELS} "
            "examples that are labeled in both runs."
        )


def _hidden(change: MetricChange) -> bool:
    """Whether a change that is more than chance in the judge's verdicts may still be the judge's own error."""
    sampled, whole = change.difference.interval, change.difference.judged
    if change.verdict != "no change seen" or sampled is None or whole is None or (change.corrected or 0) > CHANCE:
        return False
    return not sampled.low <= 0 <= sampled.high and whole.low <= 0 <= whole.high


def least_seen(change: float | None) -> str:
    """The least change that would be seen, as it is printed: never 0, which nobody sees.

    >>> least_seen(0.053), least_seen(0.0004), least_seen(None)
    ('0.05', '<0.01', '–')
    """
    return "<0.01" if change is not None and change < 0.005 else number(change)


def _width(metric: str) -> float:
    """The greatest difference that two means of a metric can have."""
    low, high = parse(metric).range
    return high - low
