"""Drift of production's texts, as sections."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ragauge.core.messages import format_command, format_count, format_value
from ragauge.monitoring.alerts.alert_coverage import format_names
from ragauge.monitoring.drift.compute import MIN_GOOD_DAYS
from ragauge.monitoring.series.tables import MAX_NAME_CHARS
from ragauge.rendering.sections import Phrase, ReportColumn, ReportSection, ReportTable, TableCell, Tone, Wording
from ragauge.rendering.words import make_safe, to_line

if TYPE_CHECKING:
    from ragauge.monitoring.drift.compute import Band, DriftDay, DriftDetail, DriftReport, MarkedPeriod


NO_DAY = "No day can be compared yet. Once a day is over, it is compared with the 28 days before it."
NO_ALERTS = (
    "No one is notified of drift shown here. To get an alert the next morning, add this to the monitor section of "
    "ragauge.yaml: drift: [queries, documents]"
)

# what a measure is called; its name in JSON, in commands and in the documentation stays beside it
MEASURE_TITLES = {
    "js_divergence": "cluster shift (js_divergence, 0 to 1)",
    "pairwise_kl": "distance shift (pairwise_kl)",
    "words": "median words",
    "language_shift": "language shift (language_shift, 0 to 1)",
}
LANGUAGES = {"und": "too short to tell"}  # a text too short, or without words
MAX_TEXT_CHARS = 200  # characters of a text
TEST_NOTE = "moved: p is at most 0.01. An alert needs an even smaller p to stay within the false-alarm budget."


def build_drift_sections(drift_report: DriftReport) -> Iterator[ReportSection]:
    """Which days moved, what is measured of the last one beside what is usual, and how its texts differ."""
    first = build_days_section(drift_report.days)
    yield _add_other_projects(first, drift_report) if drift_report.others else first
    if drift_report.measures:
        yield build_measures_section(drift_report)
    for detail in drift_report.details:
        yield from _build_detail_sections(detail)


def _add_other_projects(section: ReportSection, drift_report: DriftReport) -> ReportSection:
    """With the projects that send beside that of which all this is."""
    note = f"Project: {format_names((drift_report.project,))}. Other projects: {format_names(drift_report.others)}."
    commands = (*section.commands, format_command("monitor", "drift", "--project", drift_report.others[0]))
    return replace(section, notes=(*section.notes, note), commands=commands)


def build_days_section(days: Sequence[DriftDay]) -> ReportSection:
    """Each day's test."""
    several = any(entry.project for entry in days)
    headers = (
        ReportColumn("day", whole=True),
        *(ReportColumn("project", fold=True),) * several,
        ReportColumn("texts", whole=True),
        ReportColumn("verdict", whole=True),
        ReportColumn("reason"),
    )
    verdict_phrases: dict[bool | None, Phrase] = {
        True: Phrase("moved", "bad"),
        False: Phrase("unchanged", "good"),
        None: Phrase("not enough data", "faint"),
    }
    rows: tuple[tuple[TableCell, ...], ...] = tuple(
        (
            f"{day}",
            *(to_line(project, MAX_NAME_CHARS),) * several,
            entry.of,
            verdict_phrases[entry.drifted],
            entry.reason,
        )
        for day, entry, project in days
    )
    table, lead = (ReportTable(headers, rows), ()) if rows else (None, (NO_DAY,))
    notes = (TEST_NOTE,) if rows else ()
    return ReportSection(
        "Drift by day", "each day compared with the 28 days before it", lead, table, notes=notes, top=True
    )


