"""What people say of answers in traces: labels of the responses, whenever and in whichever form it comes."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import update
from starlette.testclient import TestClient
from tests.data.spans import attributes
from tests.monitoring.conftest import CHILD, ROOT, TRACE, span, traces
from tests.monitoring.test_settling import KIND, LATER, OTHER, chain, finder, held, line

from ragauge.core.label import Label, build_label_key, format_part, select_latest_labels
from ragauge.engine.people import load_people_scores
from ragauge.labels.label.verb import label_import
from ragauge.metrics.base import MetricResult
from ragauge.monitoring.intake.redaction import Redaction
from ragauge.monitoring.policy import Policy
from ragauge.monitoring.traffic.trace_assembly import settle_traces
from ragauge.monitoring.traffic.verb import build_traffic_status, find_trace
from ragauge.store.inbox import DAY_S
from ragauge.store.labels import LabelDraw
from ragauge.store.scores import Column
from ragauge.store.store_access import Store, open_store
from ragauge.store.traffic_schema import traces as table

Sender = Callable[..., TestClient]
QUESTION, ANSWER, TEXTS = "How long do refunds take?", "14 days.", ["Text of a.md."]
KEY = build_label_key("support", QUESTION, TEXTS, ANSWER)
AT = "1970-01-01T00:00:03+00:00"  # when spans of these tests end


def result(head: str, **fields: Any) -> dict[str, Any]:
    """Attributes of one result, such as annotations.0.annotation.name; by a person where nothing else is said."""
    return {f"{head}.{name}": value for name, value in {"annotator_kind": "HUMAN", **fields}.items()}


NOTE = result("annotations.0.annotation", name="groundedness", label="grounded", identifier="ann")
LABEL = Label(KEY, None, "support", "supported", "ann", AT)


def labels(store: Store) -> list[Label]:
    return list(store.labels.list())


def annotated(**more: Any) -> dict[str, Any]:
    """The outermost span of a request with attributes beside its own."""
    root = chain()
    return {**root, "attributes": root["attributes"] + attributes(more)}


def judge(of: tuple[str, str] = (TRACE, ROOT), trace_id: str = OTHER, **said: Any) -> dict[str, Any]:
    """A span that judges another by a link, in a trace of its own."""
    link = {"traceId": of[0], "spanId": of[1]}
    return span("7a" * 8, trace_id=trace_id, links=[link], attributes=attributes({KIND: "EVALUATOR", **said}))


def event(of: tuple[str, str] = (TRACE, ROOT), **said: Any) -> dict[str, Any]:
    """A request with one log record, the GenAI event of a result by a person."""
    named = {"evaluator.type": "human", **said}
    record = {
        "eventName": "gen_ai.evaluation.result",
        "traceId": of[0],
        "spanId": of[1],
        "timeUnixNano": "3000000000",
        "attributes": attributes({f"gen_ai.evaluation.{name}": value for name, value in named.items()}),
    }
    return {"resourceLogs": [{"scopeLogs": [{"logRecords": [record]}]}]}


GROUNDED: dict[str, Any] = {"name": "groundedness", "score.label": "grounded", "evaluator.id": "ann"}
LINKED = result("trace.evaluations.0.evaluation", name="Groundedness", label="grounded", identifier="ann")


def test_a_label_on_the_answer(sender: Sender, store: Store) -> None:
    """A person's annotation of the outermost span is a label of its response, as an import of it makes it."""
    sender().post("/v1/traces", json=traces(annotated(**NOTE), finder()))
    settle_traces(store, Policy(), LATER)
    assert labels(store) == [LABEL]
    row = {
        "key": LABEL.key,
        "part": format_part(LABEL.part),
        "question": "support",
        "value": "supported",
        "annotator": "ann",
        "at": AT,
    }
    brought = label_import([row], store=store.url)
    assert (brought.new, brought.without_text) == (0, 0)
    assert line(store).people == "saved label: support"


