"""What people said of a trace, in it or in others that link to it: which response it is of, and what is kept of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ragauge.core.errors import UnknownName
from ragauge.core.label import Label
from ragauge.monitoring.intake.trace_labels import AnnotatedLabels, labels_of, left_out
from ragauge.readers.lines import Row
from ragauge.readers.traces.spans import Event, Link, TraceSpan
from ragauge.readers.traces.tree import OURS, adopted, requests
from ragauge.readers.traces.verdict_targets import NOWHERE, PlacedVerdict, placed, thought
from ragauge.readers.traces.verdicts import TraceVerdict, judged_by, outcome_of, verdicts_of, verdicts_of_event
from ragauge.store.inbox import DueTrace
from ragauge.store.ledger import OF_TRACE, LedgerLine, Outcome
from ragauge.store.responses import Loaded
from ragauge.store.run_collection import Arrived
from ragauge.store.store_access import Store

Said = Mapping[str, Sequence[PlacedVerdict]]  # by query id of a request; NOWHERE = of which is not known
MOST_TOLD = 50  # lines of other traces; the oldest go
NOT_READ, NO_PERSON = "it was not read yet", "said by a model, by code or by nobody named, so no label"
UNKNOWN, AN_EVALUATION = "", "an evaluation"  # of a trace that is still to be read


@dataclass(frozen=True, slots=True)
class ReadTrace:
    """What a trace says.

    Attributes:
        due: the trace.
        project: whose it is; "" = not known.
        rows: the requests in it.
        outcome: where there is nothing to score.
        reason: of the outcome.
        said: what people and judges say of its requests.
        judged: other traces that it judges -> what is said of that until they are read with it.
        spanned: whether any span of it is there.
    """

    due: DueTrace
    project: str = ""
    rows: tuple[Row, ...] = ()
    outcome: Outcome | None = None
    reason: str = ""
    said: Said = field(default_factory=dict)
    judged: Mapping[str, str] = field(default_factory=dict)
    spanned: bool = False


def said_elsewhere(
    trace_id: str, judges: Iterable[TraceSpan], events: Mapping[str, Sequence[Event]], known: Iterable[str]
) -> list[TraceVerdict]:
    """Verdicts of a trace that do not stand in its spans.

    Args:
        trace_id: of the trace.
        judges: spans of others that link to it; our own, which give results back, say nothing.
        events: that came as logs, by the span that they are of.
        known: ids of the trace's spans, which have their events themselves.
    """
    there, found = set(known), []
    for span in judges:
        if span.resource.get("service.name") != OURS:
            found += [one for one in verdicts_of(span) if one.trace_id == trace_id]
    for span_id, several in events.items():
        if span_id not in there:
            found += [one for event in several for one in verdicts_of_event(Link(trace_id, span_id), event, trace_id)]
    return found


def said_of(trace_id: str, spans: Sequence[TraceSpan], verdicts: Sequence[TraceVerdict]) -> Said:
    """What people said of each request of a trace, by all verdicts in its spans and elsewhere."""
    people = [one for one in verdicts if one.of_people and one.trace_id == trace_id]
    if not people:
        return {}
    spans = adopted(spans)
    found = requests(spans)
    if not found:
        return {NOWHERE: [PlacedVerdict(one, known=one.scope != "span") for one in people]}
    return placed(found, spans, people)


def judged_in(spans: Sequence[TraceSpan]) -> dict[str, str]:
    """Other traces that a trace's spans judge -> that they were not read yet; or that no person judges them."""
    found: dict[str, str] = {}
    for span in spans:
        link = judged_by(span)
        if link is not None and link.trace_id != span.trace_id:
            people = any(one.of_people for one in verdicts_of(span))
            found[link.trace_id] = NOT_READ if people else found.get(link.trace_id, NO_PERSON)
    return found


def placed_anew(said: Said, there: Sequence[Arrived]) -> Said:
    """What was said, where the spans are no longer kept: by the roots of the responses that are."""
    roots = {response.origin.get("span", ""): response.query_id for _, response in there}
    names = {response.query_id for _, response in there}
    out: dict[str, list[PlacedVerdict]] = {name: list(said[name]) for name in said if name in names}
    for name in said.keys() - names:
        for one in said[name]:
            root = roots.get(one.verdict.span_id)
            where = root or (next(iter(names)) if len(names) == 1 else NOWHERE)
            out.setdefault(where, []).append(replace(one, known=one.known or root is not None))
    return out


def with_outcomes(there: Sequence[Arrived], said: Said) -> list[Arrived]:
    """Responses with what users said of them since."""
    return [
        (example, replace(response, outcome=outcome_of(thought(said.get(response.query_id, ())), response.outcome)))
        for example, response in there
    ]


@dataclass(frozen=True, slots=True)
class PeopleSaid:
    """What came of what was said of a trace.

    Attributes:
        kept: labels, and what makes none.
        told: trace in which it was said, where that is another -> what came of it, in words.
    """

    kept: AnnotatedLabels = field(default_factory=AnnotatedLabels)
    told: Mapping[str, str] = field(default_factory=dict)


