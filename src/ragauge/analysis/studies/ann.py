"""Studies of vector indexes: what decides, what a trial costs, how recall falls as vectors are added."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ragauge.analysis.studies.figures import ChartPoint, StudyChart, StudyFigures, StudyKind, StudyTable, Told
from ragauge.analysis.studies.filtered import filtered
from ragauge.data.study import Measurement, Trial
from ragauge.text.messages import number, signed

MEASURED, PREDICTED = "recall_at_", "predicted_at_"
BY_LABELS, LOST = "labelled_recall_of_exact", "labelled_recall_lost"
MOST_LINES = 8     # of a chart, so that they can be told apart


def _tells(found: StudyFigures) -> Iterable[Told]:
    yield from filtered(found)
    if labelled := [trial for trial in found.complete if trial.measured(LOST) is not None]:
        yield from _by_labels(labelled, found)
    grown = {trial.name: growth for trial in found.complete if (growth := list(_growth(trial.measurements)))}
    if grown:
        yield _table(grown, found)
        yield _chart(grown, found)


def _by_labels(trials: Sequence[Trial], found: StudyFigures) -> Iterator[Told]:
    """What an index costs of retrieval, by the labels of the set; of the recommended trial, else the best, in words."""
    name = next(one for one in found.names if one.startswith("recall"))
    near = next(one for one in found.names if one.startswith("ann_recall"))
    rows, means = [], {}
    for trial in trials:
        mine, labelled = found.mean(trial.name, near), found.mean(trial.name, name)
        means[trial.name] = mine.mean if mine and mine.mean is not None else 0.0
        exact, lost = (next(one for one in trial.measurements if one.name == which) for which in (BY_LABELS, LOST))
        rows.append((
            found.short(trial.name), number(mine.mean if mine else None), number(labelled.mean if labelled else None),
            _cell(exact), _cell(lost, signs=True),
        ))  # fmt: skip
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


def _chart(grown: dict[str, list[tuple[int, Measurement]]], found: StudyFigures) -> StudyChart:
    best = [name for name in found.reading.front if name in grown]
    shown = [*best, *(name for name in grown if name not in best)][:MOST_LINES]
    points = tuple(
        ChartPoint(size, one.value, found.short(name), one.low, one.high)
        for name in shown for size, one in grown[name] if one.value is not None
    )     # fmt: skip
    axis = "vectors; with an interval: predicted"
    return StudyChart("Recall as vectors are added", "lines", axis, found.metric, points, log=True)


def stratum(trial: Trial) -> str:
    """Which vectors may be found in a trial, in words; "" = all."""
    filtered, labels, share = (trial.parameters.get(name) for name in ("filter", "labels", "selectivity"))
    return str(filtered) if filtered is not None else "" if share is None else f"{labels} {share_of(share)}"


def share_of(share: float) -> str:
    """A share in percent: 10 %, 0.25 %."""
    return f"{100 * share:.3g} %"


ANN = StudyKind(
    "ann", ("ann_recall@*",), ("latency_p50_ms", "index_bytes", "build_seconds"),
    ("latency_p95_ms", "latency_p99_ms", "queries_per_second"), _tells, stratum=stratum,
)     # fmt: skip
