"""How numbers and counts are written, the same in every report."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, TypeVar

from ragauge.core.messages import UNITS, format_count, format_metric_value, format_signed, format_value
from ragauge.core.score import STATUSES
from ragauge.metrics.reasons import TOO_FEW_CONTROLS, UNREAD
from ragauge.scores.results.comparison import MetricChange
from ragauge.scores.results.overview import Alignment, MeanEstimate
from ragauge.scores.results.scorecard import Finding, Interval, ScorecardData, Summary
from ragauge.scores.segments import compute_shortfall
from ragauge.stats.judge_error import WITH_ERROR
from ragauge.stats.ppi_mean import LabelCorrectedMean

if TYPE_CHECKING:
    from ragauge.scores.results.comparison import MetricChange

LAYERS: Mapping[str, str] = {
    "retrieval": "Retrieval: was the evidence found?",
    "generation": "Generation: was it used faithfully?",
    "end_to_end": "End to end: is the answer right?",
}
ARROWS: Mapping[str, str] = {"higher": "", "lower": " ↓", "neither": ""}
UNNAMED = "cause not decided"
SIGNS, MIN_END = "+\N{MINUS SIGN}", 0.0001  # of a difference: its signs, the least that an end is written as
MAX_IGNORED = 0.30  # of first passages, from which ranking and generator are said to disagree
HEADLINE = ("recall@5", "context_recall", "faithfulness", "answer_correctness", "answer_relevance", "context_precision")
# the number that stands for a layer in the strip at the top, the first that was scored
FIRST_OF_LAYER: Mapping[str, tuple[str, ...]] = {
    "retrieval": ("context_recall", "recall", "ndcg", "mrr", "context_precision", "precision", "hit", "map"),
    "generation": ("faithfulness", "answer_relevance", "fabricated_specifics"),
    "end_to_end": ("answer_correctness", "answer_recall", "completeness", "criteria_met", "token_f1", "exact_match"),
}
STATES = {"running": "in flight", "interrupted": "stopped"}  # what lists call the states of runs that they rename
SHORT_LAYERS: Mapping[str, str] = {"retrieval": "Retrieval", "generation": "Generation", "end_to_end": "End to end"}
LABELS: Mapping[str, str] = {
    "supported": "supported by the passages",
    "contradicted": "contradicted by the passages",
    "not_in_context": "not in the passages",
    "unclear": "unclear whether the passages support it",
    "failed": "no verdict",
}

# what moves a cursor, what no file can hold, and what turns the direction of all that stands behind it
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")


def make_safe(text: str) -> str:
    r"""Text from data without control characters, so that it cannot move a terminal's cursor or colour it.

    What no file can hold (half a surrogate pair) goes too, and what overrides, embeds or isolates a direction of
    writing: a sign stands where each was. A line break of Windows is one line break.

    >>> make_safe("a\x1b[31mb"), make_safe("a\r\nb"), make_safe("a\u202eb")
    ('a�[31mb', 'a\nb', 'a�b')
    """
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", text.replace("\r\n", "\n"))


def to_line(text: str, max_chars: int = 0) -> str:
    r"""Text from data on one line, cut to `max_chars` characters where that is given.

    >>> to_line("one\n  two three", 8)
    'one two…'
    """
    joined = " ".join(make_safe(text).split())
    return joined if not max_chars or len(joined) <= max_chars else joined[: max_chars - 1].rstrip() + "…"


def escape_cell(text: str) -> str:
    r"""Text that stays text in a Markdown table.

    >>> escape_cell("a|b <script>")
    'a\\|b &lt;script&gt;'
    """
    text = make_safe(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\\", "\\\\")
    for mark in "|`*_[]~#":
        text = text.replace(mark, f"\\{mark}")
    text = re.sub(r"(?<!\w)@(?=\w)", "@\N{WORD JOINER}", text)  # so that a name in the data notifies nobody
    return " ".join(text.split())


def between(interval: Interval | None, kind: str = "mean") -> str:
    """An interval in brackets; "" where there is none."""
    return "" if interval is None else f"[{format_value(interval.low, kind)}, {format_value(interval.high, kind)}]"


def interval(summary: Summary) -> str:
    """A summary's interval in brackets; "" where there is none."""
    return between(summary.interval, summary.kind)


