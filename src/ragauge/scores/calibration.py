"""What calibrating a judge is worth, on labels that its probabilities did not fit. Pure: no judge, no store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ragauge.scores.agreement import LEVEL, AgreementFigure
from ragauge.scores.detection_quality import Probabilities, assess_probabilities
from ragauge.scores.estimation import ScoreSample, compute_difference_interval, compute_mean_interval
from ragauge.stats.calibration import AS_IT_IS, CalibrationChoice, CandidateResult, LabeledOdds
from ragauge.stats.weighted import Interval

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

PROBABILITY_MARGIN = 1e-6  # a probability is kept so far from 0 and 1 before its logarithm is taken
MAX_LOG_LOSS = 14.0  # the greatest loss that follows from SURE
MAX_CONSTANT_SPREAD = 0.02  # standard deviation of probabilities below which all are as good as one number
CHANCE_AUROC = 0.5  # AUROC of an order that tells nothing


@dataclass(frozen=True, slots=True)
class CalibrationSide:
    """A judge's probabilities before calibration, or after."""

    probabilities: Probabilities  #: AUROC, Brier score, reliability.
    log_loss: AgreementFigure  #: mean of −log of the probability of what people said; lower is better.


@dataclass(frozen=True, slots=True)
class LearnedFromLabels:
    """What a judge was calibrated by."""

    source: str  #: the file, or the run.
    guideline: str  #: hash of the instructions; "" = not known.
    by: str  #: "sentence", or "answer" where labels are of whole answers.
    labels: int  #: parts that were learned from.
    supported: int  #: those that people call supported.
    answers: int  #: texts that they are parts of.
    without: Mapping[str, int] = field(default_factory=dict)  #: why other parts were left out -> how many.


@dataclass(frozen=True, slots=True)
class CalibrationGain:
    """Before and after."""

    before: CalibrationSide  #: the base.
    after: CalibrationSide  #: the calibrated judge; the base where it stays as it is.
    brier: AgreementFigure  #: Brier score after less before, paired; below 0 is better.
    log_loss: AgreementFigure  #: log loss after less before, paired.
    spread: float  #: standard deviation of the cross-fitted probabilities around the mean of their fold.

    def to_dict(self) -> dict[str, float | None]:
        """The figures by name, as a file keeps them."""
        sides, auroc = {"before": self.before, "after": self.after}, self.after.probabilities.auroc.interval
        lowest = {"auroc_after_low": None if auroc is None else auroc.low, "spread_after": self.spread}
        return lowest | {
            f"{name}_{when}": value
            for when, side in sides.items()
            for name, value in (
                ("brier", side.probabilities.brier.value),
                ("auroc", side.probabilities.auroc.value),
                ("log_loss", side.log_loss.value),
            )
        }


def is_constant(figures: Mapping[str, float | None]) -> bool:
    """Whether a calibrated judge gives every claim as good as the same probability, by the figures of its file."""
    spread = figures.get("spread_after")
    return spread is not None and spread < MAX_CONSTANT_SPREAD


def describe_weakness(figures: Mapping[str, float | None]) -> str:
    """That a calibrated judge does not tell claims apart, in words; "" where it does, or its file does not say.

    >>> describe_weakness({"auroc_after": 0.55, "auroc_after_low": 0.44, "spread_after": 0.1})[:51]
    'On labels it was not fitted on, it does not clearly'
    >>> describe_weakness({"auroc_after": 0.8, "auroc_after_low": 0.7, "spread_after": 0.2})
    ''
    """
    auroc, low = figures.get("auroc_after"), figures.get("auroc_after_low")
    if is_constant(figures):
        return (
            "After calibration every claim gets nearly the same probability: it cannot distinguish supported claims, "
            "so it gives no verdict on support. Use its base judge, a model judge, or more labels."
        )
    if auroc is None or (auroc > CHANCE_AUROC if low is None else low > CHANCE_AUROC):
        return ""
    auroc_text = f"AUROC {auroc:.2f}" + ("" if low is None else f", possibly as low as {low:.2f}")
    return (
        f"On labels it was not fitted on, it does not clearly distinguish supported claims from others ({auroc_text}; "
        "0.50 is chance): its means follow the labels, but its differences and individual verdicts mean little."
    )


