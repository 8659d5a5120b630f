"""What was learned from human labels: coefficients, threshold, bands and held-out figures.

`weights.json` beside this file is written by bench/train_overlap.py, `address_weights.json` by bench/train_address.py;
neither is ever edited by hand.
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
ADDRESS_FILE = Path(__file__).parent / "address_weights.json"


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
        return round(_logistic(z), 6)

    @classmethod
    def read(cls, stored: Mapping[str, Any], names: Sequence[str]) -> Scorer:
        """A scorer from its stored form, coefficients put in the order of the names."""
        weights = stored["coefficients"]
        return cls(tuple(weights[name] for name in names), stored["intercept"], stored["threshold"])


@dataclass(frozen=True, slots=True)
class Leveller:
    """A logistic regression with two calibrated cuts, for three levels in order.

    With z = intercept + sum of coefficient x feature, P(fully) = s(z) and P(at least partly) = s(slope x z + shift),
    never below it, where s(z) = 1 / (1 + exp(-z)).
    """

    names: tuple[str, ...]
    coefficients: tuple[float, ...]
    intercept: float
    slope: float
    shift: float

    def levels(self, features: Sequence[float]) -> tuple[float, float, float]:
        """P(fully), P(partly) and P(no), to 6 decimals; they sum to 1."""
        z = self.intercept
        for weight, value in zip(self.coefficients, features, strict=True):
            z += weight * value
        fully = round(_logistic(z), 6)
        no = round(1 - max(fully, _logistic(self.slope * z + self.shift)), 6)
        return fully, round(1 - fully - no, 6), no

    @classmethod
    def read(cls, stored: Mapping[str, Any]) -> Leveller:
        """A leveller from its stored form, features in the order of their names."""
        weights = stored["coefficients"]
        names = tuple(sorted(weights))
        slope, shift = stored["at_least_partly"]
        return cls(names, tuple(weights[name] for name in names), stored["intercept"], slope, shift)


def _logistic(z: float) -> float:
    return 1 / (1 + exp(-max(-50.0, min(50.0, z))))


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
def stored_address() -> Mapping[str, Any]:
    """The whole file on whether an answer addresses its question."""
    found: Mapping[str, Any] = json.loads(ADDRESS_FILE.read_text(encoding="utf-8"))
    return found


@cache
def leveller(name: str) -> Leveller:
    """One of the trained levellers: long or brief, _words or _grams, and _lexical where there are no vectors."""
    return Leveller.read(stored_address()["scorers"][name])


@cache
def fingerprint() -> str:
    """Short hash of everything in the files that changes a verdict."""
    return digest([stored()["scorers"], stored()["bands"], stored_address()["scorers"]])[:8]
