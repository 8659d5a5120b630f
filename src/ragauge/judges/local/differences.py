"""The one thing in which a near-copy differs from a sentence, so that both cannot be true."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Literal, NamedTuple

from ragauge.judges.local.align import AlignedPair, align_items, find_relation
from ragauge.judges.local.english import HEDGES
from ragauge.judges.local.items import Item
from ragauge.text.word_files import read_words

WORDS = read_words(__file__, "differences")

Kind = Literal["negation", "name", "roles", "number", "unit", "date", "quantifier", "comparative", "antonym"]
Side = Literal["claim", "passage"]

MIN_EQUAL_ITEMS = 2  # equal items with content that a near-copy has, unless it is a copy but for the difference
MIN_EQUAL_SHARE = 0.7  # share of the claim's items with content that have an equal partner; measured from 0.5 to 0.8
MAX_GAP_ITEMS = 3  # items within which the next pair stands on the looser side of a difference
NEGATION_REACH_ITEMS = 4  # items behind a negation among which the negated one is looked for
MAX_REWORDED = 2  # words that stand for others on one side of a name
ARTICLES = ("the", "a", "an")
UNTIL_WORDS = frozenset(["until", "unless", "till"])
JUST_WORDS = frozenset(["just", "merely", "solely"])
FAIL_WORDS = frozenset(["fail"])
MAX_SHOWN_WORDS = 8  # words of a sentence in a reason
SYMMETRIC_WORDS = frozenset(WORDS["symmetric"].split())  # bases of words that join two sides alike
AMOUNT_KINDS: frozenset[str] = frozenset(["number", "unit", "date"])


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
        return [index for index in range(len(self.claim)) if index not in paired]

    @cached_property
    def skipped_items(self) -> list[int]:
        """The passage's items without a partner between the first pair and the last, and a negation right before."""
        paired = {pair.passage for pair in self.pairs}
        first, last = self.pairs[0].passage, self.pairs[-1].passage
        if first and self.passage[first - 1].is_negation:
            first -= 1
        return [index for index in range(first, last) if index not in paired]

    @cached_property
    def replaced_pairs(self) -> list[AlignedPair]:
        """Pairs right before a stretch where both sides say something that the other does not."""
        preceding_pairs = []
        for first, last in pairwise(self.pairs):
            if all(any(word.content for word in row) for row in self.list_between(first, last)):
                preceding_pairs.append(first)
        end = self.pairs[-1]
        if any(word.content for word in self.claim[end.claim + 1 :]) and self.passage[end.passage + 1 :]:
            preceding_pairs.append(end)
        return preceding_pairs

    def list_between(self, first: AlignedPair, last: AlignedPair) -> tuple[Sequence[Item], Sequence[Item]]:
        """The items of both sides between two pairs."""
        return self.claim[first.claim + 1 : last.claim], self.passage[first.passage + 1 : last.passage]

    def words(self, pair: AlignedPair) -> tuple[str, str]:
        """Both sides of a pair, as written."""
        return self.claim[pair.claim].text, self.passage[pair.passage].text


def align_texts(claim: Sequence[Item], passage: Sequence[Item]) -> TextAlignment | None:
    """The claim beside the sentence; None unless it is a near-copy of a part of it.

    Of the claim's items with content NEAR_COPY have an equal partner; those that differ from theirs do not count.
    """
    alignment = TextAlignment(claim, passage, align_items(claim, passage))
    differing = {pair.claim for pair in alignment.pairs if pair.relation != "same"}
    n_content = sum(word.content and index not in differing for index, word in enumerate(claim))
    n_equal = sum(claim[index].content for index in alignment.beside)
    if not n_equal or n_equal < MIN_EQUAL_SHARE * n_content:
        return None
    if n_equal >= MIN_EQUAL_ITEMS:
        return alignment
    paired = {pair.passage for pair in alignment.pairs}
    leftover = [word for index, word in enumerate(passage) if index not in paired] + [
        claim[index] for index in alignment.unmatched
    ]
    return None if any(word.content for word in leftover) else alignment


def is_stated(alignment: TextAlignment) -> bool:
    """Whether the sentence says all that the claim says, as far as can be seen."""
    if len(alignment.beside) < len(alignment.pairs):
        return False
    alone = any(alignment.claim[index].content or alignment.claim[index].is_negation for index in alignment.unmatched)
    return (
        not alone
        and not any(alignment.passage[index].is_negation for index in alignment.skipped_items)
        and find_difference(alignment) is None
    )