def with_error(summary: Summary) -> str:
    """A summary's interval including judge error, in brackets; "" where nobody judged or that is not known."""
    return between(summary.judged, summary.kind)


def estimate(summary: Summary | MeanEstimate) -> str:
    """Mean and interval: 0.83 [0.78, 0.88]; 0.71, sampling [0.68, 0.75], including judge error [0.52, 0.88]."""
    kind = summary.kind if isinstance(summary, Summary) else "mean"
    name = summary.metric if isinstance(summary, Summary) else ""
    mean, interval_text = format_metric_value(summary.mean, name, kind), between(summary.interval, kind)
    if summary.judged is None:
        return f"{mean} {interval_text}".strip()
    return f"{mean}, sampling {interval_text}{WITH_ERROR} {between(summary.judged, kind)}"


def describe_corrected_mean(corrected: LabelCorrectedMean | None, *, change: bool = False) -> str:
    """A label-corrected mean in words; "" for none.

    0.83 [0.78, 0.87], corrected by 150 human labels (mean 0.80; as precise as 270 labels alone) · judge alone 0.91
    """
    if corrected is None:
        return ""
    write = format_signed if change else format_value
    interval_text = f"[{write(corrected.interval.low)}, {write(corrected.interval.high)}]"
    worth = "" if corrected.effective is None else f"; as precise as {round(corrected.effective):,} labels alone"
    return (
        f"{write(corrected.mean)} {interval_text}, corrected by {corrected.n:,} human labels (mean "
        f"{write(corrected.classical)}{worth}) · "
        f"judge alone {write(corrected.judged)}"
    )


def known_no(card: ScorecardData) -> str:
    """What passages that have nothing to do with the question score on each judged metric; "" where none were asked."""
    controls = card.judge.controls
    metric_names = [
        summary.metric for summary in card.summaries if summary.mean is not None and summary.direction == "higher"
    ]
    scores = [f"{metric} {format_value(controls[metric])}" for metric in metric_names if metric in controls]
    return f"Controls (passages and answers from other questions) score: {', '.join(scores)}." if scores else ""


def unreadable(card: ScorecardData) -> list[str]:
    """What the judge could not read, a sentence for each kind of text: which metrics, and of how many examples."""
    counts: dict[str, dict[str, int]] = {}
    for summary in card.summaries:
        for reason, count in summary.reasons.items():
            if summary.not_read and UNREAD.parse_reason(reason):
                counts.setdefault(reason, {})[summary.metric] = count
    sentences = [
        f"Not read on {format_count(max(by_metric.values()), 'example')} ({', '.join(by_metric)}): {to_line(reason)}."
        for reason, by_metric in counts.items()
    ]
    if sentences:
        few = any(TOO_FEW_CONTROLS.parse_reason((UNREAD.parse_reason(reason) or ("",))[-1]) for reason in counts)
        more = "; more answers, which give more control pairs, may help too" if few else ""
        sentences[-1] += f" Use a model judge (--judge) or your own labels (ragauge label draw) to measure this{more}."
    return sentences


def rectified_means(card: ScorecardData) -> list[str]:
    """What people's labels make of each metric, of the whole run first, then of segments with labels enough."""
    labeled_summaries = [("", summary) for summary in card.summaries]
    labeled_summaries += [
        (f", {to_line(column)} = {to_line(value)}", summary)
        for column, values in card.segments.items()
        for value, summaries in values.items()
        for summary in summaries
    ]
    return [
        f"{summary.metric}{where}: {corrected_text}."
        for where, summary in labeled_summaries
        if (corrected_text := describe_corrected_mean(summary.rectified))
    ]


