"""`ragauge testset prepare`: claims of references and aspects of questions, once."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Cli, ten, write
from tests.loopback.answers import answer
from tests.loopback.server import FaultyServer

from ragauge.readers.source import read_set

pytestmark = pytest.mark.server
ROOT = Path(__file__).resolve().parents[2]


def spec(server: FaultyServer, more: str = "") -> str:
    return f"openai-chat:any@{server.url}{more}"


def split_by_and(system: str, user: str, schema: Any) -> Any:
    """Claims cut at "and", one aspect that names the question: recognisable from sentences."""
    found = dict(answer(system, user, schema))
    if set(found) == {"claims", "aspects"}:
        found["claims"] = [part.strip() for claim in found["claims"] for part in claim.split(" and ")]
        found["aspects"] = [f"part of: {aspect}" for aspect in found["aspects"]]
    return found


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    """Three questions: a reference of two facts, none, and one that is prepared already."""
    return write(
        tmp_path / "set.jsonl",
        [
            {
                "query_id": "a",
                "query": "How tall?",
                "reference_answer": "It is tall and it is old.",
                "tags": ["golden"],
            },
            {"query_id": "b", "query": "Where is it?"},
            {
                "query_id": "c",
                "query": "Why?",
                "reference_answer": "Because.",
                "reference_claims": ["mine"],
                "aspects": ["why"],
            },
        ],
    )


def test_a_model_writes_claims_and_aspects_once(cli: Cli, questions: Path) -> None:
    """Every example that lacks them gets both; what was there stays; the same again is answered from the store."""
    with FaultyServer(reply=split_by_and) as server:
        words = ("testset", "prepare", questions, "--judge", spec(server), "-q", "-o")
        done = cli(*words, "out/ready.jsonl")
        assert done.code == 0, done.err
        assert len(server.requests) == 2
        again = cli(*words, "again.jsonl", "--json").json()
        assert len(server.requests) == 2
    assert (again["calls"], again["replies_reused"], again["prepared"], again["ready_before"]) == (0, 2, 2, 1)
    assert Path("out/ready.jsonl").read_text() == Path("again.jsonl").read_text()
    first, second, third = read_set("out/ready.jsonl").examples
    assert first.reference_claims == ("It is tall", "it is old.")
    assert first.aspects == ("part of: How tall?",)
    assert first.tags == {"golden"}
    assert (second.reference_claims, second.aspects) == (None, ("part of: Where is it?",))
    assert (third.reference_claims, third.aspects) == (("mine",), ("why",))
    assert "prepared 2 of 3 examples, 1 already prepared" in done.out
    assert "ragauge evaluate out/ready.jsonl RESPONSES" in done.out


def test_local_takes_sentences_and_says_so(cli: Cli, questions: Path) -> None:
    """Without a model the sentences of the reference are its claims; no call is made, and what is lacking is said."""
    done = cli("testset", "prepare", questions, "-o", "ready.jsonl")
    assert done.code == 0
    assert "sentences" in done.out
    assert "--judge openai:MODEL" in done.out
    first, second, third = read_set("ready.jsonl").examples
    assert first.reference_claims == ("It is tall and it is old.",)
    assert (first.aspects, second.reference_claims, third.reference_claims) == (None, None, ("mine",))
    planned = cli("testset", "prepare", questions, "-o", "x.jsonl", "--dry-run", "--json").json()
    assert (planned["calls"], planned["cost"]) == (0, 0.0)


def test_a_prepared_set_is_what_runs_are_judged_by(cli: Cli, tmp_path: Path) -> None:
    """Runs on the prepared set use its claims: the reference of two facts counts two."""
    row = ten()[0] | {"reference_answer": "The tower is 330 metres tall and it is in Rome."}
    write(tmp_path / "one.jsonl", [row])
    with FaultyServer(reply=split_by_and) as server:
        cli("testset", "prepare", "one.jsonl", "-o", "ready.jsonl", "--judge", spec(server), "-q")
        words = ("evaluate", "ready.jsonl", "one.jsonl", "-q", "-m", "context_recall", "--judge", spec(server))
        assert cli(*words, "--json").json()["metrics"]["context_recall"]["mean"] == 0.5


def test_a_question_may_have_its_own_model(cli: Cli, questions: Path) -> None:
    """A spec that names a model for prepare has it asked; a hybrid judge asks its model."""
    with FaultyServer() as server, FaultyServer() as other:
        own = f",prepare={spec(other)}"
        assert cli("testset", "prepare", questions, "-o", "a.jsonl", "--judge", spec(server, own), "-q").code == 0
        assert (len(server.requests), len(other.requests)) == (0, 2)
        hybrid = f"hybrid:{spec(server)}"
        assert cli("testset", "prepare", questions, "-o", "a.jsonl", "--judge", hybrid, "-q").code == 0
        assert len(server.requests) == 2


def test_dry_run_and_bound(cli: Cli, questions: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A dry run counts calls and asks nothing; a bound stops before it, writes no file, and the rest is resumable."""
    (tmp_path / "prices.yaml").write_text("openai-chat:any: {input: 1000, output: 2000}\n")
    monkeypatch.setenv("RAGAUGE_PRICES", str(tmp_path / "prices.yaml"))
    write(tmp_path / "many.jsonl", [{"query_id": f"q{n}", "query": f"What is {n}?"} for n in range(30)])
    with FaultyServer() as server:
        words = ["testset", "prepare", "many.jsonl", "-o", "ready.jsonl", "--judge", spec(server), "-q"]
        planned = cli(*words, "--dry-run", "--json").json()
        assert (planned["calls"], planned["to_do"], server.requests) == (30, 30, [])
        assert planned["cost"] > 0
        assert "30 calls to a model" in cli(*words, "--dry-run").out
        stopped = cli(*words, "--max-cost", "9", "--concurrency", "1")
        assert stopped.code == 130
        assert "ready.jsonl was not written" in stopped.err
        assert "To resume: ragauge testset prepare" in stopped.err
        assert not Path("ready.jsonl").exists()
        paid = len(server.requests)
        assert 0 < paid < 30
        assert cli(*words, "--dry-run", "--json").json()["calls"] == 30 - paid
        done = cli(*words, "--json").json()
        assert (done["calls"], done["replies_reused"], len(server.requests)) == (30 - paid, paid, 30)
    assert len(read_set("ready.jsonl").examples) == 30


