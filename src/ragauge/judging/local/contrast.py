"""Where two short statements say nearly the same and one thing differs: a number, a date, a name, a negation."""

from __future__ import annotations

from ragauge.judging.local.antonyms import NEGATIONS
from ragauge.judging.local.differences import AMOUNTS, TextAlignment, align_texts, difference
from ragauge.judging.local.index import Mode
from ragauge.judging.local.items import read, seen
from ragauge.judging.local.overlap import wanted

__all__ = ["NEGATIONS", "contrast"]

SHARED = 0.3   # share of the longer one's units that both have, numbers and names included, for a closer look
ALIKE = 0.8    # share of either statement's content that the other holds


def contrast(claim: str, reference: str, mode: Mode) -> str:
    """What differs between near-copies, in words; "" where nothing plainly does.

    Each has to be a near-copy of the other, and where each has something that the other has not they speak of
    different things. Outside English only numbers and dates are compared.

    >>> contrast("The lid is not made of steel.", "The lid is made of steel.", "words")
    'one is negated'
    >>> contrast("Ada wrote the manual in Porto.", "Ada wrote the manual in Leeds.", "words")
    "'Porto' against 'Leeds'"
    """
    own, other = wanted(claim, mode).distinct, wanted(reference, mode).distinct
    if len(set(own) & set(other)) < SHARED * max(len(own), len(other)):
        return ""
    known, small = (left | right for left, right in zip(seen(claim), seen(reference), strict=True))
    mine, theirs = read(claim, known, small), read(reference, known, small)
    laid = align_texts(mine, theirs, ALIKE)
    back = align_texts(theirs, mine, ALIKE)
    if laid is None or back is None or (_adds(laid) and _adds(back)):
        return ""
    found = difference(laid)
    if found is None or (mode != "words" and found.kind not in AMOUNTS):
        return ""
    return "one is negated" if found.kind == "negation" else f"{found.claim!r} against {found.passage!r}"


def _adds(laid: TextAlignment) -> bool:
    return any(laid.claim[at].content for at in laid.unmatched)
