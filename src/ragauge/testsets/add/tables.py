"""Examples of a run added to a set, as sections."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ragauge.core.curation import curation_fields
from ragauge.core.messages import command, number, plural
from ragauge.rendering.sections import ReportColumn, ReportSection, ReportTable, columns
from ragauge.rendering.words import line, safe

if TYPE_CHECKING:
    from ragauge.testsets.add.compute import AddedExamples

MOST = 20  # rows of a table of examples
TEXT = 120  # characters of a question
LISTED = 10  # query_ids that a command names
DRAFTS = "Added as drafts, whatever they were: read them, and mark those that hold."
UNQUOTED = "Their gold spans came without quotes, which stand in the run's set; name it with --from SET to keep them"
UNLABELLED = "Added without reference, label or criterion, so that only passages tell whether an answer is right"


def added_sections(found: AddedExamples, path: str) -> Iterator[ReportSection]:
    """How many were added and were there, which they are, and how a sample was drawn."""
    there = f"; {len(found.there):,} there already" if found.there else ""
    lead = (
        f"{safe(path)}: {plural(len(found.lines), 'example')} of run {safe(found.run)} ({found.run_id}) added{there}.",
    )
    notes = [DRAFTS] if found.lines else []
    if unread := [name for name, state in found.states.items() if state == "draft"]:
        notes.append(f"Drafts in the run's set too, which nobody has looked at: {_some(unread)}.")
    if found.unquoted:
        notes.append(f"{UNQUOTED}: {_some(found.unquoted)}.")
    if found.there:
        notes.append(f"Left as they stand: {_some(list(found.there.values()))}.")
    if found.untagged:
        notes.append(f"Without the tag in the set: {_some(list(found.untagged))}.")
    if found.unlabelled:
        notes.append(f"{UNLABELLED}: {_some(found.unlabelled)}.")
    heads = (ReportColumn("example", fold=True), ReportColumn("why"), ReportColumn("question", room=1))
    rows = tuple(
        (line(one.example.query_id), line(one.curation.note), line(one.example.query, TEXT))
        for one in found.lines[:MOST]
    )
    more = (f"and {len(found.lines) - MOST:,} more: --json lists all.",) if len(found.lines) > MOST else ()
    ids = ",".join(one.example.query_id for one in found.lines) if len(found.lines) <= LISTED else "IDS"
    marks = (command("testset", "mark", path, "--to", "golden", "--by", "NAME", "--ids", ids),) if found.lines else ()
    yield ReportSection(
        "testset add",
        lead=lead,
        table=ReportTable(heads, rows) if rows else None,
        after=more,
        notes=tuple(notes),
        commands=marks,
    )
    if found.strata:
        listed = tuple(
            (safe(name), f"{one.examples:,}", number(one.weight), f"{one.drawn:,}")
            for name, one in found.strata.items()
        )
        empty = sum(not one.drawn for one in found.strata.values())
        few = (f"{plural(empty, 'value')} too light for a place in the sample: draw more to have them.",)
        yield ReportSection(
            "Drawn",
            table=ReportTable(columns("segment", numbers=("examples", "weight", "drawn")), listed),
            notes=few if empty else (),
        )


def _some(names: list[str]) -> str:
    return safe(", ".join(names[:5]) + (" …" if len(names) > 5 else ""))


def added_value(found: AddedExamples, path: str) -> dict[str, Any]:
    """The same as JSON types."""
    return {
        "path": path,
        "run_id": found.run_id,
        "run": found.run,
        "added": [
            {"query_id": one.example.query_id, "query": one.example.query, "meta": curation_fields(one.curation)}
            for one in found.lines
        ],
        "there": dict(found.there),
        "untagged": list(found.untagged),
        "unlabelled": found.unlabelled,
        "unquoted": found.unquoted,
        "states": dict(found.states),
        "strata": {name: one._asdict() for name, one in found.strata.items()},
    }
