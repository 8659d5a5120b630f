"""`ragauge confirm` as people type it."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.conftest import Cli

APP = """
def number(query):
    return int(query.split()[1].strip(":"))

class Rag:
    def retrieve(self, query):
        n = number(query)
        found = n + 1 if n % 2 else n
        return [{"doc_id": f"d{found}", "text": f"The number is {found}."}, {"doc_id": "x", "text": "Trains run."}]
    def generate(self, query, passages):
        return "I do not know." if number(query) in (3, 4) else passages[0]["text"]

def plain(query):
    return "The number is 1."
"""


@pytest.fixture
def folder(cli: Cli, tmp_path: Path) -> Iterator[Path]:
    """A system that misses the document of odd numbers, and declines for 3 and 4; its run, evaluated."""
    (tmp_path / "odd_app.py").write_text(APP)
    rows = [
        {
            "query_id": f"q{n}",
            "query": f"question {n}: what is the number?",
            "reference_answer": f"The number is {n}.",
            "relevant": {f"d{n}": 1},
        }
        for n in range(6)
    ]
    (tmp_path / "set.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    documents = ({"doc_id": f"d{n}", "text": f"The number is {n}."} for n in range(6))
    (tmp_path / "corpus.jsonl").write_text("".join(json.dumps(one) + "\n" for one in documents))
    path = list(sys.path)
    assert cli("run", "odd_app:Rag", "set.jsonl", "--name", "odd", "--evaluate", "-q").code == 0
    yield tmp_path
    sys.path[:] = path
    sys.modules.pop("odd_app", None)


def test_inferred_and_confirmed_stand_side_by_side(cli: Cli, folder: Path) -> None:
    """The table counts by cause, both answers are listed; --json has the same for machines and asks nothing anew."""
    words = ("confirm", "odd", "--system", "odd_app:Rag", "--corpus", "corpus.jsonl", "-q")
    shown = cli(*words)
    assert (shown.code, "4 experiments, 4 answered now" in shown.out) == (0, True)
    assert "retrieval_miss" in shown.out
    assert "q3  retrieval_miss · swap in: refuted, no better with the changed passages: it declines" in shown.out
    assert "before: The number is 2.  (claim 1 contradicts the reference)\n  after:  The number is 1." in shown.out
    told = cli(*words, "--json").json()
    assert (told["asked"], told["experiments"]) == (0, 4)
    miss, refusal = told["causes"]["retrieval_miss"], told["causes"]["wrong_refusal"]
    assert (miss["inferred"], miss["experiments"], miss["confirmed"], miss["refuted"]) == (3, 3, 2, 1)
    assert miss["ci"][0] < miss["confirmed_share"] < miss["ci"][1]
    assert (refusal["component"], refusal["confirmed"]) == ("generation", 1)
    by_id = {one["query_id"]: one for one in told["examples"]}
    assert by_id["q1"]["passages"] == ["d1", by_id["q1"]["passages"][1]]
    assert (by_id["q1"]["before"]["grade"], by_id["q1"]["after"]["grade"]) == ("wrong", "right")


def test_refusals_say_what_to_do(cli: Cli, folder: Path) -> None:
    """A system without a way to take passages is a usage error that says what to give it; so is an unknown run."""
    refused = cli("confirm", "odd", "--system", "odd_app:plain")
    assert (refused.code, "methods retrieve(query) and generate(query, passages)" in refused.err) == (2, True)
    unknown = cli("confirm", "even", "--system", "odd_app:Rag")
    assert (unknown.code, "odd" in unknown.err) == (2, True)


def test_latest_stays_the_run_that_was_confirmed(cli: Cli, folder: Path) -> None:
    """After confirm, latest is the system's own run still, not the experiments on it."""
    assert cli("confirm", "latest", "--system", "odd_app:Rag", "--corpus", "corpus.jsonl", "-q").code == 0
    assert {row["name"] for row in cli("runs", "--json").json()} == {"odd", "odd-confirm"}
    assert cli("show", "latest", "--json").json()["name"] == "odd"
    logged = cli("runs", "log")
    assert (logged.code, "odd" in logged.out, "odd-confirm" in logged.out) == (0, True, False)
    assert cli("show", "odd-confirm", "--json").json()["name"] == "odd-confirm"
