"""A text as index terms, and how much each term says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from math import log

from ragauge.text.tokens import ENGLISH, stem, words

# words that shape a question and say nothing about its subject
ASKING = """
    anybody anyone anything cannot does else get gets getting give go going got happen happens if kind let like make
    makes many much need needs nobody nothing one ones please possible say says somebody someone something sort still
    take takes tell thing things use used uses using via want wants way yes
"""
IGNORED = ENGLISH.union(ASKING.split())


def terms(text: str) -> list[str]:
    """The index terms of a text, in order, repeats kept: its words without stop words, stemmed.

    >>> terms("How many of the computers were paired?")
    ['computer', 'pair']
    """
    return [stem(word) for word in words(text) if word not in IGNORED]


class TermWeights:
    """How much a term says: idf(t) = ln(1 + (n - n_t + 0.5) / (n_t + 0.5)), the weight of BM25.

    n is the number of texts and n_t the number that hold t; a term that no text holds has the greatest weight.
    """

    def __init__(self, texts: Iterable[Iterable[str]]) -> None:
        held: Counter[str] = Counter()
        n = 0
        for text in texts:
            held.update(set(text))
            n += 1
        self._weights = {term: log(1 + (n - count + 0.5) / (count + 0.5)) for term, count in held.items()}
        self._unseen = log(1 + (n + 0.5) / 0.5)

    def __getitem__(self, term: str) -> float:
        return self._weights.get(term, self._unseen)

    def __contains__(self, term: str) -> bool:
        return term in self._weights
