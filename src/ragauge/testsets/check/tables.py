"""What a check of a set finds beside stale evidence, as sections: cut words, types, copies, label holes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ragauge.core.jsonl_files import relevant_fields
from ragauge.core.messages import plural
from ragauge.rendering.sections import ReportColumn, ReportSection, ReportTable
from ragauge.rendering.words import line, safe

if TYPE_CHECKING:
    from ragauge.testsets.check.contracts import BrokenContract
    from ragauge.testsets.check.copies import LabelCopies
    from ragauge.testsets.check.freshness import SetFreshness
    from ragauge.testsets.check.missing_labels import LabelHole, LabelHoles

MOST = 20  # rows of a table
TEXT = 120  # characters of a question
QUOTE = 240  # characters of a quotation
OFFER = (
    "Where a document is right, add it to the labels as one that will do: label_holes in --json has each example's "
    "relevant as it would stand."
)
COPIES = (
    "Where a copy will do as well, add it to the labels: label_copies in --json has each example's relevant as it "
    "would stand. Where not all words are alike, see what differs first."
)


def cut_sections(found: SetFreshness, fixed: str, commands: tuple[str, ...]) -> Iterator[ReportSection]:
    """The examples whose evidence begins or ends inside a word; nothing where none does.

    Args:
        found: the set held against its corpus.
        fixed: the mended set that was written; "" = none.
        commands: what to do.
    """
    cut = [(one, stretch) for one in found.examples for stretch in one.cut]
    if not cut:
        return
    heads = (
        ReportColumn("example", fold=True),
        ReportColumn("evidence", fold=True),
        ReportColumn("cut", fold=True),
        ReportColumn("question", room=1),
    )
    rows = tuple(
        (
            line(one.line.example.query_id),
            line(f"{stretch.was.doc_id} {stretch.was.start}–{stretch.was.end}"),
            line("; ".join(f"“{part}” of “{word}”" for part, word in stretch.cut)),
            line(one.line.example.query, TEXT),
        )
        for one, stretch in cut[:MOST]
    )
    examples = plural(len({one.line.example.query_id for one, _ in cut}), "example")
    does = f"in {safe(fixed)} these words are whole" if fixed else "--fix makes these words whole"
    lead = (f"Evidence that begins or ends inside a word, in {examples}: {does}.",)
    yield ReportSection(
        "Cut words", lead=lead, table=ReportTable(heads, rows), notes=_more(len(cut)), commands=commands
    )


def contract_sections(broken: Sequence[BrokenContract]) -> Iterator[ReportSection]:
    """The examples that are not what their type of question promises; nothing where all are."""
    if not broken:
        return
    heads = (
        ReportColumn("example", fold=True),
        ReportColumn("type"),
        ReportColumn("what is wrong"),
        ReportColumn("question", room=1),
    )
    rows = tuple((line(one.query_id), one.type, line(one.told), line(one.query, TEXT)) for one in broken[:MOST])
    lead = (f"{plural(len(broken), 'example')} not what the type in meta.origin promises.",)
    yield ReportSection("Types", lead=lead, table=ReportTable(heads, rows), notes=_more(len(broken)))


def hole_sections(found: LabelHoles) -> Iterator[ReportSection]:
    """How many were looked at, and each document that states a reference without a label, with its sentences."""
    if not found.examples:
        told = "No example has both a reference and gold documents, so there was nothing to look for."
        yield ReportSection("Label holes", lead=(told,))
        return
    lead = [
        f"{found.judge} looked at {found.judged:,} of {plural(found.examples, 'example')} with a reference and gold "
        f"documents, those of which an unlabelled passage holds most words: {len(found.holes):,} with a hole in "
        "their labels."
    ]
    if found.undecided:
        lead.append(f"{found.undecided:,} without a verdict.")
    if found.stopped:
        lead.append(found.stopped)
    heads = (
        ReportColumn("example", fold=True),
        ReportColumn("document", fold=True),
        ReportColumn("it says"),
        ReportColumn("question", room=1),
    )
    rows = tuple(row for one in found.holes[:MOST] for row in _hole_rows(one))
    notes = (*_more(len(found.holes)), OFFER) if rows else ()
    yield ReportSection("Label holes", lead=tuple(lead), table=ReportTable(heads, rows) if rows else None, notes=notes)


def _hole_rows(hole: LabelHole) -> Iterator[tuple[str, str, str, str]]:
    """A row for each document, the example named in the first."""
    name, query = line(hole.query_id), line(hole.query, TEXT)
    for one in hole.passages:
        yield name, line(one.doc_id), line(one.quote, QUOTE), query
        name = query = ""


def copy_sections(found: Sequence[LabelCopies]) -> Iterator[ReportSection]:
    """The copies of gold documents that have no label, and how many examples each concerns; nothing without one."""
    counted = Counter(copy for one in found for copy in one.copies)
    if not counted:
        return
    heads = (
        ReportColumn("gold document", fold=True),
        ReportColumn("copy", fold=True),
        ReportColumn("words alike", "number"),
        ReportColumn("examples", "number"),
    )
    rows = tuple((line(one.of), line(one.doc_id), f"{one.alike:.0%}", f"{n:,}") for one, n in counted.most_common(MOST))
    lead = (
        f"{plural(len(found), 'example')} of which a copy of a gold document has no label: a system that finds the "
        "copy is counted as missing the document.",
    )
    yield ReportSection(
        "Copies of gold documents", lead=lead, table=ReportTable(heads, rows), notes=(*_more(len(counted)), COPIES)
    )


def copies_value(found: Sequence[LabelCopies]) -> list[dict[str, Any]]:
    """The same as JSON types, each example with the labels that take its copies in."""
    return [
        {
            "query_id": one.query_id,
            "copies": [{"doc_id": copy.doc_id, "of": copy.of, "alike": copy.alike} for copy in one.copies],
            "relevant": relevant_fields(one.relevant),
        }
        for one in found
    ]


def _more(n: int) -> tuple[str, ...]:
    return (f"and {n - MOST:,} more: --json lists all.",) if n > MOST else ()


def contracts_value(broken: Sequence[BrokenContract]) -> list[dict[str, Any]]:
    """The same as JSON types."""
    return [{"query_id": one.query_id, "type": one.type, "reason": one.told} for one in broken]


def holes_value(found: LabelHoles) -> dict[str, Any]:
    """The same as JSON types, each example with the labels that take the documents in."""
    return {
        "judge": found.judge,
        "examples": found.examples,
        "judged": found.judged,
        "undecided": found.undecided,
        "stopped": found.stopped,
        "holes": [
            {
                "query_id": one.query_id,
                "passages": [
                    {"doc_id": text.doc_id, "start": text.start, "end": text.end, "quote": text.quote}
                    for text in one.passages
                ],
                "relevant": relevant_fields(one.relevant),
            }
            for one in found.holes
        ],
        **({} if found.calling is None else found.calling.plain()),
    }
