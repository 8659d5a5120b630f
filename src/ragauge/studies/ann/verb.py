"""Indexes of vectors held against exact search."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragauge.studies.ann.exact import exact_neighbours
from ragauge.studies.options import numbers
from ragauge.verbs.coroutines import aside
from ragauge.verbs.evaluate_options import AnnCheckOptions, AnnOptions
from ragauge.verbs.option_specs import keywords

if TYPE_CHECKING:
    from ragauge.core.study import Trial
    from ragauge.gating.gate_result import GateResult
    from ragauge.store.store_access import Store
    from ragauge.studies.ann.exact import Mask, Vectors
    from ragauge.studies.ann.labels import SearchedCorpus
    from ragauge.studies.result import StudyResult

VECTORS_ALONE = (".npy", ".fvecs", ".hdf5", ".h5")  # files that hold no questions
__all__ = ["ann", "ann_async", "ann_check", "ann_check_async", "exact_neighbours"]

EXAMPLES = {"--selectivity": "1,0.1,0.01", "--labels": "random,clustered", "--oversample": "1,10"}


@keywords(AnnOptions)
def ann(wanted: AnnOptions) -> StudyResult:
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
    return _made(wanted)


ann_async = aside(ann)


def _made(wanted: AnnOptions) -> StudyResult:
    from ragauge.studies.ann.maker import AnnMaker
    from ragauge.studies.verb import conduct_study, open_study

    grid = _grid(wanted)
    corpus: SearchedCorpus | None = None
    masks: dict[str, Mask] = {}
    if wanted.corpus is None:
        vectors, asked, masks = _read(wanted)
    else:
        vectors, asked, corpus = _embedded(wanted)
    file = wanted.vectors if corpus is None and isinstance(wanted.vectors, str | Path) else None
    label = "vectors" if file is None else Path(file).stem
    maker = AnnMaker(
        vectors,
        asked,
        k=wanted.k,
        metric=wanted.metric,
        rounds=wanted.rounds,
        growth=wanted.growth,
        source="" if file is None else str(Path(file).resolve()),
    )
    maker.check(grid)
    maker.passing.add(masks)
    maker.with_threads(numbers("--threads", wanted.threads))
    if corpus is not None:
        maker.of_corpus(corpus)
        label = corpus.eval_set.name
    name, store = wanted.name or f"ann-{label}", wanted.store
    queries = maker.eval_set(f"{label}-queries")
    wanted.refuse_unscored([str(one) for one in maker.metrics])
    if wanted.portfolio and wanted.target is not None:
        maker.until = partial(_not_needed, name, wanted)
    conduct_study(name, maker, queries, grid, fresh=wanted.fresh, store=store, say=wanted.say)
    return open_study(name, **wanted.reading)


def _not_needed(study: str, wanted: AnnOptions, parameters: Mapping[str, Any]) -> str:
    """Why a setting of the portfolio is not needed: one before it, under the same filter, meets the target."""
    from ragauge.studies.ann.index import portfolio_place, series_of
    from ragauge.studies.recommendation import surely_meets
    from ragauge.studies.verb import open_study

    found = open_study(study, target=wanted.target, store=wanted.store).figures
    place, goal = portfolio_place(parameters), found.target
    if place is None or goal is None:
        return ""
    same = (one for one in found.complete if series_of(one.parameters) == series_of(parameters))
    before = [one.name for one in same if (at := portfolio_place(one.parameters)) is not None and at < place]
    for name in before:
        mean = found.mean(name, goal.metric)
        if mean is not None and surely_meets(mean, goal.value):
            return f"not needed, since the whole interval of {name} meets {goal.metric} ≥ {goal.value:g}"
    return ""


@keywords(AnnCheckOptions)
def ann_check(wanted: AnnCheckOptions) -> GateResult:
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
    from ragauge.studies.conduct import conduct_once
    from ragauge.studies.verb import open_study

    study = open_study(wanted.study, store=wanted.store)
    rules = _rules_of(wanted, study.metric)
    fixed, trial = study.study.fixed, _trial_of(study, wanted.trial)
    with open_store(study.url) as store:
        vectors, asked, masks = _read_again(wanted, store, trial, fixed["metric"])
        maker = AnnMaker(vectors, asked, k=fixed["k"], metric=fixed["metric"], rounds=1)
        maker.passing.add(masks)
        label = Path(wanted.queries).stem if isinstance(wanted.queries, str | Path) else "queries"
        queries, name = maker.eval_set(label), wanted.name or f"{wanted.study}-check"
        base = _baseline_of(store, wanted.baseline, queries.version)  # before the run, which may have its name
        run_id = conduct_once(store, name, maker, queries, trial.parameters, {"checks": wanted.study})
    return gate(run_id, baseline=base, rules=rules, store=study.url)


ann_check_async = aside(ann_check)


def _rules_of(wanted: AnnCheckOptions, metric: str) -> dict[str, Any]:
    """The rule of a gate; what is wrong with it is told before anything is asked."""
    from ragauge.core.config.config_loader import read_config
    from ragauge.core.errors import ConfigError, UsageError
    from ragauge.gating.rules import rules_of

    if (wanted.minimum is None) == (not wanted.baseline):
        raise UsageError("ann check: give either --min, the least recall, or --baseline, an earlier run.")
    if wanted.minimum is not None and not 0 <= wanted.minimum <= 1:
        raise UsageError(f"ann check: --min is a recall from 0 to 1, got {wanted.minimum:g}.")
    bound = {"min": wanted.minimum} if wanted.minimum is not None else {"max_drop": wanted.max_drop}
    rules = {"gate": {"rules": [{"metric": metric, **bound}]}}
    try:
        rules_of(read_config(rules))
    except ConfigError:
        told = f"--max-drop is points of recall or a share of it, such as '1 points' or 1%, got {wanted.max_drop!r}."
        raise UsageError(f"ann check: {told}") from None
    return rules


def _trial_of(study: StudyResult, name: str) -> Trial:
    """The trial of this name; by default the recommended one, else that of the highest mean."""
    from ragauge.core.errors import UnknownName, UsageError

    complete = {trial.name: trial for trial in study.figures.complete}
    if study.study.kind != "ann":
        raise UsageError(f"ann check: {study.study.name} is a study of {study.study.kind}, not of indexes.")
    if not complete:
        raise UsageError(f"ann check: no trial of {study.study.name} is complete.")
    if name and name not in complete:
        raise UnknownName(f"complete trial of {study.study.name}", name, complete)
    means = {mean.trial: mean.mean for mean in study.means if mean.metric == study.metric and mean.mean is not None}
    return complete[name or study.recommendation.trial or max(means, key=lambda trial: means[trial])]


def _read_again(
    wanted: AnnCheckOptions, store: Store, trial: Trial, metric: Any
) -> tuple[Vectors, Vectors, dict[str, Mask]]:
    """The vectors as they are now, the queries, and which vectors pass the filter of the trial."""
    from ragauge.core.errors import UsageError
    from ragauge.studies.ann.vectors import passing_where, read_vectors

    file = str(store.runs.find(trial.run_id).config.get("vectors_file") or "")
    if wanted.vectors is None and not file:
        raise UsageError("ann check: the study's vectors came from no file. Name their file now: --vectors FILE.")
    asked = read_vectors(wanted.queries, metric)
    source = file if wanted.vectors is None else wanted.vectors
    named = str(trial.parameters.get("filter", ""))
    columns = dict(one.split("=", 1) for one in named.split(",")) if named else {}
    masks = {named: passing_where(source, columns)} if named else {}
    vectors = read_vectors(source, metric).vectors
    return vectors, asked.vectors if asked.queries is None else asked.queries, masks


def _baseline_of(store: Store, baseline: str, version: str) -> str | None:
    """The id of a run that was asked the same queries; None for none."""
    from ragauge.comparison.baselines.baseline import baseline_run
    from ragauge.core.errors import UsageError

    base = baseline_run(baseline, store)
    if base is not None and base.set_version != version:
        raise UsageError(
            f"ann check: {base.name} was asked other queries, so that nothing is paired. "
            "Name a check of the same queries, or give --min."
        )
    return None if base is None else base.run_id


def _grid(wanted: AnnOptions) -> list[dict[str, Any]]:
    """Every setting, under every filter that is asked for."""
    from ragauge.core.errors import UsageError
    from ragauge.studies.ann.index import grid_of
    from ragauge.studies.ann.search_filters import filtered_grid

    def listed(given: Any, kind: Any, option: str) -> list[Any]:
        one = given.split(",") if isinstance(given, str) else [given] if isinstance(given, int | float) else given
        try:
            return [kind(part) for part in one if str(part).strip()]
        except ValueError:
            raise UsageError(f"{option}: expected numbers such as {EXAMPLES[option]}, got {given!r}.") from None

    specs = [wanted.index] if isinstance(wanted.index, str) else wanted.index
    return filtered_grid(
        [setting for spec in specs for setting in grid_of(spec, portfolio=wanted.portfolio)],
        selectivity=listed(wanted.selectivity, float, "--selectivity"),
        labels=[one.strip() for one in listed(wanted.labels, str, "--labels")],
        filters=[condition(wanted.filter)] if wanted.filter else [],
        oversample=listed(wanted.oversample, int, "--oversample"),
    )


def condition(columns: Mapping[str, str]) -> str:
    """A filter as it is named: lang=de,year=2024."""
    return ",".join(f"{name}={value}" for name, value in columns.items())


def _embedded(wanted: AnnOptions) -> tuple[Vectors, Vectors, SearchedCorpus]:
    """The documents of a corpus and the questions of a set as vectors."""
    import asyncio

    from ragauge.core.errors import UsageError
    from ragauge.verbs.coroutines import finish

    if not isinstance(wanted.embedder, str) and len(wanted.embedder) != 1:
        raise UsageError(f"ann: one embedder makes the vectors, got {len(wanted.embedder)}.")
    if wanted.queries is not None or wanted.holdout:
        raise UsageError("ann: with a corpus the questions of the set are asked. Leave out queries and holdout.")
    if wanted.filter:
        raise UsageError("ann: a filter names columns of a file of vectors, and a corpus has none. Take selectivity.")
    vectors = isinstance(wanted.vectors, str | Path) and Path(wanted.vectors).suffix.lower() in VECTORS_ALONE
    if vectors or hasattr(wanted.vectors, "__array_interface__"):
        told = wanted.vectors if vectors else "an array"
        raise UsageError(f"ann: with a corpus, VECTORS is a set of questions, such as golden.jsonl, got {told}.")
    return finish(lambda: asyncio.to_thread(_embed, wanted))


def _embed(wanted: AnnOptions) -> tuple[Vectors, Vectors, SearchedCorpus]:
    from ragauge.engine.retrievers import embedding_calls
    from ragauge.evaluation.run.verb import set_of
    from ragauge.readers.corpus import read_corpus
    from ragauge.store.store_access import open_store
    from ragauge.studies.embeddings.corpus import labelled_documents, searched_corpus
    from ragauge.studies.embeddings.embedders import embedder_of
    from ragauge.studies.embeddings.maker import EmbeddingSource
    from ragauge.verbs.sources import store_url

    objects = {} if isinstance(wanted.embedder, str) else wanted.embedder
    name = wanted.embedder if isinstance(wanted.embedder, str) else next(iter(objects))
    model = embedder_of(name, objects).model
    with open_store(store_url(wanted.store)) as store:
        calling = embedding_calls(
            [model] if model is not None else [],
            concurrency=wanted.concurrency,
            most=wanted.max_concurrency,
            max_cost=wanted.max_cost,
            timeout=wanted.timeout,
        )
        eval_set = set_of(wanted.vectors, store)
        documents = labelled_documents(read_corpus(wanted.corpus), eval_set)
        return searched_corpus(
            documents,
            eval_set,
            EmbeddingSource(store, calling, objects),
            name,
            (wanted.query_prefix, wanted.document_prefix),
            fresh=wanted.fresh,
        )


def _read(wanted: AnnOptions) -> tuple[Vectors, Vectors, dict[str, Mask]]:
    """The vectors to index, those to ask, and which of the first pass the filter."""
    import numpy as np

    from ragauge.core.errors import UsageError
    from ragauge.studies.ann.vectors import passing_where, read_vectors

    if wanted.embedder != "local" or wanted.query_prefix or wanted.document_prefix:
        raise UsageError("ann: an embedder needs texts. Give --corpus PATH, and a set of questions as VECTORS.")
    file, holdout = read_vectors(wanted.vectors, wanted.metric), wanted.holdout
    named = wanted.filter
    masks = {condition(named): passing_where(wanted.vectors, named)} if named else {}
    if wanted.queries is not None and holdout:
        raise UsageError("ann: give either queries or holdout.")
    if wanted.queries is not None:
        return file.vectors, read_vectors(wanted.queries, wanted.metric).vectors, masks
    if holdout:
        if not 0 < holdout < len(file.vectors):
            raise UsageError(f"ann: holdout must be from 1 to {len(file.vectors) - 1}, got {holdout}.")
        out = np.zeros(len(file.vectors), dtype=bool)
        out[np.random.default_rng(7).choice(len(out), holdout, replace=False)] = True
        return file.vectors[~out], file.vectors[out], {name: mask[~out] for name, mask in masks.items()}
    if file.queries is None:
        raise UsageError("ann: there are no queries. Give --queries FILE, or --holdout N to ask N of the vectors.")
    return file.vectors, file.queries, masks
