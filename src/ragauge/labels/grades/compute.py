"""Grades in an order: how far people agree among themselves, and judges with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ragauge.core.human_labels import GradedItem
from ragauge.scores.agreement import AgreementFigure, Basis, kappa, share_alike
from ragauge.scores.annotators import alphas_of
from ragauge.stats.krippendorff import Scale

SCALES: tuple[Scale, ...] = ("nominal", "ordinal", "interval")
ALL_FEWEST = 2  # pairs of a segment's value that are reported on their own


@dataclass(frozen=True, slots=True)
class GradeAgreement:
    """How the grades of one side agree with people's, over pairs of two grades of one item.

    Attributes:
        n: pairs.
        items: that they are of; their pairs depend on each other, and intervals know it.
        same: share of equal grades.
        weighted_kappa: Cohen's with linear weights by the place of a grade among those in use.
    """

    n: int
    items: int
    same: AgreementFigure
    weighted_kappa: AgreementFigure


@dataclass(frozen=True, slots=True)
class GradingJudge:
    """A judge's grades against people's.

    Attributes:
        name: the column that they stand in.
        agreement: with each annotator's grade.
        alphas: Krippendorff's alpha with the judge as one more annotator, by scale of differences.
        segments: column -> value -> agreement.
        without: items that it gave no grade.
    """

    name: str
    agreement: GradeAgreement
    alphas: Mapping[Scale, AgreementFigure]
    segments: Mapping[str, Mapping[str, GradeAgreement]]
    without: int


@dataclass(frozen=True, slots=True)
class GradeCheck:
    """The report of `ragauge judge check --grades`.

    Attributes:
        items: rows.
        grades: grade -> how often people gave it, ascending.
        several: items with two annotators or more.
        alphas: Krippendorff's alpha of people, by scale of differences; empty where nobody is compared.
        ceiling: each annotator's grade with each other's of the same item: the most that a judge can be asked for. None
            where there is one an item.
        judges: in the order of their columns.
        weighted: rows have weights that differ.
    """

    items: int
    grades: Mapping[float, int]
    several: int
    alphas: Mapping[Scale, AgreementFigure] = field(default_factory=dict)
    ceiling: GradeAgreement | None = None
    judges: tuple[GradingJudge, ...] = ()
    weighted: bool = False


def grade_check(rows: Sequence[GradedItem], columns: Sequence[str] = ()) -> GradeCheck:
    """How far people agree on grades, and judges with them; every annotator's grade counts on its own.

    Args:
        rows: what people graded, with the grades of judges in the order of `columns`.
        columns: what the judges are called.
    """
    scale = sorted({one for row in rows for one in (*row.grades, *row.verdicts) if one is not None})
    weights = [row.weight for row in rows]
    basis = Basis(None, weights if len(set(weights)) > 1 else None)
    people = [list(row.grades) for row in rows]
    several = sum(len(one) > 1 for one in people)
    among = [[(a, b) for n, a in enumerate(one) for m, b in enumerate(one) if n != m] for one in people]
    given = [grade for one in people for grade in one]
    return GradeCheck(
        len(rows),
        {grade: given.count(grade) for grade in sorted(set(given))},
        several,
        alphas_of(people, SCALES, basis.weights) if several else {},
        _agreed(among, scale, basis) if several else None,
        tuple(_judge(rows, at, name, scale, basis) for at, name in enumerate(columns)),
        basis.weights is not None,
    )


def _judge(rows: Sequence[GradedItem], at: int, name: str, scale: Sequence[float], basis: Basis) -> GradingJudge:
    said = [row.verdicts[at] for row in rows]
    pairs: list[list[tuple[float, float]]] = [
        [] if one is None else [(grade, one) for grade in row.grades] for row, one in zip(rows, said, strict=True)
    ]
    segments = {}
    for column in dict.fromkeys(column for row in rows for column in row.segments):
        places: dict[str, list[int]] = {}
        for n, row in enumerate(rows):
            if column in row.segments and pairs[n]:
                places.setdefault(row.segments[column], []).append(n)
        segments[column] = {
            value: _agreed([pairs[n] for n in mine], scale, basis.at(mine))
            for value, mine in sorted(places.items())
            if len(mine) >= ALL_FEWEST
        }
    units = [[*row.grades, *([] if one is None else [one])] for row, one in zip(rows, said, strict=True)]
    return GradingJudge(
        name, _agreed(pairs, scale, basis), alphas_of(units, SCALES, basis.weights), segments, said.count(None)
    )


def _agreed(pairs: Sequence[Sequence[tuple[float, float]]], scale: Sequence[float], basis: Basis) -> GradeAgreement:
    """Agreement over pairs of grades, listed by item."""
    place = {grade: n for n, grade in enumerate(scale)}
    every = [(place[a], place[b], n) for n, mine in enumerate(pairs) for a, b in mine]
    first, second, items = ([one[k] for one in every] for k in range(3))
    weights = None if basis.weights is None else [basis.weights[n] for n in items]
    return GradeAgreement(
        len(every),
        len(set(items)),
        share_alike(first, second, items, weights),
        kappa(first, second, len(scale), items, weights, in_order=True),
    )
