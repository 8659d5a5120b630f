"""The page on running systems does what it says: its files and commands are taken from it and run."""

from __future__ import annotations

import asyncio
import os
import re
import runpy
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml
from tests.docs.pages import taken
from tests.loopback.service import FlakyService

from ragauge.systems.base import Kind, Question, System
from ragauge.systems.http import SETTINGS
from ragauge.systems.system_lookup import find_system

PAGE = (Path(__file__).resolve().parents[2] / "docs/systems.md").read_text()
MODULE, PROGRAM, ADAPTER = (block.text for block in taken("docs/systems.md", "python"))
(COMMANDS,) = taken("docs/systems.md", "console", 0)
(GOLDEN,), (SERVICE,) = taken("docs/systems.md", "json"), taken("docs/systems.md", "yaml")


@pytest.mark.prove
def test_five_minutes_with_a_function(tmp_path: Path) -> None:
    """The function, the set and every command of the first section run as they stand; so does its Python."""
    (tmp_path / "my_app.py").write_text(MODULE)
    (tmp_path / "golden.jsonl").write_text(GOLDEN.text)
    (tmp_path / "program.py").write_text(PROGRAM)
    environment = {key: value for key, value in os.environ.items() if not key.startswith("RAGAUGE")}
    commands = [[sys.executable, "-m", *shlex.split(line)] for line in COMMANDS.commands]
    out = [
        subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True).stdout
        for words in [*commands, [sys.executable, "program.py"]]
    ]
    assert "2 of 2 questions: 2 answered" in out[0]
    assert "recall@5" in out[2]
    assert out[3].split("\n")[:2] == ["2 {}", "1.0"]


def test_five_minutes_with_a_service(monkeypatch: pytest.MonkeyPatch) -> None:
    """The settings of the second section send what they say and read the reply that they describe."""
    monkeypatch.setenv("SUPPORT_TOKEN", "swordfish-9")
    settings = yaml.safe_load(SERVICE.text)["system"]
    hits = [{"id": "faq-1", "body": "Within 30 days.", "similarity": 0.9}]
    reply = {"data": {"text": "30 days.", "hits": hits}, "usage": {"prompt": 20, "completion": 4}}
    with FlakyService(respond=lambda _: reply) as service:
        system = find_system(service.url, settings)
        found = asyncio.run(_asked(system))
        (request,) = service.requests
    assert (request.body, request.headers["authorization"]) == (
        {"question": "How long?", "top_k": 5},
        "Bearer swordfish-9",
    )
    assert (system.name, found.answer, found.tokens) == ("support-bot", "30 days.", {"input": 20, "output": 4})
    assert [(one.doc_id, one.text, one.score) for one in found.passages or ()] == [("faq-1", "Within 30 days.", 0.9)]


async def _asked(system: System) -> Any:
    try:
        return await system.respond(Question("q1", "How long?"))
    finally:
        await system.close()


def test_adapter_of_ones_own(tmp_path: Path) -> None:
    """The adapter of the last section is a system that can do every variant."""

    class Client:
        async def ask(self, query: str, texts: list[str] | None) -> str:
            return f"{query} {texts}"

    (tmp_path / "adapter.py").write_text(ADAPTER)
    system = find_system(runpy.run_path(str(tmp_path / "adapter.py"))["Mine"](Client()))
    system.check_variant("oracle")
    assert asyncio.run(_asked(system)).answer == "How long? None"


def test_every_setting_and_kind_of_failure_is_on_the_page() -> None:
    """Each setting of a service and each kind of failure stands on the page in code."""
    for name in (*SETTINGS, *get_args(Kind)):
        assert re.search(rf"`{name}`|\b{name}:", PAGE) or f"`{name}" in PAGE, name
