"""Agreement on grades, as sections."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ragauge.core.messages import plural
from ragauge.labels.check.tables import PEOPLE, figure
from ragauge.rendering.sections import ReportSection, ReportTable, columns
from ragauge.rendering.words import line, safe

if TYPE_CHECKING:
    from ragauge.labels.grades.compute import GradeAgreement, GradeCheck

HEADS = ("", "pairs", "the same grade", "weighted kappa")
SAYS = (
    "Each annotator's grade of an item makes a pair with the judge's. weighted kappa: agreement beyond chance, where a "
    "grade that is farther off counts as less (linear, by places on the scale). Krippendorff's alpha: grades are equal "
    "or not (nominal), lie so many places apart (ordinal), or differ by an amount (interval)."
)


def sections(check: GradeCheck) -> Iterator[ReportSection]:
    """What was graded, how far all agree, and segments."""
    grades = ", ".join(f"{count:,} × {grade:g}" for grade, count in check.grades.items())
    lead = [f"{plural(check.items, 'item')}, {check.several:,} with several annotators. Grades of people: {grades}"]
    if check.weighted:
        lead.append("weights of the rows count in every share and agreement; counts are of pairs")
    lead += [f"{safe(one.name)}: no grade of {plural(one.without, 'item')}" for one in check.judges if one.without]
    yield ReportSection(lead=tuple(lead))
    rows = [(safe(judge.name), *_cells(judge.agreement)) for judge in check.judges]
    rows += [(PEOPLE, *_cells(check.ceiling))] if check.ceiling is not None else []
    if rows:
        yield ReportSection("Agreement with people", table=_table(rows))
    alphas = [("people", check.alphas)] if check.alphas else []
    alphas += [(f"people and {safe(judge.name)}", judge.alphas) for judge in check.judges]
    if alphas:
        scales = tuple(alphas[0][1])
        table = tuple((name, *(figure(mine[scale]) for scale in scales)) for name, mine in alphas)
        yield ReportSection("Krippendorff's alpha", table=ReportTable(columns("", numbers=scales), table))
    for column in dict.fromkeys(column for judge in check.judges for column in judge.segments):
        parts = tuple(
            (f"{line(value, 40)}: {safe(judge.name)}", *_cells(found))
            for judge in check.judges
            for value, found in judge.segments.get(column, {}).items()
        )
        yield ReportSection(f"By {safe(column)}", table=_table(parts))
    yield ReportSection(notes=(SAYS,))


def _table(rows: Sequence[tuple[str, ...]]) -> ReportTable:
    return ReportTable(columns(HEADS[0], numbers=HEADS[1:]), tuple(rows))


def _cells(found: GradeAgreement) -> tuple[str, ...]:
    return f"{found.n:,}", figure(found.same), figure(found.weighted_kappa)
