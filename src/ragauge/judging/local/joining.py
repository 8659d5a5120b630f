"""Which passages may bear a claim out together that none of them bears out alone.

Of whom a sentence speaks: the fact of one is no support for a claim about another.

A sentence that makes two statements alike, and a claim that takes its beginning from one and its end from the other.

"Plan A costs 9 euros and plan B costs 19 euros" has every word of "Plan A costs 19 euros" in order, and denies it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import combinations, pairwise
from typing import NamedTuple

from ragauge.judging.local.align import related, same_name
from ragauge.judging.local.differences import ARTICLES, Difference, TextAlignment, align_texts, difference, stated
from ragauge.judging.local.english import HEDGES
from ragauge.judging.local.index import Indexed
from ragauge.judging.local.items import Item, items, read, seen
from ragauge.judging.local.overlap import Overlap
from ragauge.text.clauses import clauses

FARTHEST = 10     # items that a claim leaps over
JOINTS = frozenset(["and", "but", "while", "whereas", "though", "although"])
# say how much of what follows, and are no subject of their own
_LOOSE = """
or then later only just about another further additional over nearly almost around approximately even also now still
again up to at least most more some roughly under exactly
"""
LOOSE = frozenset(_LOOSE.split())


def crossed(laid: TextAlignment) -> bool:
    """Whether the claim leaps, inside the sentence, from one statement into another of the same build.

    What it leaps over holds the rest of the one, then a joint or a mark, and then what the other is about. And either
    that repeats a word that the claim has before the leap ("costs … and plan B *costs* 19 euros"), or the leap passes
    an amount of the kind of that on which the claim lands ("*12 euros*, children 5 euros"). Only a claim that copies
    the sentence but for one short leap is looked at: of other leaps, six in seven were right.
    """
    if any(laid.claim[at].content for at in laid.unmatched):
        return False
    leaps = [(pair.passage + 1, two.passage) for pair, two in pairwise(laid.pairs) if two.passage - pair.passage > 2]
    return len(leaps) == 1 and leaps[0][1] - leaps[0][0] <= FARTHEST and _leaps(laid, *leaps[0])


def _leaps(laid: TextAlignment, start: int, end: int) -> bool:
    over, landing = laid.passage[start:end], laid.passage[end]
    cut = _cut(over, landing)
    if not cut or not any(word.content for word in over[:cut]):
        return False
    about = [word for word in over[cut:] if word.content and word.key not in LOOSE]
    if not about:
        return False
    before = {laid.passage[pair.passage].key for pair in laid.pairs if pair.passage < start}
    if any(word.key in before for word in over[cut:] if word.kind == "word" and word.key not in LOOSE.union(ARTICLES)):
        return True
    amounts = (word for word in over[:cut] if word.kind == "number")
    return landing.kind == "number" and any(related(amount, landing) == "number" for amount in amounts)


def _cut(over: Sequence[Item], landing: Item) -> int:
    """Where in a stretch the other statement begins: behind its last joint or mark; 0 where none divides it."""
    if not over or over[-1].end + 1 < landing.start:
        return 0
    for at in range(len(over) - 1, 0, -1):
        if over[at].key in JOINTS:
            return at + 1
        if over[at - 1].end + 1 < over[at].start:
            return at
    return 0


def parts(sentence: str, items: Sequence[Item], known: Collection[str], small: Collection[str]) -> list[Sequence[Item]]:
    """The statements of a sentence, ready to be laid beside a claim; none where it makes one only."""
    cut = clauses(sentence)
    if len(cut) > 1:
        return [read(piece.text, known, small) for piece in cut]
    joint = next((at for at, item_read in enumerate(items) if item_read.key in JOINTS), None)
    if joint is None or any(word.negates or word.key in HEDGES for word in items[:joint]):
        return []
    if joint + 1 == len(items):
        return []
    rest = sentence[items[joint + 1].start :]
    return [items[:joint], read(rest[0].upper() + rest[1:], known, small)]     # "plan B" as it would begin a sentence


def by_parts(claim: Sequence[Item], statements: Sequence[Sequence[Item]], near: float) -> bool | Difference | None:
    """Whether one of the statements says what a claim says, or what differs in the one that says almost it."""
    outcome = None
    for statement in statements:
        laid = align_texts(claim, statement, near)
        if laid is None:
            continue
        if stated(laid) and not crossed(laid):
            return True
        if outcome is None and not any(laid.claim[at].content for at in laid.unmatched):
            outcome = difference(laid)
    return outcome


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