def test_failures_are_listed_and_left_as_they_were(cli: Cli, tmp_path: Path) -> None:
    """What the provider filters is listed with its reason and left as it was; the others are ready."""
    write(
        tmp_path / "many.jsonl",
        [{"query_id": f"q{n}", "query": f"What is {n}?", "reference_answer": f"It is {n}."} for n in range(20)],
    )
    with FaultyServer({"content_filter": 0.4}, seed=3) as server:
        words = ("testset", "prepare", "many.jsonl", "-o", "ready.jsonl", "--judge", spec(server), "-q")
        done = cli(*words)
        failed = cli(*words, "--json").json()["failed"]
        filtered = server.met["content_filter"]
    assert 0 < len(failed) == filtered < 20
    assert f"{filtered} could not be prepared" in done.out
    for name, why in failed.items():
        assert "filter" in why
        assert f"{name}: " in done.out
    for example in read_set("ready.jsonl").examples:
        assert (example.aspects is None) == (example.query_id in failed)
        assert (example.reference_claims is None) == (example.query_id in failed)


def test_replies_that_are_no_lists_are_asked_for_once_more(cli: Cli, questions: Path) -> None:
    """Prose and cut JSON are asked again, once; with faults everywhere it fails, and nothing is made up."""
    with FaultyServer({"prose": 1.0}, schema_modes=("prompted",)) as server:
        done = cli("testset", "prepare", questions, "-o", "r.jsonl", "--judge", spec(server), "-q", "--json").json()
        assert set(done["failed"]) == {"a", "b"}
    assert read_set("r.jsonl").examples[0].reference_claims is None
    with FaultyServer({"cut_json": 1.0}, once=True) as server:
        done = cli("testset", "prepare", questions, "-o", "r.jsonl", "--judge", spec(server), "-q", "--json").json()
        assert (done["failed"], done["prepared"], len(server.requests)) == ({}, 2, 4)


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["set.jsonl", "-o", "ready.csv"], 2, "expected a file that ends in .jsonl"),
        (["set.jsonl", "-o", "set.jsonl"], 2, "is the input set"),
        (["nowhere.jsonl", "-o", "r.jsonl"], 2, "there is no such file"),
        (["set.jsonl", "-o", "r.jsonl", "--judge", "opnai:x"], 2, "nearest: openai"),
        (["set.jsonl", "-o", "r.jsonl", "--judge", "openai:gpt-x"], 1, "OPENAI_API_KEY"),
        (["set.jsonl", "-o", "r.jsonl", "--judge", "openai-chat:x@http://h/v1", "--max-cost", "1"], 1, "the price of"),
    ],
)
def test_what_cannot_be_is_one_line(
    cli: Cli, questions: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], code: int, told: str
) -> None:
    """A wrong word or a missing key is one line, and no file is written."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    before = questions.read_text()
    done = cli("testset", "prepare", *words, "-q")
    assert done.code == code
    assert told in done.err
    assert done.err.count("\n") == 1
    assert not Path("r.jsonl").exists()
    assert questions.read_text() == before


def test_kill_pays_once(questions: Path, tmp_path: Path) -> None:
    """Killed in the middle, the next start asks only what was in flight, and writes the whole set."""
    write(questions, [{"query_id": f"q{n}", "query": f"What is {n}?"} for n in range(60)])
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    with FaultyServer(latency=0.05) as server:
        words = [
            sys.executable,
            "-m",
            "ragauge",
            "testset",
            "prepare",
            str(questions),
            "-o",
            "ready.jsonl",
            "-q",
            "--judge",
            spec(server),
            "--concurrency",
            "4",
            "--max-concurrency",
            "4",
        ]
        process = subprocess.Popen(words, cwd=tmp_path, env=environment, stderr=subprocess.PIPE, stdout=subprocess.PIPE)
        while process.poll() is None and len(server.requests) < 20:
            time.sleep(0.005)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert not (tmp_path / "ready.jsonl").exists()
        subprocess.run(words, cwd=tmp_path, env=environment, check=True, capture_output=True)
        texts = [json.dumps(request.body["messages"]) for request in server.requests]
    assert len(set(texts)) == 60
    assert len(texts) <= 64
    assert len(read_set(tmp_path / "ready.jsonl").examples) == 60
