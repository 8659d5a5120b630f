"""Where a text holds a quotation, which a model may have copied with small slips."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import pairwise

from ragauge.engine.retrievers import STOP_WORDS
from ragauge.testsets.shingles import locate_words
from ragauge.text.sentences import split_sentences

MIN_SIMILARITY = 0.9  # of a quotation that is not verbatim, at least
MIN_QUOTE_WORDS = 3  # words below which a quotation is no evidence by itself
NEGATIONS = frozenset(
    ["not", "no", "never", "none", "nobody", "nothing", "nowhere", "neither", "nor", "without", "cannot"]
)


def find_quotation(quote: str, text: str) -> tuple[int, int] | None:
    """Where a text holds a quotation: verbatim, else where its words stand in their order, as alike as 0.9.

    Alike = m / max(q, t) with m words in common order, q words of the quotation, t of the stretch found. Numbers and
    negations are the same in both.

    Returns:
        (start, end) in characters; None where it holds none such.

    >>> (find_quotation("hub is grey", "The hub is grey."),
    ...     find_quotation("The Hub, is grey!", "See: the hub is grey."), find_quotation("a", ""))
    ((4, 15), (5, 20), None)
    """
    if quote and (start := text.find(quote)) >= 0:
        return start, start + len(quote)
    placed_quote, placed_text = locate_words(quote), locate_words(text)
    quote_words, words = [word for word, _, _ in placed_quote], [word for word, _, _ in placed_text]
    seed = SequenceMatcher(None, quote_words, words, autojunk=False).find_longest_match()
    if not seed.size:
        return None
    slack = max(2, len(quote_words) // 5)
    low = max(0, seed.b - seed.a - slack)
    high = min(len(words), seed.b - seed.a + len(quote_words) + slack)
    matched = SequenceMatcher(None, quote_words, words[low:high], autojunk=False).get_matching_blocks()[:-1]
    first, last = low + matched[0].b, low + matched[-1].b + matched[-1].size
    if sum(block.size for block in matched) < MIN_SIMILARITY * max(len(quote_words), last - first):
        return None
    if _count_decisive(quote_words) != _count_decisive(words[first:last]):
        return None
    start, end = placed_text[first][1], placed_text[last - 1][2]
    tail = quote[placed_quote[-1][2] :].strip()
    return start, end + len(tail) * text.startswith(tail, end)


def _count_decisive(words: Sequence[str]) -> Counter[str]:
    """Numbers, and how often something is denied, "n't" too: of these one word makes another statement."""
    contracted = sum(two[1] == "t" and two[0].endswith("n") for two in pairwise(words))
    denied = contracted + sum(word in NEGATIONS for word in words)
    return Counter([*(word for word in words if any(map(str.isdigit, word))), *["not"] * denied])


def find_evident_quotation(quote: str, answer: str, text: str) -> tuple[int, int] | None:
    """Where a text holds a quotation that shows an answer.

    As `find_quotation`, but a quotation that shows too little counts for less.

    A quotation of fewer than three words, or of none but frequent ones, shows something only where it is the answer and
    stands in one sentence of the text alone: then that sentence is the evidence.

    Returns:
        (start, end) in characters; None where the text does not hold it, or it shows too little.

    >>> (find_evident_quotation("30 days", "30 days.", "Be quick. A hub can be returned within 30 days."),
    ...     find_evident_quotation("a", "a", "a hub"))
    ((10, 47), None)
    """
    bounds = find_quotation(quote, text)
    if bounds is None or not is_weak_quotation(quote):
        return bounds
    if not _list_content_words(quote) or _list_content_words(quote) != _list_content_words(answer):
        return None
    quote_words = [word for word, _, _ in locate_words(quote)]
    holding = [
        sentence
        for sentence in split_sentences(text)
        if _has_sequence([word for word, _, _ in locate_words(sentence.text)], quote_words)
    ]
    return (holding[0].start, holding[0].end) if len(holding) == 1 else None


def is_weak_quotation(quote: str) -> bool:
    """Whether a quotation has fewer than three words, or only frequent ones."""
    return len(locate_words(quote)) < MIN_QUOTE_WORDS or not _list_content_words(quote)


def _list_content_words(text: str) -> list[str]:
    candidates = (word for word, _, _ in locate_words(text) if word not in STOP_WORDS)
    return [word for word in candidates if len(word) > 1 or not (word.isascii() and word.isalpha())]


def _has_sequence(words: Sequence[str], sequence: Sequence[str]) -> bool:
    return any(words[n : n + len(sequence)] == sequence for n in range(len(words)))
