"""What was learned from human labels: coefficients, threshold, bands and held-out figures.

`weights.json` beside this file is written by bench/train_overlap.py, `evidence_weights.json` by
bench/train_evidence.py; neither is ever edited by hand.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import exp
from pathlib import Path
from typing import Any

from ragauge.data.canonical import digest

FILE = Path(__file__).parent / "weights.json"
EVIDENCE_FILE = Path(__file__).parent / "evidence_weights.json"


@dataclass(frozen=True, slots=True)
class Scorer:
    """A calibrated logistic regression.

    p = 1 / (1 + exp(-(intercept + sum of coefficient x feature)))
    """

    coefficients: tuple[float, ...]
    intercept: float
    threshold: float

    def p(self, features: Sequence[float]) -> float:
        """The probability that it is so, to 6 decimals."""
        z = self.intercept
        for weight, value in zip(self.coefficients, features, strict=True):
            z += weight * value
        return round(1 / (1 + exp(-max(-50.0, min(50.0, z)))), 6)

    @classmethod
    def read(cls, stored: Mapping[str, Any], names: Sequence[str]) -> Scorer:
        """A scorer from its stored form, coefficients put in the order of the names."""
        weights = stored["coefficients"]
        return cls(tuple(weights[name] for name in names), stored["intercept"], stored["threshold"])


@cache
def stored() -> Mapping[str, Any]:
    """The whole file."""
    found: Mapping[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return found


@cache
def scorer(name: str, features: tuple[str, ...]) -> Scorer:
    """One of the trained scorers: overlap_words, overlap_grams, relevance or relevance_lexical."""
    return Scorer.read(stored()["scorers"][name], features)


@cache
def evidence_weights() -> Mapping[str, Any]:
    """The whole file on whether the evidence of a reference is there."""
    found: Mapping[str, Any] = json.loads(EVIDENCE_FILE.read_text(encoding="utf-8"))
    return found


@cache
def fingerprint() -> str:
    """Short hash of everything in the files that changes a verdict."""
    return digest([stored()["scorers"], stored()["bands"], evidence_weights()["scorer"]])[:8]
