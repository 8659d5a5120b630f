"""The log of evaluations, for people and machines."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from ragauge.analysis.results.history_rows import Changed, History, HistoryRow
from ragauge.reporting.encoder import encode
from ragauge.reporting.judged import money
from ragauge.reporting.sections import (
    Phrase,
    ReportColumn,
    ReportSection,
    ReportTable,
    TableCell,
    Wording,
    columns,
    plain,
)
from ragauge.reporting.words import between, line
from ragauge.text.messages import number

HEADS = {"cost": "cost/question"}
TITLE = "History"
SAYS = "This run and those before it over the same set, the newest first."
MOST_CHANGES = 4     # settings named in a table
MOST_VALUE = 40      # characters of a value in it
BELOW = ReportColumn("", joins="below")
FACTS = (
    "when", "evaluated_at", "name", "run_id", "set", "set_version", "series", "apart", "variant", "system", "git",
    "judge", "n", "responses", "before", "changed", "baselines", "note", "judging_cost",
)     # fmt: skip


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
    before = "–" if changed.how == "added" else line(_written(changed.base), MOST_VALUE)
    now = "–" if changed.how == "removed" else line(_written(changed.new), MOST_VALUE)
    return f"{line(changed.path)}: {before} → {now}"


def _written(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def history_csv(history: History) -> str:
    """A row a run, numbers in full; what there is not is an empty field."""
    out = io.StringIO()
    metrics = [f"{name}{part}" for name in history.columns for part in ("", " low", " high", " scored")]
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*FACTS, *metrics])
    for row in history.rows:
        facts = encode(row) | {
            "apart": "; ".join(row.apart), "changed": changed_words(row, len(row.changed)),
            "baselines": " ".join(row.baselines),
        }     # fmt: skip
        writer.writerow([*(facts[name] for name in FACTS), *_numbers(row, history.columns)])
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
        yield ReportSection(name or "set without a name", table=table(history, name))
    if history.older:
        yield ReportSection(notes=("Older runs are left out; --limit shows more of them.",), skip=("markdown",))


def of_report(history: History | None) -> Iterator[ReportSection]:
    """The section of a run's report: the evaluations of its set before it; nothing where there is none."""
    if history is None:
        return
    for name in history.sets:
        yield ReportSection(TITLE, lead=(SAYS,), table=table(history, name), skip=("terminal",))


def table(history: History, name: str) -> ReportTable:
    """The rows of one set; those that are not to be compared say why."""
    rows = [row for row in history.rows if row.listed == name]
    many = len({row.series for row in rows}) > 1
    judging = any(row.judging != 0 for row in rows)
    heads = [ReportColumn("run", fold=True), replace(BELOW, whole=True), BELOW]
    heads.append(ReportColumn("what changed", fold=True, room=2, instead=tuple(_instead(row, many) for row in rows)))
    heads += [replace(BELOW, room=2)] * 3
    for column in history.columns:
        heads += [ReportColumn(HEADS.get(column, column), "number", fold=True), replace(BELOW, whole=True, room=1)]
    heads += columns(numbers=("judging/question",) if judging else ())
    return ReportTable(tuple(heads), tuple(tuple(_cells(row, history, many, judging)) for row in rows))


def _cells(row: HistoryRow, history: History, many: bool, judging: bool) -> Iterator[TableCell]:
    run = row.run
    yield Phrase(_name(row), "strong")
    yield run.created_at[:16].replace("T", " ")
    yield run.git
    yield from _remarks(row, many)
    for column in history.columns:
        summary = row.metrics.get(column)
        if summary is None or summary.mean is None:
            yield from ("–", "")
        else:
            yield from (number(summary.mean, summary.kind), between(summary.interval, summary.kind))
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
        changed_words(row), f"“{line(row.note)}”" if row.note else "", f"series {row.series}" if many else "",
        (Phrase("not compared with the row below", "strong"), f": {reasons}") if reasons else "",
    )     # fmt: skip


def _instead(row: HistoryRow, many: bool) -> str:
    return f"{_name(row)}: {'; '.join(filter(None, map(plain, _remarks(row, many))))}"
