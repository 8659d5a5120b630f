"""What a scorecard shows: what a team decides from, on about two screens."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from ragauge.comparison.gaps.losses import describe_losses
from ragauge.comparison.history import tables as history
from ragauge.comparison.tables.words import describe_against_baseline
from ragauge.core.label import ANNOTATOR_JUDGE_PREFIX
from ragauge.core.messages import format_command, format_count, format_metric_value, format_value
from ragauge.diagnosis.confirm.tables import describe_experiments
from ragauge.diagnosis.findings.cause_texts import find_words
from ragauge.evaluation.scorecard import bars
from ragauge.evaluation.scorecard.bars import list_worst_segments
from ragauge.rendering import judge_usage as judged
from ragauge.rendering.sections import (
    Bar,
    Col,
    LengthBars,
    Phrase,
    ReportColumn,
    ReportItem,
    ReportSection,
    ReportTable,
    TableCell,
    Tone,
    Wording,
    build_columns,
    build_table,
)
from ragauge.rendering.verdict_texts import first_thing, label_first, older_rule, outcomes, verdict
from ragauge.rendering.words import (
    ARROWS,
    LAYERS,
    UNNAMED,
    by_layer,
    confidence,
    counts,
    describe_interval_methods,
    difference,
    ignored,
    interval,
    known_no,
    left_out,
    opened,
    pareto_line,
    rectified_means,
    select_headline_metrics,
    share,
    unreadable,
    with_error,
)
from ragauge.scores.indicators import describe_reading
from ragauge.scores.results.comparison import MetricChange
from ragauge.scores.results.scorecard import Finding, ScorecardData, Summary

if TYPE_CHECKING:
    from pathlib import Path

MAX_FINDINGS = 5
MAX_CAUSES = 6
SIGNS: Mapping[str, str] = {"better": " ▲", "worse": " ▼", "changed": " ◆"}
TONES: Mapping[str, Tone] = {"better": "good", "worse": "bad"}
JUDGE_ERROR_HEADER = "including judge error"  # head of the column with the wider interval
SPREAD_HEADING = "Means of several repeats of the judge"
SPREAD_NOTE = "Every repeat judges the same responses; the first one is scored. Intervals do not include this spread."


def build_sections(card: ScorecardData, report: Path | None = None) -> Iterator[ReportSection]:
    """Verdict, numbers, causes, what to do, segments, how far to trust it, and where the full report is.

    Args:
        card: what was found.
        report: where the full report was written; None = say how to get it.
    """
    yield _build_head(card)
    yield ReportSection(
        table=build_score_table(card), notes=tuple(_list_notes(card)), after=tuple(_describe_pending(card))
    )
    if card.causes:
        yield ReportSection("Failures by cause", lead=(pareto_line(card),), table=_build_cause_table(card))
    if card.findings:
        yield ReportSection(
            "What to do",
            items=tuple(
                _build_finding_item(number, finding, describe_experiments(card.confirmed, finding.cause))
                for number, finding in enumerate(card.findings[:MAX_FINDINGS], 1)
            ),
        )
    if (worst := _build_worst_segments(card)) is not None:
        yield worst
    if segment_values := bars.list_sizes(card):
        yield ReportSection("Examples by segment", lead=tuple(f"  {segment.words}" for segment in segment_values))
    yield from history.build_report_section(card.history)
    if card.gaps is not None:
        gaps = format_command("show", card.run.name, "--gaps")
        yield ReportSection("Where quality is lost", lead=(describe_losses(card.gaps),), commands=(gaps,))
    alignment = card.overview.alignment
    if alignment is not None and alignment.answers:
        ignoring = Phrase(ignored(alignment), "unsure" if alignment.flagged else "")
        yield ReportSection("Ranking and answers", lead=(ignoring,))
    yield from _build_trust_sections(card)
    yield _build_full_report(card, report)


def _build_head(card: ScorecardData) -> ReportSection:
    lead: list[Wording] = [Phrase(verdict(card), "strong")]
    if outcome_text := outcomes(card):
        lead.append(Phrase(outcome_text, "faint"))
    if older := older_rule(card):
        lead.append(Phrase(older, "unsure"))
    if first := first_thing(card):
        lead.append((Phrase("Start here: ", "link"), first))
    if labels := label_first(card):
        lead.append(labels)
    if card.baseline is not None:
        lead.append(describe_against_baseline(card))
    about = f"run {card.run.run_id} · {format_count(card.n, 'example')}"
    return ReportSection(card.run.name, about, tuple(lead), warnings=card.warnings, top=True)


def build_score_table(card: ScorecardData) -> ReportTable:
    """Every metric by layer: mean, interval, change, micro mean and counts."""
    changes = {change.metric: change for change in card.baseline.metrics} if card.baseline else {}
    wide = [summary for summary in card.summaries if summary.judged is not None]
    headers = [
        ReportColumn("metric", fold=True),
        ReportColumn("mean", "number", whole=True, tone="strong"),
        ReportColumn(f"{card.level:.0%} interval", whole=True, joins="after"),
        ReportColumn("on 0 to 1", "bar", whole=True, room=3, joins="after", ends=("0", "1")),
    ]
    if wide:
        instead = (
            f"{opened(JUDGE_ERROR_HEADER)}: {', '.join(f'{summary.metric} {with_error(summary)}' for summary in wide)}"
        )
        headers.append(
            ReportColumn(JUDGE_ERROR_HEADER, whole=True, room=5, joins="named", tone="faint", instead=(instead,))
        )
    if changes:
        headers += [
            ReportColumn("change", whole=True, carried=True),
            ReportColumn("", whole=True, room=4, joins="after"),
        ]
    bounded = any(map(_format_bounds, card.summaries))
    headers += [
        ReportColumn("micro", "number", whole=True),
        ReportColumn("counts", room=2, instead=tuple(_group_by_counts(card)), carried=True, tone="faint"),
        *((ReportColumn("range with failed", whole=True, room=6, joins="named", tone="faint"),) if bounded else ()),
    ]
    rows: list[tuple[TableCell, ...]] = []
    for layer, summaries in by_layer(card.summaries):
        name, _, question = LAYERS[layer].partition(":")
        rows.append(((name, f":{question}"),))
        for summary in summaries:
            change = _format_change(changes.get(summary.metric), summary.kind) if changes else ()
            rows.append(
                (
                    (Phrase(f"  {summary.metric}", to=("def", summary.metric)), ARROWS[summary.direction]),
                    format_metric_value(summary.mean, summary.metric, summary.kind),
                    interval(summary),
                    build_score_bar(summary) or "",
                    *((with_error(summary),) if wide else ()),
                    *change,
                    format_value(summary.micro) if summary.micro is not None else "",
                    _format_counts(summary),
                    *((_format_bounds(summary),) if bounded else ()),
                )
            )
    return ReportTable(tuple(headers), tuple(rows), tight=True)


def build_score_bar(summary: Summary) -> Bar | None:
    """The mean with its intervals on a line from 0 to 1; None for other ranges."""
    mean, interval, wide = summary.mean, summary.interval, summary.judged
    if summary.kind == "amount" or mean is None or not 0 <= mean <= 1:
        return None
    low, high = (mean, mean) if interval is None else (interval.low, interval.high)
    to = ("low", summary.metric)
    return Bar(low, mean, high, wide=None if wide is None else (wide.low, wide.high), to=to)


def _format_change(change: MetricChange | None, kind: str) -> tuple[Wording, Wording]:
    if change is None:
        return "", ""
    tone = TONES.get(change.verdict, "faint")
    words = f"{difference(change, kind)}{SIGNS.get(change.verdict, '')}"
    if change.difference.interval is None:  # no sign says it
        return Phrase(f"{words} {change.verdict}", tone), ""
    return Phrase(words, tone), Phrase(change.verdict, tone)


def _format_counts(summary: Summary) -> str:
    quantiles = ", ".join(
        f"p{round(100 * q)} {format_metric_value(v, summary.metric)}" for q, v in summary.quantiles.items()
    )
    return f"{quantiles} · {counts(summary)}" if summary.kind == "amount" and quantiles else counts(summary)


def _format_bounds(summary: Summary) -> str:
    """Where the mean lies, whatever the failed scores would have been; "" where none failed."""
    has_bounds = summary.failed and summary.low is not None
    return (
        f"{format_value(summary.low, summary.kind)} to {format_value(summary.high, summary.kind)}" if has_bounds else ""
    )


def _group_by_counts(card: ScorecardData) -> Iterator[Wording]:
    """The counts in words, the metrics with the same ones together."""
    metrics_by_counts: dict[str, list[str]] = {}
    for _, summaries in by_layer(card.summaries):
        for summary in summaries:
            metrics_by_counts.setdefault(_format_counts(summary), []).append(summary.metric)
    commonest = max(metrics_by_counts, key=lambda words: len(metrics_by_counts[words]), default="")
    for counted, names in sorted(metrics_by_counts.items(), key=lambda item: item[0] == commonest):
        which = ", ".join(names) if counted != commonest else "all" if len(metrics_by_counts) == 1 else "the others"
        yield Phrase(f"{which}: {counted}", "faint")


def _list_notes(card: ScorecardData) -> Iterator[str]:
    yield from filter(None, (known_no(card), *unreadable(card)))
    yield from rectified_means(card)
    if methods := describe_interval_methods(card):
        yield methods
    yield from (f"Not applicable ({reason}): {', '.join(names)}." for reason, names in left_out(card.summaries))


def _describe_pending(card: ScorecardData) -> Iterator[Wording]:
    if card.pending:
        pending = format_count(card.pending, "example is", "examples are")
        if (card.judge.judge_id or "").startswith(ANNOTATOR_JUDGE_PREFIX):
            yield Phrase(f"{pending} not labeled and so not scored.", "unsure")
            return
        yield Phrase(f"{pending} not yet evaluated; run the same command to resume.", "unsure")


def _build_cause_table(card: ScorecardData) -> ReportTable:
    greatest = max(card.causes.values())
    tested = card.confirmed is not None
    headers = (
        ReportColumn("cause"),
        ReportColumn("", "bar"),
        ReportColumn("failed examples", whole=True),
        *((ReportColumn("experiments"),) if tested else ()),
        ReportColumn("what it means", whole=True, room=1, tone="faint"),
    )
    rows: list[tuple[TableCell, ...]] = []
    for cause, count in list(card.causes.items())[:MAX_CAUSES]:
        made = (describe_experiments(card.confirmed, cause) or "–",) if tested else ()
        bar, means = LengthBars((count / greatest,)), cause_words.headline if (cause_words := find_words(cause)) else ""
        rows.append((f"  {cause or UNNAMED}", bar, share(count, card.failed_examples), *made, means))
    if n_remaining := sum(list(card.causes.values())[MAX_CAUSES:]):
        remaining_text = f"  {len(card.causes) - MAX_CAUSES} more"
        rows.append((remaining_text, "", share(n_remaining, card.failed_examples), *(("",) if tested else ()), ""))
    return ReportTable(headers, tuple(rows), bare=True)


def _build_finding_item(number: int, finding: Finding, tested: str) -> ReportItem:
    indicator_lines = [f"· {describe_reading(reading)}" for reading in finding.readings]
    evidence_text = "\n".join([finding.evidence, *indicator_lines] if finding.evidence else indicator_lines)
    return ReportItem(
        opened(finding.headline),
        (
            ("fix", Phrase(finding.fix, "strong")),
            ("why", evidence_text),
            ("tested", tested),
            ("don't change", finding.leave),
            ("re-measure", finding.measure_again),
            ("confidence", Phrase(confidence(finding), "faint")),
        ),
        f"{number}.",
    )


def _build_worst_segments(card: ScorecardData) -> ReportSection | None:
    names = select_headline_metrics(card.summaries)
    worst = list_worst_segments(card, names)
    if not worst or not names:
        return None
    has_failures = any(segment.failed is not None for segment in worst)
    headers = [
        ReportColumn("segment", fold=True),
        *build_columns(numbers=("n", *(("failed",) if has_failures else ()))),
    ]
    for index, name in enumerate(names):
        headers.append(ReportColumn(name, "number", fold=True, room=index - 1 if index > 1 else 0))
        headers.append(ReportColumn("", whole=True, room=len(names), joins="after"))
    rows = []
    for value in worst:
        failed_cells = ("–" if value.failed is None else f"{value.failed:,}",) if has_failures else ()
        cells: list[TableCell] = [f"{value.column} = {value.value}", bars.format_size(value.n), *failed_cells]
        for mean, interval_text, worse in value.cells:
            cells += [Phrase(f"{mean} ▼" if worse else mean, "bad" if worse else ""), Phrase(interval_text, "faint")]
        rows.append(tuple(cells))
    heading = f"Worst value of each segment{', by failures' if has_failures else ''}"
    table = ReportTable(tuple(headers), tuple(rows), tight=True)
    return ReportSection(heading, "▼ clearly worse than overall", table=table)


def build_judge_repeats(card: ScorecardData) -> ReportSection | None:
    """How far the means lie apart between several repeats of the judge; None where it was asked once."""
    spread = card.use.spread if card.use is not None else ()
    table = build_table(
        spread,
        Col("metric", fold=True),
        *(Col(f"repeat {n + 1}", f"means.{n}", "number") for n in range(len(spread[0].means) if spread else 0)),
        Col("range", "width", "{:.3f}"),
        Col("std. dev.", "deviation", "{:.3f}"),
        Col("changed responses", lambda metric: f"{metric.changed:,} of {metric.n:,}", kind="number"),
    )
    return ReportSection(SPREAD_HEADING, table=table, notes=(SPREAD_NOTE,)) if spread else None


def _build_trust_sections(card: ScorecardData) -> Iterator[ReportSection]:
    if card.judge.what:
        took = judged.describe_judging(card.use)
        lead: list[Wording] = [f"{card.judge.what} {card.judge.observed}".strip(), *took]
        if card.judge.uncertain is not None:
            lead.append(Phrase(f"{card.judge.uncertain:.0%} of the claims are in its uncertain range.", "unsure"))
        by = f"by {card.judge.judge_id}" if card.judge.judge_id else ""
        yield ReportSection("How it was judged", by, after=tuple(lead))
        if card.judge.limits:
            limits = tuple(Phrase(f"  · {limit}", "faint") for limit in card.judge.limits)
            yield ReportSection("Caveats", lead=limits, skip=("markdown",))
    if (spread := build_judge_repeats(card)) is not None:
        yield spread


def _build_full_report(card: ScorecardData, report: Path | None) -> ReportSection:
    more = len(card.findings) - MAX_FINDINGS
    also = f"{more} more findings, " if more > 0 else ""
    where = format_command("report", card.run.name, "-o", "report.html") if report is None else str(report)
    return ReportSection(lead=(Phrase(f"Full report, with {also}charts and examples:", "faint"),), commands=(where,))
