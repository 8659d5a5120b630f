"""`ragauge sweep` as people type it, over a small system in the working directory."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from tests.cli.conftest import Cli, write
from tests.loopback.server import FaultyServer

APP = """
from toy_parts import right

def index(size):
    return size

def build(held, model="good", k=1):
    def answer(question):
        said = question.replace("question", "answer") if right(model, question) else "no idea"
        return {"answer": said, "passages": [{"doc_id": f"d{n}", "text": f"text {n} of {held}"} for n in range(k)]}
    return answer
"""
PARTS = """
import random

def right(model, question):
    return random.Random(question + model).random() < {"good": 0.9, "weak": 0.3}[model]
"""
CONFIG = """
sweep:
  system: {index: "toy_app:index", build: "toy_app:build"}
  set: golden.jsonl
  parameters: {size: [1, 2], model: [good, weak], k: [1, 2]}
  index: [size]
  objective: exact_match
  design: random
  trials: 3
"""


@pytest.fixture
def app(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """A folder with a system in two modules, 60 questions and a configuration."""
    for name in ("toy_app", "toy_parts"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    (tmp_path / "toy_app.py").write_text(APP)
    (tmp_path / "toy_parts.py").write_text(PARTS)
    (tmp_path / "ragauge.yaml").write_text(CONFIG)
    write(
        tmp_path / "golden.jsonl",
        [{"query_id": f"q{n}", "query": f"question {n}", "reference_answer": f"answer {n}"} for n in range(60)],
    )
    return cli


def test_dry_run_lists_trials_and_asks_nothing(app: Cli) -> None:
    """A dry run says trials, questions, looks and calls of index, in words and as JSON, and asks nothing."""
    found = app("sweep", "--design", "grid", "--dry-run", "--json").json()
    assert (found["trials"], found["examples"], found["questions_at_most"]) == (8, 60, 480)
    assert (found["looks"], found["index_calls"], found["questions_stored"]) == ([30, 45, 60], 2, 0)
    assert found["configurations"][0] == "k=1,model=good,size=1"
    assert len(set(found["configurations"])) == 8
    shown = app("sweep", "--design", "grid", "--dry-run").out
    assert "8 trials × 60 examples = 480 questions to the system" in shown
    assert "  k=2,model=weak,size=2" in shown
    assert app("runs", "--json").json() == []


def test_staged_counts_are_the_most(app: Cli) -> None:
    """Of a staged design the first stage is listed, and counts are the most that there may be: one a value but once."""
    found = app("sweep", "--design", "staged", "--dry-run", "--json").json()
    assert (found["trials"], found["index_calls"]) == (4, 2)  # 1 + three further values; 1 + one of size
    assert found["configurations"] == ["k=1,model=good,size=1", "k=1,model=good,size=2"]
    assert "at most 4 trials" in app("sweep", "--design", "staged", "--dry-run").out


def test_what_is_typed_goes_before_the_file(app: Cli) -> None:
    """-p replaces the values of one parameter and keeps the others; a preset goes before what the file says."""
    rows = app("sweep", "--design", "grid", "-p", "k=3,5,7", "--dry-run", "--json").json()["configurations"]
    assert {row.split(",")[0] for row in rows} == {"k=3", "k=5", "k=7"}
    assert len(rows) == 12
    preset = app("sweep", "--design", "grid", "--preset", "top_k", "--dry-run", "--json").json()
    assert {row.split(",")[0] for row in preset["configurations"]} == {f"k={k}" for k in (1, 3, 5, 10, 15, 20)}
    assert app("sweep", "--dry-run", "--json").json()["design"] == "random"  # though grid is the default
    assert app("sweep", "--trials", "2", "--dry-run", "--json").json()["trials"] == 2
    wrong = app("sweep", "-p", "k", "--dry-run")
    assert (wrong.code, "expected name=value,value such as k=1,5,10, got 'k'" in wrong.err) == (2, True)


def test_no_file_is_needed_where_all_is_typed(app: Cli, tmp_path: Path) -> None:
    """System and set typed need no section, or no file; without them the missing section, or file, is named."""
    words = ("--system", "toy_app:index", "--set", "golden.jsonl", "-p", "size=1,2", "--objective", "exact_match")
    for text in ("gate: {rules: []}\n", None):
        path = tmp_path / "ragauge.yaml"
        path.unlink() if text is None else path.write_text(text)
        assert app("sweep", *words, "--dry-run", "--json").json()["trials"] == 2
        bare = app("sweep", "--dry-run")
        assert bare.code == 2
        assert ("has no sweep section" if text else "ragauge.yaml") in bare.err
    assert "elsewhere.yaml" in app("sweep", "elsewhere.yaml", *words, "--dry-run").err


def test_sweep_shows_and_writes_what_it_found(app: Cli, tmp_path: Path) -> None:
    """The command says how far it is, prints the reading, writes the page, and asks nothing the second time."""
    done = app("sweep", "--design", "grid", "-p", "size=1", "-o", tmp_path / "s.html")
    assert done.code == 0, done.err
    assert "Effect of each parameter value" in done.out
    assert "answered" in done.err
    assert re.search(r"asked (\d+) questions now, \1 of 240 in total, \d+ skipped by the race; index: 1 call", done.err)
    assert "The race: questions asked of each trial" in (tmp_path / "s.html").read_text()
    log = app("sweep", "--design", "grid", "-p", "size=1", "-q", "--json").json()["log"]
    assert (log["made"], log["planned"]) == (0, 240)
    again = app("sweep", "--design", "grid", "-p", "size=1", "--dry-run", "--json").json()
    assert again["questions_stored"] > 0
    assert "answered" not in app("sweep", "--design", "grid", "-p", "size=1", "-q").err


@pytest.mark.parametrize("name", ["toy_app.py", "toy_parts.py"])
def test_changed_code_is_another_study(app: Cli, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A study whose system's code changed, in its module or in one that it uses, goes on only with --fresh."""
    words = ("sweep", "--design", "grid", "-p", "size=1", "-p", "k=1", "-q")
    assert app(*words).code == 0
    (tmp_path / name).write_text((tmp_path / name).read_text() + "\nCHANGED = True\n")
    for one in ("toy_app", "toy_parts"):
        monkeypatch.delitem(sys.modules, one, raising=False)
    refused = app(*words)
    assert refused.code == 2
    assert "the code of toy_app:build (its source files" in refused.err
    assert "--fresh" in refused.err
    assert app(*words, "--fresh").code == 0
    assert app(*words).code == 0


