"""The words of a question that carry it, in any language whose frequent words are known."""

from __future__ import annotations

from ragauge.engine.retrievers import STOP_WORDS
from ragauge.text.language import frequent, guess
from ragauge.text.tokens import stem, words


def common_words(text: str) -> frozenset[str]:
    """Words that say little, in the language of a text: question words and the most frequent ones."""
    language = guess(text)
    return STOP_WORDS if language in ("en", "und") else frequent(language)


def content_stems(text: str) -> set[str]:
    """The stems of a text's other words.

    >>> sorted(content_stems("How many of the computers were paired?"))
    ['computer', 'pair']
    """
    common = common_words(text)
    return {stem(word) for word in words(text) if word not in common}
