"""Whether a passage states a claim, or has a near-copy of it in which one thing differs.

Whether a statement stands in a text word for word, said as it says it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from ragauge.judges.judge import plain
from ragauge.judges.local.differences import AMOUNTS, Difference, align_texts, apart, difference, stated
from ragauge.judges.local.english import NEGATIONS
from ragauge.judges.local.index import Indexed, Mode
from ragauge.judges.local.items import read, seen, unglossed
from ragauge.judges.local.overlap import PreparedClaim
from ragauge.text.language import guess
from ragauge.text.sentences import split
from ragauge.text.tokens import words
from ragauge.text.word_files import read_words

WORDS = read_words(__file__, "checks")

HALF = 0.5  # share of the claim's content that a sentence holds for a closer look
NEXT_BEST = 0.8  # of what the best sentence holds: others that hold so much are looked at too
MOST_SENTENCES = 3


class Opposed(NamedTuple):
    """Characters [start, end) of a passage that say almost what a claim says, and what differs."""

    start: int
    end: int
    difference: Difference


def check(claim: str, want: PreparedClaim, text: str, passage: Indexed, mode: Mode) -> Opposed | bool:
    """What a passage says in almost the words of the claim; True where it states it, False without a near-copy of it.

    A sentence that states the claim counts before one that differs from it. Outside English only numbers and dates are
    compared.
    """
    spans = _closest(want, passage)
    if not spans:
        return False
    english = mode == "words" or guess(claim) == "en"
    known, small = (mine | its for mine, its in zip(seen(claim), seen(text), strict=True))
    row = read(claim, known, small)
    glossed = "(" in claim
    worst: Opposed | None = None
    for start, end in spans:
        passage_items = read(text[start:end], known, small)
        laid = align_texts(row, passage_items)
        if laid is None:
            continue
        if stated(laid):
            return True
        differs = difference(laid)
        bare = unglossed(text[start:end], passage_items) if differs is None and not glossed else None
        if bare is not None:
            laid = align_texts(row, bare)
            if laid is not None and stated(laid):
                return True
            differs = difference(laid) if laid is not None and apart(laid, passage_items) else None
        if differs and worst is None and (english or differs.kind in AMOUNTS):
            worst = Opposed(start, end, differs)
    return worst or False


def _closest(want: PreparedClaim, passage: Indexed) -> list[tuple[int, int]]:
    """Where the sentences begin and end that hold most of the claim, best first."""
    held = Counter(segment for unit in want.distinct for segment in passage.places.get(unit, ()))
    order = sorted(held, key=lambda n: (-held[n], len(passage.segments[n].units), n))[:MOST_SENTENCES]
    if not order or held[order[0]] < HALF * sum(not unit[0].isdigit() for unit in want.distinct):
        return []
    enough = min(NEXT_BEST * held[order[0]], held[order[0]] - 1)
    return [passage.segments[n][:2] for n in order if held[n] >= enough]


FEWEST = 3  # words of a statement that may be a part of a sentence; a shorter one has to be the whole
LOOKED_AT = 20_000  # characters of a text
TURNING = NEGATIONS.union(WORDS["turning"].split())


class Wording:
    """Texts, ready to be searched for statements."""

    def __init__(self, texts: Sequence[str]) -> None:
        cut = (plain(sentence.text) for text in texts for sentence in split(text[:LOOKED_AT]))
        self.sentences = list(dict.fromkeys(cut))
        self.whole = {*self.sentences, *map(plain, texts)} - {""}

    def has(self, statement: str) -> bool:
        """Whether a sentence is the statement, or says it among other things and takes nothing back.

        >>> text = Wording(["The pump was built in Porto in 1910.", "It is not true that the lamp is red."])
        >>> text.has("The pump was built in Porto."), text.has("the lamp is red"), text.has("Built in Porto in 1910.")
        (True, False, True)
        """
        wanted = plain(statement)
        if wanted in self.whole:
            return True
        if len(wanted.split(" ")) < FEWEST:
            return False
        for sentence in self.sentences:
            before, within, after = f" {sentence} ".partition(wanted)
            apart = within and not before[-1:].isalnum() and not after[:1].isalnum()
            if apart and "n't" not in before + after and TURNING.isdisjoint([*words(before), *words(after)]):
                return True
        return False
