"""Two sentences laid beside each other, item by item.

Whether two names may be of one thing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Literal, NamedTuple

from ragauge.judges.local.english import opposed
from ragauge.judges.local.items import Item
from ragauge.judges.local.measures import alike, same_amount, same_day
from ragauge.text.word_files import read_words

WORDS = read_words(__file__, "names")

NICKNAMES: dict[str, frozenset[str]] = {}
for _line in WORDS["nicknames"].replace("\n", " ").split("|"):
    _names = frozenset(_line.split())
    for _name in _names:
        NICKNAMES[_name] = NICKNAMES.get(_name, frozenset()) | _names
MISSPELLED = 0.8  # likeness from which on two words are two spellings of one
SHORTEST = 4  # letters of a name that another may begin with


@lru_cache(maxsize=2_048)
def same_name(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether two names, each as its folded words, may be of one thing.

    One may be a part of the other, its initials, a nickname, an inflected form or another spelling.

    >>> same_name(("barack", "obama"), ("obama",)), same_name(("bbc",), ("british", "broadcasting", "corporation"))
    (True, True)
    >>> same_name(("john", "smith"), ("mary", "smith")), same_name(("j", "smith"), ("john", "smith"))
    (False, True)
    """
    if "".join(one) == "".join(other):
        return True
    mine = [word for word in one if word not in other]
    its = [word for word in other if word not in one]
    if not mine or not its:
        return True
    if _initials(one) == "".join(other) or _initials(other) == "".join(one):
        return True
    if _initials(mine) == "".join(its) or _initials(its) == "".join(mine):
        return True
    shorter, longer = sorted((mine, its), key=len)
    shared = len(mine) < len(one)
    return all(any(_alike(word, there, shared=shared) for there in longer) for word in shorter)


def _initials(words: Sequence[str]) -> str:
    return "".join(word[0] for word in words)


def _alike(one: str, other: str, *, shared: bool) -> bool:
    """Whether two words may be one; an initial counts where the names share another word."""
    if other in NICKNAMES.get(one, ()):
        return True
    shorter, longer = sorted((one, other), key=len)
    if ((shared and len(shorter) == 1) or len(shorter) >= SHORTEST) and longer.startswith(shorter):
        return True
    if len(shorter) >= SHORTEST and len(longer) - len(shorter) >= SHORTEST - 1 and longer.endswith(shorter):
        return True  # the head of a compound: Frist, Rückgabefrist
    if shorter.isdigit() or len(shorter) < SHORTEST or one[0] != other[0]:
        return False
    return SequenceMatcher(None, one, other, autojunk=False).ratio() >= MISSPELLED


# "label": numbers that tell things of a kind apart, so that the two sentences speak of two things
Relation = Literal["same", "name", "number", "unit", "date", "antonym", "quantifier", "comparative", "label"]
Worth = tuple[float, Relation]

# what a pair is worth, and what an item costs that has no partner
CONTENT, FUNCTION, SLOT = 2.0, 0.5, 2.5
RIVALS = 1.0
UNMATCHED = (0.1, 0.6)  # of the claim: function word, content
SKIPPED = (0.06, 0.3)  # of the passage
FEWEST_DIGITS = 3  # of a number that may stand where a year does
SPAN = re.compile(r"\d\s?(?:-|–|to|and)\s?\d{1,2}\b(?!-)")  # of days: both ends count


class AlignedPair(NamedTuple):
    """Item `claim` of the claim beside item `passage` of the passage."""

    claim: int
    passage: int
    relation: Relation


def align(claim: Sequence[Item], passage: Sequence[Item]) -> list[AlignedPair]:
    """The best pairs in order: equal items, and in equal surroundings items of which one excludes the other.

    The sum of the worth of the pairs, less the cost of what has none, is the greatest that can be had (dynamic
    programming). What stands in the passage before the first pair and behind the last costs nothing: the claim may be
    a part of it. Equal beginnings and endings are paired without looking further.
    """
    shorter = min(len(claim), len(passage))
    start = 0
    while start < shorter and _identical(claim[start], passage[start]):
        start += 1
    end = 0
    while end < shorter - start and _identical(claim[-1 - end], passage[-1 - end]):
        end += 1
    middle = claim[start : len(claim) - end], passage[start : len(passage) - end]
    pairs = [AlignedPair(at, at, "same") for at in range(start)]
    if all(middle):
        inner = _aligned(*middle, free_start=start == 0, free_end=end == 0)
        pairs += [AlignedPair(pair.claim + start, pair.passage + start, pair.relation) for pair in inner]
    tail = zip(range(len(claim) - end, len(claim)), range(len(passage) - end, len(passage)), strict=True)
    return pairs + [AlignedPair(mine, its, "same") for mine, its in tail]


