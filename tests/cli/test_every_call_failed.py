"""A run of which every call failed: gate and report say so first, with the error and where to look."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from tests.cli.conftest import Cli, write

APP = "def answer(question):\n    return {'answer': len(question) + 'x'}\n"
ERROR = "TypeError: unsupported operand type(s) for +: 'int' and 'str' (broken.py line 2, in answer)."
SAID = f"12 of 12 calls failed: {ERROR}"
LOOK = "See also: ragauge show broken:answer"


@pytest.fixture
def folder(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with a system that raises, a labelled set, and rules."""
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.delitem(sys.modules, "broken", raising=False)
    (tmp_path / "broken.py").write_text(APP)
    rows = [{"query_id": f"q{n}", "query": f"What is {n}?", "relevant": ["d"]} for n in range(12)]
    write(tmp_path / "set.jsonl", rows)
    rules = "gate:\n  rules:\n    - {metric: recall@5, min: 0.5}\n    - {metric: faithfulness, min: 0.5}\n"
    (tmp_path / "ragauge.yaml").write_text(rules)
    return tmp_path


def words(text: str) -> str:
    return " ".join(text.split())


def test_gate_leads_with_the_error(cli: Cli, folder: Path) -> None:
    """The gate fails, says the error before any rule, and advises to mend the system alone."""
    assert cli("run", "broken:answer", "set.jsonl", "--evaluate", "-q").code == 1
    done = cli("gate", "latest", "-o", "gate.md")
    told = words(done.out)
    assert (done.code, f"{SAID} {LOOK}" in told, told.index(SAID) < told.index("recall@5")) == (3, True, True)
    advice = told.partition("What to do: ")[2]
    assert advice.startswith("Judging again does not help where the system gave no response: fix the system")
    assert not [word for word in ("metrics", "More examples", "min_n", "--explain") if word in advice]
    assert (folder / "gate.md").read_text().split("\n")[2].startswith("**12 of 12 calls failed: TypeError")
    assert SAID in cli("gate", "latest", "--json").json()["summary"].split("\n")[1]
    annotations = [line for line in cli("gate", "latest", "--github").out.split("\n") if line.startswith("::")]
    assert annotations[0].startswith("::error title=every call failed::12 of 12 calls failed: TypeError")


def test_gate_of_what_was_not_measured(cli: Cli, folder: Path) -> None:
    """A metric that was not measured, or nothing evaluated, is no advice to measure: no call was answered."""
    cli("run", "broken:answer", "set.jsonl", "-q")
    raw = cli("gate", "latest")
    assert (raw.code, f"{SAID} {LOOK}" in words(raw.err), "ragauge evaluate" in raw.err) == (2, True, False)
    assert cli("evaluate", "latest", "-q").code == 0
    (folder / "ragauge.yaml").write_text("gate:\n  rules:\n    - {metric: recall@3, min: 0.5}\n")
    unmeasured = cli("gate", "latest")
    assert (unmeasured.code, SAID in words(unmeasured.err), "-m" in unmeasured.err) == (2, True, False)


def test_report_leads_with_the_error(cli: Cli, folder: Path) -> None:
    """Terminal, Markdown and page begin with the error, and the first advice is where to look."""
    done = cli("run", "broken:answer", "set.jsonl", "--evaluate", "-q")
    told = words(done.out)
    assert f"12 of 12 examples failed. First: {SAID.rstrip('.')}" in told
    assert "Start here: Fix the error; ragauge show broken:answer counts errors by kind" in told
    cli("report", "latest", "-o", "report.md")
    cli("report", "latest", "-o", "report.html")
    assert "12 of 12 calls failed: TypeError" in (folder / "report.md").read_text().split("\n")[2]
    assert "First: 12 of 12 calls failed: TypeError" in (folder / "report.html").read_text()


def test_some_calls_failed(cli: Cli, folder: Path) -> None:
    """Where some calls failed the finding counts these, with their most frequent error; the gate does not lead so."""
    text = "def answer(question):\n    return 'x' if '1' in question else len(question) + 'x'\n"
    (folder / "broken.py").write_text(text)
    told = words(cli("run", "broken:answer", "set.jsonl", "--evaluate", "-q").out)
    assert "9 of 12 calls failed: TypeError" in told
    assert "calls failed: TypeError" not in cli("gate", "latest").out


GOOD = """import time
def answer(question):
    time.sleep(0.01)
    return {'answer': 'It is 7.', 'passages': ['It is 7.']}
"""
RULE = "gate:\n  rules:\n    - {metric: latency, max_drop: 5%}\n    - {metric: precision@5, max_drop: 1 point}\n"


def test_is_never_better(cli: Cli, folder: Path) -> None:
    """A run that fails every call at once is quicker than one that answers, and better nowhere: lists, report, gate."""
    (folder / "broken.py").write_text(GOOD)
    assert cli("run", "broken:answer", "set.jsonl", "--evaluate", "-q", "--name", "before").code == 0
    (folder / "broken.py").write_text(APP)
    sys.modules.pop("broken")
    cli("run", "broken:answer", "set.jsonl", "--evaluate", "-q", "--name", "after")
    compared = cli("compare", "before", "after", "--json").json()["comparisons"][0]
    verdicts = {name: metric["verdict"] for name, metric in compared["metrics"].items()}
    assert (compared["verdict"], verdicts["system_failed"]) == ("worse", "worse")
    assert verdicts["latency"] == "not enough data"
    assert "better" not in verdicts.values()
    (folder / "ragauge.yaml").write_text(RULE)
    for command in (
        ("compare", "before", "after"),
        ("report", "after", "--baseline", "before"),
        ("runs",),
        ("runs", "log"),
        ("gate", "after", "--baseline", "before"),
    ):
        shown = words(cli(*command).out)
        assert not [said for said in ("Better than", "▲ Better", "better on") if said in shown], command
    told = words(cli("report", "after", "--baseline", "before").out)
    assert "Worse than before: system_failed +1.00" in told, told
    assert {row["name"]: row["verdict"] for row in cli("runs", "--json").json()}["after"] in ("worse", "")
    back = cli("compare", "after", "before", "--json").json()["comparisons"][0]
    assert (back["verdict"], back["metrics"]["latency"]["verdict"]) == ("better", "not enough data")
