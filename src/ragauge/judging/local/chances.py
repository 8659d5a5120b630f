"""How sure a verdict of `agree` is: what share of answers people called right where a rule gave that verdict.

Observed on the answers of five systems to the tuning half of EVOUNA's questions (4,800 answers, of which people called
85 % right, all references short). Where words are shared but no rule decides, the share lay between 44 and 86 %: that
much rests on how many answers are right at all, so that an answer which is not held to state the reference stays
below a half.
"""

from __future__ import annotations

EXACT = 0.99        # the reference's words stand there as they are: of 2,920 such answers 99.7 % were right
NAMED = 0.97        # its parts are there in another form or order: of 986 98.5 %
TOLD = 0.95         # yes or no, as the reference says: not measured
OPENED = 0.6        # yes or no alone, of a reference that says the same and more: not measured
WHOLE = 0.9         # all sentences of another accepted answer, or what a describing phrase says: of 18 94 %
SHARED = 0.35       # a part of it or another form of it may be named: of 191 68 %, of 34 with little shared 44 %
ELSE = 0.13         # nothing of it, and nothing of its kind in its place: of 318 12 %
ANOTHER = 0.07      # another thing of its kind: of 366 7 %
ALTERED = 0.05      # a near-copy in which one thing differs, as for support
SILENT = 0.05       # no claim at all, and no short answer that could be one: of 33 6 %
LEAST = 0.5         # of a verdict that agrees
MOST = 0.49         # of one that does not


def agreeing(p: float) -> float:
    """A probability that fits a verdict which agrees."""
    return max(LEAST, p)


def differing(p: float) -> float:
    """A probability that fits a verdict which does not."""
    return min(MOST, p)
