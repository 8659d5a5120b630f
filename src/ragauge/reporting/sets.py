"""Test sets as sections: made, held against their corpus, two versions of one."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ragauge.reporting.sections import ReportColumn, ReportSection, ReportTable, columns
from ragauge.reporting.words import line, safe
from ragauge.text.messages import number, plural

if TYPE_CHECKING:
    from ragauge.stats.weighted import Interval
    from ragauge.testsets.curate import SetDifference
    from ragauge.testsets.freshness import EvidenceState, SetFreshness
    from ragauge.testsets.generating import GeneratedSet
    from ragauge.testsets.rounds import WrittenSet

MOST = 20     # rows of a table of examples
TEXT = 120     # characters of a text
MEANING = {
    "intact": "the evidence stands where the labels say",
    "moved": "the same words at another place, or in a document of another name",
    "changed": "other words than when the labels were made",
    "gone": "the words are in no document, though the document is there",
    "unwinnable": "no gold document is in the corpus: no retriever can find it",
    "no labels": "no document or span is labelled",
}
UNLOCKED = (
    "Without a lock and without quotes, documents and spans are only looked up by name and length: "
    "ragauge testset freeze SET --corpus CORPUS keeps what they hold."
)


def freshness_sections(found: SetFreshness, fixed: str = "") -> Iterator[ReportSection]:
    """The share alive, the states, examples that need a look, and what to do."""
    alive, intact = found.gold_alive, found.gold_intact
    lead = [f"{safe(found.name)}: {plural(len(found.examples), 'example')}."]
    if alive[0] is not None:
        lead.append(
            f"gold_alive {_share(*alive)} of {plural(len(found.documents), 'gold document')}; "
            f"gold_intact {_share(*intact)} of the examples with labels."
        )
    verdict = "" if found.passed else "Fewer than 90 % of the gold documents are alive: refresh the set."
    rows = tuple((state, f"{n:,}", MEANING[state]) for state, n in found.counts.items())
    heads = (ReportColumn("state"), ReportColumn("examples", "number"), ReportColumn("meaning"))
    notes = [UNLOCKED] if not found.locked and _by_name(found) else []
    if found.same_version is False:
        notes.append("The set is not the one that was frozen: labels made since are only looked up by name.")
    yield ReportSection("testset check", lead=(*lead, *([verdict] if verdict else [])), table=ReportTable(heads, rows),
                        notes=tuple(notes))
    if listed := [one for one in found.examples if one.state not in ("intact", "no labels")]:
        yield _listed(found, listed, fixed)


def _by_name(found: SetFreshness) -> bool:
    return any(not stretch.was.runs for one in found.examples for stretch in one.evidence)


def _listed(found: SetFreshness, listed: list[Any], fixed: str) -> ReportSection:
    order = {"unwinnable": 0, "gone": 1, "changed": 2, "moved": 3}
    shown = sorted(listed, key=lambda one: order[one.state])[:MOST]
    rows = []
    for one in shown:
        worst = next((stretch for stretch in one.evidence if stretch.state != "intact"), one.evidence[0])
        rows.append((line(one.line.example.query_id), one.state, _place(worst), line(one.line.example.query, TEXT)))
    more = (f"and {len(listed) - MOST:,} more: --json lists all.",) if len(listed) > MOST else ()
    heads = (ReportColumn("example", fold=True), ReportColumn("state"), ReportColumn("evidence", fold=True),
             ReportColumn("question", room=1))
    commands = () if fixed else (f"ragauge testset check {found.name}.jsonl --corpus CORPUS --fix -o NEW.jsonl",)
    after = (f"wrote {safe(fixed)}: moved labels stand where their evidence is, the rest are drafts.",) if fixed else ()
    table = ReportTable(heads, tuple(rows))
    return ReportSection("To look at", table=table, notes=more, after=after, commands=commands)


def _place(one: EvidenceState) -> str:
    was = f"{one.was.doc_id}" + ("" if one.was.start < 0 else f" {one.was.start}–{one.was.end}")
    if one.now is None:
        return safe(f"{was} → nowhere")
    there = one.now.doc_id + ("" if one.was.start < 0 else f" {one.now.start}–{one.now.end}")
    alike = f" ({one.now.alike:.0%} of its words)" if one.state == "changed" and one.now.alike < 1 else ""
    return safe(f"{was} → {there}{alike}")


def _share(value: float | None, interval: Interval | None) -> str:
    ends = f" [{number(interval.low)}, {number(interval.high)}]" if interval else ""
    return "undefined" if value is None else f"{number(value)}{ends}"


def freshness_value(found: SetFreshness) -> dict[str, Any]:
    """Every example's state as JSON types, with both texts where they are known."""
    shares = {"gold_alive": found.gold_alive, "gold_intact": found.gold_intact}
    return {
        "set": found.name, "examples": len(found.examples), "counts": dict(found.counts), "passed": found.passed,
        "locked": found.locked, "same_version": found.same_version, "gold_documents": dict(found.documents),
        **{
            name: {"value": value, "low": ends.low if ends else None, "high": ends.high if ends else None}
            for name, (value, ends) in shares.items()
        },
        "states": [
            {
                "query_id": one.line.example.query_id, "state": one.state,
                "evidence": [
                    {
                        "state": stretch.state, "doc_id": stretch.was.doc_id,
                        "start": stretch.was.start if stretch.was.start >= 0 else None,
                        "end": stretch.was.end if stretch.was.start >= 0 else None,
                        "now": None if stretch.now is None else {
                            "doc_id": stretch.now.doc_id, "start": stretch.now.start, "end": stretch.now.end,
                            "alike": stretch.now.alike,
                        },
                        "then_text": stretch.then_text, "now_text": stretch.now_text,
                    }
                    for stretch in one.evidence
                ],
            }
            for one in found.examples
        ],
    }     # fmt: skip


