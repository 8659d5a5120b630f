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
from ragauge.core.identity import digest
from ragauge.core.response import REDACTED, Run
from ragauge.monitoring.intake import lines
from ragauge.monitoring.intake import otlp_decoder as decoding
from ragauge.monitoring.intake.trace_annotations import (
    ReadTrace,
    judged_in,
    keep_people,
    placed_anew,
    said_elsewhere,
    said_of,
    stored_of,
    with_outcomes,
)
from ragauge.monitoring.policy import Policy
from ragauge.monitoring.traffic.sampling import Sampler, day_before
from ragauge.readers.lines import Row, Rows
from ragauge.readers.options import Options
from ragauge.readers.record_reader import RecordReader
from ragauge.readers.traces.normalize import OFFERED, LeftOut, rows
from ragauge.readers.traces.spans import Event, TraceSpan
from ragauge.readers.traces.verdicts import verdicts_of
from ragauge.store.inbox import DueTrace
from ragauge.store.ledger import LedgerLine, Outcome
from ragauge.store.run_collection import Arrived, Chance
from ragauge.store.store_access import Store

CLOCKS = 60.0  # seconds by which a clock is corrected unseen
AT_A_TIME = 200  # traces in one transaction
UNNAMED = "traffic"  # the project of a trace that names no service
CONTENT = ("answer", "passages")  # a response without any of these says nothing that can be judged
WITHOUT_CONTENT: Mapping[str, Outcome] = {"the question is redacted": "redacted", "no question recorded": "no content"}


@dataclass(slots=True)
class Gathered:
    """All that came of one trace.

    Attributes:
        spans: by id; one that was sent again replaces itself.
        events: that came as logs, by the span that they belong to.
        rows: lines that came as responses.
        project: that a header named; "" = none.
        bad: why a span could not be read; "" = all could.
        judges: spans of other traces that link to it as judges, by trace and span.
    """

    spans: dict[str, TraceSpan] = field(default_factory=dict)
    events: dict[str, list[Event]] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)
    project: str = ""
    bad: str = ""
    judges: dict[tuple[str, str], TraceSpan] = field(default_factory=dict)

    def joined(self) -> list[TraceSpan]:
        """The spans, each with the events that came apart from it."""
        return [
            replace(span, events=(*span.events, *self.events[span.span_id])) if span.span_id in self.events else span
            for span in self.spans.values()
        ]


def settle(store: Store, policy: Policy, now: float, limit: int = AT_A_TIME, sampler: Sampler | None = None) -> int:
    """Reads the traces that are due, at most `limit`; returns how many were."""
    with store.reading():
        due = store.inbox.due(now, limit, max(policy.patience.rooted, policy.patience.quiet) + CLOCKS)
        if not due:
            return 0
        before = store.ledger.lines([one.trace_id for one in due])
        read = read_traces(store, due, policy)
    settling = _Settling(store, policy, sampler or Sampler(store, policy), now, before)
    try:
        settling.keep(read)
    except (StoreError, OSError):  # they are read again once it can be written
        raise
    except Exception:  # of one of them, which must not hold up the others
        for one in read:
            settling.keep_alone(one)
    return len(due)


def read_traces(store: Store, due: Sequence[DueTrace], policy: Policy) -> list[ReadTrace]:
    """What traces say, by all that is kept of them."""
    found = gathered(store, due)
    return [_read(one, found[one.trace_id], policy) for one in due]


def gathered(store: Store, due: Sequence[DueTrace]) -> dict[str, Gathered]:
    """All that the batches which are kept hold of traces: trace id -> what it is."""
    wanted = frozenset(one.trace_id for one in due)
    found = {trace_id: Gathered() for trace_id in wanted}
    numbers = sorted({number for one in due for number in one.batches})
    for _, batch in store.inbox.read(numbers):
        seen: set[str] = set()
        match batch.signal:
            case "traces":
                for trace_id, span in decoding.spans_of(batch.body, wanted):
                    if isinstance(span, TraceSpan) and span.trace_id != trace_id:
                        found[trace_id].judges[span.trace_id, span.span_id] = span
                        continue
                    seen.add(trace_id)
                    if isinstance(span, str):
                        found[trace_id].bad = span
                    else:
                        found[trace_id].spans[span.span_id] = span
            case "logs":
                for trace_id, span_id, event in decoding.events_of(batch.body, wanted):
                    found[trace_id].events.setdefault(span_id, []).append(event)
            case "responses":
                for trace_id, row in lines.rows_of(batch.body, wanted):
                    seen.add(trace_id)
                    found[trace_id].rows = [row]
        for trace_id in seen:
            found[trace_id].project = batch.project or found[trace_id].project
    return found


