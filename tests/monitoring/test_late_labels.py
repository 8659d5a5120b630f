"""Labels that come after their trace was evaluated: verdicts, causes, pages and counts are those of an import."""

from __future__ import annotations

import json
import re
import signal
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.testclient import TestClient
from tests.data.spans import attributes
from tests.monitoring.conftest import CHILD, ROOT, span, traces
from tests.monitoring.serving import PATIENCE, Server, waits
from tests.monitoring.test_annotations import GROUNDED, LABEL, event, later
from tests.monitoring.test_settling import KIND, LATER, chain, finder, line

from ragauge.core.label import Label
from ragauge.core.verdict import ExampleVerdict
from ragauge.labels.label.verb import label_import
from ragauge.monitoring.policy import Policy
from ragauge.monitoring.traffic.trace_assembly import settle_traces
from ragauge.monitoring.traffic.traffic_scorer import LabelDecisions, TrafficScorer
from ragauge.store.store_access import Store, open_store

CONFIG = "monitor: {metrics: [faithfulness], sample: {rate: 100%}, wait: {ended: 1s, quiet: 2s}}"
# number of an answer -> what a person says of it; odd ones the judge finds unsupported; the last has the texts of 0
SAID: dict[int, dict[str, Any]] = {
    0: {"name": "groundedness", "score.label": "hallucinated"},
    1: {"name": "groundedness", "score.label": "grounded"},
    2: {"name": "faithfulness", "score.value": 0.0},
    3: {"name": "faithfulness", "score.value": 1.0},
}
N, EQUAL = 7, 6
POLICY = Policy(metrics=("faithfulness",))
SHOWN = 5.0  # seconds in which the list's means are made anew
# forms' secrets, moments, and how far the last evaluation was: of one trace or of all
PASSING = re.compile(r'name="csrf" value="[^"]*"|\d{4}-\d\d-\d\dT[\d:.]+|"(?:to_evaluate|evaluated)": \d+')


def trace_id(n: int) -> str:
    return f"{n + 1:032x}"


def texts(n: int) -> tuple[str, str, str]:
    """Question, answer and passage of a request."""
    item = 0 if n == EQUAL else n
    days = 10 + item if item % 2 == 0 else 300 + item
    passage = f"Refunds of item {item} take {10 + item} days after the parcel has come back to us."
    return f"How long do refunds of item {item} take?", f"Refunds of item {item} take {days} days.", passage


def asked(n: int) -> list[dict[str, Any]]:
    """The spans of a request."""
    query, answer, passage = texts(n)
    root = {KIND: "CHAIN", "input.value": query, "output.value": answer}
    head = "retrieval.documents.0.document."
    child = {KIND: "RETRIEVER", f"{head}id": "a.md", f"{head}content": passage}
    return [
        span(trace_id=trace_id(n), attributes=attributes(root)),
        span(CHILD, ROOT, trace_id(n), attributes=attributes(child)),
    ]


def decided(store: Store) -> dict[tuple[str, str | None], tuple[ExampleVerdict, str]]:
    """(query_id, judge) -> verdict and name of the cause."""
    results: dict[tuple[str, str | None], tuple[ExampleVerdict, str]] = {}
    for run in store.runs.list():
        items = store.runs.load(store.runs.load_order(run.run_id).numbers)
        names = {item.response_no: item.response.query_id for item in items}
        for judge in (None, *store.scores.judges(run.run_id)):
            causes = dict(store.causes.read(run.run_id, judge))
            for number, verdict in store.verdicts.read(run.run_id, judge):
                cause = causes.get(number)
                results[names[number], judge] = verdict, "" if cause is None else str(cause)
    return results


def copy_of(store: Store, path: Path) -> str:
    """The URL of a copy of a store as it is now."""
    with closing(sqlite3.connect(store.url.removeprefix("sqlite:///"))) as connection:
        connection.execute("VACUUM INTO ?", (str(path),))
    return f"sqlite:///{path}"


def pages(server: Server, run_id: str) -> dict[str, str]:
    """Path -> what the server shows, without what differs from one server and moment to the next."""
    paths = [f"/runs/{run_id}.json", f"/runs/{run_id}", "/runs.json"]
    paths += [f"/runs/{run_id}/examples/{trace_id(n)}" for n in range(N)]
    texts = {path: httpx.get(server.address + path, timeout=PATIENCE).raise_for_status().text for path in paths}
    return {path: PASSING.sub("", text) for path, text in texts.items()}


