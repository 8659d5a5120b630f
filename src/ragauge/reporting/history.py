"""The log of evaluations, for people and machines."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragauge.analysis.results.history_rows import Changed, History, HistoryRow
from ragauge.analysis.results.summary import Summary
from ragauge.reporting.encoder import encode
from ragauge.reporting.judged import money
from ragauge.reporting.sections import Phrase, ReportSection, ReportTable, columns
from ragauge.reporting.words import between, cell, line
from ragauge.reporting.writers.markdown import table_lines
from ragauge.text.messages import number

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
    from rich.table import Table

HEADS = {"cost": "cost/question"}
TITLE = "History"
SAYS = "This run and those before it over the same set, the newest first."
MOST_CHANGES = 4     # settings named in a table
WIDE = 110           # characters of a terminal that has room for what changed beside the means
NARROW = 90          # below that intervals are left out, so that no name and no number is broken
MOST_VALUE = 40      # characters of a value in it
FACTS = (
    "when", "evaluated_at", "name", "run_id", "set", "set_version", "series", "apart", "variant", "system", "git",
    "judge", "n", "responses", "before", "changed", "baselines", "note", "judging_cost",
)     # fmt: skip


@dataclass(frozen=True, slots=True)
class HistoryLine:
    """One row of a table, in words.

    Attributes:
        name: of the run, with the baselines that mean it.
        when: to the minute.
        git: commit.
        changed: settings since the run before.
        values: (mean, interval) of each column.
        judging: cost of judging one question; "" for nothing.
        note: what somebody wrote.
        series: number of the series.
        apart: why it is not compared with the row below; "" where it is.
        run_id: of the run.
    """

    name: str
    when: str
    git: str
    changed: str
    values: tuple[tuple[str, str], ...]
    judging: str
    note: str
    series: int
    apart: str
    run_id: str


def head(column: str) -> str:
    """What a column is called."""
    return HEADS.get(column, column)


def lines(history: History, name: str) -> Iterator[HistoryLine]:
    """The rows of one set, the newest first."""
    for row in history.rows:
        if row.listed == name:
            yield _line(row, history.columns)


def of_card(history: History | None) -> Iterator[HistoryLine]:
    """The rows that a run's report shows."""
    if history is not None:
        for name in history.sets:
            yield from lines(history, name)


def _line(row: HistoryRow, columns: Sequence[str]) -> HistoryLine:
    run, baselines = row.run, ", ".join(row.baselines)
    return HistoryLine(
        line(run.name) + (f" ({line(baselines)})" if baselines else ""), run.created_at[:16].replace("T", " "), run.git,
        changed_words(row), tuple(_value(row.metrics.get(column)) for column in columns),
        "" if row.judging == 0 else money(row.judging), line(row.note), row.series,
        "; ".join(map(line, row.apart)), run.run_id,
    )     # fmt: skip


def _value(summary: Summary | None) -> tuple[str, str]:
    if summary is None or summary.mean is None:
        return "–", ""
    return number(summary.mean, summary.kind), between(summary.interval, summary.kind)


def changed_words(row: HistoryRow, most: int = MOST_CHANGES) -> str:
    """Settings that differ from the run before: retriever.k: 5 → 8."""
    if row.before is None:
        return "first run of this set"
    if not row.changed:
        return "no setting recorded differs"
    shown = [_words(one) for one in row.changed[:most]]
    return "; ".join(shown) + (f"; {len(row.changed) - most} more" if len(row.changed) > most else "")


def _words(one: Changed) -> str:
    """Path, value before and value now; – for a setting that is not there."""
    before = "–" if one.how == "added" else line(_said(one.base), MOST_VALUE)
    now = "–" if one.how == "removed" else line(_said(one.new), MOST_VALUE)
    return f"{line(one.path)}: {before} → {now}"


def _said(value: Any) -> str:
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
        found = None if summary is None else summary.interval
        yield None if summary is None else summary.mean
        yield from (None, None) if found is None else (found.low, found.high)
        yield None if summary is None else summary.scored


