"""Which level of a metric serves, as sections."""

from __future__ import annotations

from collections.abc import Iterator

from ragauge.core.messages import format_count, format_value
from ragauge.evaluation.thresholds.compute import ByOutcome, ScoreLevel, Thresholds
from ragauge.rendering.sections import Col, Phrase, ReportSection, ReportTable, build_table
from ragauge.rendering.words import between, to_line
from ragauge.scores.indicators import STARTING_LABEL, StartingPoint
from ragauge.stats.judge_error import WITH_ERROR

# metrics that count alike over different units: what is known of one says nothing of the other
OTHER_SCALE = {
    "context_precision": "context_precision:unit=sentence",
    "context_precision:unit=sentence": "context_precision",
}
TRACK_CHARS = 16  # characters from 0 to 1
TRACK_HEAD = f"0 {'·' * (TRACK_CHARS - 4)} 1"
DESCRIPTION = "This describes the run; it is not a target. Nothing here shows which score is good enough."


def build_sections(thresholds: Thresholds) -> Iterator[ReportSection]:
    """The levels with their shares and what follows, or what the run reaches."""
    by = f" · judged by {thresholds.judge_id}" if thresholds.judge_id else ""
    about = f"run {to_line(thresholds.run)} ({thresholds.run_id}){by}"
    notes = (
        (describe_starting_point(thresholds, thresholds.starting_point),)
        if thresholds.starting_point is not None
        else ()
    )
    shares = thresholds.by_outcome
    if shares is None:
        yield _build_reached_section(thresholds, about, notes)
        return
    after = _describe_trend(thresholds, shares), Phrase(describe_conclusion(thresholds, shares), "strong")
    levels = _build_level_table(thresholds, shares) if shares.levels else None
    yield ReportSection(thresholds.metric, about, (_describe_outcome(thresholds, shares),), levels, after, notes)


def describe_starting_point(thresholds: Thresholds, point: StartingPoint) -> str:
    """The starting point of the metric, and that it is one of this scale alone."""
    way = "at least" if thresholds.direction == "higher" else "at most"
    source = f"{STARTING_LABEL.capitalize()} if you have no better one ({point.source})"
    words = f"{source}: {way} {format_value(point.value)}; not a target."
    other = OTHER_SCALE.get(thresholds.metric)
    return f"{words} The one for {other} differs: it uses another scale." if other else words


def _describe_outcome(thresholds: Thresholds, shares: ByOutcome) -> str:
    without = f"; {thresholds.without_outcome:,} without this outcome excluded" if thresholds.without_outcome else ""
    others = f" Other outcomes: {', '.join(map(to_line, thresholds.others))} (--outcome)." if thresholds.others else ""
    rate = (
        ""
        if shares.rate is None
        else f" {format_value(shares.rate)} {between(shares.interval)} of them had a good outcome."
    )
    outcome = (
        f"Outcome {to_line(thresholds.outcome)} (good: {to_line(thresholds.good)}): "
        f"{format_count(shares.n, 'response')}{without}."
    )
    return f"{outcome}{rate}{others}"


def _build_level_table(thresholds: Thresholds, shares: ByOutcome) -> ReportTable | None:
    def mark_served(level: ScoreLevel) -> Phrase:
        if shares.level is None or not level.serves:
            return Phrase("")
        return Phrase("◀" if shares.level in (level.low, level.high) else "✓", "good")

    def format_share(level: ScoreLevel) -> str:
        return f"{format_value(level.rate)} {between(level.interval)}".strip()

    def format_from_here(level: ScoreLevel) -> str:
        return f"{format_value(level.from_rate)} {between(level.from_interval)}".strip()

    return build_table(
        shares.levels,
        Col("score", lambda level: _format_range(level, thresholds.kind), whole=True),
        Col("n", "n", "count"),
        Col("good outcome", format_share, whole=True),
        Col(TRACK_HEAD, lambda level: Phrase(draw_track(level, shares.target)), kind="bar", whole=True),
        Col(f"from this score on ({shares.confidence:.0%})", format_from_here, whole=True),
        Col("", mark_served),
    )


def _format_range(level: ScoreLevel, kind: str) -> str:
    low, high = format_value(level.low, kind), format_value(level.high, kind)
    return low if low == high else f"{low} – {high}"


