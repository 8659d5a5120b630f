"""From raw batches to responses in a run: one project's, one UTC day's.

A trace is read when it is due. What came of it, and that it was read, are kept in one transaction: a process that is
killed loses nothing and repeats nothing, and two that work on one store share the work.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from ragauge.core.errors import DataError, StoreError
from ragauge.core.identity import hash_json
from ragauge.core.response import REDACTED, Run
from ragauge.monitoring.intake import body_parser
from ragauge.monitoring.intake import otlp_decoder as decoding
from ragauge.monitoring.intake.trace_annotations import (
    ReadTrace,
    add_outcomes,
    list_judged_traces,
    list_other_verdicts,
    load_trace_responses,
    place_verdicts_again,
    said_of,
    save_people_verdicts,
)
from ragauge.monitoring.policy import Policy, Sampler, get_previous_day
from ragauge.readers.lines import Row, Rows
from ragauge.readers.options import Options
from ragauge.readers.record_reader import RecordReader
from ragauge.readers.traces.normalize import SEGMENT_COLUMNS, ExcludedTrace, build_rows
from ragauge.readers.traces.spans import Event, TraceSpan
from ragauge.readers.traces.verdicts import read_verdicts
from ragauge.store.inbox import DueTrace
from ragauge.store.ledger import LedgerLine, Outcome
from ragauge.store.run_collection import ExampleResponse, SamplingChance
from ragauge.store.store_access import Store

CLOCK_TOLERANCE_S = 60.0  # seconds by which a clock is corrected unseen
BATCH_SIZE_TRACES = 200  # traces in one transaction
UNNAMED_PROJECT = "traffic"  # the project of a trace that names no service
CONTENT_KEYS = ("answer", "passages")  # a response without any of these says nothing that can be judged
NO_CONTENT_OUTCOMES: Mapping[str, Outcome] = {
    "the question is redacted": "redacted",
    "no question recorded": "no content",
}


@dataclass(slots=True)
class TraceContents:
    """All that came of one trace."""

    spans: dict[str, TraceSpan] = field(default_factory=dict)  #: by id; one that was sent again replaces itself.
    events: dict[str, list[Event]] = field(default_factory=dict)  #: that came as logs, by the span that they belong to.
    rows: list[Row] = field(default_factory=list)  #: lines that came as responses.
    project: str = ""  #: that a header named; "" = none.
    bad: str = ""  #: why a span could not be read; "" = all could.
    #: spans of other traces that link to it as judges, by trace and span.
    judges: dict[tuple[str, str], TraceSpan] = field(default_factory=dict)

    def list_spans(self) -> list[TraceSpan]:
        """The spans, each with the events that came apart from it."""
        return [
            replace(span, events=(*span.events, *self.events[span.span_id])) if span.span_id in self.events else span
            for span in self.spans.values()
        ]


def settle_traces(
    store: Store, policy: Policy, now: float, limit: int = BATCH_SIZE_TRACES, sampler: Sampler | None = None
) -> int:
    """Reads the traces that are due, at most `limit`; returns how many were."""
    with store.open_snapshot():
        due = store.inbox.list_due(now, limit, max(policy.patience.rooted, policy.patience.quiet) + CLOCK_TOLERANCE_S)
        if not due:
            return 0
        previous_lines = store.ledger.load_lines([item.trace_id for item in due])
        read = read_traces(store, due, policy)
    settling = _SettlingRound(store, policy, sampler or Sampler(store, policy), now, previous_lines)
    try:
        settling.save_traces(read)
    except (StoreError, OSError):  # they are read again once it can be written
        raise
    except Exception:  # of one of them, which must not hold up the others
        for item in read:
            settling.save_alone(item)
    return len(due)


def read_traces(store: Store, due: Sequence[DueTrace], policy: Policy) -> list[ReadTrace]:
    """What traces say, by all that is kept of them."""
    contents = collect_contents(store, due)
    return [_read_trace(due_trace, contents[due_trace.trace_id], policy) for due_trace in due]


def collect_contents(store: Store, due: Sequence[DueTrace]) -> dict[str, TraceContents]:
    """All that the batches which are kept hold of traces: trace id -> what it is."""
    trace_ids = frozenset(due_trace.trace_id for due_trace in due)
    contents = {trace_id: TraceContents() for trace_id in trace_ids}
    numbers = sorted({number for due_trace in due for number in due_trace.batches})
    for _, batch in store.inbox.read(numbers):
        seen_ids: set[str] = set()
        match batch.signal:
            case "traces":
                for trace_id, span in decoding.iterate_spans(batch.body, trace_ids):
                    if isinstance(span, TraceSpan) and span.trace_id != trace_id:
                        contents[trace_id].judges[span.trace_id, span.span_id] = span
                        continue
                    seen_ids.add(trace_id)
                    if isinstance(span, str):
                        contents[trace_id].bad = span
                    else:
                        contents[trace_id].spans[span.span_id] = span
            case "logs":
                for trace_id, span_id, event in decoding.iterate_events(batch.body, trace_ids):
                    contents[trace_id].events.setdefault(span_id, []).append(event)
            case "responses":
                for trace_id, row in body_parser.iterate_rows(batch.body, trace_ids):
                    seen_ids.add(trace_id)
                    contents[trace_id].rows = [row]
        for trace_id in seen_ids:
            contents[trace_id].project = batch.project or contents[trace_id].project
    return contents


def _read_trace(due: DueTrace, contents: TraceContents, policy: Policy) -> ReadTrace:
    """What one trace says; an exception of the normaliser is the trace's failure, in its own words."""
    spans = contents.list_spans()
    project = _find_project(spans, contents)
    if contents.rows:
        return ReadTrace(due, project, tuple(contents.rows))
    try:
        others = list_other_verdicts(due.trace_id, contents.judges.values(), contents.events, contents.spans)
        verdicts = [*(verdict for span in spans for verdict in read_verdicts(span)), *others]
        placed_verdicts = said_of(due.trace_id, spans, verdicts)
        normalized = (
            list(build_rows(spans, policy.passages, verdicts, without_retrieval=policy.without_retrieval))
            if spans
            else []
        )
    except Exception as error:
        return ReadTrace(due, project, (), "failed", f"{type(error).__name__}: {error}")
    read = _select_requests(due, project, normalized) if spans else _read_empty_trace(due, project, contents)
    return replace(read, verdicts=placed_verdicts, judged=list_judged_traces(spans), spanned=bool(spans))


