"""Checks of judges over time, as sections."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ragauge.labels.check.tables import format_figure
from ragauge.rendering.sections import Phrase, ReportColumn, ReportSection, ReportTable, TableCell
from ragauge.rendering.words import to_line

if TYPE_CHECKING:
    from ragauge.labels.history.compute import CheckStep

HEADERS = (
    ReportColumn("checked", whole=True),
    ReportColumn("labels", room=1),
    ReportColumn("n", "number", whole=True),
    ReportColumn("accuracy", "number", whole=True),
    ReportColumn("Cohen's kappa", "number", whole=True, room=2),
    ReportColumn("change", "number", whole=True),
    ReportColumn("on"),
)
NO_CHECK_NOTE = "No judge has been checked yet. ragauge judge check FILE --judge JUDGE checks one and saves the result."
FIGURES_NOTE = (
    "accuracy and kappa are on supported or not. change: accuracy minus that of the previous check, on the "
    "parts that both share with the same labels, using this check's weights (0 where only weights changed, "
    "even if the accuracies differ); otherwise on all parts of both checks as two samples, which different "
    "texts can also change. A judge's accuracy fell if the whole interval of the change is below 0."
)


def build_sections(steps: Sequence[CheckStep]) -> Iterator[ReportSection]:
    """What fell, then a table a judge, oldest check first."""
    if not steps:
        yield ReportSection(lead=(NO_CHECK_NOTE,))
        return
    fell = [step for step in steps if step.fell]
    yield ReportSection(lead=tuple((Phrase(_describe_fall(step), "bad"),) for step in fell) or ("No judge got worse.",))
    for name in dict.fromkeys(step.name for step in steps):
        rows = tuple(_build_row(step) for step in steps if step.name == name)
        yield ReportSection(to_line(name), table=ReportTable(HEADERS, rows))
    yield ReportSection(notes=(FIGURES_NOTE,))


def _build_row(step: CheckStep) -> tuple[TableCell, ...]:
    changed = format_figure(step.change, "+") if step.pairs else "first check"
    on = f"{step.compared:,} shared parts" if step.pairs == "same" else "different parts" if step.pairs else ""
    on += ", only weights changed" if step.reweighted else ""
    on += ", new judge id" if step.judge_changed else ""
    on = ", ".join(filter(None, [on, "forgotten" if step.forgotten else ""]))
    return (
        step.at[:16].replace("T", " "),
        to_line(step.file, 30),
        f"{step.n:,}",
        format_figure(step.accuracy),
        format_figure(step.kappa),
        Phrase(changed, "bad" if step.fell else ""),
        on,
    )


def _describe_fall(step: CheckStep) -> str:
    on = f"{step.compared:,} shared parts" if step.pairs == "same" else "different parts"
    id_ = "; its id changed" if step.judge_changed else ""
    return f"{to_line(step.name)}: accuracy fell on {step.at[:10]}, by {format_figure(step.change, '+')} on {on}{id_}."
