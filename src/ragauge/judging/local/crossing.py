"""A sentence that makes two statements alike, and a claim that takes its beginning from one and its end from the other.

"Plan A costs 9 euros and plan B costs 19 euros" has every word of "Plan A costs 19 euros" in order, and denies it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import pairwise

from ragauge.judging.local.align import related
from ragauge.judging.local.differences import ARTICLES, Difference, TextAlignment, align_texts, difference, stated
from ragauge.judging.local.english import HEDGES
from ragauge.judging.local.items import Item, read
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
