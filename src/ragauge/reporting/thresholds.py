"""Which level of a metric serves, as sections."""

from __future__ import annotations

from collections.abc import Iterator

from ragauge.analysis.diagnosis.readings import STARTING
from ragauge.analysis.history.thresholds import ByOutcome, ScoreLevel, Thresholds
from ragauge.reporting.sections import Phrase, ReportColumn, ReportSection, ReportTable, columns
from ragauge.reporting.words import between, line
from ragauge.stats.instrument import WITH_ERROR
from ragauge.text.messages import number, plural

# metrics that count alike over different units: what is known of one says nothing of the other
OTHER_SCALE = {
    "context_precision": "context_precision:unit=sentence", "context_precision:unit=sentence": "context_precision",
}
TRACK = 16     # characters from 0 to 1
DESCRIPTION = "This describes what the run does; it is no target: nothing here tells which level is good enough."





def sections(found: Thresholds) -> Iterator[ReportSection]:
    """The levels with their shares and what follows, or what the run reaches."""
    by = f" · judged by {found.judge_id}" if found.judge_id else ""
    about = f"run {line(found.run)} ({found.run_id}){by}"
    notes = (starting(found),) if found.point is not None else ()
    shares = found.by_outcome
    if shares is None:
        yield _reached(found, about, notes)
        return
    after = _trend(found, shares), Phrase(conclusion(found, shares), "strong")
    levels = _levels(found, shares) if shares.levels else None
    yield ReportSection(found.metric, about, (_about(found, shares),), levels, after, notes)


def starting(found: Thresholds) -> str:
    """The starting point of the metric, and that it is one of this scale alone."""
    way = "at least" if found.direction == "higher" else "at most"
    point = number(found.point or 0.0)
    said = f"{STARTING.capitalize()} where nothing else is known ({found.source}): {way} {point}, no target."
    other = OTHER_SCALE.get(found.metric)
    return f"{said} That of {other} is another: it counts on another scale." if other else said


def _about(found: Thresholds, shares: ByOutcome) -> str:
    without = f"; {found.without_outcome:,} without this outcome left out" if found.without_outcome else ""
    others = f" Other outcomes: {', '.join(map(line, found.others))} (--outcome)." if found.others else ""
    rate = "" if shares.rate is None else f" {number(shares.rate)} {between(shares.interval)} of them turned out well."
    said = f"Outcome {line(found.outcome)} (good: {line(found.good)}): {plural(shares.n, 'response')}{without}."
    return f"{said}{rate}{others}"


def _levels(found: Thresholds, shares: ByOutcome) -> ReportTable:
    heads = (
        ReportColumn("score", whole=True), ReportColumn("n", "number"), ReportColumn("turned out well", whole=True),
        ReportColumn(f"0 {'·' * (TRACK - 4)} 1", "bar", whole=True),
        ReportColumn(f"from here on ({shares.confidence:.0%})", whole=True), ReportColumn(""),
    )     # fmt: skip
    rows = []
    for one in shares.levels:
        served = shares.level is not None and one.serves
        first = served and shares.level in (one.low, one.high)
        rate, from_rate = (
            f"{number(rate)} {between(ends)}".strip()
            for rate, ends in ((one.rate, one.interval), (one.from_rate, one.from_interval))
        )
        mark = Phrase("◀" if first else "✓" if served else "", "good" if served else "")
        rows.append((_span(one, found.kind), f"{one.n:,}", rate, track(one, shares.target), from_rate, mark))
    return ReportTable(heads, tuple(rows))


def _span(one: ScoreLevel, kind: str) -> str:
    low, high = number(one.low, kind), number(one.high, kind)
    return low if low == high else f"{low} – {high}"


def track(one: ScoreLevel, target: float) -> str:
    """The share on a line from 0 to 1: its interval, the share itself, and the target.

    >>> track(ScoreLevel(0, 0, 4, 0.5, None, 4, 0.5, None, False), 1.0)
    '        ●      ┆'
    """
    cells = [" "] * TRACK
    if one.interval is not None:
        for place in range(_place(one.interval.low), _place(one.interval.high) + 1):
            cells[place] = "─"
    cells[_place(target)] = "┆"
    cells[_place(one.rate)] = "●"
    return "".join(cells)


def _place(value: float) -> int:
    return min(TRACK - 1, max(0, int(value * TRACK)))


def _trend(found: Thresholds, shares: ByOutcome) -> str:
    if shares.correlation is None:
        alike = {0.0: "No response turned out well", 1.0: "No response turned out badly"}
        return f"{alike.get(shares.rate or 0.0, 'All scores are alike')}: there is no trend to test."
    p_value = "" if shares.correlation_interval else ", too few for an interval"
    if shares.p_value is not None and shares.correlation_interval:
        p_value = ", p < 0.001" if shares.p_value < 0.001 else f", p = {shares.p_value:.3f}"
    said = {
        "rises": f"The better {found.metric}, the more often it turns out well",
        "falls": f"The better {found.metric}, the less often it turns out well: it does not speak for this outcome",
        "no trend seen": f"No trend of the outcome with {found.metric} is seen",
    }[shares.trend]
    ends = f" {between(shares.correlation_interval)}" if shares.correlation_interval else ""
    return f"{said}: rank correlation {number(shares.correlation)}{ends}{p_value}.".replace("-", "−")


def conclusion(found: Thresholds, shares: ByOutcome) -> str:
    """The level that serves, that none does, or that there is too little to say."""
    wanted = f"{shares.target:.0%}"
    if shares.verdict == "serves":
        first = next(one for one in shares.levels if one.serves)
        level, side = number(shares.level, found.kind), "at least" if found.direction == "higher" else "at most"
        every = " Every level seen does." if first is shares.levels[0] else ""
        return (
            f"Serves: {found.metric} of {side} {level}. From there on {number(first.from_rate)} "
            f"{between(first.from_interval)} of {first.from_n:,} turned out well; the interval reaches {wanted}.{every}"
            " It is a level for single answers, not for a run's mean."
        )
    if shares.verdict == "none does":
        best = shares.levels[-1]
        return (
            f"None does: even at the best level {number(best.from_rate)} {between(best.from_interval)} turned out well,"
            f" and from every level on the whole interval lies below {wanted}."
        )
    more = (
        f" About {plural(shares.needed, 'response')} from the nearest level on would do, were their share to stay."
        if shares.needed is not None else ""
    )     # fmt: skip
    return f"Not enough data to say which level reaches {wanted}: {plural(shares.n, 'response')} with an outcome.{more}"


def _reached(found: Thresholds, about: str, notes: tuple[str, ...]) -> ReportSection:
    if not found.reached:
        return ReportSection(found.metric, about, ("No example has a score.",), notes=notes)
    side = {"higher": "score at least", "lower": "score at most", "neither": "score at most"}[found.direction]
    heads = *columns(numbers=("share of the examples", side)), ReportColumn("95 % interval of that score")
    rows = tuple(
        (f"{one.share:.0%}", number(one.value, found.kind), between(one.interval, found.kind) or "too few examples")
        for one in found.reached
    )
    mean = f"{number(found.mean, found.kind)} {between(found.interval, found.kind)}".strip()
    if found.judged is not None:
        mean += f"{WITH_ERROR} {between(found.judged, found.kind)}"
    lead = f"No outcome is recorded with the responses. {plural(found.n, 'example')}, mean {mean}."
    after = (Phrase(DESCRIPTION, "strong"),)
    return ReportSection(found.metric, about, (lead,), ReportTable(heads, rows), after, notes)
