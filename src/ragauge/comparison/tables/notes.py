"""What is noted below a comparison's table: what could have been seen, and what the judge's own error hides."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from ragauge.comparison.tables.words import format_segment, list_measured
from ragauge.core.messages import format_value
from ragauge.core.response import Run
from ragauge.metrics.catalogue import parse_metric
from ragauge.rendering.words import describe_corrected_mean, to_line
from ragauge.scores.estimation import MIN_LABELS
from ragauge.scores.results.comparison import BaselineComparison, MetricChange, RunComparison, Setting

DETECTABLE_NOTE = "Four of five such comparisons would detect a true change of this size"
HIDDEN_NOTE = "Significant by the judge's verdicts alone (the basis of p), but within judge error"
WOULD_TELL = "Human labels or a more accurate judge would settle this."
UNDETECTABLE_NOTE = "Too few examples to detect a change of any size"
DOUBTED_NOTE = "Too few examples, given judge error, to detect a change of any size"
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
        *(f"{what}: {how}. The verdict is based on the label-corrected difference." for what, how in sentences if how),
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
        yield f"Label-corrected means are compared. The judge's own means for the same examples: {means}."
    judge_only = [change for change in list_measured(comparison) if change.rectified is None and any(change.labeled)]
    if judge_only:
        names = (comparison.base.name, comparison.run.name)
        counts = (zip(change.labeled, names, strict=True) for change in judge_only)
        labels = "; ".join(
            f"{change.metric}: {' and '.join(f'{n:,} of {name}' for n, name in pair)}"
            for change, pair in zip(judge_only, counts, strict=True)
        )
        yield (
            f"The judge's own means are compared ({labels}): label-corrected means need at least {MIN_LABELS} "
            "examples labeled in both runs."
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


MAX_VALUE_CHARS = 80  # characters of a setting's value


def format_setting_value(value: Any) -> str:
    """A setting's value on one line."""
    try:
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    except (TypeError, ValueError):
        text = str(value)
    return to_line(text, MAX_VALUE_CHARS) or '""'


def list_setting_changes(comparison: RunComparison) -> list[tuple[str, str, str]]:
    """What differs between the configurations: (sign, path, value or both values)."""
    diff = comparison.settings

    def format_both(setting: Setting) -> str:
        return f"{format_setting_value(setting.base)} → {format_setting_value(setting.new)}"

    return [
        *(("~", to_line(setting.path), format_both(setting)) for setting in diff.changed),
        *(("+", to_line(setting.path), format_setting_value(setting.new)) for setting in diff.added),
        *(("−", to_line(setting.path), format_setting_value(setting.base)) for setting in diff.removed),
    ]


def list_state_changes(comparison: RunComparison, compared: BaselineComparison) -> list[tuple[str, str, str]]:
    """What else differs between the runs: (what, before, now)."""
    base, run = compared.base, comparison.run
    pairs = (
        ("system", base.system, run.system),
        ("code", base.git, run.git),
        ("variant", _describe_variant(base, run), _describe_variant(run, base)),
        ("set version", base.set_version[:12], run.set_version[:12]),
    )
    return [
        (what, to_line(previous) or "not recorded", to_line(other) or "not recorded")
        for what, previous, other in pairs
        if previous != other
    ]


def _describe_variant(run: Run, other: Run) -> str:
    """A run's variant; of a replay of the other run, what that leaves out of its latency."""
    if run.variant == "replayed" and run.config.get("context_from") == other.run_id:
        return f"replayed with the passages of {other.name}, so its latency excludes retrieval"
    return run.variant
