"""Weights in agreement statistics: a weight of two is the item twice, and one for all changes nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.analysis.test_annotators import SCALE, labelled

from ragauge.scores.agreement import Agreement, compare_accuracy, compute_agreement, compute_fleiss_kappa
from ragauge.scores.annotators import compute_alphas, compute_ceiling
from ragauge.scores.detection_quality import assess_probabilities, measure_detection

DRAWS = np.random.default_rng(11)
N = 120
WEIGHTS = [int(one) for one in DRAWS.integers(1, 4, N)]
P = DRAWS.random(N)
HUMAN = [bool(one) for one in DRAWS.random(N) < P]
JUDGE = [bool(one) for one in P > 0.5]
TWICE = [n for n, weight in enumerate(WEIGHTS) for _ in range(weight)]


def repeated(items: list[Any] | np.ndarray[Any, Any]) -> list[Any]:
    """Each item as often as its weight says."""
    return [items[n] for n in TWICE]


def words(flags: list[bool]) -> list[str]:
    return ["supported" if one else "not_supported" for one in flags]


def values(found: Agreement) -> list[float | None]:
    return [found.accuracy.value, found.balanced_accuracy.value, found.kappa.value]


def test_a_weight_of_two_is_the_item_twice() -> None:
    """Accuracy, balanced accuracy, kappa, precision, recall, F1, AUROC, Brier and ECE are those of repeated items."""
    labels = ("supported", "not_supported")
    mine = compute_agreement(words(HUMAN), words(JUDGE), labels, None, WEIGHTS)
    theirs = compute_agreement(words(repeated(HUMAN)), words(repeated(JUDGE)), labels)
    assert values(mine) == pytest.approx(values(theirs))
    assert (mine.n, sum(map(sum, mine.table))) == (N, N)
    one, other = measure_detection(HUMAN, JUDGE, None, WEIGHTS), measure_detection(repeated(HUMAN), repeated(JUDGE))
    for name in ("base_rate", "precision", "recall", "f1"):
        assert getattr(one, name).value == pytest.approx(getattr(other, name).value), name
    assert one.majority == pytest.approx(other.majority)
    a, b = assess_probabilities(HUMAN, P.tolist(), None, WEIGHTS), assess_probabilities(repeated(HUMAN), repeated(P))
    assert a is not None
    assert b is not None
    assert (a.auroc.value, a.brier.value, a.brier_base, a.ece) == pytest.approx(
        (b.auroc.value, b.brier.value, b.brier_base, b.ece)
    )
    assert [point.p for point in a.curve] == pytest.approx([point.p for point in b.curve])
    turned = words([not one for one in JUDGE])
    gained = compare_accuracy(words(HUMAN), words(JUDGE), turned, None, WEIGHTS)
    again = compare_accuracy(words(repeated(HUMAN)), words(repeated(JUDGE)), repeated(turned))
    assert gained.value == pytest.approx(again.value)


def test_weights_widen_the_interval_and_repeating_narrows_it() -> None:
    """Weights add no items: intervals are wider than those of as many items as their sum, and than without weights."""

    def width(found: Any) -> float:
        return float(found.interval.high - found.interval.low)

    labels = ("supported", "not_supported")
    plain, weighted, more = (
        compute_agreement(words(HUMAN), words(JUDGE), labels),
        compute_agreement(words(HUMAN), words(JUDGE), labels, None, WEIGHTS),
        compute_agreement(words(repeated(HUMAN)), words(repeated(JUDGE)), labels),
    )
    assert width(more.kappa) < width(plain.kappa) < width(weighted.kappa)
    assert width(more.accuracy) < width(plain.accuracy) < width(weighted.accuracy)
    areas = [assess_probabilities(HUMAN, P.tolist(), None, one) for one in (None, WEIGHTS)]
    assert width(areas[0].auroc if areas[0] else None) < width(areas[1].auroc if areas[1] else None)


def test_equal_weights_change_nothing() -> None:
    """Weights of 3 for all give every value and every interval that no weights give."""
    threes = [3.0] * N
    labels = ("supported", "not_supported")
    one, other = (compute_agreement(words(HUMAN), words(JUDGE), labels, None, each) for each in (None, threes))
    assert values(one) == pytest.approx(values(other))
    assert one.kappa.interval is not None
    assert other.kappa.interval is not None
    assert one.kappa.interval.low == pytest.approx(other.kappa.interval.low)


def test_weights_of_annotators() -> None:
    """Fleiss' kappa and the ceiling are those of repeated parts; alpha too, but for its small-sample term."""
    people, _ = labelled(N, 3, 0.8)
    counts = [[list(part.values()).count(label) for label in SCALE] for part in people]
    assert compute_fleiss_kappa(counts, WEIGHTS).value == pytest.approx(compute_fleiss_kappa(repeated(counts)).value)
    mine = compute_ceiling(people, SCALE, list(range(N)), WEIGHTS)
    theirs = compute_ceiling(repeated(people), SCALE, list(range(len(TWICE))))
    assert mine is not None
    assert theirs is not None
    assert values(mine) == pytest.approx(values(theirs))
    for scale, alpha in compute_alphas(people, SCALE, WEIGHTS).items():
        assert alpha.value == pytest.approx(compute_alphas(repeated(people), SCALE)[scale].value, abs=0.003), scale
    assert set(compute_alphas(people, SCALE)) == {"nominal", "ordinal"}
