"""What a calibrated judge looks at beside its base's verdict: how the words of claims stand in the passages.

Of the claims that are judged together the mean of each lexical feature, and its value at the weakest claim.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, log

from ragauge.core.facts import Claim
from ragauge.judges.local.overlap import FEATURES
from ragauge.judges.local.support import PreparedPassages

GENERATION = 1  # raised when the code below gives other numbers
MIN_PROBABILITY = 0.01  # a probability is kept so far from 0 and 1 before its odds are taken
OVERLAP_NAMES = tuple(f"{of}_{name}" for of in ("mean", "weakest") for name in FEATURES)
VERDICT_NAME = "verdict"  # of a base that asks a model: 1 where it calls the weakest claim supported, else -1


def compute_log_odds(p: float) -> float:
    """The log odds of a probability that is kept off 0 and 1.

    >>> compute_log_odds(0.5), round(compute_log_odds(1.0), 2)
    (0.0, 4.6)
    """
    clipped = min(max(p, MIN_PROBABILITY), 1 - MIN_PROBABILITY)
    return log(clipped / (1 - clipped))


def compute_probability(z: float) -> float:
    """The probability of log odds, to 6 decimals."""
    return round(1 / (1 + exp(-max(-50.0, min(50.0, z)))), 6)


def find_weakest_claim(claims: Sequence[Claim]) -> Claim:
    """The claim that is least likely to be supported."""
    return min(claims, key=lambda claim: claim.chance)


FEATURE_NAMES = (*OVERLAP_NAMES, VERDICT_NAME)


def list_trained_names(*, asks_models: bool) -> tuple[str, ...]:
    """The names of the features that are learned from: the verdict only where a model gives it."""
    return FEATURE_NAMES if asks_models else OVERLAP_NAMES


class MeasuredPassages:
    """The passages of one answer, ready for measuring its claims.

    Args:
        passages: their texts, at least one.
        claims: the texts of all claims of the answer, which tell its language.
    """

    def __init__(self, passages: Sequence[str], claims: Sequence[str]) -> None:
        self._passages = PreparedPassages(passages, claims)
        self._known: dict[str, tuple[float, ...]] = {}

    def compute_features(self, claims: Sequence[Claim]) -> tuple[float, ...]:
        """The features of claims that are judged together, at least one, in the order of FEATURE_NAMES.

        A claim is laid against all passages together: of those that are compared as the one is that holds most of it.
        """
        rows = [self._compute_text_features(claim.text or "") for claim in claims]
        weakest_claim = find_weakest_claim(claims)
        mean = [sum(column) / len(rows) for column in zip(*rows, strict=True)]
        return (*mean, *rows[claims.index(weakest_claim)], 1.0 if weakest_claim.supporting else -1.0)

    def _compute_text_features(self, text: str) -> tuple[float, ...]:
        if text not in self._known:
            compared = self._passages.compare_claim(text)
            best = max(
                compared.overlaps,
                key=lambda overlap: (overlap.three.bit_count(), overlap.found.bit_count(), -overlap.passage),
            )
            mode = compared.modes[best.passage - 1]
            self._known[text] = compared.compute_features([n for n, its in enumerate(compared.modes, 1) if its == mode])
        return self._known[text]
