"""The log of evaluations, for people and machines."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from ragauge.core.messages import number, plural
from ragauge.evaluation.scorecard.figures import Cell, Figure
from ragauge.rendering.charts.trend import TrendPoint, trend
from ragauge.rendering.encoder import encode
from ragauge.rendering.judge_usage import money
from ragauge.rendering.plain_csv import plain_cell
from ragauge.rendering.sections import (
    LinkResolver,
    Phrase,
    ReportColumn,
    ReportSection,
    ReportTable,
    TableCell,
    Wording,
    columns,
    plain,
)
from ragauge.rendering.verdict_texts import count_words, older_counts
from ragauge.rendering.words import between, line
from ragauge.scores.results.history_rows import Changed, History, HistoryRow

COUNTED = ("failed", "unclear", "passed", "not_judged", "rule_version")
HEADS = {"cost": "cost/question"}
TITLE = "History"
SAYS = "This run and those before it over the same set, the newest first."
SETS = (
    "All versions of a set stand together, under its first name: those of the same name, and those that share at least "
    "half of their examples. A line joins only runs over the same version that were judged alike."
)
MOST_CHANGES = 4  # settings named in a table
MOST_VALUE = 40  # characters of a value in it
MOST_SHOWN = 200  # characters of a value in a table of its own
BELOW = ReportColumn("", joins="below")
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
    *COUNTED,
    "before",
    "changed",
    "baselines",
    "note",
    "judging_cost",
)


def changed_words(row: HistoryRow, most: int = MOST_CHANGES) -> str:
    """Settings that differ from the run before: retriever.k: 5 → 8."""
    if row.before is None:
        return "first run of this set"
    if not row.changed:
        return "no setting recorded differs"
    shown = [_words(setting) for setting in row.changed[:most]]
    return "; ".join(shown) + (f"; {len(row.changed) - most} more" if len(row.changed) > most else "")


def _words(changed: Changed) -> str:
    """Path, value before and value now; – for a setting that is not there."""
    before, now = _ends(changed, MOST_VALUE)
    return f"{line(changed.path)}: {before} → {now}"


def _ends(changed: Changed, most: int) -> tuple[str, str]:
    """Value before and value now, cut to a length; – for a setting that is not there."""
    before = "–" if changed.how == "added" else line(_written(changed.base), most)
    return before, "–" if changed.how == "removed" else line(_written(changed.new), most)


def _written(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def since_before(history: History | None) -> Iterator[ReportSection]:
    """Every setting of a run that differs from the run before it over the same set; nothing where there is none.

    Args:
        history: the evaluations up to the run, its own first; None where it is the first.
    """
    row = None if history is None else next(iter(history.rows), None)
    if row is None or row.before is None:
        return
    run = Phrase(line(row.before.name, MOST_VALUE), to=("run", row.before.run_id))
    then, now = (line(one.git or "–") for one in (row.before, row.run))
    code = (f" Code: {then} → {now}.",) if then != now else ()
    if not row.changed:
        yield ReportSection(lead=(("Since the run before, ", run, f", {changed_words(row)}.", *code),))
        return
    count = plural(len(row.changed), "setting")
    heads = tuple(ReportColumn(name, fold=True) for name in ("setting", "before", "now"))
    rows = tuple((line(one.path), *_ends(one, MOST_SHOWN)) for one in row.changed)
    lead = (f"{count} changed since the run before, ", run, ".", *code)
    yield ReportSection(lead=(lead,), table=ReportTable(heads, rows))


def history_csv(history: History) -> str:
    """A row a run, numbers in full; what there is not is an empty field."""
    out = io.StringIO()
    metrics = [f"{name}{part}" for name in history.columns for part in ("", " low", " high", " scored")]
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([plain_cell(name) for name in (*FACTS, *metrics)])
    for row in history.rows:
        facts = (
            encode(row)
            | {column: getattr(row.counts, column, None) for column in COUNTED}
            | {
                "apart": "; ".join(row.apart),
                "changed": changed_words(row, len(row.changed)),
                "baselines": " ".join(row.baselines),
            }
        )
        writer.writerow([*(plain_cell(facts[name]) for name in FACTS), *_numbers(row, history.columns)])
    return out.getvalue()


def _numbers(row: HistoryRow, columns: Sequence[str]) -> Iterator[float | None]:
    for name in columns:
        summary = row.metrics.get(name)
        interval = None if summary is None else summary.interval
        yield None if summary is None else summary.mean
        yield from (None, None) if interval is None else (interval.low, interval.high)
        yield None if summary is None else summary.scored


def sections(history: History) -> Iterator[ReportSection]:
    """A table a set, the newest row first."""
    if not history.rows:
        yield ReportSection(lead=("No run was evaluated yet. Start with: ragauge evaluate FILE, or ragauge demo.",))
    for name in history.sets:
        yield ReportSection(name or "set without a name", table=table(history, name), notes=_notes(history, name))
    if history.older:
        yield ReportSection(notes=("Older runs are left out; --limit shows more of them.",), skip=("markdown",))


def of_report(history: History | None) -> Iterator[ReportSection]:
    """The section of a run's report: the evaluations of its set before it; nothing where there is none."""
    if history is None:
        return
    for name in history.sets:
        shown, notes = table(history, name), _notes(history, name)
        yield ReportSection(TITLE, lead=(SAYS,), table=shown, notes=notes, skip=("terminal",))