def difference(change: MetricChange, kind: str = "mean") -> str:
    """A change with its unit and interval, the judge's error in it where that is known: −0.10 [−0.15, −0.05]."""
    interval = change.decisive_estimate.widest_interval
    interval_text = (
        ""
        if interval is None
        else f" [{_format_end(interval.low, interval, kind)}, {_format_end(interval.high, interval, kind)}]"
    )
    text = format_signed(change.decisive_estimate.mean, kind)
    prefix, suffix = UNITS.get(change.metric.partition(":")[0], ("", ""))
    return (text[:1] + prefix + text[1:] if prefix and text[:1] in SIGNS else prefix + text) + suffix + interval_text


def _format_end(value: float, interval: Interval, kind: str) -> str:
    """An end of a difference; one of an interval that leaves 0 out is not written as 0."""
    text = format_signed(value, kind)
    if text.strip("0.") or not value or interval.low <= 0 <= interval.high:
        return text
    return SIGNS[value < 0] + f"{max(abs(value), MIN_END):.1g}"


def format_relative_change(change: MetricChange) -> str:
    """A change of an amount as a share of what it was: −55%, or +0.4%."""
    if change.difference.mean is None or not change.base:
        return format_signed(change.difference.mean, "amount")
    moved = change.difference.mean / change.base
    text = f"{abs(moved):.0%}" if abs(moved) >= 0.01 or not moved else f"{max(0.001, abs(moved)):.1%}"
    return text if not moved else ("+" if moved > 0 else "−") + text


def counts(summary: Summary) -> str:
    """The counts of all four statuses; they sum to n. Zeros other than scored are left out."""
    by_status = {status: getattr(summary, status) for status in STATUSES}
    visible_counts = {
        status.replace("_", " "): count for status, count in by_status.items() if count or status == "scored"
    }
    return " · ".join(f"{count} {status}" for status, count in visible_counts.items())


def by_layer(summaries: Sequence[Summary]) -> list[tuple[str, list[Summary]]]:
    """Summaries with at least one example that they apply to, by layer, in the order asked."""
    applicable = [summary for summary in summaries if summary.n and not summary.is_inapplicable]
    groups = [(layer, [summary for summary in applicable if summary.measures == layer]) for layer in LAYERS]
    return [(layer, group) for layer, group in groups if group]


def left_out(summaries: Sequence[Summary]) -> list[tuple[str, list[str]]]:
    """Metrics that apply to no example, by reason: (reason, names)."""
    out: dict[str, list[str]] = {}
    for summary in summaries:
        if summary.is_inapplicable:
            out.setdefault(summary.missing_reason or "not applicable", []).append(summary.metric)
    return list(out.items())


def confidence(finding: Finding) -> str:
    """How sure a finding is, and what it was read against: high confidence, read against the baseline."""
    if not finding.against:
        return f"{finding.confidence} confidence"
    which = "the baseline" if finding.against == "baseline" else finding.against
    return f"{finding.confidence} confidence, compared with {which}"


def select_headline_metrics(summaries: Sequence[Summary], max_n: int = 4) -> list[str]:
    """The few metrics that stand for each layer in a narrow table."""
    return select_headline_names(
        [summary.metric for summary in summaries if summary.scored and summary.kind != "amount"], max_n
    )


def select_headline_names(scored: Sequence[str], max_n: int = 4) -> list[str]:
    """The same of their names."""
    return [*([name for name in HEADLINE if name in scored] or scored)][:max_n]


class MetricOfLayer(Protocol):
    """What tells whether a metric's mean can stand for its layer."""

    @property
    def metric(self) -> str:
        """Printed name."""

    @property
    def measures(self) -> str:
        """The layer: retrieval, generation or end_to_end."""

    @property
    def kind(self) -> str:
        """rate, mean or amount."""

    @property
    def mean(self) -> float | None:
        """None when nothing is scored."""


OfLayer = TypeVar("OfLayer", bound=MetricOfLayer)


def first_of_layers(summaries: Sequence[OfLayer]) -> list[tuple[str, OfLayer]]:
    """One summary a layer that stands for it: (layer, summary); layers without such a score are left out."""
    selected = []
    for layer, preferred in FIRST_OF_LAYER.items():
        scored = [s for s in summaries if s.measures == layer and s.mean is not None and s.kind != "amount"]
        names = [s.metric.partition("@")[0] for s in scored]
        index = next((names.index(name) for name in preferred if name in names), None)
        if index is not None:
            selected.append((layer, scored[index]))
    return selected


