"""A calibrated judge says when it no longer tells claims apart, and presents no constant as a measurement."""

from __future__ import annotations

import numpy as np
import pytest

from ragauge.core.facts import AnswerFacts, Claim
from ragauge.judges.calibrated.file import CalibrationBase, CalibrationFile, LearnedFrom, Model
from ragauge.judges.calibrated.judge import CalibratedJudge, build_judge_note
from ragauge.judges.inputs import VerifyAnswer
from ragauge.judges.local.judge import LocalJudge
from ragauge.scores.calibration import compute_gain, describe_weakness, is_constant
from ragauge.scores.results.scorecard import JudgeNote
from ragauge.stats.calibration import LabeledOdds, calibrate

N, FOLDS = 120, 10
SEEDS = range(8)
UNSURE = "does not clearly distinguish supported claims from others"


def odds(seed: int, signal: float) -> LabeledOdds:
    """A judge whose log odds follow the labels by so much; its one feature is noise."""
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.repeat([0.0, 1.0], N // 2))
    z = signal * (labels - 0.5) + rng.normal(0, 2, N)
    numbers = np.arange(N)
    return LabeledOdds(1 / (1 + np.exp(-z)), z, rng.normal(size=(N, 1)), labels, numbers % FOLDS, numbers)


def figures_of(items: LabeledOdds) -> dict[str, float | None]:
    """The figures of the file that calibrating by these labels writes."""
    return compute_gain(items, calibrate(items)).to_dict()


@pytest.mark.parametrize("seed", SEEDS)
def test_no_signal_is_said(seed: int) -> None:
    """Whatever is chosen: where the judge tells nothing of the labels, the file says so."""
    figures = figures_of(odds(seed, 0.0))
    low = figures["auroc_after_low"]
    assert is_constant(figures) or low is not None
    assert describe_weakness(figures) or (low is not None and 0.5 < low < 0.6)  # one interval in twenty is off


@pytest.mark.parametrize("seed", SEEDS)
def test_signal_is_not_doubted(seed: int) -> None:
    """Where the judge tells the labels apart, nothing is said, and its probabilities are no constant."""
    figures = figures_of(odds(seed, 6.0))
    assert not describe_weakness(figures)
    assert not is_constant(figures)


def made_file(**figures: float | None) -> CalibrationFile:
    """The file of a calibrated local judge with some figures."""
    base = CalibrationBase(spec="local", judge_id=LocalJudge().judge_id)
    nothing = Model(shift=0.0, slope=1.0, weights={})
    learned = LearnedFrom(labels=60, supported=30, answers=60, guideline="", source="labels.jsonl")
    return CalibrationFile(
        base=base, by="sentence", learned_from=learned, chosen="Platt", model=nothing, folds=(nothing,), figures=figures
    )


def test_a_constant_gives_no_verdict() -> None:
    """Where every probability is the same, no claim has a verdict, and the note says why; a spread keeps verdicts."""
    inputs = VerifyAnswer("How tall is it?", ("It is 300 metres tall.",), "It is 300 metres tall.")
    facts = AnswerFacts((Claim(1, inputs.answer, 0, 22, supporting=(1,), p=0.9),), "fully", refuse=False)
    constant = CalibratedJudge(LocalJudge(), made_file(spread_after=0.0, auroc_after=0.5))
    (claim,) = constant.recalibrate(inputs, facts).claims
    assert (claim.status, claim.label) == ("failed", None)
    assert "nearly the same probability" in claim.reason
    assert constant.recalibrate(inputs, facts).refuse is False  # what is not calibrated stays the base's
    spread = CalibratedJudge(LocalJudge(), made_file(spread_after=0.2, auroc_after=0.9, auroc_after_low=0.8))
    assert spread.recalibrate(inputs, facts).claims == facts.claims


def test_the_note_warns_first() -> None:
    """A note of the judge begins with that it tells nothing; older files, which do not know, say nothing of it."""
    said = {
        name: build_judge_note("calibrated:local#1", made_file(**figures), JudgeNote("local", limits=("other",))).limits
        for name, figures in {
            "chance": {"auroc_after": 0.52, "auroc_after_low": 0.4, "spread_after": 0.1},
            "older": {"auroc_after": 0.9},
            "constant": {"auroc_after": 0.5, "spread_after": 0.001},
        }.items()
    }
    assert UNSURE in said["chance"][0]
    assert "no verdict on support" in said["constant"][0]
    assert said["older"][0] == "other"