def _notes(history: History, name: str) -> tuple[str, ...]:
    return older_counts((row.run.name, row.counts) for row in history.rows if row.listed == name)


def table(history: History, name: str) -> ReportTable:
    """The rows of one set; those that are not to be compared say why."""
    rows = [row for row in history.rows if row.listed == name]
    many = len({row.series for row in rows}) > 1
    judging = any(row.judging != 0 for row in rows)
    heads = [ReportColumn("run", fold=True), replace(BELOW, whole=True), BELOW]
    heads.append(ReportColumn("examples", fold=True, room=2))
    heads.append(ReportColumn("what changed", fold=True, room=2, instead=tuple(_instead(row, many) for row in rows)))
    heads += [replace(BELOW, room=2)] * 3
    for column in history.columns:
        heads += [ReportColumn(HEADS.get(column, column), "number", fold=True), replace(BELOW, whole=True, room=1)]
    heads += columns(numbers=("judging/question",) if judging else ())
    return ReportTable(tuple(heads), tuple(tuple(_cells(row, history, many, judging)) for row in rows))


def trend_of(history: History, name: str, metric: str, links: LinkResolver) -> Figure | None:
    """A metric over the runs of a set; None where fewer than two have it.

    Runs that were measured otherwise than the one before them begin a line of their own.
    """
    points: list[TrendPoint] = []
    cells: list[tuple[Cell, ...]] = []
    piece = 0
    for row in reversed([row for row in history.rows if row.listed == name]):
        summary = row.metrics.get(metric)
        if summary is None or summary.mean is None:
            continue
        piece += bool(points and row.apart)
        mean, interval = number(summary.mean, summary.kind), summary.interval
        low, high = (summary.mean, summary.mean) if interval is None else (interval.low, interval.high)
        changed = bool(row.before is not None and (row.changed or row.apart))
        why = "; ".join(map(line, row.apart)) or (changed_words(row) if changed else "")
        between_ends = between(interval, summary.kind)
        says = f"{len(points) + 1} {line(row.run.name, 40)}: {mean} {between_ends}" + (f", {why}" if why else "")
        link = links.link("run", row.run.run_id)
        points.append(TrendPoint(row.run.name, summary.mean, low, high, piece, changed, link, says))
        cells.append((Cell(f"{len(points)} {line(row.run.name, 40)}", link), Cell(f"{mean} {between_ends}"), Cell(why)))
    svg = trend(points)
    if not svg:
        return None
    caption = (
        "Mark: mean. Light line: its interval, without the judge's error. A diamond stands where "
        "settings, code, judge or set changed; runs that were judged differently are not joined."
    )
    return Figure(metric, svg, ("run", "mean", "what changed"), tuple(cells), caption, link=links.link("def", metric))


def _cells(row: HistoryRow, history: History, many: bool, judging: bool) -> Iterator[TableCell]:
    run = row.run
    yield Phrase(_name(row), "strong", to=("run", run.run_id))
    yield run.created_at[:16].replace("T", " ")
    yield run.git
    yield count_words(row.counts)
    yield from _remarks(row, many)
    for column in history.columns:
        summary = row.metrics.get(column)
        if summary is None or summary.mean is None:
            yield from ("–", "")
        else:
            failed = f", {summary.failed:,} failed" if summary.failed else ""
            yield from (number(summary.mean, summary.kind), f"{between(summary.interval, summary.kind)}{failed}")
    if judging:
        yield "" if row.judging == 0 else money(row.judging)


def _name(row: HistoryRow) -> str:
    """The run, with the baselines that mean it."""
    baselines = ", ".join(row.baselines)
    return line(row.run.name) + (f" ({line(baselines)})" if baselines else "")


def _remarks(row: HistoryRow, many: bool) -> tuple[Wording, Wording, Wording, Wording]:
    """What changed, the note, the series and why the row below is no comparison; "" for nothing."""
    reasons = "; ".join(map(line, row.apart))
    return (
        changed_words(row),
        f"“{line(row.note)}”" if row.note else "",
        f"series {row.series}" if many else "",
        (Phrase("not compared with the row below", "strong"), f": {reasons}") if reasons else "",
    )


def _instead(row: HistoryRow, many: bool) -> str:
    remarks = (count_words(row.counts), *_remarks(row, many))
    return f"{_name(row)}: {'; '.join(filter(None, map(plain, remarks)))}"
