"""What searching under filters says: recall and places filled by way, and where exact search is no slower."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import exp, log

from ragauge.core.messages import format_three_digits, format_value
from ragauge.core.study import Trial
from ragauge.metrics.catalogue import parse_metric
from ragauge.scores.results.chart import ChartPoint, ReportChart
from ragauge.studies.figures import StudyContent, StudySummary, StudyTable
from ragauge.studies.means import compute_trial_means

FILTER_PARAMETERS = ("filter", "labels", "selectivity", "filter_by", "oversample")
MAX_ROWS = 40  # of the table; above, one setting alone
MIN_RECALL = 0.9  # recall that an index has to reach to be taken before exact search
MAX_EXACT_SLOWDOWN = 1.5  # times an index's latency that exact search may need and still be taken: it misses nothing
HEADS = ("passing", "way", "recall", "filled", "p50 ms", "exact p50 ms")
NOTE = (
    "Recall counts the nearest neighbors among the vectors that pass the filter; filled = returned / min(k, "
    "passing). post ×10 requests 10 k vectors from the index and drops those that do not pass; inside filters in the "
    "index. exact p50: exact search on one core, in the same rounds, over the passing vectors copied into one array; "
    "it finds every neighbor. Labels are sampled once; clustered labels lie around one vector."
)


@dataclass(frozen=True, slots=True)
class FilteredTrial:
    """A trial, told apart by what it was asked under."""

    trial: Trial  #: itself.
    setting: str  #: its index with the parameters of that, shortened.
    labels: str  #: random, clustered, or column=value; "" = nothing is filtered.
    way: str  #: post ×1, inside; "" = nothing is filtered.
    share: float  #: of the vectors, that passes.
    latency: float  #: the median, in ms.
    exact: float  #: the median of exact search among those that pass, in ms.


def describe_filters(summary: StudySummary) -> Iterable[StudyContent]:
    """Sentences, tables and charts of the trials under filters; none where nothing is filtered."""
    rows = list(_list_filtered_trials(summary))
    if not any(row.way for row in rows):
        return
    setting = _select_setting(summary, rows)
    setting_rows = [row for row in rows if row.setting == setting]
    yield from _describe_label_cost(summary, setting_rows)
    yield from _describe_choices(summary, rows)
    visible_rows = rows if len(rows) <= MAX_ROWS else setting_rows
    yield _build_filter_table(summary, visible_rows)
    if crossing := _build_crossover_table(summary, rows):
        yield crossing
    yield from _build_filter_charts(summary, setting_rows)


def _list_filtered_trials(summary: StudySummary) -> Iterator[FilteredTrial]:
    """The trials that exact search was timed beside."""
    for trial in filter(summary.kind.rival, summary.complete):
        exact, passing = (trial.find_measurement_value(name) for name in ("exact_p50_ms", "passing"))
        latency, parameters = trial.find_measurement_value("latency_p50_ms"), trial.parameters
        if exact is None or passing is None or latency is None:
            continue
        n = next(measurement.n for measurement in trial.measurements if measurement.name == "passing")
        labels = str(parameters.get("filter") or parameters.get("labels") or "")
        way = str(parameters.get("filter_by", ""))
        way = f"post ×{parameters['oversample']}" if way == "post" else way
        name_parts = (
            part for part in summary.shorten_name(trial.name).split(":") if part.split("=")[0] not in FILTER_PARAMETERS
        )
        yield FilteredTrial(trial, ":".join(name_parts), labels, way, passing / n, latency, exact)


def _select_setting(summary: StudySummary, rows: Sequence[FilteredTrial]) -> str:
    """Of which setting the charts tell: the recommended one, else the best by its mean, of those that decide."""
    reading = next(iter(summary.stratum_readings.values()), None)
    if reading is None:
        return rows[0].setting
    means = {
        entry.trial: entry.mean for entry in summary.means if entry.metric == summary.metric and entry.mean is not None
    }
    taken = reading.recommendation.trial or max(reading.trials, key=lambda name: means.get(name, -1.0))
    return next((entry.setting for entry in rows if entry.trial.name == taken), rows[0].setting)


def _describe_label_cost(summary: StudySummary, rows: Sequence[FilteredTrial]) -> Iterator[str]:
    """What clustered labels cost each way at the least selectivity where both kinds are scored."""
    if not summary.scored:
        return
    pairs: dict[str, tuple[float, str, str]] = {}
    by = {(entry.way, entry.labels, entry.share): entry.trial.name for entry in rows}
    for (way, labels, share), name in by.items():
        other = by.get((way, "clustered", share))
        if labels == "random" and other and share < pairs.get(way, (2.0, "", ""))[0]:
            pairs[way] = (share, name, other)
    sentences = []
    for way, (share, spread, near) in pairs.items():
        both = {name: summary.scores[name] for name in (spread, near)}
        gap = next(
            entry
            for entry in compute_trial_means(both, parse_metric(summary.metric), base=spread)
            if entry.trial == near
        )
        if gap.difference is None or gap.difference_interval is None or gap.mean is None:
            continue
        interval = gap.difference_interval
        cost, low, high = (
            f"{round(-100 * entry)}".replace("-", "−") for entry in (gap.difference, interval.high, interval.low)
        )
        points = f"{cost} points [{low}, {high}]"
        sentences.append(f"{way} {points} ({format_value(gap.mean - gap.difference)} to {format_value(gap.mean)})")
        compared_share = share
    if sentences:
        yield (
            f"At {100 * compared_share:.3g} % passing, clustered labels have lower recall than random ones "
            f"with {rows[0].setting}: {'; '.join(sentences)}."
        )


def _describe_choices(summary: StudySummary, rows: Sequence[FilteredTrial]) -> Iterator[str]:
    """Under each filter: exact search unless an index is faster and its recall will do.

    With a target: faster at all, its recall being what was asked for. Else by more than half, and some index's recall
    has to reach 0.9 with its interval.
    """
    rows_by_name = {row.trial.name: row for row in rows}
    for name, trials in summary.strata.items():
        if not name:
            continue
        reading = summary.stratum_readings.get(name)
        if reading is None:
            yield f"Nothing is scored for {name}: no vector passes the filter, or every query is a zero vector."
            continue
        taken = reading.recommendation.trial
        exact = [rows_by_name[row.name].exact for row in trials if row.name in rows_by_name]
        row = rows_by_name.get(taken or "")
        poor = summary.target is None and not any(
            _has_enough_recall(summary, trial.name, surely=False) for trial in trials
        )
        if exact and (
            row is None or poor or row.exact <= (1.0 if summary.target else MAX_EXACT_SLOWDOWN) * row.latency
        ):
            comparison_text = (
                f"{row.setting} {row.way} {format_three_digits(row.latency)} ms" if row else "no trial qualifies"
            )
            comparison_text += f"; no index reaches a recall of {MIN_RECALL}" if poor else ""
            best = row.exact if row else min(exact)
            yield (
                f"For {name}, use exact search: it finds all neighbors in {format_three_digits(best)} ms "
                f"(median); {comparison_text}."
            )
        elif taken:
            called = f"{row.setting} {row.way}" if row else taken
            yield f"For {name}, use {called}: {reading.recommendation.reason}."


def _has_enough_recall(summary: StudySummary, trial: str, *, surely: bool = True) -> bool:
    """Whether the recall of an index is at least 0.9, or may be by its interval."""
    mean = summary.mean(trial)
    if mean is None or mean.mean is None:
        return False
    return (mean.mean if surely or mean.interval is None else mean.interval.high) >= MIN_RECALL


def _build_filter_table(summary: StudySummary, rows: Sequence[FilteredTrial]) -> StudyTable:
    cells = []
    several = len({row.setting for row in rows}) > 1
    filled = summary.metric.replace("ann_recall", "filled")
    for row in sorted(rows, key=lambda row: (row.setting, -row.share, row.labels)):
        recall, full = (summary.mean(row.trial.name, name) for name in (summary.metric, filled))
        interval_text = (
            f" [{format_value(recall.interval.low)}, {format_value(recall.interval.high)}]"
            if recall and recall.interval
            else ""
        )
        under = " ".join(filter(None, (f"{100 * row.share:.3g} %", row.labels)))
        cells.append(
            (
                *([row.setting] if several else []),
                under,
                row.way or "no filter",
                f"{format_value(recall.mean if recall else None)}{interval_text}",
                format_value(full.mean if full else None),
                format_three_digits(row.latency),
                format_three_digits(row.exact),
            )
        )
    lead = () if several else (f"Index: {rows[0].setting}.",)
    headers = ("trial", *HEADS) if several else HEADS
    return StudyTable("With filters", headers, tuple(cells), HEADS[2:], lead, (NOTE,))


def find_crossover(
    shares: Sequence[float], latencies: Sequence[float], exact: Sequence[float]
) -> tuple[str, float | None]:
    """The share passing up to which exact search is no slower than an index, read from the smallest share on.

    Between two shares the logarithm of the ratio of both latencies is a line over the logarithm of the share.

    Returns:
        at and the share; all, where exact search is no slower at any share measured; none, where it is slower already
        at the smallest.

    >>> find_crossover([0.01, 1.0], [1.0, 1.0], [0.1, 10.0])
    ('at', 0.1)
    """
    points = sorted((share, log(b / a)) for share, a, b in zip(shares, latencies, exact, strict=True))
    if points[0][1] > 0:
        return "none", None
    for (lower_share, below), (upper_share, above) in pairwise(points):
        if above > 0:
            log_share = log(lower_share) + (log(upper_share) - log(lower_share)) * (below / (below - above))
            return "at", round(exp(log_share), 9)
    return "all", points[-1][0]


def _build_crossover_table(summary: StudySummary, rows: Sequence[FilteredTrial]) -> StudyTable | None:
    """For each setting, way and labels, where exact search is no slower, or the index's recall is below 0.9."""
    unfiltered = {entry.setting: entry for entry in rows if not entry.way}
    lines: dict[tuple[str, str, str], list[FilteredTrial]] = {}
    for entry in rows:
        if entry.trial.parameters.get("selectivity") is not None and entry.share:
            lines.setdefault((entry.setting, entry.way, entry.labels), []).append(entry)
    cells = []
    for (setting, way, labels), line in lines.items():
        points = [*line, *([unfiltered[setting]] if way == "post ×1" and setting in unfiltered else [])]
        good = [entry for entry in points if _has_enough_recall(summary, entry.trial.name)]
        poor = ", ".join(
            f"{100 * entry:.3g} %" for entry in sorted({entry.share for entry in points if entry not in good})
        )
        lost_text = f"at {poor}, where the index's recall is below {MIN_RECALL}" if poor else ""
        if not good:
            cells.append((setting, way, labels, f"at every measured share: the index's recall is below {MIN_RECALL}"))
            continue
        kind, crossing = find_crossover(
            *zip(*((entry.share, entry.latency, entry.exact) for entry in good), strict=True)
        )
        min_share, max_share = (f"{100 * pick(entry.share for entry in good):.3g} %" for pick in (min, max))
        range_text = {
            "at": f"below {100 * (crossing or 0):.2g} %",
            "all": f"at every measured share, up to {max_share}",
            "none": f"at no measured share, from {min_share} up",
        }[kind]
        cells.append(
            (
                setting,
                way,
                labels,
                "; ".join(filter(None, ("" if lost_text and kind == "none" else range_text, lost_text))),
            )
        )
    if not cells:
        return None
    note = (
        "Shares at which exact search over the passing vectors is at least as fast as the index (p50), or "
        f"the index's recall is below {MIN_RECALL} (then latencies are not compared). Exact search finds "
        "every neighbor."
    )
    return StudyTable("Exact search wins", ("trial", "way", "labels", "share passing"), tuple(cells), (), (), (note,))


