"""The one thing in which a near-copy differs from a sentence, so that both cannot be true."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Literal, NamedTuple

from ragauge.judges.local.align import AlignedPair, align, related
from ragauge.judges.local.english import HEDGES
from ragauge.judges.local.items import Item
from ragauge.text.word_files import read_words

WORDS = read_words(__file__, "differences")

Kind = Literal["negation", "name", "roles", "number", "unit", "date", "quantifier", "comparative", "antonym"]
Side = Literal["claim", "passage"]

FEWEST = 2  # equal items with content that a near-copy has, unless it is a copy but for the difference
NEAR_COPY = 0.7  # share of the claim's items with content that have an equal partner; measured from 0.5 to 0.8
NEARBY = 3  # items within which the next pair stands on the looser side of a difference
REACH = 4  # items behind a negation among which the negated one is looked for
MOST_REWORDED = 2  # words that stand for others on one side of a name
ARTICLES = ("the", "a", "an")
UNTIL = frozenset(["until", "unless", "till"])
JUST = frozenset(["just", "merely", "solely"])
FAILED = frozenset(["fail"])
MOST_SHOWN = 8  # words of a sentence in a reason
SYMMETRIC = frozenset(WORDS["symmetric"].split())  # bases of words that join two sides alike
AMOUNTS: frozenset[str] = frozenset(["number", "unit", "date"])


class Difference(NamedTuple):
    """What a claim says, and what the sentence says in its place, both as written."""

    kind: Kind  # in what they differ
    claim: str  # the claim's words, enough of them to be understood
    passage: str  # the sentence's words
    word: str  # the claim's differing word or words alone


@dataclass(frozen=True)
class TextAlignment:
    """A claim beside a sentence: the items of both, and their pairs in order."""

    claim: Sequence[Item]
    passage: Sequence[Item]
    pairs: Sequence[AlignedPair]

    @cached_property
    def beside(self) -> dict[int, int]:
        """Claim item -> passage item, of the equal ones."""
        return {pair.claim: pair.passage for pair in self.pairs if pair.relation == "same"}

    @cached_property
    def unmatched(self) -> list[int]:
        """The claim's items without a partner."""
        paired = {pair.claim for pair in self.pairs}
        return [at for at in range(len(self.claim)) if at not in paired]

    @cached_property
    def skipped(self) -> list[int]:
        """The passage's items without a partner between the first pair and the last, and a negation right before."""
        paired = {pair.passage for pair in self.pairs}
        first, last = self.pairs[0].passage, self.pairs[-1].passage
        if first and self.passage[first - 1].negates:
            first -= 1
        return [at for at in range(first, last) if at not in paired]

    @cached_property
    def replaced(self) -> list[AlignedPair]:
        """Pairs right before a stretch where both sides say something that the other does not."""
        before = []
        for first, last in pairwise(self.pairs):
            if all(any(word.content for word in row) for row in self.between(first, last)):
                before.append(first)
        end = self.pairs[-1]
        if any(word.content for word in self.claim[end.claim + 1 :]) and self.passage[end.passage + 1 :]:
            before.append(end)
        return before

    def between(self, first: AlignedPair, last: AlignedPair) -> tuple[Sequence[Item], Sequence[Item]]:
        """The items of both sides between two pairs."""
        return self.claim[first.claim + 1 : last.claim], self.passage[first.passage + 1 : last.passage]

    def words(self, pair: AlignedPair) -> tuple[str, str]:
        """Both sides of a pair, as written."""
        return self.claim[pair.claim].text, self.passage[pair.passage].text


def align_texts(claim: Sequence[Item], passage: Sequence[Item]) -> TextAlignment | None:
    """The claim beside the sentence; None unless it is a near-copy of a part of it.

    Of the claim's items with content NEAR_COPY have an equal partner; those that differ from theirs do not count.
    """
    laid = TextAlignment(claim, passage, align(claim, passage))
    apart = {pair.claim for pair in laid.pairs if pair.relation != "same"}
    own = sum(word.content and at not in apart for at, word in enumerate(claim))
    held = sum(claim[at].content for at in laid.beside)
    if not held or held < NEAR_COPY * own:
        return None
    if held >= FEWEST:
        return laid
    paired = {pair.passage for pair in laid.pairs}
    rest = [word for at, word in enumerate(passage) if at not in paired] + [claim[at] for at in laid.unmatched]
    return None if any(word.content for word in rest) else laid


