"""Chunkers held against each other on one corpus."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from ragauge.api.results.study import StudyResult
    from ragauge.components.chunking.maker import ChunkingSettings
    from ragauge.data.example import EvalSet

Chunker = str | Mapping[str, Any]


def chunking(
    set: Any, corpus: Any, chunker: Chunker | Sequence[Chunker], *,
    retriever: Literal["bm25", "dense", "hybrid"] = "bm25", k: Sequence[int] = (1, 3, 5, 10, 15, 20),
    budget: Sequence[int] = (512, 1024, 2048, 4096), fill: Literal["cut", "whole"] = "cut", allow_changed: bool = False,
    price_of: str = "openai:text-embedding-3-small", name: str = "", fresh: bool = False,
    metric: str = "", base: str = "", target: str | float | None = None, cost: str = "", log: bool = False,
    store: str | None = None, say: Callable[[str], None] | None = None,
) -> StudyResult:     # fmt: skip
    """Which way of cutting documents brings most of the evidence into the context, at what size of index.

    Every chunker is a trial of a study: the documents are cut, indexed and searched alike, and one ranking of each
    question answers every cutoff and budget. The same call continues a study that was stopped.

    Args:
        set: questions with gold spans: an EvalSet, a file, a stored set, or Chroma's CSV.
        corpus: the documents: a folder of text files, a file or table with ids and texts, or a mapping.
        chunker: one or several, such as "token:size=200,400:overlap=0", lists multiplying to a grid; or the parameters
            of one trial as a mapping with the key chunker, for values that are lists themselves.
        retriever: bm25, dense (the embedded model) or hybrid.
        k: numbers of chunks to look at.
        budget: numbers of tokens to look at.
        fill: how a budget is filled: cut shortens the last chunk, whole leaves it out.
        allow_changed: leave out chunks whose text is not in the document, and count them.
        price_of: the embedding model whose price an index has; "" = none is told.
        name: of the study; chunking-SET by default.
        fresh: forget a study of this name first.
        metric: what decides; token_recall:budget=1024 by default, or the nearest there is.
        base: the trial that others are held against.
        target: METRIC=x, or x of what decides: take the cheapest whose whole interval meets it.
        cost: what a trial costs, such as index_tokens, the default, or embedding_price.
        log: look for the knee on the logarithm of the cost.
        store: URL of the store.
        say: told what is done, a line a trial.

    Raises:
        UsageError: no such chunker, or a study of this name holds other settings constant.
        DataError: gold spans that are not in the corpus, or a file that cannot be read.
    """
    from ragauge.api.studies import conduct_study, open_study
    from ragauge.components.chunking.maker import ChunkingMaker, ChunkingSettings
    from ragauge.data.readers.chroma import plain_texts

    eval_set, texts = _with_gold(_set(set, store)), plain_texts(corpus)
    settings = ChunkingSettings(retriever, tuple(k), tuple(budget), fill, allow_changed, price_of)
    _check(settings, metric, target)
    grid, called = _grid(chunker, texts), name or f"chunking-{eval_set.name}"
    made = ChunkingMaker(texts, settings, eval_set)
    conduct_study(called, made, eval_set, grid, fresh=fresh, store=store, say=say)
    return open_study(called, metric=metric, base=base, target=target, cost=cost, log=log, store=store)


async def chunking_async(set: Any, corpus: Any, chunker: Chunker | Sequence[Chunker], **how: Any) -> StudyResult:
    """As `chunking`, in a thread: the loop goes on meanwhile."""
    return await asyncio.to_thread(partial(chunking, set, corpus, chunker, **how))


def _check(settings: ChunkingSettings, metric: str, target: str | float | None) -> None:
    """What decides has to be scored: an error before the first trial, not after the last."""
    from ragauge.analysis.studies.figures import target_of
    from ragauge.errors import UnknownName
    from ragauge.metrics.catalogue import parse

    known = [str(one) for one in settings.metrics]
    for name in filter(None, (metric, target_of(target)[0])):
        if str(parse(name)) not in known:
            raise UnknownName("metric of this study", name, known, "Add its cutoff to -k or its budget to --budget.")


def _grid(chunker: Chunker | Sequence[Chunker], documents: Mapping[str, str]) -> list[dict[str, Any]]:
    """The parameters of every trial.

    What is misspelt or not installed is an error before the first trial; what a class refuses fails its trial.
    """
    from ragauge.components.chunking.chunkers import chunker_of, grid_of
    from ragauge.errors import RagaugeError, UsageError

    specs = [chunker] if isinstance(chunker, str | Mapping) else chunker
    grid = [parameters for spec in specs for parameters in (grid_of(spec) if isinstance(spec, str) else [dict(spec)])]
    if nameless := next((one for one in grid if "chunker" not in one), None):
        raise UsageError(f"chunking: the parameters {nameless} name no chunker. Add the key chunker.")
    if not grid:
        raise UsageError("chunking: name at least one chunker, such as token:size=200,400.")
    for parameters in grid:
        try:
            chunker_of(parameters, documents)
        except RagaugeError:
            raise
        except Exception:     # noqa: S112 - told as the reason of the trial
            continue
    return grid


def _set(source: Any, store: str | None) -> EvalSet:
    from ragauge.api.inputs.sources import store_url
    from ragauge.api.run import set_of
    from ragauge.data.readers.chroma import is_chroma, read_chroma
    from ragauge.store.open import open_store

    if isinstance(source, str | Path) and is_chroma(Path(source)):
        return read_chroma(Path(source))
    with open_store(store_url(store)) as opened:
        return set_of(source, opened)


def _with_gold(eval_set: EvalSet) -> EvalSet:
    from ragauge.errors import DataError

    if not any(example.gold_spans for example in eval_set):
        hint = "Give gold_spans: [{doc_id, start, end}], or Chroma's columns question, references, corpus_id."
        raise DataError("no example has a gold span.", source=eval_set.name, hint=hint)
    return eval_set
