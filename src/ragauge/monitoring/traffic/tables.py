"""Traces of production in words and tables: what became of one, and of all."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from ragauge.core.messages import format_command, format_count
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
from ragauge.rendering.verdict_texts import count_words, describe_older_counts
from ragauge.rendering.words import make_safe, to_line
from ragauge.scores.results.monitoring import JobLine, TraceList, TraceStory, TrafficStatus

if TYPE_CHECKING:
    from ragauge.store.returns import ReturnCounts

# what an outcome means and what to do, said after it
OUTCOME_MEANINGS: Mapping[str, str] = {
    "waiting": "It is processed 5 seconds after its root span ended, or 30 seconds after the last span arrived.",
    "to score": "Its response is in the run, but some scores are still missing.",
    "scored": "Its response and scores are in the run.",
    "sampled out": "It has only the scores without a judge. Raise sample.rate in the monitor section of ragauge.yaml.",
    "no content": "Most instrumentations do not record prompts and answers by default: turn on content capture.",
    "redacted": "The instrumentation, or redact in ragauge.yaml, removed text that a judge needs.",
    "filtered": "Only requests with retrieval are measured.",
    "over budget": "It will be judged when there is budget again, at the latest on the next day (UTC).",
    "failed": "Its raw data is kept unchanged.",
}
TONES: Mapping[str, Tone] = {"scored": "good", "failed": "bad", "over budget": "bad"}
ORDER = tuple(OUTCOME_MEANINGS)
# what the state of a job is called
STATES: Mapping[str, tuple[str, Tone]] = {
    "noted": ("scheduled", "faint"),
    "running": ("running", ""),
    "pass": ("pass", "good"),
    "fail": ("fail", "bad"),
    "not_enough_data": ("not enough data", "unsure"),
    "done": ("done", "good"),
    "error": ("error", "bad"),
}
NO_TRAFFIC_NOTE = (
    "No traffic has arrived yet. To send traces to ragauge monitor serve, set OTEL_EXPORTER_OTLP_ENDPOINT in the "
    "environment of your system to the address that the server prints."
)
OUTDATED_NOTE = (
    "The monitor section of the file has changed since the server started at {since}. Restart the server: "
    "ragauge monitor serve"
)
NO_SCHEDULE = (
    "No schedule is set. To check a test set against the gate every night, add this to the monitor section of "
    'ragauge.yaml: schedules: [{name: nightly, cron: "0 2 * * *", run: my_app:answer, set: golden.jsonl}]'
)
SILENT_S = 60.0  # seconds without a sign of life after which nobody does a job any more
UNKNOWN = "unknown_service"  # what an SDK calls a service that nobody named
MAX_ID_CHARS, MAX_EXAMPLES = 60, 10  # characters of an id that are shown; responses of a trace that are named
INDENT, MAX_DEPTH = "\N{NO-BREAK SPACE}" * 3, 12  # of a level of the tree; levels that are drawn
NO_TRACE = "No trace matches. A trace that is not processed yet can be found only by its full ID."
MAX_VALUE_CHARS = 2000  # characters of an attribute
NO_SPANS = "No spans of this trace are stored: it arrived as a response, or its raw batches are older than keep.raw."


def build_trace_sections(story: TraceStory) -> Iterator[ReportSection]:
    """What became of one trace, why, and where to look."""
    about = " · ".join(fact for fact in (make_safe(story.project), story.day) if fact)
    reason = f": {make_safe(story.reason)}" if story.reason else ""
    outcome = Phrase(f"{story.outcome}{reason}", TONES.get(story.outcome, ""))
    lead: list[Wording] = [outcome, OUTCOME_MEANINGS.get(story.outcome, "")]
    if story.due and story.outcome != "waiting":
        lead.append("More of it has arrived since; it will be processed again.")
    if story.run_id:
        many = format_count(len(story.query_ids), "response")
        run = Phrase(f"{make_safe(story.run_name)} ({story.run_id})", to=("run", story.run_id))
        where: tuple[str | Phrase, ...] = (f"{many} in run ", run) if story.run_name else ("Its run was deleted",)
        weight_text = f", weight {story.weight:.3g}; {100 * story.chance:.3g} % of such traces go to the judge."
        lead.append((*where, weight_text))
        lead += [
            ("Scores and claims: ", Phrase(to_line(query_id, MAX_ID_CHARS), to=("ex of", story.run_id, query_id)))
            for query_id in story.query_ids[:MAX_EXAMPLES]
        ]
    lead += [f"Human feedback: {make_safe(words)}." for words in story.people]
    came = story.first[:16].replace("T", " ")
    kept_text = f"{format_count(story.batches, 'raw batch', 'raw batches')} stored; the first arrived at {came} UTC."
    commands = tuple(format_command("show", story.run_id, query_id) for query_id in story.query_ids[:3])
    yield ReportSection(
        Phrase(f"Trace {make_safe(story.trace_id)}", "title"), about, tuple(lead), notes=(kept_text,), commands=commands
    )


def build_span_sections(spans: Sequence[TraceSpan]) -> Iterator[ReportSection]:
    """The spans of a trace as a tree, then each with its attributes as they came.

    Args:
        spans: by their start.
    """
    if not spans:
        yield ReportSection("Spans", lead=(NO_SPANS,))
        return
    begin, ordered = min(span.start for span in spans), list(_walk_tree(spans))
    headers = (
        ReportColumn("span"),
        ReportColumn("offset", "number", whole=True),
        ReportColumn("duration", "number", whole=True),
        ReportColumn("error"),
    )
    rows = tuple(
        (
            INDENT * depth + ("└ " if depth else "") + (to_line(span.name, MAX_ID_CHARS) or "–"),
            _format_ms(span.start - begin),
            _format_ms(span.end - span.start) if span.end else "–",
            Phrase(to_line(span.error, 200), "bad"),
        )
        for depth, span in ordered
    )
    yield ReportSection("Spans", format_count(len(spans), "span"), table=ReportTable(headers, rows))
    yield ReportSection(
        "Span attributes",
        items=tuple(
            ReportItem(
                to_line(span.name, MAX_ID_CHARS) or "–",
                tuple(_list_attributes(span)),
                about=f"span {to_line(span.span_id, MAX_ID_CHARS)}",
            )
            for _, span in ordered
        ),
    )


def _list_attributes(span: TraceSpan) -> Iterator[tuple[str, str]]:
    """Names and values of a span's attributes, then of its events."""
    for name, value in (*span.attributes.items(), *((event.name, event.attributes) for event in span.events)):
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        yield to_line(name, MAX_ID_CHARS), to_line(text, MAX_VALUE_CHARS)


