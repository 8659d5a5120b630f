"""A project built with LangChain, from its first command to its traffic."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import pytest
from tests.projects.conftest import begun
from tests.projects.journey_contract import JourneyContract


class TestLangChain(JourneyContract):
    framework: ClassVar[str] = "langchain"
    name: ClassVar[str] = "qa"
    asks: ClassVar[str] = "NAME.invoke(question)"


@pytest.mark.slow
def test_an_improvement_on_twenty_questions_passes(tmp_path: Path) -> None:
    """The gate that init writes for twenty questions is green where a change finds what five of them had missed."""
    shell = begun(tmp_path / "project", "langchain", "graph")
    search = shell.folder / "search.py"
    whole = search.read_text()
    search.write_text(whole + "\nfor one in list(DOCUMENTS)[:5]:\n    del DOCUMENTS[one]\n")
    shell.ragauge("init", "-q")
    shell.ragauge("baseline", "set", "latest")
    search.write_text(whole)
    shell.ragauge("run", "ragauge_system:system", "golden.jsonl", "--evaluate", "-q")
    gate = shell.ragauge("gate", "latest", "--baseline", "main", code=0)
    assert "0.750 → 1.000" in gate.stdout