def history_markdown(history: History) -> str:
    """A table a set, the newest row first."""
    return "\n".join(_markdown(history)).strip() + "\n"


def _markdown(history: History) -> Iterator[str]:
    if not history.rows:
        yield "No run was evaluated."
    for name in history.sets:
        yield from (f"### {cell(name)}", "")
        yield from table_lines(table(history, name))
        yield ""


def of_report(history: History | None) -> Iterator[ReportSection]:
    """The section of a run's report: the evaluations of its set before it; nothing where there is none."""
    if history is None:
        return
    for name in history.sets:
        yield ReportSection(TITLE, lead=(SAYS,), table=table(history, name), skip=("terminal",))


def table(history: History, name: str) -> ReportTable:
    """The rows of one set; those that are not to be compared say why."""
    found = list(lines(history, name))
    many = len({one.series for one in found}) > 1
    more = [key for key in ("judging", "note") if any(getattr(one, key) for one in found)]
    heads = ["commit", *({"judging": "judging/question"}.get(key, key) for key in more), *(["series"] if many else [])]
    rows = []
    for one in found:
        apart = ("\n", Phrase("not compared with the row below", "strong"), f": {one.apart}") if one.apart else ()
        values = (f"{mean} {ends}".strip() for mean, ends in one.values)
        rest = (one.git, *(getattr(one, key) for key in more), *([str(one.series)] if many else []))
        rows.append((one.when, one.name, (one.changed, *apart), *values, *rest))
    measured = columns("when", "run", "what changed", numbers=tuple(map(head, history.columns)))
    return ReportTable((*measured, *columns(*heads)), tuple(rows))


def history_terminal(history: History) -> RenderableType:
    """A block a set: means with their intervals, and what changed from run to run."""
    from rich.console import Group
    from rich.text import Text

    if not history.rows:
        return Text("No run was evaluated yet. Start with: ragauge evaluate FILE, or ragauge demo.")
    parts: list[RenderableType] = []
    for name in history.sets:
        parts += [Text(f"{name or 'set without a name'}", style="bold"), _Rows(history, name)]
    if history.older:
        parts.append(Text("Older runs are left out; --limit shows more of them.", style="dim"))
    return Group(*parts)


class _Rows:
    """The rows of one set: what changed stands in a column where there is room for it, else in lines below."""

    def __init__(self, history: History, name: str) -> None:
        self.columns = [head(column).replace("_", "_\n") for column in history.columns]
        self.lines = list(lines(history, name))
        self.many = len({one.series for one in self.lines}) > 1

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from rich.text import Text

        wide = options.max_width >= WIDE
        yield self._table(wide, ends=options.max_width >= NARROW)
        if not wide:
            for one in self.lines:
                yield Text(f"{one.name}: {'; '.join(self._said(one))}")

    def _said(self, one: HistoryLine) -> Iterator[str]:
        """What changed, the note, and how far the row may be compared."""
        yield one.changed
        if one.note:
            yield f"“{one.note}”"
        if self.many:
            yield f"series {one.series}"
        if one.apart:
            yield f"not compared with the row below: {one.apart}"

    def _table(self, wide: bool, *, ends: bool) -> Table:
        from rich import box
        from rich.table import Table
        from rich.text import Text

        judging = any(one.judging for one in self.lines)
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        table.add_column("run", overflow="fold")
        if wide:
            table.add_column("what changed", overflow="fold", min_width=18)
        for column in [*self.columns, *(["judging"] if judging else [])]:
            table.add_column(column, justify="right", overflow="fold")
        for one in self.lines:
            git = f"\n{one.git}" if one.git else ""
            who = Text(one.name, style="bold") + Text(f"\n{one.when}{git}", style="dim")
            said = [Text("\n".join(self._said(one)))] if wide else []
            values = [Text(mean) + Text(f"\n{of}" if ends and of else "", style="dim") for mean, of in one.values]
            table.add_row(who, *said, *values, *([Text(one.judging)] if judging else []))
            table.add_section()
        return table