def stated(laid: TextAlignment) -> bool:
    """Whether the sentence says all that the claim says, as far as can be seen."""
    if len(laid.beside) < len(laid.pairs):
        return False
    alone = any(laid.claim[at].content or laid.claim[at].negates for at in laid.unmatched)
    return not alone and not any(laid.passage[at].negates for at in laid.skipped) and difference(laid) is None


def difference(laid: TextAlignment) -> Difference | None:
    """The difference, where there is exactly one that makes the two exclude one another.

    With several, the two speak of different things: another hub with another time. Two that undo one another ("not
    open", "closed") are none.
    """
    apart = [pair for pair in laid.pairs if pair.relation != "same"]
    if any(pair.relation == "label" for pair in apart):
        return None
    names = [pair for pair in apart if pair.relation == "name"]
    amounts = [pair for pair in apart if pair.relation in AMOUNTS]
    turned = [*_antonyms(laid, apart), *_negations(laid), *_restricted(laid)]
    if bool(names) + bool(amounts) + bool(turned) > 1:
        return None
    if names:
        return _names(laid, names)
    if amounts:
        return _amounts(laid, amounts)
    if turned:
        first = next((change for change in turned if change is not None), None)
        return first if len(turned) % 2 and not _hedged(laid) else None
    mine, its = (" ".join(word.text for word in row[:MOST_SHOWN]) for row in (laid.claim, laid.passage))
    if _turned(laid.claim, laid.unmatched, laid.beside.keys()):
        return Difference("roles", mine, its, "by")
    return Difference("roles", mine, its, mine) if _turned(laid.passage, laid.skipped, laid.beside.values()) else None


def apart(laid: TextAlignment, whole: Sequence[Item]) -> bool:
    """Whether nothing that differs from the sentence's part is said elsewhere in the whole of it: in its brackets."""
    differing = [laid.claim[pair.claim] for pair in laid.pairs if pair.relation != "same"]
    return not any(related(word, other) == "same" or word.key == other.key for word in differing for other in whole)


def _anchored(laid: TextAlignment, pair: AlignedPair) -> bool:
    """Whether pairs hold a difference in place: right beside it on one side, and close by on the other."""
    at = laid.pairs.index(pair)
    before = _distance(laid, laid.pairs[at - 1], pair) if at else None
    after = _distance(laid, pair, laid.pairs[at + 1]) if at + 1 < len(laid.pairs) else None
    left = all(word.key in ARTICLES for word in laid.claim[: pair.claim]) if before is None else before <= NEARBY
    right = pair.claim + 1 == len(laid.claim) if after is None else after <= NEARBY
    return left and right and 1 in (before, after)


def _embedded(laid: TextAlignment, pair: AlignedPair, way: Literal[1, -1], most: int | None = None) -> bool:
    """Whether pairs without a gap lead from a name to an item with content, or to the end of the claim.

    With `most`, that many gaps may be words said otherwise, and the end of the claim is not enough.
    """
    left = most or 0
    run = [pair, *[other for other in laid.pairs if (other.claim - pair.claim) * way > 0][::way]]
    for first, last in pairwise(run):
        if _distance(laid, *sorted((first, last))) > 1:
            left -= 1
            if left < 0 or not _reworded(laid, *sorted((first, last))):
                return False
        if laid.claim[last.claim].content:
            return True
    end = run[-1].claim
    return most is None and all(map(_leads, laid.claim[end + 1 :] if way > 0 else laid.claim[:end]))


def _reworded(laid: TextAlignment, first: AlignedPair, last: AlignedPair) -> bool:
    """Whether both sides have a word or two between two neighbouring pairs: "put out" for "released"."""
    rows = laid.between(first, last)
    short = all(0 < len(row) <= MOST_REWORDED for row in rows)
    return short and all(word.kind == "word" and not word.negates for row in rows for word in row)


