"""Embedders held against each other on one corpus."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from ragauge.api.inputs.calls import ModelCallOptions
from ragauge.api.inputs.typed import keywords
from ragauge.api.threads import plain

if TYPE_CHECKING:
    from ragauge.api.results.study import StudyResult

QUANTIZED = ("int8", "binary")


@dataclass(frozen=True, kw_only=True)
class EmbeddingsOptions(ModelCallOptions):
    """What is held against what. Each field is an argument of `embeddings`, whose documentation explains it."""

    set: Any = field(kw_only=False)
    corpus: Any = field(kw_only=False)
    embedder: str | Sequence[str] | Mapping[str, Any] = field(kw_only=False)
    dimensions: Sequence[int] = ()
    quantize: Sequence[str] = ()
    query_prefix: str | Mapping[str, str] = ""
    document_prefix: str | Mapping[str, str] = ""
    name: str = ""
    fresh: bool = False
    metric: str = ""
    base: str = ""
    target: str | float | None = None
    cost: str = ""
    log: bool = False
    decide: Literal["interval", "point"] = "interval"
    store: str | None = None
    say: Callable[[str], None] | None = None

    def __post_init__(self) -> None:
        from ragauge.analysis.studies.figures import target_of
        from ragauge.components.embeddings.maker import METRICS
        from ragauge.errors import UnknownName, UsageError

        for metric in filter(None, (self.metric, target_of(self.target)[0])):
            if metric not in METRICS:
                raise UnknownName("metric of this study", metric, METRICS)
        if any(one < 1 for one in self.dimensions):
            raise UsageError(f"embeddings: dimensions must be at least 1, got {min(self.dimensions)}.")
        for one in self.quantize:
            if one not in QUANTIZED:
                raise UnknownName("precision", one, QUANTIZED)
        if not self.names:
            raise UsageError("embeddings: name at least one embedder, such as local.")
        for prefix in (self.query_prefix, self.document_prefix):
            for name in () if isinstance(prefix, str) else prefix:
                if name not in self.names:
                    raise UnknownName("embedder with a prefix", name, self.names)

    @property
    def names(self) -> tuple[str, ...]:
        """The embedders, each once."""
        given = [self.embedder] if isinstance(self.embedder, str) else self.embedder
        return tuple(dict.fromkeys(given))

    @property
    def objects(self) -> Mapping[str, Any]:
        """Name -> function or object, of those that are given in Python."""
        return self.embedder if isinstance(self.embedder, Mapping) else {}

    @property
    def grid(self) -> list[dict[str, Any]]:
        """The parameters of every trial: BM25, then each embedder whole, shortened, and quantized."""
        trials: list[dict[str, Any]] = [{"embedder": "bm25"}]
        kept = [one for quantize in self.quantize for one in _precisions(quantize)]
        for name in self.names:
            prefixes = {
                key: found for key in ("query_prefix", "document_prefix")
                if (found := prefix if isinstance(prefix := getattr(self, key), str) else prefix.get(name, ""))
            }     # fmt: skip
            for dimensions in (None, *dict.fromkeys(self.dimensions)):
                for precision in (None, *dict.fromkeys(kept)):
                    made = {"embedder": name, **prefixes, "dimensions": dimensions, "quantize": precision}
                    trials.append({key: value for key, value in made.items() if value is not None})
        return [one for n, one in enumerate(trials) if one not in trials[:n]]


def _precisions(quantize: str) -> tuple[str, ...]:
    return ("binary", "binary_rescored") if quantize == "binary" else (quantize,)


@keywords(EmbeddingsOptions)
async def embeddings_async(wanted: EmbeddingsOptions) -> StudyResult:
    """Which embedder finds what is relevant, at what size and price; BM25 runs beside them.

    Every embedder, number of dimensions and precision is a trial of a study, searched exactly. Vectors are kept in the
    store: no text is embedded twice. The same call continues a study that was stopped.

    Options:
        set: questions with `relevant`: an EvalSet, a file, a BEIR folder or a stored set.
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
    from ragauge.api.inputs.sources import store_url
    from ragauge.api.run import set_of
    from ragauge.api.studies import open_study
    from ragauge.components.embeddings.embedders import LEXICAL, embedder_of
    from ragauge.components.embeddings.maker import EmbeddingMaker, EmbeddingSource
    from ragauge.data.readers.corpus import read_corpus
    from ragauge.engine.studies.conduct import conduct
    from ragauge.engine.studies.retrieval import embedding_calls
    from ragauge.store.open import open_store

    with open_store(store_url(wanted.store)) as opened:
        eval_set, documents = set_of(wanted.set, opened), read_corpus(wanted.corpus)
        named = [embedder_of(one, wanted.objects) for one in wanted.names if one != LEXICAL]
        calling = embedding_calls(
            [one.model for one in named if one.model is not None], concurrency=wanted.concurrency,
            most=wanted.max_concurrency, max_cost=wanted.max_cost, timeout=wanted.timeout,
        )     # fmt: skip
        maker = EmbeddingMaker(documents, eval_set.examples, EmbeddingSource(opened, calling, wanted.objects))
        for one in named if wanted.fresh else ():
            if one.model is None:
                opened.vectors.delete(one.identity)
        called = wanted.name or f"embeddings-{eval_set.name}"
        conduct(opened, called, maker, eval_set, wanted.grid, fresh=wanted.fresh, say=wanted.say)
    return open_study(
        called, metric=wanted.metric, base=wanted.base, target=wanted.target, cost=wanted.cost, log=wanted.log,
        decide=wanted.decide, store=wanted.store,
    )     # fmt: skip
