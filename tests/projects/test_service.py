"""A service whose reply is nested and names its parts in its own way, from its first command to its traffic."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import pytest
from tests.projects.conftest import begun
from tests.projects.journey_contract import JourneyContract
from tests.projects.shell import Shell

SETTINGS = """system:
  name: shop
  body: {question: "{{query}}"}
  answer: $.data.reply.text
  passages: $.data.contexts
  scores: $.relevance
"""


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[Shell, str]]:
    """The project with its service running, and the URL that answers."""
    shell = begun(tmp_path / "project", "service", "graph")
    with subprocess.Popen(
        [sys.executable, "shop.py"], cwd=shell.folder, env=shell.environment, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        yield shell, f"http://127.0.0.1:{server.stdout.readline().strip()}/v1/complete"
        server.terminate()


@pytest.mark.prove
def test_the_running_service_is_asked(served: tuple[Shell, str]) -> None:
    """By its URL, with the places of its parts in a file: answers, contexts and their scores arrive as they are."""
    shell, url = served
    (shell.folder / "service.yaml").write_text(SETTINGS)
    words = ("--system-config", "service.yaml", "--evaluate", "-m", "recall@5,faithfulness", "--json", "-q")
    metrics = json.loads(shell.ragauge("run", url, "golden.jsonl", *words).stdout)["evaluation"]["metrics"]
    assert metrics["recall@5"]["mean"] == 1.0
    assert metrics["faithfulness"]["scored"] == 20


class TestService(JourneyContract):
    framework: ClassVar[str] = "service"
    name: ClassVar[str] = "graph"
    asks: ClassVar[str] = 'shop.complete(shop.Body(question))["data"]["reply"]["text"]'