def draw_track(level: ScoreLevel, target: float) -> str:
    """The share on a line from 0 to 1: its interval, the share itself, and the target.

    >>> draw_track(ScoreLevel(0, 0, 4, 0.5, None, 4, 0.5, None, False), 1.0)
    '        ●      ┆'
    """
    cells = [" "] * TRACK_CHARS
    if level.interval is not None:
        for index in range(_find_cell(level.interval.low), _find_cell(level.interval.high) + 1):
            cells[index] = "─"
    cells[_find_cell(target)] = "┆"
    cells[_find_cell(level.rate)] = "●"
    return "".join(cells)


def _find_cell(value: float) -> int:
    return min(TRACK_CHARS - 1, max(0, int(value * TRACK_CHARS)))


def _describe_trend(thresholds: Thresholds, shares: ByOutcome) -> str:
    if shares.correlation is None:
        trivial_outcomes = {0.0: "No response had a good outcome", 1.0: "No response had a bad outcome"}
        return f"{trivial_outcomes.get(shares.rate or 0.0, 'All scores are equal')}: there is no trend to test."
    p_value = "" if shares.correlation_interval else ", too few for an interval"
    if shares.p_value is not None and shares.correlation_interval:
        p_value = ", p < 0.001" if shares.p_value < 0.001 else f", p = {shares.p_value:.3f}"
    words = {
        "rises": f"Better {thresholds.metric} goes with more good outcomes",
        "falls": f"Better {thresholds.metric} goes with fewer good outcomes: it does not predict this outcome",
        "no trend seen": f"No trend between {thresholds.metric} and the outcome",
    }[shares.trend]
    interval_text = f" {between(shares.correlation_interval)}" if shares.correlation_interval else ""
    return f"{words}: rank correlation {format_value(shares.correlation)}{interval_text}{p_value}.".replace("-", "−")


def describe_conclusion(thresholds: Thresholds, shares: ByOutcome) -> str:
    """The level that serves, that none does, or that there is too little to say."""
    target_text = f"{shares.target:.0%}"
    if shares.verdict == "serves":
        first = next(level for level in shares.levels if level.serves)
        level, bound = (
            format_value(shares.level, thresholds.kind),
            "at least" if thresholds.direction == "higher" else "at most",
        )
        every = " Every observed score does." if first is shares.levels[0] else ""
        return (
            f"Use {thresholds.metric} of {bound} {level}: {format_value(first.from_rate)} "
            f"{between(first.from_interval)} of the {first.from_n:,} responses there had a good outcome, and the "
            f"interval reaches {target_text}.{every} This threshold is for single answers, not for a run's mean."
        )
    if shares.verdict == "none does":
        best = shares.levels[-1]
        return (
            f"No threshold works: even at the best one {format_value(best.from_rate)} {between(best.from_interval)} "
            f"had a good outcome, and at every one the whole interval lies below {target_text}."
        )
    more = (
        f" About {format_count(shares.needed, 'response')} past the nearest threshold would be enough, if the share "
        "stays the same."
        if shares.needed is not None
        else ""
    )
    return (
        f"Not enough data to tell which threshold reaches {target_text}: {format_count(shares.n, 'response')} with an "
        f"outcome.{more}"
    )


def _build_reached_section(thresholds: Thresholds, about: str, notes: tuple[str, ...]) -> ReportSection:
    if not thresholds.reached:
        return ReportSection(thresholds.metric, about, ("No example has a score.",), notes=notes)
    bound_header = {"higher": "score at least", "lower": "score at most", "neither": "score at most"}[
        thresholds.direction
    ]
    table = build_table(
        thresholds.reached,
        Col("share of the examples", "share", "share"),
        Col(bound_header, "value", lambda value: format_value(value, thresholds.kind), kind="number"),
        Col(
            "95 % interval of the score",
            "interval",
            lambda interval: between(interval, thresholds.kind) or "too few examples",
        ),
    )
    mean = f"{format_value(thresholds.mean, thresholds.kind)} {between(thresholds.interval, thresholds.kind)}".strip()
    if thresholds.judged is not None:
        mean += f"{WITH_ERROR} {between(thresholds.judged, thresholds.kind)}"
    lead = f"No outcome is recorded with the responses. {format_count(thresholds.n, 'example')}, mean {mean}."
    after = (Phrase(DESCRIPTION, "strong"),)
    return ReportSection(thresholds.metric, about, (lead,), table, after, notes)
