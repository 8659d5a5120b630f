"""Means of a judge's scores that are rectified by human labels."""

from __future__ import annotations

import json
from functools import cache
from math import inf, sqrt
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from scipy.special import stdtrit

from ragauge.core.errors import UsageError
from ragauge.metrics.answer.answer_contains import AnswerContains
from ragauge.stats.intervals import wilson_interval
from ragauge.stats.ppi_mean import LabelCorrectedMean, LabelSample, rectified_difference, rectified_mean
from ragauge.stats.rate_transfer import transferred_rate
from ragauge.stats.weighted import Interval

EVOUNA = Path(__file__).parents[3] / "shared/data/qa_eval_evouna/TQ.json"
Array = npt.NDArray[np.float64]
Judge = tuple[float, float] | None
BY_HAND = LabelSample([1, 0, 1, 1], [1, 0, 1, 0], [1, 1, 0, 1, 1, 0])


def wide(interval: Interval) -> float:
    """How wide."""
    return interval.high - interval.low


def found_of(sample: LabelSample, bounds: tuple[float, float] = (0.0, 1.0)) -> LabelCorrectedMean:
    """The mean, which there is."""
    found = rectified_mean(sample, bounds=bounds)
    assert found is not None
    return found


def test_by_hand() -> None:
    """Four labels, six others: the weight, the mean and the error of the formula, worked out by hand."""
    # covariance sum 0.5, spread 1: weight 0.5 / 1 / (1 + 4/6) = 0.3; mean 0.75 + 0.3 (4/6 − 0.5) = 0.8
    found = found_of(BY_HAND, (-inf, inf))
    assert (found.weight, found.mean) == pytest.approx((0.3, 0.8))
    # residuals 0.1, −0.6, 0.1, 0.4: squares 0.54, over 2 = 0.27; the others' variance is 4/15
    square = 0.27 / 4 + 0.09 * (4 / 15) / 6
    half = stdtrit(2, 0.975) * sqrt(square)
    assert (found.interval.low, found.interval.high) == pytest.approx((0.8 - half, 0.8 + half))
    assert (found.classical, found.judged, found.n, found.others) == (0.75, 0.6, 4, 6)
    # within [0, 1]: the labels' variance is 0.25, so d = 4 · 0.0715 / 0.25 = 1.144, and Wilson's has 4 / 1.144 trials
    within = found_of(BY_HAND)
    trials, z = 4 / (4 * square / 0.25), stdtrit(2, 0.975)
    k = z * z / trials
    middle, half = (0.8 + k / 2) / (1 + k), sqrt(k * 0.16 + k * k / 4) / (1 + k)
    assert within.effective == pytest.approx(trials)
    assert (within.interval.low, within.interval.high) == pytest.approx((middle - half, middle + half))


def test_one_sided_with_an_estimated_weight() -> None:
    """A one-sided interval is one-sided, at the whole level, with the weight estimated too."""
    sample = LabelSample([1, 0, 1, 1, 0, 1], [1, 0, 1, 0, 0, 1], [1, 1, 0, 1, 1, 0, 1])
    for bounds in ((-inf, inf), (0.0, 1.0)):
        both = rectified_mean(sample, level=0.9, bounds=bounds)
        lower = rectified_mean(sample, alternative="greater", bounds=bounds)
        upper = rectified_mean(sample, alternative="less", bounds=bounds)
        assert both is not None
        assert lower is not None
        assert upper is not None
        assert (lower.interval.low, lower.interval.high) == pytest.approx((both.interval.low, bounds[1]))
        assert (upper.interval.low, upper.interval.high) == pytest.approx((bounds[0], both.interval.high))
        assert "one-sided" in lower.interval.method


def test_a_judge_that_knows_nothing_or_the_opposite() -> None:
    """A constant judge leaves the labels alone, with weight 0; one that says the opposite informs as its mirror."""
    labels, judged, others = [1.0, 0.0, 1.0, 1.0, 0.0, 0.0], [1.0, 0.0, 1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 1.0]
    alone = found_of(LabelSample(labels, [0.5] * 6, [0.1, 0.9, 0.4]))
    assert (alone.weight, alone.mean) == (0.0, 0.5)
    true = found_of(LabelSample(labels, judged, others))
    false = found_of(LabelSample(labels, [1 - one for one in judged], [1 - one for one in others]))
    assert false.weight == pytest.approx(-true.weight)
    assert (false.mean, false.interval.low) == pytest.approx((true.mean, true.interval.low))


