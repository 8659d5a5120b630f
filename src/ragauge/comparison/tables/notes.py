"""What is noted below a comparison's table: what could have been seen, and what the judge's own error hides."""

from __future__ import annotations

from collections.abc import Iterator

from ragauge.comparison.tables.words import format_segment, list_measured
from ragauge.core.messages import format_value
from ragauge.metrics.catalogue import parse_metric
from ragauge.rendering.words import describe_corrected_mean
from ragauge.scores.estimation import MIN_LABELS
from ragauge.scores.results.change import MetricChange
from ragauge.scores.results.comparison import RunComparison

DETECTABLE_NOTE = "A true change this large would be seen in 80 of 100 such comparisons"
HIDDEN_NOTE = "More than chance by the judge's verdicts (p is of these alone), yet within the judge's own error"
WOULD_TELL = "Labels of people, or a judge that errs less, would tell."
UNDETECTABLE_NOTE = "So few examples show no change at all, however large"
DOUBTED_NOTE = "With so few examples and the judge's own error no change is seen at all, however large"
MAX_CHANCE_P = 0.05  # a corrected p above it may be chance
MAX_SIZED_METRICS = 6


def build_notes(comparison: RunComparison) -> tuple[str, ...]:
    """What change of quality could have been seen where none was, and which metrics no example was scored on twice."""
    sized = [
        (change.metric, change.detectable)
        for change in list_measured(comparison)
        if change.detectable and change.kind != "amount" and change.verdict in ("no change seen", "not enough data")
    ]
    could = [
        f"{metric} {format_detectable(detectable)}"
        for metric, detectable in sized
        if detectable <= _get_range_width(metric)
    ]
    judged_metrics = {
        change.metric for change in list_measured(comparison) if change.difference.judged and not change.rectified
    }
    never = [
        metric for metric, detectable in sized if detectable > _get_range_width(metric) and metric not in judged_metrics
    ]
    doubted = [
        metric for metric, detectable in sized if detectable > _get_range_width(metric) and metric in judged_metrics
    ]
    more_text = f" and {len(could) - MAX_SIZED_METRICS} more" if len(could) > MAX_SIZED_METRICS else ""
    absent = [change.metric for change in comparison.metrics if not (change.difference.n or change.failed)]
    hidden = [change.metric for change in comparison.metrics if _is_hidden_by_judge_error(change)]
    changes = [
        *(("", change) for change in comparison.metrics),
        *((f", {format_segment(segment)}", segment.change) for segment in comparison.segments),
    ]
    sentences = (
        (change.metric + where, describe_corrected_mean(change.rectified, change=True)) for where, change in changes
    )
    return (
        *(f"{what}: {how}. Its verdict is by the label-corrected difference." for what, how in sentences if how),
        *_describe_mean_sources(comparison),
        *([f"{DETECTABLE_NOTE}: {', '.join(could[:MAX_SIZED_METRICS])}{more_text}."] if could else []),
        *([f"{UNDETECTABLE_NOTE}: {', '.join(never)}."] if never else []),
        *([f"{DOUBTED_NOTE}: {', '.join(doubted)}. {WOULD_TELL}"] if doubted else []),
        *([f"{HIDDEN_NOTE}: {', '.join(hidden)}. {WOULD_TELL}"] if hidden else []),
        *([f"No example was scored in both runs on {', '.join(absent)}."] if absent else []),
    )


def _describe_mean_sources(comparison: RunComparison) -> Iterator[str]:
    """Of which metrics label-corrected means are compared; and, where people labeled one run, of which the judge's."""
    corrected = [
        f"{change.metric} ({format_value(change.judge_base)} and {format_value(change.judge_new)})"
        for change in list_measured(comparison)
        if change.rectified is not None
    ]
    if corrected:
        means = ", ".join(corrected)
        yield f"Compared by label-corrected means; beside them the judge's own of the same examples: {means}."
    judge_only = [change for change in list_measured(comparison) if change.rectified is None and any(change.labeled)]
    if judge_only:
        names = (comparison.base.name, comparison.run.name)
        counts = (zip(change.labeled, names, strict=True) for change in judge_only)
        labels = "; ".join(
            f"{change.metric}: {' and '.join(f'{n:,} of {name}' for n, name in pair)}"
            for change, pair in zip(judge_only, counts, strict=True)
        )
        yield (
            f"Compared by the judge's own means, not by label-corrected ones ({labels}): these take {MIN_LABELS} "
            "examples that are labeled in both runs."
        )


def _is_hidden_by_judge_error(change: MetricChange) -> bool:
    """Whether a change that is more than chance in the judge's verdicts may still be the judge's own error."""
    sampled, with_judge_error = change.difference.interval, change.difference.judged
    if (
        change.verdict != "no change seen"
        or sampled is None
        or with_judge_error is None
        or (change.corrected or 0) > MAX_CHANCE_P
    ):
        return False
    return not sampled.low <= 0 <= sampled.high and with_judge_error.low <= 0 <= with_judge_error.high


def format_detectable(change: float | None) -> str:
    """The least change that would be seen, as it is printed: never 0, which nobody sees.

    >>> format_detectable(0.053), format_detectable(0.0004), format_detectable(None)
    ('0.05', '<0.01', '–')
    """
    return "<0.01" if change is not None and change < 0.005 else format_value(change)


def _get_range_width(metric: str) -> float:
    """The greatest difference that two means of a metric can have."""
    low, high = parse_metric(metric).range
    return high - low
