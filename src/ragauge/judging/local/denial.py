"""Whether a passage only denies a claim: "There is no evidence that …" states nothing of what follows.

Only the head of a sentence is read, up to its first "that", in English. What leaves a statement open, takes it back
later or stands around the sentence is not seen.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ragauge.judging.local.english import NEGATIONS
from ragauge.judging.local.index import STOPS, Indexed, units_of
from ragauge.judging.local.overlap import PreparedClaim
from ragauge.text.word_files import read_words

WORDS = read_words(__file__, "denial")

MIN_SHARE = 0.7     # of the claim's units, held by a sentence that is compared with it
MIN_UNITS = 2       # with content, of a claim that is a statement
MAX_WORDS = 12      # of a head
NEAR = 3            # words between a denying word and "that"

HEAD = re.compile(rf"\W*((?:[\w'’-]+ ){{1,{MAX_WORDS}}})that\b(.*)", re.IGNORECASE | re.DOTALL)
BREAK = re.compile(r"[;?!]|\b(?:but|however|whereas|although|though|yet)\b|\band\s+(?:sa(?:id|ys)|added)\b")
DENYING = frozenset(WORDS["denying"].split())
DENIABLE = frozenset(WORDS["deniable"].split())     # what denies where a negation stands beside it


def denial(claim: str, want: PreparedClaim, text: str, passage: Indexed) -> str:
    """The words by which a passage denies a claim; "" where it does not, or another sentence of it may state it.

    Args:
        claim: as written.
        want: its units, as they are compared with the passage.
        text: the passage as written.
        passage: the same, ready for comparison.

    >>> from ragauge.judging.local.index import build
    >>> from ragauge.judging.local.overlap import wanted
    >>> claim, text = "The lamp was built in Porto.", "There is no evidence that the lamp was built in Porto."
    >>> denial(claim, wanted(claim, "words"), text, build(text, "words"))
    'There is no evidence that'
    """
    own = claim.casefold().split()
    if " that " not in text or len(want.distinct) < MIN_UNITS or _has_negation(own) or not DENYING.isdisjoint(own):
        return ""
    held: dict[int, int] = {}
    for unit in want.distinct:
        for number in passage.places.get(unit, ()):
            held[number] = held.get(number, 0) + 1
    heads = [
        _denying_head(want, text[passage.segments[number].start : passage.segments[number].end])
        for number, count in sorted(held.items())
        if count >= MIN_SHARE * len(want.distinct)
    ]
    return heads[0] if heads and all(heads) else ""


def _denying_head(want: PreparedClaim, sentence: str) -> str:
    """The head of a sentence that denies what follows it, where that is most of the claim."""
    match = HEAD.match(" ".join(sentence.split()))
    if match is None:
        return ""
    words = match[1].casefold().split()
    negated = _has_negation(words)
    denies = not DENYING.isdisjoint(words[-NEAR:])
    if denies == negated or not (denies or not DENIABLE.isdisjoint(words)):
        return ""
    stated = set(units_of(BREAK.split(match[2], maxsplit=1)[0], "words")) - STOPS
    return f"{match[1]}that" if sum(unit in stated for unit in want.distinct) >= MIN_SHARE * len(want.distinct) else ""


def _has_negation(words: Sequence[str]) -> bool:
    return any(word in NEGATIONS or word.endswith(("n't", "n’t")) for word in words)
