"""A set made from a corpus."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ragauge.data.document import Document
from ragauge.data.set_file import SetLine
from ragauge.testsets.corpus_view import CorpusCounts, CorpusView
from ragauge.testsets.known_item import FIT, known_items


@dataclass(frozen=True)
class GeneratedSet:
    """Questions with their labels, and what they came from.

    Attributes:
        lines: an example each.
        wanted: how many were asked for.
        corpus: what it holds.
        topics: groups of documents that were drawn from evenly.
        fit: what the set serves, and what not.
    """

    lines: tuple[SetLine, ...]
    wanted: int
    corpus: CorpusCounts
    topics: int
    fit: str


def generated(documents: Sequence[Document], n: int, seed: int = 7) -> GeneratedSet:
    """Known-item queries over documents.

    Args:
        documents: the corpus.
        n: how many.
        seed: of the drawing.

    Raises:
        DataError: no document is of use.
    """
    corpus = CorpusView(documents)
    return GeneratedSet(tuple(known_items(corpus, n, seed)), n, corpus.counts, len(corpus.topics), FIT)
