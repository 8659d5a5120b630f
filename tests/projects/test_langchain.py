"""A project built with LangChain, from its first command to its traffic."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import pytest
from tests.projects.apps import break_retriever
from tests.projects.conftest import Walked, begun
from tests.projects.journey_contract import JourneyContract


class TestLangChain(JourneyContract):
    framework: ClassVar[str] = "langchain"
    name: ClassVar[str] = "qa"
    asks: ClassVar[str] = "NAME.invoke(question)"

    def test_the_comparison_says_so(self, walked: Walked) -> None:
        """The comparison names recall as what fell."""
        assert "recall@5" in walked.shell.ragauge("compare", "main", walked.broken).stdout

    def test_a_run_against_itself_is_no_pass(self, walked: Walked) -> None:
        """The gate of a run against itself says so, and is not green."""
        done = walked.shell.ragauge("gate", walked.broken, "--baseline", walked.broken, code=4)
        assert "this run itself" in done.stdout

    def test_the_workflow_stops_a_broken_retriever(self, tmp_path: Path) -> None:
        """The workflow that init wrote, step by step: its gate is red for a broken retriever."""
        shell = begun(tmp_path / "project", self.framework, self.name)
        shell.ragauge("init", "--no-evaluate", "-q")
        base = shell.commit("the system and its gate")
        break_retriever(shell.folder)
        head = shell.commit("a retriever that is broken")
        codes = shell.workflow(base, head)
        assert codes == {
            "Evaluate the base branch": 0,
            "Evaluate this change": 0,
            "Gate": 3,
            "ragauge report change -o report.html": 0,
        }
        assert (shell.folder / "report.html").stat().st_size > 10_000


@pytest.mark.prove
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
