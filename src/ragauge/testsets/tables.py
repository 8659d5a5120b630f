"""Test sets as sections: made, held against their corpus, two versions of one."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal

from ragauge.core.document_names import FileName
from ragauge.core.messages import command, number, plural
from ragauge.rendering.sections import ReportColumn, ReportSection, ReportTable, columns
from ragauge.rendering.words import line, safe

if TYPE_CHECKING:
    from ragauge.stats.weighted import Interval
    from ragauge.testsets.check.freshness import EvidenceState, ExampleState, SetFreshness
    from ragauge.testsets.curate.compute import SetDifference
    from ragauge.testsets.generate.rounds import WrittenSet
    from ragauge.testsets.generate.set_generation import GeneratedSet

MOST = 20  # rows of a table of examples
NAMED = 10  # query_ids in a command
EACH = 5  # stretches of evidence of an example
TEXT = 120  # characters of a text
HEARD = 300  # characters of a reply
WORST = ("unwinnable", "gone", "changed", "moved")  # of evidence that is not intact, the worst first
MEANING = {
    "intact": "the evidence stands where the labels say",
    "moved": "the same words at another place, or in a document of another name",
    "changed": "other words than when the labels were made, or words that stand in several places",
    "gone": "the words, or one of several gold documents, are in the corpus no more",
    "unwinnable": "no gold document is in the corpus: no retriever can find it",
    "no labels": "no document or span is labelled",
}
DIFFICULTY = (
    "easy: the gold document is first by BM25 and by embeddings; hard: beyond the tenth place in both. Both rank "
    "whole documents: a system that searches passages may rank otherwise."
)
UNWRITTEN = {  # why no question came
    "declined": "the model says that the passages allow no such question: another passage was drawn",
    "unreadable": "no reply holds a question, asked twice",
    "call_failed": "the model could not be asked",
}
UNLOCKED = (
    "Without a lock and without quotes, documents and spans are only looked up by name and length: "
    "ragauge testset freeze SET --corpus CORPUS keeps what they hold."
)


def freshness_sections(
    found: SetFreshness, fixed: str = "", *, path: str = "SET", corpus: str = "CORPUS"
) -> Iterator[ReportSection]:
    """The share alive, the states, examples that need a look, and what to do.

    Args:
        found: what was found.
        fixed: the mended set that was written; "" = none.
        path: of the set, for commands.
        corpus: likewise.
    """
    from ragauge.testsets.check.freshness import LEAST_ALIVE

    alive, intact = found.gold_alive, found.gold_intact
    lead = [f"{safe(found.name)}: {plural(len(found.examples), 'example')}."]
    if alive[0] is not None:
        there = f"{sum(found.documents.values()):,} of {plural(len(found.documents), 'gold document')}"
        lead.append(
            f"gold_alive {_share(*alive, LEAST_ALIVE)}: {there}; "
            f"gold_intact {_share(*intact)} of the examples with labels."
        )
    verdict = "" if found.passed else "Fewer than 90 % of the gold documents are alive: refresh the set."
    rows = tuple((state, f"{n:,}", MEANING[state]) for state, n in found.counts.items())
    heads = (ReportColumn("state"), ReportColumn("examples", "number"), ReportColumn("meaning"))
    notes = [UNLOCKED] if not found.locked and _by_name(found) else []
    notes += _living_on(found)
    if found.same_version is False:
        notes.append("The set is not the one that was frozen: labels made since are only looked up by name.")
    yield ReportSection(
        "testset check",
        lead=(*lead, *([verdict] if verdict else [])),
        table=ReportTable(heads, rows),
        notes=tuple(notes),
    )
    if listed := [one for one in found.examples if one.state not in ("intact", "no labels")]:
        commands: tuple[str, ...]
        if fixed:
            drafts = [one.line.example.query_id for one in listed if one.state != "moved"]
            ids = ",".join(drafts) if len(drafts) <= NAMED else "IDS"
            mark = (command("testset", "mark", fixed, "--to", "reviewed", "--by", "NAME", "--ids", ids),)
            freeze = command("testset", "freeze", fixed, "--corpus", corpus)
            commands = (command("testset", "diff", path, fixed), *(mark if drafts else ()), freeze)
        else:
            commands = (command("testset", "check", path, "--corpus", corpus, "--fix", "-o", "NEW.jsonl"),)
        yield _listed(listed, fixed, commands)


def _living_on(found: SetFreshness) -> list[str]:
    """Why documents count as alive that examples cannot find; [] where there are none."""
    gone = [one for one in found.examples if one.state == "unwinnable"]
    alive = [one for one in gone if any(found.documents.get(stretch.was.doc_id) for stretch in one.evidence)]
    if not alive:
        return []
    tells = "" if found.locked else " Without a lock nothing tells that the whole document stands there."
    return [
        f"{len(alive):,} of the {len(gone):,} unwinnable {'examples label' if len(alive) > 1 else 'examples labels'} a "
        "document whose name is gone, and gold_alive counts it as alive: words of it that other examples quote stand "
        f"in a document of another name.{tells}"
    ]


def _by_name(found: SetFreshness) -> bool:
    return any(not stretch.was.runs for one in found.examples for stretch in one.evidence)


def _listed(listed: list[ExampleState], fixed: str, commands: tuple[str, ...]) -> ReportSection:
    shown = sorted(listed, key=lambda one: WORST.index(one.state))[:MOST]
    rows = tuple(row for one in shown for row in _evidence_rows(one))
    more = (f"and {len(listed) - MOST:,} more: --json lists all.",) if len(listed) > MOST else ()
    heads = (
        ReportColumn("example", fold=True),
        ReportColumn("state"),
        ReportColumn("evidence", fold=True),
        ReportColumn("question", room=1),
    )
    after = (
        (
            f"wrote {safe(fixed)}: labels stand where their evidence is, with its words as they are now; what changed "
            "or is gone is a draft. Look at what changed, mark the drafts that hold, and freeze the set again.",
        )
        if fixed
        else ()
    )
    table = ReportTable(heads, rows)
    return ReportSection("To look at", table=table, after=(*more, *after), commands=commands)


def _evidence_rows(one: ExampleState) -> Iterator[tuple[str, str, str, str]]:
    """A row for each stretch of evidence that is not intact, the worst first, the example named in the first."""
    lost = sorted((stretch for stretch in one.evidence if stretch.state in WORST), key=lambda a: WORST.index(a.state))
    example = one.line.example
    yield line(example.query_id), one.state, _place(lost[0]), line(example.query, TEXT)
    for stretch in lost[1:EACH]:
        yield "", stretch.state, _place(stretch), ""
    if len(lost) > EACH:
        yield "", "", f"and {len(lost) - EACH:,} more", ""


def _place(one: EvidenceState) -> str:
    was = f"{one.was.doc_id}" + ("" if one.was.start < 0 else f" {one.was.start}–{one.was.end}")
    if one.now is None:
        return safe(f"{was} → nowhere")
    there = one.now.doc_id + ("" if one.was.start < 0 else f" {one.now.start}–{one.now.end}")
    alike = f" ({one.now.alike:.0%} of its words)" if one.state == "changed" and one.now.alike < 1 else ""
    return safe(f"{was} → {there}{alike}")


def _share(value: float | None, interval: Interval | None, limit: float | None = None) -> str:
    """A share with its interval, in as many decimals as it takes to show on which side of a limit it lies."""
    if value is None:
        return "undefined"
    ends = f" [{number(interval.low)}, {number(interval.high)}]" if interval else ""
    digits = 2 if limit is None else next(n for n in range(2, 17) if (round(value, n) >= limit) == (value >= limit))
    return f"{number(value) if digits == 2 else f'{value:.{digits}f}'}{ends}"


def freshness_value(found: SetFreshness) -> dict[str, Any]:
    """Every example's state as JSON types, with both texts where they are known."""
    shares = {"gold_alive": found.gold_alive, "gold_intact": found.gold_intact}
    return {
        "set": found.name,
        "examples": len(found.examples),
        "counts": dict(found.counts),
        "passed": found.passed,
        "locked": found.locked,
        "same_version": found.same_version,
        "gold_documents": dict(found.documents),
        **{
            name: {"value": value, "low": ends.low if ends else None, "high": ends.high if ends else None}
            for name, (value, ends) in shares.items()
        },
        "states": [
            {
                "query_id": one.line.example.query_id,
                "state": one.state,
                "evidence": [
                    {
                        "state": stretch.state,
                        "doc_id": stretch.was.doc_id,
                        "start": stretch.was.start if stretch.was.start >= 0 else None,
                        "end": stretch.was.end if stretch.was.start >= 0 else None,
                        "now": None
                        if stretch.now is None
                        else {
                            "doc_id": stretch.now.doc_id,
                            "start": stretch.now.start,
                            "end": stretch.now.end,
                            "alike": stretch.now.alike,
                        },
                        "then_text": stretch.then_text,
                        "now_text": stretch.now_text,
                        "whole": None
                        if stretch.whole is None
                        else {"start": stretch.whole.start, "end": stretch.whole.end, "text": stretch.whole_text},
                    }
                    for stretch in one.evidence
                ],
            }
            for one in found.examples
        ],
    }