def find_difference(alignment: TextAlignment) -> Difference | None:
    """The difference, where there is exactly one that makes the two exclude one another.

    With several, the two speak of different things: another hub with another time. Two that undo one another ("not
    open", "closed") are none.
    """
    differing = [pair for pair in alignment.pairs if pair.relation != "same"]
    if any(pair.relation == "label" for pair in differing):
        return None
    names = [pair for pair in differing if pair.relation == "name"]
    amounts = [pair for pair in differing if pair.relation in AMOUNT_KINDS]
    exclusions = [*_find_antonyms(alignment, differing), *_find_negations(alignment), *_find_restrictions(alignment)]
    if bool(names) + bool(amounts) + bool(exclusions) > 1:
        return None
    if names:
        return _find_name_difference(alignment, names)
    if amounts:
        return _find_amount_difference(alignment, amounts)
    if exclusions:
        first = next((change for change in exclusions if change is not None), None)
        return first if len(exclusions) % 2 and not _is_hedged(alignment) else None
    claim_text, passage_text = (
        " ".join(word.text for word in row[:MAX_SHOWN_WORDS]) for row in (alignment.claim, alignment.passage)
    )
    if _is_passive_swap(alignment.claim, alignment.unmatched, alignment.beside.keys()):
        return Difference("roles", claim_text, passage_text, "by")
    return (
        Difference("roles", claim_text, passage_text, claim_text)
        if _is_passive_swap(alignment.passage, alignment.skipped_items, alignment.beside.values())
        else None
    )


def is_absent_elsewhere(alignment: TextAlignment, sentence_items: Sequence[Item]) -> bool:
    """Whether nothing that differs from the sentence's part is said elsewhere in the whole of it: in its brackets."""
    differing = [alignment.claim[pair.claim] for pair in alignment.pairs if pair.relation != "same"]
    return not any(
        find_relation(word, other) == "same" or word.key == other.key for word in differing for other in sentence_items
    )


def _is_anchored(alignment: TextAlignment, pair: AlignedPair) -> bool:
    """Whether pairs hold a difference in place: right beside it on one side, and close by on the other."""
    index = alignment.pairs.index(pair)
    before = _compute_distance(alignment, alignment.pairs[index - 1], pair) if index else None
    after = _compute_distance(alignment, pair, alignment.pairs[index + 1]) if index + 1 < len(alignment.pairs) else None
    is_left_held = (
        all(word.key in ARTICLES for word in alignment.claim[: pair.claim])
        if before is None
        else before <= MAX_GAP_ITEMS
    )
    is_right_held = pair.claim + 1 == len(alignment.claim) if after is None else after <= MAX_GAP_ITEMS
    return is_left_held and is_right_held and 1 in (before, after)


def _is_embedded(alignment: TextAlignment, pair: AlignedPair, way: Literal[1, -1], max_gaps: int | None = None) -> bool:
    """Whether pairs without a gap lead from a name to an item with content, or to the end of the claim.

    With `max_gaps`, that many gaps may be words said otherwise, and the end of the claim is not enough.
    """
    gaps_left = max_gaps or 0
    run = [pair, *[other for other in alignment.pairs if (other.claim - pair.claim) * way > 0][::way]]
    for first, last in pairwise(run):
        if _compute_distance(alignment, *sorted((first, last))) > 1:
            gaps_left -= 1
            if gaps_left < 0 or not _is_reworded(alignment, *sorted((first, last))):
                return False
        if alignment.claim[last.claim].content:
            return True
    end = run[-1].claim
    return max_gaps is None and all(map(_is_leading, alignment.claim[end + 1 :] if way > 0 else alignment.claim[:end]))


def _is_reworded(alignment: TextAlignment, first: AlignedPair, last: AlignedPair) -> bool:
    """Whether both sides have a word or two between two neighbouring pairs: "put out" for "released"."""
    rows = alignment.list_between(first, last)
    short = all(0 < len(row) <= MAX_REWORDED for row in rows)
    return short and all(word.kind == "word" and not word.is_negation for row in rows for word in row)


def _compute_distance(alignment: TextAlignment, first: AlignedPair, last: AlignedPair) -> int:
    """How far apart two neighbouring pairs stand; an article or a title between them is a part of the name."""
    return 1 + max(sum(not _is_leading(word) for word in row) for row in alignment.list_between(first, last))


