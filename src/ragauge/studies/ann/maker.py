"""Trials of vector indexes: built, timed in interleaved rounds, held against exact search."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing, suppress
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from ragauge.core.errors import DataError, UsageError
from ragauge.core.example import EvalSet, Example
from ragauge.core.response import Passage, Response
from ragauge.core.study import Measurement
from ragauge.metrics.ann.ann_recall import AnnRecall
from ragauge.metrics.ann.filled import Filled
from ragauge.metrics.base import Metric, MetricResult
from ragauge.metrics.retrieval.recall import Recall
from ragauge.stats.growth import MIN_SIZES, predict_shares
from ragauge.studies.ann.compute import ANN, SearchedCorpus
from ragauge.studies.ann.exact import VectorMetric, check_scale, check_vectors
from ragauge.studies.ann.index import AnnIndex, NullIndex, format_name, make_index
from ragauge.studies.ann.index_benchmark import (
    BuiltIndex,
    Concurrency,
    ExactTimes,
    check_threads,
    measure_percentile,
    time_queries,
)
from ragauge.studies.ann.search_filters import (
    FILTER_KEYS,
    UNFILTERED,
    ExactNeighbors,
    FilteredSearch,
    PassingVectors,
    get_stratum,
)
from ragauge.studies.conduct import OpenTrial, TrialMaker

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ragauge.studies.ann.exact import Vectors

    Times = npt.NDArray[np.float64]

N_ROUNDS = 3
GROWTH_POWERS = (4, 3, 2, 1)  # parts of n: 1/16 to 1/2


class AnnMaker(TrialMaker):
    """Makes trials of indexes over the same vectors and queries.

    Args:
        vectors: shape (n, d).
        queries: shape (q, d).
        k: how many neighbours; of fewer vectors all.
        metric: cosine, l2 or ip.
        rounds: how often every query is timed.
        growth: whether indexes are built over n/16, n/8, n/4 and n/2 of the vectors too, to predict recall at 2n, 4n.
        source: the file of the vectors; "" = none.

    Attributes:
        until: parameters -> why a setting is not needed, after those before it; "" = it is. None: all are made.

    Raises:
        DataError: no vectors or queries, shapes that do not fit, or values that are not finite, with the row.
        UsageError: k or rounds below 1, or too few vectors for growth.
    """

    kind = ANN

    def __init__(
        self,
        vectors: Vectors,
        queries: Vectors,
        *,
        k: int = 10,
        metric: VectorMetric = "cosine",
        rounds: int = N_ROUNDS,
        growth: bool = False,
        source: str = "",
    ) -> None:
        import numpy as np

        if rounds < 1:
            raise UsageError(f"ann: rounds must be at least 1, got {rounds}.")
        base = check_vectors(vectors)
        query_rows = check_vectors(queries, "queries", base.shape[1])
        for rows, what in ((base, "vectors"), (query_rows, "queries")):
            check_scale(rows, metric, what)
        self.vectors, self.queries = (np.ascontiguousarray(rows, dtype=np.float32) for rows in (base, query_rows))
        if not len(self.vectors) or not len(self.queries):
            raise DataError(
                f"ann: got {len(self.vectors)} vectors and {len(self.queries)} queries, need at least one of each."
            )
        self.truth = ExactNeighbors(self.vectors, self.queries, k, metric)
        self.passing = PassingVectors(self.vectors, metric)
        self._truths: dict[tuple[Any, ...], ExactNeighbors] = {UNFILTERED: self.truth}
        self.k, self.metric, self.rounds, self.source = k, metric, rounds, source
        n = len(self.vectors)
        self.parts: tuple[int, ...] = (
            tuple(n >> power for power in GROWTH_POWERS if n >> power >= 2 * k) if growth else ()
        )
        if growth and len(self.parts) + 1 < MIN_SIZES:
            raise UsageError(f"ann: growth at k = {k} needs at least {2 * k << (MIN_SIZES - 1)} vectors, got {n}.")
        self._order = np.random.default_rng(7).permutation(n)
        self._grown: dict[int, ExactNeighbors] = {}
        self.fixed: Mapping[str, Any] = {
            "vectors": sha256(self.vectors.tobytes()).hexdigest()[:16],
            "n": len(self.vectors),
            "dimensions": int(self.vectors.shape[1]),
            "k": k,
            "metric": metric,
            "rounds": rounds,
            **({"growth": True} if growth else {}),
        }
        self.threads: tuple[int, ...] = ()
        self._built: dict[str, BuiltIndex] = {}
        self._open = 0  # trials
        self.corpus: SearchedCorpus | None = None
        self.until: Callable[[Mapping[str, Any]], str] | None = None

    def use_corpus(self, corpus: SearchedCorpus) -> None:
        """Says what the vectors stand for: trials are asked the questions of its set, and scored by its labels too."""
        self.corpus, self.fixed = corpus, {**self.fixed, **corpus.about}

    def use_threads(self, numbers: Sequence[int]) -> None:
        """Queries are asked from so many threads at once too. UsageError for a number below 1 or above 256."""
        self.threads = check_threads(numbers)
        self.fixed = {**self.fixed, **({"threads": list(self.threads)} if self.threads else {})}

    @property
    def metrics(self) -> Sequence[Metric]:
        """What trials are scored by: recall of neighbours, places filled, and recall by labels where there are any."""
        labelled = self.corpus is not None and self.corpus.labelled
        return (AnnRecall(self.k), Filled(self.k), *((Recall(k=self.k),) if labelled else ()))

    def eval_set(self, name: str) -> EvalSet:
        """The questions of the corpus's set, else the queries as examples: v0, v1 and so on."""
        if self.corpus is not None:
            return self.corpus.eval_set
        digest = sha256(self.queries.tobytes()).hexdigest()[:12]
        return EvalSet(name, tuple(Example(f"v{n}", f"vector {n} of {digest}") for n in range(len(self.queries))))

    def name(self, parameters: Mapping[str, Any]) -> str:
        """The index with its parameters."""
        return format_name(parameters)

    def groups(self, grid: Sequence[Mapping[str, Any]]) -> Iterable[Sequence[Mapping[str, Any]]]:
        """Settings that search one index are open together, so that one index is in memory at a time.

        With `until` each setting alone, under all of its filters: whether the next is needed is known after it.
        """
        groups_by_index: dict[str, list[Mapping[str, Any]]] = {}
        for parameters in grid:
            alone = {key: value for key, value in parameters.items() if key not in FILTER_KEYS}
            name = self._format_build_name(parameters) if self.until is None else format_name(alone)
            groups_by_index.setdefault(name, []).append(parameters)
        return groups_by_index.values()

    def find_skip_reason(self, parameters: Mapping[str, Any]) -> str:
        """What `until` says; without it every trial is needed."""
        return "" if self.until is None else self.until(parameters)

    def check_grid(self, grid: Iterable[Mapping[str, Any]]) -> None:
        """UsageError for a setting that no index of these vectors can have, before the first is built."""
        for parameters in grid:
            reason = make_index(str(parameters["index"])).find_misfit(parameters, self.vectors.shape)
            if reason:
                raise UsageError(f"{parameters['index']}: {reason}.")

    def release_index(self) -> None:
        """A trial is closed; with the last that is open, the indexes go."""
        self._open -= 1
        if not self._open:
            for built in self._built.values():
                built.index.close()
            self._built.clear()

    def get_truth(self, parameters: Mapping[str, Any]) -> ExactNeighbors:
        """The neighbours among the vectors that pass the filter of a trial."""
        key = get_stratum(parameters)
        if key not in self._truths:
            mask = self.passing.get_mask(parameters)
            self._truths[key] = ExactNeighbors(self.vectors, self.queries, self.k, self.metric, mask)
        return self._truths[key]

    def _format_build_name(self, parameters: Mapping[str, Any]) -> str:
        searched = (*FILTER_KEYS, *make_index(str(parameters["index"])).searched)
        return format_name({key: value for key, value in parameters.items() if key not in searched})

    def open(self, parameters: Mapping[str, Any]) -> AnnTrial:
        """Builds the index, unless another setting of it is open."""
        called = self._format_build_name(parameters)
        if called not in self._built:
            self.check_grid([parameters])
            index = make_index(str(parameters["index"]))
            self._built[called] = BuiltIndex.of(
                index, self.vectors, self.metric, **select_build_parameters(parameters, index)
            )
        trial = AnnTrial(self, parameters, self._built[called])
        self._open += 1
        return trial

    def prepare_group(self, opened: Sequence[OpenTrial]) -> None:
        """Times all settings in rounds, each round in another order, with an index that does nothing among them."""
        import numpy as np

        trials = [trial for trial in opened if isinstance(trial, AnnTrial)]
        null = NullIndex()
        null.build(self.vectors, self.metric)
        rng, overhead = np.random.default_rng(7), []
        for trial in trials:  # what is done the first time is not timed
            trial.set_search_params()
            for query in self.queries[:20]:
                trial.search.search(query, self.k)
        exact = self._build_exact_times(trials)
        with closing(Concurrency(self.queries, self.k, self.threads)) as together:
            for _ in range(self.rounds):
                overhead.append(time_queries(null, self.queries, self.k)[0])
                for n in rng.permutation(len(trials)):
                    trials[n].set_search_params()
                    trials[n].run_round(together)
                for times in exact:
                    times.run_round()
        for trial in trials:
            trial.overhead = float(np.median(overhead))
            trial.exact = next((times for times in exact if times.truth is trial.truth), None)
        whole = [trial for trial in trials if trial.truth is self.truth]
        for size in self.parts if whole else ():
            part, index = self.part(size), make_index(str(whole[0].parameters["index"]))
            with suppress(Exception), closing(index):  # such as more lists than vectors: not measured
                index.build(part.vectors, self.metric, **whole[0].built_with)
                for trial in whole:
                    trial.set_search_params(index)
                    trial.recalls[size] = part.compute_recalls([index.search(query, self.k) for query in self.queries])

    def _build_exact_times(self, trials: Sequence[AnnTrial]) -> list[ExactTimes]:
        """Exact search among those that pass, for each filter of some trials; none where nothing is filtered."""
        truths = {id(trial.truth): trial.truth for trial in trials}
        filtered = any(trial.truth is not self.truth for trial in trials)
        return [ExactTimes(truth) for truth in truths.values()] if filtered else []

    def part(self, size: int) -> ExactNeighbors:
        """So many of the vectors, drawn once: each part holds the smaller ones."""
        if size not in self._grown:
            self._grown[size] = ExactNeighbors(self.vectors[self._order[:size]], self.queries, self.k, self.metric)
        return self._grown[size]


