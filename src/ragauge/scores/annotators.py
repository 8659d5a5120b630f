"""What people who labelled the same parts say of each other, and of a judge among them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence

from ragauge.core.human_labels import LabeledAnswer
from ragauge.scores.agreement import LABEL_ORDER, Agreement, AgreementFigure, Weights, compute_agreement
from ragauge.stats.agreement import AlternativeAnnotator, Scale, alternative_annotator, compute_krippendorff_alpha

EPSILONS = (0.1, 0.15, 0.2)


def map_to_scale(label: str | None, scale: Sequence[str]) -> str:
    """A label on the scale; "" for none."""
    if label is None:
        return ""
    return label if label in scale else "not_supported"


def find_majority(labels: Sequence[str]) -> str:
    """What most say; "" where two labels share the lead."""
    (first, top_count), *others = Counter(labels).most_common(2)
    return "" if others and others[0][1] == top_count else first


def list_annotator_labels(rows: Sequence[LabeledAnswer], scale: Sequence[str]) -> list[dict[str, str]]:
    """Annotator -> label, a labelled part each, in the order of the rows; who is not named is called by their place."""
    return [
        {
            name: map_to_scale(label, scale)
            for name, label in zip(
                part.annotators or map(str, range(1, len(part.labels) + 1)), part.labels, strict=True
            )
        }
        for row in rows
        for part in row.parts
    ]


def compute_alphas(
    people: Sequence[Mapping[str, str]], scale: Sequence[str], weights: Weights = None
) -> dict[Scale, AgreementFigure]:
    """Krippendorff's alpha, by what differences mean: how far those who labelled the same parts agree.

    Nominal of any labels; ordinal too where they have an order, contradicted below not in context below supported.

    Args:
        people: annotator -> label, a part each.
        scale: of the labels.
        weights: how much parts count; None = all alike.
    """
    ordered = set(scale) == set(LABEL_ORDER)
    codes = {label: n for n, label in enumerate(LABEL_ORDER if ordered else scale)}
    units = [[codes[label] for label in part.values()] for part in people]
    return compute_unit_alphas(units, ("nominal", "ordinal") if ordered else ("nominal",), weights)


def compute_unit_alphas(
    units: Sequence[Sequence[float]], scales: Sequence[Scale], weights: Weights = None
) -> dict[Scale, AgreementFigure]:
    """Alpha of values by each of some scales; without a value where all are the same, or of one item."""
    if sum(len(unit) > 1 for unit in units) == 1:  # what chance would do cannot be told from one
        return {scale: AgreementFigure(None, reason="one item") for scale in scales}
    estimates = {scale: compute_krippendorff_alpha(units, scale, weights=weights) for scale in scales}
    return {
        scale: AgreementFigure(None, reason="all labels are the same")
        if alpha is None
        else AgreementFigure(alpha.value, alpha.interval)
        for scale, alpha in estimates.items()
    }


def compute_ceiling(
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
    others, own_labels, part_groups = [], [], []
    counted: list[float] = []
    for part, group, weight in zip(people, groups, weights or (1.0,) * len(groups), strict=True):
        for name, label in part.items():
            other_labels = [other_label for other, other_label in part.items() if other != name]
            if other_labels and (majority_label := find_majority(other_labels)):
                others.append(majority_label)
                own_labels.append(label)
                part_groups.append(group)
                counted.append(weight)
    return (
        compute_agreement(others, own_labels, scale, part_groups, None if weights is None else counted)
        if own_labels
        else None
    )


def run_alternative_tests(
    people: Sequence[Mapping[str, str]], verdicts: Sequence[str], weights: Weights = None
) -> tuple[AlternativeAnnotator, ...]:
    """The alternative-annotator test of a judge at each allowance; () with too few annotators or parts.

    Args:
        people: annotator -> label, a part each.
        verdicts: of the judge, on the same scale; "" = none.
        weights: how much parts count; None = all alike.
    """
    judge_labels = [entry or None for entry in verdicts]
    results = (alternative_annotator(people, judge_labels, epsilon, weights=weights) for epsilon in EPSILONS)
    return tuple(entry for entry in results if entry is not None)
