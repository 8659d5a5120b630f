"""A corpus and a set of questions as vectors, for an index to be built and asked with."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING

from ragauge.core.document import Document
from ragauge.core.errors import DataError
from ragauge.core.example import EvalSet
from ragauge.core.identity import digest
from ragauge.readers.corpus import named_as_labels
from ragauge.studies.ann.labels import SearchedCorpus
from ragauge.studies.embeddings.embedders import embedder_of
from ragauge.studies.embeddings.maker import EmbeddingSource, check_labels, document_text
from ragauge.studies.embeddings.vector_cache import embedded

if TYPE_CHECKING:
    from ragauge.studies.ann.exact import Vectors


def labelled_documents(documents: Iterable[Document], eval_set: EvalSet) -> tuple[Document, ...]:
    """Documents under the names that the labels of a set call them by: see `named_as_labels`."""
    held = tuple(documents)
    labels = (label for example in eval_set for relevant in example.relevant or () for label in relevant.doc_ids)
    names = named_as_labels([document.doc_id for document in held], labels)
    return tuple(replace(document, doc_id=names.get(document.doc_id, document.doc_id)) for document in held)


def searched_corpus(
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
    texts = {one.doc_id: document_text(one) for one in documents}
    if not texts:
        raise DataError("ann: the corpus has no documents.")
    hashes = {name: sha256(text.encode("utf-8", "surrogatepass")).hexdigest() for name, text in texts.items()}
    about = {"embedder": embedder, "corpus": digest(hashes)[:16]}
    about |= {key: one for key, one in zip(("query_prefix", "document_prefix"), prefixes, strict=True) if one}
    corpus = SearchedCorpus(tuple(texts), eval_set, about)
    if corpus.labelled:
        check_labels(eval_set.examples, texts)
    found = embedder_of(embedder, source.objects, prefixes)
    if fresh and found.model is None:
        source.store.vectors.delete(found.identity)
    rows, asked = (
        embedded(source.store, found, named, queries=queries, calling=source.calling).rows
        for named, queries in (
            ({f"document {name}": text for name, text in texts.items()}, False),
            ({f"query {one.query_id}": one.query for one in eval_set.examples}, True),
        )
    )
    return rows, asked, corpus
