"""The log of evaluations, for people and machines."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from ragauge.core.json_keys import encode
from ragauge.core.messages import format_count, format_value
from ragauge.evaluation.scorecard.figures import Cell, Figure
from ragauge.rendering.charts.trend import TrendPoint, draw_trend
from ragauge.rendering.judge_usage import format_money
from ragauge.rendering.plain_csv import escape_cell
from ragauge.rendering.sections import (
    LinkResolver,
    Phrase,
    ReportColumn,
    ReportSection,
    ReportTable,
    TableCell,
    Wording,
    build_columns,
    to_plain_text,
)
from ragauge.rendering.verdict_texts import count_words, describe_older_counts
from ragauge.rendering.words import between, to_line
from ragauge.scores.results.history_rows import ChangedSetting, History, HistoryRow

COUNT_COLUMNS = ("failed", "unclear", "passed", "not_judged", "rule_version")
HEADS = {"cost": "cost/question"}
TITLE = "History"
LEAD = "This run and earlier runs on the same set, newest first."
SETS_NOTE = (
    "All versions of a set are listed together under its first name: sets with the same name, and sets that share at "
    "least half of their examples. Lines connect only runs on the same version that were judged the same way."
)
MAX_CHANGES = 4  # settings named in a table
MAX_VALUE_CHARS = 40  # characters of a value in it
MAX_TABLE_VALUE_CHARS = 200  # characters of a value in a table of its own
BELOW_COLUMN = ReportColumn("", joins="below")
FACTS = (
    "when",
    "evaluated_at",
    "name",
    "run_id",
    "set",
    "set_version",
    "series",
    "apart",
    "variant",
    "system",
    "git",
    "judge",
    "n",
    "responses",
    *COUNT_COLUMNS,
    "before",
    "changed",
    "baselines",
    "note",
    "judging_cost",
)


def describe_changes(row: HistoryRow, max_n: int = MAX_CHANGES) -> str:
    """Settings that differ from the run before: retriever.k: 5 → 8."""
    if row.before is None:
        return "first run of this set"
    if not row.changed:
        return "no recorded setting changed"
    texts = [_format_change(setting) for setting in row.changed[:max_n]]
    return "; ".join(texts) + (f"; {len(row.changed) - max_n} more" if len(row.changed) > max_n else "")


def _format_change(changed: ChangedSetting) -> str:
    """Path, value before and value now; – for a setting that is not there."""
    previous, current = _format_both_values(changed, MAX_VALUE_CHARS)
    return f"{to_line(changed.path)}: {previous} → {current}"


def _format_both_values(changed: ChangedSetting, max_chars: int) -> tuple[str, str]:
    """Value before and value now, cut to a length; – for a setting that is not there."""
    previous = "–" if changed.how == "added" else to_line(_format_value(changed.base), max_chars)
    return previous, "–" if changed.how == "removed" else to_line(_format_value(changed.new), max_chars)


def _format_value(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def build_change_sections(history: History | None) -> Iterator[ReportSection]:
    """Every setting of a run that differs from the run before it over the same set; nothing where there is none.

    Args:
        history: the evaluations up to the run, its own first; None where it is the first.
    """
    row = None if history is None else next(iter(history.rows), None)
    if row is None or row.before is None:
        return
    run = Phrase(to_line(row.before.name, MAX_VALUE_CHARS), to=("run", row.before.run_id))
    previous_code, current_code = (to_line(entry.git or "–") for entry in (row.before, row.run))
    code = (f" Code: {previous_code} → {current_code}.",) if previous_code != current_code else ()
    if not row.changed:
        yield ReportSection(lead=(("Since the previous run, ", run, f", {describe_changes(row)}.", *code),))
        return
    count = format_count(len(row.changed), "setting")
    headers = tuple(ReportColumn(name, fold=True) for name in ("setting", "before", "now"))
    rows = tuple((to_line(entry.path), *_format_both_values(entry, MAX_TABLE_VALUE_CHARS)) for entry in row.changed)
    lead = (f"{count} changed since the previous run, ", run, ".", *code)
    yield ReportSection(lead=(lead,), table=ReportTable(headers, rows))


def format_csv(history: History) -> str:
    """A row a run, numbers in full; what there is not is an empty field."""
    out = io.StringIO()
    metrics = [f"{name}{suffix}" for name in history.columns for suffix in ("", " low", " high", " scored")]
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([escape_cell(name) for name in (*FACTS, *metrics)])
    for row in history.rows:
        facts = (
            encode(row)
            | {column: getattr(row.counts, column, None) for column in COUNT_COLUMNS}
            | {
                "apart": "; ".join(row.apart),
                "changed": describe_changes(row, len(row.changed)),
                "baselines": " ".join(row.baselines),
            }
        )
        writer.writerow([*(escape_cell(facts[name]) for name in FACTS), *_list_numbers(row, history.columns)])
    return out.getvalue()


def _list_numbers(row: HistoryRow, columns: Sequence[str]) -> Iterator[float | None]:
    for name in columns:
        summary = row.metrics.get(name)
        interval = None if summary is None else summary.interval
        yield None if summary is None else summary.mean
        yield from (None, None) if interval is None else (interval.low, interval.high)
        yield None if summary is None else summary.scored


def build_sections(history: History) -> Iterator[ReportSection]:
    """A table a set, the newest row first."""
    if not history.rows:
        yield ReportSection(
            lead=("No run has been evaluated yet. Start with: ragauge evaluate FILE, or ragauge demo.",)
        )
    for name in history.set_names:
        yield ReportSection(name or "unnamed set", table=build_table(history, name), notes=_build_notes(history, name))
    if history.older:
        yield ReportSection(notes=("Older runs are not shown; use --limit to show more.",), skip=("markdown",))


def build_report_section(history: History | None) -> Iterator[ReportSection]:
    """The section of a run's report: the evaluations of its set before it; nothing where there is none."""
    if history is None:
        return
    for name in history.set_names:
        history_table, notes = build_table(history, name), _build_notes(history, name)
        yield ReportSection(TITLE, lead=(LEAD,), table=history_table, notes=notes, skip=("terminal",))


