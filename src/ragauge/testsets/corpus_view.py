"""A corpus as a generator of questions sees it: which documents are of use, its topics, and what finds a document."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import zip_longest
from typing import TYPE_CHECKING, Literal

from ragauge.core.document import Document
from ragauge.core.errors import DataError
from ragauge.core.identity import normalize_text
from ragauge.core.messages import format_count
from ragauge.engine.retrievers import Bm25, Embedder, build_local_embedder

if TYPE_CHECKING:
    from random import Random

    import numpy as np
    import numpy.typing as npt

    Vectors = npt.NDArray[np.float32]

MAX_DOCUMENT_CHARS = 2_000_000  # characters: no page of a corpus that people search
MAX_TOPICS = 50
SEARCH_DEPTH = 100  # how far down a gold document may be found
HARD_RANK = 10  # a document below in both rankings is hard to find
Difficulty = Literal["easy", "medium", "hard"]


@dataclass(frozen=True)
class CorpusCounts:
    """What a corpus holds."""

    documents: int  #: all of them.
    empty: tuple[str, ...]  #: doc_ids without a text.
    copies: Mapping[str, str]  #: doc_id -> the doc_id whose text it repeats, white space and width of characters aside.
    huge: tuple[str, ...]  #: doc_ids of more than 2,000,000 characters.
    undecoded: tuple[str, ...] = ()  #: text files that are not UTF-8, beside the documents.

    @property
    def n_usable(self) -> int:
        """How many documents questions are drawn from."""
        return self.documents - len(self.empty) - len(self.copies) - len(self.huge)

    def list_exclusions(self) -> Iterator[str]:
        """What is left out, in words."""
        left_out = {"have no text": self.empty, "repeat another": tuple(self.copies), "are too long": self.huge}
        for reason, ids in left_out.items():
            if ids:
                yield f"{len(ids):,} of {self.documents:,} documents {reason}: {_format_names(ids)}"
        if self.undecoded:
            yield describe_undecoded(self.undecoded)


def describe_undecoded(names: Sequence[str]) -> str:
    """How many text files are not UTF-8, in words, with the first of them."""
    return f"{format_count(len(names), 'text file')} not in UTF-8, skipped: {_format_names(names)}"


def _format_names(names: Sequence[str]) -> str:
    return f"{', '.join(names[:3])}{' …' if names[3:] else ''}"


class CorpusView:
    """The documents that questions are drawn from, their topics, and two retrievers over them.

    Args:
        documents: the corpus. Empty ones, copies and huge ones are counted and never drawn.
        undecoded: text files beside them that could not be read.

    Raises:
        DataError: no document is of use.
    """

    def __init__(self, documents: Sequence[Document], undecoded: Sequence[str] = ()) -> None:
        empty, huge = [], []
        copies: dict[str, str] = {}
        first: dict[str, str] = {}
        self.documents: dict[str, Document] = {}
        for document in documents:
            text = normalize_text(document.text)
            if not text:
                empty.append(document.doc_id)
            elif len(text) > MAX_DOCUMENT_CHARS:
                huge.append(document.doc_id)
            elif (same := first.setdefault(text, document.doc_id)) != document.doc_id:
                copies[document.doc_id] = same
            else:
                self.documents[document.doc_id] = document
        self.counts = CorpusCounts(len(documents), tuple(empty), copies, tuple(huge), tuple(undecoded))
        if not self.documents:
            raise DataError(f"no usable document: {'; '.join(self.counts.list_exclusions())}.", source="corpus")
        self.ids = tuple(self.documents)

    @cached_property
    def vectors(self) -> Vectors:
        """A row a document, by the embedder in the package."""
        return self._embedder.embed([_build_search_text(document) for document in self.documents.values()])

    @cached_property
    def _embedder(self) -> Embedder:
        return build_local_embedder()

    def embed_query(self, query: str) -> npt.NDArray[np.float32]:
        """A query's vector, by the same embedder."""
        vector: npt.NDArray[np.float32] = self._embedder.embed([query])[0]
        return vector

    def best(self, query: str, n: int) -> list[str]:
        """The n best documents by BM25 and by embeddings, one of each in turn."""
        import numpy as np

        lexical = [hit.passage_id for hit in self.bm25_index.search(query, n)]
        dense = [self.ids[row] for row in np.argsort(-(self.vectors @ self.embed_query(query)), kind="stable")[:n]]
        mixed = [doc_id for pair in zip_longest(lexical, dense) for doc_id in pair if doc_id is not None]
        return list(dict.fromkeys(mixed))[:n]

    @cached_property
    def bm25_index(self) -> Bm25:
        """BM25 over the documents."""
        return Bm25(self.ids, [_build_search_text(document) for document in self.documents.values()])

    @cached_property
    def topics(self) -> list[list[str]]:
        """doc_ids by topic, the largest topic first: k-means over the vectors, from a fixed seed."""
        import numpy as np
        from scipy.cluster.vq import kmeans2

        count = min(MAX_TOPICS, max(1, round((len(self.ids) / 2) ** 0.5)))
        if count == 1:
            return [list(self.ids)]
        _, labels = kmeans2(self.vectors.astype(np.float64), count, minit="++", rng=7, missing="raise", iter=25)
        groups: dict[int, list[str]] = {}
        for doc_id, label in zip(self.ids, labels.tolist(), strict=True):
            groups.setdefault(label, []).append(doc_id)
        return sorted(groups.values(), key=lambda group: (-len(group), group[0]))

    def sample_documents(self, rng: Random) -> Iterator[Document]:
        """Documents without end: each topic in turn gives one, and none comes again before all have come.

        So a topic of one document has the share of one document, and the first few still lie over many topics.
        """
        while True:
            waiting = [rng.sample(topic, len(topic)) for topic in self.topics]
            while waiting:
                for topic in rng.sample(waiting, len(waiting)):
                    yield self.documents[topic.pop()]
                waiting = [topic for topic in waiting if topic]

    def ranks(self, queries: Sequence[str], golds: Sequence[Sequence[str]]) -> list[tuple[int | None, int | None]]:
        """For each query the best rank of a gold document by BM25 and by embeddings, from 1; None = below 100."""
        import numpy as np

        row_by_id = {doc_id: n for n, doc_id in enumerate(self.ids)}
        best_ranks: list[tuple[int | None, int | None]] = []
        vectors = self._embedder.embed(list(queries))
        for query, gold, vector in zip(queries, golds, vectors, strict=True):
            hits = [hit.passage_id for hit in self.bm25_index.search(query, SEARCH_DEPTH)]
            lexical = next((n for n, doc_id in enumerate(hits, 1) if doc_id in gold), None)
            scores = self.vectors @ vector
            rows = [row_by_id[doc_id] for doc_id in gold if doc_id in row_by_id]
            above = int((scores > scores[rows].max()).sum()) + 1 if rows and np.any(vector) else SEARCH_DEPTH + 1
            best_ranks.append((lexical, above if above <= SEARCH_DEPTH else None))
        return best_ranks


def classify_difficulty(lexical: int | None, dense: int | None) -> Difficulty:
    """easy: first in both rankings; hard: beyond the tenth place in both; else medium.

    >>> classify_difficulty(1, 1), classify_difficulty(1, 30), classify_difficulty(None, 11)
    ('easy', 'medium', 'hard')
    """
    if lexical == dense == 1:
        return "easy"
    far = [rank is None or rank > HARD_RANK for rank in (lexical, dense)]
    return "hard" if all(far) else "medium"


def _build_search_text(document: Document) -> str:
    """What retrievers search: the title, unless the text opens with it, and the text."""
    title = document.title.strip()
    return document.text if not title or document.text.lstrip("# \n").startswith(title) else f"{title}\n{document.text}"
