"""Test sets as sections: made, held against their corpus, two versions of one."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal

from ragauge.core.document import FileName
from ragauge.core.messages import format_command, format_count
from ragauge.rendering.sections import Col, ReportSection, build_table
from ragauge.rendering.words import make_safe, to_line

if TYPE_CHECKING:
    from ragauge.testsets.curate.compute import SetDifference
    from ragauge.testsets.generate.rounds import WrittenSet
    from ragauge.testsets.generate.set_generation import GeneratedSet

MAX_ROWS = 20  # rows of a table of examples
MAX_TEXT_CHARS = 120  # characters of a text
MAX_REPLY_CHARS = 300  # characters of a reply
DIFFICULTY_NOTE = (
    "easy: both BM25 and embeddings rank the gold document first; hard: both rank it below 10. Both rank "
    "whole documents, so a system that searches passages may rank differently."
)
UNWRITTEN_REASONS = {  # why no question came
    "declined": "the model replied that the passages allow no such question; another passage was sampled",
    "unreadable": "the reply had no question, even after a retry",
    "call_failed": "the call to the model failed",
}


def build_difference_sections(
    set_difference: SetDifference, max_rows: int | None = MAX_ROWS
) -> Iterator[ReportSection]:
    """How many examples were added, removed and changed; which fields; which examples.

    Args:
        set_difference: what differs.
        max_rows: rows of the table of examples; None = all.
    """
    changed = len({change.query_id for change in set_difference.changed})
    lead = (
        f"{make_safe(set_difference.old)} ({set_difference.old_version}) → {make_safe(set_difference.new)} "
        f"({set_difference.new_version}): {len(set_difference.added):,} added, {len(set_difference.removed):,} "
        f"removed, {changed:,} changed, {set_difference.same:,} the same.",
    )
    by_field = Counter(change.field for change in set_difference.changed)
    table = build_table(by_field.most_common(), Col("field", "0"), Col("examples", "1", "count"))
    yield ReportSection("testset diff", lead=lead, table=table)
    if rows := list(list_differences(set_difference)):
        table = build_table(
            rows[:max_rows],
            Col("example", "query_id", fold=True),
            Col("what", fold=True),
            Col("before", cut=MAX_TEXT_CHARS, fold=True),
            Col("now", cut=MAX_TEXT_CHARS, fold=True),
        )
        n_left_out = 0 if max_rows is None else max(0, len(rows) - max_rows)
        more = (f"and {n_left_out:,} more: JSON lists all.",) if n_left_out else ()
        yield ReportSection("Examples", table=table, notes=more)


def list_differences(set_difference: SetDifference) -> Iterator[dict[str, str]]:
    """A row an added or removed example and a changed field: query_id, what, before and now, uncut."""
    for name, query in set_difference.added.items():
        yield {"query_id": name, "what": "added", "before": "", "now": query}
    for name, query in set_difference.removed.items():
        yield {"query_id": name, "what": "removed", "before": query, "now": ""}
    for change in set_difference.changed:
        yield {
            "query_id": change.query_id,
            "what": change.field,
            "before": _format_value(change.old),
            "now": _format_value(change.new),
        }


def _format_value(value: Any) -> str:
    return "–" if value is None else value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def build_generated_sections(generated: GeneratedSet, path: str, corpus: str = "CORPUS") -> Iterator[ReportSection]:
    """How many questions, by type and difficulty, what they serve, what of the corpus was left out, and what to do."""
    used = {
        doc_id
        for entry in generated.lines
        for doc_id in (entry.curation.origin.passages if entry.curation.origin else ())
    }
    lead = [
        f"{len(generated.lines):,} of {generated.wanted:,} questions over {len(used):,} of "
        f"{format_count(generated.corpus.documents, 'document')} in {format_count(generated.topics, 'topic')}, all "
        "drafts.",
        generated.fit if generated.lines else f"No question passed the checks, so {make_safe(path)} was not written.",
    ]
    if (empty := generated.corpus.n_usable - len(used)) > 0 and generated.lines:
        more = (
            f"; use -n {generated.corpus.n_usable:,} to cover all of them"
            if generated.wanted < generated.corpus.n_usable
            else ""
        )
        lead[0] += f" {format_count(empty, 'document')} {'has' if empty == 1 else 'have'} no question{more}."
    if generated.written is not None:
        lead.append(_describe_models(generated))
    elif len(generated.lines) < generated.wanted:
        lead.append("Fewer than requested: the documents have too few words for more distinct queries.")
    segments = [entry.example.segments for entry in generated.lines]
    counted = Counter((entry.get("type", ""), entry.get("difficulty", "")) for entry in segments)
    notes = tuple(f"{make_safe(corpus_note)}." for corpus_note in generated.corpus.list_exclusions())
    commands: tuple[str, ...] = ()
    if counted:
        notes = (DIFFICULTY_NOTE, *map(_describe_ids, sorted(used)[:1]), *notes)
        commands = (
            format_command("testset", "freeze", path, "--corpus", corpus),
            format_command("run", "SYSTEM", path),
        )
    table = build_table(
        sorted(counted.items()), Col("type", "0.0"), Col("difficulty", "0.1"), Col("questions", "1", "count")
    )
    yield ReportSection("testset generate", make_safe(path), tuple(lead), table, notes=notes, commands=commands)
    if generated.written is not None:
        yield from _build_unwritten_section(generated.written)
        yield from _build_rejection_section(generated.written)


def _describe_ids(doc_id: str) -> str:
    """How labels name documents, by one of them."""
    ending = "with its extension" if FileName.from_id(doc_id).ending else "without its extension (--ids path keeps it)"
    return f"Labels name documents by doc_id, such as {make_safe(doc_id)}; for a text file, its path {ending}."


def _describe_models(generated: GeneratedSet) -> str:
    """Who wrote and judged, and what that took."""
    writer, judge = generated.by
    itself = judge.rpartition("#")[0] == writer.partition("@")[0]
    judge_text = "which also checked them; another model would find more problems" if itself else f"checked by {judge}"
    took = ""
    if (calls := generated.calling) is not None:
        took = f"; {format_count(calls.calls, 'call')}, {format_count(calls.reused, 'stored reply', 'stored replies')}"
    return make_safe(f"Written by {writer}, {judge_text}{took}.")


def _build_rejection_section(written: WrittenSet) -> Iterator[ReportSection]:
    """What was not kept, by filter and type, and why a type ended early."""
    counted: Counter[str] = Counter()
    for stratum in written.strata:
        counted += stratum.rejected
    ended = tuple(
        make_safe(
            f"{stratum_written.name}: {len(stratum_written.kept)} of {stratum_written.n_wanted}, because "
            f"{stratum_written.ended}."
        )
        for stratum_written in written.strata
        if stratum_written.ended
    )
    if counted or ended:
        table = build_table(
            counted.most_common(),
            Col("filter", "0"),
            Col("rejected", "1", "count"),
            Col("by type", lambda row: _count_by_type(written, "rejected", row[0]), fold=True),
        )
        yield ReportSection("Rejected questions", table=table, notes=ended)


def _count_by_type(written: WrittenSet, counter_name: Literal["rejected", "unwritten"], name: str) -> str:
    each = {stratum.name: getattr(stratum, counter_name)[name] for stratum in written.strata}
    return ", ".join(f"{kind} {n}" for kind, n in each.items() if n)


def _build_unwritten_section(written: WrittenSet) -> Iterator[ReportSection]:
    """Questions that were asked for and did not come, by the reason, with a reply that could not be read."""
    counted: Counter[str] = Counter()
    for stratum in written.strata:
        counted += stratum.unwritten
    if counted:
        table = build_table(
            counted.most_common(),
            Col("why", "0"),
            Col("requested", "1", "count"),
            Col("by type", lambda row: _count_by_type(written, "unwritten", row[0]), fold=True),
            Col("meaning", lambda row: UNWRITTEN_REASONS[row[0]]),
        )
        heard = to_line(written.heard, MAX_REPLY_CHARS)
        notes = (f"The first unreadable reply: {heard}. --rejected FILE saves all of them.",) if heard else ()
        yield ReportSection("Missing questions", table=table, notes=notes)


def encode_generated(generated: GeneratedSet, path: str) -> dict[str, Any]:
    """What was made, as JSON types."""
    return {
        "path": path,
        "wanted": generated.wanted,
        "examples": len(generated.lines),
        "topics": generated.topics,
        "fit": generated.fit,
        "corpus": generated.corpus,
        "difficulty": dict(Counter(set_line.example.segments.get("difficulty", "") for set_line in generated.lines)),
        **({} if generated.written is None else _encode_written(generated, generated.written)),
    }


def _encode_written(generated: GeneratedSet, written: WrittenSet) -> dict[str, Any]:
    writer, judge = generated.by
    return {
        "model": writer,
        "judge": judge,
        "stopped": written.stopped,
        "types": {stratum.name: stratum for stratum in written.strata},
        **({} if generated.calling is None else generated.calling.to_json()),
    }