def _build_notes(history: History, name: str) -> tuple[str, ...]:
    return describe_older_counts((row.run.name, row.counts) for row in history.rows if row.listed == name)


def build_table(history: History, name: str) -> ReportTable:
    """The rows of one set; those that are not to be compared say why."""
    rows = [row for row in history.rows if row.listed == name]
    many = len({row.series for row in rows}) > 1
    judging = any(row.judging != 0 for row in rows)
    headers = [ReportColumn("run", fold=True), replace(BELOW_COLUMN, whole=True), BELOW_COLUMN]
    headers.append(ReportColumn("examples", fold=True, room=2))
    headers.append(
        ReportColumn("what changed", fold=True, room=2, instead=tuple(_format_summary(row, many) for row in rows))
    )
    headers += [replace(BELOW_COLUMN, room=2)] * 3
    for column in history.columns:
        headers += [
            ReportColumn(HEADS.get(column, column), "number", fold=True),
            replace(BELOW_COLUMN, whole=True, room=1),
        ]
    headers += build_columns(numbers=("judging/question",) if judging else ())
    return ReportTable(tuple(headers), tuple(tuple(_build_cells(row, history, many, judging)) for row in rows))


def build_trend_figure(history: History, name: str, metric: str, links: LinkResolver) -> Figure | None:
    """A metric over the runs of a set; None where fewer than two have it.

    Runs that were measured otherwise than the one before them begin a line of their own.
    """
    points: list[TrendPoint] = []
    cells: list[tuple[Cell, ...]] = []
    line_index = 0
    for row in reversed([row for row in history.rows if row.listed == name]):
        summary = row.metrics.get(metric)
        if summary is None or summary.mean is None:
            continue
        line_index += bool(points and row.apart)
        mean, interval = format_value(summary.mean, summary.kind), summary.interval
        low, high = (summary.mean, summary.mean) if interval is None else (interval.low, interval.high)
        changed = bool(row.before is not None and (row.changed or row.apart))
        reason = "; ".join(map(to_line, row.apart)) or (describe_changes(row) if changed else "")
        between_ends = between(interval, summary.kind)
        says = f"{len(points) + 1} {to_line(row.run.name, 40)}: {mean} {between_ends}" + (
            f", {reason}" if reason else ""
        )
        link = links.link("run", row.run.run_id)
        points.append(TrendPoint(row.run.name, summary.mean, low, high, line_index, changed, link, says))
        cells.append(
            (Cell(f"{len(points)} {to_line(row.run.name, 40)}", link), Cell(f"{mean} {between_ends}"), Cell(reason))
        )
    svg = draw_trend(points)
    if not svg:
        return None
    caption = (
        "Mark: mean. Light line: its interval, excluding judge error. A diamond marks where "
        "settings, code, judge or set changed; lines do not connect runs that were judged differently."
    )
    return Figure(metric, svg, ("run", "mean", "what changed"), tuple(cells), caption, link=links.link("def", metric))


def _build_cells(row: HistoryRow, history: History, many: bool, judging: bool) -> Iterator[TableCell]:
    run = row.run
    yield Phrase(_format_name(row), "strong", to=("run", run.run_id))
    yield run.created_at[:16].replace("T", " ")
    yield run.git
    yield count_words(row.counts)
    yield from _format_remarks(row, many)
    for column in history.columns:
        summary = row.metrics.get(column)
        if summary is None or summary.mean is None:
            yield from ("–", "")
        else:
            failed = f", {summary.failed:,} failed" if summary.failed else ""
            yield from (format_value(summary.mean, summary.kind), f"{between(summary.interval, summary.kind)}{failed}")
    if judging:
        yield "" if row.judging == 0 else format_money(row.judging)


def _format_name(row: HistoryRow) -> str:
    """The run, with the baselines that mean it."""
    baselines = ", ".join(row.baselines)
    return to_line(row.run.name) + (f" ({to_line(baselines)})" if baselines else "")


def _format_remarks(row: HistoryRow, many: bool) -> tuple[Wording, Wording, Wording, Wording]:
    """What changed, the note, the series and why the row below is no comparison; "" for nothing."""
    reasons = "; ".join(map(to_line, row.apart))
    return (
        describe_changes(row),
        f"“{to_line(row.note)}”" if row.note else "",
        f"series {row.series}" if many else "",
        (Phrase("not comparable with the row below", "strong"), f": {reasons}") if reasons else "",
    )


def _format_summary(row: HistoryRow, many: bool) -> str:
    remarks = (count_words(row.counts), *_format_remarks(row, many))
    return f"{_format_name(row)}: {'; '.join(filter(None, map(to_plain_text, remarks)))}"
