"""Calibration: the fit against another implementation, the choice among candidates, and what no own label fits."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from scipy.optimize import minimize

from ragauge.stats.calibration import (
    AS_IT_IS,
    CANDIDATES,
    PLATT,
    CalibrationCandidate,
    LabeledOdds,
    assign_folds,
    calibrate,
)
from ragauge.stats.logistic import fit_from_offset, inverse_logit

Floats = npt.NDArray[np.float64]


def odds(z: Floats, features: Floats, labels: Floats, per_answer: int = 1) -> LabeledOdds:
    """Items in ten folds, so many to an answer."""
    groups = np.arange(labels.size) // per_answer
    folds = np.array(assign_folds([f"{group:05d}" for group in groups]))
    return LabeledOdds(inverse_logit(z), z, features, labels, folds, groups)


def drawn(seed: int, n: int = 200, slope: float = 1.0, weight: float = 0.0, shift: float = 0.0) -> LabeledOdds:
    """Labels whose log odds are shift + slope z + weight of the first feature."""
    rng = np.random.default_rng(seed)
    z, features = rng.normal(0, 1.5, n), rng.normal(size=(n, 4))
    labels = (rng.random(n) < inverse_logit(shift + slope * z + weight * features[:, 0])).astype(np.float64)
    return odds(z, features, labels)


def test_the_fit_is_the_minimum_that_a_general_optimiser_finds() -> None:
    """Newton's result is SciPy's BFGS minimum of the same penalised loss; features and ridges are of unlike scales."""
    items = drawn(3, weight=1.0)
    features = items.features * [1.0, 100.0, 0.01, 5.0]
    ridges = np.array([3.0, 1.0, 30.0, 3.0])
    found = fit_from_offset(features, items.z, items.labels, ridges)
    spread = features.std(axis=0)

    def loss(b: Floats) -> float:
        z = items.z + b[0] + features @ b[1:]
        return float((np.logaddexp(0, z) - items.labels * z).sum() + (ridges * (b[1:] * spread) ** 2).sum() / 2)

    own = np.array([found.shift, *found.coefficients])
    other = minimize(loss, own + 0.05, method="BFGS", options={"gtol": 1e-7}).x
    assert loss(own) <= loss(other) + 1e-9
    assert own[0] == pytest.approx(other[0], abs=1e-3)
    assert own[1:] * spread == pytest.approx(other[1:] * spread, abs=1e-3)


def test_a_feature_that_tells_nothing_has_no_weight_and_parted_labels_stay_finite() -> None:
    """A constant column gets 0; labels that a feature parts entirely give finite weights; alike labels are refused."""
    labels = np.array([0.0, 0.0, 1.0, 1.0])
    table = np.c_[np.full(4, 0.1), [1.0, 2.0, 3.0, 4.0]]
    found = fit_from_offset(table, np.zeros(4), labels, 0.5)
    assert found.coefficients[0] == 0
    assert 0 < found.coefficients[1] < 10
    with pytest.raises(ValueError, match="labels must not all be the same"):
        fit_from_offset(table, np.zeros(4), np.ones(4), 0.5)
    with pytest.raises(ValueError, match="above 0"):
        fit_from_offset(table, np.zeros(4), labels, 0.0)


def test_a_judge_that_is_right_stays_and_one_that_is_off_is_moved() -> None:
    """Probabilities that are true are rarely replaced; overstated ones mostly are, a feature that tells always is."""
    true = [calibrate(drawn(seed)).chosen for seed in range(20)]
    overstated = [calibrate(drawn(seed, slope=0.3)).chosen for seed in range(20)]
    telling = [calibrate(drawn(seed, weight=2.0)).chosen for seed in range(20)]
    assert true.count(AS_IT_IS) >= 15
    assert overstated.count(AS_IT_IS) <= 2
    assert all(name.startswith("ridge") for name in telling)


def test_a_fold_is_judged_by_a_model_that_did_not_see_it() -> None:
    """Turning the labels of one fold around changes no probability of that fold by a given candidate."""
    items = drawn(5, weight=1.0)
    mine = items.folds == 4
    turned = odds(items.z, items.features, np.where(mine, 1 - items.labels, items.labels))
    for candidate in CANDIDATES:
        before, after = (one.apply_model(one.fit_candidate(candidate, one.folds != 4), mine) for one in (items, turned))
        assert np.array_equal(before, after)
    found = calibrate(items)
    assert np.allclose(found.p[mine], items.apply_model(found.folds[4], mine))


def test_folds_divide_no_answer_and_do_not_depend_on_the_order() -> None:
    """All items of a key are in one fold, folds are even, and another order of the items gives the same folds."""
    keys = [f"{n % 37:x}" for n in range(150)]
    folds = dict(zip(keys, assign_folds(keys), strict=True))
    assert all(folds[key] == fold for key, fold in zip(keys, assign_folds(keys), strict=True))
    assert folds == dict(zip(keys[::-1], assign_folds(keys[::-1]), strict=True))
    sizes = [list(folds.values()).count(fold) for fold in set(folds.values())]
    assert len(sizes) == 10
    assert max(sizes) - min(sizes) <= 1


def test_nothing_turns_the_order_around() -> None:
    """A judge whose order is the wrong way round gets a slope of 0, from Platt the base rate, not a negative slope."""
    items = drawn(7, slope=-1.0, shift=1.0)
    models = {one.name: items.fit_candidate(one) for one in CANDIDATES if one.name != AS_IT_IS}
    assert all(model.slope == 0 for model in models.values())
    assert inverse_logit(np.array(models[PLATT].shift)) == pytest.approx(items.labels.mean())


def test_a_ridge_without_end_leaves_platts_scaling_held_to_the_judge() -> None:
    """As the ridge grows the weights go to 0, and the slope to one between Platt's and 1."""
    items = drawn(13, slope=0.5)
    slopes = [items.fit_candidate(CalibrationCandidate("ridge", ridge)) for ridge in (1.0, 1e9)]
    platt = items.fit_candidate(next(one for one in CANDIDATES if one.name == PLATT))
    assert max(map(abs, slopes[1].weights)) < 1e-6 < max(map(abs, slopes[0].weights))
    assert platt.slope < slopes[1].slope < 1


def test_copies_of_an_item_in_one_answer_do_not_make_a_gain_surer() -> None:
    """Ten copies of each item leave gain and standard error of every candidate's losses as they were, nearly."""
    items = drawn(11, n=100, slope=0.4)
    z, features, labels = (np.repeat(one, 10, axis=0) for one in (items.z, items.features, items.labels))
    copied = odds(z, features, labels, per_answer=10)
    once, often = ({one.name: one for one in calibrate(each).tried} for each in (items, copied))
    assert often[PLATT].gain == pytest.approx(once[PLATT].gain, abs=2e-3)
    assert often[PLATT].error == pytest.approx(once[PLATT].error, rel=0.1)