@pytest.mark.server
@pytest.mark.parametrize("days", [0, 3])
def test_late_labels_change_the_answer(days: int, served: Callable[..., Server], store: Store, tmp_path: Path) -> None:
    """Labels sent after the evaluation decide as an import of the same: verdict, cause, list, report and pages.

    They say wrong of two answers that had passed, and right of two that had failed; a trace of equal texts changes too.
    """
    config = tmp_path / "ragauge.yaml"
    config.write_text(CONFIG)
    server = served("--config", str(config))
    assert server.post(traces(*(one for n in range(N) for one in asked(n)))) == 200
    waits(lambda: {one.outcome: one.n for one in store.ledger.counts()} == {"scored": N})
    waits(lambda: any(one["means"] for one in httpx.get(f"{server.address}/runs.json", timeout=PATIENCE).json()))
    before = decided(store)
    if days:
        later(store, days)
    other = copy_of(store, tmp_path / "imported.db")
    for n, said in SAID.items():
        sent = json.dumps(event((trace_id(n), ROOT), **said, **{"evaluator.id": "ann"})).encode()
        assert server.send("/v1/logs", sent, "application/json") == 200
    waits(lambda: len(list(store.labels.list())) == len(SAID) and not store.labels.load_queued_decisions())
    label_import([row_of(label) for label in store.labels.list()], store=other)
    after = decided(store)
    with open_store(other) as opened:
        assert decided(opened) == after
    judge = max(name or "" for _, name in after)
    verdicts = {n: (before[trace_id(n), judge][0].verdict, after[trace_id(n), judge][0].verdict) for n in range(N)}
    same, wrong, right = ("passed", "passed"), ("passed", "failed"), ("failed", "passed")
    assert verdicts == {0: wrong, 1: right, 2: wrong, 3: right, 4: same, 5: ("failed", "failed"), EQUAL: wrong}

    (run,) = store.runs.list()
    waits(lambda: {one.outcome: one.n for one in store.ledger.counts()} == {"scored": N})
    time.sleep(SHOWN)
    live = pages(server, run.run_id)
    assert server.end() == 0
    for file in tmp_path.glob("store.db*"):
        file.unlink()
    (tmp_path / "imported.db").rename(tmp_path / "store.db")
    server = served("--config", str(config))
    brought = pages(server, run.run_id)
    for path, text in live.items():
        assert text == brought[path], path
    assert server.end() == 0


@pytest.mark.server
def test_a_server_killed_once_the_label_is_there(served: Callable[..., Server], store: Store, tmp_path: Path) -> None:
    """A server that is killed as soon as it has kept a label decides by it after its next start."""
    config = tmp_path / "ragauge.yaml"
    config.write_text(CONFIG)
    server = served("--config", str(config))
    assert server.post(traces(*asked(1))) == 200
    waits(lambda: {one.outcome: one.n for one in store.ledger.counts()} == {"scored": 1})
    assert verdict_now(store) == "failed"
    sent = json.dumps(event((trace_id(1), ROOT), **SAID[1], **{"evaluator.id": "ann"})).encode()
    assert server.send("/v1/logs", sent, "application/json") == 200
    waits(lambda: len(list(store.labels.list())) == 1)
    server.end(signal.SIGKILL)
    server = served("--config", str(config))
    waits(lambda: not store.labels.load_queued_decisions())
    assert (verdict_now(store), len(list(store.labels.list()))) == ("passed", 1)
    assert server.end() == 0


def row_of(label: Label) -> dict[str, Any]:
    """A label as a file has it."""
    names = ("key", "question", "value", "annotator", "at")
    return {**{name: getattr(label, name) for name in names}, "part": ""}


def evaluated(sender: Callable[..., TestClient], store: Store) -> TrafficScorer:
    """A trace whose answer its passage says nothing of, scored by the local judge; what scored it."""
    sender().post("/v1/traces", json=traces(chain(), finder()))
    settle_traces(store, POLICY, LATER)
    scorer = TrafficScorer(store, POLICY, print)
    assert scorer.score() == 1
    return scorer


def verdict_now(store: Store) -> str:
    """The verdict of the judge on the only response."""
    return next(verdict.verdict for (_, judge), (verdict, _) in decided(store).items() if judge)


def test_a_killed_decision_is_made_again(
    sender: Callable[..., TestClient], store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker that ends between label and decision loses nothing, and what was decided is not decided again."""
    evaluated(sender, store)
    before = verdict_now(store)
    later(store, 3)
    sender().post("/v1/logs", json=event(**GROUNDED))
    settle_traces(store, POLICY, LATER)
    assert (list(store.labels.list()), verdict_now(store)) == ([LABEL], before)
    (numbers,) = store.labels.load_queued_decisions().values()

    def ends(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(store.verdicts, "write", ends)
        with pytest.raises(KeyboardInterrupt):
            LabelDecisions(store).run_once()
    assert verdict_now(store) == before
    with open_store(store.url) as again:
        assert LabelDecisions(again).run_once() == len(numbers) == 1
        assert (verdict_now(again), again.labels.load_queued_decisions()) == ("passed", {})
        assert before != "passed"
        sender().post("/v1/logs", json=event(**GROUNDED))  # the same again
        settle_traces(again, POLICY, LATER)
        assert LabelDecisions(again).run_once() == 0


def test_an_evaluation_under_way(sender: Callable[..., TestClient], store: Store) -> None:
    """While a run is evaluated its labels decide at once, and once more after it, since it may not know them."""
    evaluated(sender, store)
    before = decided(store)
    sender().post("/v1/logs", json=event(**GROUNDED))
    settle_traces(store, POLICY, LATER)
    changed: list[str] = []
    decisions, run_id = LabelDecisions(store, changed.append), line(store).run_id
    with store.lock_run(run_id):
        assert (decisions.run_once(), decisions.run_once()) == (1, 0)
        assert verdict_now(store) == "passed"
        (number,) = store.runs.load_order(run_id).numbers  # it ends with a verdict that does not know the label
        for (_, judge), (verdict, _) in before.items():
            store.verdicts.write(run_id, judge, {number: verdict})
        assert verdict_now(store) != "passed"
    assert (decisions.run_once(), decisions.run_once()) == (1, 0)
    assert verdict_now(store) == "passed"
    assert changed == [run_id, run_id]
