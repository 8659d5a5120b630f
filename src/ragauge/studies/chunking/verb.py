"""Chunkers held against each other on one corpus."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragauge.studies.options import Chunker, ChunkingOptions, numbers
from ragauge.verbs.coroutines import aside
from ragauge.verbs.option_specs import keywords

if TYPE_CHECKING:
    from ragauge.core.example import EvalSet
    from ragauge.studies.result import StudyResult


@keywords(ChunkingOptions)
def chunking(wanted: ChunkingOptions) -> StudyResult:
    """Which way of cutting documents brings most of the evidence into the context, at what size of index.

    Every chunker is a trial of a study: the documents are cut, indexed and searched alike, and one ranking of each
    question answers every cutoff and budget. The same call continues a study that was stopped.

    Options:
        set: questions with gold spans, or quotes in a JSON file: an EvalSet, a file, a stored set, or Chroma's CSV.
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
    from ragauge.readers.chroma import plain_texts
    from ragauge.readers.corpus import named_as_labels
    from ragauge.studies.chunking.maker import ChunkingMaker, ChunkingSettings
    from ragauge.studies.verb import conduct_study, open_study

    texts = plain_texts(wanted.corpus)
    eval_set = _with_gold(_set(wanted.set, texts, wanted.store))
    names = named_as_labels(texts, (span.doc_id for example in eval_set for span in example.gold_spans or ()))
    texts = {names.get(doc_id, doc_id): text for doc_id, text in texts.items()}
    cutoffs, budgets = numbers("-k", wanted.k), numbers("--budget", wanted.budget)
    how = (wanted.fill, wanted.allow_changed, wanted.price_of)
    settings = ChunkingSettings(wanted.retriever, cutoffs, budgets, *how)
    known = [str(metric) for metric in settings.metrics]
    wanted.refuse_unscored(known, "Add its cutoff to -k or its budget to --budget.")
    grid, called = _grid(wanted.chunker, texts), wanted.name or f"chunking-{eval_set.name}"
    made = ChunkingMaker(texts, settings, eval_set)
    conduct_study(called, made, eval_set, grid, fresh=wanted.fresh, store=wanted.store, say=wanted.say)
    return open_study(called, **wanted.reading)


chunking_async = aside(chunking)


def _grid(chunker: Chunker | Sequence[Chunker], documents: Mapping[str, str]) -> list[dict[str, Any]]:
    """The parameters of every trial.

    What is misspelt or not installed is an error before the first trial; what a class refuses fails its trial.
    """
    from ragauge.core.errors import RagaugeError, UsageError
    from ragauge.core.identity import plain
    from ragauge.studies.chunking.chunkers import chunker_of, grid_of

    specs = [chunker] if isinstance(chunker, str | Mapping) else chunker
    grid = [parameters for spec in specs for parameters in (grid_of(spec) if isinstance(spec, str) else [plain(spec)])]
    if nameless := next((row for row in grid if "chunker" not in row), None):
        raise UsageError(f"chunking: the parameters {nameless} name no chunker. Add the key chunker.")
    if not grid:
        raise UsageError("chunking: name at least one chunker, such as token:size=200,400.")
    for parameters in grid:
        try:
            chunker_of(parameters, documents)
        except RagaugeError:
            raise
        except Exception:  # noqa: S112 - told as the reason of the trial
            continue
    return grid


def _set(source: Any, texts: Mapping[str, str], store: str | None) -> EvalSet:
    from ragauge.evaluation.run.verb import set_of
    from ragauge.readers.chroma import is_chroma, placed_quotes, read_chroma
    from ragauge.readers.source import name_of, read_set
    from ragauge.store.store_access import open_store
    from ragauge.verbs.sources import store_url

    if isinstance(source, str | Path) and is_chroma(Path(source)):
        return read_chroma(Path(source))
    if (rows := placed_quotes(source, texts)) is not None:
        return read_set(rows, name=name_of(source))
    with open_store(store_url(store)) as opened:
        return set_of(source, opened)


def _with_gold(eval_set: EvalSet) -> EvalSet:
    from ragauge.core.errors import DataError

    if not any(example.gold_spans for example in eval_set):
        hint = "Give gold_spans: [{doc_id, start, end}] or [{doc_id, quote}], or the columns of Chroma."
        raise DataError("no example has a gold span.", source=eval_set.name, hint=hint)
    return eval_set