def _is_leading(item: Item) -> bool:
    return item.kind == "word" and (item.text[0].isupper() or item.key in ARTICLES)


def _find_name_difference(alignment: TextAlignment, names: Sequence[AlignedPair]) -> Difference | None:
    """One name for another throughout, or names that changed places."""
    changes = {(alignment.claim[pair.claim].key, alignment.passage[pair.passage].key) for pair in names}
    if len(changes) == 1:
        if any(_is_elsewhere(alignment, pair) for pair in names):
            return None
        claim_name, passage_name = alignment.words(names[0])
        is_held = any(
            _is_embedded(alignment, names[0], 1, gaps_after) and _is_embedded(alignment, names[0], -1, gaps_before)
            for gaps_after, gaps_before in ((None, None), (0, 1), (1, 0))
        )
        return Difference("name", claim_name, passage_name, claim_name) if is_held else None
    return _find_exchange(alignment, names, "roles") if len(names) == len(changes) else None


def _is_elsewhere(alignment: TextAlignment, pair: AlignedPair) -> bool:
    """Whether the sentence has the claim's name or number too, in another place: of a list, another member differs."""
    paired = {pair.passage for pair in alignment.pairs}
    claim_item = alignment.claim[pair.claim]
    return any(
        find_relation(claim_item, passage_item) == "same"
        for index, passage_item in enumerate(alignment.passage)
        if index not in paired
    )


def _find_amount_difference(alignment: TextAlignment, amounts: Sequence[AlignedPair]) -> Difference | None:
    """One number or date for another, or two numbers that changed places."""
    if len(amounts) > 1:
        return _find_exchange(alignment, amounts, "number")
    (pair,) = amounts
    if _is_elsewhere(alignment, pair):
        return None
    if any(
        alignment.claim[index].kind == "number" for index in alignment.unmatched if abs(index - pair.claim) == 1
    ) or any(
        alignment.passage[index].kind == "number" for index in alignment.skipped_items if abs(index - pair.passage) == 1
    ):
        return None  # a part of a longer number: "seventy - seven"
    claim_text, passage_text = alignment.words(pair)
    kind: Kind = pair.relation if pair.relation in ("unit", "date") else "number"
    if kind == "number":
        claim_text, passage_text = (
            alignment.claim[pair.claim].figure or claim_text,
            alignment.passage[pair.passage].figure or passage_text,
        )
    return Difference(kind, claim_text, passage_text, claim_text) if _is_anchored(alignment, pair) else None


def _find_exchange(alignment: TextAlignment, pairs: Sequence[AlignedPair], kind: Kind) -> Difference | None:
    """The same items in another order, where the order means something."""
    claim_keys, passage_keys = (
        [alignment.claim[pair.claim].key for pair in pairs],
        [alignment.passage[pair.passage].key for pair in pairs],
    )
    if sorted(claim_keys) != sorted(passage_keys) or _is_interchangeable(alignment, pairs):
        return None
    claim_text, passage_text = (" … ".join(alignment.words(pair)[side] for pair in pairs) for side in (0, 1))
    return Difference(kind, claim_text, passage_text, claim_text)


def _is_interchangeable(alignment: TextAlignment, pairs: Sequence[AlignedPair]) -> bool:
    """Whether the order of these means nothing: a list, a symmetric verb, active here and passive there."""
    inside = alignment.claim[pairs[0].claim + 1 : pairs[-1].claim]
    keys = {word.key for word in inside}
    if not any(word.content and word.kind == "word" for word in inside) or keys & SYMMETRIC_WORDS:
        return True
    alone = {alignment.claim[index].key for index in alignment.unmatched} | {
        alignment.passage[index].key for index in alignment.skipped_items
    }
    return bool(alone & {"by", "be", "than"})


def _find_antonyms(alignment: TextAlignment, differing: Sequence[AlignedPair]) -> Iterator[Difference | None]:
    """Words of which one excludes the other; None for one that nothing holds in place."""
    for pair in differing:
        kind = pair.relation
        if kind == "antonym" or kind == "quantifier" or kind == "comparative":
            claim_text, passage_text = alignment.words(pair)
            yield Difference(kind, claim_text, passage_text, claim_text) if _is_anchored(alignment, pair) else None


def _is_hedged(alignment: TextAlignment) -> bool:
    """Whether only one side asks or supposes: "to see whether it works" and "it does not work" go together."""
    paired = {pair.passage for pair in alignment.pairs}
    spanned = range(alignment.pairs[-1].passage)
    return any(alignment.passage[index].key in HEDGES for index in spanned if index not in paired) or any(
        alignment.claim[index].key in HEDGES for index in alignment.unmatched
    )


