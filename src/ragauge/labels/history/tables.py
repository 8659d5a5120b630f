"""Checks of judges over time, as sections."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ragauge.labels.check.tables import build_figure_column, format_figure
from ragauge.rendering.sections import Col, Phrase, ReportSection, build_table
from ragauge.rendering.words import to_line

if TYPE_CHECKING:
    from ragauge.labels.history.compute import CheckStep

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
        table = build_table(
            [step for step in steps if step.name == name],
            Col("checked", lambda step: step.at[:16].replace("T", " "), whole=True),
            Col("labels", "file", cut=30, room=1),
            Col("n", "n", "count", whole=True),
            build_figure_column("accuracy", whole=True),
            build_figure_column("Cohen's kappa", "kappa", whole=True, room=2),
            Col("change", _describe_change, kind="number", whole=True),
            Col("on", _describe_compared),
        )
        yield ReportSection(to_line(name), table=table)
    yield ReportSection(notes=(FIGURES_NOTE,))


def _describe_change(step: CheckStep) -> Phrase:
    return Phrase(format_figure(step.change, "+") if step.pairs else "first check", "bad" if step.fell else "")


def _describe_compared(step: CheckStep) -> str:
    on = f"{step.compared:,} shared parts" if step.pairs == "same" else "different parts" if step.pairs else ""
    on += ", only weights changed" if step.reweighted else ""
    on += ", new judge id" if step.judge_changed else ""
    return ", ".join(filter(None, [on, "forgotten" if step.forgotten else ""]))


def _describe_fall(step: CheckStep) -> str:
    on = f"{step.compared:,} shared parts" if step.pairs == "same" else "different parts"
    id_ = "; its id changed" if step.judge_changed else ""
    return f"{to_line(step.name)}: accuracy fell on {step.at[:10]}, by {format_figure(step.change, '+')} on {on}{id_}."