def difference_sections(found: SetDifference, most: int | None = MOST) -> Iterator[ReportSection]:
    """How many examples were added, removed and changed; which fields; which examples.

    Args:
        found: what differs.
        most: rows of the table of examples; None = all.
    """
    changed = len({one.query_id for one in found.changed})
    lead = (
        f"{safe(found.old)} ({found.old_version}) → {safe(found.new)} ({found.new_version}): "
        f"{len(found.added):,} added, {len(found.removed):,} removed, {changed:,} changed, {found.same:,} the same.",
    )
    by_field = Counter(one.field for one in found.changed)
    fields = tuple((safe(name), f"{n:,}") for name, n in by_field.most_common())
    table = ReportTable(columns("field", numbers=("examples",)), fields)
    yield ReportSection("testset diff", lead=lead, table=table if by_field else None)
    rows = [
        (line(row["query_id"]), line(row["what"]), line(row["before"], TEXT), line(row["now"], TEXT))
        for row in difference_rows(found)
    ]
    if rows:
        heads = tuple(ReportColumn(name, fold=True) for name in ("example", "what", "before", "now"))
        left = 0 if most is None else max(0, len(rows) - most)
        more = (f"and {left:,} more: JSON lists all.",) if left else ()
        yield ReportSection("Examples", table=ReportTable(heads, tuple(rows[:most])), notes=more)