def _distance(laid: TextAlignment, first: AlignedPair, last: AlignedPair) -> int:
    """How far apart two neighbouring pairs stand; an article or a title between them is a part of the name."""
    return 1 + max(sum(not _leads(word) for word in row) for row in laid.between(first, last))


def _leads(item: Item) -> bool:
    return item.kind == "word" and (item.text[0].isupper() or item.key in ARTICLES)


def _names(laid: TextAlignment, names: Sequence[AlignedPair]) -> Difference | None:
    """One name for another throughout, or names that changed places."""
    changes = {(laid.claim[pair.claim].key, laid.passage[pair.passage].key) for pair in names}
    if len(changes) == 1:
        if any(_elsewhere(laid, pair) for pair in names):
            return None
        mine, its = laid.words(names[0])
        held = any(
            _embedded(laid, names[0], 1, after) and _embedded(laid, names[0], -1, before)
            for after, before in ((None, None), (0, 1), (1, 0))
        )
        return Difference("name", mine, its, mine) if held else None
    return _exchanged(laid, names, "roles") if len(names) == len(changes) else None


def _elsewhere(laid: TextAlignment, pair: AlignedPair) -> bool:
    """Whether the sentence has the claim's name or number too, in another place: of a list, another member differs."""
    paired = {pair.passage for pair in laid.pairs}
    mine = laid.claim[pair.claim]
    return any(related(mine, its) == "same" for at, its in enumerate(laid.passage) if at not in paired)


def _amounts(laid: TextAlignment, amounts: Sequence[AlignedPair]) -> Difference | None:
    """One number or date for another, or two numbers that changed places."""
    if len(amounts) > 1:
        return _exchanged(laid, amounts, "number")
    (pair,) = amounts
    if _elsewhere(laid, pair):
        return None
    if any(laid.claim[at].kind == "number" for at in laid.unmatched if abs(at - pair.claim) == 1) or any(
        laid.passage[at].kind == "number" for at in laid.skipped if abs(at - pair.passage) == 1
    ):
        return None  # a part of a longer number: "seventy - seven"
    mine, its = laid.words(pair)
    kind: Kind = pair.relation if pair.relation in ("unit", "date") else "number"
    if kind == "number":
        mine, its = laid.claim[pair.claim].figure or mine, laid.passage[pair.passage].figure or its
    return Difference(kind, mine, its, mine) if _anchored(laid, pair) else None


def _exchanged(laid: TextAlignment, pairs: Sequence[AlignedPair], kind: Kind) -> Difference | None:
    """The same items in another order, where the order means something."""
    mine, its = [laid.claim[pair.claim].key for pair in pairs], [laid.passage[pair.passage].key for pair in pairs]
    if sorted(mine) != sorted(its) or _interchangeable(laid, pairs):
        return None
    stated, there = (" … ".join(laid.words(pair)[side] for pair in pairs) for side in (0, 1))
    return Difference(kind, stated, there, stated)


def _interchangeable(laid: TextAlignment, pairs: Sequence[AlignedPair]) -> bool:
    """Whether the order of these means nothing: a list, a symmetric verb, active here and passive there."""
    inside = laid.claim[pairs[0].claim + 1 : pairs[-1].claim]
    keys = {word.key for word in inside}
    if not any(word.content and word.kind == "word" for word in inside) or keys & SYMMETRIC:
        return True
    alone = {laid.claim[at].key for at in laid.unmatched} | {laid.passage[at].key for at in laid.skipped}
    return bool(alone & {"by", "be", "than"})


def _antonyms(laid: TextAlignment, apart: Sequence[AlignedPair]) -> Iterator[Difference | None]:
    """Words of which one excludes the other; None for one that nothing holds in place."""
    for pair in apart:
        kind = pair.relation
        if kind == "antonym" or kind == "quantifier" or kind == "comparative":
            mine, its = laid.words(pair)
            yield Difference(kind, mine, its, mine) if _anchored(laid, pair) else None