def test_too_few_and_not_readable() -> None:
    """Fewer than four labels or two others carry no interval; what cannot be read is refused."""
    assert rectified_mean(LabelSample([1, 0, 1], [1, 0, 1], [1, 0])) is None
    assert rectified_mean(LabelSample([1, 0, 1, 1], [1, 0, 1, 1], [1])) is None
    one_cluster = ([1] * 6, [2, 3])
    assert rectified_mean(LabelSample([1, 0, 1, 1, 0, 1], [1] * 6, [1, 0], clusters=one_cluster)) is None
    with pytest.raises(UsageError, match="labels and judge scores differ in length: 2 and 1"):
        rectified_mean(LabelSample([1, 0], [1], [1, 0]))
    with pytest.raises(UsageError, match=r"inclusion must be a probability in \(0, 1\]"):
        rectified_mean(LabelSample([1, 0], [1, 0], [1, 0], inclusion=[0.5, 0.0]))


def test_labels_that_are_all_alike() -> None:
    """Labels that all say 1 have the interval that Wilson's rule gives them with Student's t, never one of width 0."""
    found = found_of(LabelSample([1.0] * 50, [1.0] * 40 + [0.0] * 10, [1.0, 0.0] * 20))
    z = stdtrit(48, 0.975)
    assert (found.mean, found.interval.high) == (1.0, 1.0)
    assert found.interval.low == pytest.approx(1 / (1 + z * z / 50))
    changed = rectified_difference(LabelSample([0.0] * 50, [0.0] * 50, [0.0] * 40))
    assert changed is not None
    assert changed.interval.high == pytest.approx(stdtrit(48, 0.975) * sqrt(2 / 48 / 50))


def test_equal_chances_are_a_random_sample() -> None:
    """With equal chances for all, one stratum or a cluster each, the estimate is that of a random sample."""
    generator = np.random.default_rng(3)
    labels, scores = said(generator, 1_000, 0.7, (0.8, 0.7))
    y, f, g = labels[:100], scores[:100], scores[100:]
    plain = found_of(LabelSample(y, f, g))
    equal = found_of(LabelSample(y, f, g, inclusion=[0.1] * 100))
    alone = found_of(LabelSample(y, f, g, clusters=(np.arange(100), np.arange(100, 1000))))
    assert equal.mean == pytest.approx(plain.mean, abs=0.002)  # λ is that of the whole, a little another one
    assert wide(equal.interval) == pytest.approx(wide(plain.interval), rel=0.02)
    assert (alone.interval.low, alone.interval.high) == pytest.approx((plain.interval.low, plain.interval.high))


def said(generator: np.random.Generator, n: int, rate: float, judge: Judge) -> tuple[Array, Array]:
    """What people say (1 with this rate), and a judge of some sensitivity and specificity; None = always the same."""
    y = (generator.random(n) < rate).astype(float)
    return y, np.full(n, 0.7) if judge is None else verdicts(generator, y, judge)


def verdicts(generator: np.random.Generator, y: Array, judge: tuple[float, float]) -> Array:
    """1 or 0, by sensitivity and specificity."""
    return (generator.random(y.size) < np.where(y == 1, judge[0], 1 - judge[1])).astype(float)


def simulated(rate: float, n: int, others: int, judge: Judge | str, draws: int) -> tuple[float, float]:
    """How often the 95 % interval holds the truth, and its mean width over that of Wilson's of the labels alone."""
    generator = np.random.default_rng([int(1000 * rate), n, others, draws, len(str(judge))])
    held = width = alone = 0.0
    for _ in range(draws):
        y = (generator.random(n + others) < rate).astype(float)
        if isinstance(judge, str):  # probabilities, badly calibrated
            f = generator.beta(np.where(y == 1, 4.0, 1.5), 2.0)
        else:
            f = np.full(y.size, 0.7) if judge is None else verdicts(generator, y, judge)
        interval = found_of(LabelSample(y[:n], f[:n], f[n:])).interval
        held += interval.low <= rate <= interval.high
        width += wide(interval)
        own = wilson_interval(y[:n].sum(), n)
        assert own is not None
        alone += wide(own)
    return held / draws, width / alone


