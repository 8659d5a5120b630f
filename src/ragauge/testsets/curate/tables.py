"""Test sets of the store as sections: their list, and one version of one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ragauge.core.messages import format_command, format_count, format_value
from ragauge.rendering.sections import Col, Phrase, ReportSection, build_table
from ragauge.rendering.words import make_safe, to_line
from ragauge.testsets.stats.tables import build_detectable_sections

if TYPE_CHECKING:
    from ragauge.core.curation import SetVersion
    from ragauge.core.example import Example
    from ragauge.testsets.curate.compute import SetCounts, SetRun, StoredSet

MAX_VALUES = 12  # of a column
NO_SETS_NOTE = "No eval sets yet. A run stores the set that it answers. To create a set from documents:"
UNNAMED_SET = "unnamed set"
MAX_TEXT_CHARS = 160  # characters of a question


def build_list_sections(set_versions: Sequence[SetVersion]) -> Iterator[ReportSection]:
    """Every version of every set."""
    if not set_versions:
        yield ReportSection(
            lead=(NO_SETS_NOTE,), commands=(format_command("testset", "generate", "DOCUMENTS", "-o", "set.jsonl"),)
        )
        return
    table = build_table(
        set_versions,
        Col("set", lambda version: to_line(version.name) or UNNAMED_SET, fold=True),
        Col("version", link=lambda version: ("set", version.name, version.version)),
        Col("examples", "n", "count"),
        Col("runs", "runs", "count"),
        Col(
            "newest run",
            lambda version: version.newest_name or version.newest or None,
            cut=40,
            link=lambda version: ("run", version.newest),
        ),
        Col("stored (UTC)", "created_at", _format_minute, room=1),
    )
    yield ReportSection(table=table)


def build_set_sections(stored_set: StoredSet) -> Iterator[ReportSection]:
    """What a version of a set holds, who was asked it, what it can show, and its examples."""
    about = stored_set.about
    lead = (
        f"{format_count(about.n, 'example')}, {format_count(about.runs, 'run')}, stored "
        f"{_format_minute(about.created_at)}."
    )
    rows = _build_content_rows(stored_set.counts, linked=bool(stored_set.run))
    yield ReportSection(
        "Contents",
        lead=(lead,),
        table=build_table(rows, Col("of", "0"), Col("value", "1"), Col("examples", "2", "count")),
        notes=() if stored_set.counts.labels else ("No example has a label.",),
    )
    if stored_set.reach is None:
        message = "Unknown: no complete run of this set has been evaluated."
        yield ReportSection("Detectable differences", lead=(message,))
    else:
        yield from build_detectable_sections(stored_set.reach)
    if stored_set.runs:
        yield _build_runs_section(stored_set)
    if len(stored_set.versions) > 1:
        yield _build_versions_section(stored_set)
    yield _build_examples_section(stored_set)


def _build_content_rows(counts: SetCounts, *, linked: bool) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = [("label", name.replace("_", " "), n) for name, n in counts.labels.items()]
    for column, values in counts.segments.items():
        for value, n in list(values.items())[:MAX_VALUES]:
            to = ("seg", column, value) if linked else ()
            rows.append((column, Phrase(to_line(value, MAX_TEXT_CHARS), to=to), n))
        if len(values) > MAX_VALUES:
            n_remaining = sum(list(values.values())[MAX_VALUES:])
            rows.append((column, format_count(len(values) - MAX_VALUES, "other value"), n_remaining))
    return rows + [("tag", tag, n) for tag, n in counts.tags.items()]


def _build_runs_section(stored_set: StoredSet) -> ReportSection:
    table = build_table(
        stored_set.runs,
        Col("run", "name", link=lambda run: ("run", run.run_id), fold=True),
        Col("created", "created_at", _format_minute),
        Col("state"),
        Col("headline", _format_headline, fold=True),
    )
    more = stored_set.about.runs - len(stored_set.runs)
    return ReportSection("Runs", table=table, notes=(f"and {more:,} older.",) if more > 0 else ())


def _format_headline(row: SetRun) -> str:
    return ", ".join(f"{metric} {format_value(mean)}" for metric, mean in row.means.items())


def _build_versions_section(stored_set: StoredSet) -> ReportSection:
    name = stored_set.about.name

    def link_version(row: tuple[SetVersion, SetVersion | None]) -> Phrase:
        shown = row[0] == stored_set.about
        return Phrase(row[0].version, "strong" if shown else "", () if shown else ("set", name, row[0].version))

    def link_changes(row: tuple[SetVersion, SetVersion | None]) -> Phrase | str:
        newer, previous = row
        return Phrase("changes", to=("sets differ", name, previous.version, newer.version)) if previous else ""

    table = build_table(
        zip(stored_set.versions, (*stored_set.versions[1:], None), strict=True),
        Col("version", link_version),
        Col("examples", "0.n", "count"),
        Col("runs", "0.runs", "count"),
        Col("stored", "0.created_at", _format_minute),
        Col("since the previous version", link_changes),
    )
    return ReportSection("Versions", table=table)


def _build_examples_section(stored_set: StoredSet) -> ReportSection:
    linked = bool(stored_set.run)
    table = build_table(
        stored_set.examples,
        Col("example", "query_id", link=lambda row: ("ex", row.query_id, 0) if linked else (), fold=True),
        Col("question", "query", cut=MAX_TEXT_CHARS),
        Col("labels", lambda example: ", ".join(example.labels).replace("_", " "), room=1),
        Col("segments", _format_segments, cut=MAX_TEXT_CHARS, room=2),
    )
    last = stored_set.first + len(stored_set.examples)
    lead = "No examples on this page."
    if table is not None:
        lead = f"Examples {stored_set.first + 1:,} to {last:,} of {stored_set.about.n:,}, in the order of the set."
    return ReportSection("Examples", lead=(lead,), table=table)


def _format_segments(example: Example) -> str:
    return ", ".join(f"{column}={value}" for column, value in example.segments.items())


def encode_set(stored_set: StoredSet) -> dict[str, Any]:
    """The same with every metric and segment, as the encoder takes it."""
    return {
        "name": stored_set.about.name,
        "version": stored_set.about.version,
        "n": stored_set.about.n,
        "created_at": stored_set.about.created_at,
        "counts": stored_set.counts,
        "versions": stored_set.versions,
        "runs": stored_set.runs,
        "run": stored_set.run,
        "reach": stored_set.reach,
        "first": stored_set.first,
        "examples": [build_example_row(example) for example in stored_set.examples],
    }


def build_example_row(example: Example) -> Mapping[str, Any]:
    """An example as a row of a table: texts and numbers."""
    return {
        "query_id": example.query_id,
        "query": example.query,
        "reference": next(iter(example.references), None),
        "relevant": _count_labels(example.relevant),
        "gold_spans": _count_labels(example.gold_spans),
        "answerable": None if example.answerable is None else str(example.answerable).lower(),
        "tags": " ".join(sorted(example.tags)),
        "cluster": example.cluster,
        **{f"segment.{column}": value for column, value in example.segments.items()},
    }


def _count_labels(labels: Sequence[Any] | None) -> int | None:
    return None if labels is None else len(labels)


def _format_minute(timestamp: str) -> str:
    return make_safe(timestamp[:16].replace("T", " "))
