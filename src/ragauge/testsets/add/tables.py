"""Examples of a run added to a set, as sections."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ragauge.core.curation import curation_to_dict
from ragauge.core.messages import format_command, format_count
from ragauge.rendering.sections import Col, ReportSection, build_table
from ragauge.rendering.words import make_safe

if TYPE_CHECKING:
    from ragauge.testsets.add.compute import AddedExamples

MAX_ROWS = 20  # rows of a table of examples
MAX_QUERY_CHARS = 120  # characters of a question
MAX_IDS = 10  # query_ids that a command names
DRAFTS_NOTE = "All examples were added as drafts: read them and mark the correct ones."
UNQUOTED_NOTE = (
    "Gold spans were added without their quotes, which are only in the run's eval set; use --from SET to copy them"
)
UNLABELED_NOTE = "Added without a reference, label or criterion, so answers can only be checked against the passages"


def build_added_sections(added: AddedExamples, path: str) -> Iterator[ReportSection]:
    """How many were added and were there, which they are, and how a sample was drawn."""
    existing_text = f"; {len(added.there):,} already there" if added.there else ""
    lead = (
        f"{make_safe(path)}: {format_count(len(added.lines), 'example')} of run {make_safe(added.run)} "
        f"({added.run_id}) added{existing_text}.",
    )
    notes = [DRAFTS_NOTE] if added.lines else []
    if unread := [name for name, state in added.states.items() if state == "draft"]:
        notes.append(f"Also drafts in the run's set, not reviewed yet: {_format_some(unread)}.")
    if added.unquoted_ids:
        notes.append(f"{UNQUOTED_NOTE}: {_format_some(added.unquoted_ids)}.")
    if added.there:
        notes.append(f"Already in the set and left unchanged: {_format_some(list(added.there.values()))}.")
    if added.untagged:
        notes.append(f"Already in the set, but without the tag: {_format_some(list(added.untagged))}.")
    if added.unlabeled_ids:
        notes.append(f"{UNLABELED_NOTE}: {_format_some(added.unlabeled_ids)}.")
    table = build_table(
        added.lines[:MAX_ROWS],
        Col("example", "example.query_id", fold=True),
        Col("why", "curation.note"),
        Col("question", "example.query", cut=MAX_QUERY_CHARS, room=1),
    )
    more = (f"and {len(added.lines) - MAX_ROWS:,} more: --json lists all.",) if len(added.lines) > MAX_ROWS else ()
    ids = ",".join(entry.example.query_id for entry in added.lines) if len(added.lines) <= MAX_IDS else "IDS"
    marks = (
        (format_command("testset", "mark", path, "--to", "golden", "--by", "NAME", "--ids", ids),)
        if added.lines
        else ()
    )
    yield ReportSection("testset add", lead=lead, table=table, after=more, notes=tuple(notes), commands=marks)
    if added.strata:
        empty = sum(not entry.drawn for entry in added.strata.values())
        few = (f"{format_count(empty, 'value')} too small for the sample; a larger --sample includes them.",)
        table = build_table(
            added.strata.items(),
            Col("segment", "0"),
            Col("examples", "1.examples", "count"),
            Col("weight", "1.weight", "number"),
            Col("drawn", "1.drawn", "count"),
        )
        yield ReportSection("Drawn", table=table, notes=few if empty else ())


def _format_some(names: list[str]) -> str:
    return make_safe(", ".join(names[:5]) + (" …" if len(names) > 5 else ""))


def encode_added(added: AddedExamples, path: str) -> dict[str, Any]:
    """The same as JSON types."""
    return {
        "path": path,
        "run_id": added.run_id,
        "run": added.run,
        "added": [
            {
                "query_id": example_line.example.query_id,
                "query": example_line.example.query,
                "meta": curation_to_dict(example_line.curation),
            }
            for example_line in added.lines
        ],
        "there": added.there,
        "untagged": added.untagged,
        "unlabelled": added.unlabeled_ids,
        "unquoted": added.unquoted_ids,
        "states": added.states,
        "strata": added.strata,
    }
