"""kill -9 at any moment of writing a set: the same bytes in the end, and nothing paid twice but what was under way."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from tests.loopback.server import FaultyServer
from tests.testsets.writing_server import corpus, writing

ROOT = Path(__file__).resolve().parents[2]
CONCURRENCY = 4


def _command(server: FaultyServer, folder: Path, name: str, questions: int) -> list[str]:
    words = ["testset", "generate", str(folder / "pages.jsonl"), "-o", str(folder / f"{name}.jsonl"), "-n", questions]
    words += ["--model", f"openai-chat:any@{server.url}", "--types", "single=3,multi_hop=1", "--seed", 5, "-q"]
    words += ["--store", str(folder / f"{name}.db"), "--concurrency", CONCURRENCY, "--max-concurrency", CONCURRENCY]
    return [sys.executable, "-m", "ragauge", *map(str, words)]


def _started(words: list[str]) -> subprocess.Popen[bytes]:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src")])}
    return subprocess.Popen(words, env=environment, stdout=subprocess.DEVNULL)


@pytest.mark.prove
@pytest.mark.server
@pytest.mark.parametrize(("questions", "kills"), [(8, 2), pytest.param(24, 10, marks=pytest.mark.prove)])
def test_killed_at_any_moment(tmp_path: Path, questions: int, kills: int) -> None:
    """Each kill leaves no file; the next start asks again only what had no answer yet; the set is that of one run."""
    pages = (json.dumps({"_id": one.doc_id, "text": one.text}) + "\n" for one in corpus(40))
    (tmp_path / "pages.jsonl").write_text("".join(pages), encoding="utf-8")
    with FaultyServer(reply=writing(), latency=0.05) as server:
        assert _started(_command(server, tmp_path, "whole", questions)).wait(timeout=250) == 0
        asked = Counter(json.dumps(request.body, sort_keys=True) for request in server.requests)
        assert set(asked.values()) == {1}
        moments = sorted(random.Random(24).sample(range(1, len(asked)), kills))
        under_way: list[int] = []  # how many requests had come in when a process was gone
        server.requests.clear()  # the same server again: a set names the address of its model
        words = _command(server, tmp_path, "killed", questions)

        def bodies() -> list[str]:
            return [json.dumps(request.body, sort_keys=True) for request in server.requests]

        for moment in moments:
            process = _started(words)
            while process.poll() is None and len(set(bodies())) < moment:
                time.sleep(0.005)
            process.send_signal(signal.SIGKILL)
            assert process.wait() == -signal.SIGKILL
            under_way.append(len(server.requests))
            assert not (tmp_path / "killed.jsonl").exists()
        assert _started(words).wait(timeout=250) == 0
        seen = bodies()
    assert (tmp_path / "killed.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
    assert set(seen) == set(asked)
    for body, times in Counter(seen).items():
        places = [n for n, other in enumerate(seen) if other == body][: times - 1]
        for place in places:  # every earlier asking was among the last ones before a kill
            assert any(0 <= killed - 1 - place < 2 * CONCURRENCY for killed in under_way), place
    assert len(seen) - len(asked) < kills * CONCURRENCY
