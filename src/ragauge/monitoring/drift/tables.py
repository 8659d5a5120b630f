"""Drift of production's texts, as sections."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ragauge.core.messages import command, number, plural
from ragauge.monitoring.alerts.alert_coverage import MOST_NAME, names_said
from ragauge.monitoring.drift.normal_ranges import LEAST_GOOD
from ragauge.rendering.sections import Phrase, ReportColumn, ReportSection, ReportTable, TableCell, Tone, Wording
from ragauge.rendering.words import line, safe

if TYPE_CHECKING:
    from ragauge.monitoring.drift.compute import DriftDay, DriftDetail, DriftReport
    from ragauge.monitoring.drift.normal_ranges import Band, MarkedPeriod


NO_DAY = "No day can be compared yet: a day is held against the 28 days before it once it is over."
NO_ALERTS = (
    "No one is notified of what moves here. For an alert the morning after, write in the section monitor of "
    "ragauge.yaml: drift: [queries, documents]"
)

# what a measure is called; its name in JSON, in commands and in the documentation stays beside it
CALLED = {
    "js_divergence": "other clusters (js_divergence, 0 to 1)",
    "pairwise_kl": "other distances (pairwise_kl)",
    "words": "words, median",
    "language_shift": "other languages (language_shift, 0 to 1)",
}
LANGUAGES = {"und": "too short to tell"}  # a text too short, or without words
MOST_TEXT = 200  # characters of a text
TESTED = "moved: p is at most 0.01. An alert takes a smaller p still, so that false_alarms holds."


def drift_sections(found: DriftReport) -> Iterator[ReportSection]:
    """Which days moved, what is measured of the last one beside what is usual, and how its texts differ."""
    first = days_section(found.days)
    yield _beside(first, found) if found.others else first
    if found.measures:
        yield measures_section(found)
    for one in found.details:
        yield from _detail(one)


def _beside(section: ReportSection, found: DriftReport) -> ReportSection:
    """With the projects that send beside that of which all this is."""
    send = "sends" if len(found.others) == 1 else "send"
    said = f"All of this is of {names_said((found.project,))}; {names_said(found.others)} {send} too."
    commands = (*section.commands, command("monitor", "drift", "--project", found.others[0]))
    return replace(section, notes=(*section.notes, said), commands=commands)


def days_section(days: Sequence[DriftDay]) -> ReportSection:
    """Each day's test."""
    several = any(one.project for one in days)
    heads = (
        ReportColumn("day", whole=True),
        *(ReportColumn("project", fold=True),) * several,
        ReportColumn("texts", whole=True),
        ReportColumn("verdict", whole=True),
        ReportColumn("why"),
    )
    said: dict[bool | None, Phrase] = {
        True: Phrase("moved", "bad"),
        False: Phrase("as before", "good"),
        None: Phrase("not enough data", "faint"),
    }
    rows: tuple[tuple[TableCell, ...], ...] = tuple(
        (f"{day}", *(line(project, MOST_NAME),) * several, one.of, said[one.drifted], one.reason)
        for day, one, project in days
    )
    table, lead = (ReportTable(heads, rows), ()) if rows else (None, (NO_DAY,))
    notes = (TESTED,) if rows else ()
    return ReportSection("Drift by day", "each day beside the 28 days before it", lead, table, notes=notes, top=True)


def measures_section(found: DriftReport) -> ReportSection:
    """What is measured of the last day, each beside its band."""
    heads = (
        ReportColumn("of", fold=True),
        ReportColumn("measure", whole=True),
        ReportColumn("value", "number"),
        ReportColumn("usual", "number"),
        ReportColumn("verdict", whole=True),
        ReportColumn("bad days outside", "number"),
    )
    said: dict[bool | None, Phrase] = {
        True: Phrase("unusual", "bad"),
        False: Phrase("usual", "good"),
        None: Phrase("not learned", "faint"),
    }
    rows = tuple(
        (
            safe(one.of),
            CALLED.get(one.name, one.name),
            number(one.value, "amount" if one.name == "words" else "mean"),
            "–" if one.band is None else _usual(one.band),
            said[one.outside],
            "–" if one.band is None or not one.band.bad else f"{one.band.caught} of {one.band.bad}",
        )
        for one in found.measures
    )
    learned = f"What is usual is learned from days that people marked: {found.good} good and {found.bad} bad so far."
    lead: tuple[Wording, ...] = (learned,)
    commands: tuple[str, ...] = ()
    if any(one.band is None for one in found.measures):
        lead = (learned, f"It takes {LEAST_GOOD} good days on which the measure is there.")
        commands = (command("monitor", "mark", "good", "--from", "DAY", "--until", "DAY"),)
    last = max((one.day for one in found.days), default=None)
    return ReportSection(
        f"What is measured of {last}",
        "it explains, and decides nothing",
        lead,
        ReportTable(heads, rows),
        commands=commands,
    )


def _usual(band: Band) -> str:
    return f"{number(max(band.low, 0.0))} to {number(band.high)}"  # nothing measured here is below 0


def marked_sections(periods: Sequence[MarkedPeriod], good: int, bad: int) -> Iterator[ReportSection]:
    """What people said of days."""
    heads = (
        ReportColumn("from", whole=True),
        ReportColumn("until", whole=True),
        ReportColumn("", whole=True),
        ReportColumn("why"),
    )
    tones: dict[str, Tone] = {"good": "good", "bad": "bad"}
    rows = tuple((f"{one.since}", f"{one.until}", Phrase(one.was, tones[one.was]), line(one.why)) for one in periods)
    lead = f"{plural(good, 'day')} marked good, {bad} bad." if periods else "No day is marked."
    commands = () if periods else (command("monitor", "mark", "good", "--from", "DAY", "--until", "DAY"),)
    table = ReportTable(heads, rows) if rows else None
    yield ReportSection(Phrase("Marked days", "title"), "", (lead,), table, commands=commands)


def _detail(one: DriftDetail) -> Iterator[ReportSection]:
    apart = "unknown" if one.divergence is None else number(one.divergence)
    languages = ", ".join(
        f"{LANGUAGES.get(each.language, each.language)} {each.now:.0%} ({each.before:.0%})" for each in one.languages
    )
    yield ReportSection(
        f"How the {one.of} of {one.day} differ",
        "before in parentheses",
        (
            f"Shares of the baseline's clusters: Jensen-Shannon divergence {apart} of 1. Median length: "
            f"{one.words_now:g} words ({one.words_before:g}).",
            f"Languages: {languages}.",
        ),
    )
    if one.grown:
        heads = (
            ReportColumn("share before", "number"),
            ReportColumn("share now", "number"),
            ReportColumn(f"{one.of} nearest to its middle"),
        )
        rows = [
            (
                *(f"{share:.1%}" if not place else "" for share in (cluster.before, cluster.now)),
                line(text.text, MOST_TEXT),
            )
            for cluster in one.grown
            for place, text in enumerate(cluster.texts)
        ]
        commands = (command("monitor", "drift", "--day", f"{one.day}", "--to", "SET.jsonl"),) * (one.of == "queries")
        yield ReportSection(f"Clusters of {one.of} that grew", table=ReportTable(heads, tuple(rows)), commands=commands)
