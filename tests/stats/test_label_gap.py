"""How far people's mean lies from a judge's, from labels: by hand, by its laws, and by simulation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest

from ragauge.core.errors import UsageError
from ragauge.stats.judge_error import JudgeMeanError, build_from_labels, widen_difference_interval, widen_interval
from ragauge.stats.label_gap import LabelGap, ScoredText, label_gap
from ragauge.stats.weighted import Interval

Floats = npt.NDArray[np.float64]
PUBLIC = JudgeMeanError((0.3, 0.7), (-0.05, -0.1, 0.05), (0.06, 0.1, 0.05), 0.02, 0.05, 9, "9 public sources")


def texts(pairs: Sequence[tuple[float, float]], file: bytes = b"f", each: int = 1) -> list[ScoredText]:
    """(people, judge) of texts, so many of each example."""
    return [
        ScoredText(people, judge, file + bytes([n // each // 250, n // each % 250]), file)
        for n, (people, judge) in enumerate(pairs)
    ]


def gap_of(scored: Sequence[ScoredText]) -> LabelGap:
    found = label_gap(scored)
    assert found is not None
    return found


def test_the_gap_by_hand() -> None:
    """Ten texts, two called right by the judge alone: means, gap, its variance with what is added, and the slopes."""
    found = gap_of(texts([(1, 1)] * 6 + [(0, 1)] * 2 + [(0, 0)] * 2))
    assert (found.people, found.judge, found.gap) == pytest.approx((0.6, 0.8, -0.2))
    # Σ (g + 0.2)² = 2 · 0.64 + 8 · 0.04 = 1.6
    assert found.variance == pytest.approx((1.6 + 1) / (11 * 12))
    # with half a text of each kind: of 7 right 6.5 called right, of 5 wrong 2.5
    assert found.seen == pytest.approx(6.5 / 7 - 2.5 / 5)
    # and of 9 called right 6.5 are, of 3 called wrong 0.5
    assert found.least == pytest.approx(6.5 / 9 - 0.5 / 3 - 1)
    assert found.most == pytest.approx(1 / (6.5 / 7 - 2.5 / 5) - 1)
    away = found.at(0.9)
    # ten labels show no relation: people's mean over them, 0.6, is a reading as good as that of calibration
    assert not found.can_distinguish
    high = 0.7 + 0.1 * found.most
    assert away.shift == pytest.approx((0.6 + high) / 2 - 0.9)
    assert away.spread**2 == pytest.approx(found.variance + (high - 0.6) ** 2 / 8)
    # a hundred do, and then both slopes alone count
    sure = gap_of(texts(([(1, 1)] * 6 + [(0, 1)] * 2 + [(0, 0)] * 2) * 10))
    assert sure.can_distinguish
    assert sure.at(0.9).shift == pytest.approx(-0.2 + 0.1 * (sure.least + sure.most) / 2)
    assert sure.at(0.9).spread ** 2 == pytest.approx(sure.variance + (0.1 * (sure.most - sure.least)) ** 2 / 8)
    assert found.at(0.8).df == pytest.approx(9)


def test_texts_of_one_example_are_one_observation() -> None:
    """Each text written four times over tells no more than once; as examples of their own they would."""
    pairs = [(1.0, 1.0)] * 12 + [(0.0, 1.0)] * 6 + [(0.0, 0.0)] * 6
    often = [one for one in pairs for _ in range(4)]
    assert replace(gap_of(texts(often, each=4)), labels=24) == gap_of(texts(pairs))
    assert gap_of(texts(often)).variance < gap_of(texts(pairs)).variance / 3


def test_files_that_differ_widen() -> None:
    """Two files with other gaps have a spread between them, as many labels of one file with the same gap have none."""
    good, bad = [(1.0, 1.0)] * 70 + [(0.0, 0.0)] * 30, [(1.0, 1.0)] * 40 + [(0.0, 1.0)] * 30 + [(0.0, 0.0)] * 30
    apart, one = gap_of(texts(good, b"a") + texts(bad, b"b")), gap_of(texts(good + bad))
    assert (apart.files, one.files) == (2, 1)
    assert one.between == 0
    assert apart.gap == pytest.approx(one.gap)
    assert apart.at(0.8).reach(0.95) > 3 * one.at(0.8).reach(0.95)
    assert gap_of(texts(good, b"a") + texts(good, b"b")).between == 0


def test_few_labels_are_wide_and_none_say_nothing() -> None:
    """One label leaves nearly everything open, labels on which both agree leave doubt that falls with their number."""
    assert label_gap([]) is None
    assert gap_of(texts([(1.0, 1.0)])).at(1.0).reach(0.95) > 1
    widths = [gap_of(texts([(1.0, 1.0)] * n)).at(1.0).reach(0.95) for n in (5, 30, 100, 400)]
    assert widths == sorted(widths, reverse=True)
    assert widths[1] > 0.05
    assert widths[-1] < 0.01
    with pytest.raises(UsageError, match=r"in \[0, 1\]"):
        label_gap(texts([(1.0, 1.5)]))


def test_a_mirrored_gap_is_that_of_the_mirrored_scores() -> None:
    """The gap of 1 − x is what labels of 1 − x give."""
    pairs = [(1.0, 0.9)] * 20 + [(0.0, 0.6)] * 7 + [(0.0, 0.1)] * 9
    direct, turned = gap_of(texts([(1 - one, 1 - other) for one, other in pairs])), gap_of(texts(pairs)).mirror()
    for mean in (0.2, 0.5, 0.9):
        assert direct.at(mean) == pytest.approx(turned.at(mean))
    assert direct.lost == pytest.approx(turned.lost)


def test_labels_take_over_from_public_sources_as_they_come() -> None:
    """Without labels the public error counts, with many only theirs, in the band that they lie in and no other."""
    values = np.full(50, 0.9)
    (usual,) = PUBLIC.compute_offsets(values)
    found = [PUBLIC.with_labels(gap_of(texts([(1.0, 0.9)] * 19 * n + [(0.0, 0.9)] * n)), "", "") for n in (1, 3, 75)]
    few, some, many = (one.compute_offsets(values)[0] for one in found)
    assert usual.spread > few.spread > some.spread > many.spread
    assert many.spread < 0.01
    assert abs(many.shift - 0.05) < 0.002
    assert (
        found[2].compute_offsets(np.full(9, 0.1))[0].spread > 0.75 * PUBLIC.compute_offsets(np.full(9, 0.1))[0].spread
    )
    assert replace(found[0], sources=0).compute_offsets(values) == (gap_of_labels(found[0]).at(0.9),)


def gap_of_labels(error: JudgeMeanError) -> LabelGap:
    assert error.labels is not None
    return error.labels


def populated(kind: str, n: int, mean: float, draw: np.random.Generator) -> tuple[Floats, Floats]:
    """People's verdicts and a judge's scores of n texts; the scores' mean is about `mean`.

    Args:
        kind: right (as sure as it says), lenient (people support a quarter less), inverted (people say the opposite),
            or the share that people support whatever it says.
        n: texts.
        mean: of the judge's scores.
        draw: of numbers.
    """
    judge = np.where(draw.random(n) < (mean - 0.05) / 0.93, 0.98, 0.05)
    chance = {"right": judge, "lenient": 0.75 * judge, "inverted": 1 - judge}.get(kind)
    chance = np.full(n, float(kind)) if chance is None else chance
    return np.asarray(draw.random(n) < chance, dtype=float), judge


def interval_of(run: Floats, error: JudgeMeanError) -> Interval:
    mean, half = float(run.mean()), 1.96 * float(run.std()) / run.size**0.5
    return widen_interval(Interval(max(0.0, mean - half), min(1.0, mean + half), "normal"), mean, error, run)


def checked(kind: str, labels: int, mean: float, draw: np.random.Generator) -> JudgeMeanError:
    people, judge = populated(kind, labels, mean, draw)
    return PUBLIC.with_labels(gap_of(texts(list(zip(people.tolist(), judge.tolist(), strict=True)))), "", "")


@pytest.mark.parametrize("labels", [50, 200])
@pytest.mark.parametrize("mean", [0.97, 0.8, 0.55])
@pytest.mark.parametrize("kind", ["right", "lenient", "inverted", "0.3", "0.5"])
def test_labels_of_the_run_hold_peoples_mean_beside_public_sources(kind: str, mean: float, labels: int) -> None:
    """Of labels drawn from the run at least 90 % of intervals hold people's mean, whatever the judge is worth."""
    draw, found, tries = np.random.default_rng(20_261_123), 0, 150
    for _ in range(tries):
        error = checked(kind, labels, mean, draw)
        people, run = populated(kind, 4_000, mean, draw)
        ends = interval_of(run, error)
        found += ends.low <= float(people.mean()) <= ends.high
    assert found / tries >= 0.90


