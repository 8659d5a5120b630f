"""Whether a judge may stand in for people: it is held against each of them by what the others say."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

from ragauge.core.errors import UsageError
from ragauge.stats.distributions import student_cdf

MIN_ANNOTATORS, MIN_ITEMS = 3, 30
MIN_WINNING_RATE = 0.5  # of the annotators it must win against


@dataclass(frozen=True, slots=True)
class AlternativeAnnotator:
    """What the test says of a judge."""

    winning: float  #: ω, share of the annotators whom the judge may replace, in [0, 1].
    #: mean over annotators of the share of items on which the judge agrees with the others at least as well as that
    #: annotator does, in [0, 1].
    advantage: float
    epsilon: float  #: how much worse the judge may be, for being cheaper.
    annotators: int  #: that were held against it, each with 30 items or more.
    items: int  #: judged by it and by two annotators or more.

    @property
    def passes(self) -> bool:
        """Whether the judge may replace at least half of the annotators."""
        return self.winning >= MIN_WINNING_RATE


def alternative_annotator(
    people: Sequence[Mapping[str, Hashable]],
    judge: Sequence[Hashable | None],
    epsilon: float,
    *,
    level: float = 0.05,
    weights: Sequence[float] | None = None,
) -> AlternativeAnnotator | None:
    """The alternative-annotator test of a judge.

    d_i = 1{a_i ≥ s_i} − 1{s_i ≥ a_i},  t = (d̄ − ε) √n / s_d,  p = P(T_{n−1} < t)

    a_i  share of the other annotators of item i with whom annotator j agrees;  s_i  the same of the judge
    ε    cost-benefit allowance: 0.2 against experts, 0.15 skilled people, 0.1 crowd workers, as the authors say
    d̄, s_d  weighted where items have weights w of mean 1: d̄ = Σ w_i d_i / n, s_d² = Σ w_i² (d_i − d̄)² / (n − 1)
    ω    share of annotators whose p is rejected by Benjamini and Yekutieli's procedure, at the level

    Args:
        people: annotator -> label, an item each.
        judge: its label of each item; None = none: the item is left out.
        epsilon: in [0, 1).
        level: false discovery rate.
        weights: how much items count, above 0; None = all alike.

    Returns:
        The result; None with fewer than 3 annotators who share 30 items or more with others.

    Raises:
        UsageError: labels and verdicts are not as many.

    Source: Calderon, Reichart and Dror (2025), arXiv:2501.10970; Benjamini and Yekutieli (2001).
    """
    if len(people) != len(judge):
        raise UsageError(f"alternative_annotator: people and judge differ in length: {len(people)} and {len(judge)}.")
    every = zip(people, judge, weights or (1.0,) * len(people), strict=True)
    items = [(labels, item, weight) for labels, item, weight in every if item is not None and len(labels) > 1]
    compared = {name: each for name, each in _compare_annotators(items).items() if len(each) >= MIN_ITEMS}
    if len(compared) < MIN_ANNOTATORS:
        return None
    p_values = [
        _p_value([float(they) - float(it) for it, they, _ in each], [item[2] for item in each], epsilon)
        for each in compared.values()
    ]
    advantages = [
        sum(it * weight for it, _, weight in each) / sum(item[2] for item in each) for each in compared.values()
    ]
    won = sum(item <= level for item in benjamini_yekutieli(p_values))
    return AlternativeAnnotator(
        won / len(p_values), sum(advantages) / len(advantages), epsilon, len(p_values), len(items)
    )


def _compare_annotators(
    items: Sequence[tuple[Mapping[str, Hashable], Hashable, float]],
) -> dict[str, list[tuple[bool, bool, float]]]:
    """Annotator -> whether the judge is as good or better, whether the annotator is, and the weight, an item each."""
    compared: dict[str, list[tuple[bool, bool, float]]] = {}
    for labels, verdict, weight in items:
        for name, own_label in labels.items():
            others = [label for other, label in labels.items() if other != name]
            own_matches, judge_matches = others.count(own_label), others.count(verdict)
            compared.setdefault(name, []).append((judge_matches >= own_matches, own_matches >= judge_matches, weight))
    return compared


def _p_value(differences: Sequence[float], weights: Sequence[float], epsilon: float) -> float:
    n, total = len(differences), sum(weights)
    mean = sum(value * weight for value, weight in zip(differences, weights, strict=True)) / total
    scaled = [(value - mean) * weight * n / total for value, weight in zip(differences, weights, strict=True)]
    spread = sqrt(sum(value**2 for value in scaled) / (n - 1))
    if spread == 0:
        return 0.0 if mean < epsilon else 1.0
    return student_cdf(n - 1, (mean - epsilon) * sqrt(n) / spread)


def benjamini_yekutieli(p_values: Sequence[float]) -> list[float]:
    """Benjamini and Yekutieli's adjusted p-values: as Benjamini and Hochberg's, whatever the dependence.

    adjusted p of rank i (smallest first, of m) = min over j >= i of min(1, m p_(j) Σ_k (1/k) / j)

    >>> [round(one, 4) for one in benjamini_yekutieli([0.01, 0.04, 0.03])]
    [0.055, 0.0733, 0.0733]
    """
    m, adjusted, bound = len(p_values), [0.0] * len(p_values), 1.0
    harmonic = sum(1 / k for k in range(1, m + 1))
    for rank, index in zip(range(m, 0, -1), sorted(range(m), key=p_values.__getitem__, reverse=True), strict=True):
        bound = min(bound, p_values[index] * harmonic * m / rank)
        adjusted[index] = bound
    return adjusted
