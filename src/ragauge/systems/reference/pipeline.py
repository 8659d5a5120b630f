"""The reference system as a whole: retrieve, then answer.

The reference pipeline as a system that can be run: `reference:FOLDER`, over a folder or file of documents.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal, get_args

from ragauge.core.document import Chunk, Document, chunk_document
from ragauge.core.errors import DataError, UnknownName, UsageError
from ragauge.core.example import Example, Span
from ragauge.core.identity import to_json_value
from ragauge.core.response import Passage, Response
from ragauge.readers.corpus import read_corpus
from ragauge.systems.base import ALL_VARIANTS, Question, System, check_setting_names
from ragauge.systems.reference.extractive import ExtractiveGenerator
from ragauge.systems.reference.retrievers import (
    Bm25,
    Dense,
    Hybrid,
    Reranker,
    RerankName,
    Retriever,
    TermWeights,
    extract_terms,
)
from ragauge.text.tokens import count_tokens

if TYPE_CHECKING:
    from ragauge.systems.reference.retrievers import Embed


RetrieverName = Literal["bm25", "dense", "hybrid"]


@dataclass(frozen=True, slots=True)
class ReferenceConfig:
    """The settings of the reference system.

    Raises:
        UsageError: a value out of its range.
    """

    retriever: RetrieverName = "hybrid"  #: bm25, dense or hybrid.
    chunk_tokens: int = 128  #: most tokens in a passage's body.
    overlap: int = 1  #: sentences that neighbouring passages share within a section.
    k: int = 5  #: passages handed to the generator.
    n_candidates: int = 20  #: length of the longer ranking that is recorded; at least k.
    budget: int = 0  #: tokens of passages handed on, in rank order, the last one cut; in place of k. 0 = k passages.
    max_sentences: int = 3  #: most sentences in an answer.
    refuse_below: float = 0.3  #: least confidence of an answer, see `ExtractiveGenerator`.
    #: none, overlap or mmr: how candidates are ordered anew before the first k are taken, see `Reranker`.
    rerank: RerankName = "none"

    def __post_init__(self) -> None:
        if self.retriever not in get_args(RetrieverName):
            raise UnknownName("retriever", self.retriever, get_args(RetrieverName))
        if self.rerank not in get_args(RerankName):
            raise UnknownName("way to rerank", str(self.rerank), get_args(RerankName))
        minimums = {"chunk_tokens": 1, "overlap": 0, "k": 1, "n_candidates": self.k, "max_sentences": 1, "budget": 0}
        for name, low in minimums.items():
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
            raise DataError(
                f"more than one document has the doc_id {repeated[0]!r}.", hint="Give each document its own id."
            )
        chunks = [
            document_chunk
            for document in documents
            for document_chunk in chunk_document(document, config.chunk_tokens, config.overlap)
        ]
        if not chunks:
            raise DataError(
                f"none of the {len(documents)} documents has text to index.", hint="Pass documents that have text."
            )
        embed = _lower_capitals(embed)
        self.config = config
        self._chunks = {document_chunk.passage_id: document_chunk for document_chunk in chunks}
        self._documents = {document.doc_id: document for document in documents}
        self._retriever = _build_retriever(config.retriever, chunks, embed)
        weights = TermWeights(extract_terms(document_chunk.text) for document_chunk in chunks)
        self._reranker = Reranker(config.rerank, weights, embed)
        self._generator = ExtractiveGenerator(weights, embed, config.max_sentences, config.refuse_below)
        self._count = lru_cache(maxsize=8_192)(count_tokens)

    def retrieve(self, query: str, n: int | None = None) -> tuple[Passage, ...]:
        """The n best passages, best first; n_candidates of them by default."""
        hits = self._retriever.search(query, self.config.n_candidates if n is None else n)
        return tuple(self._build_passage(self._chunks[hit.passage_id], hit.score) for hit in hits)

    def select_context(self, query: str, candidates: Sequence[Passage]) -> tuple[Passage, ...]:
        """What of a ranking the generator is to see: reranked where the settings say so, then the first k or tokens."""
        ordered = self._reranker.rank_candidates(query, candidates)
        return self._fill_budget(ordered) if self.config.budget else ordered[: self.config.k]

    def _fill_budget(self, ordered: Sequence[Passage]) -> tuple[Passage, ...]:
        """As many passages as the budget of tokens holds; the last one is cut between words."""
        passages: list[Passage] = []
        remaining = self.config.budget
        for passage in ordered:
            text = passage.text or ""
            if (size := self._count(text)) > remaining:
                word_ends = [word.end() for word in re.finditer(r"\S+", text)]
                fits = bisect_right(word_ends, remaining, key=lambda end: count_tokens(text[:end]))
                if fits:
                    # the text ends as its span does, whatever stands before
                    n_removed = len(text) - word_ends[fits - 1]
                    span = passage.span and replace(
                        passage.span, end=max(passage.span.start, passage.span.end - n_removed)
                    )
                    passages.append(replace(passage, text=text[:-n_removed] if n_removed else text, span=span))
                break
            passages.append(passage)
            remaining -= size
        return tuple(passages)

    def respond(self, example: Example) -> Response:
        """The system's answer to an example, of which it sees the question alone."""
        started = perf_counter()
        candidates = self.retrieve(example.query)
        return self.respond_from(example, candidates, retrieval_ms=_compute_elapsed_ms(started))

    def respond_from(
        self,
        example: Example,
        candidates: Sequence[Passage],
        *,
        retrieval_ms: float = 0.0,
        may_refuse: bool = True,
        every: bool = False,
    ) -> Response:
        """The answer to an example from a ranking that is handed in: the generator sees what `chosen` takes of it.

        Args:
            example: only its question and query_id are read.
            candidates: the ranking, best first; any passages with text will do.
            retrieval_ms: how long it took to make.
            may_refuse: False answers however low the confidence is.
            every: the generator sees all of them, and there is no longer ranking to record.
        """
        started = perf_counter()
        passages = tuple(candidates) if every else self.select_context(example.query, candidates)
        rerank = {} if every or self.config.rerank == "none" else {"rerank": _compute_elapsed_ms(started)}
        started = perf_counter()
        extract = self._generator.generate(example.query, passages, may_refuse=may_refuse)
        generation_ms = _compute_elapsed_ms(started)
        n_input_tokens = self._count(example.query) + sum(self._count(passage.text or "") for passage in passages)
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
            tokens={"input": n_input_tokens, "output": self._count(extract.answer)},
        )

    def _build_passage(self, document_chunk: Chunk, score: float) -> Passage:
        document = self._documents[document_chunk.doc_id]
        return Passage(
            passage_id=document_chunk.passage_id,
            doc_id=document_chunk.doc_id,
            text=document_chunk.text,
            score=score,
            span=Span(document_chunk.doc_id, document_chunk.start, document_chunk.end),
            updated_at=document.updated_at,
            superseded_by=document.superseded_by,
        )


