"""The reference system with a language model as its generator, over a model server, from end to end."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.loopback.server import FaultyServer

import ragauge as rg
from ragauge.core.errors import JudgeError, UnknownName, UsageError
from ragauge.core.response import Passage, Response
from ragauge.engine.systems import build_system
from ragauge.store.store_access import open_store
from ragauge.systems.base import Question, SystemTrouble
from ragauge.systems.reference.extractive import REFUSAL

pytestmark = pytest.mark.server
SET = (
    {
        "query_id": "hub",
        "query": "How long can a hub be returned?",
        "reference_answer": "Within 30 days.",
        "relevant": ["hub"],
        "answerable": True,
    },
    {"query_id": "king", "query": "Who is the king of Norway?", "answerable": False},
)


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    """Two pages, and a set with one question that they answer and one that they do not."""
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "hub.md").write_text("# Hub\n\nA hub can be returned within 30 days of delivery.\n")
    (tmp_path / "pages" / "pairing.md").write_text("# Pairing\n\nPairing takes two minutes.\n")
    (tmp_path / "set.jsonl").write_text("".join(json.dumps(row) + "\n" for row in SET))
    return tmp_path


def clerk(system: str, user: str, schema: Mapping[str, Any]) -> str:
    """Cites the numbered passage that holds the answer, where it is asked for it."""
    found = re.search(r"\[(\d)\][^\[]*30 days", user)
    if "returned" not in user.rpartition("Question: ")[2] or found is None:
        return "The documents do not say."
    return f"A hub can be returned within 30 days [{found.group(1)}]."


def settings(server: FaultyServer, **more: Any) -> dict[str, Any]:
    return {"generator": "model", "model": f"openai-chat:any@{server.url}", **more}


def asked(
    server: FaultyServer, pages: Path, query: str, passages: tuple[Passage, ...] | None = None, **more: Any
) -> Response:
    async def ask() -> Response:
        system = build_system(f"reference:{pages / 'pages'}", settings(server, **more))
        try:
            return await system.respond(Question("q", query), passages)
        finally:
            await system.close()

    return asyncio.run(ask())


def test_run_and_evaluate(pages: Path) -> None:
    """The command line answers through the model, keeps citations and tokens, and evaluates in one go."""
    with FaultyServer(reply=clerk) as server:
        (pages / "system.json").write_text(json.dumps({"system": settings(server, rerank="overlap", k=2)}))
        done = subprocess.run(
            [
                sys.executable,
                "-m",
                "ragauge",
                "run",
                "reference:pages",
                "set.jsonl",
                "--system-config",
                "system.json",
                "--evaluate",
                "-m",
                "recall@5,faithfulness,refusal_correctness",
                "--judge",
                "local",
                "--store",
                "sqlite:///store.db",
                "--json",
                "--quiet",
            ],
            capture_output=True,
            text=True,
            check=False,
            cwd=pages,
            env=os.environ | {"NO_COLOR": "1"},
            timeout=250,
        )
    assert done.returncode == 0, done.stderr
    metrics = json.loads(done.stdout)["evaluation"]["metrics"]
    assert metrics["recall@5"]["mean"] == 1.0
    assert metrics["faithfulness"]["mean"] == pytest.approx(0.97)  # copies, by a judge with probabilities
    assert metrics["refusal_correctness"]["mean"] == 1.0
    with open_store(f"sqlite:///{pages}/store.db") as store:
        (run,) = store.runs.list()
        assert run.config["generator"] == "model"
        assert "max_sentences" not in run.config
        found = {response.query_id: response for _, response in store.runs.pairs(run.run_id)}
    hub = found["hub"]
    assert hub.answer is not None
    (citation,) = hub.citations or ()
    assert (citation.start, citation.end) == (0, len(hub.answer))
    assert citation.target.startswith("hub#")
    assert hub.tokens["input"] > 100
    assert set(hub.latency_ms) == {"retrieval", "rerank", "generation", "total"}
    assert (found["king"].answer, found["king"].citations) == (REFUSAL, ())


def test_failures_are_the_systems(pages: Path) -> None:
    """Broken replies are tried again by the run; where none comes, the question's error says of what kind."""
    store = f"sqlite:///{pages}/store.db"
    target = f"reference:{pages / 'pages'}"
    with FaultyServer(reply=clerk, faults={"server": 0.5, "rate_limited": 0.3}, seed=3, once=True) as server:
        config = settings(server)
        run = rg.run(target, str(pages / "set.jsonl"), settings=config, store=store)
        assert (run.counts.answered, run.counts.failed) == (2, {})
        assert server.met["server"] + server.met["rate_limited"] > 0
    with FaultyServer(reply=clerk, faults={"too_long": 1.0}) as server, pytest.raises(SystemTrouble) as caught:
        asked(server, pages, "How long can a hub be returned?")
    assert caught.value.kind == "refused"
    assert "too_long" in str(caught.value)


def test_variants(pages: Path) -> None:
    """Handed passages are what the model sees and what is recorded; without any it refuses, or is asked alone."""
    handed = (Passage("gold", "hub", "Returned goods are taken for 30 days."),)
    with FaultyServer(reply=clerk) as server:
        found = asked(server, pages, "How long can a hub be returned?", handed)
        assert (found.passages, found.candidates) == (handed, None)
        assert [citation.target for citation in found.citations or ()] == ["gold"]
        closed = asked(server, pages, "How long can a hub be returned?", ())
        assert (closed.passages, closed.answer) == ((), REFUSAL)
        asked(server, pages, "How long can a hub be returned?", (), without_passages="answer")
        users = [request.body["messages"][-1]["content"] for request in server.requests]
    assert users[-1] == "Question: How long can a hub be returned?"
    assert "(no passage was found)" in users[-2]


def test_a_price_gives_a_cost(pages: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the model's price is known, the response has its cost: 1 dollar a token in, 2 a token out here."""
    with FaultyServer(reply=clerk) as server:
        assert asked(server, pages, "How long can a hub be returned?").cost is None
        rates = {"openai-chat:any": {"input": 1_000_000, "output": 2_000_000}}
        (pages / "prices.json").write_text(json.dumps(rates))
        monkeypatch.setenv("RAGAUGE_PRICES", str(pages / "prices.json"))
        found = asked(server, pages, "How long can a hub be returned?")
    assert found.cost == found.tokens["input"] + 2 * found.tokens["output"]


def test_what_cannot_be_made_is_said(pages: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A generator without its model, settings of the other one and an unknown provider are told before a question."""
    target = f"reference:{pages / 'pages'}"
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(UsageError, match="needs a model"):
        build_system(target, {"generator": "model"})
    with pytest.raises(UsageError, match="model needs generator: model"):
        build_system(target, {"model": "openai:gpt-4.1-mini"})
    with pytest.raises(UsageError, match="refuse_below needs generator: extractive"):
        build_system(target, {"generator": "model", "model": "openai:any", "refuse_below": 0.1})
    with pytest.raises(UnknownName, match="nearest: model"):
        build_system(target, {"generator": "modell"})
    with pytest.raises(UnknownName, match="nearest: openai"):
        build_system(target, {"generator": "model", "model": "opnai:gpt"})
    with pytest.raises(JudgeError, match="OPENAI_API_KEY"):
        build_system(target, {"generator": "model", "model": "openai:gpt-4.1-mini"})
