"""Traffic of OpenTelemetry's own SDK with people's verdicts in three forms, through the server as it is started."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from opentelemetry._logs import LogRecord
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import SimpleLogRecordProcessor
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.trace import Link, NonRecordingSpan, SpanContext, Tracer, set_span_in_context
from tests.monitoring.serving import Server, waits
from tests.monitoring.test_service import told

from ragauge.core.label import select_latest_labels
from ragauge.labels.check.verb import check_judge
from ragauge.labels.label.verb import label_import
from ragauge.scores.judge_check import JudgeCheck
from ragauge.store.inbox import DAY_S
from ragauge.store.store_access import Store, open_store

KIND = "openinference.span.kind"
CONFIG = "monitor: {judge: none, metrics: [answer_tokens], sample: {rate: 100%}, wait: {ended: 1s, quiet: 2s}}"
TEXT = "Refunds of item {n} take {days} days after the parcel has come back to us."
PEOPLE = ("ann", "bob")


def grounded(n: int, who: str) -> bool:
    """Whether a person finds an answer supported: every second is, and of one in six the people differ."""
    return (n % 2 == 0) != (n % 6 == 5 and who == "bob")


def said(n: int, who: str) -> dict[str, Any]:
    """One result by a person, by the fields of OpenInference's."""
    word = "grounded" if grounded(n, who) else "hallucinated"
    return {"name": "groundedness", "label": word, "annotator_kind": "HUMAN", "identifier": who}


def results(head: str, n: int, people: tuple[str, ...]) -> dict[str, Any]:
    one = head.rsplit(".", 1)[-1].removesuffix("s")
    each = [(place, said(n, who)) for place, who in enumerate(people)]
    return {f"{head}.{place}.{one}.{name}": value for place, fields in each for name, value in fields.items()}


def ask(tracer: Tracer, n: int) -> SpanContext:
    """One request: a search and an answer, which the passage supports or not; a third is annotated at once."""
    days = 10 + n if n % 2 == 0 else 300 + n
    with tracer.start_as_current_span("ask") as root:
        root.set_attributes({KIND: "CHAIN", "input.value": f"How long do refunds of item {n} take?"})
        with tracer.start_as_current_span("search") as search:
            head = "retrieval.documents.0.document."
            search.set_attributes({KIND: "RETRIEVER", f"{head}id": f"{n}.md"})
            search.set_attribute(f"{head}content", TEXT.format(n=n, days=10 + n))
        root.set_attribute("output.value", f"Refunds of item {n} take {days} days.")
        if n % 3 == 0:
            root.set_attributes(results("annotations", n, PEOPLE))
        return root.get_span_context()


def judge(tracer: Tracer, provider: LoggerProvider, n: int, of: SpanContext) -> None:
    """The others are judged afterwards: by a span that links to the answer, or by log records."""
    if n % 3 == 1:
        with tracer.start_as_current_span("review", links=[Link(of)]) as span:
            span.set_attributes({KIND: "EVALUATOR", **results("trace.evaluations", n, PEOPLE)})
    elif n % 3 == 2:
        for who in PEOPLE:
            one, head = said(n, who), "gen_ai.evaluation."
            provider.get_logger("review").emit(
                LogRecord(
                    context=set_span_in_context(NonRecordingSpan(of)),
                    event_name=f"{head}result",
                    timestamp=1_700_000_000_000_000_000 + n,
                    attributes={
                        f"{head}name": one["name"],
                        f"{head}score.label": one["label"],
                        f"{head}evaluator.type": "human",
                        f"{head}evaluator.id": who,
                    },
                )
            )


def send(address: str, requests: int = 12) -> None:
    """Sends requests, and what people say of them."""
    resource = Resource({"service.name": "shop"})
    tracers, loggers = TracerProvider(resource=resource), LoggerProvider(resource=resource)
    tracers.add_span_processor(SimpleSpanProcessor(OTLPSpanExporter(endpoint=f"{address}/v1/traces")))
    loggers.add_log_record_processor(SimpleLogRecordProcessor(OTLPLogExporter(endpoint=f"{address}/v1/logs")))
    tracer = tracers.get_tracer("shop")
    asked = [ask(tracer, n) for n in range(requests)]
    for n, of in enumerate(asked):
        judge(tracer, loggers, n, of)
    tracers.shutdown()
    loggers.shutdown()


@pytest.mark.server
def test_what_people_say_of_traffic(served: Callable[..., Server], store: Store, tmp_path: Path) -> None:
    """Two people's verdicts on twelve answers, in three forms, are 24 labels of the day's run, whatever is restarted.

    `judge check` of the run finds by them what it finds by an import of the same labels.
    """
    config = tmp_path / "ragauge.yaml"
    config.write_text(CONFIG)
    server = served("--config", str(config))
    if (left := DAY_S - time.time() % DAY_S) < 30:  # all of it is one day's
        time.sleep(left)
    send(server.address)
    waits(lambda: len(list(store.labels.list())) == 24)
    waits(lambda: store.inbox.counts().waiting == 0)
    waits(lambda: {one.outcome: one.n for one in store.ledger.counts()} == {"scored": 12, "filtered": 4})
    assert server.end() == 0
    server = served("--config", str(config))
    assert server.end() == 0
    labels = list(store.labels.list())
    assert len(labels) == len(select_latest_labels(labels)) == 24
    (run,) = store.runs.list()
    by_key = {label.key: label for label in labels if label.annotator == "bob"}
    assert len(by_key) == 12
    found = check_judge(run.run_id, judge="local", store=store.url)
    assert (found.n_parts, dict(found.human), found.split) == (12, {"supported": 6, "not_supported": 4}, 2)
    review = next(one for one in store.ledger.load_page("filtered", limit=1)[0])
    assert "saved label: 2 × support" in told(store, "trace", review.trace_id)

    path, again = tmp_path / "labels.jsonl", tmp_path / "again.db"
    path.write_text("".join(f"{json.dumps(row(n))}\n" for n in range(12)))
    with closing(sqlite3.connect(store.url.removeprefix("sqlite:///"))) as connection:
        connection.execute("VACUUM INTO ?", (str(again),))
    url = f"sqlite:///{again}"
    with open_store(url) as other:
        with other._database.write() as connection:
            connection.exec_driver_sql("DELETE FROM labels")
        assert list(other.labels.list()) == []
        brought = label_import(path, store=url)
        assert (brought.read, brought.new, brought.without_text) == (24, 24, 0)
        assert {replace(one, at="") for one in labels} == set(other.labels.list())
    assert shown(check_judge(run.run_id, judge="local", store=url)) == shown(found)


def row(n: int) -> dict[str, Any]:
    """The same labels as a file has them: by the texts of the answer."""
    days = 10 + n if n % 2 == 0 else 300 + n
    return {
        "question": f"How long do refunds of item {n} take?",
        "answer": f"Refunds of item {n} take {days} days.",
        "passages": [TEXT.format(n=n, days=10 + n)],
        "labels": {who: said(n, who)["label"] for who in PEOPLE},
    }


def shown(check: JudgeCheck) -> tuple[Any, ...]:
    """What a check says of people, and of the judge against them."""
    judges = [one.whole for one in check.judges]
    return check.n_parts, check.human, check.split, check.annotators, check.ceiling, judges
