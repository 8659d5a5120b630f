"""Rankings measured against relevance labels: every metric's mean over the topics, and what to mind about it.

Results that repeat a document of their query.

A run's lists as passages, for the few metrics that look at more than the ranks of judged documents.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from math import fsum
from typing import TYPE_CHECKING, Any, Literal, overload

from ragauge.core import ranking
from ragauge.core.errors import UsageError
from ragauge.core.response import Passage
from ragauge.core.score import Status
from ragauge.metrics.base import Metric, MetricResult, NotApplicable, Ratio, Value
from ragauge.metrics.retrieval.ranks import Rankings, compute_rankings
from ragauge.scores.estimation import ScoreSample, compute_mean_interval
from ragauge.scores.results.summary import Summary

if TYPE_CHECKING:
    import polars as pl

    from ragauge.core.ranking import Ranking


SLICE_ROWS = 2**15  # rows looked through at a time: their keys stay in the processor's cache
ODD_MULTIPLIER = 0x9E3779B1  # spreads the numbers of queries over 32 bits


def find_copies(run: pl.DataFrame, pieces: Any = None) -> pl.DataFrame:
    """The rows that hold a document again, by query and rank; the first copy is none of them.

    Hashes tell that there are no copies, so that only rows with equal ones are compared.

    Args:
        run: columns query_id, doc_id and rank.
        pieces: numbers of the rows where a query begins, if the rows of each query stand together.
    """
    import polars as pl

    suspects = list(_find_equal_anywhere(run) if pieces is None else _find_equal_in_queries(run["doc_id"], pieces))
    copied: pl.DataFrame = pl.concat([run[rows] for rows in suspects] or [run.clear()]).sort("query_id", "rank")
    return copied.filter(~pl.struct("query_id", "doc_id").is_first_distinct())


def _find_equal_in_queries(doc: pl.Series, pieces: Any) -> Iterator[Any]:
    """Numbers of the rows whose keys are equal, whole queries at a time."""
    import numpy as np

    number = np.arange(len(pieces), dtype=np.uint32) * np.uint32(ODD_MULTIPLIER)
    lengths = np.diff(pieces, append=len(doc))
    first = np.unique(np.searchsorted(pieces, np.arange(0, len(doc), SLICE_ROWS)))  # query that a slice begins with
    for head, end in pairwise([*first[first < len(pieces)].tolist(), len(pieces)]):
        start, n = int(pieces[head]), int(lengths[head:end].sum())
        hashes = doc.slice(start, n).hash().to_numpy().astype(np.uint32)
        rows = _find_equal_keys(hashes ^ np.repeat(number[head:end], lengths[head:end]))
        if rows is not None:
            yield rows + start


def _find_equal_anywhere(run: pl.DataFrame) -> Iterator[Any]:
    """Numbers of the rows whose keys are equal, over the whole run."""
    rows = _find_equal_keys((run["query_id"].hash(1) ^ run["doc_id"].hash(2)).to_numpy())
    if rows is not None:
        yield rows


def _find_equal_keys(keys: Any) -> Any:
    """Places of the keys that come more than once; None where all differ."""
    import numpy as np

    ordered = np.sort(keys)
    repeated = ordered[1:][ordered[1:] == ordered[:-1]]
    return np.flatnonzero(np.isin(keys, repeated)) if len(repeated) else None


Topics = Literal["all", "trec_eval"]
RANKING, PASSAGES = "labels.ranking", "response.passages"
MAX_LISTED = 3  # ids shown in a warning


@dataclass(frozen=True, slots=True)
class RetrievalReport:
    """What the metrics say about a run."""

    topics: Topics  #: which queries were averaged over: all the labelled ones, or trec_eval's choice.
    summaries: tuple[Summary, ...]  #: one a metric, in the order asked.
    query_ids: tuple[str, ...]  #: the topics, in the order of the labels.
    #: printed name -> value per topic, in the same order; None where there is none.
    values: Mapping[str, Sequence[float | None]] = field(repr=False)
    warnings: tuple[str, ...] = ()  #: what the reader must know before believing a number.

    def __getitem__(self, metric: str) -> Summary:
        """The summary of a metric, by its printed name."""
        return next(summary for summary in self.summaries if summary.metric == metric)

    def per_query(self) -> dict[str, dict[str, float | None]]:
        """Query id -> printed name -> value."""
        return {
            query_id: {name: values[i] for name, values in self.values.items()}
            for i, query_id in enumerate(self.query_ids)
        }


def needs_ranking_only(metric: Metric) -> bool:
    """Whether labels and a ranking are all that the metric looks at."""
    return set(metric.needs.values()) <= {RANKING, PASSAGES}


def evaluate_retrieval(
    qrels: pl.DataFrame, run: pl.DataFrame, metrics: Sequence[Metric], topics: Topics = "all", level: float = 0.95
) -> RetrievalReport:
    """Measures a run against labels.

    Every labelled query is a topic: one that the run does not have counts as an empty retrieval, and one without
    relevant documents is not applicable. With topics="trec_eval" the topics are the labelled queries of the run, and
    one without relevant documents scores 0, as trec_eval does without -c.

    Args:
        qrels: columns query_id, item, doc_id, grade, as `read_qrels` gives them.
        run: columns query_id, doc_id, rank and perhaps score, as `read_run` gives them.
        metrics: those that need labels and rankings only.
        topics: "all" or "trec_eval".
        level: of the intervals.

    Raises:
        UsageError: a metric that needs more than a ranking, or another value of topics.
    """
    if topics not in ("all", "trec_eval"):
        raise UsageError(f"topics must be all or trec_eval, got {topics}.")
    for metric in metrics:
        if not needs_ranking_only(metric):
            other_facts = ", ".join(sorted(set(metric.needs.values()) - {RANKING, PASSAGES}))
            raise UsageError(
                f"{metric} needs {other_facts}, which labels and a ranking do not provide. Use ragauge evaluate."
            )
    ranked = compute_rankings(qrels, run)
    topic_indices = [i for i, n in enumerate(ranked.n_returned) if n or topics == "all"]
    query_ids = tuple(ranked.query_ids[i] for i in topic_indices)
    columns = _build_columns(metrics, ranked, query_ids, run, zero=topics == "trec_eval")
    return RetrievalReport(
        topics=topics,
        summaries=tuple(_build_summary(column, level) for column in columns),
        query_ids=query_ids,
        values={str(column.metric): tuple(column.values) for column in columns},
        warnings=tuple(_list_warnings(ranked, run, topics)),
    )


@dataclass(slots=True)
class _Column:
    """One metric's results, collected topic by topic; zero: a topic without relevant documents scores 0."""

    metric: Metric
    zero: bool
    values: list[float | None] = field(default_factory=list)
    without: Counter[tuple[Status, str]] = field(default_factory=Counter)  # (status, reason) -> topics

    def add(self, result: Value) -> None:
        """What the metric said of a ranking; numbers first, since they are many."""
        if isinstance(result, float):
            self.values.append(result)
        elif isinstance(result, Ratio) and result.denominator:
            self.values.append(result.numerator / result.denominator)
        elif self.zero and isinstance(result, NotApplicable):
            self.values.append(0.0)
        else:
            self.add_measured(MetricResult.of(result))

    def add_measured(self, measured: MetricResult) -> None:
        """A result with its status."""
        self.values.append(measured.value)
        if measured.value is None:
            self.without[measured.status, measured.reason] += 1


