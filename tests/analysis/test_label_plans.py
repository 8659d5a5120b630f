"""How many labels it takes: against intervals as they come out, and by hand."""

from __future__ import annotations

import numpy as np
import pytest

from ragauge.core.errors import UsageError
from ragauge.labels.label.compute import label_plan
from ragauge.scores.estimation import ScoreSample, correct_mean


def scores(total: int, keep: float, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """People's verdicts at a rate of 0.8, and a judge that says the same in `keep` of the cases, else at random."""
    draws = np.random.default_rng(seed)
    people = (draws.random(total) < 0.8).astype(float)
    return people, np.where(draws.random(total) < keep, people, (draws.random(total) < 0.8).astype(float))


def labelled(people: np.ndarray, n: int) -> np.ndarray:
    """Labels on the first n."""
    return np.where(np.arange(people.size) < n, people, np.nan)


@pytest.mark.parametrize("keep", [0.0, 0.9])
@pytest.mark.parametrize("width", [0.035, 0.045])
def test_planned_labels_reach_the_width(keep: float, width: float) -> None:
    """With as many labels as planned the interval reaches as far as asked for, within a tenth, over 40 draws."""
    halves = []
    for seed in range(40):
        people, judged = scores(1_000, keep, seed)
        found = label_plan("faithfulness", judged, labelled(people, 300), width=width, detect=None)
        assert found.labels is not None
        made = correct_mean(ScoreSample(judged, "mean", (0.0, 1.0)), labelled(people, found.labels))
        assert made is not None
        halves.append((made.interval.high - made.interval.low) / 2)
    assert np.mean(halves) == pytest.approx(width, rel=0.1)


def test_judge_saves_labels() -> None:
    """A judge that agrees saves more than half of the labels; without 20 labels it saves none."""
    people, judged = scores(2_000, 0.9)
    told = label_plan("faithfulness", judged, labelled(people, 200), width=0.04, detect=None)
    untold = label_plan("faithfulness", judged, labelled(people, 19), width=0.04, detect=None)
    assert told.labels is not None
    assert told.alone is not None
    assert told.labels < told.alone / 2
    assert (untold.correlation, untold.labels, untold.there) == (None, untold.alone, 19)


def test_change_by_hand() -> None:
    """(1.96 + 0.84)² · 0.25 / 0.1² = 196.2 labels see a change of 0.1 where the standard deviation is 0.5."""
    judged = np.tile([0.0, 1.0], 5_000)
    found = label_plan("faithfulness", judged, None, width=None, detect=0.1)
    assert found.labels == 197


def test_without_labels_the_widest_spread_is_planned_for() -> None:
    """A judge that gives all answers nearly one score does not make the plan cheap: 0.25 · 1.96² / 0.05² = 384.2."""
    judged = np.tile([0.9, 0.95], 5_000)
    found = label_plan("faithfulness", judged, None, width=0.05, detect=None)
    assert found.labels == pytest.approx(1.96**2 * 0.25 / 0.05**2, abs=4)


def test_clusters_take_more_labels() -> None:
    """Answers in pairs that share their score take more labels, and a run of n pairs tells no more than n answers."""
    judged = np.repeat(np.tile([0.0, 1.0], 500), 2)
    pairs = np.repeat(np.arange(1_000), 2)
    alone = label_plan("faithfulness", judged, None, width=0.04, detect=None)
    paired = label_plan("faithfulness", judged, None, width=0.04, detect=None, clusters=pairs)
    assert alone.labels is not None
    assert paired.labels is not None
    assert paired.labels > 1.3 * alone.labels
    half = label_plan("faithfulness", judged[::2], None, width=0.04, detect=None)
    assert paired.reached == pytest.approx(half.reached, rel=0.01)


def test_small_run_needs_more_responses() -> None:
    """Where labelling everything does not do, nothing is planned and the responses it takes are named."""
    judged = np.tile([0.0, 1.0], 50)
    found = label_plan("faithfulness", judged, None, width=0.05, detect=None)
    assert (found.labels, found.alone) == (None, None)
    assert found.needed == pytest.approx(1.96**2 * 0.25 / 0.05**2, abs=2)
    assert found.reached > 0.05


@pytest.mark.parametrize(("width", "detect"), [(None, None), (0.05, 0.1), (0.0, None), (None, -1.0), (np.nan, None)])
def test_wrong_goals_are_refused(width: float | None, detect: float | None) -> None:
    """No goal, two goals, and goals that are not above 0 are refused."""
    with pytest.raises(UsageError, match="either width or detect"):
        label_plan("faithfulness", np.ones(10), None, width=width, detect=detect)
