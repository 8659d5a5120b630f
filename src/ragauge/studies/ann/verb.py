"""Indexes of vectors held against exact search."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragauge.studies.ann.exact import exact_neighbours
from ragauge.studies.options import AnnCheckOptions, AnnOptions, parse_numbers
from ragauge.verbs.coroutines import make_async
from ragauge.verbs.option_specs import expand_options

if TYPE_CHECKING:
    from ragauge.core.study import Trial
    from ragauge.gating.gate_result import GateResult
    from ragauge.store.store_access import Store
    from ragauge.studies.ann.compute import SearchedCorpus
    from ragauge.studies.ann.exact import Mask, Vectors
    from ragauge.studies.result import StudyResult

VECTOR_ONLY_SUFFIXES = (".npy", ".fvecs", ".hdf5", ".h5")  # files that hold no questions
__all__ = ["ann", "ann_async", "ann_check", "ann_check_async", "exact_neighbours"]

EXAMPLES = {"--selectivity": "1,0.1,0.01", "--labels": "random,clustered", "--oversample": "1,10"}


@expand_options(AnnOptions)
def ann(options: AnnOptions) -> StudyResult:
    """What an approximate index of vectors misses, and how fast it is at what recall.

    Every setting is a trial of a study: the index is built, its settings are timed in interleaved rounds, and what it
    finds is held against exact search. The same call continues a study that was stopped.

    Options:
        vectors: an array of shape (n, d), or a file .npy, .fvecs, .parquet, .hdf5; with a corpus a set of questions.
        index: one or several, such as "hnswlib:M=16,32:ef_search=32,64"; lists multiply to a grid.
        corpus: a folder, file, table or mapping of documents, which are embedded and indexed; None = there are vectors.
        embedder: of corpus and questions: "local", "openai:text-embedding-3-small" and other provider:model,
            "module:name", or a mapping of a name and a function or object. Vectors are kept in the store.
        query_prefix: what stands before each question.
        document_prefix: what stands before each document.
        queries: as vectors; None = those of the HDF5, or holdout.
        holdout: take so many of the vectors out and ask them.
        metric: cosine, l2 or ip.
        k: how many neighbours.
        portfolio: OpenSearch's five settings of a graph in place of a grid. With a target they are tried in its order,
            until the whole interval of one meets it; the rest are not built, and kept as pruned.
        rounds: how often every query is timed.
        threads: numbers of threads that ask at once, such as (1, 4): queries a second by each. One thread always.
        selectivity: shares of the vectors that pass a filter, such as (1, 0.1, 0.01); at 1 nothing is filtered. Every
            setting is a trial under each, by each way that its index has.
        labels: which vectors pass: random, or clustered = the nearest to one vector.
        filter: column -> value: search where a file's columns have these values, all of them.
        oversample: how many times k post-filtering asks for before it drops what does not pass.
        growth: build every index over n/16, n/8, n/4, n/2 of the vectors too: recall is predicted at 2n and 4n.
        name: of the study; ann-FILE by default.
        fresh: forget a study of this name first, and vectors of a function or object, whose code may have changed.
        base: the trial that others are held against.
        target: METRIC=x, or x of ann_recall: take the cheapest whose whole interval meets it.
        cost: latency_p50_ms, the default, index_bytes or build_seconds.
        log: look for the knee on the logarithm of the cost.
        store: URL of the store.
        say: told what is done, a line a trial.
        concurrency: calls in flight to a provider's embedder to begin with.
        max_concurrency: how far that may rise.
        max_cost: US dollars that may be spent on embedding now.
        timeout: seconds for one call.

    Raises:
        UsageError: no such index or parameter, no queries, or a study of this name holds other settings constant.
        DataError: a file that cannot be read as it is, with the place.
        MissingExtra: a library that is not installed.
    """
    return _run_ann_study(options)


ann_async = make_async(ann)


def _run_ann_study(options: AnnOptions) -> StudyResult:
    from ragauge.studies.ann.maker import AnnMaker
    from ragauge.studies.verb import open_study, run_study

    grid = _build_grid(options)
    corpus: SearchedCorpus | None = None
    masks: dict[str, Mask] = {}
    if options.corpus is None:
        vectors, query_vectors, masks = _read_study_vectors(options)
    else:
        vectors, query_vectors, corpus = _embed_in_thread(options)
    file = options.vectors if corpus is None and isinstance(options.vectors, str | Path) else None
    label = "vectors" if file is None else Path(file).stem
    maker = AnnMaker(
        vectors,
        query_vectors,
        k=options.k,
        metric=options.metric,
        rounds=options.rounds,
        growth=options.growth,
        source="" if file is None else str(Path(file).resolve()),
    )
    maker.check_grid(grid)
    maker.passing.add(masks)
    maker.use_threads(parse_numbers("--threads", options.threads))
    if corpus is not None:
        maker.use_corpus(corpus)
        label = corpus.eval_set.name
    name, store = options.name or f"ann-{label}", options.store
    queries = maker.eval_set(f"{label}-queries")
    options.refuse_unscored([str(metric) for metric in maker.metrics])
    if options.portfolio and options.target is not None:
        maker.until = partial(_explain_not_needed, name, options)
    run_study(name, maker, queries, grid, fresh=options.fresh, store=store, say=options.say)
    return open_study(name, **options.open_arguments)


def _explain_not_needed(study: str, options: AnnOptions, parameters: Mapping[str, Any]) -> str:
    """Why a setting of the portfolio is not needed: one before it, under the same filter, meets the target."""
    from ragauge.studies.ann.index import find_portfolio_index, get_series
    from ragauge.studies.recommendation import is_target_met
    from ragauge.studies.verb import open_study

    study_figures = open_study(study, target=options.target, store=options.store).figures
    position, goal = find_portfolio_index(parameters), study_figures.target
    if position is None or goal is None:
        return ""
    same = (trial for trial in study_figures.complete if get_series(trial.parameters) == get_series(parameters))
    earlier = [
        trial.name
        for trial in same
        if (trial_position := find_portfolio_index(trial.parameters)) is not None and trial_position < position
    ]
    for name in earlier:
        mean = study_figures.mean(name, goal.metric)
        if mean is not None and is_target_met(mean, goal.value):
            return f"skipped: the whole interval of {name} meets {goal.metric} ≥ {goal.value:g}"
    return ""


@expand_options(AnnCheckOptions)
def ann_check(options: AnnCheckOptions) -> GateResult:
    """Whether an index still finds what it found: built again over the vectors as they are now, asked, held to a rule.

    The run is kept like any other: `runs`, `show` and `compare` know it, and a later check may name it as its baseline.

    Options:
        study: a stored study of indexes.
        queries: an array of shape (q, d), or a file .npy, .fvecs, .parquet, .hdf5.
        vectors: as queries; None = the file that the study read, read again.
        trial: whose index is checked; "" = the recommended one, else the best of the study.
        minimum: the least mean recall, from 0 to 1.
        baseline: a run of the same queries, by id or name; either this or minimum.
        max_drop: how far recall may fall below the baseline's: "1 points" (0.01), or "1%" of it.
        name: of the run; STUDY-check by default.
        store: URL of the store.

    Returns:
        The verdict: pass, fail, or not enough queries to tell.

    Raises:
        UsageError: neither minimum nor baseline, a baseline of other queries, or no vectors.
        UnknownName: no such study, trial or run.
        DataError: a file that cannot be read as it is, with the place.
    """
    from ragauge.gating.verb import gate
    from ragauge.store.store_access import open_store
    from ragauge.studies.ann.maker import AnnMaker
    from ragauge.studies.conduct import run_single_trial
    from ragauge.studies.verb import open_study

    study = open_study(options.study, store=options.store)
    rules = _build_rules(options, study.metric)
    fixed, trial = study.study.fixed, _find_trial(study, options.trial)
    with open_store(study.url) as store:
        vectors, query_vectors, masks = _read_check_inputs(options, store, trial, fixed["metric"])
        maker = AnnMaker(vectors, query_vectors, k=fixed["k"], metric=fixed["metric"], rounds=1)
        maker.passing.add(masks)
        label = Path(options.queries).stem if isinstance(options.queries, str | Path) else "queries"
        queries, name = maker.eval_set(label), options.name or f"{options.study}-check"
        base = _find_baseline_id(store, options.baseline, queries.version)  # before the run, which may have its name
        run_id = run_single_trial(store, name, maker, queries, trial.parameters, {"checks": options.study})
    return gate(run_id, baseline=base, rules=rules, store=study.url)


ann_check_async = make_async(ann_check)


def _build_rules(options: AnnCheckOptions, metric: str) -> dict[str, Any]:
    """The rule of a gate; what is wrong with it is told before anything is asked."""
    from ragauge.core.config.config_loader import read_config
    from ragauge.core.errors import ConfigError, UsageError
    from ragauge.gating.rules import read_rules

    if (options.minimum is None) == (not options.baseline):
        raise UsageError("ann check: give either --min (the minimum recall) or --baseline (an earlier run).")
    if options.minimum is not None and not 0 <= options.minimum <= 1:
        raise UsageError(f"ann check: --min must be a recall from 0 to 1, got {options.minimum:g}.")
    bound = {"min": options.minimum} if options.minimum is not None else {"max_drop": options.max_drop}
    rules = {"gate": {"rules": [{"metric": metric, **bound}]}}
    try:
        read_rules(read_config(rules))
    except ConfigError:
        problem = (
            f"--max-drop takes points or a percentage of recall, such as '1 points' or 1%, got {options.max_drop!r}."
        )
        raise UsageError(f"ann check: {problem}") from None
    return rules


def _find_trial(study: StudyResult, name: str) -> Trial:
    """The trial of this name; by default the recommended one, else that of the highest mean."""
    from ragauge.core.errors import UnknownName, UsageError

    complete = {trial.name: trial for trial in study.figures.complete}
    if study.study.kind != "ann":
        raise UsageError(f"ann check: {study.study.name} is a {study.study.kind} study, not an index study.")
    if not complete:
        raise UsageError(f"ann check: {study.study.name} has no complete trial.")
    if name and name not in complete:
        raise UnknownName(f"complete trial of {study.study.name}", name, complete)
    means = {mean.trial: mean.mean for mean in study.means if mean.metric == study.metric and mean.mean is not None}
    return complete[name or study.recommendation.trial or max(means, key=lambda trial: means[trial])]


def _read_check_inputs(
    options: AnnCheckOptions, store: Store, trial: Trial, metric: Any
) -> tuple[Vectors, Vectors, dict[str, Mask]]:
    """The vectors as they are now, the queries, and which vectors pass the filter of the trial."""
    from ragauge.core.errors import UsageError
    from ragauge.studies.ann.vectors import find_passing, read_vectors

    file = str(store.runs.find(trial.run_id).config.get("vectors_file") or "")
    if options.vectors is None and not file:
        raise UsageError("ann check: the study does not name the file of its vectors. Add --vectors FILE.")
    query_file = read_vectors(options.queries, metric)
    source = file if options.vectors is None else options.vectors
    filter_text = str(trial.parameters.get("filter", ""))
    columns = dict(pair.split("=", 1) for pair in filter_text.split(",")) if filter_text else {}
    masks = {filter_text: find_passing(source, columns)} if filter_text else {}
    vectors = read_vectors(source, metric).vectors
    return vectors, query_file.vectors if query_file.queries is None else query_file.queries, masks


def _find_baseline_id(store: Store, baseline: str, version: str) -> str | None:
    """The id of a run that was asked the same queries; None for none."""
    from ragauge.comparison.baselines.baseline import find_baseline_run
    from ragauge.core.errors import UsageError

    base = find_baseline_run(baseline, store)
    if base is not None and base.set_version != version:
        raise UsageError(
            f"ann check: {base.name} used different queries, so nothing can be paired. Name a check of the "
            "same queries, or use --min."
        )
    return None if base is None else base.run_id


def _build_grid(options: AnnOptions) -> list[dict[str, Any]]:
    """Every setting, under every filter that is asked for."""
    from ragauge.core.errors import UsageError
    from ragauge.studies.ann.index import parse_grid
    from ragauge.studies.ann.search_filters import build_filtered_grid

    def parse_list(raw: Any, kind: Any, option: str) -> list[Any]:
        parts = raw.split(",") if isinstance(raw, str) else [raw] if isinstance(raw, int | float) else raw
        try:
            return [kind(part) for part in parts if str(part).strip()]
        except ValueError:
            raise UsageError(f"{option}: expected numbers such as {EXAMPLES[option]}, got {raw!r}.") from None

    specs = [options.index] if isinstance(options.index, str) else options.index
    return build_filtered_grid(
        [setting for spec in specs for setting in parse_grid(spec, portfolio=options.portfolio)],
        selectivity=parse_list(options.selectivity, float, "--selectivity"),
        labels=[label.strip() for label in parse_list(options.labels, str, "--labels")],
        filters=[format_filter(options.filter)] if options.filter else [],
        oversample=parse_list(options.oversample, int, "--oversample"),
    )


def format_filter(columns: Mapping[str, str]) -> str:
    """A filter as it is named: lang=de,year=2024."""
    return ",".join(f"{name}={value}" for name, value in columns.items())


def _embed_in_thread(options: AnnOptions) -> tuple[Vectors, Vectors, SearchedCorpus]:
    """The documents of a corpus and the questions of a set as vectors."""
    import asyncio

    from ragauge.core.errors import UsageError
    from ragauge.verbs.coroutines import run_coroutine

    if not isinstance(options.embedder, str) and len(options.embedder) != 1:
        raise UsageError(f"ann: exactly one embedder is needed to make the vectors, got {len(options.embedder)}.")
    if options.queries is not None or options.holdout:
        raise UsageError("ann: with a corpus, the questions of the set are the queries. Remove queries and holdout.")
    if options.filter:
        raise UsageError("ann: a filter needs a file of vectors with columns. With a corpus, use selectivity.")
    vectors = isinstance(options.vectors, str | Path) and Path(options.vectors).suffix.lower() in VECTOR_ONLY_SUFFIXES
    if vectors or hasattr(options.vectors, "__array_interface__"):
        got = options.vectors if vectors else "an array"
        raise UsageError(f"ann: with a corpus, VECTORS must be an eval set such as golden.jsonl, got {got}.")
    return run_coroutine(lambda: asyncio.to_thread(_embed_corpus, options))


def _embed_corpus(options: AnnOptions) -> tuple[Vectors, Vectors, SearchedCorpus]:
    from ragauge.engine.retrievers import build_embedding_options
    from ragauge.evaluation.run.verb import load_set
    from ragauge.readers.corpus import read_corpus
    from ragauge.store.store_access import open_store
    from ragauge.studies.embeddings.maker import EmbeddingSource, embed_corpus, name_documents_as_labels
    from ragauge.studies.embeddings.vector_search import find_embedder
    from ragauge.verbs.sources import resolve_store_url

    objects = {} if isinstance(options.embedder, str) else options.embedder
    name = options.embedder if isinstance(options.embedder, str) else next(iter(objects))
    model = find_embedder(name, objects).model
    with open_store(resolve_store_url(options.store)) as store:
        calling = build_embedding_options(
            [model] if model is not None else [],
            concurrency=options.concurrency,
            max_concurrency=options.max_concurrency,
            max_cost=options.max_cost,
            timeout=options.timeout,
        )
        eval_set = load_set(options.vectors, store)
        documents = name_documents_as_labels(read_corpus(options.corpus), eval_set)
        return embed_corpus(
            documents,
            eval_set,
            EmbeddingSource(store, calling, objects),
            name,
            (options.query_prefix, options.document_prefix),
            fresh=options.fresh,
        )


def _read_study_vectors(options: AnnOptions) -> tuple[Vectors, Vectors, dict[str, Mask]]:
    """The vectors to index, those to ask, and which of the first pass the filter."""
    import numpy as np

    from ragauge.core.errors import UsageError
    from ragauge.studies.ann.vectors import find_passing, read_vectors

    if options.embedder != "local" or options.query_prefix or options.document_prefix:
        raise UsageError("ann: an embedder needs texts. Add --corpus PATH and give an eval set as VECTORS.")
    file, holdout = read_vectors(options.vectors, options.metric), options.holdout
    filter_columns = options.filter
    masks = {format_filter(filter_columns): find_passing(options.vectors, filter_columns)} if filter_columns else {}
    if options.queries is not None and holdout:
        raise UsageError("ann: give either queries or holdout, not both.")
    if options.queries is not None:
        return file.vectors, read_vectors(options.queries, options.metric).vectors, masks
    if holdout:
        if not 0 < holdout < len(file.vectors):
            raise UsageError(f"ann: holdout must be from 1 to {len(file.vectors) - 1}, got {holdout}.")
        out = np.zeros(len(file.vectors), dtype=bool)
        out[np.random.default_rng(7).choice(len(out), holdout, replace=False)] = True
        return file.vectors[~out], file.vectors[out], {name: mask[~out] for name, mask in masks.items()}
    if file.queries is None:
        raise UsageError(
            "ann: there are no queries. Add --queries FILE, or --holdout N to query with N of the vectors."
        )
    return file.vectors, file.queries, masks
