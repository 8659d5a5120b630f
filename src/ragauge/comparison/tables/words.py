"""How a comparison is said, the same in every report."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ragauge.comparison.comparability import NAME
from ragauge.comparison.regressions import CARRIES
from ragauge.core.messages import plural, signed, valued
from ragauge.core.response import Run
from ragauge.rendering.words import LAYERS, UNNAMED, between, line, opened, relative
from ragauge.scores.results.change import MetricChange
from ragauge.scores.results.comparison import Compared, Flip, RunComparison, SegmentChange, Setting
from ragauge.scores.results.overview import MeanEstimate
from ragauge.scores.results.scorecard import ScorecardData

CORRECTED = {  # correction -> what is said of p
    "holm": "corrected by Holm for",
    "bh": "corrected by Benjamini and Hochberg for",
    "none": "not corrected for",
}
VERDICTS: Mapping[str, tuple[str, str]] = {  # verdict -> its sign and how it is introduced, in the order shown
    "worse": ("▼", "Worse"),
    "better": ("▲", "Better"),
    "changed": ("◆", "Changed, neither way is better"),
    "not enough data": ("?", "Not enough data"),
    "no change seen": ("=", "No change seen"),
}
HEADS: Mapping[str, str] = {
    "worse": "Worse than",
    "better": "Better than",
    "mixed": "Mixed against",
    "changed": "Changed against",
    "no change seen": "No change seen against",
    "not enough data": "Not enough data to tell from",
}
LABELS: Mapping[str, str] = {  # verdict -> in a cell
    "worse": "worse",
    "better": "better",
    "changed": "changed",
    "not enough data": "unclear",
    "no change seen": "none seen",
}
DIFFERENCES = "Under each run its difference to {base}; latency, tokens and cost as a share of what they were."
MOST_WORSE, MOST_NAMED = 5, 3
SEGMENTS_NAMED = 2
LONGEST = 80  # characters of a setting's value


def sentence(comparison: RunComparison, most_worse: int = MOST_WORSE) -> str:
    """The outcome in a sentence: what got worse first, before it the segment that carries the loss, or hides from it.

    Args:
        comparison: one run against a baseline.
        most_worse: so many of the metrics that got worse are named.
    """
    base = line(comparison.base.name)
    if not comparison.changes and not comparison.newly_unanswered:
        return f"Nothing can be compared with {base}: no metric and example in both."
    parts = [*_places(comparison, deciding=True), *_carrying(comparison), *_unmoved(comparison)]
    words = {"worse": "worse on", "better": "better on", "changed": "changed"}
    found = {verdict: [one for one in comparison.changes if one.verdict == verdict] for verdict in words}

    def last(verdict: str) -> tuple[bool, bool]:
        decides = any(map(comparison.decides, found[verdict]))
        return not decides, verdict != "better" or comparison.verdict != "better"

    for verdict in sorted(words, key=last):
        if found[verdict]:
            most = most_worse if verdict == "worse" else MOST_NAMED
            parts.append(f"{words[verdict]} {_named(found[verdict], most)}")
    if comparison.newly_unanswered and not any(change.metric == NAME for change in comparison.worse):
        parts.append(f"{plural(comparison.newly_unanswered, 'call')} failed that did not before")
    parts += [*_better_places(comparison), *_places(comparison, deciding=False)]
    head = f"{HEADS[comparison.verdict]} {base}"
    unclear = sum(change.verdict == "not enough data" for change in measured(comparison))
    if not parts and comparison.verdict == "no change seen":
        parts.append(f"{plural(len(measured(comparison)) - unclear, 'metric')} looked at")
    if unclear and comparison.verdict != "not enough data":
        parts.append(f"not enough data on {unclear}")
    if parts and comparison.verdict in ("worse", "better"):  # the head has said it
        parts[0] = parts[0].removeprefix(f"{comparison.verdict} on ").removeprefix("worse mostly ")
    if parts and comparison.verdict == "better" and parts[0].startswith("better where "):  # nowhere else
        return f"{head} {'; '.join(parts).removeprefix('better ')} ({matched(comparison)})."
    return f"{head}: {'; '.join(parts)} ({matched(comparison)})." if parts else f"{head} ({matched(comparison)})."


def against(card: ScorecardData) -> str:
    """How a run stands against its baseline: the same sentence, with every metric that got worse; "" without one."""
    return "" if card.baseline is None else sentence(card.baseline, len(card.baseline.changes))


def _unmoved(comparison: RunComparison) -> Iterator[str]:
    """What is said of quality before latency, tokens and cost where nothing but these moved, failures included."""
    mine = [change for change in measured(comparison) if change.kind != "amount"]
    hurt = any(comparison.decides(part.change) for part in comparison.worse_segments)
    told = {change.verdict for change in mine}
    others = [change for change in comparison.metrics if change.kind == "amount"]
    moved = any(change.verdict in ("worse", "better", "changed") for change in others)
    if mine and moved and not {"worse", "better", "changed"} & told and not hurt:
        few = "too few examples to tell whether quality changed"
        yield "no change of quality seen" if "no change seen" in told else few
        if comparison.flips.newly_failed:
            yield f"{plural(comparison.flips.newly_failed, 'example')} failed now and not before"


def measured(comparison: RunComparison) -> list[MetricChange]:
    """The metrics that any example was scored on, or failed on, in both runs."""
    return [change for change in comparison.changes if change.difference.n or change.failed]


def by_segment(parts: Sequence[SegmentChange]) -> list[tuple[str, list[SegmentChange]]]:
    """The changes of each segment together, in the order of the first of each."""
    by_column: dict[str, list[SegmentChange]] = {}
    for part in parts:
        by_column.setdefault(place(part), []).append(part)
    return list(by_column.items())


def _places(comparison: RunComparison, *, deciding: bool) -> Iterator[str]:
    """Segments that got worse, where the metric as a whole did not fall and where nothing got worse as a whole.

    Args:
        comparison: one run against a baseline.
        deciding: of metrics that decide the verdict, which stand first; else of the others, such as latency.
    """
    mine = [part for part in comparison.worse_segments if comparison.decides(part.change) == deciding]
    if shown := [part for part in mine if not part.hidden and not any(map(comparison.decides, comparison.worse))]:
        whole = {change.metric for change in comparison.worse}
        if told := [part for part in shown if part.change.metric not in whole]:
            yield f"worse where {_segments(told)}"
    if hidden := [part for part in mine if part.hidden]:
        first = hidden[0].change.metric
        whole_of = next(f"{first} {size(change)}" for change in comparison.metrics if change.metric == first)
        yield f"worse where {_segments(hidden)}, though overall {whole_of}"


def _better_places(comparison: RunComparison) -> Iterator[str]:
    """Segments that got better in what decides, where no metric did as a whole."""
    if any(change.verdict == "better" and comparison.decides(change) for change in comparison.changes):
        return
    mine = [part for part in comparison.segments if part.change.verdict == "better"]
    if told := [part for part in mine if comparison.decides(part.change)]:
        yield f"better where {_segments(told)}"


def _carrying(comparison: RunComparison) -> Iterator[str]:
    """The segments that carry most of what metrics lost: of each the metrics, there and elsewhere."""
    by_segment: dict[str, list[str]] = {}
    for change in comparison.changes:
        where = None if change.where is None else change.where.among or change.where
        all_of_it = (change.difference.mean or 0.0) * change.difference.n
        if change.verdict != "worse" or change.kind == "amount" or where is None or not all_of_it:
            continue
        if where.inside * where.n / all_of_it >= CARRIES:
            inside, outside = (signed(value, change.kind) for value in (where.inside, where.outside))
            by_segment.setdefault(where.segment, []).append(f"{change.metric} {inside}, elsewhere {outside}")
    for segment, told in sorted(by_segment.items(), key=lambda one: -len(one[1]))[:SEGMENTS_NAMED]:
        yield f"worse mostly in {line(segment)} ({'; '.join(told[:SEGMENTS_NAMED])})"


def _segments(parts: Sequence[SegmentChange]) -> str:
    groups = by_segment(parts)
    phrases = [
        f"{where} ({', '.join(f'{part.change.metric} {size(part.change)}' for part in mine[:MOST_NAMED])})"
        for where, mine in groups[:SEGMENTS_NAMED]
    ]
    rest = len(groups) - len(phrases)
    return " and ".join(phrases) + (f" and in {plural(rest, 'more segment')}" if rest else "")


def _named(changes: Sequence[MetricChange], most: int) -> str:
    """Metrics with their differences, the largest first and amounts last; the first few."""
    layers = list(LAYERS)

    def place(change: MetricChange) -> tuple[bool, float, int, str]:
        return (
            change.kind == "amount",
            -abs(change.difference.mean or 0.0),
            layers.index(change.measures),
            change.metric,
        )

    order = sorted(changes, key=place)
    phrases = [f"{change.metric} {size(change)}" for change in order]
    rest = len(phrases) - most
    if rest > 0:
        return f"{', '.join(phrases[:most])} and {rest} more"
    return phrases[0] if len(phrases) == 1 else f"{', '.join(phrases[:-1])} and {phrases[-1]}"


def matched(comparison: RunComparison) -> str:
    """What two runs were compared over."""
    m = comparison.matched
    if m.paired:
        failed = max((change.failed for change in comparison.metrics), default=0)
        of = f", in {plural(m.clusters, 'cluster')}" if m.clusters else ""
        return f"{plural(m.n, 'example')} in both{of}" + (f", scores failed on {failed:,} of them" if failed else "")
    return f"two samples of traffic: {plural(m.only_new + m.n, 'example')} now, {(m.only_base or 0) + m.n:,} before"


def unmatched(comparison: RunComparison) -> list[tuple[str, int, tuple[str, ...]]]:
    """Examples of one run only: (where, how many, the first ids)."""
    m = comparison.matched
    sides = (("only in this run", m.only_new, m.ids_new), ("only in the baseline", m.only_base or 0, m.ids_base))
    return [side for side in sides if side[1]]


def place(part: SegmentChange) -> str:
    """A segment: type=multi_hop."""
    return f"{line(part.column)}={line(part.value)}"


def size(change: MetricChange) -> str:
    """The difference in short: −0.10, or as a share of what an amount was: −55%."""
    return relative(change) if change.kind == "amount" else signed(change.decides.mean, change.kind)


def labelled(change: MetricChange) -> str:
    """The difference in short with what it is called: −0.10 ▼ worse; – without examples in both."""
    if change.difference.mean is None:
        return "–"
    sign, _ = VERDICTS[change.verdict]
    return f"{size(change)} {sign} {LABELS[change.verdict]}"


def overall(part: SegmentChange) -> str:
    """The difference over all examples, beside that of a segment and in the same unit."""
    return signed(part.whole, part.change.kind)


def before_after(change: MetricChange) -> tuple[str, str]:
    """Both means, with their unit."""
    return valued(change.base, change.metric, change.kind), valued(change.new, change.metric, change.kind)


def chance(p: float | None) -> str:
    """A p-value as people read it.

    >>> chance(0.5), chance(0.034), chance(0.00001), chance(None)
    ('0.50', '0.034', '<0.0001', '–')
    """
    if p is None:
        return "–"
    return "<0.0001" if p < 1e-4 else f"{p:.2f}" if p >= 0.095 else f"{p:.2g}"


def tally(change: MetricChange) -> str:
    """Wins, ties and losses: 12 / 80 / 8."""
    return f"{change.wins:,} / {change.ties:,} / {change.losses:,}" if change.wins + change.ties + change.losses else ""


def ends(estimate: MeanEstimate) -> str:
    """A quantile's interval: [812, 871]."""
    return between(estimate.interval, "amount")