@pytest.mark.parametrize("form", ["link", "log", "event"])
def test_other_forms(form: str, sender: Sender, store: Store) -> None:
    """A judge's span that links to the request, a log record and a span event make the same label."""
    client = sender()
    match form:
        case "link":
            client.post("/v1/traces", json=traces(chain(), finder()))
            client.post("/v1/traces", json=traces(judge(**LINKED)))
        case "log":
            client.post("/v1/traces", json=traces(chain(), finder()))
            client.post("/v1/logs", json=event(**GROUNDED))
        case _:
            record = event(**GROUNDED)["resourceLogs"][0]["scopeLogs"][0]["logRecords"][0]
            told = {"name": record["eventName"], "attributes": record["attributes"], "timeUnixNano": "3000000000"}
            client.post("/v1/traces", json=traces(chain(events=[told]), finder()))
    settle_traces(store, Policy(), LATER)
    assert labels(store) == [LABEL]
    if form == "link":
        said = line(store, OTHER)
        assert (said.outcome, said.reason) == ("filtered", "an evaluation")
        assert said.people == f"of trace {TRACE}: saved label: support"
        assert f"Human feedback: of trace {TRACE}: saved label: support." in str(find_trace(OTHER, store=store.url))
    assert "Human feedback: saved label: support." in str(find_trace(TRACE, store=store.url))


def settled(store: Store, *, keep_raw: bool = True) -> None:
    """All that came is read; then the raw batches go, as they do after a week, where they are not kept."""
    settle_traces(store, Policy(), LATER)
    if not keep_raw:
        store.inbox.delete_old(LATER, 0.0)


def later(store: Store, days: float) -> None:
    """What came so far came so many days ago."""
    ago = days * DAY_S
    with store._database.write() as connection:
        connection.execute(update(table).values(first=table.c.first - ago, last=table.c["last"] - ago))


@pytest.mark.parametrize("form", ["span again", "link", "log"])
@pytest.mark.parametrize("raw", ["kept", "gone", "forgotten"])
def test_days_later(form: str, raw: str, sender: Sender, store: Store) -> None:
    """Days after the answer, with its raw batches or without, with its line in the ledger or without, it is a label.

    The response stays as it is, with its scores, and nothing counts as late.
    """
    client = sender()
    client.post("/v1/traces", json=traces(chain(), finder()))
    settled(store, keep_raw=raw == "kept")
    before = held(store)
    run_id, column = line(store).run_id, Column("faithfulness", 1, None)
    (number,) = store.runs.load_order(run_id).numbers
    store.scores.write(run_id, (column,), [(number, (MetricResult("scored", 0.5),))])
    store.ledger.decide(store.ledger.list_waiting(run_id), "scored", timestamp=1.0)
    later(store, 3)
    if raw == "forgotten":
        store.inbox.delete_old(LATER, LATER)
        assert store.ledger.find_line(TRACE) is None
    match form:
        case "span again":  # as a tracing tool exports it once more; what else it says comes too late
            again = annotated(**NOTE, **{"output.value": "Now another answer."})
            client.post("/v1/traces", json=traces(again))
        case "link":
            client.post("/v1/traces", json=traces(judge(**LINKED)))
        case _:
            client.post("/v1/logs", json=event(**GROUNDED))
    settled(store)
    assert labels(store) == [LABEL]
    assert held(store) == before
    assert line(store).people == "saved label: support"
    assert line(store).run_id == run_id
    assert len(store.scores.find_complete(run_id, (column,))) == 1
    assert store.inbox.counts().late == 0
    if raw != "forgotten":
        assert line(store).outcome == "scored"


@pytest.mark.parametrize("days", [0, 3])
def test_what_says_nothing_changes_nothing(days: int, sender: Sender, store: Store) -> None:
    """A verdict that cannot be read leaves the response of a trace whose raw batches are gone as it is."""
    client = sender()
    client.post("/v1/traces", json=traces(chain(), finder()))
    settled(store, keep_raw=False)
    before, told = held(store), line(store)
    later(store, days)
    head = "evaluations.first.evaluation."
    said: dict[str, Any] = {f"{head}annotator_kind": "HUMAN", f"{head}name": "support"}
    client.post("/v1/traces", json=traces(judge(**said)))
    assert store.inbox.counts().waiting == 2
    settled(store)
    assert (held(store), line(store)) == (before, told)