def _read(due: DueTrace, found: Gathered, policy: Policy) -> ReadTrace:
    """What one trace says; an exception of the normaliser is the trace's failure, in its own words."""
    spans = found.joined()
    project = _project(spans, found)
    if found.rows:
        return ReadTrace(due, project, tuple(found.rows))
    try:
        others = said_elsewhere(due.trace_id, found.judges.values(), found.events, found.spans)
        verdicts = [*(one for span in spans for one in verdicts_of(span)), *others]
        said = said_of(due.trace_id, spans, verdicts)
        told = list(rows(spans, policy.passages, verdicts, without_retrieval=policy.without_retrieval)) if spans else []
    except Exception as error:
        return ReadTrace(due, project, (), "failed", f"{type(error).__name__}: {error}")
    read = _requests(due, project, told) if spans else _nothing(due, project, found)
    return replace(read, said=said, judged=judged_in(spans), spanned=bool(spans))


def _nothing(due: DueTrace, project: str, found: Gathered) -> ReadTrace:
    """What is said of a trace without spans."""
    if found.judges and not found.bad:
        return ReadTrace(due, project, (), "filtered", "others judge it, and no span of it is here")
    why = found.bad or ("no span of it has come" if due.batches else "its raw batches are no longer kept")
    return ReadTrace(due, project, (), "failed", why)


def _requests(due: DueTrace, project: str, told: Sequence[Row | LeftOut]) -> ReadTrace:
    """The requests of a trace, as the normaliser tells them."""
    kept = [one for one in told if not isinstance(one, LeftOut)]
    reasons = [one.reason for one in told if isinstance(one, LeftOut)]
    if not kept:
        reason = reasons[0] if reasons else "nothing in it"
        return ReadTrace(due, project, (), WITHOUT_CONTENT.get(reason, "filtered"), reason)
    said = [row.get(key) for row in kept for key in CONTENT]
    if all(one is None or one == REDACTED for one in said):
        hidden = any(one == REDACTED for one in said)
        why = "answer and passages are redacted" if hidden else "neither answer nor passages are recorded"
        if not any(row.get("error") for row in kept):
            return ReadTrace(due, project, (), "redacted" if hidden else "no content", why)
    return ReadTrace(due, project, tuple(kept))


def _project(spans: Sequence[TraceSpan], found: Gathered) -> str:
    """Whose traffic it is: by OpenInference's attribute, the sender's header, the service of the outermost span."""
    ids = {span.span_id for span in spans}
    tops = [span for span in spans if span.parent_id not in ids] or list(spans)
    about: Mapping[str, Any] = min(tops, key=lambda span: (span.start, span.span_id)).resource if tops else {}
    given = about.get("openinference.project.name") or found.project or about.get("service.name")
    return str(given or "").strip() or UNNAMED


