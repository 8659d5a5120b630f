"""One index for every framework: the demo's corpus in pieces, embedded once, with questions and a generator."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from ragauge.core.document import chunk_document
from ragauge.core.example import EvalSet
from ragauge.core.response import Passage, Response
from ragauge.evaluation.demo import demo_systems as demo
from ragauge.evaluation.verbs import evaluate
from ragauge.models.embedders.base import WordLlamaEmbedder
from ragauge.systems.base import Question, System
from ragauge.systems.system_lookup import find_system
from ragauge.text.sentences import split_sentences
from ragauge.verbs.sources import AnsweredExamples

K, QUESTIONS = 4, 24
METRICS = "recall@4,ndcg@4,mrr,faithfulness,context_precision"


@dataclass(frozen=True)
class Piece:
    """One passage of the index."""

    passage_id: str
    doc_id: str
    text: str


@cache
def pieces() -> tuple[Piece, ...]:
    """The corpus in pieces."""
    return tuple(
        Piece(one.passage_id, one.doc_id, one.text)
        for document in demo.read_documents()
        for one in chunk_document(document, 128)
    )


@cache
def golden() -> EvalSet:
    """The first questions of the demo's set."""
    return EvalSet("golden", demo.read_eval_set().examples[:QUESTIONS])


@cache
def _embedder() -> WordLlamaEmbedder:
    return WordLlamaEmbedder()


def embed(texts: Sequence[str]) -> list[list[float]]:
    """Vectors of length 1."""
    return [[float(value) for value in row] for row in _embedder().embed(texts)]


def embed_one(text: str) -> list[float]:
    """The vector of one text."""
    return embed([text])[0]


@cache
def vectors() -> tuple[list[float], ...]:
    """The vectors of the pieces."""
    return tuple(embed([one.text for one in pieces()]))


def nearest(query: str, k: int = K) -> list[tuple[Piece, float]]:
    """The index without any framework: pieces by cosine."""
    (asked,) = embed([query])
    scores = [sum(a * b for a, b in zip(asked, row, strict=True)) for row in vectors()]
    order = sorted(range(len(scores)), key=lambda n: -scores[n])[:k]
    return [(pieces()[n], scores[n]) for n in order]


def say(texts: Sequence[str]) -> str:
    """The generator: the last sentence of the first passage."""
    return split_sentences(texts[0])[-1].text if texts else "I do not know."


def plain_system() -> System:
    """The same system written without a framework."""

    def answer(question: str) -> dict[str, Any]:
        found = nearest(question)
        passages = [Passage(one.passage_id, one.doc_id, one.text, score) for one, score in found]
        return {"answer": say([one.text for one, _ in found]), "passages": passages}

    return find_system(answer)


def answered(system: System, passages: Sequence[Passage] | None = None) -> dict[str, Response]:
    """What a system returns to every question of the set."""

    async def all_of_them() -> list[Response]:
        try:
            asked = [Question(one.query_id, one.query) for one in golden().examples]
            return list(await asyncio.gather(*(system.respond(one, passages) for one in asked)))
        finally:
            await system.close()

    return {one.query_id: one for one in asyncio.run(all_of_them())}


def one_response(system: System, query: str, passages: Sequence[Passage] | None = None) -> Response:
    """What a system returns to one question."""

    async def respond() -> Response:
        try:
            return await system.respond(Question("q", query), passages)
        finally:
            await system.close()

    return asyncio.run(respond())


def scores(responses: dict[str, Response], folder: Path, metrics: str = METRICS) -> dict[str, Any]:
    """The means of a scorecard, with how many examples are in each."""
    pairs = tuple((one, responses[one.query_id]) for one in golden().examples)
    card = evaluate(AnsweredExamples("golden", pairs), metrics=metrics, store=f"sqlite:///{folder / 'store.db'}")
    return {name: (one.mean, one.scored) for name, one in card.summaries.items()}