def test_models_verdicts_have_nothing_read_again(sender: Sender, store: Store) -> None:
    """What models and code say of an answer makes its trace due no more; a person's verdict does."""
    client = sender()
    client.post("/v1/traces", json=traces(chain(), finder()))
    settled(store)
    for kind in ("LLM", "CODE"):
        model = {**LINKED, "trace.evaluations.0.evaluation.annotator_kind": kind}
        client.post("/v1/traces", json=traces(judge(**model)))
        later(store, 3)
        client.post("/v1/logs", json=event(**{**GROUNDED, "evaluator.type": kind}))
    assert [one.trace_id for one in store.inbox.list_due(LATER, 9)] == [OTHER]
    client.post("/v1/traces", json=traces(judge(**LINKED)))
    assert {one.trace_id for one in store.inbox.list_due(LATER, 9)} == {TRACE, OTHER}


def test_a_models_trace_is_told_to_make_no_label(sender: Sender, store: Store) -> None:
    """The line of a trace in which a model judges another says that this is no label, not that it is still to come."""
    client = sender()
    said = {**LINKED, "trace.evaluations.0.evaluation.annotator_kind": "LLM"}
    client.post("/v1/traces", json=traces(chain(), finder(), judge(**said)))
    settled(store)
    line = store.ledger.find_line(OTHER)
    assert line is not None
    assert line.people == f"of trace {TRACE}: from a model, code or an unnamed source, so not a label"
    assert labels(store) == []