JUDGES: tuple[Judge | str, ...] = (
    (0.92, 0.85),
    (0.8, 0.65),
    (0.6, 0.4),
    (0.2, 0.3),
    (0.99, 0.35),
    None,
    "probabilities",
)


@pytest.mark.prove
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("judge", JUDGES, ids=str)
@pytest.mark.parametrize("n", [50, 100, 150, 300])
def test_coverage(judge: Judge | str, n: int) -> None:
    """Over 4,000 draws a cell the interval holds the truth in 92 to 98.5 %, and is never wider than 1.05 of Wilson's.

    Where fewer than five labels of the rarer kind are expected it holds it in 89 % at least.
    """
    for rate in (0.05, 0.1, 0.2, 0.5, 0.8, 0.9, 0.95):
        for others in (150, 1_000, 5_000):
            held, width = simulated(rate, n, others, judge, 4_000)
            low, high = (0.92, 0.985) if n * min(rate, 1 - rate) >= 5 - 1e-9 else (0.89, 1.0)
            assert low <= held <= high, (rate, n, others, judge, held)
            assert width <= 1.05, (rate, n, others, judge, width)


@pytest.mark.parametrize(
    ("rate", "n", "judge", "widest"),
    [(0.8, 150, (0.92, 0.85), 0.78), (0.95, 100, (0.99, 0.35), 1.0), (0.9, 50, (0.2, 0.3), 1.05)],
)
def test_one_cell_of_coverage(rate: float, n: int, judge: Judge, widest: float) -> None:
    """A good judge narrows the interval to 0.78 of the labels' own; at 0.95 and with a hostile judge it still holds."""
    held, width = simulated(rate, n, 1_000, judge, 1_500)
    assert 0.915 <= held <= 0.99
    assert width <= widest