def middle(estimate: MeanEstimate, metric: str) -> str:
    """A quantile without its interval: 840 ms."""
    return valued(estimate.mean, metric)


def turned(flip: Flip) -> str:
    """What flipped: failed now (hallucinated); recall@5 1 → 0."""
    turns = []
    if flip.new.failed and not flip.base.failed:
        turns.append("failed now")
    elif flip.base.failed and not flip.new.failed:
        turns.append("no longer fails")
    turns += [f"{score.metric} {score.base:g} → {score.new:g}" for score in flip.scores]
    return "; ".join(turns)


def causes(flip: Flip) -> str:
    """Both causes: none → hallucinated."""
    names = [(side.cause or UNNAMED) if side.failed else "none" for side in (flip.base, flip.new)]
    return names[0] if names[0] == names[1] else f"{names[0]} → {names[1]}"


def flips_line(comparison: RunComparison) -> str:
    """How many examples flipped; "" for none."""
    flips = comparison.flips
    if not flips.lost and not flips.gained:
        return ""
    fail = f"{flips.newly_failed:,} failed now and not before, {flips.mended:,} before and not now"
    return f"{flips.lost:,} got worse, {flips.gained:,} better; {fail}."


def value_of(value: Any) -> str:
    """A setting's value on one line."""
    try:
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    except (TypeError, ValueError):
        text = str(value)
    return line(text, LONGEST) or '""'


