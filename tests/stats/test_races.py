"""A race keeps the best at the rate that it says, and saves questions."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from scipy.special import ndtr
from scipy.stats import binom

from ragauge.core.errors import UsageError
from ragauge.stats.families import compare_rivals, find_possible_best, plan_checkpoints, spend_alpha
from ragauge.stats.selection import estimate_on_new

EXAMPLES, TRIALS = 200, 24
UNIFORM = np.linspace(0.4, 0.8, TRIALS)
MEANS = {
    "uniform": UNIFORM,
    "best .80, rest .70": np.r_[0.8, np.full(23, 0.7)],
    "best .72, rest .70": np.r_[0.72, np.full(23, 0.7)],
    "three tied on top": np.r_[np.full(3, 0.8), np.full(21, 0.7)],
    "all tied": np.full(TRIALS, 0.7),
}
SAVED = {"fifths": 0.5, "binary": 0.4}  # of the questions, on the uniform studies


def scores(rng: np.random.Generator, means: npt.NDArray[np.float64], kind: str) -> npt.NDArray[np.float64]:
    """Scores of 24 trials on 200 examples with paired correlation .5, in fifths or 0 and 1."""
    common, own = rng.standard_normal((EXAMPLES, 1)), rng.standard_normal((EXAMPLES, len(means)))
    u = ndtr(np.sqrt(0.5) * common + np.sqrt(0.5) * own)
    if kind == "binary":
        return np.asarray(u > 1 - means, dtype=float)
    steps = np.asarray(binom.cdf(np.arange(5)[:, None], 5, means))
    return np.asarray((u[None] > steps[:, None, :]).sum(axis=0) / 5)


def raced(x: npt.NDArray[np.float64], seed: int) -> tuple[npt.NDArray[np.intp], int]:
    """Which columns are left at the end, and how many questions were asked."""
    alive, asked, before = np.arange(x.shape[1]), 0, 0
    stops = plan_checkpoints(len(x))
    for stop, alpha in zip(stops, spend_alpha([stop / len(x) for stop in stops]), strict=True):
        asked += alive.size * (stop - before)
        before = stop
        found = compare_rivals(x[:stop, alive], alpha=alpha, span=1.0, draws=1_000, seed=seed)
        alive = alive[[not one.is_beaten for one in found]]
    return alive, asked


def simulate(kind: str, means: npt.NDArray[np.float64], studies: int) -> tuple[npt.NDArray[np.float64], float, float]:
    """Share of studies that keep each true best; that keep the pick of the complete grid; of questions saved."""
    rng, best = np.random.default_rng(7), np.flatnonzero(means == means.max())
    kept, same, asked = np.zeros(best.size), 0, 0
    for study in range(studies):
        x = scores(rng, means, kind)
        alive, cost = raced(x, study)
        kept += np.isin(best, alive)
        same += int(x.mean(axis=0)[alive].max() >= x.mean(axis=0).max() - 1e-12)
        asked += cost
    return kept / studies, same / studies, 1 - asked / (studies * EXAMPLES * means.size)


@pytest.mark.prove
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("kind", list(SAVED))
@pytest.mark.parametrize("case", list(MEANS))
def test_race_in_a_thousand_studies(kind: str, case: str) -> None:
    """Each true best survives 95 % of 1,000 studies, the pick is the complete grid's in 98 %, questions are saved."""
    kept, same, saved = simulate(kind, MEANS[case], 1_000)
    assert kept.mean() >= 0.95
    assert kept.min() >= 0.95 - 3 * (0.95 * 0.05 / 1_000) ** 0.5
    assert same >= 0.98
    assert saved >= (SAVED[kind] if case == "uniform" else 0.0)


@pytest.mark.parametrize("kind", list(SAVED))
def test_race_on_uniform_studies(kind: str) -> None:
    """On 20 studies of spread means the best is seldom lost, the pick is the grid's, the promised share is saved."""
    kept, same, saved = simulate(kind, UNIFORM, 20)
    assert kept.min() >= 0.85
    assert same >= 0.95
    assert saved >= SAVED[kind]


