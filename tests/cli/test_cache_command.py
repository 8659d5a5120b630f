"""`ragauge store cache`: replies listed, removed, and carried to another store."""

from __future__ import annotations

import gzip
import json
import sqlite3
from pathlib import Path

import pytest
from tests.cli.conftest import Cli
from tests.loopback.server import FaultyServer

pytestmark = pytest.mark.server
METRICS = "faithfulness,context_precision"


@pytest.fixture
def judge(cli: Cli, small: Path) -> str:
    """A judge whose replies to the ten examples are stored; its server is gone, so that a call would fail."""
    with FaultyServer() as server:
        spec = f"openai-chat:any@{server.url}"
        assert cli("evaluate", small, "-q", "-m", METRICS, "--judge", spec).code == 0
    return spec


def counts(cli: Cli) -> dict[str, int]:
    return {row["question"]: row["replies"] for row in cli("store", "cache", "list", "--json").json()}


def test_empty_cache_says_how_to_fill_it(cli: Cli) -> None:
    """A store without replies says so, and is an empty list as JSON."""
    assert "No replies are stored yet" in cli("store", "cache", "list").out
    assert cli("store", "cache", "list", "--json").json() == []
    assert cli("store", "cache", "prune").err == "removed 0 stored replies\n"


def test_list(cli: Cli, judge: str) -> None:
    """Replies are listed by model and question with number, size and age; the sums stand below."""
    rows = cli("store", "cache", "list", "--json").json()
    # nine of the ten examples have passages recorded, q3 an empty list: nothing to rate; every answer is verified
    assert {row["question"]: row["replies"] for row in rows} == {"rate_passages": 8, "verify_answer": 10}
    assert {row["model"] for row in rows} == {judge}
    assert all(row["bytes"] > 1_000 and row["failed"] == 0 and row["first"] <= row["last"] for row in rows)
    shown = cli("store", "cache", "list").out
    assert "18" in shown.splitlines()[-2]
    assert cli("store", "cache", "list").out == shown


def test_prune_asks_first(cli: Cli, judge: str) -> None:
    """Nothing is removed without --yes or an answer; the question says how many."""
    done = cli("store", "cache", "prune", "--question", "rate_passages")
    assert done.code == 1
    assert "Remove 8 stored replies?" in done.err
    assert counts(cli)["rate_passages"] == 8
    done = cli("store", "cache", "prune", "--question", "rate_passages", "--yes", "--json")
    assert done.json() == {"removed": 8}
    assert counts(cli) == {"verify_answer": 10}
    assert cli("store", "cache", "prune", "--model", judge, "-y", "--json").json() == {"removed": 10}


def test_prune_by_date_and_failure(cli: Cli, judge: str) -> None:
    """--before removes older replies, in whatever zone the time is written; --failed those without a verdict."""
    assert judge
    with sqlite3.connect(".ragauge/ragauge.db") as connection:
        connection.execute("UPDATE replies SET at = '2026-01-31T12:00:00.000+00:00' WHERE question = 'rate_passages'")
        connection.execute("UPDATE replies SET failed = 1 WHERE reply_no = (SELECT min(reply_no) FROM replies)")
    connection.close()
    assert cli("store", "cache", "prune", "--before", "2026-01-31", "-y", "--json").json() == {"removed": 0}
    assert cli("store", "cache", "prune", "--before", "2026-01-31T13:00+02:00", "-y", "--json").json() == {"removed": 0}
    assert cli("store", "cache", "prune", "--failed", "-y", "--json").json() == {"removed": 1}
    left = counts(cli)["rate_passages"]
    assert cli("store", "cache", "prune", "--before", "2026-02-01", "-y", "--json").json() == {"removed": left}


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["prune", "--question", "rate_passage"], "nearest: rate_passages"),
        (["prune", "--model", "openai:other"], "no stored reply from the model 'openai:other'"),
        (["prune", "--before", "yesterday"], "expected a date such as 2026-01-31, got 'yesterday'"),
        (["export", "replies.csv"], "expected a file that ends in .jsonl"),
        (["import", "nowhere.jsonl"], "no such file"),
        (["--store", "x.db", "list"], "No such option"),
    ],
)
def test_wrong_words_change_nothing(cli: Cli, judge: str, words: list[str], told: str) -> None:
    """What cannot be done is one line with what to write, exit code 2, and removes nothing."""
    assert judge
    done = cli("store", "cache", *words, *(["-y"] if words[0] == "prune" else []))
    assert done.code == 2
    assert told in done.err
    assert sum(counts(cli).values()) == 18


@pytest.mark.parametrize("name", ["replies.jsonl", "replies.jsonl.gz"])
def test_another_store_pays_nothing(cli: Cli, judge: str, name: str) -> None:
    """Replies exported from one store and imported into another give the same scores there without a call."""
    first = cli("report", "--json").json()
    assert cli("store", "cache", "export", name, "--json").json() == {"path": name, "replies": 18}
    assert cli("store", "cache", "import", name, "--store", "other.db", "--json").json() == {
        "added": 18,
        "already_there": 0,
    }
    assert (
        cli("store", "cache", "import", name, "--store", "other.db").err == "added 0 replies; 18 were already stored\n"
    )
    done = cli("evaluate", "ten.jsonl", "-q", "-m", METRICS, "--judge", judge, "--store", "other.db", "--json").json()
    assert done["metrics"] == first["metrics"]
    assert (done["took"]["calls"], done["took"]["replies_reused"]) == (0, 18)


def test_damaged_files_are_refused_whole(cli: Cli, judge: str) -> None:
    """A file with a line that was changed, or is no JSON, is refused by that line, and none of it is kept."""
    assert judge
    cli("store", "cache", "export", "good.jsonl.gz")
    lines = gzip.decompress(Path("good.jsonl.gz").read_bytes()).decode().splitlines()
    changed = json.loads(lines[2])
    changed["ask"]["attempt"] = 9
    damage = {json.dumps(changed): "reply 3: its key", "{": "line 3: is not valid JSON", "7": "expected an object"}
    for third, told in damage.items():
        Path("bad.jsonl").write_text("\n".join([*lines[:2], third, *lines[3:]]))
        done = cli("store", "cache", "import", "bad.jsonl", "--store", "other.db")
        assert done.code == 2
        assert "bad.jsonl" in done.err
        assert told in done.err
        assert cli("store", "cache", "list", "--store", "other.db", "--json").json() == []
