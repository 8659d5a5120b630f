"""Where a judge's probabilities fail an answer and where they pass it: data, written by bench/verdicts.py."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from ragauge.core.verdict import Verdict

THRESHOLDS = Path(__file__).parent / "verdict_thresholds.json"
DOUBTFUL_P = 0.35  # a claim with something against it fails, up to here, an answer whose mean does not pass


class ScoreBand(NamedTuple):
    """Where a mean over claims fails and passes; between them it is unclear."""

    fail_below: float  #: a lower mean fails, and a claim below it keeps an answer from passing.
    pass_from: float  #: such a mean or a higher one passes; a lower one fails where something speaks against a claim.

    def decide_verdict(self, scores: Sequence[float], disputed: bool = False) -> Verdict:
        """The verdict on the scores of one or more claims.

        Few shared words alone may mean that the answer says it in its own words, so the bar is lower without a dispute.

        Args:
            scores: p of each claim, 0 to 1.
            disputed: whether a passage contradicts a doubtful claim, or no passage has a number or name of it.

        >>> ScoreBand(0.35, 0.6).decide_verdict([0.9, 0.8])
        'passed'
        >>> ScoreBand(0.35, 0.6).decide_verdict([0.9, 0.9, 0.1])     # most of it is right, a part is not
        'unclear'
        >>> ScoreBand(0.35, 0.6).decide_verdict([0.5])
        'unclear'
        >>> ScoreBand(0.35, 0.6).decide_verdict([0.5], disputed=True)
        'failed'
        """
        mean = fmean(scores)
        if mean < (self.pass_from if disputed else self.fail_below):
            return "failed"
        return "passed" if mean >= self.pass_from and min(scores) >= self.fail_below else "unclear"


@cache
def read_bands() -> dict[str, ScoreBand]:
    """The shipped thresholds, by verdict."""
    return {name: ScoreBand(**band) for name, band in json.loads(THRESHOLDS.read_text(encoding="utf-8")).items()}


def is_passing(probabilities: Iterable[float | None], verdict: str) -> bool:
    """Whether an answer passes with these probabilities of its claims; those without one are left out.

    Args:
        probabilities: of each claim, in [0, 1].
        verdict: right or grounded.
    """
    scores = [p for p in probabilities if p is not None]
    return bool(scores) and read_bands()[verdict].decide_verdict(scores) == "passed"