def annotated(due: DueTrace, arrived: Sequence[Arrived], said: Said) -> PeopleSaid:
    """What comes of what was said of a trace.

    Args:
        due: the trace.
        arrived: its responses, with their questions.
        said: of them.
    """
    items = {response.query_id: Loaded(0, example, response) for example, response in arrived}
    why = "which of its requests is not said" if items else "and it has no response that is here"
    by_source: dict[str, AnnotatedLabels] = {}
    for name, source, verdicts in _by_source(said):
        found = labels_of(items[name], verdicts, due.last) if name in items else left_out(verdicts, why)
        by_source[source] = by_source.get(source, AnnotatedLabels()) + found
    whole = sum(by_source.values(), AnnotatedLabels())
    told = {source: str(found) for source, found in by_source.items() if source != due.trace_id and str(found)}
    return PeopleSaid(whole, told)


def _by_source(said: Said) -> Iterator[tuple[str, str, list[PlacedVerdict]]]:
    for name, verdicts in said.items():
        for source in dict.fromkeys(one.verdict.source for one in verdicts):
            yield name, source, [one for one in verdicts if one.verdict.source == source]


def people_words(own: str, before: str, told: Mapping[str, str], judged: Mapping[str, str]) -> str:
    r"""What the ledger's line of a trace says of people's verdicts.

    Args:
        own: what came of those of the trace itself; "" = none were read now.
        before: what the line said so far.
        told: other trace -> what came of what this one says of it.
        judged: traces that it judges -> what is said of that until they are read.

    >>> people_words("label kept: support", "of trace b: x", {"c": "y"}, {"b": NOT_READ, "d": NOT_READ})
    'label kept: support\nof trace b: x\nof trace c: y\nof trace d: it was not read yet'
    """
    lines = before.split("\n") if before else []
    others = {line.removeprefix(OF_TRACE).partition(":")[0]: line for line in lines if line.startswith(OF_TRACE)}
    others |= {trace_id: f"{OF_TRACE}{trace_id}: {words}" for trace_id, words in told.items()}
    for trace_id, words in sorted(judged.items()):
        others.setdefault(trace_id, f"{OF_TRACE}{trace_id}: {words}")
    mine = own or "\n".join(line for line in lines if not line.startswith(OF_TRACE))
    return "\n".join([*([mine] if mine else []), *list(others.values())[-MOST_TOLD:]])


@dataclass(frozen=True, slots=True)
class HeldResponses:
    """A trace's responses as they are kept.

    Attributes:
        arrived: the responses, with their questions.
        run_id: of the run that holds them; "" = none does.
        project: whose traffic that is; "" where the ledger knows it.
        day: its UTC date; "" where the ledger knows it.
    """

    arrived: list[Arrived] = field(default_factory=list)
    run_id: str = ""
    project: str = ""
    day: str = ""


def stored_of(store: Store, trace_id: str, run_id: str) -> HeldResponses:
    """A trace's responses as they are kept, however long ago it came.

    Args:
        store: where they are.
        trace_id: of the trace.
        run_id: of the run that the ledger names; "" = it names none, so all of traffic are looked through.
    """
    run = None if run_id else store.collecting.holding(trace_id)
    run_id = run_id if run is None else run.run_id
    try:
        found = [store.runs.response(run_id, one) for one in store.collecting.under(run_id, trace_id)] if run_id else []
    except UnknownName:  # the run was deleted
        found = []
    if not found:
        return HeldResponses()
    return HeldResponses(found, run_id, *(("", "") if run is None else (run.system, run.name.rpartition(" ")[2])))


def keep_people(store: Store, kept: Sequence[tuple[ReadTrace, Sequence[Arrived]]], now: float, day: str) -> None:
    """Keeps labels, and says in the ledger what came of what people said, in the transaction that settles the traces.

    Args:
        store: where they are kept.
        kept: traces, with the responses that they have.
        now: seconds since 1970.
        day: the UTC date of then.
    """
    own: dict[str, str] = {}
    told: dict[str, dict[str, str]] = {}
    judged = {one.due.trace_id: one.judged for one, _ in kept if one.judged}
    labels: dict[str, Sequence[Label]] = {}
    for one, arrived in kept:
        if one.said:
            people = annotated(one.due, arrived, one.said)
            labels[one.due.trace_id] = people.kept.labels
            own[one.due.trace_id] = str(people.kept)
            for source, words in people.told.items():
                told.setdefault(source, {})[one.due.trace_id] = words
    names = {*own, *told, *judged}
    if not names:
        return
    there, lines = store.ledger.lines(names), []
    _keep_labels(store, labels, there)
    for name in sorted(names):
        line = there.get(name) or LedgerLine(name, UNKNOWN, day, "filtered", AN_EVALUATION, at=now)
        words = people_words(own.get(name, ""), line.people, told.get(name, {}), judged.get(name, {}))
        lines += [replace(line, people=words)] if words != line.people else []
    store.ledger.tell(lines)


def _keep_labels(store: Store, labels: Mapping[str, Sequence[Label]], lines: Mapping[str, LedgerLine]) -> None:
    """Keeps labels by trace; the responses of those that have new ones are to be decided again."""
    every = [label for several in labels.values() for label in several]
    if not every:
        return
    known = set(store.labels.of({label.key for label in every}))
    store.labels.add(every)
    by_run: dict[str, list[str]] = {}
    for trace_id, several in labels.items():
        line = lines.get(trace_id)
        if line is not None and line.run_id and not known.issuperset(several):
            by_run.setdefault(line.run_id, []).append(trace_id)
    for run_id, trace_ids in by_run.items():
        responses = store.collecting.of_traces(run_id, trace_ids)
        store.labels.queue_decisions([number for several in responses.values() for number, _ in several])
