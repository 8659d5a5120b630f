"""How well a judge finds what is not supported, and what its probabilities are worth."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import mannwhitneyu, norm

from ragauge.scores.detection_quality import assess_probabilities, measure_detection

HUMAN = [False] * 10 + [True] * 30
JUDGE = [False] * 6 + [True] * 4 + [False] * 3 + [True] * 27


def test_detection_by_hand() -> None:
    """Of ten not supported six are found, with three false alarms: precision 6/9, recall 6/10, F1 12/19."""
    found = measure_detection(HUMAN, JUDGE)
    shown = (found.base_rate.value, found.majority, found.precision.value, found.recall.value, found.f1.value)
    assert shown == pytest.approx((0.25, 0.75, 6 / 9, 0.6, 12 / 19))
    for one in (found.base_rate, found.precision, found.recall, found.f1):
        assert one.interval is not None
        assert one.value is not None
        assert one.interval.low < one.value < one.interval.high


def test_detection_without_errors_or_cases() -> None:
    """No error leaves an interval of some width; where nothing is not supported, it says so."""
    perfect = measure_detection(HUMAN, HUMAN)
    assert perfect.f1.value == 1.0
    assert perfect.f1.interval is not None
    assert 0.6 < perfect.f1.interval.low < 0.9
    fine = measure_detection([True] * 5, [True] * 5)
    assert (fine.precision.value, fine.recall.value, fine.f1.value, fine.majority) == (None, None, None, 1.0)
    assert fine.recall.reason == "annotators mark nothing as not supported"
    assert measure_detection([], []).majority is None


def test_auroc_is_the_rank_statistic() -> None:
    """AUROC equals SciPy's Mann-Whitney U over the number of pairs, ties included."""
    generator = np.random.default_rng(4)
    human = generator.random(200) < 0.7
    p = np.round(np.clip(generator.normal(0.5 + 0.2 * human, 0.25), 0, 1), 1)
    found = assess_probabilities(human.tolist(), p.tolist())
    assert found is not None
    u = mannwhitneyu(p[human], p[~human]).statistic
    assert found.auroc.value == pytest.approx(u / (human.sum() * (~human).sum()))


def test_brier_and_reliability_by_hand() -> None:
    """Ten items, two a bin: the mean squared error, the shares of the bins, and how far these lie from p."""
    p = [0.1, 0.1, 0.3, 0.3, 0.5, 0.5, 0.7, 0.7, 0.9, 0.9]
    human = [False, False, False, True, False, True, True, True, True, True]
    found = assess_probabilities(human, p)
    assert found is not None
    # squares: 2 · .01, .09 + .49, 2 · .25, 2 · .09, 2 · .01
    assert found.brier.value == pytest.approx((0.02 + 0.58 + 0.5 + 0.18 + 0.02) / 10)
    assert found.brier_base == pytest.approx(0.24)
    assert [one.supported.value for one in found.curve] == [0, 0.5, 0.5, 1, 1]
    assert found.ece == pytest.approx((0.1 + 0.2 + 0 + 0.3 + 0.1) / 5)
    assert assess_probabilities([], []) is None
    alike = assess_probabilities([True, True], [0.4, 0.6])
    assert alike is not None
    assert (alike.auroc.value, alike.auroc.reason) == (None, "all labels are the same")


@pytest.mark.parametrize(("draws", "off"), [(300, 0.035), pytest.param(1_000, 0.02, marks=pytest.mark.prove)])
@pytest.mark.parametrize("clusters", [False, True])
def test_auroc_interval_covers(clusters: bool, draws: int, off: float) -> None:
    """Over 1,000 draws the 95 % interval holds the true AUROC in 93 to 97 %; with clusters ignored it would not."""
    generator = np.random.default_rng([5, clusters])
    truth = float(norm.cdf(1 / np.sqrt(2)))  # normal scores one standard deviation apart
    held = alone = 0
    for _ in range(draws):
        names = np.repeat(np.arange(60), 4) if clusters else np.arange(120)
        human = (generator.random(60) < 0.6)[names] if clusters else generator.random(120) < 0.6
        score = generator.normal(human, 1.0)
        if clusters:  # items of a cluster share half of the variance
            score = human + np.sqrt(0.5) * (generator.normal(size=60)[names] + generator.normal(size=240))
        p = 1 / (1 + np.exp(-score))
        found = assess_probabilities(human.tolist(), p.tolist(), names.tolist())
        ignoring = assess_probabilities(human.tolist(), p.tolist())
        for one, holds in ((found, True), (ignoring, False)):
            assert one is not None
            assert one.auroc.interval is not None
            inside = one.auroc.interval.low <= truth <= one.auroc.interval.high
            held, alone = (held + inside, alone) if holds else (held, alone + inside)
    assert abs(held / draws - 0.95) <= off
    assert (alone / draws < 0.9) == clusters


def test_clusters_widen_every_interval() -> None:
    """Items that come four times each have intervals twice as wide as they would have if they were independent."""
    human, judge = HUMAN * 4, JUDGE * 4
    together = measure_detection(human, judge, list(range(40)) * 4)
    apart = measure_detection(human, judge)
    for name in ("precision", "recall", "f1"):
        one, other = getattr(together, name).interval, getattr(apart, name).interval
        assert (one.high - one.low) / (other.high - other.low) == pytest.approx(2, rel=0.2)