def test_a_killed_server_repeats_nothing(sender: Sender, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker that ends between labels and ledger keeps neither, and the next one both, once."""
    client = sender()
    client.post("/v1/traces", json=traces(chain(), finder(), judge(**LINKED)))

    def ends(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(store.ledger, "write_people_notes", ends)
        with pytest.raises(KeyboardInterrupt):
            settled(store)
    assert (labels(store), held(store)) == ([], {})
    settled(store)
    assert labels(store) == [LABEL]


def test_means_are_rectified_by_them(sender: Sender, store: Store) -> None:
    """Of answers that were drawn to be labelled, people's verdicts by those instructions count as their labels do."""
    client = sender()
    client.post("/v1/traces", json=traces(chain(), finder()))
    settled(store)
    run_id = line(store).run_id
    (number,) = store.runs.load_order(run_id).numbers
    wanted = "4be01c92a7d3"
    store.draws.add(LabelDraw(run_id, "support", wanted, "random", "answer", {number: 1.0}, frozenset({number})))
    for guideline, known in (("0123456789ab", {}), (wanted, {number: 1.0})):
        note = {**LINKED, "trace.evaluations.0.evaluation.metadata": json.dumps({"guideline": guideline})}
        client.post("/v1/traces", json=traces(judge(**note)))
        settled(store)
        (people,) = load_people_scores(store, run_id)
        assert people.values.get("faithfulness", {}) == known


def test_a_verdict_that_comes_first(sender: Sender, store: Store) -> None:
    """A verdict whose answer has not come waits for it; until then its line says that there is no response."""
    client = sender()
    client.post("/v1/traces", json=traces(judge(**LINKED)))
    settled(store)
    assert labels(store) == []
    why = "no label: Groundedness (the trace has no stored response)"
    assert line(store, OTHER).people == f"of trace {TRACE}: {why}"
    assert (line(store).outcome, line(store).people) == ("filtered", why)
    client.post("/v1/traces", json=traces(chain(), finder()))
    settled(store)
    assert labels(store) == [LABEL]
    assert line(store, OTHER).people == f"of trace {TRACE}: saved label: support"


def test_what_comes_again_is_there_once(sender: Sender, store: Store) -> None:
    """The same verdict sent again, by whichever server it is read, is one label; a later one of the same person counts.

    A second person's stands beside it.
    """
    client = sender()
    client.post("/v1/traces", json=traces(chain(), finder()))
    for _ in range(2):
        client.post("/v1/traces", json=traces(judge(**LINKED)))
        settled(store)
        with open_store(store.url) as other:
            later(other, 0)
            settled(other)
    assert labels(store) == [LABEL]
    changed = {
        **judge(trace_id="34" * 16, **{**LINKED, "trace.evaluations.0.evaluation.label": "hallucinated"}),
        "endTimeUnixNano": "9000000000",
    }
    another = judge(trace_id="56" * 16, **{**LINKED, "trace.evaluations.0.evaluation.identifier": "bob"})
    client.post("/v1/traces", json=traces(changed, another))
    settled(store)
    assert [(one.annotator, one.value) for one in select_latest_labels(labels(store))] == [
        ("ann", "not_supported"),
        ("bob", "supported"),
    ]


NO_VALUE = "no label: faithfulness (the value is not valid)"


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ({"name": "faithfulness", "score": 0.5}, [("score:faithfulness", None, "0.5")]),
        ({"name": "Hallucination", "score": 1}, [("score:unsupported", None, "1")]),
        ({"name": "hallucination", "label": "factual", "score": 0}, [("support", None, "supported")]),
        ({"name": "hallucination", "label": "yes"}, [("support", None, "not_supported")]),
        ({"name": "hallucination", "label": "pass"}, [("support", None, "supported")]),
        ({"name": "answer_relevancy", "label": "irrelevant"}, [("address", None, "no")]),
        ({"name": "relevance", "score": 0.75}, [("score:answer_relevance", None, "0.75")]),
        ({"name": "refuse", "label": "yes"}, [("refuse", None, "yes")]),
        ({"name": "score:faithfulness", "score": 1}, [("score:faithfulness", None, "1")]),
        ({"name": "support", "label": "contradicted"}, [("support", None, "contradicted")]),
        ({"name": "groundedness", "label": "grounded", "annotator_kind": "LLM"}, ""),
        ({"name": "groundedness", "label": "grounded", "annotator_kind": "CODE"}, ""),
        ({"name": "toxicity", "score": 0.1}, "no label: toxicity (no metric or question has this name)"),
        ({"name": "latency", "score": 5}, "no label: latency (no metric or question has this name)"),
        ({"name": "faithfulness", "score": 5}, NO_VALUE),
        ({"name": "faithfulness", "explanation": "Mr Smith is wrong."}, NO_VALUE),
        ({"name": "faithfulness", "label": "Mr Smith is wrong."}, NO_VALUE),
        (
            {"name": "factual_correctness", "score": 1},
            "no label: factual_correctness (needs data that was not recorded)",
        ),
    ],
)
def test_names_and_values(said: dict[str, Any], found: Any, sender: Sender, store: Store) -> None:
    """Names are read as metrics or questions, words by their sense, and what nobody knows is said and never guessed."""
    sender().post("/v1/traces", json=traces(annotated(**result("annotations.0.annotation", **said)), finder()))
    settled(store)
    if isinstance(found, str):
        assert labels(store) == []
        assert line(store).people == found
    else:
        assert [(one.question, one.part, one.value) for one in labels(store)] == found
        assert line(store).people == f"saved label: {found[0][0]}"


def test_what_makes_no_label_is_counted(sender: Sender, store: Store) -> None:
    """The status says of how many traces people said something, and of how many of these something makes no label."""
    client, head = sender(), "annotations.1.annotation"
    assert store.ledger.people() == (0, 0, "")
    for n in range(3):
        trace_id, more = f"{n + 1:032x}", result(head, name="toxicity", score=1) if n else {}
        root = chain(trace_id=trace_id)
        root["attributes"] += attributes({**NOTE, **more})
        client.post("/v1/traces", json=traces(root, finder(trace_id=trace_id)))
    client.post("/v1/traces", json=traces(judge((f"{1:032x}", ROOT), **LINKED)))
    settled(store)
    assert store.ledger.people() == (3, 2, f"{3:032x}")
    said = str(build_traffic_status(store=store.url))
    assert "People judged 3 traces; for 2, some of the feedback is not usable as a label." in said
    assert f"ragauge monitor trace {3:032x}" in said


TWO = {"retrieval.documents.1.document.id": "b.md", "retrieval.documents.1.document.content": "Text of b.md."}