@pytest.mark.server
def test_spent_budget_interrupts_and_the_same_command_goes_on(
    app: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """--max-cost ends a sweep with the command that goes on; in parts it makes the calls of one sweep, and no more."""
    (tmp_path / "prices.yaml").write_text("openai-chat:any: {input: 1000, output: 2000}\n")
    monkeypatch.setenv("RAGAUGE_PRICES", str(tmp_path / "prices.yaml"))
    words = ("sweep", "--design", "grid", "-p", "size=1", "-p", "model=good", "--objective", "faithfulness", "-q")
    with FaultyServer() as server:
        judged = ("--judge", f"openai-chat:any@{server.url}")
        whole = app(*words, *judged, "--store", "sqlite:///whole.db", "--json")
        assert whole.code == 0, whole.err
        calls = len(server.requests)
        spent: list[int] = []
        for _ in range(20):
            done = app(*words, *judged, "--max-cost", "20", "--json")
            spent.append(len(server.requests) - calls - sum(spent))
            if done.code == 0:
                break
            assert "stopped early: not enough data" in done.err
            assert "--max-cost 20" in done.err
        assert done.code == 0
        assert len(spent) > 1
        assert sum(spent) == calls
    means = [
        [(one["trial"], one["mean"]) for one in found.json()["means"] if one["metric"] == "faithfulness"]
        for found in (whole, done)
    ]
    assert means[0] == means[1]
