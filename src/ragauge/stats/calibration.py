"""A probability made to fit labels: candidates, the choice among them, and probabilities that no own label fitted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import log, sqrt
from typing import TYPE_CHECKING

from ragauge.stats.logistic import fit_from_offset, inverse_logit

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
    Numbers = npt.NDArray[np.int64]

AS_IT_IS, PLATT = "as it is", "Platt"
FOLDS = 10
PLATT_RIDGE = 1e-3  # ridge of Platt's slope: keeps it finite where the log odds part the labels
SLOPE_RIDGE = 1.0  # ridge by which regressions on features hold the slope to 1: light, since one number is soon learned


@dataclass(frozen=True, slots=True)
class CalibrationCandidate:
    """A way to calibrate: its name, and the ridge where it is a regression on features."""

    name: str
    ridge: float | None = None


RIDGES = (30, 10, 3)
CANDIDATES = (
    CalibrationCandidate(AS_IT_IS),
    CalibrationCandidate(PLATT),
    *(CalibrationCandidate(f"ridge {ridge}", ridge) for ridge in RIDGES),
)


@dataclass(frozen=True, slots=True)
class Recalibration:
    """New log odds: shift + slope x old log odds + sum of weight x feature. As it stands it changes nothing."""

    shift: float = 0.0  #: added to all.
    slope: float = 1.0  #: at least 0, so that of items with like features the likelier stays the likelier.
    weights: tuple[float, ...] = ()  #: one a feature; () = features do not count.

    def compute_shift(self, z: float, features: Sequence[float]) -> float:
        """How far the log odds z move; exactly 0 where nothing was learned.

        >>> Recalibration().compute_shift(1.5, [0.3]), Recalibration(0.5, 2.0, (1.0,)).compute_shift(1.5, [0.25])
        (0.0, 2.25)
        """
        weighed = zip(self.weights, features, strict=True) if self.weights else ()
        return self.shift + (self.slope - 1) * z + sum(weight * value for weight, value in weighed)


@dataclass(frozen=True)
class LabeledOdds:
    """What a judge said of labelled items."""

    p: Floats  #: shape (n,), its probabilities.
    z: Floats  #: shape (n,), their log odds, kept off infinity.
    features: Floats  #: shape (n, k).
    labels: Floats  #: shape (n,), 1 or 0.
    folds: Numbers  #: shape (n,), number of the fold of each item; all items of one group are in one fold.
    groups: Numbers  #: shape (n,), number of what each item depends on: its answer, and those that tell of it.

    def fit_candidate(
        self, candidate: CalibrationCandidate, selected: npt.NDArray[np.bool_] | None = None
    ) -> Recalibration:
        """A candidate fitted to all items, or to the chosen ones."""
        z, features, labels = self.z, self.features, self.labels
        if selected is not None:
            z, features, labels = z[selected], features[selected], labels[selected]
        if candidate.name == AS_IT_IS:
            return Recalibration()
        if candidate.ridge is not None:
            return _fit_regression(z, features, labels, candidate.ridge)
        fitted = fit_from_offset(z[:, None], z, labels, PLATT_RIDGE)
        slope = 1.0 + fitted.coefficients[0]
        if slope < 0:  # the judge's order is wrong way round: no order is better
            rate = float(labels.mean())
            return Recalibration(log(rate / (1 - rate)), 0.0)
        return Recalibration(fitted.shift, slope)

    def apply_model(self, model: Recalibration, selected: npt.NDArray[np.bool_]) -> Floats:
        """Probabilities of the chosen items by a model; the judge's own where it moves nothing."""
        import numpy as np

        z, features = self.z[selected], self.features[selected]
        moved = np.array([model.compute_shift(float(odds), row) for odds, row in zip(z, features, strict=True)])
        return np.where(moved == 0, self.p[selected], inverse_logit(z + moved))


def _fit_regression(z: Floats, features: Floats, labels: Floats, ridge: float) -> Recalibration:
    """A slope, lightly held to 1, and weights held to 0; where the slope would turn the order around it is 0."""
    import numpy as np

    ridges = np.r_[SLOPE_RIDGE, np.full(features.shape[1], ridge)]
    fitted = fit_from_offset(np.c_[z, features], z, labels, ridges)
    slope, *weights = fitted.coefficients
    if slope >= -1:
        return Recalibration(fitted.shift, 1.0 + slope, tuple(weights))
    fitted = fit_from_offset(features, np.zeros_like(z), labels, ridge)
    return Recalibration(fitted.shift, 0.0, fitted.coefficients)