def _read_empty_trace(due: DueTrace, project: str, contents: TraceContents) -> ReadTrace:
    """What is said of a trace without spans."""
    if contents.judges and not contents.bad:
        return ReadTrace(due, project, (), "filtered", "only verdicts on it have arrived, and no spans")
    reason = contents.bad or ("no span of it has arrived" if due.batches else "its raw batches are no longer stored")
    return ReadTrace(due, project, (), "failed", reason)


def _select_requests(due: DueTrace, project: str, normalized: Sequence[Row | ExcludedTrace]) -> ReadTrace:
    """The requests of a trace, as the normaliser tells them."""
    readable = [item for item in normalized if not isinstance(item, ExcludedTrace)]
    reasons = [item.reason for item in normalized if isinstance(item, ExcludedTrace)]
    if not readable:
        reason = reasons[0] if reasons else "the trace is empty"
        return ReadTrace(due, project, (), NO_CONTENT_OUTCOMES.get(reason, "filtered"), reason)
    content_values = [row.get(key) for row in readable for key in CONTENT_KEYS]
    if all(item is None or item == REDACTED for item in content_values):
        hidden = any(item == REDACTED for item in content_values)
        missing_content = "answer and passages are redacted" if hidden else "neither answer nor passages were recorded"
        if not any(row.get("error") for row in readable):
            return ReadTrace(due, project, (), "redacted" if hidden else "no content", missing_content)
    return ReadTrace(due, project, tuple(readable))