@pytest.mark.parametrize(
    ("metadata", "part"),
    [
        ({"document_position": 1}, 2),
        ({"document_position": 0}, 1),
        ({"document_id": "b.md"}, 2),
        ({}, None),
        ({"document_position": 2}, None),
        ({"document_id": "c.md"}, None),
    ],
)
def test_relevance_of_a_passage(metadata: dict[str, Any], part: int | None, sender: Sender, store: Store) -> None:
    """On a retriever's span relevance is of the passage that the metadata names, by place or id; of no other."""
    head = "annotations.0.annotation"
    said = result(head, name="relevance", label="unrelated", metadata=json.dumps({"annotator": "ann", **metadata}))
    sender().post("/v1/traces", json=traces(chain(), finder(**TWO, **said)))
    settled(store)
    if part is None:
        assert labels(store) == []
        assert line(store).people == "no label: relevance (the response does not have this passage)"
    else:
        key = build_label_key("relevance", QUESTION, [*TEXTS, "Text of b.md."], "")
        assert labels(store) == [Label(key, part, "relevance", "not_relevant", "ann", AT)]


def test_relevance_of_the_only_passage(sender: Sender, store: Store) -> None:
    """Of a search that found one passage, relevance is of that one."""
    said = result("evaluations.0.evaluation", name="Relevance", score=1)
    sender().post("/v1/traces", json=traces(chain(), finder(**said)))
    settled(store)
    assert [(one.question, one.part, one.value, one.annotator) for one in labels(store)] == [
        ("relevance", 1, "relevant", "")
    ]


@pytest.mark.parametrize(("name", "question"), [("relevance", None), ("groundedness", "support")])
def test_a_step_that_is_no_longer_kept(name: str, question: str | None, sender: Sender, store: Store) -> None:
    """Where a step's span is gone nobody can tell whether relevance is of a passage or the answer; support is clear."""
    client = sender()
    client.post("/v1/traces", json=traces(chain(), finder()))
    settled(store, keep_raw=False)
    later(store, 3)
    note = result("evaluations.0.evaluation", name=name, label="pass")
    client.post("/v1/traces", json=traces(judge((TRACE, CHILD), **note)))
    settled(store)
    assert [one.question for one in labels(store)] == ([question] if question else [])
    if question is None:
        assert line(store).people.startswith("no label: relevance (its span is missing")
    # the root is known by the response
    client.post("/v1/traces", json=traces(judge((TRACE, ROOT), "34" * 16, **note)))
    settled(store)
    assert {one.question for one in labels(store)} == {question or "address"}


def test_two_servers_keep_each_label_once(sender: Sender, store: Store) -> None:
    """Two processes that read answers and verdicts at once leave what one leaves, and tell it in both traces."""
    client = sender()
    ids = [(f"{n:032x}", f"{n + 1000:032x}") for n in range(1, 31)]
    for trace_id, review in ids:
        client.post("/v1/traces", json=traces(chain(trace_id=trace_id), finder(trace_id=trace_id)))
        client.post("/v1/traces", json=traces(judge((trace_id, ROOT), review, **LINKED)))

    def work(_: int) -> None:
        with open_store(store.url) as own:
            while settle_traces(own, Policy(), LATER, 7):
                pass

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(work, range(2)))
    assert labels(store) == [LABEL]  # all answers are the same text
    for trace_id, review in ids:
        assert line(store, trace_id).people == "saved label: support"
        assert line(store, review).people == f"of trace {trace_id}: saved label: support"


def test_turns_of_a_trace(sender: Sender, store: Store) -> None:
    """Of a trace with two requests each has its own labels, by the span that is judged, days later too."""
    turns = [chain(f"Answer {n}.", span_id=f"{n}a" * 8) for n in (1, 2)]
    found = [{**finder(parent=f"{n}a" * 8), "spanId": f"{n}b" * 8} for n in (1, 2)]
    client = sender()
    client.post("/v1/traces", json=traces(*turns, *found))
    settled(store)
    client.post("/v1/traces", json=traces(judge((TRACE, "2b" * 8), **result("evaluations.0.evaluation", **SUPPORTED))))
    settled(store)
    second = build_label_key("support", QUESTION, TEXTS, "Answer 2.")
    assert [one.key for one in labels(store)] == [second]
    store.inbox.delete_old(LATER, 0.0)
    later(store, 3)
    more = judge((TRACE, "1a" * 8), "34" * 16, **LINKED), judge(trace_id="56" * 16, **LINKED)
    client.post("/v1/traces", json=traces(*more))
    settled(store)
    assert {one.key for one in labels(store)} == {second, build_label_key("support", QUESTION, TEXTS, "Answer 1.")}
    assert line(store).people == "saved label: support; no label: Groundedness (it does not name a request)"


