"""Studies of vector indexes: what decides, what a trial costs, how recall falls as vectors are added."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragauge.core.example import EvalSet
from ragauge.core.messages import format_signed, format_three_digits, format_value
from ragauge.core.response import Passage, Response
from ragauge.core.study import Measurement, Trial
from ragauge.metrics.base import MetricResult, Undefined
from ragauge.metrics.retrieval.ranks import rank_responses
from ragauge.metrics.retrieval.recall import Recall
from ragauge.scores.estimation import ScoreSample, compute_difference_interval, compute_mean_interval
from ragauge.scores.results.chart import ChartPoint, ReportChart
from ragauge.studies.ann.filter_results import describe_filters
from ragauge.studies.figures import StudyContent, StudyKind, StudySummary, StudyTable

if TYPE_CHECKING:
    from ragauge.studies.ann.exact import Mask

THREADS_PREFIX = "queries_per_second_at_"
MEASURED_PREFIX, PREDICTED_PREFIX = "recall_at_", "predicted_at_"
BY_LABELS, LOST = "labelled_recall_of_exact", "labelled_recall_lost"
MAX_CHART_LINES = 8  # of a chart, so that they can be told apart


def _build_sections(summary: StudySummary) -> Iterable[StudyContent]:
    yield _build_speed_table(summary)
    yield from describe_filters(summary)
    if labelled := [trial for trial in summary.complete if trial.find_measurement_value(LOST) is not None]:
        yield from _describe_label_losses(labelled, summary)
    grown = {trial.name: growth for trial in summary.complete if (growth := list(_list_growth(trial.measurements)))}
    if grown:
        yield _build_growth_table(grown, summary)
        yield _build_growth_chart(grown, summary)


def _build_speed_table(summary: StudySummary) -> StudyTable:
    """Latency of the slow queries, queries a second by threads, memory; a column that no trial has is left out."""
    threads = sorted(
        int(measurement.removeprefix(THREADS_PREFIX))
        for measurement in summary.measured
        if measurement.startswith(THREADS_PREFIX)
    )
    by = f", {', '.join(map(str, (1, *threads)))} threads" if threads else ""
    headers = {
        "latency_p95_ms": "p95 ms",
        "latency_p99_ms": "p99 ms",
        "queries_per_second": f"queries/s{by}",
        "memory_bytes": "memory MB",
        "null_overhead_ms": "null ms",
        "list_imbalance": "imbalance",
    }
    measured_names = {
        measurement.name
        for trial in summary.complete
        for measurement in trial.measurements
        if measurement.value is not None
    }
    headers = {name: head for name, head in headers.items() if name in measured_names}
    rows = []
    for trial in summary.listed:
        by_name = {measurement.name: measurement for measurement in trial.measurements}
        cells = {name: _format_amount(by_name.get(name)) for name in headers}
        rates = ("queries_per_second", *(f"{THREADS_PREFIX}{count}" for count in threads))
        cells["queries_per_second"] = " / ".join(_format_amount(by_name.get(measurement)) for measurement in rates)
        rows.append((summary.shorten_name(trial.name), *(cells[name] for name in headers)))
    notes = ["null: an index that returns the first rows without searching, timed in the same rounds."]
    if "memory_bytes" in headers:
        notes.append("memory: how much the process grew while building the index.")
    if "latency_p99_ms" not in headers:
        notes.append("p99 is shown once there are at least 1,000 timings.")
    if threads:
        notes.append("Each thread runs all queries from Python; a library that holds the GIL gains nothing.")
    if "list_imbalance" in headers:
        notes.append("imbalance: 1 means that all lists hold the same number of vectors.")
    columns = tuple(headers.values())
    return StudyTable("Speed and memory", ("trial", *columns), tuple(rows), columns, (), (" ".join(notes),))


def _format_amount(measurement: Measurement | None) -> str:
    """Three digits, with the interval where there is one; bytes in MB."""
    if measurement is None or measurement.value is None:
        return "–"
    scale = 1e6 if measurement.unit == "bytes" else 1.0
    value, low, high = (
        None if end is None else format_three_digits(end / scale)
        for end in (measurement.value, measurement.low, measurement.high)
    )
    return f"{value}" if low is None or high is None else f"{value} [{low}, {high}]"


def _describe_label_losses(trials: Sequence[Trial], summary: StudySummary) -> Iterator[StudyContent]:
    """What an index costs of retrieval, by the labels of the set; of the recommended trial, else the best, in words."""
    name = next(item for item in summary.names if item.startswith("recall"))
    near = next(item for item in summary.names if item.startswith("ann_recall"))
    rows, means = [], {}
    for trial in trials:
        ann_mean, labelled = summary.mean(trial.name, near), summary.mean(trial.name, name)
        means[trial.name] = ann_mean.mean if ann_mean and ann_mean.mean is not None else 0.0
        exact, label_loss = (
            next(item for item in trial.measurements if item.name == which) for which in (BY_LABELS, LOST)
        )
        rows.append(
            (
                summary.shorten_name(trial.name),
                format_value(ann_mean.mean if ann_mean else None),
                format_value(labelled.mean if labelled else None),
                _format_measurement(exact),
                _format_measurement(label_loss, signs=True),
            )
        )
    taken = summary.reading.recommendation.trial or max(means, key=lambda item: means[item])
    trial = next((item for item in trials if item.name == taken), trials[0])
    label_loss = next(item for item in trial.measurements if item.name == LOST)
    points = f"{100 * (label_loss.value or 0):.1f} points of {name}"
    interval_text = (
        ""
        if label_loss.low is None or label_loss.high is None
        else f" [{100 * label_loss.low:.1f}, {100 * label_loss.high:.1f}]"
    )
    yield (
        f"By the labels, {summary.shorten_name(trial.name)} loses {points}{interval_text}; its {near} is "
        f"{format_value(means[trial.name])}."
    )
    notes = (
        f"{near}: share of the nearest vectors that the index finds. {name}: share of the labeled relevant "
        f"documents among the first {name.partition('@')[2]} results. lost: exact search minus the index, "
        f"paired by question ({label_loss.n:,}), with a 95 % interval.",
    )
    headers = (near, name, "exact search", "lost")
    yield StudyTable("Retrieval against the labels", ("trial", *headers), tuple(rows), headers, (), notes)


def _list_growth(measurements: Iterable[Measurement]) -> Iterator[tuple[int, Measurement]]:
    """Vectors indexed, and recall there."""
    for measurement in measurements:
        for start in (MEASURED_PREFIX, PREDICTED_PREFIX):
            if measurement.name.startswith(start):
                yield int(measurement.name.removeprefix(start)), measurement


def _build_growth_table(grown: dict[str, list[tuple[int, Measurement]]], summary: StudySummary) -> StudyTable:
    sizes = sorted({size for rows in grown.values() for size, _ in rows})
    rows = []
    for name, values in grown.items():
        cells = {size: _format_measurement(measurement) for size, measurement in values}
        rows.append((summary.shorten_name(name), *(cells.get(size, "") for size in sizes)))
    headers = [f"{size:,}" for size in sizes]
    first = next(iter(grown.values()))
    predicted = ", ".join(f"{size:,}" for size, measurement in first if measurement.name.startswith(PREDICTED_PREFIX))
    notes = (
        f"Recall at each number of vectors, on the same queries. At {predicted} it is predicted: a line is fitted to "
        "the log odds of recall over log2 of the number of vectors. The interval includes the sampling of queries "
        "and the distance from that line. The prediction assumes more vectors of the same kind.",
    )
    return StudyTable("Growth", ("trial", *headers), tuple(rows), tuple(headers), (), notes)


def _format_measurement(measurement: Measurement, *, signs: bool = False) -> str:
    format_number = format_signed if signs else format_value
    interval_text = (
        ""
        if measurement.low is None or measurement.high is None
        else f" [{format_number(measurement.low)}, {format_number(measurement.high)}]"
    )
    return "not built" if measurement.value is None else f"{format_number(measurement.value)}{interval_text}"


def _build_growth_chart(grown: dict[str, list[tuple[int, Measurement]]], summary: StudySummary) -> ReportChart:
    rivals = {trial.name for trials in summary.strata.values() for trial in trials}
    grown = {name: point for name, point in grown.items() if name in rivals}
    best = [name for name in summary.reading.front if name in grown]
    visible_names = [*best, *(name for name in grown if name not in best)][:MAX_CHART_LINES]
    points = tuple(
        ChartPoint(size, point.value, summary.shorten_name(name), point.low, point.high)
        for name in visible_names
        for size, point in grown[name]
        if point.value is not None
    )
    axis = "vectors (predicted values have an interval)"
    return ReportChart("Recall as vectors are added", "lines", axis, summary.metric, points, log=True)


def describe_stratum(trial: Trial) -> str:
    """Which vectors may be found in a trial, in words; "" = all."""
    filtered, labels, share = (trial.parameters.get(name) for name in ("filter", "labels", "selectivity"))
    return str(filtered) if filtered is not None else "" if share is None else f"{labels} {format_share(share)}"


def is_search_trial(trial: Trial) -> bool:
    """Whether a trial's index searches at all: the null index only times what calling one costs."""
    return trial.name.partition(":")[0] != "null"