def _find_negations(alignment: TextAlignment) -> Iterator[Difference | None]:
    """Negations that only one side has; None for one whose negated word the other side does not have."""
    if any(alignment.claim[index].key in FAIL_WORDS for index in alignment.unmatched) or any(
        alignment.passage[index].key in FAIL_WORDS for index in alignment.skipped_items
    ):
        return  # "has failed to do" is "has not done"
    ahead = {passage_index: claim_index for claim_index, passage_index in alignment.beside.items()}
    for index in alignment.unmatched:
        if alignment.claim[index].is_negation and not _is_nor(alignment.claim, index):
            yield _build_negation(
                alignment.claim, index, alignment.beside, alignment.passage, "claim", alignment.replaced_pairs
            )
    for index in alignment.skipped_items:
        if alignment.passage[index].is_negation and not _is_nor(alignment.passage, index):
            yield _build_negation(alignment.passage, index, ahead, alignment.claim, "passage", alignment.replaced_pairs)


def _is_nor(row: Sequence[Item], index: int) -> bool:
    """Whether it is the "nor" of a "neither", which denies no more than that does."""
    return row[index].key == "nor" and any(word.key == "neither" for word in row[:index])


def _build_negation(
    row: Sequence[Item],
    index: int,
    partners: dict[int, int],
    others: Sequence[Item],
    side: Side,
    replaced: Sequence[AlignedPair],
) -> Difference | None:
    if any(word.key in UNTIL_WORDS and there not in partners for there, word in enumerate(row) if there > index):
        return None  # "not until May" is "in May"
    negated = _find_negated(row, index)
    if negated is None or negated not in partners:
        return None
    if any(0 <= getattr(pair, side) - negated < NEGATION_REACH_ITEMS for pair in replaced):
        return None  # "not made of wood" denies no "made of steel"
    first = index - 1 if index and negated > index else index
    here = " ".join(dict.fromkeys(word.text for word in row[min(first, negated) : max(index, negated) + 1]))
    start = partners.get(first, partners[negated]) if negated > index else partners[negated]
    there = " ".join(
        dict.fromkeys(
            word.text for word in others[max(start, partners[negated] - NEGATION_REACH_ITEMS) : partners[negated] + 1]
        )
    )
    if side == "claim":
        return Difference("negation", here, there, row[index].text)
    return Difference("negation", there, here, others[partners[negated]].text)


def _find_negated(row: Sequence[Item], index: int) -> int | None:
    """The item that a negation turns round: the next one with content, or the last one before."""
    after = (
        position
        for position in range(index + 1, min(len(row), index + 1 + NEGATION_REACH_ITEMS))
        if row[position].content
    )
    before = (
        position
        for position in range(index - 1, max(-1, index - 1 - NEGATION_REACH_ITEMS), -1)
        if row[position].content
    )
    return next(after, next(before, None))


def _find_restrictions(alignment: TextAlignment) -> Iterator[Difference]:
    """An "only" that the claim adds between words that stand side by side in the sentence; "only 3" adds nothing.

    Nor does one for which the sentence has a "just" in another place.
    """
    if any(alignment.passage[index].key in JUST_WORDS for index in alignment.skipped_items):
        return
    for index in alignment.unmatched:
        passage_index = alignment.beside.get(index + 1)
        if alignment.claim[index].key != "only" or passage_index is None:
            continue
        following = alignment.claim[index + 1]
        is_adjacent = passage_index == 0 if index == 0 else alignment.beside.get(index - 1) == passage_index - 1
        if is_adjacent and following.kind != "number" and following.key not in ("half", "a"):
            text = alignment.claim[index].text
            yield Difference("quantifier", f"{text} {following.text}", alignment.passage[passage_index].text, text)


def _is_passive_swap(row: Sequence[Item], alone: Sequence[int], paired: Collection[int]) -> bool:
    """Whether one is active and the other passive: "was … by" stands around a verb here only, and names around that."""
    be = next((index for index in alone if row[index].key == "be"), 0)
    by = next((index for index in alone if row[index].key == "by"), 0)
    if not 0 < be < by < min(len(row) - 1, be + MAX_GAP_ITEMS + 1) or by - 1 not in paired:
        return False
    return all(index in paired and row[index].kind == "name" for index in (be - 1, by + 1))