def test_spending_adds_up_and_is_not_spent_early() -> None:
    """The levels of all looks add up to alpha; half the examples have spent about 62 % of it, as Pocock's bounds do."""
    levels = spend_alpha([0.25, 0.5, 0.75, 1.0], 0.05)
    assert sum(levels) == pytest.approx(0.05)
    assert sum(levels[:2]) / 0.05 == pytest.approx(0.6201, abs=1e-4)  # ln(1 + (e − 1)/2)
    with pytest.raises(UsageError, match="must increase"):
        spend_alpha([0.5, 0.5, 1.0])


def test_bounds_speak_for_the_trial_that_failed() -> None:
    """A trial whose losses rest on failed calls alone is not beaten; with the same scores as facts it is."""
    rng = np.random.default_rng(3)
    good = rng.normal(0.7, 0.1, 60)
    bad = good - 0.2 + rng.normal(0, 0.05, 60)
    low, high = np.column_stack([good, bad]), np.column_stack([good, bad])
    assert [one.is_beaten for one in compare_rivals(low, high)] == [False, True]
    high[::3, 1] = 1.0
    high[1::3, 1] = 1.0
    assert [one.is_beaten for one in compare_rivals(low, high)] == [False, False]


def test_an_undefined_score_costs_its_own_pairs_alone() -> None:
    """Scores that one trial lacks leave the comparison of two others as it was."""
    rng = np.random.default_rng(4)
    x = rng.normal(0, 1, (80, 1)) + rng.normal(0, 0.3, (80, 3)) + np.array([0.3, 0.0, 0.1])
    with_gaps = x.copy()
    with_gaps[10:, 2] = np.nan
    assert find_possible_best(with_gaps)[:2] == find_possible_best(x)[:2] == (True, False)


@pytest.mark.parametrize("kind", list(SAVED))
def test_expected_on_new_takes_the_luck_of_the_winner_out(kind: str) -> None:
    """Of 24 equal trials the highest mean is 3 points too high; what is expected on new examples is right to .006."""
    rng, seen, corrected = np.random.default_rng(5), [], []
    for study in range(60):
        x = scores(rng, MEANS["all tied"], kind)
        seen.append(x.mean(axis=0).max())
        corrected.append(estimate_on_new(x, resamples=300, seed=study) or 0.0)
    assert 0.015 <= np.mean(seen) - 0.7 <= 0.06
    assert abs(np.mean(corrected) - 0.7) <= 0.006 + 2 * np.std(corrected) / 60**0.5


def test_expected_on_new_of_nothing() -> None:
    """One example says nothing of new ones; a rule that always takes one setting has that setting's mean."""
    assert estimate_on_new([[0.5, 0.6]]) is None
    x = np.random.default_rng(6).normal(0.5, 0.1, (100, 3))
    assert estimate_on_new(x, lambda means: 1) == pytest.approx(x[:, 1].mean(), abs=0.002)


@pytest.mark.parametrize("seed", range(10))
def test_p_values_against_one_agree_with_who_is_beaten(seed: int) -> None:
    """P of a pair is below .05 just where the better beats the worse by the test of the set that may be best."""
    from ragauge.stats.families import compare_rivals, compute_p_values_against

    rng = np.random.default_rng(seed)
    values = np.clip(rng.normal(0.5, 0.15, (80, 1)) + rng.uniform(-0.05, 0.05, 5) + rng.normal(0, 0.1, (80, 5)), 0, 1)
    beaten = [one.is_beaten for one in compare_rivals(values)]
    p_values = compute_p_values_against(values, 0)
    assert p_values[0] is None
    worse_than_base = [j for j in range(1, 5) if values[:, j].mean() < values[:, 0].mean()]
    others = [p for j, p in enumerate(p_values) if p is not None and j not in worse_than_base]
    assert beaten[0] == any(p < 0.05 for p in others)
    assert all(beaten[j] for j in worse_than_base if (p_values[j] or 0.0) < 0.05)
    assert compute_p_values_against(np.full((20, 2), 0.5), 0) == [None, 1.0]
    assert compute_p_values_against(np.array([[0.1, 0.2]] * 20), 0) == [None, 0.0]
    assert compute_p_values_against(np.ones((1, 2)), 0) == [None, None]
