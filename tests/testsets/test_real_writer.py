"""A set is written by a real model behind a real llama.cpp server: the whole path, from folder to checked file."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.engine.llama_server import absent, serving
from tests.testsets.writing_server import corpus

pytestmark = [pytest.mark.server, pytest.mark.prove, absent]


def _ragauge(*words: object) -> tuple[int, dict[str, Any]]:
    command = [sys.executable, "-m", "ragauge", *map(str, words), "--json", "-q"]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=280, env=os.environ | {"NO_COLOR": "1"}
    )
    assert done.returncode in (0, 3, 4), done.stderr
    return done.returncode, json.loads(done.stdout)


def _written(folder: Path) -> tuple[bytes, bytes]:
    """The set, b"" where no question was kept and it was not written; and what was rejected."""
    path = folder / "set.jsonl"
    return path.read_bytes() if path.exists() else b"", folder.joinpath("no.jsonl").read_bytes()


def test_a_real_model_writes_a_set(tmp_path: Path) -> None:
    """Whatever a tiny model writes: each question is kept, rejected by a named filter or unwritten, with its reason.

    Asked again it costs nothing. What is in the set has its quotation where its gold span says, and a check of it finds
    it intact.
    """
    folder = tmp_path / "docs"
    folder.mkdir()
    for page in corpus(2):
        folder.joinpath(f"{page.doc_id}.md").write_text(page.text, encoding="utf-8")
    with serving() as url:
        words = (
            "testset",
            "generate",
            folder,
            "-o",
            tmp_path / "set.jsonl",
            "-n",
            1,
            "--types",
            "single=1",
            "--model",
            f"openai-chat:smollm2@{url}",
            "--judge",
            "local",
            "--rejected",
            tmp_path / "no.jsonl",
            "--store",
            tmp_path / "s.db",
            "--concurrency",
            2,
        )
        code, found = _ragauge(*words)
        before = _written(tmp_path)
        _, again = _ragauge(*words)
    assert found["calls"] >= 1
    assert again["calls"] == 0
    assert before == _written(tmp_path)
    kept = [json.loads(line) for line in before[0].decode().splitlines()]
    rejected = [json.loads(line) for line in before[1].decode().splitlines()]
    single = found["types"]["single"]
    assert len(kept) == found["examples"] == single["kept"]
    reasons = single["rejected"] | single["unwritten"]
    assert len(rejected) == sum(reasons.values())
    assert kept or rejected
    assert (code == 4) is (not kept)
    assert bool(single["ended"]) is (not kept)
    for row in rejected:
        assert row["meta"]["note"].partition(":")[0] in reasons
    for row in kept:
        (span, *_), text = row["gold_spans"], folder.joinpath(f"{row['gold_spans'][0]['doc_id']}.md").read_text()
        assert text[span["start"] : span["end"]] == row["meta"]["anchors"][0]["quote"]
    if kept:
        _, checked = _ragauge("testset", "check", tmp_path / "set.jsonl", "--corpus", folder)
        assert checked["counts"] == {"intact": len(kept)}
