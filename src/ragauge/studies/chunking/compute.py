"""Studies of chunkers: what decides, and what trials show beside their means."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ragauge.core.messages import format_value
from ragauge.core.study import Trial
from ragauge.metrics.base import Metric
from ragauge.metrics.catalogue import parse_metric
from ragauge.scores.results.chart import ChartPoint, ReportChart
from ragauge.studies.figures import StudyContent, StudyKind, StudySummary, StudyTable
from ragauge.studies.means import compute_trial_means

CUTOFF = "token_recall@5"
OVERLAP_PARAMETERS = ("overlap", "chunk_overlap")


def _build_sections(summary: StudySummary) -> Iterable[StudyContent]:
    """Where cutoff and budget disagree, what overlap buys, what recall lacks; IoU and recall as charts."""
    decides = parse_metric(summary.metric) if summary.scored else None
    if decides is not None and len(summary.scores) > 1:
        yield from _describe_disagreement(summary, decides)
        yield from _describe_overlaps(summary, decides)
    if (loss_table := _build_loss_table(summary)) is not None:
        yield loss_table
    yield from _build_charts(summary)


CHUNKING = StudyKind(
    "chunking",
    (
        *(f"token_recall:budget={n}{fill}" for n in (1024, 2048, 512, 4096) for fill in ("", ":fill=whole")),
        "token_recall:budget=*",
        CUTOFF,
        "token_recall@*",
    ),
    ("index_tokens",),
    ("embedding_price", "chunks", "chunk_tokens", "gold_spans_cut"),
    _build_sections,
    (CUTOFF, "token_precision:budget=1024", "token_iou:budget=1024", "precision_omega"),
)


def _describe_disagreement(summary: StudySummary, decides: Metric) -> Iterator[str]:
    """Where equally many chunks prefer another trial than equally many tokens, neither by chance."""
    budget = getattr(decides, "budget", None)
    if budget is None or CUTOFF not in summary.names:
        return
    tops = []
    for metric in (CUTOFF, summary.metric):
        means = {
            trial: mean.mean or 0.0 for trial in summary.scores if (mean := summary.mean(trial, metric)) is not None
        }
        tops.append(max(means, key=means.__getitem__))
    by_k, by_budget = tops
    if by_k == by_budget:
        return
    pair = {name: summary.scores[name] for name in tops}
    gained = [
        next(mean for mean in compute_trial_means(pair, metric, base=by_budget) if mean.trial == by_k)
        for metric in (parse_metric(CUTOFF), decides)
    ]
    at_k, at_budget = (mean.difference_interval for mean in gained)
    if at_k is not None and at_budget is not None and at_k.low > 0 > at_budget.high:
        yield (
            f"With 5 chunks, {by_k} leads by {100 * (gained[0].difference or 0):.1f} points of recall; "
            f"with {budget:,} tokens, {by_budget} leads by {-100 * (gained[1].difference or 0):.1f}. A "
            "fixed k favors longer chunks, so the budget decides."
        )


def _describe_overlaps(summary: StudySummary, decides: Metric) -> Iterator[str]:
    """What overlap adds to the same chunker without, and what it costs the index."""
    complete = [trial for trial in summary.complete if trial.name in summary.scores]
    for trial in complete:
        without_overlap = next((entry for entry in complete if _is_same_without_overlap(entry, trial)), None)
        size_before, size_after = (
            entry.find_measurement_value("index_tokens") if entry else None for entry in (without_overlap, trial)
        )
        if without_overlap is None or not size_before or size_after is None:
            continue
        pair = {entry.name: summary.scores[entry.name] for entry in (without_overlap, trial)}
        gain = next(
            entry
            for entry in compute_trial_means(pair, decides, base=without_overlap.name)
            if entry.trial == trial.name
        )
        if gain.difference is not None and gain.difference_interval is not None:
            interval = gain.difference_interval
            chance_note = " (may be chance)" if interval.low <= 0 <= interval.high else ""
            yield (
                f"Overlap in {trial.name} adds {100 * gain.difference:+.1f} points "
                f"[{100 * interval.low:+.1f}, {100 * interval.high:+.1f}] of {summary.metric} for "
                f"{size_after / size_before - 1:.0%} more chunks in the index{chance_note}."
            )


def _is_same_without_overlap(base: Trial, trial: Trial) -> bool:
    def list_other_parameters(either: Trial) -> dict[str, object]:
        return {key: value for key, value in either.parameters.items() if key not in OVERLAP_PARAMETERS}

    def sum_overlap(either: Trial) -> float:
        return sum(
            value for key in OVERLAP_PARAMETERS if isinstance(value := either.parameters.get(key, 0), int | float)
        )

    return list_other_parameters(base) == list_other_parameters(trial) and sum_overlap(base) == 0 < sum_overlap(trial)


def _build_loss_table(summary: StudySummary) -> StudyTable | None:
    """What recall lacks to 1, split into what boundaries cost and what ranking costs."""
    attainable = summary.metric.replace("token_recall", "attainable_recall")
    if not summary.metric.startswith("token_recall") or attainable not in summary.names:
        return None
    rows, marked = [], False
    for trial in summary.complete:
        reached, recall = summary.mean(trial.name, attainable), summary.mean(trial.name)
        if reached is None or recall is None or reached.mean is None or recall.mean is None:
            continue
        greedy = bool(trial.find_measurement_value("attainable_greedy"))
        marked = marked or greedy
        signs = ("≤ ", "≥ ") if greedy else ("", "")
        losses = (1 - reached.mean, reached.mean - recall.mean)
        split = (f"{sign}{format_value(loss)}" for sign, loss in zip(signs, losses, strict=True))
        rows.append((trial.name, format_value(recall.mean), *split))
    headers = ("trial", "recall", "lost to boundaries", "lost to ranking")
    note = "≤, ≥: a greedy search was used where more than 12 chunks overlap the evidence."
    lead = f"{summary.metric}: recall + lost to boundaries + lost to ranking = 1."
    return StudyTable("Where recall is lost", headers, tuple(rows), headers[1:], (lead,), (note,) if marked else ())


def _build_charts(summary: StudySummary) -> Iterator[ReportChart]:
    iou = summary.metric.replace("token_recall", "token_iou")
    if iou in summary.names:
        yield ReportChart(f"{iou} by chunker", "bars", "", iou, tuple(_list_points(summary, iou)))
    for over, title in (("budget", "tokens in the context"), ("k", "chunks in the context")):
        metrics = [item for name in summary.names if name.startswith("token_recall") for item in [parse_metric(name)]]
        names_by_cutoff = [
            (cutoff, str(item))
            for item in metrics
            if (cutoff := getattr(item, over)) is not None and getattr(item, "unit", "") == "token"
        ]
        if len(names_by_cutoff) > 1:
            points = [
                ChartPoint(float(cutoff), item.mean, trial.name)
                for trial in summary.complete
                for cutoff, name in sorted(names_by_cutoff)
                if (item := summary.mean(trial.name, name)) is not None and item.mean is not None
            ]
            yield ReportChart(f"Recall by {over}", "lines", title, "token_recall", tuple(points), log=True)


def _list_points(summary: StudySummary, metric: str) -> Iterator[ChartPoint]:
    for trial in summary.complete:
        mean = summary.mean(trial.name, metric)
        if mean is not None and mean.mean is not None:
            bounds = (mean.interval.low, mean.interval.high) if mean.interval else (None, None)
            yield ChartPoint(trial.name, mean.mean, "", *bounds)