@pytest.mark.parametrize(("clusters", "least"), [(False, 0.93), (True, 0.91)])
@pytest.mark.parametrize(("base", "new", "judge"), [(0.8, 0.85, (0.92, 0.85)), (0.95, 0.96, (0.6, 0.4))])
def test_coverage_of_differences(clusters: bool, least: float, base: float, new: float, judge: Judge) -> None:
    """Differences are held in 93 % from 100 labels, and in 91 % in 50 clusters of three, also where little changes."""
    generator = np.random.default_rng([int(100 * base), clusters])
    n, total, held, draws = (150, 1_050, 0, 1_000) if clusters else (100, 1_100, 0, 1_000)
    names = np.repeat(np.arange(total // 3), 3)
    assert judge is not None
    for _ in range(draws):
        u = np.repeat(generator.random(total // 3), 3) if clusters else generator.random(total)
        u = np.where(generator.random(u.size) < 0.5, u, generator.random(u.size))
        again = np.where(generator.random(u.size) < 0.9, u, generator.random(u.size))
        y_base, y_new = (u < base).astype(float), (again < new).astype(float)
        y, f = y_new - y_base, verdicts(generator, y_new, judge) - verdicts(generator, y_base, judge)
        sample = LabelSample(y[:n], f[:n], f[n:], clusters=(names[:n], names[n:]) if clusters else None)
        found = rectified_difference(sample)
        assert found is not None
        held += found.interval.low <= new - base <= found.interval.high
    assert held / draws >= least


@pytest.mark.parametrize("scheme", ["strata", "inclusion"])
@pytest.mark.parametrize("rate", [0.5, 0.9])
def test_coverage_where_labels_were_chosen(scheme: str, rate: float) -> None:
    """Half the labels a verdict, or twice the chance for what is rejected: held; by the labels alone it is not."""
    generator = np.random.default_rng([7, int(100 * rate), len(scheme)])
    held = naive = 0
    for _ in range(600):
        y, f = said(generator, 1_100, rate, (0.85, 0.7))
        if scheme == "strata":
            picked = np.zeros(y.size, dtype=bool)
            for verdict in (0.0, 1.0):
                picked[generator.choice(np.flatnonzero(f == verdict), 75, replace=False)] = True
            sample = LabelSample(y[picked], f[picked], f[~picked], strata=(f[picked], f[~picked]))
        else:
            chance = np.where(f == 1, 0.5, 1.0)
            chance *= 150 / chance.sum()
            picked = generator.random(y.size) < chance
            sample = LabelSample(y[picked], f[picked], f[~picked], inclusion=chance[picked])
        interval = found_of(sample).interval
        held += interval.low <= rate <= interval.high
        own = wilson_interval(y[picked].sum(), int(picked.sum()))
        assert own is not None
        naive += own.low <= rate <= own.high
    assert 0.925 <= held / 600 <= 0.99
    assert naive / 600 < 0.8 or rate == 0.5


@pytest.mark.parametrize(("rate", "judge"), [(0.2, (0.92, 0.85)), (0.8, (0.8, 0.65)), (0.95, (0.92, 0.85))])
def test_coverage_of_a_transferred_rate(rate: float, judge: Judge) -> None:
    """Labels of a run with another rate: the corrected rate is held as promised, and the judge's own rate is not."""
    generator = np.random.default_rng(int(100 * rate))
    held = total = 0.0
    for _ in range(1_000):
        labels, judged = said(generator, 150, 0.6, judge)
        found = transferred_rate(labels, judged, said(generator, 1_000, rate, judge)[1])
        assert found is not None
        held += found.interval.low <= rate <= found.interval.high
        total += found.rate
    assert 0.93 <= held / 1_000 <= 0.985
    assert total / 1_000 == pytest.approx(rate, abs=0.02)


def test_no_rate_is_transferred_from_a_judge_that_tells_nothing() -> None:
    """A judge no better than chance on the labels, labels of one kind, and scores that are no verdicts give no rate."""
    assert transferred_rate([1, 0] * 20, [1, 1, 0, 0] * 10, [1, 0]) is None
    assert transferred_rate([1] * 20, [1] * 20, [1, 0]) is None
    with pytest.raises(UsageError, match="each must be 0 or 1"):
        transferred_rate([1, 0], [0.5, 1], [1])


@cache
def answered(system: str) -> tuple[Array, Array]:
    """What people and `answer_contains` say of a system's answers to the proper questions of EVOUNA's TriviaQA part."""
    rows = [row for row in json.loads(EVOUNA.read_text(encoding="utf-8")) if not row["improper"]]
    metric = AnswerContains()
    people = np.array([float(row[f"judge_{system}"]) for row in rows])
    return people, np.array([metric.value(row[f"answer_{system}"], row["golden_answer"].split("/")) for row in rows])


@pytest.mark.realdata
@pytest.mark.skipif(not EVOUNA.is_file(), reason="no public data sets here")
@pytest.mark.parametrize("system", ["fid", "gpt35", "chatgpt", "gpt4", "newbing"])
def test_150_labels_of_real_answers(system: str) -> None:
    """With 150 labels on 1,938 answers the interval holds what people say of all, and is narrower than theirs alone."""
    people, judge = answered(system)
    generator, held, width, alone, draws = np.random.default_rng(150), 0, 0.0, 0.0, 2_000
    for _ in range(draws):
        order = generator.permutation(people.size)
        mine, rest = order[:150], order[150:]
        interval = found_of(LabelSample(people[mine], judge[mine], judge[rest])).interval
        held += interval.low <= people.mean() <= interval.high
        own = wilson_interval(people[mine].sum(), 150)
        assert own is not None
        width, alone = width + wide(interval), alone + wide(own)
    assert held / draws >= 0.93
    assert width / alone <= 0.85


@pytest.mark.parametrize("chances", [None, [0.1] * 80])
def test_what_a_difference_is_worth_has_the_same_doubt_on_both_sides(chances: list[float] | None) -> None:
    """A judge that says nothing leaves 80 labels worth 80, but for the degree of freedom of its weight."""
    labels = [1.0, -1.0] + [0.0] * 78
    found = rectified_difference(LabelSample(labels, [0.0] * 80, [0.0] * 800, inclusion=chances))
    assert found is not None
    assert found.effective == pytest.approx(80 * 78 / 79, rel=1e-6)
    strata = ([1] * 40 + [2] * 40, [1] * 400 + [2] * 400)
    apart = rectified_difference(LabelSample(labels, [0.0] * 80, [0.0] * 800, strata=strata))
    assert apart is not None
    assert apart.effective == pytest.approx(80, rel=0.05)
