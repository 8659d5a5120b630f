"""From raw batches to responses in a run: what is read, what is replaced, and that every trace has its line."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from tests.data.spans import attributes
from tests.monitoring.conftest import CHILD, ROOT, TRACE, span, traces

from ragauge.core.response import REDACTED, Response
from ragauge.metrics.base import MetricResult
from ragauge.monitoring.intake import otlp
from ragauge.monitoring.intake.otlp_decoder import iterate_spans as decoded
from ragauge.monitoring.policy import Policy
from ragauge.monitoring.traffic.trace_assembly import build_run_id, settle_traces
from ragauge.readers.source import read_source
from ragauge.readers.traces.spans import Link, TraceSpan, read_spans
from ragauge.store.ledger import LedgerLine
from ragauge.store.scores import Column
from ragauge.store.store_access import Store, open_store

Sender = Callable[..., TestClient]
GOLDEN = sorted((Path(__file__).resolve().parents[1] / "golden/traces").glob("*.jsonl"))
KIND = "openinference.span.kind"
LATER = 1e11  # when every trace is due
OTHER = "12" * 16
PROTOBUF = {"content-type": "application/x-protobuf"}


def chain(answer: str = "14 days.", span_id: str = ROOT, trace_id: str = TRACE, **more: Any) -> dict[str, Any]:
    named = {KIND: "CHAIN", "input.value": "How long do refunds take?", "output.value": answer}
    return span(span_id, trace_id=trace_id, **{"attributes": attributes(named), **more})


def finder(doc_id: str = "a.md", parent: str = ROOT, trace_id: str = TRACE, **named: Any) -> dict[str, Any]:
    head = "retrieval.documents.0.document."
    said = {KIND: "RETRIEVER", f"{head}id": doc_id, f"{head}content": f"Text of {doc_id}.", **named}
    return span(CHILD, parent, trace_id, attributes=attributes(said))


def held(store: Store) -> dict[str, Response]:
    """query_id -> response, over all runs."""
    return {
        example.query_id: response for run in store.runs.list() for example, response in store.runs.pairs(run.run_id)
    }


def line(store: Store, trace_id: str = TRACE) -> LedgerLine:
    found = store.ledger.find_line(trace_id)
    assert found is not None
    return found


def passages(response: Response) -> list[str]:
    return [passage.doc_id for passage in response.passages or ()]


@pytest.mark.parametrize("file", GOLDEN, ids=lambda path: path.stem)
@pytest.mark.parametrize("form", ["json", "protobuf"])
def test_recorded_traces_as_the_file_is_read(file: Path, form: str, sender: Sender, store: Store) -> None:
    """What six exporters recorded gives, sent in either form, the examples and responses that the file gives."""
    client = sender()
    for text in file.read_text(encoding="utf-8").splitlines():
        body, headers = text.encode(), {"content-type": "application/json"}
        if form == "protobuf":
            body, headers = otlp.parse_request(otlp.TRACES, "json", body).message.SerializeToString(), PROTOBUF
        answer = client.post("/v1/traces", content=body, headers=headers)
        assert (answer.status_code, answer.content) == (200, b"{}" if form == "json" else b"")
    settle_traces(store, Policy(), LATER)
    (run,) = store.runs.list()
    expected = {one.example.query_id: (one.example, one.response) for one in read_source(file, warn=lambda _: None)}
    assert {example.query_id: (example, response) for example, response in store.runs.pairs(run.run_id)} == expected
    assert (run.kind, run.system, run.done, run.state) == ("traffic", "shop-help", 3, "finished")
    outcomes = {count.outcome: count.n for count in store.ledger.counts()}
    assert outcomes.pop("to score") == 3
    assert set(outcomes) <= {"filtered"}


@pytest.mark.parametrize("file", GOLDEN, ids=lambda path: path.stem)
def test_one_reading_of_spans(file: Path) -> None:
    """Of recorded spans both readers, of OTLP/JSON files and of protobuf messages, make equal values."""
    for text in file.read_text(encoding="utf-8").splitlines():
        from_file = list(read_spans(json.loads(text)))
        ids = frozenset(one.trace_id for one in from_file if isinstance(one, TraceSpan))
        body = otlp.parse_request(otlp.TRACES, "json", text.encode()).message.SerializeToString()
        assert [one for _, one in decoded(body, ids)] == from_file


def test_one_reading_of_every_kind_of_value() -> None:
    """Every kind of value, events with an exception and their times, links, status and state are read alike."""
    values: list[dict[str, Any]] = [
        {"boolValue": False},
        {"intValue": "-5"},
        {"doubleValue": 0.5},
        {"bytesValue": "AAE="},
        {"stringValue": ""},
        {},
        {"arrayValue": {"values": [{"intValue": 1}, {}]}},
        {"arrayValue": {}},
        {"kvlistValue": {"values": [{"key": "a", "value": {"stringValue": "b"}}]}},
    ]
    named = [{"key": f"k{n}", "value": value} for n, value in enumerate(values)]
    thrown = {
        "name": "exception",
        "attributes": attributes({"exception.type": "E", "exception.message": "no"}),
        "timeUnixNano": "2000000000",
    }
    links = [{"traceId": OTHER.upper(), "spanId": ROOT, "attributes": named}]
    one = span(
        attributes=named,
        status={"code": 2, "message": "failed"},
        events=[{"name": "e"}, thrown],
        droppedAttributesCount=2,
        traceState="ot=th:8",
        parentSpanId="0" * 16,
        links=links,
    )
    sent = traces(one, span(CHILD, ROOT, status={"code": 2}))
    body = otlp.parse_request(otlp.TRACES, "json", json.dumps(sent).encode()).message.SerializeToString()
    found = [span for _, span in decoded(body, frozenset({TRACE}))]
    assert found == list(read_spans(sent))
    first = found[0]
    assert isinstance(first, TraceSpan)
    assert first.links == (Link(OTHER, ROOT),)
    assert [event.at for event in first.events] == [0, 2_000_000_000]


def test_a_late_span_replaces_its_response(sender: Sender, store: Store) -> None:
    """Spans that come after a trace was scored replace its response and take the old scores along; nothing is twice."""
    client = sender()
    client.post("/v1/traces", json=traces(chain(), finder()))
    client.post("/v1/traces", json=traces(chain(trace_id=OTHER), finder(trace_id=OTHER)))
    settle_traces(store, Policy(), LATER)
    run_id = build_run_id("bot", line(store).day)
    numbers = store.runs.load_order(run_id).numbers
    measured = MetricResult("scored", 0.5, 1.0, 2.0)
    column = Column("faithfulness", 1, None)
    store.scores.write(run_id, (column,), [(number, (measured,)) for number in numbers])
    store.ledger.decide(store.ledger.list_waiting(run_id), "scored", timestamp=1.0)
    assert len(store.scores.find_complete(run_id, (column,))) == 2

    client.post("/v1/traces", json=traces(finder("b.md")))
    assert line(store).outcome == "scored"
    settle_traces(store, Policy(), LATER)
    found = held(store)
    assert {query_id: passages(one) for query_id, one in found.items()} == {TRACE: ["b.md"], OTHER: ["a.md"]}
    assert store.runs.find(run_id).done == 2
    assert len(store.scores.find_complete(run_id, (column,))) == 1
    assert (line(store).outcome, line(store, OTHER).outcome) == ("to score", "scored")
    assert store.runs.load_order(run_id).numbers == numbers


def test_a_late_span_keeps_its_response_in_its_place(sender: Sender, store: Store) -> None:
    """A response that a late span replaces has its old number, so that no monitor takes its score a second time.

    So has each turn of a trace, and the first turn of one that had one; what comes in with it stands behind the others.
    """
    client, later = sender(), "34" * 16
    client.post("/v1/traces", json=traces(chain(trace_id=OTHER), finder(trace_id=OTHER)))
    client.post("/v1/traces", json=traces(chain(), finder()))
    settle_traces(store, Policy(), LATER)
    before = numbered(store)
    client.post("/v1/traces", json=traces(chain(trace_id=later), finder(trace_id=later)))
    client.post("/v1/traces", json=traces(finder("b.md")))  # of the last response, whose number is free for a moment
    settle_traces(store, Policy(), LATER)
    after = numbered(store)
    assert {one: after[one] for one in before} == before
    assert after[later] > max(before.values())
    assert passages(held(store)[TRACE]) == ["b.md"]
    turn = {**finder("c.md", parent="1a" * 8), "spanId": "1b" * 8}
    client.post("/v1/traces", json=traces(chain(span_id="1a" * 8), turn))
    settle_traces(store, Policy(), LATER)
    turns = {name: number for name, number in numbered(store).items() if name.startswith(TRACE)}
    assert len(turns) == 2
    assert min(turns.values()) == before[TRACE]
    assert max(turns.values()) > after[later]


def numbered(store: Store) -> dict[str, int]:
    """query_id -> number in the store."""
    (run,) = store.runs.list()
    numbers = sorted(store.runs.load_order(run.run_id).numbers)
    return dict(zip(store.runs.index(run.run_id, numbers).query_ids, numbers, strict=True))


def test_a_span_sent_again_changes_nothing(sender: Sender, store: Store) -> None:
    """The same batch a second time leaves the response, and its scores, as they are."""
    client, batch = sender(), traces(chain(), finder())
    client.post("/v1/traces", json=batch)
    settle_traces(store, Policy(), LATER)
    run_id = build_run_id("bot", line(store).day)
    before = list(store.runs.load_order(run_id).numbers)
    client.post("/v1/traces", json=batch)
    settle_traces(store, Policy(), LATER)
    assert list(store.runs.load_order(run_id).numbers) == before
    assert store.runs.find(run_id).done == 1


def test_a_trace_of_several_turns(sender: Sender, store: Store) -> None:
    """Two requests in one trace are two responses; when a late root makes them one, the two go."""
    turns = [chain(span_id=f"{n}a" * 8) for n in (1, 2)]
    found = [{**finder(parent=f"{n}a" * 8), "spanId": f"{n}b" * 8} for n in (1, 2)]
    client = sender()
    client.post("/v1/traces", json=traces(*turns, *found))
    settle_traces(store, Policy(), LATER)
    assert sorted(held(store)) == [f"{TRACE}:{n}a{n}a{n}a{n}a{n}a{n}a{n}a{n}a" for n in (1, 2)]
    assert store.collecting.list_query_ids(line(store).run_id, TRACE) == sorted(held(store))
    client.post("/v1/traces", json=traces(*({**turn, "parentSpanId": ROOT} for turn in turns), chain()))
    settle_traces(store, Policy(), LATER)
    assert sorted(held(store)) == [TRACE]


@pytest.mark.parametrize(
    ("which", "found", "missing"),
    [
        ("union", ["a.md", "b.md", "c.md"], {}),
        ("last", ["b.md", "c.md"], {}),
        ("span:web", ["a.md"], {}),
        ("span:none", None, {"passages": "no span 'none' records documents"}),
    ],
)
def test_whose_passages_count(
    which: str, found: list[str] | None, missing: dict[str, str], sender: Sender, store: Store
) -> None:
    """Of a trace with two retrievers the passages are those of all, of the last, or of the spans that are named."""
    first = {**finder("a.md"), "name": "web", "startTimeUnixNano": "1100000000"}
    second = finder("b.md", **{"retrieval.documents.1.document.id": "c.md"})
    second |= {"name": "wiki", "spanId": "9a" * 8, "startTimeUnixNano": "2100000000"}
    sender().post("/v1/traces", json=traces(chain(), second, first))
    settle_traces(store, Policy(passages=which), LATER)
    (response,) = held(store).values()
    assert (None if response.passages is None else passages(response)) == found
    assert response.missing == missing
    hops = {"union": [0, 1, 1], "last": [0, 0], "span:web": [0]}.get(which, [])
    assert [passage.hop for passage in response.passages or ()] == hops


def test_every_trace_has_its_line(sender: Sender, store: Store) -> None:
    """Why each trace is not scored stands in the ledger: filtered, no content, redacted, sampled out, failed."""
    deep: Any = {"stringValue": "x"}
    for _ in range(40):
        deep = {"arrayValue": {"values": [deep]}}
    bare = {KIND: "RETRIEVER"}
    cases = {
        "01": (traces(chain(trace_id="01" * 16)), "filtered", "answered without retrieval"),
        "02": (traces(span(trace_id="02" * 16, attributes=attributes(bare))), "no content", "no question recorded"),
        "03": (
            traces(span(trace_id="03" * 16, attributes=attributes({**bare, "input.value": REDACTED}))),
            "redacted",
            "the question is redacted",
        ),
        "04": (
            traces(span(trace_id="04" * 16, attributes=attributes({**bare, "input.value": "refunds"}))),
            "no content",
            "neither answer nor passages were recorded",
        ),
        "05": (
            traces(span(trace_id="05" * 16, attributes=[{"key": "deep", "value": deep}])),
            "failed",
            "an attribute is nested deeper than 32 levels",
        ),
        "06": (
            traces(chain(trace_id="06" * 16), finder(trace_id="06" * 16), service="ragauge"),
            "filtered",
            "ragauge's own",
        ),
    }
    client = sender()
    for batch, _, _ in cases.values():
        assert client.post("/v1/traces", json=batch).json() == {}
    settle_traces(store, Policy(), LATER)
    for name, (_, outcome, reason) in cases.items():
        found = line(store, name * 16)
        assert (found.outcome, found.reason, found.run_id) == (outcome, reason, ""), name
    assert held(store) == {}
    assert store.inbox.counts().waiting == 0


def test_answers_without_retrieval_are_read_where_the_section_says_so(sender: Sender, store: Store) -> None:
    """A call of a model alone becomes a response whose passages are not recorded; a batch of embedding does not."""
    client = sender()
    client.post("/v1/traces", json=traces(chain()))
    client.post("/v1/traces", json=traces(span(trace_id=OTHER, attributes=attributes({KIND: "EMBEDDING"}))))
    settle_traces(store, Policy(without_retrieval=True), LATER)
    (response,) = held(store).values()
    assert (response.answer, response.passages) == ("14 days.", None)
    assert line(store).outcome == "to score"
    assert (line(store, OTHER).outcome, line(store, OTHER).reason) == ("filtered", "no retrieval in the trace")


def test_one_bad_trace_holds_up_no_other(sender: Sender, store: Store) -> None:
    """A trace whose numbers no store keeps, or on which the normaliser breaks, fails alone."""
    client = sender()
    client.post("/v1/traces", json=traces(chain(), finder()))
    bad = span(
        CHILD, ROOT, OTHER, attributes=[*attributes({KIND: "RETRIEVER", "retrieval.documents.0.document.content": "x"})]
    )
    client.post("/v1/traces", json=traces(chain(trace_id=OTHER), bad))
    lines = [
        json.dumps({"query_id": "q1", "query": "x", "answer": "y", "cost": "much"}),
        json.dumps({"query_id": "q2", "query": "x", "answer": "y", "latency_ms": 5}),
    ]
    client.post("/v1/responses", content="\n".join(lines), headers={"content-type": "application/x-ndjson"})
    assert settle_traces(store, Policy(), LATER) == 4
    assert {TRACE, "q2"} <= set(held(store))
    assert line(store, "q1").outcome == "failed"
    assert "cost" in line(store, "q1").reason


def test_events_that_came_apart_are_joined(sender: Sender, store: Store) -> None:
    """Texts that travel as log records stand in the response of their trace, whichever came first."""
    records_ = [
        {
            "eventName": "gen_ai.user.message",
            "traceId": TRACE,
            "spanId": ROOT,
            "body": {"kvlistValue": {"values": attributes({"content": "How long do refunds take?"})}},
        },
        {
            "eventName": "gen_ai.choice",
            "traceId": TRACE,
            "spanId": ROOT,
            "body": {"kvlistValue": {"values": attributes({"message": {"content": "14 days."}})}},
        },
    ]
    client = sender()
    client.post("/v1/logs", json={"resourceLogs": [{"scopeLogs": [{"logRecords": records_}]}]})
    root = span(attributes=attributes({"gen_ai.operation.name": "chat"}))
    client.post("/v1/traces", json=traces(root, finder(**{"input.value": "refunds"})))
    settle_traces(store, Policy(), LATER)
    (run,) = store.runs.list()
    ((example, response),) = store.runs.pairs(run.run_id)
    assert (example.query, response.answer) == ("How long do refunds take?", "14 days.")
    assert passages(response) == ["a.md"]


def test_the_project_of_a_trace(sender: Sender, store: Store) -> None:
    """OpenInference's attribute goes before the sender's header, and that before the service; each is a run."""
    client = sender()
    ids = ["0a" * 16, "0b" * 16, "0c" * 16]
    batches = [traces(chain(trace_id=one), finder(trace_id=one)) for one in ids]
    batches[0]["resourceSpans"][0]["resource"]["attributes"] += attributes({"openinference.project.name": "first"})
    for batch, header in zip(batches, ("second", "second", ""), strict=True):
        client.post("/v1/traces", json=batch, headers={"x-project-name": header})
    settle_traces(store, Policy(), LATER)
    assert [line(store, one).project for one in ids] == ["first", "second", "bot"]
    assert sorted(run.system for run in store.runs.list()) == ["bot", "first", "second"]
    day = line(store, ids[0]).day
    assert {run.name for run in store.runs.list()} == {f"bot {day}", f"first {day}", f"second {day}"}


def test_segments_of_the_configuration(sender: Sender, store: Store) -> None:
    """A field of the trace becomes a segment under the name that the configuration gives it."""
    root = chain()
    root["attributes"] += attributes({"metadata": json.dumps({"tenant": "acme"})})
    sender().post("/v1/traces", json=traces(root, finder()))
    settle_traces(store, Policy(segments={"customer": "metadata.tenant"}), LATER)
    (run,) = store.runs.list()
    ((example, _),) = store.runs.pairs(run.run_id)
    assert example.segments == {"customer": "acme"}


def test_the_draw_is_the_traces_own(sender: Sender, store: Store) -> None:
    """At 30 % about so many are drawn for the judge, the same by every worker, by every salt its own; all are there."""
    ids = [f"{n:032x}" for n in range(1, 401)]
    policy = Policy(rate=0.3)
    drawn = {one for one in ids if policy.draw(one) < 0.3}
    assert 90 < len(drawn) < 150  # 120 ± 3 standard deviations
    assert drawn == {one for one in ids if Policy(rate=0.5).draw(one) < 0.3}
    assert drawn != {one for one in ids if replace(policy, salt="other").draw(one) < 0.3}
    client = sender()
    for trace_id in ids[:20]:
        root = chain(trace_id=trace_id, traceState="ot=th:8")
        client.post("/v1/traces", json=traces(root, finder(trace_id=trace_id)))
    settle_traces(store, policy, LATER)
    assert set(held(store)) == set(ids[:20])
    assert {one.weight for one in held(store).values()} == {2.0}  # its SDK kept one of two
    (run,) = store.runs.list()
    index = store.runs.index(run.run_id, store.runs.load_order(run.run_id).numbers)
    assert {one for one, out in zip(index.query_ids, index.left_out(), strict=True) if not out} == drawn & set(ids[:20])
    assert {(line(store, one).weight, line(store, one).chance) for one in ids[:20]} == {(2.0, 0.3)}
    assert {line(store, one).reason for one in set(ids[:20]) - drawn} == {"30 % of such traces are sampled"}


def test_two_servers_share_the_work(sender: Sender, store: Store) -> None:
    """Two processes that read one store's due traces at once leave what one leaves: each response once."""
    from concurrent.futures import ThreadPoolExecutor

    client = sender()
    ids = [f"{n:032x}" for n in range(1, 41)]
    for trace_id in ids:
        client.post("/v1/traces", json=traces(chain(trace_id=trace_id), finder(trace_id=trace_id)))

    def work(_: int) -> None:
        with open_store(store.url) as own:
            while settle_traces(own, Policy(), LATER, 7):
                pass

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(work, range(2)))
    (run,) = store.runs.list()
    assert sorted(held(store)) == ids
    assert run.done == store.runs.count_responses(run.run_id) == 40


