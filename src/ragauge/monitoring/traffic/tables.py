"""Traces of production in words and tables: what became of one, and of all."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from ragauge.core.messages import command, plural
from ragauge.readers.traces.spans import TraceSpan
from ragauge.rendering.sections import (
    Phrase,
    ReportColumn,
    ReportItem,
    ReportSection,
    ReportTable,
    TableCell,
    Tone,
    Wording,
)
from ragauge.rendering.verdict_texts import count_words, older_counts
from ragauge.rendering.words import line, safe
from ragauge.scores.results.traffic import JobLine, TraceList, TraceStory, TrafficStatus

if TYPE_CHECKING:
    from ragauge.store.returns import ReturnCounts

# what an outcome means and what to do, said after it
MEANT: Mapping[str, str] = {
    "waiting": "It is read when its outermost span has ended and 5 seconds brought no more, or after 30 quiet seconds.",
    "to score": "Its response is in the run; not all of its scores are there yet.",
    "scored": "Its response is in the run, with its scores.",
    "sampled out": "It has the scores that need no judge. Raise sample.rate in the section monitor of ragauge.yaml.",
    "no content": "Texts of prompts and answers are opt-in with most instrumentations: switch content capture on.",
    "redacted": "What a judge needs was taken out, by the instrumentation or by redact of ragauge.yaml.",
    "filtered": "Only requests in which something was retrieved are measured.",
    "over budget": "It is judged when there is money again, at the latest on the next day (UTC).",
    "failed": "It is kept as it came.",
}
TONES: Mapping[str, Tone] = {"scored": "good", "failed": "bad", "over budget": "bad"}
ORDER = tuple(MEANT)
# what the state of a job is called
STATES: Mapping[str, tuple[str, Tone]] = {
    "noted": ("waits for its time", "faint"),
    "running": ("running", ""),
    "pass": ("pass", "good"),
    "fail": ("fail", "bad"),
    "not_enough_data": ("not enough data", "unsure"),
    "done": ("done", "good"),
    "error": ("error", "bad"),
}
NOTHING = (
    "No traffic has come in yet. Let the system send its traces to ragauge monitor serve: set "
    "OTEL_EXPORTER_OTLP_ENDPOINT where it runs to the address that the server prints."
)
OUTDATED = (
    "The server that was started last, at {since}, was given another section monitor than stands in the file "
    "now. Start it again: ragauge monitor serve"
)
NO_SCHEDULE = (
    "No schedule is set. To hold a test set to the gate every night, write in the section monitor of "
    'ragauge.yaml: schedules: [{name: nightly, cron: "0 2 * * *", run: my_app:answer, set: golden.jsonl}]'
)
SILENT = 60.0  # seconds without a sign of life after which nobody does a job any more
UNKNOWN = "unknown_service"  # what an SDK calls a service that nobody named
MOST_ID, MOST_EXAMPLES = 60, 10  # characters of an id that are shown; responses of a trace that are named
BLANK, DEEPEST = "\N{NO-BREAK SPACE}" * 3, 12  # of a level of the tree; levels that are drawn
NO_TRACE = "No trace matches. One that was not read yet is found by its whole id alone."
MOST_VALUE = 2000  # characters of an attribute
NO_SPANS = "No span of it is kept: it came as a response, or its raw batches are older than keep.raw says."


def trace_sections(found: TraceStory) -> Iterator[ReportSection]:
    """What became of one trace, why, and where to look."""
    about = " · ".join(part for part in (safe(found.project), found.day) if part)
    reason = f": {safe(found.reason)}" if found.reason else ""
    outcome = Phrase(f"{found.outcome}{reason}", TONES.get(found.outcome, ""))
    lead: list[Wording] = [outcome, MEANT.get(found.outcome, "")]
    if found.due and found.outcome != "waiting":
        lead.append("More of it has come since; it is read again.")
    if found.run_id:
        many = plural(len(found.query_ids), "response")
        run = Phrase(f"{safe(found.run_name)} ({found.run_id})", to=("run", found.run_id))
        where: tuple[str | Phrase, ...] = (f"{many} in run ", run) if found.run_name else ("its run was deleted",)
        stands = f", weight {found.weight:.3g}; for the judge {100 * found.chance:.3g} % of such traces are drawn."
        lead.append((*where, stands))
        lead += [
            ("Scores and claims: ", Phrase(line(one, MOST_ID), to=("ex of", found.run_id, one)))
            for one in found.query_ids[:MOST_EXAMPLES]
        ]
    lead += [f"By people: {safe(words)}." for words in found.people]
    came = found.first[:16].replace("T", " ")
    kept = f"{plural(found.batches, 'raw batch', 'raw batches')} kept, the first part came {came} UTC."
    commands = tuple(command("show", found.run_id, query_id) for query_id in found.query_ids[:3])
    yield ReportSection(
        Phrase(f"Trace {safe(found.trace_id)}", "title"), about, tuple(lead), notes=(kept,), commands=commands
    )


def span_sections(spans: Sequence[TraceSpan]) -> Iterator[ReportSection]:
    """The spans of a trace as a tree, then each with its attributes as they came.

    Args:
        spans: by their start.
    """
    if not spans:
        yield ReportSection("Spans", lead=(NO_SPANS,))
        return
    begin, ordered = min(span.start for span in spans), list(_tree(spans))
    heads = (
        ReportColumn("span"),
        ReportColumn("after", "number", whole=True),
        ReportColumn("took", "number", whole=True),
        ReportColumn("error"),
    )
    rows = tuple(
        (
            BLANK * depth + ("└ " if depth else "") + (line(span.name, MOST_ID) or "–"),
            _ms(span.start - begin),
            _ms(span.end - span.start) if span.end else "–",
            Phrase(line(span.error, 200), "bad"),
        )
        for depth, span in ordered
    )
    yield ReportSection("Spans", plural(len(spans), "span"), table=ReportTable(heads, rows))
    yield ReportSection(
        "What they say",
        items=tuple(
            ReportItem(line(span.name, MOST_ID) or "–", tuple(_said(span)), about=f"span {line(span.span_id, MOST_ID)}")
            for _, span in ordered
        ),
    )


def _said(span: TraceSpan) -> Iterator[tuple[str, str]]:
    """Names and values of a span's attributes, then of its events."""
    for name, said in (*span.attributes.items(), *((event.name, event.attributes) for event in span.events)):
        text = said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)
        yield line(name, MOST_ID), line(text, MOST_VALUE)


