"""Where a text holds a quotation, which a model may have copied with small slips."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import pairwise

from ragauge.engine.retrievers import STOP_WORDS
from ragauge.testsets.shingles import placed_words
from ragauge.text.sentences import split

ALIKE = 0.9  # of a quotation that is not verbatim, at least
FEW = 3  # words below which a quotation is no evidence by itself
NEGATIONS = frozenset(
    ["not", "no", "never", "none", "nobody", "nothing", "nowhere", "neither", "nor", "without", "cannot"]
)


def quoted(quote: str, text: str) -> tuple[int, int] | None:
    """Where a text holds a quotation: verbatim, else where its words stand in their order, as alike as 0.9.

    Alike = m / max(q, t) with m words in common order, q words of the quotation, t of the stretch found. Numbers and
    negations are the same in both.

    Returns:
        (start, end) in characters; None where it holds none such.

    >>> quoted("hub is grey", "The hub is grey."), quoted("The Hub, is grey!", "See: the hub is grey."), quoted("a", "")
    ((4, 15), (5, 20), None)
    """
    if quote and (start := text.find(quote)) >= 0:
        return start, start + len(quote)
    own, there = placed_words(quote), placed_words(text)
    wanted, words = [word for word, _, _ in own], [word for word, _, _ in there]
    seed = SequenceMatcher(None, wanted, words, autojunk=False).find_longest_match()
    if not seed.size:
        return None
    slack = max(2, len(wanted) // 5)
    low = max(0, seed.b - seed.a - slack)
    high = min(len(words), seed.b - seed.a + len(wanted) + slack)
    matched = SequenceMatcher(None, wanted, words[low:high], autojunk=False).get_matching_blocks()[:-1]
    first, last = low + matched[0].b, low + matched[-1].b + matched[-1].size
    if sum(block.size for block in matched) < ALIKE * max(len(wanted), last - first):
        return None
    if _decisive(wanted) != _decisive(words[first:last]):
        return None
    start, end = there[first][1], there[last - 1][2]
    tail = quote[own[-1][2] :].strip()
    return start, end + len(tail) * text.startswith(tail, end)


def _decisive(words: Sequence[str]) -> Counter[str]:
    """Numbers, and how often something is denied, "n't" too: of these one word makes another statement."""
    contracted = sum(two[1] == "t" and two[0].endswith("n") for two in pairwise(words))
    denied = contracted + sum(word in NEGATIONS for word in words)
    return Counter([*(word for word in words if any(map(str.isdigit, word))), *["not"] * denied])


def evident(quote: str, answer: str, text: str) -> tuple[int, int] | None:
    """Where a text holds a quotation that shows an answer: as `quoted`, but one that shows too little counts for less.

    A quotation of fewer than three words, or of none but frequent ones, shows something only where it is the answer and
    stands in one sentence of the text alone: then that sentence is the evidence.

    Returns:
        (start, end) in characters; None where the text does not hold it, or it shows too little.

    >>> evident("30 days", "30 days.", "Be quick. A hub can be returned within 30 days."), evident("a", "a", "a hub")
    ((10, 47), None)
    """
    place = quoted(quote, text)
    if place is None or not shows_little(quote):
        return place
    if not _content(quote) or _content(quote) != _content(answer):
        return None
    wanted = [word for word, _, _ in placed_words(quote)]
    holding = [one for one in split(text) if _holds([word for word, _, _ in placed_words(one.text)], wanted)]
    return (holding[0].start, holding[0].end) if len(holding) == 1 else None


def shows_little(quote: str) -> bool:
    """Whether a quotation has fewer than three words, or only frequent ones."""
    return len(placed_words(quote)) < FEW or not _content(quote)


def _content(text: str) -> list[str]:
    found = (word for word, _, _ in placed_words(text) if word not in STOP_WORDS)
    return [word for word in found if len(word) > 1 or not (word.isascii() and word.isalpha())]


def _holds(words: Sequence[str], wanted: Sequence[str]) -> bool:
    return any(words[n : n + len(wanted)] == wanted for n in range(len(words)))
