"""What people said of a trace, in it or in others that link to it: which response it is of, and what is kept of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ragauge.core.errors import UnknownName
from ragauge.core.label import Label
from ragauge.monitoring.intake.trace_labels import AnnotatedLabels, collect_labels, count_skipped
from ragauge.readers.lines import Row
from ragauge.readers.traces.spans import Event, Link, TraceSpan
from ragauge.readers.traces.tree import OWN_SERVICE, adopt_orphans, find_requests
from ragauge.readers.traces.verdicts import (
    NO_REQUEST,
    PlacedVerdict,
    TraceVerdict,
    collect_outcomes,
    find_judged_span,
    placed,
    read_event_verdicts,
    read_verdicts,
    select_user_verdicts,
)
from ragauge.store.inbox import DueTrace
from ragauge.store.ledger import OF_TRACE_PREFIX, LedgerLine, Outcome
from ragauge.store.responses import StoredResponse
from ragauge.store.run_collection import ExampleResponse
from ragauge.store.store_access import Store

VerdictsByRequest = Mapping[str, Sequence[PlacedVerdict]]  # by query id of a request; NOWHERE = of which is not known
MAX_TRACE_LINES = 50  # lines of other traces; the oldest go
NOT_READ, NO_PERSON = "it is not processed yet", "from a model, code or an unnamed source, so not a label"
UNKNOWN, EVALUATION_REASON = "", "an evaluation"  # of a trace that is still to be read


@dataclass(frozen=True, slots=True)
class ReadTrace:
    """What a trace says."""

    due: DueTrace  #: the trace.
    project: str = ""  #: whose it is; "" = not known.
    rows: tuple[Row, ...] = ()  #: the requests in it.
    outcome: Outcome | None = None  #: where there is nothing to score.
    reason: str = ""  #: of the outcome.
    verdicts: VerdictsByRequest = field(default_factory=dict)  #: what people and judges say of its requests.
    #: other traces that it judges -> what is said of that until they are read with it.
    judged: Mapping[str, str] = field(default_factory=dict)
    spanned: bool = False  #: whether any span of it is there.


def list_other_verdicts(
    trace_id: str, judges: Iterable[TraceSpan], events: Mapping[str, Sequence[Event]], span_ids: Iterable[str]
) -> list[TraceVerdict]:
    """Verdicts of a trace that do not stand in its spans.

    Args:
        trace_id: of the trace.
        judges: spans of others that link to it; our own, which give results back, say nothing.
        events: that came as logs, by the span that they are of.
        span_ids: ids of the trace's spans, which have their events themselves.
    """
    own_ids, verdicts = set(span_ids), []
    for span in judges:
        if span.resource.get("service.name") != OWN_SERVICE:
            verdicts += [verdict for verdict in read_verdicts(span) if verdict.trace_id == trace_id]
    for span_id, several in events.items():
        if span_id not in own_ids:
            verdicts += [
                verdict
                for event in several
                for verdict in read_event_verdicts(Link(trace_id, span_id), event, trace_id)
            ]
    return verdicts


def said_of(trace_id: str, spans: Sequence[TraceSpan], verdicts: Sequence[TraceVerdict]) -> VerdictsByRequest:
    """What people said of each request of a trace, by all verdicts in its spans and elsewhere."""
    people = [verdict for verdict in verdicts if verdict.is_human and verdict.trace_id == trace_id]
    if not people:
        return {}
    spans = adopt_orphans(spans)
    trace_requests = find_requests(spans)
    if not trace_requests:
        return {NO_REQUEST: [PlacedVerdict(verdict, known=verdict.scope != "span") for verdict in people]}
    return placed(trace_requests, spans, people)


def list_judged_traces(spans: Sequence[TraceSpan]) -> dict[str, str]:
    """Other traces that a trace's spans judge -> that they were not read yet; or that no person judges them."""
    judged: dict[str, str] = {}
    for span in spans:
        link = find_judged_span(span)
        if link is not None and link.trace_id != span.trace_id:
            people = any(verdict.is_human for verdict in read_verdicts(span))
            judged[link.trace_id] = NOT_READ if people else judged.get(link.trace_id, NO_PERSON)
    return judged


