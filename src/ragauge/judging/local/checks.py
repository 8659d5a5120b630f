"""Whether a passage states a claim, or has a near-copy of it in which one thing differs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from ragauge.judging.local.differences import AMOUNTS, NEAR_COPY, Difference, difference, lay, stated
from ragauge.judging.local.index import Indexed, Mode
from ragauge.judging.local.items import items, named
from ragauge.judging.local.overlap import Wanted
from ragauge.text.names import fold, pieces

HALF = 0.5         # share of the claim's content that a sentence holds for a closer look
NEXT_BEST = 0.8    # of what the best sentence holds: others that hold so much are looked at too
NEARER = 0.9       # a near-copy of several sentences together
MOST_SENTENCES = 3
INSIDE = re.compile(r"(?<=[A-Za-z0-9,;] )[A-Z][^\W_]+(?:'s)?")


class Stated(NamedTuple):
    """Characters [start, end) of a passage that say what a claim says."""

    start: int
    end: int


class Opposed(NamedTuple):
    """Characters [start, end) of a passage that say almost what a claim says, and what differs."""

    start: int
    end: int
    difference: Difference


def check(claim: str, want: Wanted, text: str, passage: Indexed, mode: Mode) -> Stated | Opposed | None:
    """What a passage says in almost the words of the claim; None where it has no near-copy of it.

    A sentence that states the claim counts before one that differs from it. Outside English only numbers and dates
    are compared.
    """
    known = None
    found = None
    near = False
    for start, end, alone in _closest(want, passage):
        if near and not alone:
            break
        if known is None:
            known = _known(text) | _known(claim)
        laid = lay(named(items(claim), known), named(items(text[start:end]), known), NEAR_COPY if alone else NEARER)
        if laid is None:
            continue
        near = True
        if stated(laid):
            return Stated(start, end)
        differs = difference(laid)
        if differs and found is None and (mode == "words" or differs.kind in AMOUNTS):
            found = Opposed(start, end, differs)
    return found


def _closest(want: Wanted, passage: Indexed) -> Iterator[tuple[int, int, bool]]:
    """The sentences that hold most of the claim, best first, and then the best with its neighbours."""
    held: dict[int, int] = {}
    own = [unit for unit in want.distinct if not unit[0].isdigit()]
    for unit in want.distinct:
        for segment in passage.places.get(unit, ()):
            held[segment] = held.get(segment, 0) + 1
    if not held:
        return
    order = sorted(held, key=lambda n: (-held[n], n))[:MOST_SENTENCES]
    most = held[order[0]]
    if most >= HALF * len(own):
        for number in order:
            if held[number] >= min(NEXT_BEST * most, most - 1):
                yield passage.segments[number].start, passage.segments[number].end, True
    best = order[0]
    around = range(max(0, best - 1), min(len(passage.segments), best + 2))
    three = sum(any(n in passage.places.get(unit, ()) for n in around) for unit in own)
    if three > most and three >= HALF * len(own):
        yield passage.segments[around[0]].start, passage.segments[around[-1]].end, False


@lru_cache(maxsize=256)
def _known(text: str) -> frozenset[str]:
    """Words with a capital inside a sentence, folded: names wherever they stand."""
    return frozenset(fold(piece) for found in INSIDE.findall(text) for piece in pieces(found))
