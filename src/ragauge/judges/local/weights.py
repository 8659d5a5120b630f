"""What was learned from human labels: coefficients, threshold, bands and held-out figures.

`weights.json` beside this file is written by bench/train_overlap.py, `relevance_weights.json` by
bench/train_relevance.py, `evidence_weights.json` by bench/train_evidence.py and `address_weights.json` by
bench/train_address.py; none is ever edited by hand.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from math import exp
from pathlib import Path
from typing import Any, NamedTuple

from ragauge.core.identity import hash_json
from ragauge.judges.similarity import read_scales

WEIGHTS_FILE = Path(__file__).parent / "weights.json"
RELEVANCE_FILE = Path(__file__).parent / "relevance_weights.json"
EVIDENCE_FILE = Path(__file__).parent / "evidence_weights.json"
ADDRESS_FILE = Path(__file__).parent / "address_weights.json"


class Scorer(NamedTuple):
    """A calibrated logistic regression.

    p = 1 / (1 + exp(-(intercept + sum of coefficient x feature)))
    """

    coefficients: tuple[float, ...]
    intercept: float
    threshold: float = 0.5

    def compute_z(self, features: Sequence[float]) -> float:
        """The log odds of one row of features."""
        z = self.intercept
        for weight, value in zip(self.coefficients, features, strict=True):
            z += weight * value
        return z

    def p(self, features: Sequence[float]) -> float:
        """The probability that it is so, to 6 decimals."""
        return round(_compute_logistic(self.compute_z(features)), 6)

    @classmethod
    def from_stored(cls, stored: Mapping[str, Any], names: Sequence[str]) -> Scorer:
        """A scorer from its stored form, coefficients put in the order of the names."""
        weights = stored["coefficients"]
        return cls(tuple(weights[name] for name in names), stored["intercept"], stored.get("threshold", 0.5))


class LevelScorer(NamedTuple):
    """Two calibrated logistic regressions for three levels in order.

    P(fully)           = P(about) x s(z)
    P(at least partly) = P(about) x s(slope x z + shift), never below P(fully)

    about: whether a text belongs to the topic of the question at all; None = it does. z: whether it answers, if so.
    s(z) = 1 / (1 + exp(-z)).
    """

    names: tuple[str, ...]
    answers: Scorer
    slope: float
    shift: float
    about: Scorer | None

    def levels(self, features: Sequence[float]) -> tuple[float, float, float]:
        """P(fully), P(partly) and P(no), to 6 decimals; they sum to 1."""
        z = self.answers.compute_z(features)
        about = 1.0 if self.about is None else _compute_logistic(self.about.compute_z(features))
        fully = round(about * _compute_logistic(z), 6)
        some = max(fully, round(about * _compute_logistic(self.slope * z + self.shift), 6))
        return fully, round(some - fully, 6) + 0.0, round(1 - some, 6) + 0.0

    @classmethod
    def from_stored(cls, stored: Mapping[str, Any]) -> LevelScorer:
        """A leveller from its stored form, features in the order of their names."""
        names = tuple(sorted(stored["answers"]["coefficients"]))
        about = None if stored["about"] is None else Scorer.from_stored(stored["about"], names)
        slope, shift = stored["at_least_partly"]
        return cls(names, Scorer.from_stored(stored["answers"], names), slope, shift, about)


def _compute_logistic(z: float) -> float:
    return 1 / (1 + exp(-max(-50.0, min(50.0, z))))


@cache
def read_weights(file: Path = WEIGHTS_FILE) -> Mapping[str, Any]:
    """The whole of a file of weights."""
    weights: Mapping[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return weights


@cache
def read_scorer(name: str, features: tuple[str, ...]) -> Scorer:
    """A trained scorer: overlap_words, overlap_grams, relevance, relevance_lexical, or of these with _grams."""
    return Scorer.from_stored({**read_weights()["scorers"], **read_weights(RELEVANCE_FILE)["scorers"]}[name], features)


@cache
def read_level_scorer(name: str) -> LevelScorer:
    """One of the trained levellers: long or brief, _words or _grams, and _lexical where there are no vectors."""
    return LevelScorer.from_stored(read_weights(ADDRESS_FILE)["scorers"][name])


@cache
def compute_fingerprint() -> str:
    """Short hash of everything in the files that changes a verdict."""
    every = (
        read_weights()["scorers"],
        read_weights()["bands"],
        read_weights(EVIDENCE_FILE)["scorer"],
        read_weights(ADDRESS_FILE)["scorers"],
    )
    return hash_json([*every, read_weights(RELEVANCE_FILE)["scorers"], read_scales()])[:8]
