"""What searching under filters says: recall and places filled by way, and where exact search is no slower."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import exp, log

from ragauge.core.messages import number, three_digits
from ragauge.core.study import Trial
from ragauge.metrics.catalogue import parse
from ragauge.scores.results.chart import ChartPoint, ReportChart
from ragauge.studies.figures import StudyFigures, StudyTable, Told
from ragauge.studies.means import trial_means

KEYS = ("filter", "labels", "selectivity", "filter_by", "oversample")
MOST_ROWS = 40  # of the table; above, one setting alone
ENOUGH = 0.9  # recall that an index has to reach to be taken before exact search
NO_SLOWER = 1.5  # times an index's latency that exact search may need and still be taken: it misses nothing
HEADS = ("passing", "way", "recall", "filled", "p50 ms", "exact p50 ms")
NOTE = (
    "Recall counts the nearest among the vectors that pass; filled = returned / min(k, passing). post ×10 asks the "
    "index for 10 k and drops what does not pass; inside filters in the index. exact p50: one core, in the same "
    "rounds, over the passing vectors laid together once; it finds all. Labels are drawn once, clustered ones around "
    "one vector."
)


@dataclass(frozen=True, slots=True)
class FilteredTrial:
    """A trial, told apart by what it was asked under.

    Attributes:
        trial: itself.
        setting: its index with the parameters of that, shortened.
        labels: random, clustered, or column=value; "" = nothing is filtered.
        way: post ×1, inside; "" = nothing is filtered.
        share: of the vectors, that passes.
        latency: the median, in ms.
        exact: the median of exact search among those that pass, in ms.
    """

    trial: Trial
    setting: str
    labels: str
    way: str
    share: float
    latency: float
    exact: float


def filtered(found: StudyFigures) -> Iterable[Told]:
    """Sentences, tables and charts of the trials under filters; none where nothing is filtered."""
    rows = list(_rows(found))
    if not any(one.way for one in rows):
        return
    setting = _setting(found, rows)
    mine = [one for one in rows if one.setting == setting]
    yield from _labels_cost(found, mine)
    yield from _taken(found, rows)
    shown = rows if len(rows) <= MOST_ROWS else mine
    yield _table(found, shown)
    if crossing := _crossovers(found, rows):
        yield crossing
    yield from _charts(found, mine)


def _rows(found: StudyFigures) -> Iterator[FilteredTrial]:
    """The trials that exact search was timed beside."""
    for trial in filter(found.kind.rival, found.complete):
        exact, passing = (trial.measured(name) for name in ("exact_p50_ms", "passing"))
        latency, given = trial.measured("latency_p50_ms"), trial.parameters
        if exact is None or passing is None or latency is None:
            continue
        n = next(one.n for one in trial.measurements if one.name == "passing")
        labels = str(given.get("filter") or given.get("labels") or "")
        way = str(given.get("filter_by", ""))
        way = f"post ×{given['oversample']}" if way == "post" else way
        parts = (part for part in found.short(trial.name).split(":") if part.split("=")[0] not in KEYS)
        yield FilteredTrial(trial, ":".join(parts), labels, way, passing / n, latency, exact)


def _setting(found: StudyFigures, rows: Sequence[FilteredTrial]) -> str:
    """Of which setting the charts tell: the recommended one, else the best by its mean, of those that decide."""
    reading = next(iter(found.stratum_readings.values()), None)
    if reading is None:
        return rows[0].setting
    means = {one.trial: one.mean for one in found.means if one.metric == found.metric and one.mean is not None}
    taken = reading.recommendation.trial or max(reading.trials, key=lambda name: means.get(name, -1.0))
    return next((one.setting for one in rows if one.trial.name == taken), rows[0].setting)


def _labels_cost(found: StudyFigures, rows: Sequence[FilteredTrial]) -> Iterator[str]:
    """What clustered labels cost each way at the least selectivity where both kinds are scored."""
    if not found.scored:
        return
    pairs: dict[str, tuple[float, str, str]] = {}
    by = {(one.way, one.labels, one.share): one.trial.name for one in rows}
    for (way, labels, share), name in by.items():
        other = by.get((way, "clustered", share))
        if labels == "random" and other and share < pairs.get(way, (2.0, "", ""))[0]:
            pairs[way] = (share, name, other)
    said = []
    for way, (share, spread, near) in pairs.items():
        both = {name: found.scores[name] for name in (spread, near)}
        gap = next(one for one in trial_means(both, parse(found.metric), base=spread) if one.trial == near)
        if gap.difference is None or gap.difference_interval is None or gap.mean is None:
            continue
        ends = gap.difference_interval
        cost, low, high = (f"{round(-100 * one)}".replace("-", "−") for one in (gap.difference, ends.high, ends.low))
        points = f"{cost} points [{low}, {high}]"
        said.append(f"{way} {points} ({number(gap.mean - gap.difference)} to {number(gap.mean)})")
        at = share
    if said:
        yield (
            f"At {100 * at:.3g} % passing, clustered labels cost recall beside random ones, of {rows[0].setting}: "
            f"{'; '.join(said)}."
        )


def _taken(found: StudyFigures, rows: Sequence[FilteredTrial]) -> Iterator[str]:
    """Under each filter: exact search unless an index is faster and its recall will do.

    With a target: faster at all, its recall being what was asked for. Else by more than half, and some index's recall
    has to reach 0.9 with its interval.
    """
    known = {one.trial.name: one for one in rows}
    for name, trials in found.strata.items():
        if not name:
            continue
        reading = found.stratum_readings.get(name)
        if reading is None:
            yield f"Under {name} nothing is scored: no vector passes, or no query has a direction."
            continue
        taken = reading.recommendation.trial
        exact = [known[one.name].exact for one in trials if one.name in known]
        one = known.get(taken or "")
        poor = found.target is None and not any(_finds(found, trial.name, surely=False) for trial in trials)
        if exact and (one is None or poor or one.exact <= (1.0 if found.target else NO_SLOWER) * one.latency):
            beside = f"{one.setting} {one.way} {three_digits(one.latency)} ms" if one else "no trial will do"
            beside += f"; no index's recall reaches {ENOUGH}" if poor else ""
            best = one.exact if one else min(exact)
            yield f"Under {name} take exact search: it finds all in {three_digits(best)} ms, median; {beside}."
        elif taken:
            called = f"{one.setting} {one.way}" if one else taken
            yield f"Under {name} take {called}: {reading.recommendation.reason}."


def _finds(found: StudyFigures, trial: str, *, surely: bool = True) -> bool:
    """Whether the recall of an index is at least 0.9, or may be by its interval."""
    one = found.mean(trial)
    if one is None or one.mean is None:
        return False
    return (one.mean if surely or one.interval is None else one.interval.high) >= ENOUGH


def _table(found: StudyFigures, rows: Sequence[FilteredTrial]) -> StudyTable:
    cells = []
    several = len({one.setting for one in rows}) > 1
    filled = found.metric.replace("ann_recall", "filled")
    for one in sorted(rows, key=lambda one: (one.setting, -one.share, one.labels)):
        recall, full = (found.mean(one.trial.name, name) for name in (found.metric, filled))
        ends = f" [{number(recall.interval.low)}, {number(recall.interval.high)}]" if recall and recall.interval else ""
        under = " ".join(filter(None, (f"{100 * one.share:.3g} %", one.labels)))
        cells.append(
            (
                *([one.setting] if several else []),
                under,
                one.way or "no filter",
                f"{number(recall.mean if recall else None)}{ends}",
                number(full.mean if full else None),
                three_digits(one.latency),
                three_digits(one.exact),
            )
        )
    lead = () if several else (f"Of {rows[0].setting}.",)
    heads = ("trial", *HEADS) if several else HEADS
    return StudyTable("Under filters", heads, tuple(cells), HEADS[2:], lead, (NOTE,))


def crossover(shares: Sequence[float], latencies: Sequence[float], exact: Sequence[float]) -> tuple[str, float | None]:
    """The share passing up to which exact search is no slower than an index, read from the smallest share on.

    Between two shares the logarithm of the ratio of both latencies is a line over the logarithm of the share.

    Returns:
        at and the share; all, where exact search is no slower at any share measured; none, where it is slower already
        at the smallest.

    >>> crossover([0.01, 1.0], [1.0, 1.0], [0.1, 10.0])
    ('at', 0.1)
    """
    points = sorted((share, log(b / a)) for share, a, b in zip(shares, latencies, exact, strict=True))
    if points[0][1] > 0:
        return "none", None
    for (left, below), (right, above) in pairwise(points):
        if above > 0:
            at = log(left) + (log(right) - log(left)) * (below / (below - above))
            return "at", round(exp(at), 9)
    return "all", points[-1][0]


def _crossovers(found: StudyFigures, rows: Sequence[FilteredTrial]) -> StudyTable | None:
    """For each setting, way and labels, where exact search is no slower, or the index's recall is below 0.9."""
    plain = {one.setting: one for one in rows if not one.way}
    lines: dict[tuple[str, str, str], list[FilteredTrial]] = {}
    for one in rows:
        if one.trial.parameters.get("selectivity") is not None and one.share:
            lines.setdefault((one.setting, one.way, one.labels), []).append(one)
    cells = []
    for (setting, way, labels), line in lines.items():
        points = [*line, *([plain[setting]] if way == "post ×1" and setting in plain else [])]
        good = [one for one in points if _finds(found, one.trial.name)]
        poor = ", ".join(f"{100 * one:.3g} %" for one in sorted({one.share for one in points if one not in good}))
        lost = f"at {poor}, where its recall is below {ENOUGH}" if poor else ""
        if not good:
            cells.append((setting, way, labels, f"at all measured: its recall is below {ENOUGH}"))
            continue
        kind, at = crossover(*zip(*((one.share, one.latency, one.exact) for one in good), strict=True))
        least, most = (f"{100 * pick(one.share for one in good):.3g} %" for pick in (min, max))
        told = {
            "at": f"below {100 * (at or 0):.2g} %",
            "all": f"at all measured, up to {most}",
            "none": f"none in what was measured, from {least} on",
        }[kind]
        cells.append((setting, way, labels, "; ".join(filter(None, ("" if lost and kind == "none" else told, lost)))))
    if not cells:
        return None
    note = (
        "Where exact search over the passing is no slower than the index, by p50, or the index's recall is below "
        f"{ENOUGH}: latencies are held against each other only where it reaches that. Exact search misses nothing."
    )
    return StudyTable("Exact search wins", ("trial", "way", "labels", "share passing"), tuple(cells), (), (), (note,))