@dataclass(frozen=True, slots=True)
class _Settling:
    """One round: some traces that are due.

    Attributes:
        store: where all is.
        policy: what is done with traces.
        sampler: says how likely each is drawn for the judge.
        now: seconds since 1970.
        before: lines of those that were read before.
    """

    store: Store
    policy: Policy
    sampler: Sampler
    now: float
    before: Mapping[str, LedgerLine]

    def keep(self, read: Sequence[ReadTrace]) -> None:
        """Keeps what traces say, and that they were read, in one transaction; what changed meanwhile stays due."""
        records = _records(read, self.policy)
        with self.store.transaction():
            mine = self.store.inbox.settled([one.due for one in read])
            changes: list[_RunChange] = []
            kept = [
                self._settle(one, records.get(one.due.trace_id, []), changes)
                for one in read
                if one.due.trace_id in mine
            ]
            for change in changes:  # in order of arrival, whichever run they are in: it is that of the numbers
                if change.arrived or change.gone:
                    self.store.collecting.open_traffic(run_of(change.run_id, change.project, change.day))
                    self.store.collecting.replace(change.run_id, change.arrived, change.gone, change.chances)
                self.store.ledger.write(change.lines)
            keep_people(self.store, kept, self.now, day_of(self.now))

    def keep_alone(self, one: ReadTrace) -> None:
        """Keeps what one trace says; what cannot be kept of it is its failure, in the exception's own words."""
        try:
            self.keep([one])
        except (StoreError, OSError):
            raise
        except Exception as error:
            why = str(error) if isinstance(error, DataError) else f"{type(error).__name__}: {error}"
            failed = replace(one, rows=(), outcome="failed", reason=why, said={}, judged={})
            self.keep([failed])

    def _settle(
        self, one: ReadTrace, found: list[Arrived] | str, changes: list[_RunChange]
    ) -> tuple[ReadTrace, Sequence[Arrived]]:
        """Decides about one trace; one that has a response keeps it, in the run where it was first.

        Returns:
            The trace, its verdicts by the responses that it has now, and these.
        """
        trace_id, day, project = one.due.trace_id, day_of(one.due.at), one.project
        old = self.before.get(trace_id)
        run_id = run_id_of(project, day)
        gone = [trace_id] if old is not None and old.run_id else []
        if old is not None and old.run_id:
            project, day, run_id = old.project, old.day, old.run_id
        alone = not found and (one.said if not gone else not one.spanned)
        if (one.due.late and (one.said or gone)) or alone:  # what is said of it is new, and nothing else
            held = stored_of(self.store, trace_id, old.run_id if old is not None else "")
            if held.arrived:
                one = replace(one, said=placed_anew(one.said, held.arrived))
                found = with_outcomes(held.arrived, one.said)
                if found == held.arrived and gone:
                    return one, found
                project, day, run_id = held.project or project, held.day or day, held.run_id
                gone = [trace_id]
        line = LedgerLine(trace_id, project, day, one.outcome or "failed", one.reason, at=self.now)
        arrived: list[Arrived] = []
        chances: dict[str, Chance] = {}
        if isinstance(found, str):
            line = replace(line, outcome="failed", reason=found)
        elif found:
            chance, drawn = self._drawn(line, found, run_id, old)
            arrived, weight = found, found[0][1].weight
            chances = {response.query_id: chance if drawn else None for _, response in found}
            line = replace(line, outcome="to score", reason="" if drawn else _chance(chance), run_id=run_id)
            line = replace(line, weight=weight, chance=chance)
        if not changes or changes[-1].run_id != run_id:
            changes.append(_RunChange(run_id, project, day))
        change = changes[-1]
        change.lines.append(line)
        change.arrived += arrived
        change.chances |= chances
        change.gone += gone
        return one, arrived

    def _drawn(
        self, line: LedgerLine, found: Sequence[Arrived], run_id: str, old: LedgerLine | None
    ) -> tuple[float, bool]:
        """How likely a trace is drawn for the judge, and whether it is.

        The draw is the trace's own, so one that more came of has the greater of both chances: drawn by either.
        """
        base = self.sampler.base(day_of(self.now), self.now)
        before_id, draw = run_id_of(line.project, day_before(line.day)), self.policy.draw(line.trace_id)
        chance = self.sampler.chance(found, run_id, before_id, base)
        before = old.chance if old is not None and old.run_id else 0.0
        if draw < chance and draw >= before:
            self.sampler.drawn(found, run_id)
        return max(chance, before), draw < max(chance, before)


def _chance(chance: float) -> str:
    return f"{100 * chance:.3g} % of such traces are drawn"


@dataclass(slots=True)
class _RunChange:
    """What changes in one run: responses that come one after another, with their chances, and lines of traces."""

    run_id: str
    project: str
    day: str
    lines: list[LedgerLine] = field(default_factory=list)
    arrived: list[Arrived] = field(default_factory=list)
    chances: dict[str, Chance] = field(default_factory=dict)
    gone: list[str] = field(default_factory=list)


def _records(read: Sequence[ReadTrace], policy: Policy) -> dict[str, list[Arrived] | str]:
    """Examples and responses of traces; why, of one whose rows cannot be read."""
    numbered = [(n, one.due.trace_id, row) for n, one in enumerate(read, 1) for row in one.rows]
    found: dict[str, list[Arrived] | str] = {}
    if not numbered:
        return found
    source = Rows("traces", iter([(n, row) for n, _, row in numbered]), unit="trace", offered=OFFERED)
    names = {field: name for name, field in policy.segments.items()}
    reader = RecordReader(source, Options(segments=tuple(names), warn=lambda _: None))
    for (n, row), (_, trace_id, _) in zip(reader.rows.rows, numbered, strict=True):
        try:
            record = reader.record(n, row)
        except DataError as error:
            found[trace_id] = str(error)
            continue
        there = found.setdefault(trace_id, [])
        if record is None or record.response is None or isinstance(there, str):
            found[trace_id] = there or "no response in it"
            continue
        segments = {names.get(name, name): value for name, value in record.example.segments.items()}
        there.append((replace(record.example, segments=segments), record.response))
    return found


def day_of(at: float) -> str:
    """The UTC date of a moment."""
    return datetime.fromtimestamp(at, UTC).date().isoformat()


def run_id_of(project: str, day: str) -> str:
    """The id of the run that holds a project's traffic of a day."""
    return digest(["traffic", project, day])[:12]


def run_of(run_id: str, project: str, day: str) -> Run:
    """The run of a project's traffic of a day."""
    return Run(run_id, f"{project} {day}", kind="traffic", system=project)
