"""Embedders held against each other on one corpus."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from ragauge.studies.options import EmbeddingsOptions
from ragauge.verbs.coroutines import plain
from ragauge.verbs.option_specs import keywords

if TYPE_CHECKING:
    from ragauge.core.example import EvalSet
    from ragauge.studies.result import StudyResult


@keywords(EmbeddingsOptions)
async def embeddings_async(wanted: EmbeddingsOptions) -> StudyResult:
    """Which embedder finds what is relevant, at what size and price; BM25 runs beside them.

    Every embedder, number of dimensions and precision is a trial of a study, searched exactly. Vectors are kept in the
    store: no text is embedded twice. The same call continues a study that was stopped.

    Options:
        set: questions with `relevant`, else gold spans, whose documents are taken: an EvalSet, a file, a BEIR
            folder or a stored set.
        corpus: the documents: a folder of text files, a BEIR folder, a file or table with ids and texts, or a mapping.
        embedder: one or several: "local" (in the package), "openai:text-embedding-3-small" and other provider:model,
            "module:name" (a function of texts, or an object of sentence-transformers, LangChain or LlamaIndex); or a
            mapping of name and such a function or object.
        dimensions: the first so many numbers of each vector too, scaled anew.
        quantize: int8, binary, or both, too.
        query_prefix: what stands before each question; or a mapping of embedder and prefix.
        document_prefix: what stands before each document; or a mapping of embedder and prefix.
        name: of the study; embeddings-SET by default.
        fresh: forget a study of this name first, and vectors of functions and objects, whose code may have changed.
        metric: what decides; ndcg@10 by default.
        base: the trial that others are held against.
        target: METRIC=x, or x of what decides: take the cheapest whose whole interval meets it.
        cost: what a trial costs, such as index_bytes, the default, or embedding_price.
        log: look for the knee on the logarithm of the cost.
        decide: which of two is worth its price by the interval of the gain, or by the estimate alone: point.
        store: URL of the store.
        say: told what is done, a line a trial.
        concurrency: calls in flight to a provider to begin with.
        max_concurrency: how far that may rise.
        max_cost: US dollars that may be spent now.
        timeout: seconds for one call.

    Raises:
        UsageError: no such embedder, or a study of this name holds other settings constant.
        DataError: labels of documents that are not in the corpus, or a file that cannot be read.
    """
    return await asyncio.to_thread(_made, wanted)


embeddings = plain(embeddings_async)


def _made(wanted: EmbeddingsOptions) -> StudyResult:
    from ragauge.engine.retrievers import embedding_calls
    from ragauge.evaluation.run.verb import set_of
    from ragauge.readers.chroma import placed_quotes
    from ragauge.readers.corpus import read_corpus
    from ragauge.readers.source import name_of, read_set
    from ragauge.store.store_access import open_store
    from ragauge.studies.conduct import conduct
    from ragauge.studies.embeddings.corpus import labelled_documents
    from ragauge.studies.embeddings.embedders import LEXICAL, embedder_of
    from ragauge.studies.embeddings.maker import METRICS, EmbeddingMaker, EmbeddingSource
    from ragauge.studies.verb import open_study
    from ragauge.verbs.sources import store_url

    wanted.refuse_unscored(METRICS)
    grid = wanted.grid
    with open_store(store_url(wanted.store)) as opened:
        documents = read_corpus(wanted.corpus)
        quoted = placed_quotes(wanted.set, {document.doc_id: document.text for document in documents})
        eval_set = set_of(wanted.set, opened) if quoted is None else read_set(quoted, name=name_of(wanted.set))
        eval_set = _labelled(eval_set)
        documents = labelled_documents(documents, eval_set)
        named = [embedder_of(name, wanted.objects) for name in wanted.names if name != LEXICAL]
        calling = embedding_calls(
            [embedder.model for embedder in named if embedder.model is not None],
            concurrency=wanted.concurrency,
            most=wanted.max_concurrency,
            max_cost=wanted.max_cost,
            timeout=wanted.timeout,
        )
        maker = EmbeddingMaker(documents, eval_set.examples, EmbeddingSource(opened, calling, wanted.objects))
        for embedder in named if wanted.fresh else ():
            if embedder.model is None:
                opened.vectors.delete(embedder.identity)
        called = wanted.name or f"embeddings-{eval_set.name}"
        conduct(opened, called, maker, eval_set, grid, fresh=wanted.fresh, say=wanted.say)
    return open_study(called, **wanted.reading)


def _labelled(eval_set: EvalSet) -> EvalSet:
    """The set; where it has gold spans and no other labels, their documents are what is relevant."""
    from ragauge.core.example import EvalSet, Relevant

    if any(example.relevant for example in eval_set) or not any(example.gold_spans for example in eval_set):
        return eval_set
    held = [(example, dict.fromkeys(span.doc_id for span in example.gold_spans or ())) for example in eval_set]
    examples = (replace(example, relevant=tuple(Relevant((name,)) for name in names)) for example, names in held)
    return EvalSet(eval_set.name, tuple(examples), eval_set.corpus)