def _hedged(laid: TextAlignment) -> bool:
    """Whether only one side asks or supposes: "to see whether it works" and "it does not work" go together."""
    paired = {pair.passage for pair in laid.pairs}
    there = range(laid.pairs[-1].passage)
    return any(laid.passage[at].key in HEDGES for at in there if at not in paired) or any(
        laid.claim[at].key in HEDGES for at in laid.unmatched
    )


def _negations(laid: TextAlignment) -> Iterator[Difference | None]:
    """Negations that only one side has; None for one whose negated word the other side does not have."""
    if any(laid.claim[at].key in FAILED for at in laid.unmatched) or any(
        laid.passage[at].key in FAILED for at in laid.skipped
    ):
        return  # "has failed to do" is "has not done"
    ahead = {its: mine for mine, its in laid.beside.items()}
    for at in laid.unmatched:
        if laid.claim[at].negates and not _second_half(laid.claim, at):
            yield _negation(laid.claim, at, laid.beside, laid.passage, "claim", laid.replaced)
    for at in laid.skipped:
        if laid.passage[at].negates and not _second_half(laid.passage, at):
            yield _negation(laid.passage, at, ahead, laid.claim, "passage", laid.replaced)


def _second_half(row: Sequence[Item], at: int) -> bool:
    """Whether it is the "nor" of a "neither", which denies no more than that does."""
    return row[at].key == "nor" and any(word.key == "neither" for word in row[:at])


def _negation(
    row: Sequence[Item],
    at: int,
    beside: dict[int, int],
    others: Sequence[Item],
    side: Side,
    replaced: Sequence[AlignedPair],
) -> Difference | None:
    if any(word.key in UNTIL and there not in beside for there, word in enumerate(row) if there > at):
        return None  # "not until May" is "in May"
    held = _negated(row, at)
    if held is None or held not in beside:
        return None
    if any(0 <= getattr(pair, side) - held < REACH for pair in replaced):
        return None  # "not made of wood" denies no "made of steel"
    first = at - 1 if at and held > at else at
    here = " ".join(dict.fromkeys(word.text for word in row[min(first, held) : max(at, held) + 1]))
    start = beside.get(first, beside[held]) if held > at else beside[held]
    there = " ".join(dict.fromkeys(word.text for word in others[max(start, beside[held] - REACH) : beside[held] + 1]))
    if side == "claim":
        return Difference("negation", here, there, row[at].text)
    return Difference("negation", there, here, others[beside[held]].text)


def _negated(row: Sequence[Item], at: int) -> int | None:
    """The item that a negation turns round: the next one with content, or the last one before."""
    after = (there for there in range(at + 1, min(len(row), at + 1 + REACH)) if row[there].content)
    before = (there for there in range(at - 1, max(-1, at - 1 - REACH), -1) if row[there].content)
    return next(after, next(before, None))


def _restricted(laid: TextAlignment) -> Iterator[Difference]:
    """An "only" that the claim adds between words that stand side by side in the sentence; "only 3" adds nothing.

    Nor does one for which the sentence has a "just" in another place.
    """
    if any(laid.passage[at].key in JUST for at in laid.skipped):
        return
    for at in laid.unmatched:
        there = laid.beside.get(at + 1)
        if laid.claim[at].key != "only" or there is None:
            continue
        following = laid.claim[at + 1]
        beside = there == 0 if at == 0 else laid.beside.get(at - 1) == there - 1
        if beside and following.kind != "number" and following.key not in ("half", "a"):
            text = laid.claim[at].text
            yield Difference("quantifier", f"{text} {following.text}", laid.passage[there].text, text)


def _turned(row: Sequence[Item], alone: Sequence[int], paired: Collection[int]) -> bool:
    """Whether one is active and the other passive: "was … by" stands around a verb here only, and names around that."""
    be = next((at for at in alone if row[at].key == "be"), 0)
    by = next((at for at in alone if row[at].key == "by"), 0)
    if not 0 < be < by < min(len(row) - 1, be + NEARBY + 1) or by - 1 not in paired:
        return False
    return all(at in paired and row[at].kind == "name" for at in (be - 1, by + 1))
