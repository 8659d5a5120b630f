"""Agreement on grades, as sections."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ragauge.core.messages import format_count
from ragauge.labels.check.tables import PEOPLE, format_figure
from ragauge.rendering.sections import ReportSection, ReportTable, build_columns
from ragauge.rendering.words import make_safe, to_line

if TYPE_CHECKING:
    from ragauge.labels.grades.compute import GradeAgreement, GradeCheck

HEADERS = ("", "pairs", "same grade", "weighted kappa")
NOTE = (
    "Each annotator's grade of an item is paired with the judge's. weighted kappa: agreement beyond chance, where "
    "grades that are farther apart count less (linear in scale positions). Krippendorff's alpha: grades are equal or "
    "not (nominal), some number of positions apart (ordinal), or differ by an amount (interval)."
)


def build_sections(check: GradeCheck) -> Iterator[ReportSection]:
    """What was graded, how far all agree, and segments."""
    grades = ", ".join(f"{count:,} × {grade:g}" for grade, count in check.grades.items())
    lead = [f"{format_count(check.items, 'item')}, {check.several:,} with several annotators. Human grades: {grades}"]
    if check.weighted:
        lead.append("row weights count in every share and agreement; counts are of pairs")
    lead += [
        f"{make_safe(judge.name)}: no grade for {format_count(judge.without, 'item')}"
        for judge in check.judges
        if judge.without
    ]
    yield ReportSection(lead=tuple(lead))
    rows = [(make_safe(judge.name), *_format_agreement(judge.agreement)) for judge in check.judges]
    rows += [(PEOPLE, *_format_agreement(check.ceiling))] if check.ceiling is not None else []
    if rows:
        yield ReportSection("Agreement with human grades", table=_build_table(rows))
    alphas = [("annotators", check.alphas)] if check.alphas else []
    alphas += [(f"annotators and {make_safe(judge.name)}", judge.alphas) for judge in check.judges]
    if alphas:
        scales = tuple(alphas[0][1])
        table = tuple((name, *(format_figure(values[scale]) for scale in scales)) for name, values in alphas)
        yield ReportSection("Krippendorff's alpha", table=ReportTable(build_columns("", numbers=scales), table))
    for column in dict.fromkeys(column for judge in check.judges for column in judge.segments):
        segment_rows = tuple(
            (f"{to_line(value, 40)}: {make_safe(judge.name)}", *_format_agreement(agreement))
            for judge in check.judges
            for value, agreement in judge.segments.get(column, {}).items()
        )
        yield ReportSection(f"By {make_safe(column)}", table=_build_table(segment_rows))
    yield ReportSection(notes=(NOTE,))


def _build_table(rows: Sequence[tuple[str, ...]]) -> ReportTable:
    return ReportTable(build_columns(HEADERS[0], numbers=HEADERS[1:]), tuple(rows))


def _format_agreement(agreement: GradeAgreement) -> tuple[str, ...]:
    return f"{agreement.n:,}", format_figure(agreement.same), format_figure(agreement.weighted_kappa)