@dataclass(frozen=True, slots=True)
class CandidateResult:
    """A candidate in cross-validation."""

    name: str  #: as of CANDIDATES.
    brier: float  #: mean squared error of its probabilities, cross-fitted.
    gain: float  #: the judge's less its own; above 0 is better.
    error: float  #: standard error of the gain, over groups.

    @property
    def is_better(self) -> bool:
        """Whether it is better than the judge as it is by one standard error or more."""
        return self.gain > 0 and self.gain >= self.error


@dataclass(frozen=True)
class CalibrationChoice:
    """What cross-validation chose."""

    chosen: str  #: name of the candidate.
    tried: tuple[CandidateResult, ...]  #: all of them.
    model: Recalibration  #: the chosen one, fitted to all items.
    folds: tuple[Recalibration, ...] = ()  #: the chosen one, fitted without each fold.
    #: shape (n,), of each item by the model that was fitted without its fold.
    p: Floats = field(repr=False, kw_only=True)


def assign_folds(keys: Sequence[str], max_folds: int = FOLDS) -> list[int]:
    """The fold of each item by the hash of what it belongs to: the order of the items changes nothing.

    Args:
        keys: hashes, alike for items that must not be parted.
        max_folds: folds, at most.

    >>> assign_folds(["c", "a", "b", "a"], 2)
    [0, 0, 1, 0]
    """
    number_by_key = {key: n for n, key in enumerate(sorted(set(keys)))}
    return [number_by_key[key] % max_folds for key in keys]


def calibrate(items: LabeledOdds) -> CalibrationChoice:
    """Fits every candidate in cross-validation and chooses.

    A candidate counts only where it is better than the judge as it is by one standard error. Of the regressions on
    features that do, the one with the least squared error is taken; where none does, Platt's; else the judge stays.
    Regressions come first since Platt's scaling cannot change the order of items.

    Args:
        items: both labels are among those outside of every fold.

    Source: Platt (1999); Breiman et al. (1984), Classification and Regression Trees, 3.4.3, for one standard error;
    Zrnic and Candes (2024), PNAS 121, for cross-fitted predictions.

    Raises:
        ValueError: outside of some fold all labels are alike.
    """
    import numpy as np

    numbers = [int(fold) for fold in np.unique(items.folds)]
    fitted = {
        option.name: [items.fit_candidate(option, items.folds != number) for number in numbers] for option in CANDIDATES
    }
    p = {name: _cross_fit(items, numbers, models) for name, models in fitted.items()}
    base = (p[AS_IT_IS] - items.labels) ** 2
    tried = tuple(
        _score_candidate(name, (probabilities - items.labels) ** 2, base, items.groups)
        for name, probabilities in p.items()
    )
    best_name = _choose_candidate(tried)
    candidate = next(option for option in CANDIDATES if option.name == best_name)
    return CalibrationChoice(best_name, tried, items.fit_candidate(candidate), tuple(fitted[best_name]), p=p[best_name])


def _cross_fit(items: LabeledOdds, numbers: Sequence[int], models: Sequence[Recalibration]) -> Floats:
    import numpy as np

    p = np.empty_like(items.p)
    for number, model in zip(numbers, models, strict=True):
        in_fold = items.folds == number
        p[in_fold] = items.apply_model(model, in_fold)
    return p


def _score_candidate(name: str, losses: Floats, base: Floats, groups: Numbers) -> CandidateResult:
    import numpy as np

    gains = base - losses
    off = np.bincount(groups, weights=gains - gains.mean())
    many = int(np.unique(groups).size)
    error = sqrt(float((off**2).sum()) * many / max(1, many - 1)) / gains.size
    return CandidateResult(name, float(losses.mean()), float(gains.mean()), error)


def _choose_candidate(tried: Sequence[CandidateResult]) -> str:
    better = [candidate for candidate in tried if candidate.is_better]
    ridges = [candidate for candidate in better if candidate.name != PLATT]
    return min(ridges or better, key=lambda candidate: candidate.brier).name if better else AS_IT_IS
