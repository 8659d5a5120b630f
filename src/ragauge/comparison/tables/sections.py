"""What a comparison shows: the verdict in a sentence, the table, the segments that moved, examples, settings.

A comparison as one flat table.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ragauge.comparison.tables import notes, words
from ragauge.core.messages import format_command, format_count, format_metric_value
from ragauge.rendering.sections import (
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
)
from ragauge.rendering.words import ARROWS, UNNAMED, between, difference, opened, to_line
from ragauge.scores.indicators import describe_reading as reading
from ragauge.scores.results.comparison import (
    BaselineComparison,
    Failures,
    Flip,
    MetricChange,
    RunComparison,
    SegmentChange,
)

if TYPE_CHECKING:
    import polars as pl


def build_comparison_table(compared: BaselineComparison) -> pl.DataFrame:
    """A row a run, metric and segment; segment and value are null over all examples.

    Columns: run, base, segment, value, metric, n, before, after, difference, low, high, p, p_holm, p_bh, wins, ties,
    losses, failed, verdict, interval (its method), test, low_with_judge, high_with_judge: the ends with the judge's
    error in them, which pages show; null where that is not known.
    """
    import polars as pl

    types: dict[str, Any] = dict.fromkeys(("n", "wins", "ties", "losses", "failed"), pl.Int64)
    types |= dict.fromkeys(("metric", "verdict", "interval", "test"), pl.String)
    schema: dict[str, Any] = dict.fromkeys(("run", "base", "segment", "value"), pl.String)
    schema |= {name: types.get(name, pl.Float64) for name in CHANGE_COLUMNS}
    rows = [
        (
            comparison.run.name,
            compared.base.name,
            *place,
            *(_read_path(change, path) for path in CHANGE_COLUMNS.values()),
        )
        for comparison in compared.runs
        for place, change in (
            *(((None, None), change) for change in comparison.metrics),
            *(((segment.column, segment.value), segment.change) for segment in comparison.segments),
        )
    ]
    return pl.DataFrame(rows, schema=schema, orient="row")


CHANGE_COLUMNS: Mapping[str, str] = {  # column -> where a change has it
    "metric": "metric",
    "n": "difference.n",
    "before": "base",
    "after": "new",
    "difference": "difference.mean",
    "low": "difference.interval.low",
    "high": "difference.interval.high",
    "p": "p_value",
    "p_holm": "holm",
    "p_bh": "discovery",
    "wins": "wins",
    "ties": "ties",
    "losses": "losses",
    "failed": "failed",
    "verdict": "verdict",
    "interval": "difference.interval.method",
    "test": "test",
    "low_with_judge": "difference.judged.low",
    "high_with_judge": "difference.judged.high",
}


def _read_path(change: MetricChange, path: str) -> Any:
    """An attribute of an attribute; None where one on the way is None, or the text is empty."""
    value: Any = change
    for name in path.split("."):
        value = None if value is None else getattr(value, name)
    return None if value == "" else value


TONES: Mapping[str, Tone] = {"better": "good", "worse": "bad", "changed": "unsure", "no change seen": "faint"}
MAX_SEGMENTS, MAX_METRICS, MAX_FLIPS, MAX_FINDINGS, MAX_IDS = 6, 2, 5, 3, 10
MAX_ANSWER_CHARS = 150  # characters of an answer


def build_sections(compared: BaselineComparison) -> Iterator[ReportSection]:
    """What a person decides from in ten seconds, and what to look at after that."""
    base, several = compared.base, len(compared.runs) > 1
    if several:
        summaries = tuple(
            (Phrase(f"{run.run.name}: ", "strong"), Phrase(words.describe_comparison(run), TONES.get(run.verdict, "")))
            for run in compared.runs
        )
        note = words.DIFFERENCES_NOTE.format(base=base.name)
        heading = f"{len(compared.runs)} runs compared with {base.name}"
        yield ReportSection(heading, lead=summaries, table=build_overview_table(compared), notes=(note,), top=True)
    for index, run in enumerate(compared.runs, 1):
        yield from _build_run_sections(index, run, compared)
    methods = " ".join(
        (words.describe_verdict_method(compared), *dict.fromkeys(words.describe_methods(run) for run in compared.runs))
    )
    names = (base.name, *(run.run.name for run in compared.runs))
    yield ReportSection(notes=(methods.strip(),))
    yield ReportSection(
        lead=(Phrase("For charts and both answers of every flipped example:", "faint"),),
        commands=(format_command("compare", *map(to_line, names), "-o", "change.html"),),
    )


def _build_run_sections(index: int, comparison: RunComparison, compared: BaselineComparison) -> Iterator[ReportSection]:
    base, run = comparison.base, comparison.run
    judge = f" · judged by {compared.judge_id}" if compared.judge_id else ""
    tone = TONES.get(comparison.verdict, "strong") if comparison.verdict != "no change seen" else "strong"
    yield ReportSection(
        f"{base.name} → {run.name}",
        f"{base.run_id} → {run.run_id}{judge}",
        (Phrase(words.describe_comparison(comparison), tone),),
        warnings=comparison.warnings,
        top=True,
    )
    better = tuple(segment for segment in comparison.segments if segment.change.verdict == "better")
    if comparison.worse_segments:
        table = build_segment_table(comparison.worse_segments, compared, index, MAX_METRICS, MAX_SEGMENTS)
        yield ReportSection("Segments that got worse", table=table)
    yield ReportSection(table=build_metrics_table(comparison, compared, index), notes=notes.build_notes(comparison))
    if better:
        table = build_segment_table(better, compared, index, MAX_METRICS, MAX_SEGMENTS)
        yield ReportSection("Segments that got better", table=table)
    if comparison.possible_segments:
        table = build_segment_table(comparison.possible_segments, compared, index, MAX_METRICS, MAX_SEGMENTS)
        yield ReportSection("Possibly worse", "may be chance, given the number of comparisons", table=table)
    if comparison.amounts:
        yield ReportSection("Cost and latency, median and 95th percentile", table=build_amounts_table(comparison))
    if comparison.findings:
        items = tuple(
            ReportItem(
                opened(finding.headline),
                (("seen", "\n".join(map(reading, finding.readings[:2]))), ("fix", Phrase(finding.fix, "strong"))),
                f"{n}.",
            )
            for n, finding in enumerate(comparison.findings[:MAX_FINDINGS], 1)
        )
        yield ReportSection("What the change means", items=items)
    if (failed := build_failures_table(comparison.failures)) is not None:
        yield ReportSection("Failures by cause, before and now", table=failed)
    if flips_text := words.describe_flips(comparison):
        n_remaining = comparison.flips.lost + comparison.flips.gained - MAX_FLIPS
        more = (f"and {n_remaining:,} more",) if n_remaining > 0 else ()
        items = tuple(map(_build_flip_item, comparison.flips.shown[:MAX_FLIPS]))
        yield ReportSection("Examples that flipped", lead=(flips_text,), items=items, notes=more)
    yield _build_settings_section(comparison, compared)


def build_metrics_table(comparison: RunComparison, compared: BaselineComparison, index: int) -> ReportTable:
    """Every metric by verdict; `index` is that of the run, by which a page finds the examples behind a difference."""
    rows: list[tuple[TableCell, ...]] = []
    for verdict, (sign, title) in words.VERDICTS.items():
        changes = [change for change in words.list_measured(comparison) if change.verdict == verdict]
        if changes:
            rows.append(((Phrase(f"{sign} {title}", TONES.get(verdict, "")), f" ({len(changes)})"),))
        for change in changes:
            previous, current = words.format_before_after(change)
            rows.append(
                (
                    _format_metric(change),
                    (previous.partition(" ")[0], " → ", Phrase(current, "strong")),
                    Phrase(difference(change, change.kind), TONES.get(verdict, ""), ("moved", index, change.metric)),
                    words.format_p_value(change.corrected),
                    words.format_tally(change),
                    _format_n(change),
                )
            )
    headers = (
        ReportColumn("metric", fold=True),
        ReportColumn("before → now", whole=True, carried=True),
        ReportColumn(f"change, {compared.level:.0%} interval", whole=True),
        ReportColumn(words.get_p_heading(compared), "number", whole=True, room=1),
        ReportColumn("won / tied / lost", "number", whole=True, room=3),
        ReportColumn("n", "number", whole=True, room=2),
    )
    return ReportTable(headers, tuple(rows), tight=True)


def build_segment_table(
    segment_changes: Sequence[SegmentChange],
    compared: BaselineComparison,
    index: int,
    metrics: int = 0,
    segments: int = 0,
) -> ReportTable:
    """Changes by segment; of each segment the first few metrics, every one that hides it in its mean before others.

    Args:
        segment_changes: to show.
        compared: what they are of.
        index: of the run.
        metrics: so many of each segment; 0 = all.
        segments: so many of them; 0 = all.
    """
    groups, run = words.group_by_segment(segment_changes), compared.runs[index - 1].run
    rows: list[tuple[TableCell, ...]] = []
    for where, changes in groups[: segments or None]:
        first = sorted(changes, key=lambda segment: not segment.is_hidden)[: metrics or None]
        rows.append((Phrase(where, to=("seg of", run.run_id, changes[0].column, changes[0].value)),))
        rows += [_build_segment_row(segment, index) for segment in first]
        if len(first) < len(changes):
            more_text = f"  and {format_count(len(changes) - len(first), 'more metric')}"
            rows.append((Phrase(more_text, "faint"), *[""] * 6))
    if segments and len(groups) > segments:
        rows.append((f"and {format_count(len(groups) - segments, 'more segment')}",))
    headers = (
        ReportColumn("metric", fold=True),
        ReportColumn("before → now", whole=True, carried=True, room=5),
        ReportColumn("difference", whole=True),
        ReportColumn(words.get_p_heading(compared), "number", whole=True, room=3),
        ReportColumn("overall", "number", whole=True, room=1),
        ReportColumn("won / tied / lost", "number", room=4),
        ReportColumn("n", "number", whole=True, room=2),
    )
    return ReportTable(headers, tuple(rows), tight=True)


def _build_segment_row(segment: SegmentChange, index: int) -> tuple[TableCell, ...]:
    change, overall = segment.change, words.format_overall(segment)
    previous, current = words.format_before_after(change)
    sign, tone = words.VERDICTS[change.verdict][0], TONES.get(change.verdict, "")
    to = ("moved", index, change.metric, segment.column, segment.value)
    return (
        _format_metric(change),
        (previous.partition(" ")[0], " → ", Phrase(current, "strong")),
        Phrase(f"{sign} {difference(change, change.kind)}", tone, to),
        words.format_p_value(change.corrected),
        Phrase(f"{overall} hidden", "unsure") if segment.is_hidden else overall,
        words.format_tally(change),
        _format_n(change),
    )


def _format_metric(change: MetricChange) -> Wording:
    return Phrase(f"  {change.metric}", to=("def", change.metric)), ARROWS[change.direction]


def _format_n(change: MetricChange) -> Wording:
    n = f"{change.difference.n:,}"
    return (n, Phrase(f" ({change.failed:,} failed)", "faint")) if change.failed else n


def build_amounts_table(comparison: RunComparison) -> ReportTable:
    """Quantiles of latency, tokens and cost, with their intervals."""
    headers = [ReportColumn("metric")]
    for head in ("median before", "now", "p95 before", "now"):
        headers += [ReportColumn(head, "number", whole=True), ReportColumn("", whole=True, room=1, joins="after")]
    rows: list[tuple[TableCell, ...]] = []
    for amount in comparison.amounts:
        estimates = [estimate[q] for q in (0.5, 0.95) for estimate in (amount.base, amount.new)]
        cells = [
            cell
            for estimate in estimates
            for cell in (format_metric_value(estimate.mean, amount.metric), between(estimate.interval, "amount"))
        ]
        rows.append((amount.metric, *cells, f"{amount.n:,}"))
    return ReportTable((*headers, ReportColumn("n", "number", room=2)), tuple(rows), tight=True)


def build_failures_table(failures: Failures) -> ReportTable | None:
    """Causes before and now, the most frequent now first; None without failures."""
    names = dict.fromkeys((*failures.new, *failures.base))
    greatest = max((*failures.new.values(), *failures.base.values()), default=0)
    if not greatest:
        return None
    rows: list[tuple[TableCell, ...]] = []
    for name in names:
        previous, current = failures.base.get(name, 0), failures.new.get(name, 0)
        to = ("behind", name)
        more = f"{current - previous:+,}".replace("-", "−") if current != previous else ""
        moved = Phrase(more, "bad" if current > previous else "good")
        cause = Phrase(to_line(name) or UNNAMED, to=to)
        rows.append(
            (cause, f"{previous:,}", f"{current:,}", LengthBars((previous / greatest, current / greatest), to), moved)
        )
    rows.append(("all failures", f"{failures.failed_base:,}", f"{failures.failed_new:,}", "", ""))
    headers = (
        ReportColumn("cause"),
        *build_columns(numbers=("before", "now")),
        ReportColumn("before and now", "bar", room=2),
        ReportColumn("change", "number", room=1),
    )
    return ReportTable(headers, tuple(rows), tight=True)


def build_overview_table(compared: BaselineComparison) -> ReportTable:
    """Several runs side by side: a row a metric, a column a run."""
    by_run = [{change.metric: change for change in run.metrics} for run in compared.runs]
    rows: list[tuple[TableCell, ...]] = []
    for name in dict.fromkeys(change.metric for run in compared.runs for change in run.metrics):
        fullest = max((changes[name] for changes in by_run if name in changes), key=lambda change: change.difference.n)
        cells = (
            Phrase("–", "faint")
            if change is None
            else Phrase(words.format_labeled_change(change), TONES.get(change.verdict, ""))
            for change in (changes.get(name) for changes in by_run)
        )
        metric = (Phrase(name, to=("def", name)), ARROWS[fullest.direction])
        rows.append((metric, words.format_before_after(fullest)[0], *cells))
    headers = build_columns(
        numbers=(to_line(compared.base.name, 30), *(to_line(run.run.name, 30) for run in compared.runs))
    )
    return ReportTable((ReportColumn("metric", fold=True), *headers), tuple(rows), tight=True)


def _build_flip_item(flip: Flip) -> ReportItem:
    answers = [
        "no answer" if response.answer is None else to_line(response.answer, MAX_ANSWER_CHARS)
        for response in (flip.base, flip.new)
    ]
    rows = (("before", answers[0]), ("now", answers[1])) if answers[0] != answers[1] else (("answer", "the same"),)
    heading = (Phrase(to_line(flip.query_id, 40), "bad" if flip.lost else "good"), f"  {to_line(flip.query, 90)}")
    what = Phrase(f"{words.describe_flip(flip)} · cause {words.format_causes(flip)}".removeprefix(" · "), "faint")
    return ReportItem(heading, (("what", what), *rows), "▼" if flip.lost else "▲")


def build_settings_table(comparison: RunComparison, compared: BaselineComparison) -> ReportTable | None:
    """What differs between the runs: system, code, set, and every setting; None for nothing."""
    rows: list[tuple[TableCell, ...]] = [
        (f"~ {what}", f"{previous} → {current}")
        for what, previous, current in notes.list_state_changes(comparison, compared)
    ]
    tones: Mapping[str, Tone] = {"+": "good", "−": "bad"}
    rows += [
        (f"{sign} {path}", Phrase(value_text, tones.get(sign, "")))
        for sign, path, value_text in notes.list_setting_changes(comparison)
    ]
    return (
        ReportTable(
            (ReportColumn("setting", fold=True), ReportColumn("before → now", fold=True)), tuple(rows), bare=True
        )
        if rows
        else None
    )


def _build_settings_section(comparison: RunComparison, compared: BaselineComparison) -> ReportSection:
    table = build_settings_table(comparison, compared)
    notes = []
    for where, count, ids in words.list_unmatched(comparison):
        visible_ids = ", ".join(to_line(query_id, 40) for query_id in ids[:MAX_IDS])
        more_text = f" and {count - MAX_IDS:,} more" if count > MAX_IDS and len(ids) >= MAX_IDS else ""
        notes.append(f"{count:,} {where}: {visible_ids}{more_text}")
    lead = () if table is not None else (Phrase("All recorded settings are the same.", "faint"),)
    return ReportSection("What differs between the runs", lead=lead, table=table, notes=tuple(notes))
