"""Test sets of the store as sections: their list, and one version of one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ragauge.core.messages import command, number, plural
from ragauge.rendering.sections import Phrase, ReportColumn, ReportSection, ReportTable, columns
from ragauge.rendering.words import line, safe
from ragauge.testsets.stats.tables import reach_sections, reach_value

if TYPE_CHECKING:
    from ragauge.core.example import Example
    from ragauge.testsets.curate.set_versions import SetCounts, SetRun, SetVersion, StoredSet

MOST_VALUES = 12  # of a column
NOTHING = "There are no sets yet: a run brings the one that it answers. To make one from documents:"
WITHOUT = "set without a name"
TEXT = 160  # characters of a question


def list_sections(found: Sequence[SetVersion]) -> Iterator[ReportSection]:
    """Every version of every set."""
    if not found:
        yield ReportSection(lead=(NOTHING,), commands=(command("testset", "generate", "DOCUMENTS", "-o", "set.jsonl"),))
        return
    heads = (
        ReportColumn("set", fold=True),
        ReportColumn("version"),
        *columns(numbers=("examples", "runs")),
        ReportColumn("newest run"),
        ReportColumn("stored (UTC)", room=1),
    )
    rows = tuple(
        (
            line(one.name) or WITHOUT,
            Phrase(one.version, to=("set", one.name, one.version)),
            f"{one.n:,}",
            f"{one.runs:,}",
            Phrase(line(one.newest_name or one.newest, 40), to=("run", one.newest)) if one.newest else "–",
            _minute(one.created_at),
        )
        for one in found
    )
    yield ReportSection(table=ReportTable(heads, rows))


def set_sections(found: StoredSet) -> Iterator[ReportSection]:
    """What a version of a set holds, who was asked it, what it can show, and its examples."""
    about = found.about
    lead = f"{plural(about.n, 'example')}, {plural(about.runs, 'run')}, stored {_minute(about.created_at)}."
    rows = _held(found.counts, linked=bool(found.run))
    table = ReportTable((*columns("of", "value"), ReportColumn("examples", "number")), tuple(rows))
    yield ReportSection(
        "What it holds",
        lead=(lead,),
        table=table if rows else None,
        notes=() if found.counts.labels else ("No example has a label.",),
    )
    if found.reach is None:
        told = "Not known: no finished run over all of it was evaluated."
        yield ReportSection("What the set can show", lead=(told,))
    else:
        yield from reach_sections(found.reach)
    if found.runs:
        yield _runs(found)
    if len(found.versions) > 1:
        yield _versions(found)
    yield _examples(found)


def _held(counts: SetCounts, *, linked: bool) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = [("label", name.replace("_", " "), f"{n:,}") for name, n in counts.labels.items()]
    for column, values in counts.segments.items():
        for value, n in list(values.items())[:MOST_VALUES]:
            to = ("seg", column, value) if linked else ()
            rows.append((line(column), Phrase(line(value, TEXT), to=to), f"{n:,}"))
        if len(values) > MOST_VALUES:
            rest = sum(list(values.values())[MOST_VALUES:])
            rows.append((line(column), f"{plural(len(values) - MOST_VALUES, 'other value')}", f"{rest:,}"))
    return rows + [("tag", line(tag), f"{n:,}") for tag, n in counts.tags.items()]


def _runs(found: StoredSet) -> ReportSection:
    heads = (ReportColumn("run", fold=True), *columns("created", "state"), ReportColumn("headline", fold=True))
    rows = tuple(
        (Phrase(line(row.name), to=("run", row.run_id)), _minute(row.created_at), row.state, _headline(row))
        for row in found.runs
    )
    more = found.about.runs - len(found.runs)
    return ReportSection("Runs", table=ReportTable(heads, rows), notes=(f"and {more:,} older.",) if more > 0 else ())


def _headline(row: SetRun) -> str:
    return ", ".join(f"{metric} {number(mean)}" for metric, mean in row.means.items())


def _versions(found: StoredSet) -> ReportSection:
    name, rows = found.about.name, []
    for one, before in zip(found.versions, (*found.versions[1:], None), strict=True):
        to = ("set", name, one.version)
        mine = Phrase(one.version, "strong") if one == found.about else Phrase(one.version, to=to)
        changed = Phrase("what changed", to=("sets differ", name, before.version, one.version)) if before else ""
        rows.append((mine, f"{one.n:,}", f"{one.runs:,}", _minute(one.created_at), changed))
    heads = columns("version", numbers=("examples", "runs"))
    heads = (*heads, *columns("stored", "since the version before"))
    return ReportSection("Versions", table=ReportTable(heads, tuple(rows)))


def _examples(found: StoredSet) -> ReportSection:
    rows = tuple(
        (
            Phrase(line(one.query_id), to=("ex", one.query_id, 0) if bool(found.run) else ()),
            line(one.query, TEXT),
            ", ".join(one.labels).replace("_", " "),
            line(", ".join(f"{column}={value}" for column, value in one.segments.items()), TEXT),
        )
        for one in found.examples
    )
    heads = (
        ReportColumn("example", fold=True),
        ReportColumn("question"),
        ReportColumn("labels", room=1),
        ReportColumn("segments", room=2),
    )
    last = found.first + len(rows)
    lead = f"{found.first + 1:,} to {last:,} of {found.about.n:,}, in the order of the set." if rows else "None here."
    return ReportSection("Examples", lead=(lead,), table=ReportTable(heads, rows) if rows else None)


def set_value(found: StoredSet) -> dict[str, Any]:
    """The same with every metric and segment, as the encoder takes it."""
    return {
        "name": found.about.name,
        "version": found.about.version,
        "n": found.about.n,
        "created_at": found.about.created_at,
        "counts": found.counts,
        "versions": found.versions,
        "runs": found.runs,
        "run": found.run,
        "reach": None if found.reach is None else reach_value(found.reach),
        "first": found.first,
        "examples": [example_row(one) for one in found.examples],
    }


def example_row(one: Example) -> Mapping[str, Any]:
    """An example as a row of a table: texts and numbers."""
    return {
        "query_id": one.query_id,
        "query": one.query,
        "reference": next(iter(one.references), None),
        "relevant": _count(one.relevant),
        "gold_spans": _count(one.gold_spans),
        "answerable": None if one.answerable is None else str(one.answerable).lower(),
        "tags": " ".join(sorted(one.tags)),
        "cluster": one.cluster,
        **{f"segment.{column}": value for column, value in one.segments.items()},
    }


def _count(labels: Sequence[Any] | None) -> int | None:
    return None if labels is None else len(labels)


def _minute(at: str) -> str:
    return safe(at[:16].replace("T", " "))