def _identical(one: Item, other: Item) -> bool:
    return one.key == other.key and one.kind == other.kind and one.measure == other.measure


def _aligned(claim: Sequence[Item], passage: Sequence[Item], *, free_start: bool, free_end: bool) -> list[AlignedPair]:
    table = _relations(claim, passage)
    width = len(passage)
    skipped = [SKIPPED[word.content] for word in passage]
    before = [0.0]
    for cost in skipped:
        before.append(0.0 if free_start else before[-1] - cost)
    moves: list[bytearray] = []  # per cell: 1 the claim's item alone, 2 the passage's item alone, 3 a pair
    for wanted, relations in zip(claim, table, strict=True):
        unmatched = UNMATCHED[wanted.content]
        left = before[0] - unmatched
        row = [left]
        move = bytearray(width + 1)
        move[0] = 1
        for at in range(width):
            best, step = before[at + 1] - unmatched, 1
            if left - skipped[at] > best:
                best, step = left - skipped[at], 2
            worth = relations.get(at)
            if worth is not None and before[at] + worth[0] >= best:
                best, step = before[at] + worth[0], 3
            row.append(best)
            move[at + 1] = step
            left = best
        moves.append(move)
        before = row
    return _traced(moves, table, max(range(width + 1), key=before.__getitem__) if free_end else width)


def _traced(moves: Sequence[bytearray], table: Sequence[dict[int, Worth]], at: int) -> list[AlignedPair]:
    pairs = []
    row = len(moves)
    while row and at:
        step = moves[row - 1][at]
        if step == 3:
            pairs.append(AlignedPair(row - 1, at - 1, table[row - 1][at - 1][1]))
        row -= step != 2
        at -= step != 1
    return pairs[::-1]


def _relations(claim: Sequence[Item], passage: Sequence[Item]) -> list[dict[int, Worth]]:
    """Per item of the claim: the passage's items that it may stand beside, what that is worth, and how they relate."""
    places: dict[str, list[int]] = {}
    slots: list[int] = []
    for at, word in enumerate(passage):
        for key in word.keys:
            places.setdefault(key, []).append(at)
        if word.kind != "word" or word.capital:
            slots.append(at)
    table = []
    for wanted in claim:
        worths: dict[int, Worth] = {}
        worth = (CONTENT if wanted.content else FUNCTION) if wanted.kind == "word" else SLOT
        for key in wanted.keys:
            worths.update(dict.fromkeys(places.get(key, ()), (worth, "same")))
        if wanted.kind == "word":
            for key, kind in opposed(wanted.key).items():
                for at in places.get(key, ()):
                    worths.setdefault(at, (RIVALS, kind))
        if wanted.kind != "word" or wanted.capital:
            for at in slots:
                if at not in worths and (relation := related(wanted, passage[at])):
                    worths[at] = (SLOT if relation == "same" else RIVALS), relation
        table.append(worths)
    return table


def related(one: Item, other: Item) -> Relation | None:
    """How a name, number or date of the claim relates to one of the passage; None where they are of different kinds."""
    if one.measure and other.measure:
        if same_amount(one.measure, other.measure):
            return "same"
        if one.label or other.label:
            return "label"
        units = {one.measure.unit, other.measure.unit} - {""}
        if len(units) > 1 and not {*one.measure.values}.isdisjoint(other.measure.values):
            return "unit"
        return "number" if alike(one.measure, other.measure) else None
    if {one.kind, other.kind} == {"date", "number"}:
        return _year(one, other) if one.kind == "date" else _year(other, one)
    if one.kind == other.kind == "date":
        spans = SPAN.search(one.text) is not None and SPAN.search(other.text) is not None
        same = set(one.parts) == set(other.parts) if spans else same_day(one.parts, other.parts)
        return "same" if same else "date"
    if not {one.kind, other.kind} <= {"name", "word"} or not one.parts or not other.parts:
        return None
    if same_name(one.parts, other.parts):
        return "same"
    return "name" if one.kind == other.kind == "name" else None


def _year(date: Item, number: Item) -> Relation | None:
    """How a bare year relates to a number that may be one, as its place alone tells: "in 1844", "between 1790 and"."""
    year, figure, measure = date.key, number.figure, number.measure
    if not (year.isdigit() and figure.isdigit()) or len(figure) < FEWEST_DIGITS or measure is None or measure.unit:
        return None
    if year == figure:
        return "same"
    return "date" if len(figure) == len(year) else "number"