def is_clearly_worse(segment: Summary, overall: Summary) -> bool:
    """Whether a segment's whole interval lies on the worse side of the mean over all examples."""
    return (compute_shortfall(segment, overall) or 0.0) > 1


def pareto_line(card: ScorecardData, max_n: int = 3) -> str:
    """How much of the failures the most frequent causes make: 48% of 93 failures come from hallucinated."""
    first = [(cause, count) for cause, count in card.causes.items() if cause][:max_n]
    undecided = card.causes.get("", 0)
    if not card.failed_examples or not (first or undecided):
        return ""
    failures_text = format_count(card.failed_examples, "failure")
    if not first:
        return f"No cause could be decided for {failures_text}."
    names = [to_line(cause) for cause, _ in first]
    joined = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
    fraction = sum(count for _, count in first) / card.failed_examples
    come = "comes" if card.failed_examples == 1 else "come"
    undecided_text = f"; the cause of {undecided / card.failed_examples:.0%} is undecided" if undecided else ""
    return f"{fraction:.0%} of {failures_text} {come} from {joined}{undecided_text}."


def ignored(alignment: Alignment) -> str:
    """How often the first passage went unused, and what that says against the starting point of 30 %."""
    share_ignored = alignment.ignored_share
    if share_ignored.mean is None:
        return "No answer makes claims based on passages, so their use cannot be measured."
    interval_text = (
        f" [{share_ignored.interval.low:.0%}, {share_ignored.interval.high:.0%}]" if share_ignored.interval else ""
    )
    words = (
        f"The first passage was not used in {alignment.ignored_top:,} of {alignment.answers:,} answers, "
        f"{share_ignored.mean:.0%}{interval_text}"
    )
    if alignment.flagged:
        return f"{words}: more than 30%, so ranking and generator disagree."
    if alignment.has_little_relevant:
        return f"{words}: hardly any passage is relevant, so this shows nothing about the ranking or the generator."
    if share_ignored.interval is None or share_ignored.interval.high > MAX_IGNORED:
        return f"{words}: too few examples to tell whether this is more than 30%."
    return f"{words}: below 30%, the level at which ranking and generator disagree."


def correlation(alignment: Alignment) -> str:
    """How rank and use go together, in a sentence; "" where it is not known."""
    if alignment.correlation is None:
        return ""
    interval = alignment.correlation_interval
    interval_text = f" [{format_signed(interval.low)}, {format_signed(interval.high)}]" if interval else ""
    sure = interval is None or interval.low > 0 or interval.high < 0
    way = (
        "no clear order"
        if not sure
        else "higher-ranked passages are used more"
        if alignment.correlation < 0
        else ("lower-ranked passages are used more")
    )
    return f"Rank and use: Spearman's correlation {format_signed(alignment.correlation)}{interval_text}, {way}."


def opened(sentence: str) -> str:
    """A sentence with its first letter large.

    >>> opened("recall fell")
    'Recall fell'
    """
    return sentence[:1].upper() + sentence[1:]


def share(count: int, total: int) -> str:
    """A count as a share of a whole: 62 of 120 (52 %)."""
    return f"{count:,} of {total:,} ({count / total:.0%})" if total else "0 of 0"


def describe_interval_methods(card: ScorecardData) -> str:
    """Which kind of interval each metric has, by what it measures; "" where none has one."""
    by: dict[str, list[str]] = {}
    for summary in card.summaries:
        if summary.interval is not None:
            by.setdefault(summary.interval.method, []).append(summary.metric)
    commonest = max(by, key=lambda method: len(by[method]), default="")
    methods = [f"{method} for {', '.join(names)}" for method, names in by.items() if method != commonest]
    methods += [f"{commonest} for {'the others' if methods else 'every metric'}"] if commonest else []
    return f"{card.level:.0%} intervals: {'; '.join(methods)}." if methods else ""