def _find_project(spans: Sequence[TraceSpan], contents: TraceContents) -> str:
    """Whose traffic it is: by OpenInference's attribute, the sender's header, the service of the outermost span."""
    ids = {span.span_id for span in spans}
    tops = [span for span in spans if span.parent_id not in ids] or list(spans)
    about: Mapping[str, Any] = min(tops, key=lambda span: (span.start, span.span_id)).resource if tops else {}
    project_name = about.get("openinference.project.name") or contents.project or about.get("service.name")
    return str(project_name or "").strip() or UNNAMED_PROJECT


@dataclass(frozen=True, slots=True)
class _SettlingRound:
    """One round: some traces that are due."""

    store: Store  #: where all is.
    policy: Policy  #: what is done with traces.
    sampler: Sampler  #: says how likely each is drawn for the judge.
    now: float  #: seconds since 1970.
    before: Mapping[str, LedgerLine]  #: lines of those that were read before.

    def save_traces(self, read: Sequence[ReadTrace]) -> None:
        """Keeps what traces say, and that they were read, in one transaction; what changed meanwhile stays due."""
        records = _build_records(read, self.policy)
        with self.store.transaction():
            settled_ids = self.store.inbox.mark_read([read_trace.due for read_trace in read])
            changes: list[_RunChange] = []
            saved = [
                self._settle_trace(read_trace, records.get(read_trace.due.trace_id, []), changes)
                for read_trace in read
                if read_trace.due.trace_id in settled_ids
            ]
            for change in changes:  # in order of arrival, whichever run they are in: it is that of the numbers
                if change.arrived or change.gone:
                    self.store.collecting.open_traffic(build_run(change.run_id, change.project, change.day))
                    self.store.collecting.replace_responses(change.run_id, change.arrived, change.gone, change.chances)
                self.store.ledger.write_lines(change.lines)
            save_people_verdicts(self.store, saved, self.now, format_day(self.now))

    def save_alone(self, read_trace: ReadTrace) -> None:
        """Keeps what one trace says; what cannot be kept of it is its failure, in the exception's own words."""
        try:
            self.save_traces([read_trace])
        except (StoreError, OSError):
            raise
        except Exception as error:
            error_text = str(error) if isinstance(error, DataError) else f"{type(error).__name__}: {error}"
            failed = replace(read_trace, rows=(), outcome="failed", reason=error_text, verdicts={}, judged={})
            self.save_traces([failed])

    def _settle_trace(
        self, read_trace: ReadTrace, responses: list[ExampleResponse] | str, changes: list[_RunChange]
    ) -> tuple[ReadTrace, Sequence[ExampleResponse]]:
        """Decides about one trace; one that has a response keeps it, in the run where it was first.

        Returns:
            The trace, its verdicts by the responses that it has now, and these.
        """
        trace_id, day, project = read_trace.due.trace_id, format_day(read_trace.due.at), read_trace.project
        old = self.before.get(trace_id)
        run_id = build_run_id(project, day)
        gone = [trace_id] if old is not None and old.run_id else []
        if old is not None and old.run_id:
            project, day, run_id = old.project, old.day, old.run_id
        alone = not responses and (read_trace.verdicts if not gone else not read_trace.spanned)
        if (
            read_trace.due.is_late and (read_trace.verdicts or gone)
        ) or alone:  # what is said of it is new, and nothing else
            stored = load_trace_responses(self.store, trace_id, old.run_id if old is not None else "")
            if stored.arrived:
                read_trace = replace(read_trace, verdicts=place_verdicts_again(read_trace.verdicts, stored.arrived))
                responses = add_outcomes(stored.arrived, read_trace.verdicts)
                if responses == stored.arrived and gone:
                    return read_trace, responses
                project, day, run_id = stored.project or project, stored.day or day, stored.run_id
                gone = [trace_id]
        line = LedgerLine(trace_id, project, day, read_trace.outcome or "failed", read_trace.reason, at=self.now)
        arrived: list[ExampleResponse] = []
        chances: dict[str, SamplingChance] = {}
        if isinstance(responses, str):
            line = replace(line, outcome="failed", reason=responses)
        elif responses:
            chance, is_drawn = self._draw_trace(line, responses, run_id, old)
            arrived, weight = responses, responses[0][1].weight
            chances = {response.query_id: chance if is_drawn else None for _, response in responses}
            line = replace(line, outcome="to score", reason="" if is_drawn else _format_chance(chance), run_id=run_id)
            line = replace(line, weight=weight, chance=chance)
        if not changes or changes[-1].run_id != run_id:
            changes.append(_RunChange(run_id, project, day))
        change = changes[-1]
        change.lines.append(line)
        change.arrived += arrived
        change.chances |= chances
        change.gone += gone
        return read_trace, arrived

    def _draw_trace(
        self, line: LedgerLine, responses: Sequence[ExampleResponse], run_id: str, old: LedgerLine | None
    ) -> tuple[float, bool]:
        """How likely a trace is drawn for the judge, and whether it is.

        The draw is the trace's own, so one that more came of has the greater of both chances: drawn by either.
        """
        base = self.sampler.base(format_day(self.now), self.now)
        before_id, draw = build_run_id(line.project, get_previous_day(line.day)), self.policy.draw(line.trace_id)
        chance = self.sampler.compute_chance(responses, run_id, before_id, base)
        previous_chance = old.chance if old is not None and old.run_id else 0.0
        if draw < chance and draw >= previous_chance:
            self.sampler.count_drawn(responses, run_id)
        return max(chance, previous_chance), draw < max(chance, previous_chance)


