"""Grades in an order: how far people agree among themselves, and judges with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ragauge.core.human_labels import GradedItem
from ragauge.core.json_keys import key
from ragauge.scores.agreement import AgreementFigure, Basis, compute_equal_share, compute_kappa
from ragauge.scores.annotators import compute_unit_alphas
from ragauge.stats.agreement import Scale

SCALES: tuple[Scale, ...] = ("nominal", "ordinal", "interval")
MIN_SEGMENT_PAIRS = 2  # pairs of a segment's value that are reported on their own


@dataclass(frozen=True, slots=True)
class GradeAgreement:
    """How the grades of one side agree with people's, over pairs of two grades of one item."""

    n: int = field(metadata=key("pairs"))  #: pairs.
    items: int  #: that they are of; their pairs depend on each other, and intervals know it.
    same: AgreementFigure  #: share of equal grades.
    weighted_kappa: AgreementFigure  #: Cohen's with linear weights by the place of a grade among those in use.


@dataclass(frozen=True, slots=True)
class GradingJudge:
    """A judge's grades against people's."""

    name: str = field(metadata=key("judge"))  #: the column that they stand in.
    agreement: GradeAgreement  #: with each annotator's grade.
    #: Krippendorff's alpha with the judge as one more annotator, by scale of differences.
    alphas: Mapping[Scale, AgreementFigure]
    segments: Mapping[str, Mapping[str, GradeAgreement]]  #: column -> value -> agreement.
    without: int = field(metadata=key("no_verdict"))  #: items that it gave no grade.


@dataclass(frozen=True, slots=True)
class GradeCheck:
    """The report of `ragauge judge check --grades`."""

    items: int  #: rows.
    grades: Mapping[float, int]  #: grade -> how often people gave it, ascending.
    several: int  #: items with two annotators or more.
    #: Krippendorff's alpha of people, by scale of differences; empty where nobody is compared.
    alphas: Mapping[Scale, AgreementFigure] = field(default_factory=dict)
    #: each annotator's grade with each other's of the same item: the most that a judge can be asked for. None where
    #: there is one an item.
    ceiling: GradeAgreement | None = None
    judges: tuple[GradingJudge, ...] = ()  #: in the order of their columns.
    weighted: bool = False  #: rows have weights that differ.


def build_grade_check(rows: Sequence[GradedItem], columns: Sequence[str] = ()) -> GradeCheck:
    """How far people agree on grades, and judges with them; every annotator's grade counts on its own.

    Args:
        rows: what people graded, with the grades of judges in the order of `columns`.
        columns: what the judges are called.
    """
    scale = sorted({entry for row in rows for entry in (*row.grades, *row.verdicts) if entry is not None})
    weights = [row.weight for row in rows]
    basis = Basis(None, weights if len(set(weights)) > 1 else None)
    people = [list(row.grades) for row in rows]
    several = sum(len(entry) > 1 for entry in people)
    among = [[(a, b) for n, a in enumerate(entry) for m, b in enumerate(entry) if n != m] for entry in people]
    all_grades = [grade for entry in people for grade in entry]
    return GradeCheck(
        len(rows),
        {grade: all_grades.count(grade) for grade in sorted(set(all_grades))},
        several,
        compute_unit_alphas(people, SCALES, basis.weights) if several else {},
        _compute_agreement(among, scale, basis) if several else None,
        tuple(_check_judge(rows, index, name, scale, basis) for index, name in enumerate(columns)),
        basis.weights is not None,
    )


def _check_judge(
    rows: Sequence[GradedItem], index: int, name: str, scale: Sequence[float], basis: Basis
) -> GradingJudge:
    verdicts = [row.verdicts[index] for row in rows]
    pairs: list[list[tuple[float, float]]] = [
        [] if verdict is None else [(grade, verdict) for grade in row.grades]
        for row, verdict in zip(rows, verdicts, strict=True)
    ]
    segments = {}
    for column in dict.fromkeys(column for row in rows for column in row.segments):
        indices_by_value: dict[str, list[int]] = {}
        for n, row in enumerate(rows):
            if column in row.segments and pairs[n]:
                indices_by_value.setdefault(row.segments[column], []).append(n)
        segments[column] = {
            value: _compute_agreement([pairs[n] for n in indices], scale, basis.at(indices))
            for value, indices in sorted(indices_by_value.items())
            if len(indices) >= MIN_SEGMENT_PAIRS
        }
    units = [
        [*row.grades, *([] if verdict is None else [verdict])] for row, verdict in zip(rows, verdicts, strict=True)
    ]
    return GradingJudge(
        name,
        _compute_agreement(pairs, scale, basis),
        compute_unit_alphas(units, SCALES, basis.weights),
        segments,
        verdicts.count(None),
    )


def _compute_agreement(
    pairs: Sequence[Sequence[tuple[float, float]]], scale: Sequence[float], basis: Basis
) -> GradeAgreement:
    """Agreement over pairs of grades, listed by item."""
    rank = {grade: n for n, grade in enumerate(scale)}
    every = [(rank[a], rank[b], n) for n, item_pairs in enumerate(pairs) for a, b in item_pairs]
    first, second, items = ([pair[k] for pair in every] for k in range(3))
    weights = None if basis.weights is None else [basis.weights[n] for n in items]
    return GradeAgreement(
        len(every),
        len(set(items)),
        compute_equal_share(first, second, items, weights),
        compute_kappa(first, second, len(scale), items, weights, in_order=True),
    )