def format_share(share: float) -> str:
    """A share in percent: 10 %, 0.25 %."""
    return f"{100 * share:.3g} %"


ANN = StudyKind(
    "ann",
    ("ann_recall@*",),
    ("latency_p50_ms", "index_bytes", "build_seconds"),
    tells=_build_sections,
    stratum=describe_stratum,
    rival=is_search_trial,
)


@dataclass(frozen=True, slots=True)
class SearchedCorpus:
    """Documents and questions whose vectors an index is built and asked with."""

    doc_ids: tuple[str, ...]  #: one a row of the vectors.
    eval_set: EvalSet  #: the questions, one a row of the queries.
    about: Mapping[str, Any]  #: for the record of the study, such as the embedder.

    @property
    def labelled(self) -> bool:
        """Whether a question has a relevant document."""
        return any(label.grade > 0 for example in self.eval_set.examples for label in example.relevant or ())

    def named(self, rows_by_question: Iterable[Iterable[int]]) -> list[list[str]]:
        """Rows as documents, for every question; -1 is none."""
        return [[self.doc_ids[n] for n in rows if n >= 0] for rows in rows_by_question]

    def compute_recalls(
        self, rows_by_question: Iterable[Iterable[int]], k: int, has_direction: Mask
    ) -> list[MetricResult]:
        """Recall at k of every question by its labels.

        Args:
            rows_by_question: rows, for every question.
            k: how many documents are looked at.
            has_direction: shape (questions,), whether a question has a vector that points anywhere.
        """
        metric, examples = Recall(k=k), self.eval_set.examples
        responses = (
            Response("", passages=tuple(Passage(doc_id, doc_id) for doc_id in doc_ids))
            for doc_ids in self.named(rows_by_question)
        )
        rankings = rank_responses(list(zip(examples, responses, strict=True)))
        return [
            MetricResult("not_applicable", reason="no relevant labels")
            if ranking is None
            else MetricResult.of(metric.value(ranking) if is_known else Undefined("a zero vector has no direction"))
            for ranking, is_known in zip(rankings, has_direction, strict=True)
        ]

    def compare_with_exact(
        self, index_recalls: Sequence[MetricResult], exact: Sequence[MetricResult], k: int
    ) -> Iterable[Measurement]:
        """Recall by the labels of exact search, and what the index loses of it, paired by question, with intervals."""
        import numpy as np

        pairs = [
            (entry.value, other.value, example.cluster or f"\0{n}")
            for n, (entry, other, example) in enumerate(zip(index_recalls, exact, self.eval_set.examples, strict=True))
            if entry.value is not None and other.value is not None
        ]
        if not pairs:
            return
        index, exact_values = (np.array(column, dtype=np.float64) for column in list(zip(*pairs, strict=True))[:2])
        clusters = (
            np.array([pair[2] for pair in pairs]) if any(entry.cluster for entry in self.eval_set.examples) else None
        )
        best, index_sample = ScoreSample.from_pairs(Recall(k=k), exact_values, index, None, clusters)
        for name, value, interval in (
            (BY_LABELS, float(exact_values.mean()), compute_mean_interval(best)),
            (LOST, float((exact_values - index).mean()), compute_difference_interval(best, index_sample)),
        ):
            low, high = (interval.low, interval.high) if interval is not None else (None, None)
            yield Measurement(name, value, "", low, high, len(pairs))