def difference_rows(found: SetDifference) -> Iterator[dict[str, str]]:
    """A row an added or removed example and a changed field: query_id, what, before and now, uncut."""
    for name, query in found.added.items():
        yield {"query_id": name, "what": "added", "before": "", "now": query}
    for name, query in found.removed.items():
        yield {"query_id": name, "what": "removed", "before": query, "now": ""}
    for one in found.changed:
        yield {"query_id": one.query_id, "what": one.field, "before": _json(one.old), "now": _json(one.new)}


def _json(value: Any) -> str:
    return "–" if value is None else value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def generated_sections(found: GeneratedSet, path: str, corpus: str = "CORPUS") -> Iterator[ReportSection]:
    """How many questions, by type and difficulty, what they serve, what of the corpus was left out, and what to do."""
    used = {doc_id for one in found.lines for doc_id in (one.curation.origin.passages if one.curation.origin else ())}
    lead = [
        f"{len(found.lines):,} of {found.wanted:,} questions over {len(used):,} of "
        f"{plural(found.corpus.documents, 'document')} in {plural(found.topics, 'topic')}, all drafts.",
        found.fit if found.lines else f"Nothing was kept, so {safe(path)} was not written.",
    ]
    if (empty := found.corpus.of_use - len(used)) > 0 and found.lines:
        more = f": -n {found.corpus.of_use:,} asks about each" if found.wanted < found.corpus.of_use else ""
        lead[0] += f" {plural(empty, 'document')} {'has' if empty == 1 else 'have'} no question{more}."
    if found.written is not None:
        lead.append(_by(found))
    elif len(found.lines) < found.wanted:
        lead.append("Fewer than wanted: the documents hold too few words for more queries that differ.")
    segments = [one.example.segments for one in found.lines]
    counted = Counter((one.get("type", ""), one.get("difficulty", "")) for one in segments)
    rows = tuple((kind, hard, f"{n:,}") for (kind, hard), n in sorted(counted.items()))
    notes = tuple(f"{safe(told)}." for told in found.corpus.sentences())
    commands: tuple[str, ...] = ()
    if rows:
        notes = (DIFFICULTY, *map(_named, sorted(used)[:1]), *notes)
        commands = (command("testset", "freeze", path, "--corpus", corpus), command("run", "SYSTEM", path))
    table = ReportTable(columns("type", "difficulty", numbers=("questions",)), rows) if rows else None
    yield ReportSection("testset generate", safe(path), tuple(lead), table, notes=notes, commands=commands)
    if found.written is not None:
        yield from _unwritten(found.written)
        yield from _rejections(found.written)


