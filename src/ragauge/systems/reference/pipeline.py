"""The reference system as a whole: retrieve, then answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from time import perf_counter
from typing import TYPE_CHECKING, Literal, get_args

from ragauge.data.chunking import Chunk, chunk
from ragauge.data.document import Document
from ragauge.data.example import Example, Span
from ragauge.data.response import Passage, Response
from ragauge.errors import DataError, UnknownName, UsageError
from ragauge.systems.reference.bm25 import Bm25
from ragauge.systems.reference.dense import Dense
from ragauge.systems.reference.extractive import ExtractiveGenerator
from ragauge.systems.reference.hybrid import Hybrid
from ragauge.systems.reference.ranking import Retriever
from ragauge.systems.reference.reranking import Reranker, RerankName
from ragauge.systems.reference.terms import TermWeights, terms
from ragauge.text.tokens import count

if TYPE_CHECKING:
    from ragauge.systems.reference.ranking import Embed

RetrieverName = Literal["bm25", "dense", "hybrid"]


@dataclass(frozen=True, slots=True)
class ReferenceConfig:
    """The settings of the reference system.

    Attributes:
        retriever: bm25, dense or hybrid.
        chunk_tokens: most tokens in a passage's body.
        overlap: sentences that neighbouring passages share within a section.
        k: passages handed to the generator.
        n_candidates: length of the longer ranking that is recorded; at least k.
        max_sentences: most sentences in an answer.
        refuse_below: least confidence of an answer, see `ExtractiveGenerator`.
        rerank: none, overlap or mmr: how candidates are ordered anew before the first k are taken, see `Reranker`.

    Raises:
        UsageError: a value out of its range.
    """

    retriever: RetrieverName = "hybrid"
    chunk_tokens: int = 128
    overlap: int = 1
    k: int = 5
    n_candidates: int = 20
    max_sentences: int = 3
    refuse_below: float = 0.3
    rerank: RerankName = "none"

    def __post_init__(self) -> None:
        if self.retriever not in get_args(RetrieverName):
            raise UnknownName("retriever", self.retriever, get_args(RetrieverName))
        if self.rerank not in get_args(RerankName):
            raise UnknownName("way to rerank", str(self.rerank), get_args(RerankName))
        least = {"chunk_tokens": 1, "overlap": 0, "k": 1, "n_candidates": self.k, "max_sentences": 1}
        for name, low in least.items():
            if getattr(self, name) < low:
                hint = " Set it to k or more." if name == "n_candidates" else ""
                raise UsageError(f"ReferenceConfig: {name} must be at least {low}, got {getattr(self, name)}.{hint}")


class ReferenceRag:
    """A retrieval-augmented system over a list of documents: no network, no key, the same answers every time.

    Args:
        config: its settings.
        documents: what it knows; doc_id unique, at least one text that is not blank.
        embed: texts to an array of shape (texts, dimensions), rows of length 1 (0 for a blank text).

    Raises:
        DataError: two documents share a doc_id, or there is nothing to index.
    """

    def __init__(self, config: ReferenceConfig, documents: Sequence[Document], embed: Embed) -> None:
        repeated = [doc_id for doc_id, times in Counter(d.doc_id for d in documents).items() if times > 1]
        if repeated:
            raise DataError(f"doc_id {repeated[0]!r} stands for more than one document.", hint="Give each its own id.")
        chunks = [piece for document in documents for piece in chunk(document, config.chunk_tokens, config.overlap)]
        if not chunks:
            raise DataError(f"{len(documents)} documents hold no text to index.", hint="Hand in documents with text.")
        embed = _without_capitals(embed)
        self.config = config
        self._chunks = {piece.passage_id: piece for piece in chunks}
        self._documents = {document.doc_id: document for document in documents}
        self._retriever = _retriever(config.retriever, chunks, embed)
        weights = TermWeights(terms(piece.text) for piece in chunks)
        self._reranker = Reranker(config.rerank, weights, embed)
        self._generator = ExtractiveGenerator(weights, embed, config.max_sentences, config.refuse_below)
        self._count = lru_cache(maxsize=8_192)(count)

    def retrieve(self, query: str, n: int | None = None) -> tuple[Passage, ...]:
        """The n best passages, best first; n_candidates of them by default."""
        hits = self._retriever.search(query, self.config.n_candidates if n is None else n)
        return tuple(self._passage(self._chunks[hit.passage_id], hit.score) for hit in hits)

    def chosen(self, query: str, candidates: Sequence[Passage]) -> tuple[Passage, ...]:
        """What of a ranking the generator is to see: reranked where the settings say so, then the first k."""
        return self._reranker.order(query, candidates)[: self.config.k]

    def respond(self, example: Example) -> Response:
        """The system's answer to an example, of which it sees the question alone."""
        started = perf_counter()
        candidates = self.retrieve(example.query)
        return self.respond_from(example, candidates, retrieval_ms=_since(started))

    def respond_from(
        self, example: Example, candidates: Sequence[Passage], *, retrieval_ms: float = 0.0, may_refuse: bool = True,
        every: bool = False,
    ) -> Response:     # fmt: skip
        """The answer to an example from a ranking that is handed in: the generator sees what `chosen` takes of it.

        Args:
            example: only its question and query_id are read.
            candidates: the ranking, best first; any passages with text will do.
            retrieval_ms: how long it took to make.
            may_refuse: False answers however low the confidence is.
            every: the generator sees all of them, and there is no longer ranking to record.
        """
        started = perf_counter()
        passages = tuple(candidates) if every else self.chosen(example.query, candidates)
        rerank = {} if every or self.config.rerank == "none" else {"rerank": _since(started)}
        started = perf_counter()
        extract = self._generator.generate(example.query, passages, may_refuse=may_refuse)
        generation_ms = _since(started)
        seen = self._count(example.query) + sum(self._count(passage.text or "") for passage in passages)
        return Response(
            query_id=example.query_id,
            passages=passages,
            candidates=None if every else tuple(candidates),
            answer=extract.answer,
            citations=extract.citations,
            latency_ms={
                "retrieval": retrieval_ms,
                **rerank,
                "generation": generation_ms,
                "total": retrieval_ms + sum(rerank.values()) + generation_ms,
            },
            tokens={"input": seen, "output": self._count(extract.answer)},
        )

    def _passage(self, piece: Chunk, score: float) -> Passage:
        document = self._documents[piece.doc_id]
        return Passage(
            passage_id=piece.passage_id,
            doc_id=piece.doc_id,
            text=piece.text,
            score=score,
            span=Span(piece.doc_id, piece.start, piece.end),
            updated_at=document.updated_at,
            superseded_by=document.superseded_by,
        )


def _retriever(name: RetrieverName, chunks: Sequence[Chunk], embed: Embed) -> Retriever:
    ids, texts = [piece.passage_id for piece in chunks], [piece.text for piece in chunks]
    if name == "bm25":
        return Bm25(ids, texts)
    dense = Dense(ids, embed(texts), embed)
    return dense if name == "dense" else Hybrid([Bm25(ids, texts), dense])


def _without_capitals(embed: Embed) -> Embed:
    """The same for texts all in capitals as for these in small letters: embedders know little of the former."""
    return lambda texts: embed([text.lower() if text.isupper() else text for text in texts])


def _since(started: float) -> float:
    """Milliseconds since a moment of the clock."""
    return (perf_counter() - started) * 1_000