def _build_columns(
    metrics: Sequence[Metric], rankings: Rankings, query_ids: Sequence[str], run: pl.DataFrame, zero: bool
) -> list[_Column]:
    """Every metric's results. Rankings that are equal are measured once: with few labels a query, many are."""
    columns = [_Column(metric, zero) for metric in metrics]
    ranking_numbers: dict[Ranking, int] = {}
    number_by_topic = [ranking_numbers.setdefault(rankings[query_id], len(ranking_numbers)) for query_id in query_ids]
    for column in columns:
        if PASSAGES in column.metric.needs.values():
            _measure_lists(column, rankings, query_ids, run)
            continue
        results = [column.metric.value(ranking) for ranking in ranking_numbers]
        for number in number_by_topic:
            column.add(results[number])
    return columns


def _measure_lists(column: _Column, rankings: Rankings, query_ids: Sequence[str], run: pl.DataFrame) -> None:
    """The results of a metric that looks at the lists themselves."""
    lists, needs = ResultLists(run), column.metric.needs
    for query_id in query_ids:
        ranking = rankings[query_id]
        facts = {RANKING: ranking, PASSAGES: lists.of(query_id, ranking.n_returned)}
        value = column.metric.value(**{argument: facts[fact] for argument, fact in needs.items()})
        column.add_measured(MetricResult.of(value))


