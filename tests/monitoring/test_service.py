"""The server as it is started: taken in, read, scored, told; and real exporters that send to it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.testclient import TestClient
from tests.data.test_traces import EXPECTED
from tests.monitoring.conftest import TRACE, traces
from tests.monitoring.serving import PATIENCE, Server, waits
from tests.monitoring.test_settling import LATER, chain, finder, line
from typer.testing import CliRunner

from ragauge.cli.main import app
from ragauge.core.errors import UnknownName
from ragauge.monitoring.policy import Policy
from ragauge.monitoring.traffic.trace_assembly import settle_traces
from ragauge.monitoring.traffic.traffic_scorer import TrafficScorer
from ragauge.store.store_access import Store, open_store

ROOT = Path(__file__).resolve().parents[2]
RECORD = ROOT / "tools/golden/record_traces.py"
FREE = Policy(judge="none", metrics=("latency", "empty_result_rate"))
OTHER = "12" * 16


def test_scored_as_any_run(sender: Callable[..., TestClient], store: Store) -> None:
    """Responses of traffic are scored as any run's; every trace has its last word, and asking again does nothing."""
    client = sender()
    client.post("/v1/traces", json=traces(chain(), finder()))
    client.post("/v1/traces", json=traces(chain(trace_id=OTHER), finder(trace_id=OTHER)))
    settle_traces(store, FREE, LATER)
    scorer = TrafficScorer(store, FREE, print)
    assert scorer.score() == 2
    assert (line(store).outcome, line(store, OTHER).outcome) == ("scored", "scored")
    assert scorer.score() == 0
    frame = store.scores.load_frame(line(store).run_id, None)
    assert sorted(frame.filter(frame["metric"] == "latency")["value"]) == [2000.0, 2000.0]
    client.post("/v1/traces", json=traces(finder("b.md")))
    settle_traces(store, FREE, LATER)
    assert scorer.score() == 1
    assert len(store.scores.load_frame(line(store).run_id, None)) == len(frame)


def test_another_server_scores_the_run(sender: Callable[..., TestClient], store: Store) -> None:
    """While one server scores a run another leaves it alone, so that nothing is asked twice."""
    sender().post("/v1/traces", json=traces(chain(), finder()))
    settle_traces(store, FREE, LATER)
    scorer = TrafficScorer(store, FREE, print)
    with store.lock_run(f"{line(store).run_id} free"):
        assert scorer.score() == 0
    assert line(store).outcome == "to score"
    assert scorer.score() == 1


@pytest.mark.server
def test_taken_in_scored_and_told(served: Callable[..., Server], store: Store) -> None:
    """A trace sent to the server is scored by the local judge, seconds later; commands and dashboard say so."""
    server = served()
    assert server.post(traces(chain("Refunds take 14 days."), finder())) == 200
    waits(lambda: (found := store.ledger.find_line(TRACE)) is not None and found.outcome == "scored")
    run_id = line(store).run_id
    card = httpx.get(f"{server.address}/runs/{run_id}.json", timeout=PATIENCE).json()
    assert card["metrics"]["faithfulness"]["scored"] == 1
    said = told(store, "trace", TRACE.upper())
    assert "scored" in said
    assert f"ragauge show {run_id} {TRACE}" in said
    assert "1 response in run bot" in said
    assert "weight 1; 100 % of such traces go to the judge" in said
    assert json.loads(told(store, "status", "--json"))["traffic"]["days"][0]["outcomes"] == {"scored": 1}
    assert server.end() == 0
    assert len(server.told) == 4  # where, what is read and judged and how exporters find it, and no complaint


def told(store: Store, *words: str) -> str:
    """What a command prints."""
    return CliRunner().invoke(app, ["monitor", *words, "--store", store.url], catch_exceptions=False).stdout


def test_a_trace_that_never_came(store: Store) -> None:
    """The id of no trace is an error that says where to look."""
    with pytest.raises(UnknownName, match="No part of it has arrived: check the exporter's endpoint"):
        told(store, "trace", "f" * 32)


def exported(served: Callable[..., Server], store: Store, exporters: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Exporter -> question -> (documents, answer): what the store holds of the pipeline that each of them sent."""
    server = served()
    sent = [subprocess.Popen([sys.executable, "-W", "ignore", str(RECORD), name, server.address]) for name in exporters]
    assert [one.wait(PATIENCE) for one in sent] == [0] * len(sent)
    server.end()
    with open_store(store.url) as again:
        settle_traces(again, FREE, LATER)
        found: dict[str, dict[str, Any]] = {}
        for run in again.runs.list():  # two of a system where midnight passed
            found.setdefault(run.system, {}).update(
                {
                    example.query: (sorted({p.doc_id for p in response.passages or ()}), response.answer)
                    for example, response in again.runs.pairs(run.run_id)
                }
            )
        return found


@pytest.mark.prove
@pytest.mark.server
def test_real_exporters(served: Callable[..., Server], store: Store) -> None:
    """LangChain by OpenInference, and the Langfuse SDK, send one pipeline; it is one response a question, and equal."""
    found = exported(served, store, ("openinference-langchain", "langfuse"))
    expected = {query: (sorted(ids), answer) for query, (ids, answer) in EXPECTED.items()}
    assert found == {"openinference-langchain": expected, "langfuse": expected}


@pytest.mark.prove
def test_every_real_exporter(served: Callable[..., Server], store: Store) -> None:
    """Six exporters of four frameworks send one pipeline; whoever sends it, the responses are equal.

    But where nothing is found LlamaIndex asks no model, and answers with words of its own.
    """
    exporters = (
        "haystack",
        "langfuse",
        "openinference-haystack",
        "openinference-langchain",
        "openinference-llamaindex",
        "openllmetry-langchain",
    )
    found = exported(served, store, exporters)
    expected = {query: (sorted(ids), answer) for query, (ids, answer) in EXPECTED.items()}
    own = {query: (ids, answer if ids else "Empty Response") for query, (ids, answer) in expected.items()}
    assert found == dict.fromkeys(exporters, expected) | {"openinference-llamaindex": own}
