"""What people who labelled the same parts say of each other, and of a judge among them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence

from ragauge.core.human_labels import Labelled
from ragauge.scores.agreement import ORDER, Agreement, AgreementFigure, Weights, agreement
from ragauge.stats.alternative_annotator import AlternativeAnnotator, alternative_annotator
from ragauge.stats.krippendorff import Scale, krippendorff_alpha

EPSILONS = (0.1, 0.15, 0.2)


def on(label: str | None, scale: Sequence[str]) -> str:
    """A label on the scale; "" for none."""
    if label is None:
        return ""
    return label if label in scale else "not_supported"


def majority(labels: Sequence[str]) -> str:
    """What most say; "" where two labels share the lead."""
    (first, most), *others = Counter(labels).most_common(2)
    return "" if others and others[0][1] == most else first


def people_of(rows: Sequence[Labelled], scale: Sequence[str]) -> list[dict[str, str]]:
    """Annotator -> label, a labelled part each, in the order of the rows; who is not named is called by their place."""
    return [
        {
            name: on(label, scale)
            for name, label in zip(
                part.annotators or map(str, range(1, len(part.labels) + 1)), part.labels, strict=True
            )
        }
        for row in rows
        for part in row.parts
    ]


def alphas(
    people: Sequence[Mapping[str, str]], scale: Sequence[str], weights: Weights = None
) -> dict[Scale, AgreementFigure]:
    """Krippendorff's alpha, by what differences mean: how far those who labelled the same parts agree.

    Nominal of any labels; ordinal too where they have an order, contradicted below not in context below supported.

    Args:
        people: annotator -> label, a part each.
        scale: of the labels.
        weights: how much parts count; None = all alike.
    """
    ordered = set(scale) == set(ORDER)
    places = {label: n for n, label in enumerate(ORDER if ordered else scale)}
    units = [[places[label] for label in part.values()] for part in people]
    return alphas_of(units, ("nominal", "ordinal") if ordered else ("nominal",), weights)


def alphas_of(
    units: Sequence[Sequence[float]], scales: Sequence[Scale], weights: Weights = None
) -> dict[Scale, AgreementFigure]:
    """Alpha of values by each of some scales; without a value where all are the same, or of one item."""
    if sum(len(unit) > 1 for unit in units) == 1:  # what chance would do cannot be told from one
        return {one: AgreementFigure(None, reason="one item") for one in scales}
    found = {one: krippendorff_alpha(units, one, weights=weights) for one in scales}
    return {
        one: AgreementFigure(None, reason="all gave one label")
        if alpha is None
        else AgreementFigure(alpha.value, alpha.interval)
        for one, alpha in found.items()
    }


def ceiling(
    people: Sequence[Mapping[str, str]], scale: Sequence[str], groups: Sequence[Hashable], weights: Weights = None
) -> Agreement | None:
    """Each annotator against what most of the others say, all together: what a judge can be asked for at most.

    Args:
        people: annotator -> label, a part each.
        scale: of the labels.
        groups: what parts depend on: several labels of one part depend on each other too.
        weights: how much parts count; None = all alike.

    Returns:
        The agreement; rows are what the others say. None where no part has two annotators.
    """
    others, own, places = [], [], []
    counted: list[float] = []
    for part, group, weight in zip(people, groups, weights or (1.0,) * len(groups), strict=True):
        for name, label in part.items():
            rest = [one for other, one in part.items() if other != name]
            if rest and (most := majority(rest)):
                others.append(most)
                own.append(label)
                places.append(group)
                counted.append(weight)
    return agreement(others, own, scale, places, None if weights is None else counted) if own else None


def alternatives(
    people: Sequence[Mapping[str, str]], verdicts: Sequence[str], weights: Weights = None
) -> tuple[AlternativeAnnotator, ...]:
    """The alternative-annotator test of a judge at each allowance; () with too few annotators or parts.

    Args:
        people: annotator -> label, a part each.
        verdicts: of the judge, on the same scale; "" = none.
        weights: how much parts count; None = all alike.
    """
    said = [one or None for one in verdicts]
    found = (alternative_annotator(people, said, epsilon, weights=weights) for epsilon in EPSILONS)
    return tuple(one for one in found if one is not None)
