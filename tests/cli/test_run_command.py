"""`ragauge run` and `ragauge show --gaps` as people type them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.conftest import Cli
from tests.loopback.service import FlakyService

CHATTY = """
import logging

logging.basicConfig(level=logging.INFO)

def answer(query):
    for name in ("httpx", "openai._base_client", "numbers"):
        logging.getLogger(name).info("asked " + query)
    return query
"""
APP = """
import time

def retrieve(query):
    return [{"doc_id": f"d{query.split()[1]}", "text": f"The number is {query.split()[1]}."}]

def generate(query, passages):
    return passages[0]["text"] if passages else "I do not know."

class Rag:
    def retrieve(self, query):
        return retrieve(query)
    def generate(self, query, passages):
        return generate(query, passages)

def answer(query):
    if query.endswith(" 3"):
        raise ValueError("three is too much")
    return generate(query, retrieve(query)), retrieve(query)

def slow(query):
    time.sleep(0.05)
    return query
"""


@pytest.fixture
def folder(cli: Cli, tmp_path: Path) -> Iterator[Path]:
    """A working directory with an application, a set and a corpus."""
    (tmp_path / "numbers_app.py").write_text(APP)
    rows = [
        {
            "query_id": f"q{n}",
            "query": f"question {n}",
            "reference_answer": f"The number is {n}.",
            "relevant": {f"d{n}": 1},
        }
        for n in range(8)
    ]
    (tmp_path / "set.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    documents = ({"_id": f"d{n}", "title": "", "text": f"The number is {n}."} for n in range(8))
    (tmp_path / "corpus.jsonl").write_text("".join(json.dumps(one) + "\n" for one in documents))
    path = list(sys.path)
    yield tmp_path
    sys.path[:] = path
    sys.modules.pop("numbers_app", None)


def test_no_library_logs_beside_the_system(folder: Path) -> None:
    """A system that turns logging on prints its own lines and no library's; a set's warnings are ours, a line each."""
    (folder / "chatty_app.py").write_text(CHATTY)
    rows = [json.loads(line) | {"colour": "red"} for line in (folder / "set.jsonl").read_text().splitlines()]
    (folder / "coloured.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    words = (sys.executable, "-m", "ragauge", "run", "chatty_app:answer", "coloured.jsonl", "-q")
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=True)
    lines = done.stderr.splitlines()
    assert sorted(lines[1:]) == [f"INFO:numbers:asked question {n}" for n in range(8)]
    assert lines[0].startswith("warning: coloured.jsonl: columns not read: colour.")


def test_run_says_what_became_of_the_questions(cli: Cli, folder: Path) -> None:
    """Run id, answered and failed by kind, latency, and the commands to go on with."""
    done = cli("run", "numbers_app:answer", "set.jsonl", "--name", "first")
    assert done.code == 0
    assert "run first (" in done.out
    assert "8 of 8 questions: 7 answered, 1 failed (exception 1)" in done.out
    assert "latency: median" in done.out
    assert "  exception, such as q3: ValueError: three is too much (numbers_app.py line " in done.out
    assert "\nNext: ragauge evaluate first\nTo retry the failed questions: ragauge run numbers" in done.out
    assert "answered 8 of 8" in done.err
    again = cli("run", "numbers_app:answer", "set.jsonl", "--retry-failed", "-q")
    assert "8 of 8 questions: 7 answered, 1 failed (exception 1); 7 were already stored" in again.out
    assert "answered" not in again.err


def test_run_that_answers_nothing_is_an_error(cli: Cli, folder: Path) -> None:
    """Where every question failed the exit code is 1; the reason stands there, and the command that asks again."""
    (folder / "numbers_app.py").write_text("def answer(query):\n    return {'answer': DOCUMENTS[query]}\n")
    done = cli("run", "numbers_app:answer", "set.jsonl", "--fresh", "-q")
    assert done.code == 1
    assert "exception, such as q" in done.out
    assert "NameError: name 'DOCUMENTS' is not defined (numbers_app.py line 2, in answer)" in done.out
    command = done.out.strip().splitlines()[-1]
    assert command.startswith("No question was answered. Fix the system, then: ragauge run numbers_app:answer ")
    assert ("--fresh" in command, command.endswith("--retry-failed")) == (False, True)


def test_what_a_system_prints_is_not_the_result(cli: Cli, folder: Path) -> None:
    """A system that prints, when it is imported and when it is asked, leaves stdout to the results."""
    (folder / "numbers_app.py").write_text("print('made')\ndef answer(query):\n    print('asked')\n    return query\n")
    done = cli("run", "numbers_app:answer", "set.jsonl", "-q", "--json")
    assert done.json()["answered"] == 8
    assert ("made\n" in done.err, done.err.count("asked\n")) == (True, 8)


def test_blank_answers_are_counted(cli: Cli, folder: Path) -> None:
    """An answer without a word is an answer, and how many there are is said."""
    (folder / "numbers_app.py").write_text("def answer(query):\n    return ' ', []\n")
    done = cli("run", "numbers_app:answer", "set.jsonl", "-q")
    assert "8 answered, 8 of them blank, 8 of them with nothing retrieved" in done.out


def test_run_json(cli: Cli, folder: Path) -> None:
    """--json is the run with its counts; with --evaluate the scorecard beside it."""
    told = cli("run", "numbers_app:answer", "set.jsonl", "--json", "--limit", "5").json()
    assert (told["responses"], told["planned"], told["state"], told["variant"]) == (5, 5, "finished", "own")
    assert told["config"] == {"selection": {"limit": 5}}
    assert told["latency_ms"]["total"]["n"] == 5 == told["answered"] + 1  # a failed call took time, too
    judging = ("--evaluate", "-m", "recall@5,exact_match", "--judge", "none")
    both = cli("run", "numbers_app:answer", "set.jsonl", "--json", *judging).json()
    assert both["run"]["failed"] == {"exception": 1}
    assert both["run"]["such_as"]["exception"]["query_id"] == "q3"
    assert both["evaluation"]["metrics"]["exact_match"]["mean"] == 1
    assert both["evaluation"]["metrics"]["exact_match"]["failed"] == 1
    assert both["evaluation"]["run_id"] == both["run"]["run_id"]


def test_evaluate_in_one_go_checks_its_names_first(cli: Cli, folder: Path) -> None:
    """A wrong metric is said before the first question is asked."""
    done = cli("run", "numbers_app:answer", "set.jsonl", "--evaluate", "-m", "recal@5")
    assert (done.code, done.out) == (2, "")
    assert "nearest: recall" in done.err
    assert cli("runs", "--json").json() == []


def test_variants_and_gaps(cli: Cli, folder: Path) -> None:
    """--oracle, --closed-book and --context-from make runs of their own, and show --gaps lays them side by side."""
    evaluate = ("--evaluate", "-m", "exact_match", "--judge", "none", "-q")
    assert cli("run", "numbers_app:Rag", "set.jsonl", "--name", "own", *evaluate).code == 0
    assert cli("run", "numbers_app:Rag", "set.jsonl", "--oracle", "--corpus", "corpus.jsonl", *evaluate).code == 0
    assert cli("run", "numbers_app:Rag", "set.jsonl", "--closed-book", *evaluate).code == 0
    replayed = cli("run", "numbers_app:Rag", "set.jsonl", "--context-from", "own", "--json", "-q").json()
    assert replayed["variant"] == "replayed"
    shown = cli("show", "own", "--gaps")
    assert "compared with numbers_app:Rag-oracle (gold passages), numbers_app:Rag-closed_book (no" in shown.out
    assert "lost to retrieval" in shown.out
    told = cli("show", "own", "--gaps", "--json").json()
    assert told["metrics"]["exact_match"]["oracle"]["oracle_gap"]["mean"] == 0
    assert told["metrics"]["exact_match"]["closed_book"]["closed_book_gap"]["mean"] == 1
    assert told["metrics"]["exact_match"]["closed_book"]["closed_book"]["n"] == 8
    clash = cli("run", "numbers_app:Rag", "set.jsonl", "--oracle", "--closed-book")
    assert (clash.code, "exclude each other" in clash.err) == (2, True)
    lacking = cli("show", "numbers_app:Rag-oracle", "--gaps")
    assert (lacking.code, "gaps need a run with its own retrieval" in lacking.err) == (2, True)


def test_settings_of_a_service_come_from_a_file(cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """--system-config reads the section system; its mistakes are usage errors with the nearest name."""
    monkeypatch.setenv("NUMBERS_TOKEN", "swordfish-7")
    settings = folder / "ragauge.yaml"
    with FlakyService(respond=lambda body: {"out": {"text": f"The number is {body['q'].split()[1]}."}}) as service:
        settings.write_text(
            'system:\n  name: numbers\n  headers: {X-Token: "${NUMBERS_TOKEN}"}\n  body: {q: "{{query}}"}\n'
            "  answer: $.out.text\n  config: {model: m1}\n"
        )
        told = cli("run", service.url, "set.jsonl", "--system-config", settings, "--json", "-q").json()
        assert service.requests[0].headers["x-token"] == "swordfish-7"
        settings.write_text('system:\n  boddy: {q: "{{query}}"}\n')
        wrong = cli("run", service.url, "set.jsonl", "--system-config", settings)
    assert (told["system"], told["answered"], told["config"]["model"]) == ("numbers", 8, "m1")
    assert "swordfish-7" not in json.dumps(told)
    assert "swordfish-7" not in (folder / ".ragauge/ragauge.db").read_bytes().decode("latin-1")
    assert (wrong.code, "nearest: body" in wrong.err) == (2, True)
    assert cli("run", "numbers_app:answer", "set.jsonl", "--system-config", "no.yaml").code == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("numbers_app:anser", "set.jsonl"), "nearest: answer"),
        (("number_app:answer", "set.jsonl"), "Nearest here: numbers_app"),
        (("numbers_app:answer", "sets.jsonl"), "no such file"),
        (("answers.jsonl", "set.jsonl"), "no such file"),
        (("numbers_app:answer", "set.jsonl", "--closed-book"), "Give it methods retrieve(query) and generate("),
        (("numbers_app:Rag", "set.jsonl", "--oracle"), "--corpus corpus.jsonl"),
        (("numbers_app:Rag", "set.jsonl", "--context-from", "nothing"), "no baseline or run 'nothing'"),
        (("numbers_app:Rag", "set.jsonl", "--retry-failed"), "no run of numbers_app:Rag on set to retry"),
    ],
)
def test_mistakes_are_said_at_once(cli: Cli, folder: Path, words: tuple[str, ...], said: str) -> None:
    """A wrong system, set or variant is exit code 2, one line, and no run."""
    done = cli("run", *words)
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert "Traceback" not in done.err
    assert cli("runs", "--json").json() == []


def test_nobody_listens(cli: Cli, folder: Path) -> None:
    """A service that is not there is exit code 1 with the address, and no run."""
    with FlakyService() as service:
        url = service.url
    done = cli("run", url, "set.jsonl", "-q")
    assert done.code == 1
    assert f"error: {url} cannot be called: connection:" in done.err
    assert cli("runs", "--json").json() == []


@pytest.mark.slow
def test_ctrl_c_keeps_what_is_done_and_prints_the_command(folder: Path) -> None:
    """Ctrl-C ends with 130, says how to go on, and that command asks only what is left."""
    rows = ({"query_id": f"q{n}", "query": f"question {n}"} for n in range(200))
    (folder / "many.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    words = [sys.executable, "-m", "ragauge", "run", "numbers_app:slow", "many.jsonl", "--store", "s.db"]
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).resolve().parents[2] / "src")}
    process = subprocess.Popen(
        words, cwd=folder, env=environment, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    process.stderr.readline()  # the first progress: a tenth is done
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=200)
    assert process.returncode == 130
    assert "All responses so far are saved." in said
    assert "To resume: python -m ragauge run numbers_app:slow many.jsonl --store s.db" in said
    done = subprocess.run([*words, "--json"], cwd=folder, env=environment, capture_output=True, text=True, check=True)
    told = json.loads(done.stdout)
    assert told["responses"] == 200
    assert 0 < told["asked"] < 200
    assert "resuming run" in done.stderr
