"""What a scorecard shows: what a team decides from, on about two screens."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from ragauge.comparison.gaps.losses import sentence
from ragauge.comparison.history import tables as history
from ragauge.comparison.tables.words import against
from ragauge.core.label import BY_PEOPLE
from ragauge.core.messages import command, number, plural, valued
from ragauge.diagnosis.confirm.tables import experiments_say
from ragauge.diagnosis.findings.cause_texts import find_words
from ragauge.evaluation.scorecard import segment_sizes
from ragauge.evaluation.scorecard.segments import worst_segments
from ragauge.rendering import judge_usage as judged
from ragauge.rendering.sections import (
    Bar,
    Lengths,
    Phrase,
    ReportColumn,
    ReportItem,
    ReportSection,
    ReportTable,
    TableCell,
    Tone,
    Wording,
    columns,
)
from ragauge.rendering.verdict_texts import first_thing, label_first, older_rule, outcomes, verdict
from ragauge.rendering.words import (
    ARROWS,
    LAYERS,
    UNNAMED,
    by_layer,
    confidence,
    counts,
    difference,
    headline,
    ignored,
    interval,
    interval_methods,
    known_no,
    left_out,
    opened,
    pareto_line,
    rectified_means,
    share,
    unreadable,
    with_error,
)
from ragauge.scores.indicators import words
from ragauge.scores.results.change import MetricChange
from ragauge.scores.results.scorecard import Finding, ScorecardData, Summary

if TYPE_CHECKING:
    from pathlib import Path

MOST_FINDINGS = 5
MOST_CAUSES = 6
SIGNS: Mapping[str, str] = {"better": " ▲", "worse": " ▼", "changed": " ◆"}
TONES: Mapping[str, Tone] = {"better": "good", "worse": "bad"}
JUDGED = "including judge error"  # head of the column with the wider interval


def sections(card: ScorecardData, report: Path | None = None) -> Iterator[ReportSection]:
    """Verdict, numbers, causes, what to do, segments, how far to trust it, and where the full report is.

    Args:
        card: what was found.
        report: where the full report was written; None = say how to get it.
    """
    yield _head(card)
    yield ReportSection(table=scores(card), notes=tuple(_under(card)), after=tuple(_pending(card)))
    if card.causes:
        yield ReportSection("Failures by cause", lead=(pareto_line(card),), table=_causes(card))
    if card.findings:
        yield ReportSection(
            "What to do",
            items=tuple(
                _finding(number, finding, experiments_say(card.confirmed, finding.cause))
                for number, finding in enumerate(card.findings[:MOST_FINDINGS], 1)
            ),
        )
    if (worst := _worst_segments(card)) is not None:
        yield worst
    if named := segment_sizes.sizes(card):
        yield ReportSection("Examples by segment", lead=tuple(f"  {segment.words}" for segment in named))
    yield from history.of_report(card.history)
    if card.gaps is not None:
        gaps = command("show", card.run.name, "--gaps")
        yield ReportSection("Where quality is lost", lead=(sentence(card.gaps),), commands=(gaps,))
    alignment = card.overview.alignment
    if alignment is not None and alignment.answers:
        ignoring = Phrase(ignored(alignment), "unsure" if alignment.flagged else "")
        yield ReportSection("Ranking and answers", lead=(ignoring,))
    yield from _trust(card)
    yield _full_report(card, report)


def _head(card: ScorecardData) -> ReportSection:
    lead: list[Wording] = [Phrase(verdict(card), "strong")]
    if told := outcomes(card):
        lead.append(Phrase(told, "faint"))
    if older := older_rule(card):
        lead.append(Phrase(older, "unsure"))
    if first := first_thing(card):
        lead.append((Phrase("Start here: ", "link"), first))
    if labels := label_first(card):
        lead.append(labels)
    if card.baseline is not None:
        lead.append(against(card))
    about = f"run {card.run.run_id} · {plural(card.n, 'example')}"
    return ReportSection(card.run.name, about, tuple(lead), warnings=card.warnings, top=True)


def scores(card: ScorecardData) -> ReportTable:
    """Every metric by layer: mean, interval, change, micro mean and counts."""
    changes = {change.metric: change for change in card.baseline.metrics} if card.baseline else {}
    wide = [summary for summary in card.summaries if summary.judged is not None]
    heads = [
        ReportColumn("metric", fold=True),
        ReportColumn("mean", "number", whole=True, tone="strong"),
        ReportColumn(f"{card.level:.0%} interval", whole=True, joins="after"),
        ReportColumn("on 0 to 1", "bar", whole=True, room=3, joins="after", ends=("0", "1")),
    ]
    if wide:
        instead = f"{opened(JUDGED)}: {', '.join(f'{summary.metric} {with_error(summary)}' for summary in wide)}"
        heads.append(ReportColumn(JUDGED, whole=True, room=5, joins="named", tone="faint", instead=(instead,)))
    if changes:
        heads += [ReportColumn("change", whole=True, carried=True), ReportColumn("", whole=True, room=4, joins="after")]
    bounded = any(map(_bounds, card.summaries))
    heads += [
        ReportColumn("micro", "number", whole=True),
        ReportColumn("counts", room=2, instead=tuple(_alike(card)), carried=True, tone="faint"),
        *((ReportColumn("with the failed ones", whole=True, room=6, joins="named", tone="faint"),) if bounded else ()),
    ]
    rows: list[tuple[TableCell, ...]] = []
    for layer, summaries in by_layer(card.summaries):
        name, _, question = LAYERS[layer].partition(":")
        rows.append(((name, f":{question}"),))
        for summary in summaries:
            change = _change(changes.get(summary.metric), summary.kind) if changes else ()
            rows.append(
                (
                    (Phrase(f"  {summary.metric}", to=("def", summary.metric)), ARROWS[summary.direction]),
                    valued(summary.mean, summary.metric, summary.kind),
                    interval(summary),
                    track(summary) or "",
                    *((with_error(summary),) if wide else ()),
                    *change,
                    number(summary.micro) if summary.micro is not None else "",
                    _counts(summary),
                    *((_bounds(summary),) if bounded else ()),
                )
            )
    return ReportTable(tuple(heads), tuple(rows), tight=True)


def track(summary: Summary) -> Bar | None:
    """The mean with its intervals on a line from 0 to 1; None for other ranges."""
    mean, interval, wide = summary.mean, summary.interval, summary.judged
    if summary.kind == "amount" or mean is None or not 0 <= mean <= 1:
        return None
    low, high = (mean, mean) if interval is None else (interval.low, interval.high)
    to = ("low", summary.metric)
    return Bar(low, mean, high, wide=None if wide is None else (wide.low, wide.high), to=to)


def _change(change: MetricChange | None, kind: str) -> tuple[Wording, Wording]:
    if change is None:
        return "", ""
    tone = TONES.get(change.verdict, "faint")
    words = f"{difference(change, kind)}{SIGNS.get(change.verdict, '')}"
    if change.difference.interval is None:  # no sign says it
        return Phrase(f"{words} {change.verdict}", tone), ""
    return Phrase(words, tone), Phrase(change.verdict, tone)


def _counts(summary: Summary) -> str:
    quantiles = ", ".join(f"p{round(100 * q)} {valued(v, summary.metric)}" for q, v in summary.quantiles.items())
    return f"{quantiles} · {counts(summary)}" if summary.kind == "amount" and quantiles else counts(summary)


def _bounds(summary: Summary) -> str:
    """Where the mean lies, whatever the failed scores would have been; "" where none failed."""
    known = summary.failed and summary.low is not None
    return f"{number(summary.low, summary.kind)} to {number(summary.high, summary.kind)}" if known else ""


def _alike(card: ScorecardData) -> Iterator[Wording]:
    """The counts in words, the metrics with the same ones together."""
    alike: dict[str, list[str]] = {}
    for _, summaries in by_layer(card.summaries):
        for summary in summaries:
            alike.setdefault(_counts(summary), []).append(summary.metric)
    most = max(alike, key=lambda words: len(alike[words]), default="")
    for counted, names in sorted(alike.items(), key=lambda item: item[0] == most):
        which = ", ".join(names) if counted != most else "all" if len(alike) == 1 else "the others"
        yield Phrase(f"{which}: {counted}", "faint")


def _under(card: ScorecardData) -> Iterator[str]:
    yield from filter(None, (known_no(card), *unreadable(card)))
    yield from rectified_means(card)
    if methods := interval_methods(card):
        yield methods
    yield from (f"Not applicable ({reason}): {', '.join(names)}." for reason, names in left_out(card.summaries))


def _pending(card: ScorecardData) -> Iterator[Wording]:
    if card.pending:
        pending = plural(card.pending, "example is", "examples are")
        if (card.judge.judge_id or "").startswith(BY_PEOPLE):
            yield Phrase(f"{pending} not labelled, so without a score by people.", "unsure")
            return
        yield Phrase(f"{pending} not yet evaluated; the same command goes on with them.", "unsure")


def _causes(card: ScorecardData) -> ReportTable:
    most = max(card.causes.values())
    tested = card.confirmed is not None
    heads = (
        ReportColumn("cause"),
        ReportColumn("", "bar"),
        ReportColumn("failed examples", whole=True),
        *((ReportColumn("experiments"),) if tested else ()),
        ReportColumn("what it means", whole=True, room=1, tone="faint"),
    )
    rows: list[tuple[TableCell, ...]] = []
    for cause, count in list(card.causes.items())[:MOST_CAUSES]:
        made = (experiments_say(card.confirmed, cause) or "–",) if tested else ()
        bar, means = Lengths((count / most,)), known.headline if (known := find_words(cause)) else ""
        rows.append((f"  {cause or UNNAMED}", bar, share(count, card.failed_examples), *made, means))
    if rest := sum(list(card.causes.values())[MOST_CAUSES:]):
        left = f"  {len(card.causes) - MOST_CAUSES} more"
        rows.append((left, "", share(rest, card.failed_examples), *(("",) if tested else ()), ""))
    return ReportTable(heads, tuple(rows), bare=True)


def _finding(number: int, finding: Finding, tested: str) -> ReportItem:
    seen = [f"· {words(reading)}" for reading in finding.readings]
    why = "\n".join([finding.evidence, *seen] if finding.evidence else seen)
    return ReportItem(
        opened(finding.headline),
        (
            ("fix", Phrase(finding.fix, "strong")),
            ("why", why),
            ("tested", tested),
            ("leave", finding.leave),
            ("then", finding.measure_again),
            ("sure", Phrase(confidence(finding), "faint")),
        ),
        f"{number}.",
    )


def _worst_segments(card: ScorecardData) -> ReportSection | None:
    names = headline(card.summaries)
    worst = worst_segments(card, names)
    if not worst or not names:
        return None
    known = any(segment.failed is not None for segment in worst)
    heads = [ReportColumn("segment", fold=True), *columns(numbers=("n", *(("failed",) if known else ())))]
    for index, name in enumerate(names):
        heads.append(ReportColumn(name, "number", fold=True, room=index - 1 if index > 1 else 0))
        heads.append(ReportColumn("", whole=True, room=len(names), joins="after"))
    rows = []
    for value in worst:
        lost = ("–" if value.failed is None else f"{value.failed:,}",) if known else ()
        cells: list[TableCell] = [f"{value.column} = {value.value}", segment_sizes.counted(value.n), *lost]
        for mean, ends, worse in value.cells:
            cells += [Phrase(f"{mean} ▼" if worse else mean, "bad" if worse else ""), Phrase(ends, "faint")]
        rows.append(tuple(cells))
    heading = f"Worst value of each segment{', where most failed' if known else ''}"
    table = ReportTable(tuple(heads), tuple(rows), tight=True)
    return ReportSection(heading, "▼ clearly worse than overall", table=table)


def judge_repeats(card: ScorecardData) -> ReportSection | None:
    """How far the means lie apart between several repeats of the judge; None where it was asked once."""
    rows = judged.spread_rows(card.use)
    if not rows:
        return None
    first, *others = judged.spread_heads(rows)
    cells = tuple((row.metric, *row.means, row.width, row.deviation, row.changed) for row in rows)
    table = ReportTable((ReportColumn(first, fold=True), *columns(numbers=tuple(others))), cells)
    return ReportSection(judged.SPREAD, table=table, notes=(judged.SPREAD_SAYS,))


def _trust(card: ScorecardData) -> Iterator[ReportSection]:
    if card.judge.what:
        took = judged.sentences(card.use)
        lead: list[Wording] = [f"{card.judge.what} {card.judge.observed}".strip(), *took]
        if card.judge.uncertain is not None:
            lead.append(Phrase(f"{card.judge.uncertain:.0%} of the claims lie in its uncertain middle.", "unsure"))
        by = f"by {card.judge.judge_id}" if card.judge.judge_id else ""
        yield ReportSection("How it was judged", by, after=tuple(lead))
        if card.judge.limits:
            limits = tuple(Phrase(f"  · {limit}", "faint") for limit in card.judge.limits)
            yield ReportSection("Caveats", lead=limits, skip=("markdown",))
    if (spread := judge_repeats(card)) is not None:
        yield spread


def _full_report(card: ScorecardData, report: Path | None) -> ReportSection:
    more = len(card.findings) - MOST_FINDINGS
    also = f"{more} more findings, " if more > 0 else ""
    where = command("report", card.run.name, "-o", "report.html") if report is None else str(report)
    return ReportSection(lead=(Phrase(f"Full report, with {also}charts and examples:", "faint"),), commands=(where,))
