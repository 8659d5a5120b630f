"""Whether questions are like real ones: a classifier tries to tell them apart, and says what gives them away."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragauge.stats.auroc import CROSS_FIT_FACTOR, compute_auroc
from ragauge.stats.distributions import normal_quantile, t_quantile
from ragauge.stats.logistic import assign_balanced_folds, cross_fit
from ragauge.stats.weighted import Interval

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

LEVEL = 0.95
MIN_QUESTIONS = 20  # questions of either kind, below which no classifier is asked
PENALTY = 3.0  # of features scaled to deviation 1


@dataclass(frozen=True, slots=True)
class FeatureSignal:
    """How far one kind of feature tells a set's questions from real ones."""

    name: str  #: the features: length, first word and so on.
    auroc: float  #: of a classifier that sees these alone; 0.5 = alike.
    interval: Interval | None  #: of it.
    here: str = ""  #: what they are like in the set, in words; "" = nothing to say.
    real: str = ""  #: likewise among real questions.


@dataclass(frozen=True, slots=True)
class TwoSampleTest:
    """A classifier's try to tell the set's questions from real ones."""

    n: int  #: questions of the set that it saw.
    real: int  #: real ones.
    left_out: int = 0  #: questions of both that lack a feature.
    #: with all features; 0.5 = alike, 1 = told apart without error. None where either has fewer than 20.
    auroc: float | None = None
    interval: Interval | None = None  #: of it.
    tells: tuple[FeatureSignal, ...] = ()  #: each kind of feature alone, the most telling first.
    without: tuple[str, ...] = ()  #: features that were not used, and why.

    @property
    def apart(self) -> bool | None:
        """Whether the interval lies above 0.5; None where there is none."""
        return None if self.interval is None else self.interval.low > 0.5


def classify_questions(
    features: Mapping[str, Floats], here: Sequence[bool], clusters: Sequence[str], seed: int = 7
) -> tuple[tuple[float, Interval | None], dict[str, tuple[float, Interval | None]]]:
    """The AUROC of a classifier by all features, and by each kind alone; each with its interval.

    A logistic regression is fitted on four fifths of the clusters and scores the rest, five times; the AUROC is over
    the pairs of a fifth, as of `stats.auroc`, its error widened by √2, since folds learn from each other, with the
    quantile of t for as many degrees of freedom as the kind of fewer clusters has, less one.

    Args:
        features: name -> shape (n, p), finite.
        here: shape (n,), True for the set's questions, False for real ones; at least one of either.
        clusters: shape (n,), what questions depend on; a cluster is never on both sides of a fit.
        seed: of the folds.

    Source: Lopez-Paz and Oquab, "Revisiting classifier two-sample tests" (2017), with the AUROC for the accuracy.
    """
    import numpy as np

    positive = np.asarray(here, dtype=bool)
    numbers = np.unique(np.asarray(clusters), return_inverse=True)[1].astype(np.int64)
    fold = assign_balanced_folds(numbers, positive, seed=seed)
    fewer = min(np.unique(numbers[positive]).size, np.unique(numbers[~positive]).size)
    widened = CROSS_FIT_FACTOR * t_quantile(max(1, fewer - 1), LEVEL) / normal_quantile(LEVEL)

    def told(table: Floats) -> tuple[float, Interval | None]:
        scores = cross_fit(table, positive, fold, PENALTY)
        estimate = compute_auroc(positive, scores, numbers, LEVEL, within=fold, widened=widened)
        return estimate if estimate is not None else (0.5, None)

    return told(np.column_stack(list(features.values()))), {name: told(table) for name, table in features.items()}
