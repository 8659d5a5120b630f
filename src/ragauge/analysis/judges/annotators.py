"""What people who labelled the same parts say of each other, and of a judge among them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from ragauge.analysis.judges.agreement import Agreement, AgreementFigure, agreement
from ragauge.data.labelled import Labelled
from ragauge.stats.alternative_annotator import AlternativeAnnotator, alternative_annotator
from ragauge.stats.dawid_skene import dawid_skene
from ragauge.stats.krippendorff import krippendorff_alpha

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
        {name: on(label, scale) for name, label in zip(part.annotators or map(str, range(len(part.labels))),
                                                       part.labels, strict=True)}
        for row in rows for part in row.parts
    ]  # fmt: skip


def alpha(people: Sequence[Mapping[str, str]], scale: Sequence[str]) -> AgreementFigure:
    """Krippendorff's alpha, nominal: how far annotators agree among themselves."""
    found = krippendorff_alpha([[scale.index(label) for label in part.values()] for part in people])
    if found is None:
        return AgreementFigure(None, reason="all gave one label")
    return AgreementFigure(found.value, found.interval)


def ceiling(
    people: Sequence[Mapping[str, str]], scale: Sequence[str], groups: Sequence[int]
) -> Agreement | None:
    """Each annotator against what most of the others say, all together: what a judge can be asked for at most.

    Args:
        people: annotator -> label, a part each.
        scale: of the labels.
        groups: what parts depend on, a number each: several labels of one part depend on each other too.

    Returns:
        The agreement; rows are what the others say. None where no part has two annotators.
    """
    others, own, places = [], [], []
    for part, group in zip(people, groups, strict=True):
        for name, label in part.items():
            rest = [one for other, one in part.items() if other != name]
            if rest and (most := majority(rest)):
                others.append(most)
                own.append(label)
                places.append(group)
    return agreement(others, own, scale, places) if own else None


def alternatives(
    people: Sequence[Mapping[str, str]], verdicts: Sequence[str]
) -> tuple[AlternativeAnnotator, ...]:
    """The alternative-annotator test of a judge at each allowance; () with too few annotators or parts.

    Args:
        people: annotator -> label, a part each.
        verdicts: of the judge, on the same scale; "" = none.
    """
    found = (alternative_annotator(people, [one or None for one in verdicts], epsilon) for epsilon in EPSILONS)
    return tuple(one for one in found if one is not None)


def estimated(answers: Sequence[Sequence[str]]) -> tuple[float, ...]:
    """How often each judge is right, estimated from the judges' verdicts alone; () of fewer than 3 judges.

    Args:
        answers: of each judge, a label a part; "" = none.
    """
    parts = [{str(n): one for n, one in enumerate(said) if one} for said in zip(*answers, strict=True)]
    found = dawid_skene(parts)
    return () if found is None else tuple(found.accuracy.get(str(n), 0.0) for n in range(len(answers)))
