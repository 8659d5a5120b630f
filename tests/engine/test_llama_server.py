"""A real model behind a real llama.cpp server judges: real HTTP, real structured output, a real error."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.engine.llama_server import absent, serving

from ragauge.core.score import STATUSES
from ragauge.store.store_access import open_store

pytestmark = [pytest.mark.server, pytest.mark.prove, absent]
METRICS = "faithfulness,context_precision"
ROWS = [
    {
        "query_id": "short",
        "query": "How long is the trial?",
        "answer": "The trial lasts 30 days.",
        "passages": ["The trial lasts 30 days. It is free.", "Accounts close after a year without use."],
    },
    {
        "query_id": "long",
        "query": "How many halls are there?",
        "answer": "There are nine halls.",
        "passages": [" ".join(f"Hall {n} stands on the north bank and holds {n + 3} desks." for n in range(400))],
    },
]


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """The base URL of a llama.cpp server with SmolLM2-135M."""
    with serving() as address:
        yield address


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """What a command of ragauge printed."""
    return subprocess.run(
        [sys.executable, "-m", "ragauge", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"NO_COLOR": "1"},
        timeout=200,
    )


def evaluated(url: str, folder: Path) -> dict[str, Any]:
    """What `ragauge evaluate --json` prints, with every score."""
    file, scores = folder / "rows.jsonl", folder / "scores.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    store = f"sqlite:///{folder}/store.db"
    done = run(
        "evaluate",
        str(file),
        "-m",
        METRICS,
        "--judge",
        f"openai-chat:smollm2@{url}",
        "--store",
        store,
        "--concurrency",
        "2",
        "--json",
        "--quiet",
        "-o",
        str(scores),
    )
    if done.returncode == 1 and "gave no verdict on any of" in done.stderr:
        done = run("report", "latest", "--store", store, "--json", "-o", str(scores))
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    lines = [json.loads(line) for line in scores.read_text().splitlines()]
    return found | {"scores": {line["query_id"]: line["scores"] for line in lines}}


def test_a_real_model_judges(url: str, tmp_path: Path) -> None:
    """Whatever a tiny model says, every example has a defined status; a prompt too long says so; again costs no call.

    The schema is given natively, and every reply that ended holds JSON of that schema.
    """
    first = evaluated(url, tmp_path)
    for name in METRICS.split(","):
        counts = first["metrics"][name]
        assert sum(counts[status] for status in STATUSES) == len(ROWS), counts
        assert {first["scores"][row["query_id"]][name]["status"] for row in ROWS} <= set(STATUSES)
    for name in METRICS.split(","):
        long = first["scores"]["long"][name]
        assert (long["status"], long["value"]) == ("failed", None)
        assert "too_long" in long["reason"]
        assert "context size" in long["reason"]
    with open_store(f"sqlite:///{tmp_path}/store.db") as store:
        lines = list(store.replies.iter_lines())
        outcomes = {(one.question, one.paid.failed > 0) for one in store.calls.spent()}
        paid = sum(one.paid.calls for one in store.calls.spent())
    assert ("verify_answer", True) in outcomes
    assert {line["reply"]["sent"]["schema"] for line in lines} == {"native"}
    ended = [line for line in lines if line["reply"].get("finish") == "stop"]
    assert ended
    for line in ended:
        assert set(json.loads(line["reply"]["text"])) == set(line["ask"]["schema"]["required"])
        assert line["reply"]["usage"]["input_tokens"] > 100

    again = evaluated(url, tmp_path)
    assert again["scores"] == first["scores"]
    with open_store(f"sqlite:///{tmp_path}/store.db") as store:
        assert sum(one.paid.calls for one in store.calls.spent()) == paid