def test_nothing_of_a_failed_transaction_stays(sender: Sender, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker that ends between writing responses and their lines leaves the traces due, and no response."""
    sender().post("/v1/traces", json=traces(chain(), finder()))

    def ends(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(store.ledger, "write_lines", ends)
        with pytest.raises(KeyboardInterrupt):
            settle_traces(store, Policy(), LATER)
    assert store.runs.list() == []
    assert settle_traces(store, Policy(), LATER) == 1
    assert list(held(store)) == [TRACE]


def test_lines_of_capture(sender: Sender, store: Store, tmp_path: Path) -> None:
    """What rg.capture wrote gives, sent line by line, the responses that the file gives; a line sent again is one."""
    import ragauge as rg

    path = tmp_path / "answers.jsonl"
    with rg.capture(path) as record:

        @record
        def answer(query: str) -> dict[str, Any]:
            return {"answer": "14 days.", "passages": [{"doc_id": "a.md", "text": "Refunds take 14 days."}]}

        for question in ("How long?", "How long?", "Why?"):
            answer(question)
    client = sender()
    for _ in range(2):
        client.post("/v1/responses", content=path.read_bytes(), headers={"content-type": "application/x-ndjson"})
    settle_traces(store, Policy(), LATER)
    expected = {one.example.query_id: one.response for one in read_source(path, warn=lambda _: None)}
    assert len(expected) == 3
    assert held(store) == expected
    assert {run.name.split()[0] for run in store.runs.list()} == {"traffic"}
