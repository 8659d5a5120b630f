"""Failures of sampled traffic: counted as they are, their shares and order by the requests that they stand for."""

from __future__ import annotations

import numpy as np

from ragauge.diagnosis.findings.diagnosis_builder import diagnose
from ragauge.scores.arrays import ResponseIndex
from ragauge.scores.failures import FailedResponses
from ragauge.scores.results.scorecard import Cause

ERROR = Cause("system_failed", "an exception", basis="record", shown_by="record")
UNSUPPORTED = Cause("hallucinated", "a claim", basis="judge", shown_by="judge")


def failed(weight: np.ndarray | None, chance: np.ndarray | None = None) -> FailedResponses:
    """Of 60 responses the first 30 failed by an exception, 10 further ones by the judge's verdict."""
    number = np.arange(60)
    ids = tuple(f"q{n}" for n in number)
    index = ResponseIndex(number, number, np.zeros(60, int), weight, None, ids, chance)
    causes = [(n, ERROR) for n in range(30)] + [(n, UNSUPPORTED) for n in range(30, 40)]
    return FailedResponses.from_causes(index, causes, lambda places: dict.fromkeys(places, "said"))


def test_counts_are_counts_and_shares_are_of_the_requests() -> None:
    """Errors that are kept every time are many responses and few requests: they come after what stands for more."""
    weight = np.array([1.0] * 30 + [20.0] * 30)
    first, second = diagnose([], failed(weight), 60)
    assert (first.cause, first.explains, second.cause, second.explains) == ("hallucinated", 10, "system_failed", 30)
    assert "10 of 40 failures (87% by weight), 31.7% of the requests they represent." in first.evidence
    assert "30 of 40 failures (13% by weight), 4.8% of the requests they represent." in second.evidence


def test_what_was_drawn_for_the_judge_stands_for_what_was_not() -> None:
    """Where the judge is asked about a tenth, a verdict of it alone stands for ten requests, an exception for one."""
    first, second = diagnose([], failed(None, np.full(60, 0.1)), 60)
    assert (first.cause, second.cause) == ("hallucinated", "system_failed")
    assert "30 of 40 failures (23% by weight), 50.0% of the requests they represent." in second.evidence


def test_responses_that_are_alike_are_counted() -> None:
    """Without weights shares are of the examples, and what failed most comes first."""
    first, _ = diagnose([], failed(None), 60)
    assert first.cause == "system_failed"
    assert "30 of 40 failures (75%), 50% of all examples." in first.evidence