def _ms(nanoseconds: int) -> str:
    return f"{nanoseconds / 1e6:,.0f} ms"


def _tree(spans: Sequence[TraceSpan]) -> Iterator[tuple[int, TraceSpan]]:
    """Every span once, behind the one that it is part of, with its depth; one whose parent is not there is a root."""
    known, under = {span.span_id for span in spans}, dict[str, list[TraceSpan]]()
    for span in spans:
        inside = span.parent_id in known and span.parent_id != span.span_id
        under.setdefault(span.parent_id if inside else "", []).append(span)
    seen, todo = set[str](), [(0, span) for span in reversed(under.get("", []))]
    while todo:
        depth, span = todo.pop()
        if span.span_id not in seen:
            seen.add(span.span_id)
            yield depth, span
            todo += [(min(depth + 1, DEEPEST), child) for child in reversed(under.get(span.span_id, []))]
    yield from ((0, span) for span in spans if span.span_id not in seen)  # parts of each other in a circle


def list_sections(found: TraceList) -> Iterator[ReportSection]:
    """A page of the ledger: each trace, what became of it and why, and where it is scored."""
    heads = (
        ReportColumn("trace", fold=True),
        ReportColumn("outcome", whole=True),
        ReportColumn("why", room=1),
        ReportColumn("question"),
        ReportColumn("project", fold=True, room=2),
        ReportColumn("came (UTC)", whole=True),
        ReportColumn("scores", whole=True, room=3),
    )
    rows: tuple[tuple[TableCell, ...], ...] = tuple(
        (
            Phrase(line(one.trace_id, MOST_ID), to=("trace", one.trace_id)),
            Phrase(one.outcome, TONES.get(one.outcome, "")),
            line(one.reason, 200),
            line(one.query, 200),
            line(one.project, MOST_ID),
            one.at[:16].replace("T", " ") or one.day,
            Phrase("example", to=("ex of", one.run_id, one.query_id)) if one.query_id else "–",
        )
        for one in found.rows
    )
    none = NO_TRACE if found.outcomes else NOTHING
    yield ReportSection(table=ReportTable(heads, rows) if rows else None, lead=() if rows else (none,))


def status_sections(found: TrafficStatus) -> Iterator[ReportSection]:
    """What came in, what waits, a row for each project and day, and what came of the schedules."""
    if found.outdated:
        since = f"{found.outdated[:16].replace('T', ' ')} UTC"
        yield ReportSection(lead=(Phrase(OUTDATED.format(since=since), "unsure"),))
    nothing = ReportSection(Phrase("Traffic", "title"), "", (NOTHING,), commands=(command("monitor", "serve"),))
    yield _traffic(found) if found.traces else nothing
    yield _jobs(found.jobs) if found.jobs else ReportSection(Phrase("Schedules", "title"), "", (NO_SCHEDULE,))


