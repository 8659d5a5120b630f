"""The words of a question that carry it, in any language whose frequent words are known."""

from __future__ import annotations

from ragauge.engine.retrievers import STOP_WORDS
from ragauge.text.language import guess_language, list_frequent_words
from ragauge.text.tokens import split_words, stem_word


def list_common_words(text: str) -> frozenset[str]:
    """Words that say little, in the language of a text: question words and the most frequent ones."""
    language = guess_language(text)
    return STOP_WORDS if language in ("en", "und") else list_frequent_words(language)


def extract_content_stems(text: str) -> set[str]:
    """The stems of a text's other words.

    >>> sorted(extract_content_stems("How many of the computers were paired?"))
    ['computer', 'pair']
    """
    common = list_common_words(text)
    return {stem_word(word) for word in split_words(text) if word not in common}
