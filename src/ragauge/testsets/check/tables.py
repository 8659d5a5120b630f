"""What a check of a set finds beside stale evidence, as sections: cut words, types, copies, label holes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ragauge.core.jsonl_files import relevant_to_json
from ragauge.core.messages import format_command, format_count, format_value
from ragauge.rendering.sections import Col, ReportSection, build_table
from ragauge.rendering.words import make_safe

if TYPE_CHECKING:
    from ragauge.stats.weighted import Interval
    from ragauge.testsets.check.contracts import BrokenContract
    from ragauge.testsets.check.freshness import EvidenceState, ExampleState, SetFreshness
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
MAX_IDS = 10  # query_ids in a command
MAX_STRETCHES = 5  # stretches of evidence of an example
STATES_WORST_FIRST = ("unwinnable", "gone", "changed", "moved")  # of evidence that is not intact, the worst first
STATE_MEANINGS = {
    "intact": "the evidence is where the labels say",
    "moved": "the same words at another position or in a renamed document",
    "changed": "the words changed since labeling, or occur in several places",
    "gone": "the words, or one of several gold documents, are no longer in the corpus",
    "unwinnable": "no gold document is in the corpus: no retriever can find it",
    "no labels": "no document or span is labeled",
}
UNLOCKED_NOTE = (
    "Without a lock and without quotes, documents and spans are only checked by name and length. To store "
    "their content: ragauge testset freeze SET --corpus CORPUS"
)


def build_freshness_sections(
    freshness: SetFreshness, fixed: str = "", *, path: str = "SET", corpus: str = "CORPUS"
) -> Iterator[ReportSection]:
    """The share alive, the states, examples that need a look, and what to do.

    Args:
        freshness: what was found.
        fixed: the mended set that was written; "" = none.
        path: of the set, for commands.
        corpus: likewise.
    """
    from ragauge.testsets.check.freshness import MIN_ALIVE_SHARE

    alive, intact = freshness.gold_alive, freshness.gold_intact
    lead = [f"{make_safe(freshness.name)}: {format_count(len(freshness.examples), 'example')}."]
    if alive[0] is not None:
        alive_text = (
            f"{sum(freshness.documents.values()):,} of {format_count(len(freshness.documents), 'gold document')}"
        )
        lead.append(
            f"gold_alive {_format_share(*alive, MIN_ALIVE_SHARE)}: {alive_text}; "
            f"gold_intact {_format_share(*intact)} of the examples with labels."
        )
    verdict = "" if freshness.passed else "Fewer than 90 % of the gold documents are alive: refresh the set."
    meaning = Col("meaning", lambda row: STATE_MEANINGS[row[0]])
    by_name = any(not stretch.was.runs for example in freshness.examples for stretch in example.evidence)
    notes = [UNLOCKED_NOTE] if by_name and not freshness.locked else []
    notes += _explain_alive_documents(freshness)
    if freshness.same_version is False:
        notes.append("The set changed after it was frozen; newer labels are only checked by name.")
    yield ReportSection(
        "testset check",
        lead=(*lead, *([verdict] if verdict else [])),
        table=build_table(freshness.counts.items(), Col("state", "0"), Col("examples", "1", "count"), meaning),
        notes=tuple(notes),
    )
    if stale_examples := [example for example in freshness.examples if example.state not in ("intact", "no labels")]:
        commands: tuple[str, ...]
        if fixed:
            drafts = [example.line.example.query_id for example in stale_examples if example.state != "moved"]
            ids = ",".join(drafts) if len(drafts) <= MAX_IDS else "IDS"
            mark = (format_command("testset", "mark", fixed, "--to", "reviewed", "--by", "NAME", "--ids", ids),)
            freeze = format_command("testset", "freeze", fixed, "--corpus", corpus)
            commands = (format_command("testset", "diff", path, fixed), *(mark if drafts else ()), freeze)
        else:
            commands = (format_command("testset", "check", path, "--corpus", corpus, "--fix", "-o", "NEW.jsonl"),)
        yield _build_example_list(stale_examples, fixed, commands)


def _explain_alive_documents(freshness: SetFreshness) -> list[str]:
    """Why documents count as alive that examples cannot find; [] where there are none."""
    gone = [example for example in freshness.examples if example.state == "unwinnable"]
    alive = [
        example for example in gone if any(freshness.documents.get(stretch.was.doc_id) for stretch in example.evidence)
    ]
    if not alive:
        return []
    tells = "" if freshness.locked else " Without a lock, it is unknown whether that document has the whole text."
    return [
        f"{len(alive):,} of the {len(gone):,} unwinnable {'examples label' if len(alive) > 1 else 'examples labels'} "
        "a document that no longer exists under its name, but gold_alive counts it as alive because words that other "
        f"examples quote from it are in a document with another name.{tells}"
    ]


def _build_example_list(stale_examples: list[ExampleState], fixed: str, commands: tuple[str, ...]) -> ReportSection:
    visible = sorted(stale_examples, key=lambda example: STATES_WORST_FIRST.index(example.state))[:MAX_ROWS]
    table = build_table(
        (row for example in visible for row in _build_evidence_rows(example)),
        Col("example", "0", fold=True),
        Col("state", "1"),
        Col("evidence", "2", fold=True),
        Col("question", "3", cut=MAX_QUERY_CHARS, room=1),
    )
    more = (
        (f"and {len(stale_examples) - MAX_ROWS:,} more: --json lists all.",) if len(stale_examples) > MAX_ROWS else ()
    )
    after = (
        (
            f"wrote {make_safe(fixed)}: labels now match the position and words of their evidence; "
            "examples whose evidence changed or is gone are drafts. Review the changes, mark the correct "
            "drafts, and freeze the set again.",
        )
        if fixed
        else ()
    )
    return ReportSection("Examples to review", table=table, after=(*more, *after), commands=commands)


def _build_evidence_rows(example_state: ExampleState) -> Iterator[tuple[str, str, str, str]]:
    """A row for each stretch of evidence that is not intact, the worst first, the example named in the first."""
    worst_first = sorted(
        (stretch for stretch in example_state.evidence if stretch.state in STATES_WORST_FIRST),
        key=lambda a: STATES_WORST_FIRST.index(a.state),
    )
    example = example_state.line.example
    yield example.query_id, example_state.state, _format_location(worst_first[0]), example.query
    for stretch in worst_first[1:MAX_STRETCHES]:
        yield "", stretch.state, _format_location(stretch), ""
    if len(worst_first) > MAX_STRETCHES:
        yield "", "", f"and {len(worst_first) - MAX_STRETCHES:,} more", ""


def _format_location(evidence: EvidenceState) -> str:
    old_location = f"{evidence.was.doc_id}" + (
        "" if evidence.was.start < 0 else f" {evidence.was.start}–{evidence.was.end}"
    )
    if evidence.now is None:
        return make_safe(f"{old_location} → nowhere")
    new_location = evidence.now.doc_id + ("" if evidence.was.start < 0 else f" {evidence.now.start}–{evidence.now.end}")
    likeness_text = (
        f" ({evidence.now.alike:.0%} of its words)" if evidence.state == "changed" and evidence.now.alike < 1 else ""
    )
    return make_safe(f"{old_location} → {new_location}{likeness_text}")


def _format_share(value: float | None, interval: Interval | None, limit: float | None = None) -> str:
    """A share with its interval, in as many decimals as it takes to show on which side of a limit it lies."""
    if value is None:
        return "undefined"
    interval_text = f" [{format_value(interval.low)}, {format_value(interval.high)}]" if interval else ""
    digits = 2 if limit is None else next(n for n in range(2, 17) if (round(value, n) >= limit) == (value >= limit))
    return f"{format_value(value) if digits == 2 else f'{value:.{digits}f}'}{interval_text}"


def encode_freshness(freshness: SetFreshness) -> dict[str, Any]:
    """Every example's state as JSON types, with both texts where they are known."""
    shares = {"gold_alive": freshness.gold_alive, "gold_intact": freshness.gold_intact}
    return {
        "set": freshness.name,
        "examples": len(freshness.examples),
        "counts": dict(freshness.counts),
        "passed": freshness.passed,
        "locked": freshness.locked,
        "same_version": freshness.same_version,
        "gold_documents": dict(freshness.documents),
        **{
            name: {
                "value": value,
                "low": interval.low if interval else None,
                "high": interval.high if interval else None,
            }
            for name, (value, interval) in shares.items()
        },
        "states": freshness.examples,
    }


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
        {"query_id": entry.query_id, "copies": entry.copies, "relevant": relevant_to_json(entry.relevant)}
        for entry in label_copies
    ]


def _note_remaining(n: int) -> tuple[str, ...]:
    return (f"and {n - MAX_ROWS:,} more: --json lists all.",) if n > MAX_ROWS else ()


def encode_holes(label_holes: LabelHoles) -> dict[str, Any]:
    """The same as JSON types, each example with the labels that take the documents in."""
    return {
        "judge": label_holes.judge,
        "examples": label_holes.examples,
        "judged": label_holes.judged,
        "undecided": label_holes.undecided,
        "stopped": label_holes.stopped,
        "holes": [
            {"query_id": hole.query_id, "passages": hole.passages, "relevant": relevant_to_json(hole.relevant)}
            for hole in label_holes.holes
        ],
        **({} if label_holes.calling is None else label_holes.calling.to_json()),
    }