@dataclass(frozen=True, slots=True)
class JudgeCalibration:
    """The report of `ragauge judge calibrate`. Every figure of "after" is of probabilities that no own label fitted."""

    base: str  #: spec of the judge that was calibrated.
    base_id: str  #: its id.
    judge_id: str  #: of the calibrated judge.
    path: str  #: of its file.
    learned: LearnedFromLabels  #: from what.
    chosen: str  #: name of the candidate.
    tried: tuple[CandidateResult, ...]  #: all candidates.
    gain: CalibrationGain  #: before and after.
    #: what was called now; empty where no model is asked.
    calls: Mapping[str, float | int | None] = field(default_factory=dict)
    run: str = ""  #: the stored run whose labels these are; "" = they are of a file.

    @property
    def changed(self) -> bool:
        """Whether the judge is another than its base."""
        return self.chosen != AS_IT_IS


def compute_gain(items: LabeledOdds, learned: CalibrationChoice) -> CalibrationGain:
    """Both sides by the same labels; items of one group count as depending on each other.

    log loss = mean of −log p of a supported item, −log (1 − p) of another; p kept 10⁻⁶ off 0 and 1
    """
    groups = [int(value) for value in items.groups] if len(set(items.groups.tolist())) < items.p.size else None
    human = [bool(value) for value in items.labels]
    p = {"before": items.p, "after": learned.p}
    losses = {when: _compute_log_losses(items, value) for when, value in p.items()}
    squares = {when: [float(value) for value in (estimates - items.labels) ** 2] for when, estimates in p.items()}
    sides = {when: _build_side(human, [float(value) for value in p[when]], losses[when], groups) for when in p}
    return CalibrationGain(
        sides["before"],
        sides["after"],
        _compare_losses(squares, groups, 1.0),
        _compare_losses(losses, groups, MAX_LOG_LOSS),
        _compute_spread(learned.p, items.folds),
    )


def _compute_spread(p: npt.NDArray[np.float64], folds: npt.NDArray[np.int64]) -> float:
    """Standard deviation around the mean of each fold, since folds differ in what they were fitted to."""
    import numpy as np

    means = np.bincount(folds, weights=p) / np.maximum(1, np.bincount(folds))
    return float(np.sqrt(np.mean((p - means[folds]) ** 2)))


def _compute_log_losses(items: LabeledOdds, p: object) -> list[float]:
    import numpy as np

    clipped = np.clip(np.asarray(p, dtype=np.float64), PROBABILITY_MARGIN, 1 - PROBABILITY_MARGIN)
    return [float(loss) for loss in -np.log(np.where(items.labels == 1, clipped, 1 - clipped))]


def _build_side(
    human: Sequence[bool], p: Sequence[float], losses: Sequence[float], groups: Sequence[int] | None
) -> CalibrationSide:
    quality = assess_probabilities(human, p, groups)
    if quality is None:
        raise ValueError("there is no labeled item")
    interval = compute_mean_interval(_build_sample(losses, groups, MAX_LOG_LOSS), LEVEL)
    return CalibrationSide(quality, AgreementFigure(sum(losses) / len(losses), interval))


def _compare_losses(
    losses: Mapping[str, Sequence[float]], groups: Sequence[int] | None, max_loss: float
) -> AgreementFigure:
    """After less before."""
    if losses["after"] == losses["before"]:
        return AgreementFigure(0.0, reason="nothing changes")
    after, before = (_build_sample(losses[when], groups, max_loss) for when in ("after", "before"))
    value = (sum(losses["after"]) - sum(losses["before"])) / len(losses["before"])
    interval: Interval | None = compute_difference_interval(after, before, LEVEL)
    return AgreementFigure(value, interval)


def _build_sample(values: Sequence[float], groups: Sequence[int] | None, max_value: float) -> ScoreSample:
    import numpy as np

    numbered = None if groups is None else np.asarray(groups, dtype=np.int64)
    return ScoreSample(np.asarray(values, dtype=np.float64), "mean", (0.0, max_value), clusters=numbered)
