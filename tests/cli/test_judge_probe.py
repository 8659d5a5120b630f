"""`ragauge judge probe`: does the order of two answers matter to a judge?"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Cli
from tests.loopback.server import FaultyServer

pytestmark = pytest.mark.server
PAIRS = [
    {"query_id": f"p{n}", "query": f"How tall is tower {n}?",
     "answer_a": f"I like bridges {n}.", "answer_b": f"The tower {n} is {300 + n} metres tall.", "better": "b"}
    for n in range(6)
]  # fmt: skip


def first(_system: str, _user: str, _schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """A judge that favours whatever it is shown first."""
    return {"better": "First."}


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    path = tmp_path / "pairs.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in PAIRS))
    return path


@pytest.fixture
def server() -> Iterator[FaultyServer]:
    with FaultyServer() as running:
        yield running


def test_a_steady_judge(cli: Cli, pairs: Path, server: FaultyServer) -> None:
    """A judge that reads the answers prefers the same one in both orders, agrees with people, and is paid once."""
    words = ("judge", "probe", pairs, "--judge", f"openai-chat:any@{server.url}", "-q")
    planned = cli(*words, "--dry-run", "--json").json()
    assert (planned["pairs"], planned["calls"]) == (6, 12)
    found = cli(*words, "--json").json()
    assert (found["n"], found["decided"], found["calls"]) == (6, 6, 12)
    assert found["position_flip"]["mean"] == 0
    assert found["agreement"]["mean"] == 1
    assert found["first_place"]["mean"] is None
    again = cli(*words, "--json").json()
    assert (again["calls"], again["replies_reused"], len(server.requests)) == (0, 12, 12)
    assert cli(*words, "--dry-run", "--json").json()["calls"] == 0


def test_case_40_a_judge_that_favours_the_first_place(cli: Cli, pairs: Path) -> None:
    """A judge that takes what is shown first flips every pair, which makes every pair a tie and agrees with nobody."""
    with FaultyServer(reply=first) as server:
        words = ("judge", "probe", pairs, "--judge", f"openai-chat:any@{server.url}", "-q")
        found = cli(*words, "--json").json()
        shown = cli(*words).out
    assert found["position_flip"]["mean"] == found["first_place"]["mean"] == found["ties"]["mean"] == 1
    assert found["agreement"]["mean"] == 0
    assert found["flipped"] == [f"p{n}" for n in range(6)]
    assert "position_flip  1.00 [0.61, 1.00]  n 6  the order changed the verdict" in shown
    asked = [request.body["messages"][1]["content"] for request in server.requests]
    one = [text for text in asked if "tower 3?" in text]
    assert sorted(text.index("bridges") < text.index("metres") for text in one) == [False, True]


def test_what_cannot_be_probed_is_said(cli: Cli, pairs: Path, tmp_path: Path) -> None:
    """The local judge compares no answers; a row without a second answer is told with its line."""
    refused = cli("judge", "probe", pairs, "--judge", "local")
    assert refused.code == 2
    assert "compares no two answers" in refused.err
    lame = tmp_path / "lame.jsonl"
    lame.write_text(json.dumps(PAIRS[0]) + "\n" + json.dumps({"query": "Why?", "answer_a": "So."}) + "\n")
    told = cli("judge", "probe", lame, "--judge", "openai-chat:any@http://127.0.0.1:9/v1")
    assert told.code == 2
    assert "lame.jsonl line 2: no field 'answer_2'" in told.err
    odd = tmp_path / "odd.jsonl"
    odd.write_text(json.dumps({**PAIRS[0], "better": "seventh"}) + "\n")
    assert "better must be 1 or 2" in cli("judge", "probe", odd, "--judge", "openai-chat:any@http://127.0.0.1:9/v1").err


def test_faults_leave_pairs_undecided(cli: Cli, pairs: Path) -> None:
    """A reply that is no verdict is asked for once more, then the pair is undecided with its reason, in no share."""
    with FaultyServer({"prose": 1.0}) as server:
        found = cli("judge", "probe", pairs, "--judge", f"openai-chat:any@{server.url}", "-q", "--json").json()
    assert (found["n"], found["decided"]) == (6, 0)
    assert found["position_flip"]["mean"] is None
    assert set(found["undecided"]) == {f"p{n}" for n in range(6)}
    assert all(found["undecided"].values())
