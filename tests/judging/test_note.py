"""What a report says about the local judge."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from ragauge.judges.local.judge import MIN_SEEN_RATE, build_judge_note, read_middle_band
from ragauge.judges.local.weights import EVIDENCE_FILE, WEIGHTS_FILE, compute_fingerprint, read_scorer, read_weights
from ragauge.scores.gather import ClaimProfile

ROOT = Path(__file__).resolve().parents[2]


def test_the_middle_band_is_stored() -> None:
    """The band in which the local judge cannot tell lies around one half."""
    low, high = read_middle_band()
    assert 0 < low < 0.5 < high < 1


def test_the_note_says_what_it_is_and_is_not() -> None:
    """The note names the method, its blindness, held-out figures with their range, and what would sharpen it."""
    note = build_judge_note("local:any", ClaimProfile(0.4, {"amount": 0.31, "sentence": 0.69}))
    said = " ".join([note.what, *note.limits, note.observed])
    parts = (
        "compares words",
        "negation",
        "implies",
        "labels in English",
        "AUROC",
        "by source",
        "at least 50 of your own labels",
        "model judge",
    )
    assert [part for part in parts if part not in said] == []
    assert note.uncertain == 0.4
    rates = read_weights(EVIDENCE_FILE)["found"]
    missed = {
        kind: f"{share:.0%} of the reference claims are {name}"
        for kind, name, share in (("amount", "amounts", 0.31), ("sentence", "sentences", 0.69))
        if rates[kind] < MIN_SEEN_RATE
    }
    assert missed
    assert all(words in said for words in missed.values())
    assert said.count("of the reference claims are") == len(missed)
    figure = read_weights()["held_out"]["overlap_words"]["sources"]["mean"]["auroc"]
    assert f"AUROC {figure:.2f}" in note.observed


def test_the_page_shows_the_stored_figures() -> None:
    """docs/local-judge.md holds the tables as the training script prints them."""
    made = runpy.run_path(str(ROOT / "bench/held_out_tables.py"))["tables"]
    assert made(read_weights()["held_out"]) in (ROOT / "docs/local-judge.md").read_text(encoding="utf-8")


def test_the_overlap_scorer_beats_token_coverage_on_held_out_sources() -> None:
    """The figures that stand beside the weights show a gain of at least 0.01 in mean AUROC."""
    for name in ("overlap_words", "overlap_grams"):
        mean = read_weights()["held_out"][name]["sources"]["mean"]
        assert mean["auroc"] >= mean["coverage_auroc"] + 0.01


def test_more_support_never_lowers_p() -> None:
    """Coefficients have the signs that their features speak for."""
    for name in ("overlap_words", "overlap_grams", "relevance", "relevance_lexical"):
        for feature, weight in read_weights()["scorers"][name]["coefficients"].items():
            if feature.endswith("missing"):
                assert weight <= 0
            elif not feature.endswith("length"):
                assert weight >= 0


def test_p_is_the_logistic_of_the_weighted_sum() -> None:
    """A scorer is a logistic regression: 1 / (1 + e^-(1 + 2*0.5)) = 0.880797; endless sums stay in [0, 1]."""
    from ragauge.judges.local.weights import Scorer

    made = Scorer.from_stored({"coefficients": {"b": -1.0, "a": 2.0}, "intercept": 1.0, "threshold": 0.5}, ["a", "b"])
    assert made.p([0.5, 0.0]) == pytest.approx(0.880797, abs=1e-6)
    assert (made.p([1e9, 0.0]), made.p([0.0, 1e9])) == (1.0, 0.0)


def test_the_hash_is_of_what_changes_verdicts() -> None:
    """The fingerprint is that of the file beside the code."""
    assert WEIGHTS_FILE.is_file()
    assert len(compute_fingerprint()) == 8
    assert (
        read_scorer("overlap_words", tuple(read_weights()["scorers"]["overlap_words"]["coefficients"])).threshold == 0.5
    )
