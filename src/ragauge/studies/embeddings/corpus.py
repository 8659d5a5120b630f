"""A corpus and a set of questions as vectors, for an index to be built and asked with."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING

from ragauge.core.document import Document
from ragauge.core.errors import DataError
from ragauge.core.example import EvalSet
from ragauge.core.identity import hash_json
from ragauge.readers.corpus import match_label_names
from ragauge.studies.ann.labels import SearchedCorpus
from ragauge.studies.embeddings.embedders import find_embedder
from ragauge.studies.embeddings.maker import EmbeddingSource, check_labels, format_document
from ragauge.studies.embeddings.vector_cache import embed_texts

if TYPE_CHECKING:
    from ragauge.studies.ann.exact import Vectors


def name_documents_as_labels(documents: Iterable[Document], eval_set: EvalSet) -> tuple[Document, ...]:
    """Documents under the names that the labels of a set call them by: see `match_label_names`."""
    loaded = tuple(documents)
    labels = (label for example in eval_set for relevant in example.relevant or () for label in relevant.doc_ids)
    names = match_label_names([document.doc_id for document in loaded], labels)
    return tuple(replace(document, doc_id=names.get(document.doc_id, document.doc_id)) for document in loaded)


def embed_corpus(
    documents: Iterable[Document],
    eval_set: EvalSet,
    source: EmbeddingSource,
    embedder: str,
    prefixes: tuple[str, str] = ("", ""),
    *,
    fresh: bool = False,
) -> tuple[Vectors, Vectors, SearchedCorpus]:
    """The vectors of a corpus and of the questions of a set, from the store where it has them.

    Args:
        documents: each is embedded whole, under its title.
        eval_set: the questions; labels are checked where there are some.
        source: where embedders and their vectors come from.
        embedder: its name.
        prefixes: what stands before each question, and before each document.
        fresh: forget the vectors of a function or object first, whose code may have changed.

    Returns:
        The documents' vectors, shape (n, d), the questions', shape (q, d), and what they stand for.

    Raises:
        DataError: no document, a label of a document that is not in the corpus, or vectors that do not fit.
        UnknownName: no such embedder. UsageError: what is found embeds nothing.
    """
    texts = {item.doc_id: format_document(item) for item in documents}
    if not texts:
        raise DataError("ann: the corpus has no documents.")
    hashes = {name: sha256(text.encode("utf-8", "surrogatepass")).hexdigest() for name, text in texts.items()}
    about = {"embedder": embedder, "corpus": hash_json(hashes)[:16]}
    about |= {key: item for key, item in zip(("query_prefix", "document_prefix"), prefixes, strict=True) if item}
    corpus = SearchedCorpus(tuple(texts), eval_set, about)
    if corpus.labelled:
        check_labels(eval_set.examples, texts)
    named_embedder = find_embedder(embedder, source.objects, prefixes)
    if fresh and named_embedder.model is None:
        source.store.vectors.delete(named_embedder.identity)
    rows, query_rows = (
        embed_texts(source.store, named_embedder, named_texts, queries=queries, calling=source.calling).rows
        for named_texts, queries in (
            ({f"document {name}": text for name, text in texts.items()}, False),
            ({f"query {item.query_id}": item.query for item in eval_set.examples}, True),
        )
    )
    return rows, query_rows, corpus