def settings(comparison: RunComparison) -> list[tuple[str, str, str]]:
    """What differs between the configurations: (sign, path, value or both values)."""
    diff = comparison.settings

    def both(setting: Setting) -> str:
        return f"{value_of(setting.base)} → {value_of(setting.new)}"

    return [
        *(("~", line(setting.path), both(setting)) for setting in diff.changed),
        *(("+", line(setting.path), value_of(setting.new)) for setting in diff.added),
        *(("−", line(setting.path), value_of(setting.base)) for setting in diff.removed),
    ]


def states(comparison: RunComparison, compared: Compared) -> list[tuple[str, str, str]]:
    """What else differs between the runs: (what, before, now)."""
    base, run = compared.base, comparison.run
    pairs = (
        ("system", base.system, run.system),
        ("code", base.git, run.git),
        ("variant", _variant(base, run), _variant(run, base)),
        ("set version", base.set_version[:12], run.set_version[:12]),
    )
    return [
        (what, line(before) or "not recorded", line(other) or "not recorded")
        for what, before, other in pairs
        if before != other
    ]


def _variant(run: Run, other: Run) -> str:
    """A run's variant; of a replay of the other run, what that leaves out of its latency."""
    if run.variant == "replayed" and run.config.get("context_from") == other.run_id:
        return f"replayed: the passages of {other.name}, so that its latency is without retrieval"
    return run.variant


