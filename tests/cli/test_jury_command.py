"""`--judge jury:A+B+C` through the command line: every member is asked and paid once, and the report says who sat."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Cli
from tests.loopback.answers import answer
from tests.loopback.server import FaultyServer

ROWS = [
    {
        "query_id": f"q{n}",
        "query": f"What of thing{n}?",
        "answer": f"Thing{n} weighs{n} seven{n} tons{n} today{n}.",
        "passages": [f"Thing{n} weighs{n} seven{n} tons{n} today{n}. Also more."],
    }
    for n in range(6)
]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Six answers that copy their passages."""
    path = tmp_path / "answers.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return path


def strict(system: str, user: str, schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Finds support nowhere."""
    said = json.loads(json.dumps(answer(system, user, schema)))
    for sentence in said.get("sentences", []):
        for claim in sentence.get("claims", []):
            claim |= {"verdict": "absent", "by": []}
    return dict(said)


@pytest.fixture
def servers() -> Iterator[tuple[FaultyServer, FaultyServer]]:
    """A judge that compares words, and one that supports nothing."""
    with FaultyServer() as fair, FaultyServer(reply=strict) as harsh:
        yield fair, harsh


def members(servers: tuple[FaultyServer, FaultyServer]) -> str:
    return "+".join(["local", *(f"openai-chat:m{n}@{server.url}" for n, server in enumerate(servers))])


@pytest.mark.server
def test_members_are_counted_asked_and_kept(cli: Cli, file: Path, servers: tuple[FaultyServer, FaultyServer]) -> None:
    """A dry run counts the calls of all members; they are made once; two of three decide, p is their share."""
    words = ["evaluate", file, "--judge", f"jury:{members(servers)}", "-m", "faithfulness", "-q", "--json"]
    assert cli(*words, "--dry-run").json()["calls"] == 12
    assert [len(server.requests) for server in servers] == [0, 0]
    card = cli(*words).json()
    assert [len(server.requests) for server in servers] == [6, 6]
    assert card["metrics"]["faithfulness"]["mean"] == pytest.approx(2 / 3)
    assert cli(*words, "--dry-run").json()["calls"] == 0
    cli(*words)
    assert [len(server.requests) for server in servers] == [6, 6]
    note = cli("report", "latest", "-o", "r.md")
    assert note.code == 0
    assert "A jury of 3 judges: local; openai-chat:m0" in Path("r.md").read_text()


@pytest.mark.server
def test_a_member_that_is_down_is_outvoted(cli: Cli, file: Path, servers: tuple[FaultyServer, FaultyServer]) -> None:
    """Where two members agree the third one's failure leaves no example failed."""
    fair, harsh = servers
    harsh.reply = lambda system, user, schema: {"nothing": "of use"}
    spec = f"jury:local+openai-chat:m0@{fair.url}+openai-chat:m1@{harsh.url}"
    card = cli("evaluate", file, "--judge", spec, "-m", "faithfulness", "-q", "--json").json()
    found = card["metrics"]["faithfulness"]
    assert (found["mean"], found["scored"], found["failed"]) == (1.0, 6, 0)
