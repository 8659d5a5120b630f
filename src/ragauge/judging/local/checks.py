"""Whether a passage states a claim, or has a near-copy of it in which one thing differs.

Whether a statement stands in a text word for word, said as it says it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from ragauge.judging.judge import plain
from ragauge.judging.local.differences import (
    AMOUNTS,
    NEAR_COPY,
    Difference,
    align_texts,
    apart,
    difference,
    stated,
)
from ragauge.judging.local.english import HEDGES, NEGATIONS
from ragauge.judging.local.index import Indexed, Mode
from ragauge.judging.local.items import Item, items, read, seen, unglossed
from ragauge.judging.local.overlap import PreparedClaim
from ragauge.text.clauses import clauses
from ragauge.text.language import guess
from ragauge.text.sentences import split
from ragauge.text.tokens import stem, words
from ragauge.text.word_files import read_words

WORDS = read_words(__file__, "checks")

HALF = 0.5         # share of the claim's content that a sentence holds for a closer look
NEXT_BEST = 0.8    # of what the best sentence holds: others that hold so much are looked at too
NEARER = 0.9       # a near-copy of several sentences together
MOST_SENTENCES = 3
LED_ASTRAY = ("name", "roles", "number", "date")     # what another statement of the sentence may have in its place


class StatedSpan(NamedTuple):
    """Characters [start, end) of a passage that say what a claim says."""

    start: int
    end: int


class Opposed(NamedTuple):
    """Characters [start, end) of a passage that say almost what a claim says, and what differs."""

    start: int
    end: int
    difference: Difference


def check(claim: str, want: PreparedClaim, text: str, passage: Indexed, mode: Mode) -> StatedSpan | Opposed | None:
    """What a passage says in almost the words of the claim; None where it has no near-copy of it.

    A sentence that states the claim counts before one that differs from it. Outside English only numbers and dates are
    compared.
    """
    spans = list(_closest(claim, want, passage))
    if not spans:
        return None
    english = mode == "words" or guess(claim) == "en"
    known, small = (mine | its for mine, its in zip(seen(claim), seen(text), strict=True))
    row = read(claim, known, small)
    glossed = "(" in claim
    worst: Opposed | None = None
    near = False
    for start, end, alone in spans:
        if near and not alone:
            break
        passage_items = read(text[start:end], known, small)
        enough = NEAR_COPY if alone else NEARER
        laid = align_texts(row, passage_items, enough)
        if laid is None:
            continue
        near = True
        if stated(laid):
            return StatedSpan(start, end)
        differs = difference(laid)
        if english and alone and (differs is None or differs.kind in LED_ASTRAY):
            of_part = by_parts(row, parts(text[start:end], passage_items, known, small), NEAR_COPY)
            if of_part is True:
                return StatedSpan(start, end)
            differs = of_part or differs
        bare = unglossed(text[start:end], passage_items) if differs is None and not glossed else None
        if bare is not None:
            laid = align_texts(row, bare, enough)
            if laid is not None and stated(laid):
                return StatedSpan(start, end)
            differs = difference(laid) if laid is not None and apart(laid, passage_items) else None
        if differs and worst is None and (english or differs.kind in AMOUNTS):
            worst = Opposed(start, end, differs)
    return worst


def _closest(claim: str, want: PreparedClaim, passage: Indexed) -> Iterator[tuple[int, int, bool]]:
    """The sentences that hold most of the claim, best first, and then the best with its neighbours; which of the two.

    Those that hold most of it without its names are among them: another name draws other sentences in.
    """
    own = [unit for unit in want.distinct if not unit[0].isdigit()]
    named = {stem(part) for item in items(claim) if item.kind == "name" for part in item.parts}
    held = _held(want.distinct, passage)
    best = []
    for units, counts, most in (
        (own, held, MOST_SENTENCES),
        (plain := [unit for unit in own if unit not in named], _held(plain, passage), MOST_SENTENCES - 1),
    ):
        order = sorted(counts, key=lambda n: (-counts[n], len(passage.segments[n].units), n))[:most]
        if order and counts[order[0]] >= HALF * len(units):
            enough = min(NEXT_BEST * counts[order[0]], counts[order[0]] - 1)
            best += [n for n in order if counts[n] >= enough and n not in best]
    for number in best:
        yield passage.segments[number].start, passage.segments[number].end, True
    if not held:
        return
    first = max(held, key=lambda n: (held[n], -n))
    around = range(max(0, first - 1), min(len(passage.segments), first + 2))
    three = sum(any(n in passage.places.get(unit, ()) for n in around) for unit in want.distinct)
    if three > held[first] and three >= HALF * len(own):
        yield passage.segments[around[0]].start, passage.segments[around[-1]].end, False


def _held(units: Sequence[str], passage: Indexed) -> dict[int, int]:
    """Segment -> how many of the units it holds."""
    held: dict[int, int] = {}
    for unit in units:
        for segment in passage.places.get(unit, ()):
            held[segment] = held.get(segment, 0) + 1
    return held


JOINTS = frozenset(["and", "but", "while", "whereas", "though", "although"])


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
        if stated(laid):
            return True
        if outcome is None and not any(laid.claim[at].content for at in laid.unmatched):
            outcome = difference(laid)
    return outcome


FEWEST = 3          # words of a statement that may be a part of a sentence; a shorter one has to be the whole
LOOKED_AT = 20_000  # characters of a text
TURNING = NEGATIONS.union(WORDS["turning"].split())


class Wording:
    """Texts, ready to be searched for statements."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._cut = [sentence.text for text in texts for sentence in split(text[:LOOKED_AT])]
        self.sentences = list(dict.fromkeys(map(plain, self._cut)))
        self.whole = {*self.sentences, *map(plain, texts)} - {""}

    @cached_property
    def parts(self) -> set[str]:
        """The clauses of the sentences."""
        return {plain(clause.text) for text in self._cut for clause in clauses(text)} - {""}

    def has(self, statement: str) -> bool:
        """Whether a sentence or a clause is the statement, or says it among other things and takes nothing back.

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
        return wanted in self.parts