def chance_heading(compared: Compared) -> str:
    """What stands above the p-values."""
    return "p" if compared.correction == "none" else "p corrected"


def method(compared: Compared) -> str:
    """How verdicts came about, in a sentence or two."""
    alpha, how = f"{1 - compared.level:.2g}", CORRECTED[compared.correction]
    words = (
        f"Better, worse or changed: the {compared.level:.0%} interval of the paired difference leaves 0 out, and p, "
        f"{how} {_tests(compared.tests)} of the table, is at most {alpha}."
    )
    if not compared.tests:
        words += " Here too few examples, or clusters, differ for any test to tell."
    if compared.segment_tests:
        words += f" Segments are a family of their own: {plural(compared.segment_tests, 'test')}."
    return words


def _tests(count: int) -> str:
    return f"all {count:,} tests" if count > 1 else "the one test" if count else "the tests"


def methods(comparison: RunComparison) -> str:
    """The intervals and tests that were chosen."""
    intervals = dict.fromkeys(
        change.difference.widest.method for change in comparison.metrics if change.difference.widest
    )
    tests = dict.fromkeys(change.test for change in comparison.metrics if change.test)
    if not intervals:
        return ""
    return opened(f"intervals: {', '.join(intervals)}. Tests: {', '.join(tests) or 'none'}.")