def _format_ms(nanoseconds: int) -> str:
    return f"{nanoseconds / 1e6:,.0f} ms"


def _walk_tree(spans: Sequence[TraceSpan]) -> Iterator[tuple[int, TraceSpan]]:
    """Every span once, behind the one that it is part of, with its depth; one whose parent is not there is a root."""
    span_ids, under = {span.span_id for span in spans}, dict[str, list[TraceSpan]]()
    for span in spans:
        inside = span.parent_id in span_ids and span.parent_id != span.span_id
        under.setdefault(span.parent_id if inside else "", []).append(span)
    visited, todo = set[str](), [(0, span) for span in reversed(under.get("", []))]
    while todo:
        depth, span = todo.pop()
        if span.span_id not in visited:
            visited.add(span.span_id)
            yield depth, span
            todo += [(min(depth + 1, MAX_DEPTH), child) for child in reversed(under.get(span.span_id, []))]
    yield from ((0, span) for span in spans if span.span_id not in visited)  # parts of each other in a circle


def build_list_sections(trace_list: TraceList) -> Iterator[ReportSection]:
    """A page of the ledger: each trace, what became of it and why, and where it is scored."""
    headers = (
        ReportColumn("trace", fold=True),
        ReportColumn("outcome", whole=True),
        ReportColumn("reason", room=1),
        ReportColumn("question"),
        ReportColumn("project", fold=True, room=2),
        ReportColumn("arrived (UTC)", whole=True),
        ReportColumn("scores", whole=True, room=3),
    )
    rows: tuple[tuple[TableCell, ...], ...] = tuple(
        (
            Phrase(to_line(trace.trace_id, MAX_ID_CHARS), to=("trace", trace.trace_id)),
            Phrase(trace.outcome, TONES.get(trace.outcome, "")),
            to_line(trace.reason, 200),
            to_line(trace.query, 200),
            to_line(trace.project, MAX_ID_CHARS),
            trace.at[:16].replace("T", " ") or trace.day,
            Phrase("example", to=("ex of", trace.run_id, trace.query_id)) if trace.query_id else "–",
        )
        for trace in trace_list.rows
    )
    none = NO_TRACE if trace_list.outcomes else NO_TRAFFIC_NOTE
    yield ReportSection(table=ReportTable(headers, rows) if rows else None, lead=() if rows else (none,))


def build_status_sections(status: TrafficStatus) -> Iterator[ReportSection]:
    """What came in, what waits, a row for each project and day, and what came of the schedules."""
    if status.outdated:
        since = f"{status.outdated[:16].replace('T', ' ')} UTC"
        yield ReportSection(lead=(Phrase(OUTDATED_NOTE.format(since=since), "unsure"),))
    nothing = ReportSection(
        Phrase("Traffic", "title"), "", (NO_TRAFFIC_NOTE,), commands=(format_command("monitor", "serve"),)
    )
    yield _build_traffic_section(status) if status.traces else nothing
    yield (
        _build_jobs_section(status.jobs)
        if status.jobs
        else ReportSection(Phrase("Schedules", "title"), "", (NO_SCHEDULE,))
    )