def returns_sections(found: ReturnCounts) -> Iterator[ReportSection]:
    """What of the results waits to be given back, and what went wrong; nothing where nothing does."""
    if found.batches or found.failed:
        waiting = plural(found.batches, "batch of results waits", "batches of results wait")
        lead = [f"{waiting} to be given back, {plural(found.failed, 'batch', 'batches')} not taken whole."]
        lead += [f"The last error: {line(found.error)}."] if found.error else []
        yield ReportSection("Giving back", lead=tuple(lead))


def _time_words(seconds: float) -> str:
    """A time in the largest unit of which it has two at least.

    >>> _time_words(90), _time_words(4_000), _time_words(28_707_383)
    ('90 s', '67 min', '332 days')
    """
    for name, unit in (("days", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= 2 * unit:
            return f"{seconds / unit:,.0f} {name}"
    return f"{seconds:,.0f} s"


def _traffic(found: TrafficStatus) -> ReportSection:
    since = f" since {found.oldest[:16].replace('T', ' ')} UTC" if found.oldest else ""
    lead = [
        f"{plural(found.traces, 'trace')} in {plural(found.batches, 'raw batch', 'raw batches')}{since}, "
        f"{found.bytes / 1e6:,.1f} MB."
    ]
    behind = f", the longest for {_time_words(found.behind)}" if found.behind >= 1 else ""
    waiting = plural(found.waiting, "trace waits to be read", "traces wait to be read")
    lead.append(f"{waiting}{behind}." if found.waiting else "All are read.")
    if found.late:
        lead.append(f"{plural(found.late, 'span')} came a day after the trace began: ignored.")
    if found.judged:
        left = f"; of {found.unlabelled:,} something makes no label" if found.unlabelled else ""
        lead.append(f"People judged {plural(found.judged, 'trace')}{left}.")
    projects = dict.fromkeys(day.project for day in found.days if day.project)
    lead += [
        f"{line(name, MOST_ID)}: its sender names no service. Set OTEL_SERVICE_NAME where it runs."
        for name in projects
        if name.startswith(UNKNOWN)
    ]
    words = [word for word in ORDER if any(word in day.outcomes for day in found.days)]
    heads = (
        ReportColumn("day", whole=True),
        ReportColumn("project", fold=True),
        ReportColumn("run", whole=True),
        *(ReportColumn(word, "number") for word in words),
        ReportColumn("verdicts"),
    )
    rows = tuple(
        (
            day.day,
            line(day.project, MOST_ID) or "not looked into",
            _run(day.run_id),
            *(f"{day.outcomes[word]:,}" if word in day.outcomes else "–" for word in words),
            count_words(day.verdicts) or "–",
        )
        for day in found.days
    )
    table = ReportTable(heads, rows) if rows else None
    commands = (command("monitor", "traces"), command("monitor", "trace", found.unlabelled_trace or "ID"))
    notes = older_counts((day.run_id, day.verdicts) for day in found.days)
    return ReportSection(Phrase("Traffic", "title"), "", tuple(lead), table, notes=notes, commands=commands)


def _run(run_id: str) -> TableCell:
    return Phrase(run_id, to=("run", run_id)) if run_id else "–"


def _jobs(jobs: tuple[JobLine, ...]) -> ReportSection:
    """What was done at which time, and what came of it."""
    heads = (
        ReportColumn("schedule", whole=True),
        ReportColumn("due (UTC)", whole=True),
        ReportColumn("outcome", whole=True),
        ReportColumn("took", "number", room=1),
        ReportColumn("run", whole=True, room=2),
        ReportColumn("why"),
    )
    rows = []
    for job in jobs:
        word, tone = STATES[job.state]
        if job.state == "running" and job.quiet > SILENT:
            word, tone = "stopped", "unsure"
        if job.state == "running":
            said = f"last sign of life {job.quiet:,.0f} s ago" + (f", attempt {job.attempts}" * (job.attempts > 1))
        else:
            unmet = [part.removeprefix("- ") for part in job.said.splitlines() if part.startswith("- ")]
            said = " ".join(unmet) or job.said
        said = f"{job.why}: {said}" if job.why else said
        took = "–" if word == "stopped" or job.state == "noted" else f"{job.seconds:,.0f} s"
        due = job.due[:16].replace("T", " ")
        rows.append((safe(job.name), due, Phrase(word, tone), took, _run(job.run_id), safe(said)))
    return ReportSection(Phrase("Schedules", "title"), "", table=ReportTable(heads, tuple(rows)))