def _build_filter_charts(summary: StudySummary, rows: Sequence[FilteredTrial]) -> Iterator[ReportChart]:
    """Recall, places filled and latency by the share that passes, a line for each way and kind of labels."""
    plotted = [row for row in rows if row.trial.parameters.get("selectivity") is not None and row.share]
    if not plotted:
        return
    unfiltered, setting = [row for row in rows if not row.way], plotted[0].setting
    lines: dict[str, list[FilteredTrial]] = {}
    for row in plotted:
        lines.setdefault(f"{row.way}, {row.labels}", []).append(row)
    joined: Mapping[str, list[FilteredTrial]] = {
        name: [*(unfiltered if name.startswith("post ×1,") else []), *line] for name, line in lines.items()
    }
    for name in (summary.metric, summary.metric.replace("ann_recall", "filled")):
        points = []
        for series, line in joined.items():
            for row in line:
                mean = summary.mean(row.trial.name, name)
                if mean is not None and mean.mean is not None:
                    bounds = (mean.interval.low, mean.interval.high) if mean.interval else (None, None)
                    points.append(ChartPoint(row.share, mean.mean, series, *bounds))
        title = f"{name} with filters: {setting}"
        yield ReportChart(title, "lines", "share passing", name, tuple(points), log=True)
    times = [ChartPoint(row.share, row.latency, series) for series, line in joined.items() for row in line]
    labels = plotted[0].labels
    times += [
        ChartPoint(row.share, row.exact, "exact")
        for row in {row.share: row for row in (*unfiltered, *plotted) if row.labels in ("", labels)}.values()
    ]
    title = f"Latency with filters: {setting}"
    yield ReportChart(title, "lines", "share passing", "p50 ms", tuple(times), log=True)