def place_verdicts_again(placed_verdicts: VerdictsByRequest, arrived: Sequence[ExampleResponse]) -> VerdictsByRequest:
    """What was said, where the spans are no longer kept: by the roots of the responses that are."""
    roots = {response.origin.get("span", ""): response.query_id for _, response in arrived}
    names = {response.query_id for _, response in arrived}
    out: dict[str, list[PlacedVerdict]] = {
        name: list(placed_verdicts[name]) for name in placed_verdicts if name in names
    }
    for name in placed_verdicts.keys() - names:
        for placed_verdict in placed_verdicts[name]:
            root = roots.get(placed_verdict.verdict.span_id)
            where = root or (next(iter(names)) if len(names) == 1 else NO_REQUEST)
            out.setdefault(where, []).append(replace(placed_verdict, known=placed_verdict.known or root is not None))
    return out


def add_outcomes(arrived: Sequence[ExampleResponse], placed_verdicts: VerdictsByRequest) -> list[ExampleResponse]:
    """Responses with what users said of them since."""
    return [
        (
            example,
            replace(
                response,
                outcome=collect_outcomes(
                    select_user_verdicts(placed_verdicts.get(response.query_id, ())), response.outcome
                ),
            ),
        )
        for example, response in arrived
    ]


@dataclass(frozen=True, slots=True)
class PeopleVerdicts:
    """What came of what was said of a trace."""

    kept: AnnotatedLabels = field(default_factory=AnnotatedLabels)  #: labels, and what makes none.
    #: trace in which it was said, where that is another -> what came of it, in words.
    words_by_trace: Mapping[str, str] = field(default_factory=dict)


def build_annotations(
    due: DueTrace, arrived: Sequence[ExampleResponse], placed_verdicts: VerdictsByRequest
) -> PeopleVerdicts:
    """What comes of what was said of a trace.

    Args:
        due: the trace.
        arrived: its responses, with their questions.
        placed_verdicts: of them.
    """
    items = {response.query_id: StoredResponse(0, example, response) for example, response in arrived}
    missing_reason = "it does not name a request" if items else "the trace has no stored response"
    by_source: dict[str, AnnotatedLabels] = {}
    for name, source, verdicts in _group_by_source(placed_verdicts):
        labels = (
            collect_labels(items[name], verdicts, due.last)
            if name in items
            else count_skipped(verdicts, missing_reason)
        )
        by_source[source] = by_source.get(source, AnnotatedLabels()) + labels
    total = sum(by_source.values(), AnnotatedLabels())
    words_by_source = {
        source: str(labels) for source, labels in by_source.items() if source != due.trace_id and str(labels)
    }
    return PeopleVerdicts(total, words_by_source)


def _group_by_source(placed_verdicts: VerdictsByRequest) -> Iterator[tuple[str, str, list[PlacedVerdict]]]:
    for name, verdicts in placed_verdicts.items():
        for source in dict.fromkeys(verdict.verdict.source for verdict in verdicts):
            yield name, source, [verdict for verdict in verdicts if verdict.verdict.source == source]


def describe_people_verdicts(
    own_text: str, previous: str, words_by_trace: Mapping[str, str], judged_traces: Mapping[str, str]
) -> str:
    r"""What the ledger's line of a trace says of people's verdicts.

    Args:
        own_text: what came of those of the trace itself; "" = none were read now.
        previous: what the line said so far.
        words_by_trace: other trace -> what came of what this one says of it.
        judged_traces: traces that it judges -> what is said of that until they are read.

    >>> describe_people_verdicts("saved label: support", "of trace b: x", {"c": "y"}, {"b": NOT_READ, "d": NOT_READ})
    'saved label: support\nof trace b: x\nof trace c: y\nof trace d: it is not processed yet'
    """
    lines = previous.split("\n") if previous else []
    others = {
        line.removeprefix(OF_TRACE_PREFIX).partition(":")[0]: line for line in lines if line.startswith(OF_TRACE_PREFIX)
    }
    others |= {trace_id: f"{OF_TRACE_PREFIX}{trace_id}: {words}" for trace_id, words in words_by_trace.items()}
    for trace_id, words in sorted(judged_traces.items()):
        others.setdefault(trace_id, f"{OF_TRACE_PREFIX}{trace_id}: {words}")
    own_lines = own_text or "\n".join(line for line in lines if not line.startswith(OF_TRACE_PREFIX))
    return "\n".join([*([own_lines] if own_lines else []), *list(others.values())[-MAX_TRACE_LINES:]])


