"""Studies of vector indexes: what decides, what a trial costs, how recall falls as vectors are added."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ragauge.core.messages import number, signed, three_digits
from ragauge.core.study import Measurement, Trial
from ragauge.scores.results.chart import ChartPoint, ReportChart
from ragauge.studies.ann.filter_results import filtered
from ragauge.studies.figures import StudyFigures, StudyKind, StudyTable, Told

AT_THREADS = "queries_per_second_at_"
MEASURED, PREDICTED = "recall_at_", "predicted_at_"
BY_LABELS, LOST = "labelled_recall_of_exact", "labelled_recall_lost"
MOST_LINES = 8  # of a chart, so that they can be told apart


def _tells(found: StudyFigures) -> Iterable[Told]:
    yield _speed(found)
    yield from filtered(found)
    if labelled := [trial for trial in found.complete if trial.measured(LOST) is not None]:
        yield from _by_labels(labelled, found)
    grown = {trial.name: growth for trial in found.complete if (growth := list(_growth(trial.measurements)))}
    if grown:
        yield _table(grown, found)
        yield _chart(grown, found)


def _speed(found: StudyFigures) -> StudyTable:
    """Latency of the slow queries, queries a second by threads, memory; a column that no trial has is left out."""
    threads = sorted(int(one.removeprefix(AT_THREADS)) for one in found.measured if one.startswith(AT_THREADS))
    by = f", {', '.join(map(str, (1, *threads)))} threads" if threads else ""
    heads = {
        "latency_p95_ms": "p95 ms",
        "latency_p99_ms": "p99 ms",
        "queries_per_second": f"queries/s{by}",
        "memory_bytes": "memory MB",
        "null_overhead_ms": "null ms",
        "list_imbalance": "imbalance",
    }
    there = {one.name for trial in found.complete for one in trial.measurements if one.value is not None}
    heads = {name: head for name, head in heads.items() if name in there}
    rows = []
    for trial in found.listed:
        mine = {one.name: one for one in trial.measurements}
        cells = {name: _amount(mine.get(name)) for name in heads}
        rates = ("queries_per_second", *(f"{AT_THREADS}{count}" for count in threads))
        cells["queries_per_second"] = " / ".join(_amount(mine.get(one)) for one in rates)
        rows.append((found.short(trial.name), *(cells[name] for name in heads)))
    notes = ["null: an index that returns the first rows without searching, timed in the same rounds."]
    if "memory_bytes" in heads:
        notes.append("memory: by how much the process grew while the index was built.")
    if "latency_p99_ms" not in heads:
        notes.append("p99 is told from 1,000 timings on.")
    if threads:
        notes.append("With threads, each asks all queries, from Python: a library that holds the GIL gains nothing.")
    if "list_imbalance" in heads:
        notes.append("imbalance: 1 = all lists hold equally many vectors.")
    shown = tuple(heads.values())
    return StudyTable("Speed and memory", ("trial", *shown), tuple(rows), shown, (), (" ".join(notes),))


def _amount(one: Measurement | None) -> str:
    """Three digits, with the interval where there is one; bytes in MB."""
    if one is None or one.value is None:
        return "–"
    scale = 1e6 if one.unit == "bytes" else 1.0
    value, low, high = (None if end is None else three_digits(end / scale) for end in (one.value, one.low, one.high))
    return f"{value}" if low is None or high is None else f"{value} [{low}, {high}]"


def _by_labels(trials: Sequence[Trial], found: StudyFigures) -> Iterator[Told]:
    """What an index costs of retrieval, by the labels of the set; of the recommended trial, else the best, in words."""
    name = next(one for one in found.names if one.startswith("recall"))
    near = next(one for one in found.names if one.startswith("ann_recall"))
    rows, means = [], {}
    for trial in trials:
        mine, labelled = found.mean(trial.name, near), found.mean(trial.name, name)
        means[trial.name] = mine.mean if mine and mine.mean is not None else 0.0
        exact, lost = (next(one for one in trial.measurements if one.name == which) for which in (BY_LABELS, LOST))
        rows.append(
            (
                found.short(trial.name),
                number(mine.mean if mine else None),
                number(labelled.mean if labelled else None),
                _cell(exact),
                _cell(lost, signs=True),
            )
        )
    taken = found.reading.recommendation.trial or max(means, key=lambda one: means[one])
    trial = next((one for one in trials if one.name == taken), trials[0])
    lost = next(one for one in trial.measurements if one.name == LOST)
    points = f"{100 * (lost.value or 0):.1f} points of {name}"
    ends = "" if lost.low is None or lost.high is None else f" [{100 * lost.low:.1f}, {100 * lost.high:.1f}]"
    yield f"{found.short(trial.name)} costs {points}{ends} by the labels; its {near} is {number(means[trial.name])}."
    notes = (
        f"{near}: share of the nearest vectors that the index finds. {name}: share of the relevant documents, by the "
        f"labels of the set, among the first {name.partition('@')[2]} found. lost: exact search's less the index's, "
        f"paired by question ({lost.n:,}), with its 95 % interval.",
    )
    heads = (near, name, "of exact search", "lost")
    yield StudyTable("Retrieval by the labels", ("trial", *heads), tuple(rows), heads, (), notes)


def _growth(measurements: Iterable[Measurement]) -> Iterator[tuple[int, Measurement]]:
    """Vectors indexed, and recall there."""
    for one in measurements:
        for start in (MEASURED, PREDICTED):
            if one.name.startswith(start):
                yield int(one.name.removeprefix(start)), one


def _table(grown: dict[str, list[tuple[int, Measurement]]], found: StudyFigures) -> StudyTable:
    sizes = sorted({size for rows in grown.values() for size, _ in rows})
    rows = []
    for name, values in grown.items():
        cells = {size: _cell(one) for size, one in values}
        rows.append((found.short(name), *(cells.get(size, "") for size in sizes)))
    heads = [f"{size:,}" for size in sizes]
    first = next(iter(grown.values()))
    predicted = ", ".join(f"{size:,}" for size, one in first if one.name.startswith(PREDICTED))
    notes = (
        f"Recall at so many vectors, on the same queries. At {predicted} it is predicted: the log odds of recall "
        "follow a line over log2 of the number of vectors; its interval counts the queries and the distance from that "
        "line. It holds for more vectors of the same kind.",
    )
    return StudyTable("As vectors are added", ("trial", *heads), tuple(rows), tuple(heads), (), notes)


def _cell(one: Measurement, *, signs: bool = False) -> str:
    told = signed if signs else number
    ends = "" if one.low is None or one.high is None else f" [{told(one.low)}, {told(one.high)}]"
    return "not built" if one.value is None else f"{told(one.value)}{ends}"


def _chart(grown: dict[str, list[tuple[int, Measurement]]], found: StudyFigures) -> ReportChart:
    rivals = {trial.name for trials in found.strata.values() for trial in trials}
    grown = {name: one for name, one in grown.items() if name in rivals}
    best = [name for name in found.reading.front if name in grown]
    shown = [*best, *(name for name in grown if name not in best)][:MOST_LINES]
    points = tuple(
        ChartPoint(size, one.value, found.short(name), one.low, one.high)
        for name in shown
        for size, one in grown[name]
        if one.value is not None
    )
    axis = "vectors; with an interval: predicted"
    return ReportChart("Recall as vectors are added", "lines", axis, found.metric, points, log=True)


def stratum(trial: Trial) -> str:
    """Which vectors may be found in a trial, in words; "" = all."""
    filtered, labels, share = (trial.parameters.get(name) for name in ("filter", "labels", "selectivity"))
    return str(filtered) if filtered is not None else "" if share is None else f"{labels} {share_of(share)}"


def searches(trial: Trial) -> bool:
    """Whether a trial's index searches at all: the null index only times what calling one costs."""
    return trial.name.partition(":")[0] != "null"


def share_of(share: float) -> str:
    """A share in percent: 10 %, 0.25 %."""
    return f"{100 * share:.3g} %"


ANN = StudyKind(
    "ann",
    ("ann_recall@*",),
    ("latency_p50_ms", "index_bytes", "build_seconds"),
    tells=_tells,
    stratum=stratum,
    rival=searches,
)
