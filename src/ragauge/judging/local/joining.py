"""Which passages may bear a claim out together that none of them bears out alone.

Of whom a sentence speaks: the fact of one is no support for a claim about another.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from ragauge.judging.local.align import same_name
from ragauge.judging.local.index import Indexed
from ragauge.judging.local.items import Item, items, seen
from ragauge.judging.local.overlap import Overlap

MOST_PARTS = 64        # passages that are joined at most, the first of them: bounds the work on hostile input
LEAST_UNITS = 2        # units with content that a part holds
WHOLE = 0.9            # share of the claim's units with content that the parts hold together; measured from 0.5 to 1


class JointPart(NamedTuple):
    """What a passage would bring to a joint support. Sets are bit masks.

    Attributes:
        number: of the passage, from 1.
        units: content units of the claim that its best window holds.
        names: names of the claim that stand in it.
    """

    number: int
    units: int
    names: int


def joinable(parts: Sequence[JointPart], units: int, *, named: bool) -> Iterator[tuple[int, ...]]:
    """Groups of two and three passages that could support a claim jointly.

    Each member holds something of the claim that the others lack, and is tied to them by something of it that both
    hold: a name, where the claim has names. Else the name of one and the fact of another would make a support. Whether
    a group is one depends on its members alone, so another passage never undoes it.

    Args:
        parts: the passages, in order.
        units: how many content units the claim has.
        named: whether the claim has names.

    >>> name, fact, both = JointPart(1, 0b0011, 0b01), JointPart(2, 0b1100, 0b00), JointPart(3, 0b1110, 0b01)
    >>> list(joinable([name, fact, both], 4, named=True))
    [(1, 3)]
    """
    able = [part for part in parts if part.units.bit_count() >= LEAST_UNITS][:MOST_PARTS]
    least = WHOLE * units
    tied: dict[int, set[int]] = {}
    for at, first in enumerate(able):
        for following in range(at + 1, len(able)):
            second = able[following]
            shared = first.names & second.names if named else first.units & second.units
            if shared and first.units & ~second.units and second.units & ~first.units:
                tied.setdefault(at, set()).add(following)
                if (first.units | second.units).bit_count() >= least:
                    yield first.number, second.number
    yield from _threes(able, tied, least)


def _threes(able: Sequence[JointPart], tied: Mapping[int, set[int]], least: float) -> Iterator[tuple[int, ...]]:
    """Groups of three, every two of them tied."""
    for at, others in tied.items():
        for second, third in combinations(sorted(others), 2):
            if third not in tied.get(second, ()):
                continue
            a, b, c = able[at].units, able[second].units, able[third].units
            if a & ~(b | c) and b & ~(a | c) and c & ~(a | b) and (a | b | c).bit_count() >= least:
                yield able[at].number, able[second].number, able[third].number


Name = tuple[str, ...]


def named(claim: str, known: Collection[str]) -> list[Name]:
    """The names of a claim in order, each as its folded words.

    Args:
        claim: the claim.
        known: words that have a capital inside a sentence elsewhere: what opens the claim may be one of them.
    """
    return [item_named.parts for item_named in items(claim) if _is_name(item_named, known)]


def about_another(claim: str, overlap: Overlap, text: str, passage: Indexed) -> bool:
    """Whether the sentence that holds most of a claim says it of somebody else.

    It does when it begins with a name that the claim does not have, a date before it aside, and a name of the claim is
    not in the window around it. A sentence that begins without a name may go on about whom the one before named.
    """
    if not overlap.one:
        return False
    known = seen(text)[0]
    segment = passage.segments[overlap.closest]
    row = items(text[segment.start : segment.end])
    first = next((item for item in row if _is_name(item, known) or (item.content and item.kind == "word")), None)
    if first is None or not _is_name(first, known):
        return False
    own = named(claim, known | seen(claim)[0])
    if not own or any(same_name(name, first.parts) for name in own):
        return False
    around = [item.parts for item in (*row, *items(text[overlap.start : overlap.end])) if _is_name(item, known)]
    return any(not any(same_name(name, other) for other in around) for name in own)


def _is_name(name: Item, known: Collection[str]) -> bool:
    return name.kind == "name" or (name.capital and name.parts[0] in known)
