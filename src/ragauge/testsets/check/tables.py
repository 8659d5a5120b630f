"""What a check of a set finds beside stale evidence, as sections: cut words, types, copies, label holes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ragauge.core.jsonl_files import relevant_to_json
from ragauge.core.messages import format_count
from ragauge.rendering.sections import Col, ReportSection, build_table
from ragauge.rendering.words import make_safe

if TYPE_CHECKING:
    from ragauge.testsets.check.contracts import BrokenContract
    from ragauge.testsets.check.freshness import SetFreshness
    from ragauge.testsets.check.missing_labels import LabelCopies, LabelHoles

MAX_ROWS = 20  # rows of a table
MAX_QUERY_CHARS = 120  # characters of a question
MAX_QUOTE_CHARS = 240  # characters of a quotation
HOLES_NOTE = (
    "If a document answers the question, add it to the labels as an alternative; label_holes in --json "
    "has the resulting relevant of each example."
)
COPIES_NOTE = (
    "If a copy also answers the question, add it to the labels; label_copies in --json has the resulting "
    "relevant of each example. If some words differ, compare the texts first."
)


def build_cut_sections(freshness: SetFreshness, fixed: str, commands: tuple[str, ...]) -> Iterator[ReportSection]:
    """The examples whose evidence begins or ends inside a word; nothing where none does.

    Args:
        freshness: the set held against its corpus.
        fixed: the mended set that was written; "" = none.
        commands: what to do.
    """
    cut = [(example, stretch) for example in freshness.examples for stretch in example.cut]
    if not cut:
        return
    table = build_table(
        [(example.line.example, stretch) for example, stretch in cut[:MAX_ROWS]],
        Col("example", "0.query_id", fold=True),
        Col("evidence", lambda row: f"{row[1].was.doc_id} {row[1].was.start}–{row[1].was.end}", fold=True),
        Col("cut", lambda row: "; ".join(f"“{text}” of “{word}”" for text, word in row[1].cut), fold=True),
        Col("question", "0.query", cut=MAX_QUERY_CHARS, room=1),
    )
    examples = format_count(len({example.line.example.query_id for example, _ in cut}), "example")
    does = f"{make_safe(fixed)} has the whole words" if fixed else "--fix extends it to whole words"
    lead = (f"Evidence starts or ends inside a word in {examples}: {does}.",)
    yield ReportSection("Cut words", lead=lead, table=table, notes=_note_remaining(len(cut)), commands=commands)


def build_contract_sections(broken: Sequence[BrokenContract]) -> Iterator[ReportSection]:
    """The examples that are not what their type of question promises; nothing where all are."""
    if not broken:
        return
    table = build_table(
        broken[:MAX_ROWS],
        Col("example", "query_id", fold=True),
        Col("type"),
        Col("what is wrong", "problem"),
        Col("question", "query", cut=MAX_QUERY_CHARS, room=1),
    )
    lead = (f"{format_count(len(broken), 'example')} not matching the type in meta.origin.",)
    yield ReportSection("Types", lead=lead, table=table, notes=_note_remaining(len(broken)))


def build_hole_sections(label_holes: LabelHoles) -> Iterator[ReportSection]:
    """How many were looked at, and each document that states a reference without a label, with its sentences."""
    if not label_holes.examples:
        message = "No example has both a reference and gold documents, so there was nothing to check."
        yield ReportSection("Missing labels", lead=(message,))
        return
    lead = [
        f"{label_holes.judge} checked {label_holes.judged:,} of {format_count(label_holes.examples, 'example')} with "
        "a reference and gold documents, starting with those whose words occur most in an unlabeled passage: "
        f"{len(label_holes.holes):,} with missing labels."
    ]
    if label_holes.undecided:
        lead.append(f"{label_holes.undecided:,} without a verdict.")
    if label_holes.stopped:
        lead.append(label_holes.stopped)
    rows = [  # one for each document, the example named in the first
        (passage, "" if n else hole.query_id, "" if n else hole.query)
        for hole in label_holes.holes[:MAX_ROWS]
        for n, passage in enumerate(hole.passages)
    ]
    table = build_table(
        rows,
        Col("example", "1", fold=True),
        Col("document", "0.doc_id", fold=True),
        Col("passage", "0.quote", cut=MAX_QUOTE_CHARS),
        Col("question", "2", cut=MAX_QUERY_CHARS, room=1),
    )
    notes = (*_note_remaining(len(label_holes.holes)), HOLES_NOTE) if rows else ()
    yield ReportSection("Missing labels", lead=tuple(lead), table=table, notes=notes)


def build_copy_sections(label_copies: Sequence[LabelCopies]) -> Iterator[ReportSection]:
    """The copies of gold documents that have no label, and how many examples each concerns; nothing without one."""
    counted = Counter(copy for entry in label_copies for copy in entry.copies)
    if not counted:
        return
    table = build_table(
        counted.most_common(MAX_ROWS),
        Col("gold document", "0.of", fold=True),
        Col("copy", "0.doc_id", fold=True),
        Col("shared words", "0.alike", "share"),
        Col("examples", "1", "count"),
    )
    lead = (
        f"{format_count(len(label_copies), 'example')} where a copy of a gold document has no label: a "
        "system that finds the copy is counted as missing the document.",
    )
    yield ReportSection(
        "Copies of gold documents", lead=lead, table=table, notes=(*_note_remaining(len(counted)), COPIES_NOTE)
    )


def encode_copies(label_copies: Sequence[LabelCopies]) -> list[dict[str, Any]]:
    """The same as JSON types, each example with the labels that take its copies in."""
    return [
        {
            "query_id": example.query_id,
            "copies": [{"doc_id": copy.doc_id, "of": copy.of, "alike": copy.alike} for copy in example.copies],
            "relevant": relevant_to_json(example.relevant),
        }
        for example in label_copies
    ]


def _note_remaining(n: int) -> tuple[str, ...]:
    return (f"and {n - MAX_ROWS:,} more: --json lists all.",) if n > MAX_ROWS else ()


def encode_contracts(broken: Sequence[BrokenContract]) -> list[dict[str, Any]]:
    """The same as JSON types."""
    return [{"query_id": contract.query_id, "type": contract.type, "reason": contract.problem} for contract in broken]


def encode_holes(label_holes: LabelHoles) -> dict[str, Any]:
    """The same as JSON types, each example with the labels that take the documents in."""
    return {
        "judge": label_holes.judge,
        "examples": label_holes.examples,
        "judged": label_holes.judged,
        "undecided": label_holes.undecided,
        "stopped": label_holes.stopped,
        "holes": [
            {
                "query_id": hole.query_id,
                "passages": [
                    {"doc_id": text.doc_id, "start": text.start, "end": text.end, "quote": text.quote}
                    for text in hole.passages
                ],
                "relevant": relevant_to_json(hole.relevant),
            }
            for hole in label_holes.holes
        ],
        **({} if label_holes.calling is None else label_holes.calling.to_json()),
    }