def _format_chance(chance: float) -> str:
    return f"{100 * chance:.3g} % of such traces are sampled"


@dataclass(slots=True)
class _RunChange:
    """What changes in one run: responses that come one after another, with their chances, and lines of traces."""

    run_id: str
    project: str
    day: str
    lines: list[LedgerLine] = field(default_factory=list)
    arrived: list[ExampleResponse] = field(default_factory=list)
    chances: dict[str, SamplingChance] = field(default_factory=dict)
    gone: list[str] = field(default_factory=list)


def _build_records(read: Sequence[ReadTrace], policy: Policy) -> dict[str, list[ExampleResponse] | str]:
    """Examples and responses of traces; why, of one whose rows cannot be read."""
    numbered = [(n, read_trace.due.trace_id, row) for n, read_trace in enumerate(read, 1) for row in read_trace.rows]
    records: dict[str, list[ExampleResponse] | str] = {}
    if not numbered:
        return records
    source = Rows("traces", iter([(n, row) for n, _, row in numbered]), unit="trace", offered=SEGMENT_COLUMNS)
    names = {field: name for name, field in policy.segments.items()}
    reader = RecordReader(source, Options(segments=tuple(names), warn=lambda _: None))
    for (n, row), (_, trace_id, _) in zip(reader.rows.rows, numbered, strict=True):
        try:
            record = reader.read_record(n, row)
        except DataError as error:
            records[trace_id] = str(error)
            continue
        trace_records = records.setdefault(trace_id, [])
        if record is None or record.response is None or isinstance(trace_records, str):
            records[trace_id] = trace_records or "no response in it"
            continue
        segments = {names.get(name, name): value for name, value in record.example.segments.items()}
        trace_records.append((replace(record.example, segments=segments), record.response))
    return records


def format_day(timestamp: float) -> str:
    """The UTC date of a moment."""
    return datetime.fromtimestamp(timestamp, UTC).date().isoformat()


def build_run_id(project: str, day: str) -> str:
    """The id of the run that holds a project's traffic of a day."""
    return hash_json(["traffic", project, day])[:12]


def build_run(run_id: str, project: str, day: str) -> Run:
    """The run of a project's traffic of a day."""
    return Run(run_id, f"{project} {day}", kind="traffic", system=project)