def _build_summary(column: _Column, level: float) -> Summary:
    metric = column.metric
    values = [value for value in column.values if value is not None]
    mean = fsum(values) / len(values) if values else None
    count: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    for (status, reason), n in column.without.items():
        count[status] += n
        reasons[reason] += n
    return Summary(
        metric=str(metric),
        measures=metric.measures,
        direction=metric.direction,
        kind=metric.scale,
        n=len(column.values),
        scored=len(values),
        undefined=count["undefined"],
        not_applicable=count["not_applicable"],
        failed=count["failed"],
        mean=mean,
        interval=compute_mean_interval(ScoreSample.of(metric, values), level),
        low=mean,
        high=mean,
        reasons=dict(reasons.most_common()),
    )


def _list_warnings(rankings: Rankings, run: pl.DataFrame, topics: Topics) -> Iterator[str]:
    """What makes the numbers doubtful: ids that do not meet, queries without results or labels, repeated documents."""
    n_topics = len(rankings)
    absent = [query_id for query_id, n in zip(rankings.query_ids, rankings.n_returned, strict=True) if not n]
    matched = n_topics - len(absent)
    if absent:
        counted = "each counts as an empty retrieval" if topics == "all" else "they are left out"
        yield f"{len(absent)} of {n_topics} labeled queries are not in the run; {counted}: {_format_ids(absent)}."
    if rankings.unknown:
        yield (
            f"queries of the run without labels, not scored: {len(rankings.unknown)} ({_format_ids(rankings.unknown)})."
        )
    if n_topics and 2 * matched < n_topics and rankings.unknown:
        yield (
            f"only {matched} of {n_topics} labeled queries are in the run. Do both files use the same query ids? "
            f"The labels have {absent[0]!r}, the run has {rankings.unknown[0]!r}."
        )
    if matched and not rankings.n_judged_returned:
        doc_id = run["doc_id"][0]
        yield f"no judged document is in the run. Do both files use the same document ids? The run has {doc_id!r}."
    repeated = find_copies(run, rankings.pieces)
    if repeated.height:
        n, queries = repeated.height, repeated["query_id"].unique(maintain_order=True).to_list()
        yield (
            f"results that repeat a document of the same query: {n} (queries {_format_ids(queries)}). A duplicate "
            "keeps its rank but counts as not relevant."
        )


def _format_ids(ids: Sequence[str]) -> str:
    more = f" and {len(ids) - MAX_LISTED} more" if len(ids) > MAX_LISTED else ""
    return ", ".join(ids[:MAX_LISTED]) + more


class ResultLists:
    """Every query's results; the run is put in order when the first list is looked into."""

    def __init__(self, run: pl.DataFrame) -> None:
        self._run = run

    def of(self, query_id: str, n: int) -> Sequence[Passage]:
        """The n results of a query, best first."""
        return _List(self, query_id, n)

    def passages(self, query_id: str) -> tuple[Passage, ...]:
        """A query's results without text, best first."""
        rows = self._sorted_table[self._rows_by_query[query_id]].iter_rows() if query_id in self._rows_by_query else ()
        return tuple(Passage(doc_id, doc_id, score=score) for _, doc_id, score in rows)

    @cached_property
    def _sorted_table(self) -> pl.DataFrame:
        import polars as pl

        score = pl.col("score") if "score" in self._run.columns else pl.lit(None, pl.Float64).alias("score")
        return self._run.sort("query_id", "rank").select("query_id", "doc_id", score)

    @cached_property
    def _rows_by_query(self) -> dict[str, slice]:
        starts = ranking.find_query_starts(self._sorted_table["query_id"])
        names = self._sorted_table["query_id"].gather(starts).to_list()
        bound_pairs = pairwise([*starts.tolist(), self._sorted_table.height])
        return {name: slice(*bounds) for name, bounds in zip(names, bound_pairs, strict=True)}


class _List(Sequence[Passage]):
    """One query's results: how many is known, what they are is read when it is asked for."""

    def __init__(self, lists: ResultLists, query_id: str, n: int) -> None:
        self._lists, self._query_id, self._n = lists, query_id, n

    def __len__(self) -> int:
        return self._n

    def __iter__(self) -> Iterator[Passage]:
        return iter(self._loaded_passages)

    @overload
    def __getitem__(self, index: int) -> Passage: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Passage]: ...
    def __getitem__(self, index: int | slice) -> Passage | Sequence[Passage]:
        return self._loaded_passages[index]

    @cached_property
    def _loaded_passages(self) -> tuple[Passage, ...]:
        return self._lists.passages(self._query_id)
