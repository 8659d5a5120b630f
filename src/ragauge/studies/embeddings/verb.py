"""Embedders held against each other on one corpus."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from ragauge.studies.options import EmbeddingsOptions
from ragauge.verbs.coroutines import make_sync
from ragauge.verbs.option_specs import expand_options

if TYPE_CHECKING:
    from ragauge.core.example import EvalSet
    from ragauge.studies.result import StudyResult


@expand_options(EmbeddingsOptions)
async def embeddings_async(options: EmbeddingsOptions) -> StudyResult:
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
    return await asyncio.to_thread(_run_embedding_study, options)


embeddings = make_sync(embeddings_async)


def _run_embedding_study(options: EmbeddingsOptions) -> StudyResult:
    from ragauge.engine.retrievers import build_embedding_options
    from ragauge.evaluation.run.verb import load_set
    from ragauge.readers.chroma import locate_quotes
    from ragauge.readers.corpus import read_corpus
    from ragauge.readers.source import derive_name, read_set
    from ragauge.store.store_access import open_store
    from ragauge.studies.conduct import run_study_trials
    from ragauge.studies.embeddings.maker import METRICS, EmbeddingMaker, EmbeddingSource, name_documents_as_labels
    from ragauge.studies.embeddings.vector_search import LEXICAL, find_embedder
    from ragauge.studies.verb import open_study
    from ragauge.verbs.sources import resolve_store_url

    options.refuse_unscored(METRICS)
    grid = options.grid
    with open_store(resolve_store_url(options.store)) as opened_store:
        documents = read_corpus(options.corpus)
        quoted = locate_quotes(options.set, {document.doc_id: document.text for document in documents})
        eval_set = (
            load_set(options.set, opened_store) if quoted is None else read_set(quoted, name=derive_name(options.set))
        )
        eval_set = _label_from_spans(eval_set)
        documents = name_documents_as_labels(documents, eval_set)
        embedders = [find_embedder(name, options.objects) for name in options.names if name != LEXICAL]
        calling = build_embedding_options(
            [embedder.model for embedder in embedders if embedder.model is not None],
            concurrency=options.concurrency,
            max_concurrency=options.max_concurrency,
            max_cost=options.max_cost,
            timeout=options.timeout,
        )
        maker = EmbeddingMaker(documents, eval_set.examples, EmbeddingSource(opened_store, calling, options.objects))
        for embedder in embedders if options.fresh else ():
            if embedder.model is None:
                opened_store.vectors.delete(embedder.identity)
        study_name = options.name or f"embeddings-{eval_set.name}"
        run_study_trials(opened_store, study_name, maker, eval_set, grid, fresh=options.fresh, say=options.say)
    return open_study(study_name, **options.open_arguments)


def _label_from_spans(eval_set: EvalSet) -> EvalSet:
    """The set; where it has gold spans and no other labels, their documents are what is relevant."""
    from ragauge.core.example import EvalSet, Relevant

    if any(example.relevant for example in eval_set) or not any(example.gold_spans for example in eval_set):
        return eval_set
    ids_by_example = [
        (example, dict.fromkeys(span.doc_id for span in example.gold_spans or ())) for example in eval_set
    ]
    examples = (
        replace(example, relevant=tuple(Relevant((name,)) for name in names)) for example, names in ids_by_example
    )
    return EvalSet(eval_set.name, tuple(examples), eval_set.corpus)