@pytest.mark.parametrize("labels", [50, 200])
@pytest.mark.parametrize("mean", [0.97, 0.8, 0.55])
@pytest.mark.parametrize("kind", ["inverted", "0.3", "0.5"])
def test_labels_that_contradict_public_sources_win(kind: str, mean: float, labels: int) -> None:
    """By labels of a mixed set that show a worthless judge, an interval holds their share and is never narrower."""
    draw = np.random.default_rng(20_261_124)
    for _ in range(60):
        error = checked(kind, labels, 0.5, draw)
        _, run = populated(kind, 200, mean, draw)
        ends, usual = interval_of(run, error), interval_of(run, PUBLIC)
        assert error.is_contradicted()
        assert ends.low <= gap_of_labels(error).people <= ends.high
        assert ends.low <= usual.low
        assert ends.high >= usual.high


def test_sources_that_labels_bear_out_are_not_contradicted() -> None:
    """A judge as sure as public sources say it is contradicts them by chance alone: in no more than one case in ten."""
    draw, odd, tries = np.random.default_rng(3), 0, 200
    for _ in range(tries):
        judge = draw.choice([0.15, 0.5, 0.9], 150)
        common, own = draw.normal(), draw.normal(size=3)
        off = np.array(PUBLIC.shifts) + np.array(PUBLIC.spreads) * (0.5**0.5 * common + 0.5**0.5 * own)
        chance = np.clip(judge + off[np.searchsorted(PUBLIC.edges, judge)], 0, 1)
        people = np.asarray(draw.random(150) < chance, dtype=float)
        labels = gap_of(texts(list(zip(people.tolist(), judge.tolist(), strict=True))))
        odd += PUBLIC.with_labels(labels, "", "").is_contradicted()
    assert odd / tries <= 0.10


