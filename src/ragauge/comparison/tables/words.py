"""How a comparison is said, the same in every report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ragauge.comparison.comparability import FAILED_CALLS_NAME
from ragauge.comparison.regressions import MIN_LOSS_SHARE
from ragauge.core.json_keys import json_property
from ragauge.core.messages import format_count, format_metric_value, format_signed
from ragauge.rendering.words import LAYERS, UNNAMED, format_relative_change, opened, to_line
from ragauge.scores.results.comparison import BaselineComparison, Flip, MetricChange, RunComparison, SegmentChange
from ragauge.scores.results.scorecard import ScorecardData

CORRECTION_WORDS = {  # correction -> what is said of p
    "holm": "corrected by Holm's method for",
    "bh": "corrected by the Benjamini–Hochberg method for",
    "none": "not corrected for",
}
VERDICTS: Mapping[str, tuple[str, str]] = {  # verdict -> its sign and how it is introduced, in the order shown
    "worse": ("▼", "Worse"),
    "better": ("▲", "Better"),
    "changed": ("◆", "Changed (neither direction is better)"),
    "not enough data": ("?", "Not enough data"),
    "no change seen": ("=", "No change seen"),
}
HEADLINES: Mapping[str, str] = {
    "worse": "Worse than",
    "better": "Better than",
    "mixed": "Mixed results against",
    "changed": "Changed from",
    "no change seen": "No change seen against",
    "not enough data": "Not enough data to compare with",
}
LABELS: Mapping[str, str] = {  # verdict -> in a cell
    "worse": "worse",
    "better": "better",
    "changed": "changed",
    "not enough data": "unclear",
    "no change seen": "none seen",
}
DIFFERENCES_NOTE = "Each column shows the difference from {base}; latency, tokens and cost are relative changes."
MAX_WORSE, MAX_NAMED = 5, 3
MAX_SEGMENTS_NAMED = 2


@json_property(RunComparison, "summary")
def summarize_comparison(comparison: RunComparison) -> str:
    """What changed, in a sentence."""
    return describe_comparison(comparison)


def describe_comparison(comparison: RunComparison, max_worse: int = MAX_WORSE) -> str:
    """The outcome in a sentence: what got worse first, before it the segment that carries the loss, or hides from it.

    Args:
        comparison: one run against a baseline.
        max_worse: so many of the metrics that got worse are named.
    """
    base = to_line(comparison.base.name)
    if not comparison.changes and not comparison.newly_unanswered:
        return f"Nothing to compare with {base}: the runs share no metric or no example."
    phrases = [
        *_describe_worse_segments(comparison, deciding=True),
        *_describe_carrying_segments(comparison),
        *_describe_unmoved_quality(comparison),
    ]
    words = {"worse": "worse on", "better": "better on", "changed": "changed"}
    changes_by_verdict = {
        verdict: [change for change in comparison.changes if change.verdict == verdict] for verdict in words
    }

    def sort_key(verdict: str) -> tuple[bool, bool]:
        decides = any(map(comparison.counts_for_verdict, changes_by_verdict[verdict]))
        return not decides, verdict != "better" or comparison.verdict != "better"

    for verdict in sorted(words, key=sort_key):
        if changes_by_verdict[verdict]:
            max_named = max_worse if verdict == "worse" else MAX_NAMED
            phrases.append(f"{words[verdict]} {_format_metrics(changes_by_verdict[verdict], max_named)}")
    if comparison.newly_unanswered and not any(change.metric == FAILED_CALLS_NAME for change in comparison.worse):
        phrases.append(f"{format_count(comparison.newly_unanswered, 'call')} failed that succeeded before")
    phrases += [*_describe_better_segments(comparison), *_describe_worse_segments(comparison, deciding=False)]
    head = f"{HEADLINES[comparison.verdict]} {base}"
    unclear = sum(change.verdict == "not enough data" for change in list_measured(comparison))
    if not phrases and comparison.verdict == "no change seen":
        phrases.append(f"{format_count(len(list_measured(comparison)) - unclear, 'metric')} compared")
    if unclear and comparison.verdict != "not enough data":
        phrases.append(f"not enough data for {unclear}")
    if phrases and comparison.verdict in ("worse", "better"):  # the head has said it
        phrases[0] = phrases[0].removeprefix(f"{comparison.verdict} on ").removeprefix("worse mostly ")
    if phrases and comparison.verdict == "better" and phrases[0].startswith("better where "):  # nowhere else
        return f"{head} {'; '.join(phrases).removeprefix('better ')} ({describe_matched(comparison)})."
    return f"{head}{': ' if phrases else ''}{'; '.join(phrases)} ({describe_matched(comparison)})."


def describe_against_baseline(card: ScorecardData) -> str:
    """How a run stands against its baseline: the same sentence, with every metric that got worse; "" without one."""
    return "" if card.baseline is None else describe_comparison(card.baseline, len(card.baseline.changes))


def _describe_unmoved_quality(comparison: RunComparison) -> Iterator[str]:
    """What is said of quality before latency, tokens and cost where nothing but these moved, failures included."""
    quality_changes = [change for change in list_measured(comparison) if change.kind != "amount"]
    hurt = any(comparison.counts_for_verdict(segment.change) for segment in comparison.worse_segments)
    verdicts = {change.verdict for change in quality_changes}
    others = [change for change in comparison.metrics if change.kind == "amount"]
    moved = any(change.verdict in ("worse", "better", "changed") for change in others)
    if quality_changes and moved and not {"worse", "better", "changed"} & verdicts and not hurt:
        few = "too few examples to tell whether quality changed"
        yield "no change in quality seen" if "no change seen" in verdicts else few
        if comparison.flips.newly_failed:
            yield f"{format_count(comparison.flips.newly_failed, 'example')} newly failed"


def list_measured(comparison: RunComparison) -> list[MetricChange]:
    """The metrics that any example was scored on, or failed on, in both runs."""
    return [change for change in comparison.changes if change.difference.n or change.failed]


def group_by_segment(changes: Sequence[SegmentChange]) -> list[tuple[str, list[SegmentChange]]]:
    """The changes of each segment together, in the order of the first of each."""
    by_column: dict[str, list[SegmentChange]] = {}
    for change in changes:
        by_column.setdefault(format_segment(change), []).append(change)
    return list(by_column.items())


def _describe_worse_segments(comparison: RunComparison, *, deciding: bool) -> Iterator[str]:
    """Segments that got worse, where the metric as a whole did not fall and where nothing got worse as a whole.

    Args:
        comparison: one run against a baseline.
        deciding: of metrics that decide the verdict, which stand first; else of the others, such as latency.
    """
    segments = [
        segment for segment in comparison.worse_segments if comparison.counts_for_verdict(segment.change) == deciding
    ]
    if visible := [
        segment
        for segment in segments
        if not segment.is_hidden and not any(map(comparison.counts_for_verdict, comparison.worse))
    ]:
        worse_metrics = {change.metric for change in comparison.worse}
        if segment_only := [segment for segment in visible if segment.change.metric not in worse_metrics]:
            yield f"worse where {_format_segments(segment_only)}"
    if hidden := [segment for segment in segments if segment.is_hidden]:
        first = hidden[0].change.metric
        overall = next(format_size(change) for change in comparison.metrics if change.metric == first)
        yield f"worse where {_format_segments(hidden)}, though overall {first} {overall}"


def _describe_better_segments(comparison: RunComparison) -> Iterator[str]:
    """Segments that got better in what decides, where no metric did as a whole."""
    if any(change.verdict == "better" and comparison.counts_for_verdict(change) for change in comparison.changes):
        return
    segments = [segment for segment in comparison.segments if segment.change.verdict == "better"]
    if deciding := [segment for segment in segments if comparison.counts_for_verdict(segment.change)]:
        yield f"better where {_format_segments(deciding)}"


def _describe_carrying_segments(comparison: RunComparison) -> Iterator[str]:
    """The segments that carry most of what metrics lost: of each the metrics, there and elsewhere."""
    by_segment: dict[str, list[str]] = {}
    for change in comparison.changes:
        where = None if change.where is None else change.where.among or change.where
        all_of_it = (change.difference.mean or 0.0) * change.difference.n
        if change.verdict != "worse" or change.kind == "amount" or where is None or not all_of_it:
            continue
        if where.inside * where.n / all_of_it >= MIN_LOSS_SHARE:
            inside, outside = (format_signed(value, change.kind) for value in (where.inside, where.outside))
            by_segment.setdefault(where.segment, []).append(f"{change.metric} {inside}, elsewhere {outside}")
    for segment, losses in sorted(by_segment.items(), key=lambda item: -len(item[1]))[:MAX_SEGMENTS_NAMED]:
        yield f"worse mostly in {to_line(segment)} ({'; '.join(losses[:MAX_SEGMENTS_NAMED])})"


def _format_segments(changes: Sequence[SegmentChange]) -> str:
    groups = group_by_segment(changes)
    phrases = [
        f"{where} ({', '.join(f'{item.change.metric} {format_size(item.change)}' for item in changes[:MAX_NAMED])})"
        for where, changes in groups[:MAX_SEGMENTS_NAMED]
    ]
    n_remaining = len(groups) - len(phrases)
    return " and ".join(phrases) + (f" and in {format_count(n_remaining, 'more segment')}" if n_remaining else "")


def _format_metrics(changes: Sequence[MetricChange], max_named: int) -> str:
    """Metrics with their differences, the largest first and amounts last; the first few."""
    layers = list(LAYERS)

    def sort_key(change: MetricChange) -> tuple[bool, float, int, str]:
        return (
            change.kind == "amount",
            -abs(change.difference.mean or 0.0),
            layers.index(change.measures),
            change.metric,
        )

    order = sorted(changes, key=sort_key)
    phrases = [f"{change.metric} {format_size(change)}" for change in order]
    n_remaining = len(phrases) - max_named
    if n_remaining > 0:
        return f"{', '.join(phrases[:max_named])} and {n_remaining} more"
    return phrases[0] if len(phrases) == 1 else f"{', '.join(phrases[:-1])} and {phrases[-1]}"


def describe_matched(comparison: RunComparison) -> str:
    """What two runs were compared over."""
    m = comparison.matched
    if m.paired:
        failed = max((change.failed for change in comparison.metrics), default=0)
        cluster_text = f", in {format_count(m.clusters, 'cluster')}" if m.clusters else ""
        return f"{format_count(m.n, 'example')} in both{cluster_text}" + (
            f", scores failed on {failed:,} of them" if failed else ""
        )
    return (
        f"two samples of traffic: {format_count(m.only_new + m.n, 'example')} now, {(m.only_base or 0) + m.n:,} before"
    )


def list_unmatched(comparison: RunComparison) -> list[tuple[str, int, tuple[str, ...]]]:
    """Examples of one run only: (where, how many, the first ids)."""
    m = comparison.matched
    groups = (("only in this run", m.only_new, m.ids_new), ("only in the baseline", m.only_base or 0, m.ids_base))
    return [group for group in groups if group[1]]


def format_segment(change: SegmentChange) -> str:
    """A segment: type=multi_hop."""
    return f"{to_line(change.column)}={to_line(change.value)}"


def format_size(change: MetricChange) -> str:
    """The difference in short: −0.10, or as a share of what an amount was: −55%."""
    if change.kind == "amount":
        return format_relative_change(change)
    return format_signed(change.decisive_estimate.mean, change.kind)


def format_labeled_change(change: MetricChange) -> str:
    """The difference in short with what it is called: −0.10 ▼ worse; – without examples in both."""
    if change.difference.mean is None:
        return "–"
    sign, _ = VERDICTS[change.verdict]
    return f"{format_size(change)} {sign} {LABELS[change.verdict]}"


def format_overall(change: SegmentChange) -> str:
    """The difference over all examples, beside that of a segment and in the same unit."""
    return format_signed(change.whole, change.change.kind)


def format_before_after(change: MetricChange) -> tuple[str, str]:
    """Both means, with their unit."""
    return format_metric_value(change.base, change.metric, change.kind), format_metric_value(
        change.new, change.metric, change.kind
    )


def format_p_value(p: float | None) -> str:
    """A p-value as people read it.

    >>> format_p_value(0.5), format_p_value(0.034), format_p_value(0.00001), format_p_value(None)
    ('0.50', '0.034', '<0.0001', '–')
    """
    if p is None:
        return "–"
    return "<0.0001" if p < 1e-4 else f"{p:.2f}" if p >= 0.095 else f"{p:.2g}"


def format_tally(change: MetricChange) -> str:
    """Wins, ties and losses: 12 / 80 / 8."""
    return f"{change.wins:,} / {change.ties:,} / {change.losses:,}" if change.wins + change.ties + change.losses else ""


def describe_flip(flip: Flip) -> str:
    """What flipped: failed now (hallucinated); recall@5 1 → 0."""
    turns = []
    if flip.new.failed and not flip.base.failed:
        turns.append("now fails")
    elif flip.base.failed and not flip.new.failed:
        turns.append("no longer fails")
    turns += [f"{score.metric} {score.base:g} → {score.new:g}" for score in flip.scores]
    return "; ".join(turns)


def format_causes(flip: Flip) -> str:
    """Both causes: none → hallucinated."""
    names = [(response.cause or UNNAMED) if response.failed else "none" for response in (flip.base, flip.new)]
    return names[0] if names[0] == names[1] else f"{names[0]} → {names[1]}"


def describe_flips(comparison: RunComparison) -> str:
    """How many examples flipped; "" for none."""
    flips = comparison.flips
    if not flips.lost and not flips.gained:
        return ""
    fail = f"{flips.newly_failed:,} now fail, {flips.mended:,} no longer fail"
    return f"{flips.lost:,} got worse, {flips.gained:,} better; {fail}."


def get_p_heading(compared: BaselineComparison) -> str:
    """What stands above the p-values."""
    return "p" if compared.correction == "none" else "corrected p"


def describe_verdict_method(compared: BaselineComparison) -> str:
    """How verdicts came about, in a sentence or two."""
    alpha, how = f"{1 - compared.level:.2g}", CORRECTION_WORDS[compared.correction]
    words = (
        f"Better, worse or changed: the {compared.level:.0%} interval of the paired difference excludes 0, and p, "
        f"{how} {_describe_tests(compared.tests)} in the table, is at most {alpha}."
    )
    if not compared.tests:
        words += " Here, too few examples or clusters differ for any test to show a change."
    if compared.segment_tests:
        words += f" Segments are corrected separately: {format_count(compared.segment_tests, 'test')}."
    return words


def _describe_tests(count: int) -> str:
    return f"all {count:,} tests" if count > 1 else "the one test" if count else "the tests"


def describe_methods(comparison: RunComparison) -> str:
    """The intervals and tests that were chosen."""
    intervals = dict.fromkeys(
        change.difference.widest_interval.method for change in comparison.metrics if change.difference.widest_interval
    )
    tests = dict.fromkeys(change.test for change in comparison.metrics if change.test)
    if not intervals:
        return ""
    return opened(f"intervals: {', '.join(intervals)}. Tests: {', '.join(tests) or 'none'}.")
