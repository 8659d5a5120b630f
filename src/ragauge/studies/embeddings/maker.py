"""Trials of embedders: a corpus and a set's questions as vectors, searched exactly and scored."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import sha256
from time import perf_counter
from typing import TYPE_CHECKING, Any

from ragauge.core.ask import Usage
from ragauge.core.document import Document
from ragauge.core.errors import DataError, find_nearest
from ragauge.core.example import EvalSet, Example
from ragauge.core.identity import hash_json
from ragauge.core.response import Passage, Response
from ragauge.core.study import Measurement
from ragauge.engine.retrievers import Bm25, compute_price
from ragauge.metrics.base import Metric, MetricResult, Undefined
from ragauge.metrics.catalogue import parse_metric
from ragauge.metrics.retrieval.ranks import rank_responses
from ragauge.readers.corpus import match_label_names
from ragauge.scores.estimation import compute_ratio_of_means
from ragauge.store.store_access import Store
from ragauge.store.vectors import EmbeddingEffort
from ragauge.studies.ann.compute import SearchedCorpus
from ragauge.studies.conduct import OpenTrial, TrialMaker
from ragauge.studies.embeddings.compute import EMBEDDINGS
from ragauge.studies.embeddings.vector_search import (
    LEXICAL,
    EmbeddedTexts,
    MakeCalling,
    NamedEmbedder,
    VectorIndex,
    embed_texts,
    find_embedder,
    scale_to_unit,
)
from ragauge.text.tokens import count_tokens

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ragauge.studies.ann.exact import Vectors


CUTOFFS = (1, 3, 5, 10, 20, 50)
METRICS = (*(f"ndcg@{k}" for k in CUTOFFS), *(f"recall@{k}" for k in CUTOFFS))
Search = Any  # examples to a list of ids for each, None where a question has no vector


@dataclass(frozen=True)
class EmbeddingSource:
    """Where embedders and their vectors come from."""

    store: Store  #: keeps vectors.
    calling: MakeCalling  #: makes the means by which a provider's model is called.
    objects: Mapping[str, Any] = field(default_factory=dict)  #: name -> embedder that has no module.


class EmbeddingMaker(TrialMaker):
    """Makes trials of embedders over one corpus and one labelled set.

    Args:
        documents: the corpus; each is embedded whole, under its title.
        examples: what will be asked, with `relevant`.
        source: where embedders and vectors come from.

    Raises:
        DataError: no example has a label, or one names a relevant document that the corpus has not.
    """

    kind = EMBEDDINGS

    def __init__(self, documents: Iterable[Document], examples: Sequence[Example], source: EmbeddingSource) -> None:
        self.texts = {document.doc_id: format_document(document) for document in documents}
        self._examples, self._source = examples, source
        check_labels(examples, self.texts)
        hashes = {name: sha256(text.encode("utf-8", "surrogatepass")).hexdigest() for name, text in self.texts.items()}
        self.fixed: Mapping[str, Any] = {"corpus": hash_json(hashes)[:16], "metrics": list(METRICS)}
        self._last: tuple[tuple[Any, ...], tuple[EmbeddedTexts, EmbeddedTexts]] | None = None

    def name(self, parameters: Mapping[str, Any]) -> str:
        """The embedder, then what differs from its plain use."""
        varied = {key: value for key, value in parameters.items() if key not in ("embedder", "dimensions", "quantize")}
        shortened = [str(parameters[key]) for key in ("dimensions", "quantize") if key in parameters]
        other_settings = (f"{key}={value}".strip() for key, value in varied.items())
        return ":".join([str(parameters["embedder"]), *shortened, *other_settings])

    def open(self, parameters: Mapping[str, Any]) -> OpenTrial:
        """Embeds corpus and questions, or reads their vectors, and indexes them."""
        if parameters["embedder"] == LEXICAL:
            started = perf_counter()
            index = Bm25(list(self.texts), list(self.texts.values()))
            effort = EmbeddingEffort(len(self.texts), perf_counter() - started)
            return _EmbeddingTrial(
                self.fixed,
                parameters,
                _make_lexical_search(index),
                [*self._build_measurements(effort, 0.0), Measurement("index_bytes", float(index.bytes), "bytes")],
            )
        prefixes = (str(parameters.get("query_prefix", "")), str(parameters.get("document_prefix", "")))
        embedder = find_embedder(str(parameters["embedder"]), self._source.objects, prefixes)
        documents, queries = self._embed_all(embedder)
        if documents.rows.shape[1] != queries.rows.shape[1]:
            message = f"documents have {documents.rows.shape[1]} dimensions, but queries have {queries.rows.shape[1]}."
            raise DataError(message, source=embedder.name)
        dimensions = parameters.get("dimensions")
        rows, query_rows = scale_to_unit(documents.rows, dimensions), scale_to_unit(queries.rows, dimensions)
        vectors = VectorIndex(list(self.texts), rows, parameters.get("quantize", "float32"))
        numbers = {example.query_id: n for n, example in enumerate(self._examples)}
        return _EmbeddingTrial(
            self.fixed,
            parameters,
            partial(_search_dense, vectors, query_rows, numbers),
            [
                *self._build_measurements(documents.effort, self._compute_price(embedder)),
                Measurement("index_bytes", float(vectors.n_bytes), "bytes"),
                Measurement("dimensions", float(rows.shape[1])),
                Measurement("zero_vectors", float((~rows.any(axis=1)).sum()), "documents"),
                Measurement("zero_query_vectors", float((~query_rows.any(axis=1)).sum()), "queries"),
                Measurement("texts_embedded_now", float(documents.embedded + queries.embedded), "texts"),
            ],
        )

    def _embed_all(self, embedder: NamedEmbedder) -> tuple[EmbeddedTexts, EmbeddedTexts]:
        """Of documents and of questions; kept for the next trial, which is often of the same embedder."""
        key = (embedder.identity, embedder.prefixes)
        if self._last is None or self._last[0] != key:
            made = partial(embed_texts, self._source.store, embedder, calling=self._source.calling)
            documents = made({f"document {name}": text for name, text in self.texts.items()}, queries=False)
            query_texts = {f"query {example.query_id}": example.query for example in self._examples}
            self._last = key, (documents, made(query_texts, queries=True))
        return self._last[1]

    def _compute_price(self, embedder: NamedEmbedder) -> float | None:
        """US dollars for embedding the corpus once; None where no price is known."""
        if embedder.priced_model is None:
            return 0.0
        prefix = count_tokens(embedder.prefixes[1])
        tokens = sum(count_tokens(text) + prefix for text in self.texts.values() if text.strip())
        return compute_price(embedder.priced_model, Usage(tokens))

    def _build_measurements(self, effort: EmbeddingEffort, cost: float | None) -> list[Measurement]:
        rate = effort.texts / effort.seconds if effort.seconds > 0 else None
        return [
            Measurement("texts_per_second", rate, "texts/s", n=max(1, effort.texts)),
            Measurement("embedding_price", cost, "USD"),
            Measurement("documents", float(len(self.texts))),
            Measurement("documents_empty", float(sum(not text.strip() for text in self.texts.values()))),
        ]


class _EmbeddingTrial:
    """Documents indexed one way, searched by every question."""

    def __init__(
        self,
        fixed: Mapping[str, Any],
        parameters: Mapping[str, Any],
        search: Search,
        known_measurements: Sequence[Measurement],
    ) -> None:
        self.config: Mapping[str, Any] = {**fixed, **parameters}
        self.metrics: Sequence[Metric] = tuple(parse_metric(name) for name in METRICS)
        self._search, self._known = search, known_measurements
        self._seconds = 0.0
        self._heads: list[tuple[float, float]] = []
        self._clusters: list[str | None] = []

    def answers(self, examples: Sequence[Example]) -> Iterable[tuple[Response, Sequence[MetricResult]]]:
        """The 50 nearest documents of each example; undefined where a question has no vector."""
        started = perf_counter()
        rankings = self._search(examples)
        self._seconds = perf_counter() - started
        pairs = [
            (example, Response(example.query_id, passages=tuple(Passage(name, name) for name in ids or ())))
            for example, ids in zip(examples, rankings, strict=True)
        ]
        blank = MetricResult.of(Undefined("the question has no vector: the text is blank, or the vector is all zeros"))
        for (example, response), ranking, ids in zip(pairs, rank_responses(pairs), rankings, strict=True):
            if ids is None or ranking is None:
                absent = MetricResult("not_applicable", reason="no relevant labels") if ids is not None else blank
                yield response, [absent] * len(self.metrics)
                continue
            scores = [MetricResult.of(metric.value(ranking)) for metric in self.metrics]
            value = dict(zip(METRICS, (measured.value for measured in scores), strict=True))
            top, ten = value["ndcg@3"], value["ndcg@10"]
            if top is not None and ten is not None:
                self._heads.append((top, ten))
                self._clusters.append(example.cluster)
            yield response, scores

    def measurements(self) -> Sequence[Measurement]:
        """Top-heaviness with its interval, then what was known when the trial was opened."""
        import numpy as np

        top, ten = np.array(self._heads or [(0.0, 0.0)], dtype=np.float64).T
        labels = np.array([cluster if cluster is not None else f"\0{n}" for n, cluster in enumerate(self._clusters)])
        is_unclustered = all(cluster is None for cluster in self._clusters)
        share = compute_ratio_of_means(top, ten, None if is_unclustered else labels)
        ratio, interval = share if share is not None else (None, None)
        low, high = (interval.low, interval.high) if interval is not None else (None, None)
        heavy = Measurement("top_heaviness", ratio, "", low, high, len(self._heads) or 1)
        return (heavy, *self._known, Measurement("search_seconds", self._seconds, "s"))

    def close(self) -> None:
        """Nothing is held open."""


def format_document(document: Document) -> str:
    """A document under its title, unless it opens with that or is called by it."""
    title, text = document.title.strip(), document.text
    opens = text.lstrip("# \n").casefold().startswith(title.casefold())
    needs_title = title and not opens and title != document.doc_id.rpartition("/")[2]
    return f"{title}\n{text}" if needs_title else text


def check_labels(examples: Sequence[Example], texts: Mapping[str, str]) -> None:
    """DataError where no question has a label, or one names a document that the corpus has not."""
    if not any(label.grade > 0 for example in examples for label in example.relevant or ()):
        hint = "Add relevant: {doc_id: grade} to the questions, or use a BEIR folder with qrels."
        raise DataError("no example has a relevant document.", hint=hint)
    for example in examples:
        for relevant in example.relevant or ():
            for doc_id in relevant.doc_ids if relevant.grade > 0 else ():
                if doc_id not in texts:
                    near = ", ".join(find_nearest(doc_id, texts, 3, 0.0))
                    message = f"the relevant document {doc_id!r} is not in the corpus, which has {near} …"
                    raise DataError(
                        message, source=f"example {example.query_id}", hint="Use the corpus that was labeled."
                    )


def _make_lexical_search(index: Bm25) -> Search:
    def search_bm25(examples: Sequence[Example]) -> list[list[str] | None]:
        return [
            [hit.passage_id for hit in index.search(example.query, CUTOFFS[-1])] if example.query.strip() else None
            for example in examples
        ]

    return search_bm25


def _search_dense(
    index: VectorIndex, query_rows: npt.NDArray[np.float32], numbers: Mapping[str, int], examples: Sequence[Example]
) -> list[list[str] | None]:
    rows = query_rows[[numbers[example.query_id] for example in examples]]
    rankings = index.search(rows, CUTOFFS[-1])
    return [ids if row.any() else None for row, ids in zip(rows, rankings, strict=True)]


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
