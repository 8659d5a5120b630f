"""Test sets of the store as sections: their list, and one version of one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ragauge.core.messages import format_command, format_count, format_value
from ragauge.rendering.sections import Phrase, ReportColumn, ReportSection, ReportTable, build_columns
from ragauge.rendering.words import make_safe, to_line
from ragauge.testsets.stats.tables import build_detectable_sections, encode_detectable

if TYPE_CHECKING:
    from ragauge.core.example import Example
    from ragauge.testsets.curate.compute import SetCounts, SetRun, SetVersion, StoredSet

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
    headers = (
        ReportColumn("set", fold=True),
        ReportColumn("version"),
        *build_columns(numbers=("examples", "runs")),
        ReportColumn("newest run"),
        ReportColumn("stored (UTC)", room=1),
    )
    rows = tuple(
        (
            to_line(set_version.name) or UNNAMED_SET,
            Phrase(set_version.version, to=("set", set_version.name, set_version.version)),
            f"{set_version.n:,}",
            f"{set_version.runs:,}",
            Phrase(to_line(set_version.newest_name or set_version.newest, 40), to=("run", set_version.newest))
            if set_version.newest
            else "–",
            _format_minute(set_version.created_at),
        )
        for set_version in set_versions
    )
    yield ReportSection(table=ReportTable(headers, rows))


def build_set_sections(stored_set: StoredSet) -> Iterator[ReportSection]:
    """What a version of a set holds, who was asked it, what it can show, and its examples."""
    about = stored_set.about
    lead = (
        f"{format_count(about.n, 'example')}, {format_count(about.runs, 'run')}, stored "
        f"{_format_minute(about.created_at)}."
    )
    rows = _build_content_rows(stored_set.counts, linked=bool(stored_set.run))
    table = ReportTable((*build_columns("of", "value"), ReportColumn("examples", "number")), tuple(rows))
    yield ReportSection(
        "Contents",
        lead=(lead,),
        table=table if rows else None,
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
    rows: list[tuple[Any, ...]] = [("label", name.replace("_", " "), f"{n:,}") for name, n in counts.labels.items()]
    for column, values in counts.segments.items():
        for value, n in list(values.items())[:MAX_VALUES]:
            to = ("seg", column, value) if linked else ()
            rows.append((to_line(column), Phrase(to_line(value, MAX_TEXT_CHARS), to=to), f"{n:,}"))
        if len(values) > MAX_VALUES:
            n_remaining = sum(list(values.values())[MAX_VALUES:])
            rows.append(
                (to_line(column), f"{format_count(len(values) - MAX_VALUES, 'other value')}", f"{n_remaining:,}")
            )
    return rows + [("tag", to_line(tag), f"{n:,}") for tag, n in counts.tags.items()]


def _build_runs_section(stored_set: StoredSet) -> ReportSection:
    headers = (ReportColumn("run", fold=True), *build_columns("created", "state"), ReportColumn("headline", fold=True))
    rows = tuple(
        (
            Phrase(to_line(row.name), to=("run", row.run_id)),
            _format_minute(row.created_at),
            row.state,
            _format_headline(row),
        )
        for row in stored_set.runs
    )
    more = stored_set.about.runs - len(stored_set.runs)
    return ReportSection("Runs", table=ReportTable(headers, rows), notes=(f"and {more:,} older.",) if more > 0 else ())


def _format_headline(row: SetRun) -> str:
    return ", ".join(f"{metric} {format_value(mean)}" for metric, mean in row.means.items())


def _build_versions_section(stored_set: StoredSet) -> ReportSection:
    name, rows = stored_set.about.name, []
    for set_version, previous in zip(stored_set.versions, (*stored_set.versions[1:], None), strict=True):
        to = ("set", name, set_version.version)
        version_phrase = (
            Phrase(set_version.version, "strong")
            if set_version == stored_set.about
            else Phrase(set_version.version, to=to)
        )
        changed = Phrase("changes", to=("sets differ", name, previous.version, set_version.version)) if previous else ""
        rows.append(
            (
                version_phrase,
                f"{set_version.n:,}",
                f"{set_version.runs:,}",
                _format_minute(set_version.created_at),
                changed,
            )
        )
    headers = build_columns("version", numbers=("examples", "runs"))
    headers = (*headers, *build_columns("stored", "since the previous version"))
    return ReportSection("Versions", table=ReportTable(headers, tuple(rows)))


def _build_examples_section(stored_set: StoredSet) -> ReportSection:
    rows = tuple(
        (
            Phrase(to_line(example.query_id), to=("ex", example.query_id, 0) if bool(stored_set.run) else ()),
            to_line(example.query, MAX_TEXT_CHARS),
            ", ".join(example.labels).replace("_", " "),
            to_line(", ".join(f"{column}={value}" for column, value in example.segments.items()), MAX_TEXT_CHARS),
        )
        for example in stored_set.examples
    )
    headers = (
        ReportColumn("example", fold=True),
        ReportColumn("question"),
        ReportColumn("labels", room=1),
        ReportColumn("segments", room=2),
    )
    last = stored_set.first + len(rows)
    lead = (
        f"Examples {stored_set.first + 1:,} to {last:,} of {stored_set.about.n:,}, in the order of the set."
        if rows
        else "No examples on this page."
    )
    return ReportSection("Examples", lead=(lead,), table=ReportTable(headers, rows) if rows else None)


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
        "reach": None if stored_set.reach is None else encode_detectable(stored_set.reach),
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
