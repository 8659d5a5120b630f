"""`--map` and `--segments`: every command that reads a file of questions takes them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from tests.cli.conftest import Cli

from ragauge.store.store_access import open_store

APP = """
def answer(question):
    return {"answer": "Within 30 days.", "passages": [{"doc_id": "returns", "text": "Returns within 30 days."}]}
"""
OPTIONS = ["--map", "query=frage", "--map", "query_id=nr", "--segments", "thema"]


@pytest.fixture
def folder(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A git repository with a system, and questions under names of their own."""
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    for name in ("ragauge_system", "shop"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    subprocess.run(["git", "init", "-q", "."], check=True, cwd=tmp_path)
    (tmp_path / "shop.py").write_text(APP)
    rows = "".join(f"u{n},How long is item {n} taken back?,returns,{'ab'[n % 2]}\n" for n in range(6))
    (tmp_path / "fragen.csv").write_text(f"nr,frage,relevant,thema\n{rows}")
    return tmp_path


def test_run_reads_a_set_by_its_own_columns(cli: Cli, folder: Path) -> None:
    """The command takes what the error of the reader advises; ids and segments of the run are those of the columns."""
    refused = cli("run", "shop:answer", "fragen.csv", "-q")
    assert (refused.code, "Use --map query=" in refused.err) == (2, True)
    done = cli("run", "shop:answer", "fragen.csv", *OPTIONS, "-q")
    assert (done.code, done.err) == (0, "")
    with open_store("sqlite:///.ragauge/ragauge.db") as store:
        pairs = list(store.runs.pairs(store.runs.find("shop:answer").run_id))
    assert {example.query_id: dict(example.segments) for example, _ in pairs} == {
        f"u{n}": {"thema": "ab"[n % 2]} for n in range(6)
    }


def test_run_maps_recorded_responses_too(cli: Cli, folder: Path) -> None:
    """A mapped column may stand in the set, in the recorded responses or in both; in neither it is an error."""
    (folder / "antworten.csv").write_text("nr,antwort\n" + "".join(f"u{n},Within 30 days.\n" for n in range(6)))
    words = ["run", "antworten.csv", "fragen.csv", *OPTIONS, "-q"]
    done = cli(*words, "--map", "answer=antwort")
    assert (done.code, "6 answered" in done.out, done.err) == (0, True, "")
    wrong = cli(*words, "--map", "answer=antwrot")
    assert (wrong.code, "antwrot" in wrong.err, "nearest: antwort" in wrong.err) == (2, True, True)


def test_a_stored_set_has_no_columns(cli: Cli, folder: Path) -> None:
    """The columns of a set that was read before cannot be named again: refused, not passed over."""
    assert cli("run", "shop:answer", "fragen.csv", *OPTIONS, "-q").code == 0
    assert cli("run", "shop:answer", "fragen", "-q").code == 0
    refused = cli("run", "shop:answer", "fragen", *OPTIONS, "-q")
    assert (refused.code, "remove --map and --segments" in refused.err) == (2, True)


def test_init_writes_the_columns_into_what_it_generates(cli: Cli, folder: Path) -> None:
    """Workflow, configuration and the commands that init prints read the set as init did."""
    begun = cli("init", "-q", "--json", *OPTIONS).json()
    assert (begun["eval_set"], begun["n"], begun["scorecard"]["metrics"]["recall@5"]["scored"]) == ("fragen.csv", 6, 6)
    said = " ".join(OPTIONS)
    assert begun["command"] == f"ragauge run ragauge_system:system fragen.csv {said} --evaluate"
    assert said in (folder / "ragauge.yaml").read_text()
    steps = yaml.safe_load((folder / ".github/workflows/ragauge.yml").read_text())["jobs"]["evaluate"]["steps"]
    asked = [line for step in steps for line in step.get("run", "").splitlines() if "ragauge run" in line]
    assert len(asked) == 2
    assert all(f"ragauge run ragauge_system:system fragen.csv {said} --name" in line for line in asked)
    assert cli("doctor", "ragauge.yaml", "--set", "fragen.csv", *OPTIONS).code == 0


def test_init_with_columns_that_no_file_has(cli: Cli, folder: Path) -> None:
    """Columns that fit no file of questions are an error: no set is made up beside the user's."""
    refused = cli("init", "-q", "--map", "query=pregunta")
    assert (refused.code, "--map query=pregunta" in refused.err, "--set FILE" in refused.err) == (2, True, True)
    assert not (folder / "eval/golden.jsonl").exists()


def test_columns_in_python(cli: Cli, folder: Path) -> None:
    """The verb takes the same as the command, under the names that evaluate uses."""
    from ragauge.evaluation.run.verb import run

    found = run(
        "shop:answer", str(folder / "fragen.csv"), columns={"query": "frage", "query_id": "nr"}, segments="thema"
    )
    assert json.loads(json.dumps(found.counts.words()))[0] == "6 answered"


def test_prompts_are_parted_by_their_form(cli: Cli, tmp_path: Path) -> None:
    """A log of whole prompts is questioned with the option that parts it; with the option its passages are stored."""
    prompt = f"Context:\n{'The ferry costs 12 euros. ' * 80}\n\nIt sails daily.\n\nQuestion: What does it cost?"
    chat = [{"role": "user", "content": prompt}, {"role": "assistant", "content": "12 euros."}]
    (tmp_path / "log.jsonl").write_text(json.dumps({"messages": chat}) + "\n")
    first = cli("evaluate", "log.jsonl", "-m", "empty_result_rate", "-q")
    marker = "Context: {context} Question: {query}"
    assert f"--context-marker '{marker}'" in first.err
    done = cli("evaluate", "log.jsonl", "-m", "empty_result_rate", "-q", "--context-marker", marker, "--name", "parted")
    assert (done.code, done.err) == (0, "")
    with open_store("sqlite:///.ragauge/ragauge.db") as store:
        ((example, response),) = store.runs.pairs(store.runs.find("parted").run_id)
    assert (example.query_id, example.query) == ("conv1-t1", "What does it cost?")
    assert len(response.passages or ()) == 2