def test_a_difference_knows_what_labels_say() -> None:
    """By labels of one file a difference may be larger than seen, of two that differ also seen where there is none."""
    sampled = Interval(0.02, 0.10, "t")
    noisy = [(1.0, 1.0)] * 60 + [(0.0, 1.0)] * 20 + [(0.0, 0.0)] * 20
    one = build_from_labels(gap_of(texts(noisy)), "", "")
    found = widen_difference_interval(sampled, 0.06, one)
    assert found.low == pytest.approx(0.02)
    assert found.high > 0.11
    two = build_from_labels(gap_of(texts(noisy[:50], b"a") + texts(noisy[50:], b"b")), "", "")
    assert two.paired > 0
    assert widen_difference_interval(sampled, 0.06, two).low < 0


def judged(share: float, n: int, sees: tuple[float, float], draw: np.random.Generator) -> tuple[Floats, Floats]:
    """People's and the judge's scores of n examples of one to three claims; right ones lie together in examples.

    Args:
        share: of claims that is right.
        n: examples.
        sees: the judge's chance to call a right claim right, and a wrong one.
        draw: of numbers.
    """
    claims, chance = draw.integers(1, 4, n), draw.beta(4 * share, 4 * (1 - share), n)
    right = draw.binomial(claims, chance)
    called = draw.binomial(right, sees[0]) + draw.binomial(claims - right, sees[1])
    return right / claims, called / claims