def difference_sections(found: SetDifference) -> Iterator[ReportSection]:
    """How many examples were added, removed and changed; which fields; which examples."""
    changed = len({one.query_id for one in found.changed})
    lead = (
        f"{safe(found.old)} ({found.old_version}) → {safe(found.new)} ({found.new_version}): "
        f"{len(found.added):,} added, {len(found.removed):,} removed, {changed:,} changed, {found.same:,} the same.",
    )
    by_field = Counter(one.field for one in found.changed)
    fields = tuple((safe(name), f"{n:,}") for name, n in by_field.most_common())
    table = ReportTable(columns("field", numbers=("examples",)), fields)
    yield ReportSection("testset diff", lead=lead, table=table if by_field else None)
    rows = [(line(name), "added", "", line(query, TEXT)) for name, query in found.added.items()]
    rows += [(line(name), "removed", "", line(query, TEXT)) for name, query in found.removed.items()]
    for one in found.changed:
        rows.append((line(one.query_id), line(one.field), line(_json(one.old), TEXT), line(_json(one.new), TEXT)))
    if rows:
        heads = tuple(ReportColumn(name, fold=True) for name in ("example", "what", "before", "now"))
        more = (f"and {len(rows) - MOST:,} more: --json lists all.",) if len(rows) > MOST else ()
        yield ReportSection("Examples", table=ReportTable(heads, tuple(rows[:MOST])), notes=more)


def _json(value: Any) -> str:
    return "–" if value is None else value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def generated_sections(found: GeneratedSet, path: str) -> Iterator[ReportSection]:
    """How many questions, by type and difficulty, what they serve, what of the corpus was left out, and what to do."""
    used = {doc_id for one in found.lines for doc_id in (one.curation.origin.passages if one.curation.origin else ())}
    lead = [
        f"{len(found.lines):,} of {found.wanted:,} questions over {len(used):,} of "
        f"{plural(found.corpus.documents, 'document')} in {plural(found.topics, 'topic')}, all drafts.",
        found.fit,
    ]
    if found.written is not None:
        lead.append(_by(found))
    elif len(found.lines) < found.wanted:
        lead.append("Fewer than wanted: the documents hold too few words for more queries that differ.")
    segments = [one.example.segments for one in found.lines]
    counted = Counter((one.get("type", ""), one.get("difficulty", "")) for one in segments)
    rows = tuple((kind, hard, f"{n:,}") for (kind, hard), n in sorted(counted.items()))
    notes = (
        "easy: the gold document is first by BM25 and by embeddings; hard: beyond the tenth place in both.",
        *(f"{safe(told)}." for told in found.corpus.sentences()),
    )
    commands = (f"ragauge testset freeze {path} --corpus CORPUS", f"ragauge run SYSTEM {path}")
    table = ReportTable(columns("type", "difficulty", numbers=("questions",)), rows)
    yield ReportSection("testset generate", safe(path), tuple(lead), table, notes=notes, commands=commands)
    if found.written is not None:
        yield from _rejections(found.written)


def _by(found: GeneratedSet) -> str:
    """Who wrote and judged, and what that took."""
    writer, judge = found.by
    itself = judge.rpartition("#")[0] == writer.partition("@")[0]
    judged = "which checked them too: another model would see more" if itself else f"checked by {judge}"
    took = ""
    if (calls := found.calling) is not None:
        took = f"; {plural(calls.calls, 'call')}, {plural(calls.reused, 'stored reply', 'stored replies')}"
    return safe(f"Written by {writer}, {judged}{took}.")


def _rejections(written: WrittenSet) -> Iterator[ReportSection]:
    """What was not kept, by filter and type, and why a type ended early."""
    counted: Counter[str] = Counter()
    for stratum in written.strata:
        counted += stratum.rejected
    rows = tuple(
        (name, f"{n:,}", ", ".join(f"{one.name} {one.rejected[name]}" for one in written.strata if one.rejected[name]))
        for name, n in counted.most_common()
    )
    ended = tuple(
        safe(f"{one.name}: {len(one.kept)} of {one.wanted}, since {one.ended}.") for one in written.strata if one.ended
    )
    if rows or ended:
        heads = (ReportColumn("filter"), ReportColumn("rejected", "number"), ReportColumn("of the type", fold=True))
        yield ReportSection("Not kept", table=ReportTable(heads, rows) if rows else None, notes=ended)


def generated_value(found: GeneratedSet, path: str) -> dict[str, Any]:
    """What was made, as JSON types."""
    return {
        "path": path, "wanted": found.wanted, "examples": len(found.lines), "topics": found.topics, "fit": found.fit,
        "corpus": {
            "documents": found.corpus.documents, "empty": list(found.corpus.empty),
            "copies": dict(found.corpus.copies), "huge": list(found.corpus.huge),
        },
        "difficulty": dict(Counter(one.example.segments.get("difficulty", "") for one in found.lines)),
        **({} if found.written is None else _written_value(found, found.written)),
    }     # fmt: skip


def _written_value(found: GeneratedSet, written: WrittenSet) -> dict[str, Any]:
    writer, judge = found.by
    return {
        "model": writer, "judge": judge, "stopped": written.stopped,
        "types": {
            one.name: {
                "wanted": one.wanted, "kept": len(one.kept), "ended": one.ended, "rejected": dict(one.rejected),
            }
            for one in written.strata
        },
        **({} if found.calling is None else found.calling.plain()),
    }     # fmt: skip
