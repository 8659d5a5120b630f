"""Whether a judge's probability decides a fact: yes, no, or neither.

A probability of at least 0.5 is a yes. It is a no only where it lies among the scores of pairs that are known to be
false: below 0.5 a judge may as well overlook what is there in other words. Nor is it a no in an
answer that passes: what is said of one claim and the verdict on its answer never contradict each other.
"""

from __future__ import annotations

from typing import Literal

from ragauge.core.readability import ControlledFact, Readability
from ragauge.diagnosis.causes.score_bands import DOUBTFUL_P

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
