"""Grades of people and of judges held against each other."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragauge.core.errors import UsageError
from ragauge.verbs.result_base import PageResult
from ragauge.verbs.sources import is_existing_path, parse_names

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ragauge.labels.grades.compute import GradeCheck
    from ragauge.rendering.sections import ReportSection


class GradesResult(PageResult):
    """Agreement on grades, ready to be shown or written.

    Attributes:
        check: every number as plain frozen values.
    """

    _file = "grades.md"
    _what = "agreement on grades"

    def __init__(self, check: GradeCheck) -> None:
        self.check = check

    @property
    def _value(self) -> GradeCheck:
        return self.check

    def _build_sections(self) -> Iterable[ReportSection]:
        from ragauge.labels.grades.tables import build_sections

        return build_sections(self.check)


def check_grades(
    source: Any,
    verdict: str | Sequence[str] = (),
    *,
    columns: Mapping[str, str] | None = None,
    segments: str | Sequence[str] = (),
) -> GradesResult:
    """How far people agree on grades, and judges with them: Krippendorff's alpha, weighted kappa. Nobody is asked.

    Grades are numbers on a scale with an order, such as 1 to 5. Each annotator's grade counts on its own.

    Args:
        source: a path or a table: a grade, or a list with one an annotator, and the grades of judges beside it.
        verdict: columns with the grades of judges.
        columns: our field (label, query_id, weight) -> the source's column.
        segments: columns of the source to report by.

    Raises:
        DataError: a file that cannot be read, or holds no number where a grade is meant, with its line.
    """
    from ragauge.labels.grades.compute import build_grade_check
    from ragauge.readers.label_rows import GradeOptions, read_grades

    if source is None or (isinstance(source, str | Path) and not is_existing_path(str(source))):
        raise UsageError(f"{source}: no such file. Grades come from rows with a label or a list of labels.")
    judges = parse_names(verdict)
    rows = list(read_grades(source, GradeOptions(columns or {}, judges, parse_names(segments))))
    return GradesResult(build_grade_check(rows, judges))
