"""Chunkers held against each other on one corpus."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragauge.studies.options import Chunker, ChunkingOptions, parse_numbers
from ragauge.verbs.coroutines import make_async
from ragauge.verbs.option_specs import expand_options

if TYPE_CHECKING:
    from ragauge.core.example import EvalSet
    from ragauge.studies.result import StudyResult


@expand_options(ChunkingOptions)
def chunking(options: ChunkingOptions) -> StudyResult:
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
    from ragauge.readers.chroma import read_texts
    from ragauge.readers.corpus import match_label_names
    from ragauge.studies.chunking.maker import ChunkingMaker, ChunkingSettings
    from ragauge.studies.verb import open_study, run_study

    texts = read_texts(options.corpus)
    eval_set = _require_gold(_load_set(options.set, texts, options.store))
    names = match_label_names(texts, (span.doc_id for example in eval_set for span in example.gold_spans or ()))
    texts = {names.get(doc_id, doc_id): text for doc_id, text in texts.items()}
    cutoffs, budgets = parse_numbers("-k", options.k), parse_numbers("--budget", options.budget)
    how = (options.fill, options.allow_changed, options.price_of)
    settings = ChunkingSettings(options.retriever, cutoffs, budgets, *how)
    valid_names = [str(metric) for metric in settings.metrics]
    options.refuse_unscored(valid_names, "Add the cutoff to -k or the budget to --budget.")
    grid, study_name = _build_grid(options.chunker, texts), options.name or f"chunking-{eval_set.name}"
    maker = ChunkingMaker(texts, settings, eval_set)
    run_study(study_name, maker, eval_set, grid, fresh=options.fresh, store=options.store, say=options.say)
    return open_study(study_name, **options.open_arguments)


chunking_async = make_async(chunking)


def _build_grid(chunker: Chunker | Sequence[Chunker], documents: Mapping[str, str]) -> list[dict[str, Any]]:
    """The parameters of every trial.

    What is misspelt or not installed is an error before the first trial; what a class refuses fails its trial.
    """
    from ragauge.core.errors import RagaugeError, UsageError
    from ragauge.core.identity import to_json_value
    from ragauge.studies.chunking.chunkers import make_chunker, parse_grid

    specs = [chunker] if isinstance(chunker, str | Mapping) else chunker
    grid = [
        parameters
        for spec in specs
        for parameters in (parse_grid(spec) if isinstance(spec, str) else [to_json_value(spec)])
    ]
    if nameless := next((row for row in grid if "chunker" not in row), None):
        raise UsageError(f"chunking: the parameters {nameless} do not name a chunker. Add the key chunker.")
    if not grid:
        raise UsageError("chunking: name at least one chunker, such as token:size=200,400.")
    for parameters in grid:
        try:
            make_chunker(parameters, documents)
        except RagaugeError:
            raise
        except Exception:  # noqa: S112 - told as the reason of the trial
            continue
    return grid


def _load_set(source: Any, texts: Mapping[str, str], store: str | None) -> EvalSet:
    from ragauge.evaluation.run.verb import load_set
    from ragauge.readers.chroma import is_chroma, locate_quotes, read_chroma
    from ragauge.readers.source import derive_name, read_set
    from ragauge.store.store_access import open_store
    from ragauge.verbs.sources import resolve_store_url

    if isinstance(source, str | Path) and is_chroma(Path(source)):
        return read_chroma(Path(source))
    if (rows := locate_quotes(source, texts)) is not None:
        return read_set(rows, name=derive_name(source))
    with open_store(resolve_store_url(store)) as opened_store:
        return load_set(source, opened_store)


def _require_gold(eval_set: EvalSet) -> EvalSet:
    from ragauge.core.errors import DataError

    if not any(example.gold_spans for example in eval_set):
        hint = "Add gold_spans: [{doc_id, start, end}] or [{doc_id, quote}], or Chroma's columns."
        raise DataError("no example has a gold span.", source=eval_set.name, hint=hint)
    return eval_set