SUPPORTED = {"name": "support", "label": "supported"}
THUMBS: dict[str, Any] = {"name": "user_feedback", "label": "thumbs-down"}


@pytest.mark.parametrize("form", ["inner span", "link", "log"])
@pytest.mark.parametrize("days", [0, 3])
def test_feedback_comes_later(form: str, days: int, sender: Sender, store: Store) -> None:
    """What a user thinks later is the response's outcome, asks the judge where `always` says so, and costs no score."""
    client, policy = sender(), Policy(rate=1e-9, always=frozenset({"thumbs_down"}))
    inner = {**span("5a" * 8, ROOT, attributes=attributes({KIND: "LLM", "output.value": "14 days."}))}
    client.post("/v1/traces", json=traces(chain(), finder(), inner))
    settle_traces(store, policy, LATER)
    run_id, column = line(store).run_id, Column("faithfulness", 1, None)
    (number,) = store.runs.load_order(run_id).numbers
    store.scores.write(run_id, (column,), [(number, (MetricResult("scored", 0.5),))])
    assert (line(store).chance, store.runs.index(run_id, [number]).left_out().tolist()) == (1e-9, [True])
    later(store, days)
    match form:
        case "inner span":
            said = attributes(result("annotations.0.annotation", **THUMBS))
            client.post("/v1/traces", json=traces({**inner, "attributes": inner["attributes"] + said}))
        case "link":
            client.post("/v1/traces", json=traces(judge(**result("trace.annotations.0.annotation", **THUMBS))))
        case _:
            told: dict[str, Any] = {"name": "user_feedback", "score.label": "thumbs-down"}
            client.post("/v1/logs", json=event(**told))
    settle_traces(store, policy, LATER)
    assert held(store)[TRACE].outcome == {"user_feedback": "thumbs-down"}
    assert store.runs.load_order(run_id).numbers.tolist() == [number]
    assert len(store.scores.find_complete(run_id, (column,))) == 1
    assert store.runs.index(run_id, [number]).left_out().tolist() == [False]
    assert (line(store).chance, line(store).outcome) == (1.0, "to score")
    assert line(store).people == "feedback saved as the outcome"
    assert labels(store) == []


def test_a_judge_beside_the_answer_changes_nothing_of_it(sender: Sender, store: Store) -> None:
    """A judge's span in the trace itself, with a model's call inside, changes neither answer nor passages."""
    client = sender()
    bare = finder(parent="", **{"input.value": QUESTION})
    inside = span("8a" * 8, "7a" * 8, attributes=attributes({KIND: "LLM", "output.value": "It is grounded."}))
    client.post("/v1/traces", json=traces(bare))
    settled(store)
    before = held(store)
    client.post("/v1/traces", json=traces(judge((TRACE, CHILD), TRACE), inside))
    settled(store)
    assert held(store) == before


def test_text_of_annotators_stays_out(sender: Sender, store: Store) -> None:
    """Explanations are kept nowhere but in the raw batch, and what `redact` names or matches not even there."""
    redaction = Redaction(("annotations.*.explanation", "*.metadata"), (r"[\w.]+@[\w.]+",), "key")
    said = {"explanation": "Mr Smith says so.", "metadata": json.dumps({"email": "ann@b.c"}), "identifier": "ann@b.c"}
    note = result("annotations.0.annotation", name="groundedness", label="grounded", **said)
    sender(redaction).post("/v1/traces", json=traces(annotated(**note), finder()))
    settled(store)
    (label,) = labels(store)
    assert re.fullmatch(r"\[redacted:[0-9a-f]{12}\]", label.annotator)
    due = store.inbox.find_trace(TRACE)
    assert due is not None
    raw = b"".join(batch.body for _, batch in store.inbox.read(due.batches))
    assert b"grounded" in raw
    assert b"Mr Smith" not in raw
    assert b"ann@b.c" not in raw