class AnnTrial:
    """One setting of an index that is built, asked under a filter or without one."""

    def __init__(self, maker: AnnMaker, parameters: Mapping[str, Any], built: BuiltIndex) -> None:
        source = {"vectors_file": maker.source} if maker.source else {}
        self.config: Mapping[str, Any] = {**maker.fixed, **parameters, **source}
        self.labels = maker.corpus if maker.corpus is not None and maker.corpus.labelled else None
        self.metrics: Sequence[Metric] = maker.metrics
        index = self.index = built.index
        self.overhead = 0.0
        self.truth, mask = maker.get_truth(parameters), maker.passing.get_mask(parameters)
        times = int(parameters.get("oversample", 0))
        self.search: AnnIndex | FilteredSearch = index if mask is None else FilteredSearch(index, mask, times)
        self.exact: ExactTimes | None = None  # among the same vectors, where some trials are filtered
        self.parameters, self.built_with = parameters, select_build_parameters(parameters, index)
        self.recalls: dict[int, Times] = {}  # vectors indexed -> recall of each query
        self._maker, self._built = maker, built
        self._times: list[Times] = []
        self._seconds: dict[int, list[float]] = {}  # threads -> of each round
        self._found: list[Any] = []
        self._by_labels: list[MetricResult] = []

    def set_search_params(self, index: AnnIndex | None = None) -> None:
        """Sets what this trial searches with, in its own index or another."""
        tuned, params = index or self.index, self.parameters
        tuned.set_search_params(**{key: params[key] for key in tuned.searched if key in params})

    def run_round(self, concurrency: Concurrency) -> None:
        """Every query once, timed, then from several threads; ids are those of the first round."""
        times, ids = time_queries(self.search, self._maker.queries, self._maker.k)
        self._times.append(times)
        for count, seconds in concurrency.seconds(self.search).items():
            self._seconds.setdefault(count, []).append(seconds)
        self._found = self._found or ids

    def answers(self, examples: Sequence[Example]) -> Iterable[tuple[Response, Sequence[MetricResult]]]:
        """What was found for every query, scored by exact distances."""
        truth, corpus = self.truth, self._maker.corpus
        neighbors = [truth.beside(n, self._found[n], example.query_id) for n, example in enumerate(examples)]
        ids = [list(dict.fromkeys(entry.ids)) for entry in neighbors]
        names = [[str(n) for n in row_ids] for row_ids in ids] if corpus is None else corpus.named(ids)
        responses = [
            Response(example.query_id, passages=tuple(Passage(entry, entry) for entry in row_ids))
            for example, row_ids in zip(examples, names, strict=True)
        ]
        near = (AnnRecall(self._maker.k), Filled(self._maker.k))
        self._by_labels = self.labels.compute_recalls(ids, truth.k, truth.known) if self.labels else []
        for n, response in enumerate(responses):
            yield (
                response,
                [*(MetricResult.of(metric.value(neighbors[n])) for metric in near), *self._by_labels[n : n + 1]],
            )

    def measurements(self) -> Sequence[Measurement]:
        """Percentiles of latency with intervals over queries, queries a second, build time, memory and size."""
        import numpy as np

        times = np.stack(self._times)
        size, imbalance, memory = self.index.measure_size(), self.index.measure_imbalance(), self._built.memory
        n_queries = {count: count * len(self._maker.queries) * len(taken) for count, taken in self._seconds.items()}
        return (
            *(measure_percentile(times, share) for share in (50, 95, 99)),
            Measurement("queries_per_second", 1_000 / float(times.mean()), "1/s", n=times.size),
            *(
                Measurement(f"queries_per_second_at_{count}", n_queries[count] / sum(taken), "1/s", n=n_queries[count])
                for count, taken in self._seconds.items()
            ),
            Measurement("null_overhead_ms", self.overhead, "ms", n=times.size),
            Measurement("build_seconds", self._built.seconds, "s"),
            Measurement("index_bytes", None if size is None else float(size), "bytes"),
            Measurement("memory_bytes", None if memory is None else float(memory), "bytes"),
            *(() if imbalance is None else (Measurement("list_imbalance", imbalance),)),
            *self._measure_growth(),
            *(() if self.exact is None else self.exact.measurements()),
            *self._compare_with_exact(),
        )

    def _compare_with_exact(self) -> Iterable[Measurement]:
        """Recall by the labels of exact search, and what the index loses of it."""
        truth = self.truth
        if self.labels is not None:
            exact = self.labels.compute_recalls(truth.ids.tolist(), truth.k, truth.known)
            yield from self.labels.compare_with_exact(self._by_labels, exact, truth.k)

    def _measure_growth(self) -> Iterable[Measurement]:
        """Recall at each size that was built, and predicted at 2n and 4n."""
        import numpy as np

        truth, k = self._maker.truth, self._maker.k
        n = len(truth.vectors)
        if not self.recalls or not truth.known.any():
            return
        recalls_by_size = {**self.recalls, n: truth.compute_recalls(self._found)}
        sizes = sorted(recalls_by_size)
        for size in sorted({*self._maker.parts, n}):
            recall = float(recalls_by_size[size].mean()) if size in recalls_by_size else None
            yield Measurement(f"recall_at_{size}", recall, n=int(truth.known.sum()))
        if len(sizes) < MIN_SIZES:
            return
        shares = np.stack([recalls_by_size[size] for size in sizes])
        for times, prediction in zip((2, 4), predict_shares(sizes, shares, (2 * n, 4 * n), weight=k), strict=True):
            yield Measurement(f"predicted_at_{times * n}", prediction[0], "", *prediction[1:], n=shares.shape[1])

    def close(self) -> None:
        """Lets go of what was found, and of the index where no other trial searches it."""
        self._found, self._times, self.exact = [], [], None
        self._maker.release_index()


def select_build_parameters(parameters: Mapping[str, Any], index: AnnIndex) -> dict[str, Any]:
    """The parameters that an index is built with, without those that it is searched with."""
    return {key: value for key, value in parameters.items() if key not in ("index", *FILTER_KEYS, *index.searched)}
