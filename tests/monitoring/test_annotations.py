"""What people say of answers in traces: labels of the responses, whenever and in whichever form it comes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from starlette.testclient import TestClient
from tests.data.spans import attributes
from tests.monitoring.conftest import ROOT, TRACE, span, traces
from tests.monitoring.test_settling import KIND, LATER, OTHER, chain, finder, line

from ragauge.api.label import label_import
from ragauge.api.traffic import trace
from ragauge.data.label import Label, label_key, part_text
from ragauge.monitoring.policy import Policy
from ragauge.monitoring.settling import settle
from ragauge.store.open import Store

Sender = Callable[..., TestClient]
QUESTION, ANSWER, TEXTS = "How long do refunds take?", "14 days.", ["Text of a.md."]
KEY = label_key("support", QUESTION, TEXTS, ANSWER)
AT = "1970-01-01T00:00:03+00:00"     # when spans of these tests end


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
        "eventName": "gen_ai.evaluation.result", "traceId": of[0], "spanId": of[1], "timeUnixNano": "3000000000",
        "attributes": attributes({f"gen_ai.evaluation.{name}": value for name, value in named.items()}),
    }  # fmt: skip
    return {"resourceLogs": [{"scopeLogs": [{"logRecords": [record]}]}]}


GROUNDED: dict[str, Any] = {"name": "groundedness", "score.label": "grounded", "evaluator.id": "ann"}
LINKED = result("trace.evaluations.0.evaluation", name="Groundedness", label="grounded", identifier="ann")


def test_a_label_on_the_answer(sender: Sender, store: Store) -> None:
    """A person's annotation of the outermost span is a label of its response, as an import of it makes it."""
    sender().post("/v1/traces", json=traces(annotated(**NOTE), finder()))
    settle(store, Policy(), LATER)
    assert labels(store) == [LABEL]
    row = {"key": LABEL.key, "part": part_text(LABEL.part), "question": "support", "value": "supported",
           "annotator": "ann", "at": AT}     # fmt: skip
    brought = label_import([row], store=store.url)
    assert (brought.new, brought.without_text) == (0, 0)
    assert line(store).people == "label kept: support"


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
    settle(store, Policy(), LATER)
    assert labels(store) == [LABEL]
    if form == "link":
        said = line(store, OTHER)
        assert (said.outcome, said.reason) == ("filtered", "an evaluation")
        assert said.people == f"of trace {TRACE}: label kept: support"
        assert f"By people: of trace {TRACE}: label kept: support." in str(trace(OTHER, store=store.url))
    assert "By people: label kept: support." in str(trace(TRACE, store=store.url))