def held(labels: int, share: float, sees: tuple[float, float], *, wide: bool = True, tries: int = 400) -> float:
    """How often the interval of a run of 300 holds people's mean, from so many labels of the same source."""
    draw = np.random.default_rng(20_261_123)
    found = 0
    for _ in range(tries):
        people, judge = judged(share, labels // 2, sees, draw)  # two claims an example, on average
        error = build_from_labels(gap_of(texts(list(zip(people.tolist(), judge.tolist(), strict=True)))), "", "")
        _, run = judged(share, 300, sees, draw)
        mean, half = float(run.mean()), 1.96 * float(run.std()) / 300**0.5
        sampled = Interval(max(0.0, mean - half), min(1.0, mean + half), "normal")
        ends = widen_interval(sampled, mean, error, run) if wide else sampled
        found += ends.low <= share <= ends.high
    return found / tries


SOURCES = [(0.7, (0.95, 0.2)), (0.6, (0.98, 0.6)), (0.7, (0.7, 0.05)), (0.9, (0.95, 0.0)), (0.8, (1.0, 0.25))]


@pytest.mark.parametrize("labels", [30, 100, 400])
@pytest.mark.parametrize(("share", "sees"), SOURCES)
def test_the_wide_interval_holds_peoples_mean(share: float, sees: tuple[float, float], labels: int) -> None:
    """Of 95 % intervals at least 90 % hold people's mean, whatever the judge's bias in that source, from 30 labels."""
    assert held(labels, share, sees) >= 0.90


def test_an_interval_without_the_labels_holds_far_too_little() -> None:
    """By sampling alone hardly any interval holds people's mean of a biased judge: the simulation can tell."""
    assert held(100, 0.6, (0.98, 0.6), wide=False) < 0.05


def test_the_wide_interval_gets_narrower_with_labels() -> None:
    """Not so wide that it must hold: from 400 labels it is under half as wide as from 30, and tells 0.6 from 0.76."""
    draw = np.random.default_rng(5)
    widths = []
    for labels in (30, 400):
        people, judge = judged(0.6, labels, (0.98, 0.4), draw)
        error = build_from_labels(gap_of(texts(list(zip(people.tolist(), judge.tolist(), strict=True)))), "", "")
        widths.append(2 * error.compute_offsets(judge)[0].reach(0.95))
    assert widths[1] < widths[0] / 2
    assert widths[1] < 0.12


def test_labels_of_several_sources_hold_the_mean_of_another() -> None:
    """From files of five sources with biases of their own, at least 90 % of intervals hold the mean in a sixth."""
    draw, found, tries = np.random.default_rng(11), 0, 300
    for _ in range(tries):
        wrong = draw.uniform(0, 0.5, 6)  # of wrong claims, how many the judge calls right, by source
        scored: list[ScoredText] = []
        for source in range(5):
            people, judge = judged(0.7, 40, (0.95, float(wrong[source])), draw)
            scored += texts(list(zip(people.tolist(), judge.tolist(), strict=True)), bytes([source]))
        _, run = judged(0.7, 300, (0.95, float(wrong[5])), draw)
        mean, half = float(run.mean()), 1.96 * float(run.std()) / 300**0.5
        error = build_from_labels(gap_of(scored), "", "")
        ends = widen_interval(Interval(mean - half, mean + half, "normal"), mean, error, run)
        found += ends.low <= 0.7 <= ends.high
    assert found / tries >= 0.90