def _charts(found: StudyFigures, rows: Sequence[FilteredTrial]) -> Iterator[ReportChart]:
    """Recall, places filled and latency by the share that passes, a line for each way and kind of labels."""
    drawn = [one for one in rows if one.trial.parameters.get("selectivity") is not None and one.share]
    if not drawn:
        return
    plain, setting = [one for one in rows if not one.way], drawn[0].setting
    lines: dict[str, list[FilteredTrial]] = {}
    for one in drawn:
        lines.setdefault(f"{one.way}, {one.labels}", []).append(one)
    joined: Mapping[str, list[FilteredTrial]] = {
        name: [*(plain if name.startswith("post ×1,") else []), *line] for name, line in lines.items()
    }
    for name in (found.metric, found.metric.replace("ann_recall", "filled")):
        points = []
        for series, line in joined.items():
            for one in line:
                mean = found.mean(one.trial.name, name)
                if mean is not None and mean.mean is not None:
                    ends = (mean.interval.low, mean.interval.high) if mean.interval else (None, None)
                    points.append(ChartPoint(one.share, mean.mean, series, *ends))
        title = f"{name} under filters, of {setting}"
        yield ReportChart(title, "lines", "share passing", name, tuple(points), log=True)
    times = [ChartPoint(one.share, one.latency, series) for series, line in joined.items() for one in line]
    labels = drawn[0].labels
    times += [
        ChartPoint(one.share, one.exact, "exact")
        for one in {one.share: one for one in (*plain, *drawn) if one.labels in ("", labels)}.values()
    ]
    title = f"Latency under filters, of {setting}"
    yield ReportChart(title, "lines", "share passing", "p50 ms", tuple(times), log=True)
