"""Whether a judge's probability decides a fact, and the bands in which an answer fails or passes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import Literal, NamedTuple

from ragauge.core.response import ControlledFact, Readability
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


EVEN_P = 0.5  # from here on a probability reads as yes
MIN_NO_SHARE = 0.05  # of the known-no pairs that score as high or higher; bench/wrong_blame.py measures it
SCATTERED_LAYOUT = "cells"  # the layout whose lines part a label, its year and its amount: a judge of words joins none

Decision = Literal["yes", "no", "open"]


def decide(
    p: float | None,
    verdict: bool,
    fact: ControlledFact,
    readability: Readability | None,
    passes: bool = False,
    contradicted: bool = False,
) -> Decision:
    """What a judge's finding on one claim says: yes, no, or neither.

    Args:
        p: that it is so, in [0, 1]; None = the judge has no probabilities, and its verdict decides.
        verdict: whether the judge names what makes it so.
        fact: what it is a probability of.
        readability: what the judge can read of the response; None = no controls were asked.
        passes: whether the answer passes with the probabilities of all its claims: none of them is a no then.
        contradicted: whether a passage says otherwise: up to 0.35 that decides by itself.

    >>> [decide(p, False, "support", None) for p in (0.89, 0.4, None)]
    ['yes', 'no', 'no']
    >>> decide(0.4, False, "support", None, passes=True)
    'open'
    """
    if p is None:
        return "yes" if verdict else "no"
    if p >= EVEN_P:
        return "yes" if verdict or not contradicted else "open"
    if verdict or passes:
        return "open"
    return "no" if (contradicted and p <= DOUBTFUL_P) or is_clear_no(p, fact, readability) else "open"


def is_clear_no(p: float, fact: ControlledFact, readability: Readability | None) -> bool:
    """Whether a probability decides that something is not so.

    Args:
        p: that it is so, in [0, 1].
        fact: what it is a probability of.
        readability: what the judge can read of the response; None = no controls were asked, and every probability
            below 0.5 is a no.

    Returns:
        False for a yes, for what is open, and for a fact that the judge cannot read. A table of one cell a line leaves
        every no open: copies of its lines are found in it, statements that join several of them are not.
    """
    if readability is None:
        return p < EVEN_P
    scale = readability.scales.get(fact)
    is_readable = scale is not None and readability.can_read(fact) and readability.layout != SCATTERED_LAYOUT
    return is_readable and p < EVEN_P and scale is not None and scale.compute_known_no_share(p) >= MIN_NO_SHARE


def is_clear_yes(p: float, fact: ControlledFact, readability: Readability | None) -> bool:
    """Whether a probability is a yes that fewer than one in twenty pairs known to be false reach.

    Args:
        p: that it is so, in [0, 1].
        fact: what it is a probability of.
        readability: what the judge can read of the response; None = no controls were asked, and from 0.5 on all are.
    """
    if readability is None:
        return p >= EVEN_P
    scale = readability.scales.get(fact)
    is_readable = scale is not None and readability.can_read(fact)
    return is_readable and p >= EVEN_P and scale is not None and scale.compute_known_no_share(p) < MIN_NO_SHARE
