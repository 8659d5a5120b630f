"""Agreement on grades, as sections."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ragauge.core.messages import format_count
from ragauge.labels.check.tables import PEOPLE, build_figure_column
from ragauge.rendering.sections import Col, ReportSection, build_table
from ragauge.rendering.words import make_safe, to_line

if TYPE_CHECKING:
    from ragauge.labels.grades.compute import GradeCheck

COLUMNS = (  # of rows (name, agreement)
    Col("", "0"),
    Col("pairs", "1.n", "count"),
    build_figure_column("same grade", "1.same"),
    build_figure_column("weighted kappa", "1.weighted_kappa"),
)
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
    rows = [(judge.name, judge.agreement) for judge in check.judges]
    rows += [(PEOPLE, check.ceiling)] if check.ceiling is not None else []
    if rows:
        yield ReportSection("Agreement with human grades", table=build_table(rows, *COLUMNS))
    alphas = [("annotators", check.alphas)] if check.alphas else []
    alphas += [(f"annotators and {judge.name}", judge.alphas) for judge in check.judges]
    if alphas:
        scales = (build_figure_column(scale, f"1.{scale}") for scale in alphas[0][1])
        yield ReportSection("Krippendorff's alpha", table=build_table(alphas, Col("", "0"), *scales))
    for column in dict.fromkeys(column for judge in check.judges for column in judge.segments):
        segment_rows = tuple(
            (f"{to_line(value, 40)}: {judge.name}", agreement)
            for judge in check.judges
            for value, agreement in judge.segments.get(column, {}).items()
        )
        yield ReportSection(f"By {make_safe(column)}", table=build_table(segment_rows, *COLUMNS))
    yield ReportSection(notes=(NOTE,))