@dataclass(frozen=True, slots=True)
class StoredResponses:
    """A trace's responses as they are kept."""

    arrived: list[ExampleResponse] = field(default_factory=list)  #: the responses, with their questions.
    run_id: str = ""  #: of the run that holds them; "" = none does.
    project: str = ""  #: whose traffic that is; "" where the ledger knows it.
    day: str = ""  #: its UTC date; "" where the ledger knows it.


def load_trace_responses(store: Store, trace_id: str, run_id: str) -> StoredResponses:
    """A trace's responses as they are kept, however long ago it came.

    Args:
        store: where they are.
        trace_id: of the trace.
        run_id: of the run that the ledger names; "" = it names none, so all of traffic are looked through.
    """
    run = None if run_id else store.collecting.find_traffic_run(trace_id)
    run_id = run_id if run is None else run.run_id
    try:
        responses = (
            [store.runs.response(run_id, query_id) for query_id in store.collecting.list_query_ids(run_id, trace_id)]
            if run_id
            else []
        )
    except UnknownName:  # the run was deleted
        responses = []
    if not responses:
        return StoredResponses()
    return StoredResponses(responses, run_id, *(("", "") if run is None else (run.system, run.name.rpartition(" ")[2])))


def save_people_verdicts(
    store: Store, traces: Sequence[tuple[ReadTrace, Sequence[ExampleResponse]]], now: float, day: str
) -> None:
    """Keeps labels, and says in the ledger what came of what people said, in the transaction that settles the traces.

    Args:
        store: where they are kept.
        traces: traces, with the responses that they have.
        now: seconds since 1970.
        day: the UTC date of then.
    """
    own_words: dict[str, str] = {}
    words_by_trace: dict[str, dict[str, str]] = {}
    judged_by_trace = {trace.due.trace_id: trace.judged for trace, _ in traces if trace.judged}
    labels: dict[str, Sequence[Label]] = {}
    for trace, arrived in traces:
        if trace.verdicts:
            people = build_annotations(trace.due, arrived, trace.verdicts)
            labels[trace.due.trace_id] = people.kept.labels
            own_words[trace.due.trace_id] = str(people.kept)
            for source, words in people.words_by_trace.items():
                words_by_trace.setdefault(source, {})[trace.due.trace_id] = words
    names = {*own_words, *words_by_trace, *judged_by_trace}
    if not names:
        return
    existing, lines = store.ledger.load_lines(names), []
    _save_labels(store, labels, existing)
    for name in sorted(names):
        line = existing.get(name) or LedgerLine(name, UNKNOWN, day, "filtered", EVALUATION_REASON, at=now)
        words = describe_people_verdicts(
            own_words.get(name, ""), line.people, words_by_trace.get(name, {}), judged_by_trace.get(name, {})
        )
        lines += [replace(line, people=words)] if words != line.people else []
    store.ledger.write_people_notes(lines)


def _save_labels(store: Store, labels: Mapping[str, Sequence[Label]], lines: Mapping[str, LedgerLine]) -> None:
    """Keeps labels by trace; the responses of those that have new ones are to be decided again."""
    every = [label for several in labels.values() for label in several]
    if not every:
        return
    existing = set(store.labels.of({label.key for label in every}))
    store.labels.add(every)
    by_run: dict[str, list[str]] = {}
    for trace_id, several in labels.items():
        line = lines.get(trace_id)
        if line is not None and line.run_id and not existing.issuperset(several):
            by_run.setdefault(line.run_id, []).append(trace_id)
    for run_id, trace_ids in by_run.items():
        responses = store.collecting.find_by_trace(run_id, trace_ids)
        store.labels.queue_decisions([number for several in responses.values() for number, _ in several])
