"""What a question is written from: passages drawn evenly over a corpus, or pairs that belong together."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import combinations
from random import Random
from typing import TYPE_CHECKING

from ragauge.core.document import Chunk, Document, chunk_document
from ragauge.testsets.corpus_view import CorpusView
from ragauge.testsets.generate.draft import CONTRACTS, QuestionType, SourcePassage
from ragauge.testsets.whole_words import find_word_around
from ragauge.text import specifics

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

WINDOW_CHARS = 4_000  # characters of a document in one call
CHUNK_TOKENS = 256  # of a chunk whose edges `boundary` is about
LONG_DOCUMENT_TOKENS = 1_500  # tokens of a document whose last third is hard to find
MAX_RARE_DOCUMENTS = 8  # documents that hold a name or number which links them, at most
MAX_NEIGHBORS = 5  # nearest documents that may be asked about together
COPY_COSINE = 0.95  # cosine from which two documents say the same
BATCH_SIZE_ROWS = 1_024  # vectors compared with all others at a time
LINKING_TERM = re.compile(r"\b(?:[^\W\d_]*[A-Z]\w{2,}|\d[\d.,:/-]*\d)\b")  # words with a capital, and numbers


class PassageSampler:
    """Draws passages for each type of question; equal seeds draw equal ones, whatever else is drawn.

    Args:
        corpus: what is drawn from.
        seed: of the drawing.
        only: doc_ids that may be drawn (the first of a pair); None = all.
    """

    def __init__(self, corpus: CorpusView, seed: int, only: Collection[str] | None = None) -> None:
        self._corpus, self._seed = corpus, seed
        self._only = None if only is None else frozenset(only)

    def passages(self, kind: QuestionType, key: str = "") -> Iterator[tuple[SourcePassage, ...]]:
        """Passages for one call each, without end; none at all where no document will do."""
        rng = Random(f"{self._seed}:{kind}:{key}")  # noqa: S311 - draws documents, no secret
        vain = 0
        for document in self._corpus.sample_documents(rng):
            source = (
                self._sample_for_kind(kind, document, rng)
                if self._only is None or document.doc_id in self._only
                else ()
            )
            if source:
                vain = 0
                yield source
            elif (vain := vain + 1) > 2 * len(self._corpus.ids):
                return  # every document came by since the last that would do

    def _sample_for_kind(self, kind: QuestionType, document: Document, rng: Random) -> tuple[SourcePassage, ...]:
        draws = CONTRACTS[kind].draws
        if draws == "edge":
            return self._sample_edge(document, rng)
        first = _sample_window(document, rng)
        if draws == "one":
            return (first,)
        if draws == "dated":
            return (first,) if specifics.find_specifics(first.text, {"date"}) else ()
        others = (self.linked_documents if draws == "linked" else self.nearest_documents).get(document.doc_id, ())
        if not others:
            return ()
        return first, _sample_window(self._corpus.documents[rng.choice(others)], rng)

    @staticmethod
    def _sample_edge(document: Document, rng: Random) -> tuple[SourcePassage, ...]:
        """A passage of the last third of a long document, or two on both sides of an edge of a chunk."""
        pieces = chunk_document(document, CHUNK_TOKENS)
        if len(pieces) < 2:
            return ()
        if len(pieces) >= LONG_DOCUMENT_TOKENS / CHUNK_TOKENS:
            late = [document_chunk for document_chunk in pieces if document_chunk.start >= 2 * len(document.text) / 3]
            if late:
                return (_build_passage(rng.choice(late)),)
        n = rng.randrange(len(pieces) - 1)
        return _build_passage(pieces[n]), _build_passage(pieces[n + 1])

    @cached_property
    def linked_documents(self) -> Mapping[str, Sequence[str]]:
        """doc_id -> documents that share rare names or numbers with it, else its neighbours; never copies."""
        holders: dict[str, list[str]] = defaultdict(list)
        for doc_id, document in self._corpus.documents.items():
            for term in sorted(set(LINKING_TERM.findall(document.text))):
                holders[term].append(doc_id)
        weights: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
        for names in holders.values():
            if 2 <= len(names) <= MAX_RARE_DOCUMENTS:
                for first, other in combinations(names, 2):
                    weights[first][other] += 1 / len(names)
                    weights[other][first] += 1 / len(names)
        row_by_id = {doc_id: n for n, doc_id in enumerate(self._corpus.ids)}
        vectors = self._corpus.vectors
        links: dict[str, Sequence[str]] = {}
        for doc_id in self._corpus.ids:
            ranked = sorted(weights[doc_id].items(), key=lambda item: (-item[1], item[0]))[: 2 * MAX_NEIGHBORS]
            vector = vectors[row_by_id[doc_id]]
            others = [other for other, _ in ranked if float(vector @ vectors[row_by_id[other]]) < COPY_COSINE]
            links[doc_id] = others[:MAX_NEIGHBORS] or self.nearest_documents[doc_id]
        return links

    @cached_property
    def nearest_documents(self) -> Mapping[str, Sequence[str]]:
        """doc_id -> the nearest documents by embedding that are no copies."""
        import numpy as np

        ids, vectors = self._corpus.ids, self._corpus.vectors
        nearest: dict[str, Sequence[str]] = {}
        for begin in range(0, len(ids), BATCH_SIZE_ROWS):
            scores = vectors[begin : begin + BATCH_SIZE_ROWS] @ vectors.T
            scores[scores >= COPY_COSINE] = -1  # itself and its copies
            n_nearest = min(MAX_NEIGHBORS, len(ids) - 1)
            best = (
                np.argsort(-scores, axis=1, kind="stable")[:, :n_nearest]
                if n_nearest
                else np.empty((len(scores), 0), int)
            )
            for row, near in enumerate(best.tolist()):
                nearest[ids[begin + row]] = [ids[n] for n in near if scores[row, n] > 0]
        return nearest


def _sample_window(document: Document, rng: Random) -> SourcePassage:
    """A document whole, or whole chunks of it in a row where it is long."""
    if len(document.text) <= WINDOW_CHARS:
        return SourcePassage(document.doc_id, 0, document.text)
    pieces = chunk_document(document, CHUNK_TOKENS)
    n = rng.randrange(len(pieces))
    start, end = pieces[n].start, pieces[n].end
    for document_chunk in pieces[n + 1 :]:
        if document_chunk.end - start > WINDOW_CHARS:
            break
        end = document_chunk.end
    end = min(end, start + 2 * WINDOW_CHARS)
    cut = find_word_around(document.text, end)
    return SourcePassage(document.doc_id, start, document.text[start : end if cut is None else max(cut[0], start + 1)])


def _build_passage(document_chunk: Chunk) -> SourcePassage:
    return SourcePassage(document_chunk.doc_id, document_chunk.start, document_chunk.body)
