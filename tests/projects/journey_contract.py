"""What holds for a project of any framework, from `ragauge init` to traffic. A framework subclasses it.

What knows only of stored runs, or starts the same commands again, is tested with one framework (test_langchain.py).
`make prove` walks through all of them; test_names.py has init and a run of each in `make check`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import ClassVar

import pytest
from tests.projects.apps import COLOURS, asked_as
from tests.projects.conftest import Walked

MOST_COMMANDS, MOST_SECONDS = 6, 180
PLUGIN = """
import pytest

@pytest.mark.ragauge("golden.jsonl", system="ragauge_system:system", metrics="recall@5,faithfulness")
def test_answers(ragauge_example):
    ragauge_example.check({"recall@5": 1})
"""
CAPTURED = """
import json
import search
import shop
import ragauge as rg

with rg.capture("answers.jsonl") as seen:
    @seen.retrieval
    def found(question):
        return [{"doc_id": one, "text": search.DOCUMENTS[one], "score": share} for one, share in search.rank(question)]

    @seen
    def ask(question):
        return ASK

    shop.rank = lambda question: [(one["doc_id"], one["score"]) for one in found(question)]
    for line in open("golden.jsonl"):
        ask(json.loads(line)["query"])
"""


@pytest.mark.prove
class JourneyContract:
    """A project of one framework.

    Attributes:
        framework: of `tests.projects.apps`.
        name: of its system.
        asks: the expression that asks it `question` and gives a text.
    """

    framework: ClassVar[str]
    name: ClassVar[str]
    asks: ClassVar[str]

    def test_init_finds_and_evaluates(self, walked: Walked) -> None:
        """The system is found under its name, and the first evaluation finds every document."""
        assert f"system: {asked_as(self.framework, self.name)}" in walked.init.stdout
        recall = next(line for line in walked.init.stdout.splitlines() if " recall@5 " in line)
        assert " 1.00 " in recall
        assert "20 scored" in recall

    def test_what_is_next_is_printed(self, walked: Walked) -> None:
        """The commands that init prints are those that lead to the gate, the run that asks again among them."""
        said = [line.strip() for line in walked.init.stdout.partition("Next: ")[2].splitlines()]
        shown = [line.removeprefix("ragauge ") for line in said if line.startswith("ragauge ")]
        assert [one.removesuffix(" -q") for one in walked.commands[1:]] == [one for one in shown if "report" not in one]

    def test_a_broken_retriever_is_red(self, walked: Walked, record_property: Callable[[str, object], None]) -> None:
        """From the folder to a red gate: at most six commands and three minutes; the rule that fails is recall's."""
        record_property(
            "figure",
            f"{self.framework}: {len(walked.commands)} commands and {walked.seconds:.0f} s from "
            "an empty folder with an application to a red gate for a broken retriever",
        )
        rows = [line.split() for line in walked.gate.stdout.splitlines()]
        (recall,) = [row for row in rows if "recall@5" in row and "→" in row]
        assert " ".join(recall).startswith("✗ FAIL recall@5 may fall by at most 15 points 1.000 → 0.000")
        assert len(walked.commands) <= MOST_COMMANDS
        assert walked.seconds <= MOST_SECONDS

    def test_the_pytest_plugin_fails_for_the_broken_example(self, walked: Walked) -> None:
        """With the retriever broken, the test of each example fails and says why."""
        (walked.shell.folder / "test_rag.py").write_text(PLUGIN)
        words = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:langsmith_plugin", "-k", "q00 or q01")
        done = walked.shell.run(sys.executable, *words, "test_rag.py", code=1)
        assert "2 failed" in done.stdout
        assert "q00: recall@5 is 0, expected at least 1" in done.stdout

    def test_traffic_is_captured_and_evaluated(self, walked: Walked) -> None:
        """What the application answers is recorded where it runs, and evaluated as traffic."""
        script = CAPTURED.replace("ASK", self.asks.replace("NAME", f"shop.{self.name}"))
        (walked.shell.folder / "serve.py").write_text(script)
        walked.shell.run(sys.executable, "serve.py")
        done = walked.shell.ragauge("evaluate", "answers.jsonl", "--traffic", "-m", "faithfulness", "--json", "-q")
        card = json.loads(done.stdout)
        assert card["metrics"]["faithfulness"]["scored"] == len(COLOURS)
        assert card["run_id"] in walked.shell.ragauge("runs", "log", "--set", "traffic", "--json").stdout