def build_returns_sections(counts: ReturnCounts) -> Iterator[ReportSection]:
    """What of the results waits to be given back, and what went wrong; nothing where nothing does."""
    if counts.batches or counts.failed:
        waiting = format_count(counts.batches, "result batch is", "result batches are")
        lead = [
            f"{waiting} waiting to be exported; {format_count(counts.failed, 'batch', 'batches')} not fully accepted."
        ]
        lead += [f"Last error: {to_line(counts.error)}."] if counts.error else []
        yield ReportSection("Export of results", lead=tuple(lead))


def _format_duration(seconds: float) -> str:
    """A time in the largest unit of which it has two at least.

    >>> _format_duration(90), _format_duration(4_000), _format_duration(28_707_383)
    ('90 s', '67 min', '332 days')
    """
    for name, unit in (("days", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= 2 * unit:
            return f"{seconds / unit:,.0f} {name}"
    return f"{seconds:,.0f} s"


def _build_traffic_section(status: TrafficStatus) -> ReportSection:
    since = f" since {status.oldest[:16].replace('T', ' ')} UTC" if status.oldest else ""
    lead = [
        f"{format_count(status.traces, 'trace')} in {format_count(status.batches, 'raw batch', 'raw batches')}{since}, "
        f"{status.bytes / 1e6:,.1f} MB."
    ]
    behind = f" to be processed, the longest for {_format_duration(status.behind)}" if status.behind >= 1 else ""
    waiting = format_count(status.waiting, "trace is waiting", "traces are waiting")
    lead.append(f"{waiting}{behind or ' to be processed'}." if status.waiting else "All traces are processed.")
    if status.late:
        lead.append(
            f"{format_count(status.late, 'span was', 'spans were')} ignored for arriving a day after the trace began."
        )
    if status.judged:
        unlabeled_text = (
            f"; for {status.unlabelled:,}, some of the feedback is not usable as a label" if status.unlabelled else ""
        )
        lead.append(f"People judged {format_count(status.judged, 'trace')}{unlabeled_text}.")
    projects = dict.fromkeys(day.project for day in status.days if day.project)
    lead += [
        f"{to_line(name, MAX_ID_CHARS)}: its sender has no service name. Set OTEL_SERVICE_NAME in its environment."
        for name in projects
        if name.startswith(UNKNOWN)
    ]
    words = [word for word in ORDER if any(word in day.outcomes for day in status.days)]
    headers = (
        ReportColumn("day", whole=True),
        ReportColumn("project", fold=True),
        ReportColumn("run", whole=True),
        *(ReportColumn(word, "number") for word in words),
        ReportColumn("verdicts"),
    )
    rows = tuple(
        (
            day.day,
            to_line(day.project, MAX_ID_CHARS) or "not processed",
            _format_run(day.run_id),
            *(f"{day.outcomes[word]:,}" if word in day.outcomes else "–" for word in words),
            count_words(day.verdicts) or "–",
        )
        for day in status.days
    )
    table = ReportTable(headers, rows) if rows else None
    commands = (
        format_command("monitor", "traces"),
        format_command("monitor", "trace", status.unlabelled_trace or "ID"),
    )
    notes = describe_older_counts((day.run_id, day.verdicts) for day in status.days)
    return ReportSection(Phrase("Traffic", "title"), "", tuple(lead), table, notes=notes, commands=commands)


def _format_run(run_id: str) -> TableCell:
    return Phrase(run_id, to=("run", run_id)) if run_id else "–"


def _build_jobs_section(jobs: tuple[JobLine, ...]) -> ReportSection:
    """What was done at which time, and what came of it."""
    headers = (
        ReportColumn("schedule", whole=True),
        ReportColumn("due (UTC)", whole=True),
        ReportColumn("outcome", whole=True),
        ReportColumn("duration", "number", room=1),
        ReportColumn("run", whole=True, room=2),
        ReportColumn("reason"),
    )
    rows = []
    for job in jobs:
        word, tone = STATES[job.state]
        if job.state == "running" and job.quiet > SILENT_S:
            word, tone = "stopped", "unsure"
        if job.state == "running":
            outcome_text = f"last heartbeat {job.quiet:,.0f} s ago" + (f", attempt {job.attempts}" * (job.attempts > 1))
        else:
            unmet = [
                message_line.removeprefix("- ")
                for message_line in job.said.splitlines()
                if message_line.startswith("- ")
            ]
            outcome_text = " ".join(unmet) or job.said
        outcome_text = f"{job.why}: {outcome_text}" if job.why else outcome_text
        took = "–" if word == "stopped" or job.state == "noted" else f"{job.seconds:,.0f} s"
        due = job.due[:16].replace("T", " ")
        rows.append(
            (make_safe(job.name), due, Phrase(word, tone), took, _format_run(job.run_id), make_safe(outcome_text))
        )
    return ReportSection(Phrase("Schedules", "title"), "", table=ReportTable(headers, tuple(rows)))