def build_measures_section(drift_report: DriftReport) -> ReportSection:
    """What is measured of the last day, each beside its band."""
    headers = (
        ReportColumn("texts", fold=True),
        ReportColumn("measure", whole=True),
        ReportColumn("value", "number"),
        ReportColumn("normal range", "number"),
        ReportColumn("verdict", whole=True),
        ReportColumn("bad days caught", "number"),
    )
    verdict_phrases: dict[bool | None, Phrase] = {
        True: Phrase("unusual", "bad"),
        False: Phrase("normal", "good"),
        None: Phrase("not learned", "faint"),
    }
    rows = tuple(
        (
            make_safe(entry.of),
            MEASURE_TITLES.get(entry.name, entry.name),
            format_value(entry.value, "amount" if entry.name == "words" else "mean"),
            "–" if entry.band is None else _format_band(entry.band),
            verdict_phrases[entry.is_outside],
            "–" if entry.band is None or not entry.band.bad else f"{entry.band.caught} of {entry.band.bad}",
        )
        for entry in drift_report.measures
    )
    learned = (
        f"Normal ranges are learned from days marked by people: {drift_report.good} good and {drift_report.bad} bad "
        "so far."
    )
    lead: tuple[Wording, ...] = (learned,)
    commands: tuple[str, ...] = ()
    if any(entry.band is None for entry in drift_report.measures):
        lead = (learned, f"A normal range needs {MIN_GOOD_DAYS} good days that have the measure.")
        commands = (format_command("monitor", "mark", "good", "--from", "DAY", "--until", "DAY"),)
    last = max((entry.day for entry in drift_report.days), default=None)
    return ReportSection(
        f"Measures of {last}",
        "these explain drift; alerts do not depend on them",
        lead,
        ReportTable(headers, rows),
        commands=commands,
    )


def _format_band(band: Band) -> str:
    return f"{format_value(max(band.low, 0.0))} to {format_value(band.high)}"  # nothing measured here is below 0


def build_marked_sections(periods: Sequence[MarkedPeriod], good: int, bad: int) -> Iterator[ReportSection]:
    """What people said of days."""
    headers = (
        ReportColumn("from", whole=True),
        ReportColumn("until", whole=True),
        ReportColumn("", whole=True),
        ReportColumn("reason"),
    )
    tones: dict[str, Tone] = {"good": "good", "bad": "bad"}
    rows = tuple(
        (f"{period.since}", f"{period.until}", Phrase(period.was, tones[period.was]), to_line(period.why))
        for period in periods
    )
    lead = f"{format_count(good, 'day')} marked good, {bad} bad." if periods else "No days are marked."
    commands = () if periods else (format_command("monitor", "mark", "good", "--from", "DAY", "--until", "DAY"),)
    table = ReportTable(headers, rows) if rows else None
    yield ReportSection(Phrase("Marked days", "title"), "", (lead,), table, commands=commands)


def _build_detail_sections(detail: DriftDetail) -> Iterator[ReportSection]:
    divergence_text = "unknown" if detail.divergence is None else format_value(detail.divergence)
    languages = ", ".join(
        f"{LANGUAGES.get(each.language, each.language)} {each.now:.0%} ({each.before:.0%})" for each in detail.languages
    )
    yield ReportSection(
        f"How the {detail.of} on {detail.day} differ",
        "earlier values in parentheses",
        (
            f"Jensen-Shannon divergence of the baseline's cluster shares: {divergence_text} of 1. Median length: "
            f"{detail.words_now:g} words ({detail.words_before:g}).",
            f"Languages: {languages}.",
        ),
    )
    if detail.grown:
        headers = (
            ReportColumn("share before", "number"),
            ReportColumn("share now", "number"),
            ReportColumn(f"{detail.of} closest to the cluster center"),
        )
        rows = [
            (
                *(f"{share:.1%}" if not index else "" for share in (cluster.before, cluster.now)),
                to_line(text.text, MAX_TEXT_CHARS),
            )
            for cluster in detail.grown
            for index, text in enumerate(cluster.texts)
        ]
        commands = (format_command("monitor", "drift", "--day", f"{detail.day}", "--to", "SET.jsonl"),) * (
            detail.of == "queries"
        )
        yield ReportSection(
            f"Growing clusters of {detail.of}", table=ReportTable(headers, tuple(rows)), commands=commands
        )