def _named(doc_id: str) -> str:
    """How labels name documents, by one of them."""
    ending = "with its ending" if FileName.from_id(doc_id).ending else "without its ending (--ids path keeps that)"
    return f"Labels name documents by doc_id, such as {safe(doc_id)}: of a text file, its path {ending}."


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
    rows = tuple((name, f"{n:,}", _by_type(written, "rejected", name)) for name, n in counted.most_common())
    ended = tuple(
        safe(f"{one.name}: {len(one.kept)} of {one.wanted}, since {one.ended}.") for one in written.strata if one.ended
    )
    if rows or ended:
        heads = (ReportColumn("filter"), ReportColumn("rejected", "number"), ReportColumn("of the type", fold=True))
        yield ReportSection("Not kept", table=ReportTable(heads, rows) if rows else None, notes=ended)


def _by_type(written: WrittenSet, of: Literal["rejected", "unwritten"], name: str) -> str:
    each = {one.name: getattr(one, of)[name] for one in written.strata}
    return ", ".join(f"{kind} {n}" for kind, n in each.items() if n)


def _unwritten(written: WrittenSet) -> Iterator[ReportSection]:
    """Questions that were asked for and did not come, by the reason, with a reply that could not be read."""
    counted: Counter[str] = Counter()
    for stratum in written.strata:
        counted += stratum.unwritten
    if counted:
        rows = tuple(
            (name, f"{n:,}", _by_type(written, "unwritten", name), UNWRITTEN[name]) for name, n in counted.most_common()
        )
        heads = (
            ReportColumn("why"),
            ReportColumn("asked for", "number"),
            ReportColumn("of the type", fold=True),
            ReportColumn("meaning"),
        )
        heard = line(written.heard, HEARD)
        notes = (f"The first reply that could not be read: {heard}. --rejected FILE keeps each.",) if heard else ()
        yield ReportSection("Not written", table=ReportTable(heads, rows), notes=notes)


def generated_value(found: GeneratedSet, path: str) -> dict[str, Any]:
    """What was made, as JSON types."""
    return {
        "path": path,
        "wanted": found.wanted,
        "examples": len(found.lines),
        "topics": found.topics,
        "fit": found.fit,
        "corpus": {
            "documents": found.corpus.documents,
            "of_use": found.corpus.of_use,
            "empty": list(found.corpus.empty),
            "copies": dict(found.corpus.copies),
            "huge": list(found.corpus.huge),
            "not_utf8": list(found.corpus.undecoded),
        },
        "difficulty": dict(Counter(one.example.segments.get("difficulty", "") for one in found.lines)),
        **({} if found.written is None else _written_value(found, found.written)),
    }


def _written_value(found: GeneratedSet, written: WrittenSet) -> dict[str, Any]:
    writer, judge = found.by
    return {
        "model": writer,
        "judge": judge,
        "stopped": written.stopped,
        "types": {
            one.name: {
                "wanted": one.wanted,
                "kept": len(one.kept),
                "ended": one.ended,
                "rejected": dict(one.rejected),
                "unwritten": dict(one.unwritten),
            }
            for one in written.strata
        },
        **({} if found.calling is None else found.calling.plain()),
    }