def _build_retriever(name: RetrieverName, chunks: Sequence[Chunk], embed: Embed) -> Retriever:
    ids, texts = (
        [document_chunk.passage_id for document_chunk in chunks],
        [document_chunk.text for document_chunk in chunks],
    )
    if name == "bm25":
        return Bm25(ids, texts)
    dense = Dense(ids, embed(texts), embed)
    return dense if name == "dense" else Hybrid([Bm25(ids, texts), dense])


def _lower_capitals(embed: Embed) -> Embed:
    """The same for texts all in capitals as for these in small letters: embedders know little of the former."""
    return lambda texts: embed([text.lower() if text.isupper() else text for text in texts])


def _compute_elapsed_ms(started: float) -> float:
    """Milliseconds since a moment of the clock."""
    return (perf_counter() - started) * 1_000


PREFIX = "reference:"
SETTINGS = tuple(field.name for field in fields(ReferenceConfig))


class ReferenceSystem(System):
    """Answers from the documents of a folder with the reference pipeline: what a system of your own has to beat.

    Args:
        rag: the pipeline.
        name: of the system.
    """

    def __init__(self, rag: ReferenceRag, name: str) -> None:
        super().__init__(name, dict(to_json_value(rag.config)), ALL_VARIANTS)
        self._rag = rag

    async def respond(self, question: Question, passages: Sequence[Passage] | None = None) -> Response:
        """The response; from passages that are handed in, the generator answers or refuses as from its own."""
        example = Example(question.query_id, question.query)
        if passages is None:
            return await self._threads.call_in_thread(lambda: self._rag.respond(example))
        return await self._threads.call_in_thread(lambda: self._rag.respond_from(example, passages, every=True))


def adapt(target: str, settings: Mapping[str, Any], embed: Embed) -> ReferenceSystem:
    """The system behind `reference:FOLDER`.

    Args:
        target: after the prefix a corpus, as `read_corpus` reads it.
        settings: those of `ReferenceConfig`, such as retriever and k.
        embed: texts to an array of shape (texts, dimensions), rows of length 1.

    Raises:
        UsageError: a setting that is not known, or out of its range.
        DataError: no document there, or one that cannot be read.
    """
    check_setting_names(settings, SETTINGS, "the reference system")
    try:
        config = ReferenceConfig(**settings)
    except TypeError as error:
        raise UsageError(f"{target}: {error}. See ragauge docs reference-rag for its settings.") from None
    return ReferenceSystem(ReferenceRag(config, read_corpus(target.removeprefix(PREFIX) or "."), embed), target)
