"""Indexes of vectors held against exact search."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ragauge.api.inputs.typed import keywords
from ragauge.api.options import AnnOptions
from ragauge.api.threads import aside
from ragauge.components.ann.exact import exact_neighbours

if TYPE_CHECKING:
    from ragauge.api.results.study import StudyResult
    from ragauge.components.ann.exact import Vectors

__all__ = ["ann", "ann_async", "exact_neighbours"]


@keywords(AnnOptions)
def ann(wanted: AnnOptions) -> StudyResult:
    """What an approximate index of vectors misses, and how fast it is at what recall.

    Every setting is a trial of a study: the index is built, its settings are timed in interleaved rounds, and what it
    finds is held against exact search. The same call continues a study that was stopped.

    Options:
        vectors: an array of shape (n, d), or a file .npy, .fvecs, .parquet, .hdf5.
        index: one or several, such as "hnswlib:M=16,32:ef_search=32,64"; lists multiply to a grid.
        queries: as vectors; None = those of the HDF5, or holdout.
        holdout: take so many of the vectors out and ask them.
        metric: cosine, l2 or ip.
        k: how many neighbours.
        portfolio: OpenSearch's five settings of a graph in place of a grid.
        rounds: how often every query is timed.
        growth: build every index over n/16, n/8, n/4, n/2 of the vectors too: recall is predicted at 2n and 4n.
        name: of the study; ann-FILE by default.
        fresh: forget a study of this name first.
        base: the trial that others are held against.
        target: METRIC=x, or x of ann_recall: take the cheapest whose whole interval meets it.
        cost: latency_p50_ms, the default, index_bytes or build_seconds.
        log: look for the knee on the logarithm of the cost.
        store: URL of the store.
        say: told what is done, a line a trial.

    Raises:
        UsageError: no such index or parameter, no queries, or a study of this name holds other settings constant.
        DataError: a file that cannot be read as it is, with the place.
        MissingExtra: a library that is not installed.
    """
    from ragauge.api.studies import conduct_study, open_study
    from ragauge.components.ann.index import grid_of
    from ragauge.components.ann.maker import AnnMaker

    specs = [wanted.index] if isinstance(wanted.index, str) else wanted.index
    grid = [parameters for spec in specs for parameters in grid_of(spec, portfolio=wanted.portfolio)]
    vectors, asked = _read(wanted)
    label = Path(wanted.vectors).stem if isinstance(wanted.vectors, str | Path) else "vectors"
    source = str(Path(wanted.vectors).resolve()) if isinstance(wanted.vectors, str | Path) else ""
    maker = AnnMaker(
        vectors, asked, k=wanted.k, metric=wanted.metric, rounds=wanted.rounds, growth=wanted.growth, source=source
    )
    name, store = wanted.name or f"ann-{label}", wanted.store
    queries = maker.eval_set(f"{label}-queries")
    conduct_study(name, maker, queries, grid, fresh=wanted.fresh, store=store, say=wanted.say)
    return open_study(name, **{**wanted.reading, "metric": ""})


ann_async = aside(ann)


def _read(wanted: AnnOptions) -> tuple[Vectors, Vectors]:
    """The vectors to index and those to ask."""
    import numpy as np

    from ragauge.components.ann.vectors import read_vectors
    from ragauge.errors import UsageError

    file, holdout = read_vectors(wanted.vectors, wanted.metric), wanted.holdout
    if wanted.queries is not None and holdout:
        raise UsageError("ann: give either queries or holdout.")
    if wanted.queries is not None:
        return file.vectors, read_vectors(wanted.queries, wanted.metric).vectors
    if holdout:
        if not 0 < holdout < len(file.vectors):
            raise UsageError(f"ann: holdout must be from 1 to {len(file.vectors) - 1}, got {holdout}.")
        out = np.zeros(len(file.vectors), dtype=bool)
        out[np.random.default_rng(7).choice(len(out), holdout, replace=False)] = True
        return file.vectors[~out], file.vectors[out]
    if file.queries is None:
        raise UsageError("ann: there are no queries. Give --queries FILE, or --holdout N to ask N of the vectors.")
    return file.vectors, file.queries
