"""`ragauge init`: from a project to its first evaluation."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from tests.cli.conftest import Cli
from tests.store.unprivileged import run_python

from ragauge.evaluation.doctor.validate import validate
from ragauge.evaluation.init.project_scan import scan_project
from ragauge.readers.source import read_set

RAG = """
raise SystemExit("nothing of the project is run")
from langchain_core.documents import Document

def _answer(question): ...
def load(path): ...
def answer_two(question, passages): ...

async def answer_question(question: str, k: int = 5) -> dict:
    return {}

class Bot:
    def __init__(self, k=3): ...
    def ask(self, question): ...

class Needs:
    def __init__(self, client): ...
    def ask(self, question): ...

rag_chain = build()
"""
WORKING = """
def answer(question: str) -> dict:
    return {
        "answer": "A hub can be returned within 30 days of delivery.",
        "passages": [{"doc_id": "returns", "text": "A hub can be returned within 30 days of delivery."}],
    }
"""
QUESTIONS = [
    {
        "query_id": f"q{n}",
        "query": f"How long can hub {n} be returned?",
        "reference_answer": "Within 30 days.",
        "relevant": {"returns": 1},
    }
    for n in range(3)
]


ROUTES = """
from dataclasses import dataclass
from routing import App

app = App()

@dataclass
class Asked:
    question: str
    k: int = 3

@dataclass
class Upload:
    name: str
    size: int

@app.post("/chat")
async def chat(body: Asked):
    return {"answer": f"You asked: {body.question}", "passages": [f"You asked: {body.question}"]}

@app.get("/search")
def query_documents(q: str):
    return chat(Asked(q))

@app.post("/ask-twice")
def ask_twice(body: Upload):
    return body.name

@app.post("/ask-user")
def ask_user(body: Asked, user: str = app.user()):
    return user

@app.get("/health")
def health(q: str = ""):
    return "ok"
"""
ROUTING = """
class App:
    def post(self, path):
        return lambda function: function
    get = post
    def user(self):
        return None
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder that is the working directory."""
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "path", [*sys.path])
    for name in ("ragauge_system", "shop", "app", "web", "routing"):  # of another test's folder
        monkeypatch.delitem(sys.modules, name, raising=False)
    return folder


def test_finds_what_could_be_asked(project: Path) -> None:
    """Functions of one question, classes made of nothing and framework objects are found; nothing is run."""
    (project / "src").mkdir()
    (project / "src" / "rag.py").write_text(RAG)
    (project / "broken.py").write_text("def answer(:")
    (project / "venv").mkdir()
    (project / "venv" / "pyvenv.cfg").touch()
    (project / "venv" / "rag.py").write_text(RAG)
    scanned = scan_project(project)
    assert scanned.frameworks == ("LangChain",)
    assert [candidate.target for candidate in scanned.candidates] == ["rag:answer_question", "rag:rag_chain", "rag:Bot"]
    assert {candidate.root for candidate in scanned.candidates} == {"src"}
    assert RAG.splitlines()[scanned.candidates[0].line - 1].startswith("async def answer_question")


def test_a_working_project_is_evaluated(cli: Cli, project: Path) -> None:
    """A function and a file of questions: adapter, configuration and workflow are written, the questions scored."""
    (project / "shop.py").write_text(WORKING)
    (project / "questions.jsonl").write_text("".join(json.dumps(one) + "\n" for one in QUESTIONS))
    subprocess.run(["git", "init", "-q", "."], check=True)
    done = cli("init", "--json", "-q")
    assert done.code == 0
    begun = done.json()
    assert begun["target"] == "ragauge_system:system"
    assert begun["eval_set"] == "questions.jsonl"
    assert begun["command"] == "ragauge run ragauge_system:system questions.jsonl --evaluate"
    assert begun["scorecard"]["metrics"]["recall@5"]["mean"] == 1.0
    assert begun["scorecard"]["metrics"]["faithfulness"]["mean"] > 0.9  # copied, by a judge that has probabilities
    rules = validate("ragauge.yaml", set="questions.jsonl").rules
    assert any("recall@5" in rule for rule in rules)
    assert any("faithfulness" in rule for rule in rules)
    assert "3 questions are too few to decide anything" in begun["notes"][0]
    steps = yaml.safe_load((project / ".github/workflows/ragauge.yml").read_text())["jobs"]["evaluate"]["steps"]
    assert any("ragauge gate change --baseline base" in step.get("run", "") for step in steps)
    assert any(step.get("run", "").startswith("pip install ") for step in steps)  # it imports nothing else
    assert (project / ".gitignore").read_text() == ".ragauge/\n"


def test_documents_without_a_system(cli: Cli, project: Path) -> None:
    """Documents alone: the reference pipeline answers questions made of their headings, each labelled with its page."""
    (project / "docs").mkdir()
    for name in ("returns", "pairing", "support"):
        text = f"# All about {name}\n\nThe page on {name} says what to do.\n\n## How is {name} done?\n\nBy {name}.\n"
        (project / "docs" / f"{name}.md").write_text(text)
    begun = cli("init", "--json", "-q").json()
    assert begun["target"] == "reference:docs"
    assert begun["made_up"] is True
    made = read_set("eval/golden.jsonl")
    queries = {one.query for one in made.examples}
    assert queries >= {"How is returns done?", "What do the documents say about All about pairing?"}
    labelled = {group.doc_ids[0] for one in made.examples for group in one.relevant or ()}
    assert labelled == {"pairing", "returns", "support"}
    assert begun["scorecard"]["metrics"]["recall@5"]["scored"] == len(made)


def test_an_empty_folder_gets_an_example(cli: Cli, project: Path) -> None:
    """Nothing to ask and nothing to read: example documents and questions are written and evaluated."""
    done = cli("init", "-q")
    assert done.code == 0
    assert "system: none found; an example is used instead" in done.out
    assert "ragauge init --force --system module:function --set questions.jsonl" in done.out
    assert "refusal_correctness" in done.out
    validate("ragauge.yaml", set="eval/golden.jsonl")
    begun = cli("init", "--json", "-q").json()
    assert begun["target"] == "reference:eval/example_documents"
    assert begun["scorecard"]["metrics"]["recall@5"]["mean"] == 1.0


@pytest.mark.parametrize("n_documents", [0, 3])
def test_where_no_system_is_found_its_name_is_asked_for(cli: Cli, project: Path, n_documents: int) -> None:
    """A system that only main() holds is not found: init says so, and the command that it prints takes another."""
    main = "def main():\n    chain = build()\n    chain.invoke('x')\n\nif __name__ == '__main__':\n    main()\n"
    (project / "app.py").write_text(main)
    for n in range(n_documents):
        (project / "docs").mkdir(exist_ok=True)
        (project / "docs" / f"page{n}.md").write_text("# Kettles\n\nWe sell kettles.\n\n## How to order\n\nBy mail.\n")
    printed = " ".join(cli("init", "-q", "--no-evaluate").out.split())
    assert "system: none found" in printed
    assert "a function that takes a question: ragauge init --system module:function" in printed
    (project / "shop.py").write_text(WORKING)
    begun = cli("init", "--system", "shop:answer", "--json", "-q", "--no-evaluate").json()
    assert (begun["target"], begun["found"]) == ("ragauge_system:system", ["shop:answer"])


def test_a_system_without_questions_is_asked_openers(cli: Cli, project: Path) -> None:
    """A system, and neither questions nor documents: what anything can be asked shows that it is reached."""
    (project / "app.py").write_text("def answer(question):\n    return 'About kettles.', ['We sell kettles.']\n")
    begun = cli("init", "--json", "-q").json()
    assert (begun["target"], begun["made_up"], begun["n"]) == ("ragauge_system:system", True, 3)
    assert begun["scorecard"]["metrics"]["faithfulness"]["scored"] == 3
    named = cli("init", "--system", "app:answer", "-q", "--no-evaluate")
    assert "system: app:answer" in named.out


@pytest.mark.parametrize(
    ("path", "code", "named"),
    [
        ("app.py", "def answer(question):\n    return 'About kettles.', ['We sell kettles.']\n", "app:answer"),
        ("src/app.py", "class Bot:\n    def ask(self, question):\n        return 'Kettles.'\n", "app:Bot"),
        (
            "src/app.py",
            "def antworten(frage):\n    return 'Kessel.'\n\ndef answer(query):\n    return 'Kettles.'\n",
            "src.app:answer",
        ),
        ("web.py", ROUTES, "web:chat"),
    ],
)
def test_a_named_system_gets_the_adapter_of_one_that_is_found(
    cli: Cli, project: Path, path: str, code: str, named: str
) -> None:
    """`--system X` writes the file that `init` alone writes where it finds X."""
    (project / path).parent.mkdir(exist_ok=True)
    (project / path).write_text(code)
    (project / "routing.py").write_text(ROUTING)
    alone = cli("init", "--json", "-q", "--no-evaluate").json()
    adapter = project / "ragauge_system.py"
    found, written = alone["target"], adapter.read_text()
    adapter.unlink()
    begun = cli("init", "--system", named, "--json", "-q", "--no-evaluate").json()
    assert (begun["target"], adapter.read_text()) == (found, written)


def test_a_named_system_is_asked_though_an_adapter_of_another_is_kept(cli: Cli, project: Path) -> None:
    """An adapter that asks something else stays and is no adapter of what is named; --force writes that of it."""
    (project / "app.py").write_text("def answer(query):\n    return 'A'\n\ndef ask(query):\n    return 'B'\n")
    cli("init", "--system", "app:answer", "-q", "--no-evaluate")
    adapter = project / "ragauge_system.py"
    assert "answer" in adapter.read_text()
    again = cli("init", "--system", "app:ask", "--no-evaluate")
    assert "kept  ragauge_system.py  does not query app:ask; --force rewrites it" in again.out
    assert "ragauge run app:ask" in again.out
    forced = cli("init", "--system", "app:ask", "--json", "-q", "--no-evaluate", "--force").json()
    assert forced["target"] == "ragauge_system:system"
    assert "ask" in adapter.read_text()
    elsewhere = cli("init", "--system", "http://localhost:1/ask", "--json", "-q", "--no-evaluate").json()
    assert elsewhere["target"] == "http://localhost:1/ask"


def test_the_function_behind_a_route_is_asked(cli: Cli, project: Path) -> None:
    """A web application: the function of the route that answers is called with its body's class, without a server."""
    (project / "web.py").write_text(ROUTES)
    (project / "routing.py").write_text(ROUTING)
    (project / "golden.jsonl").write_text(json.dumps(QUESTIONS[0]) + "\n")
    scanned = scan_project(project)
    assert [(candidate.target, candidate.form.kind, candidate.form.call) for candidate in scanned.candidates] == [
        ("web:chat", "route", "web.chat(body=web.Asked(question=query))"),
        ("web:query_documents", "route", "web.query_documents(q=query)"),
    ]
    begun = cli("init", "--json", "-q").json()
    assert begun["scorecard"]["metrics"]["answer_relevance"]["scored"] == 1
    written = (project / "ragauge_system.py").read_text()
    again = cli("init", "--json", "-q", "--force", "--no-evaluate").json()  # what it wrote is no system to be found
    assert (again["found"], (project / "ragauge_system.py").read_text()) == (begun["found"], written)


def test_what_is_there_is_kept(cli: Cli, project: Path) -> None:
    """Files that are there are kept and said to be; --force writes over them."""
    (project / "ragauge.yaml").write_text("# mine\n")
    done = cli("init", "--no-evaluate")
    assert "kept  ragauge.yaml" in done.out
    assert (project / "ragauge.yaml").read_text() == "# mine\n"
    cli("init", "--no-evaluate", "--force")
    assert "max_drop" in (project / "ragauge.yaml").read_text()


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("questions.csv", "uid,prompt,ideal\n1,How long can a hub be returned?,30 days\n"),
        ("eval/qa_pairs.jsonl", '{"uid": "1", "prompt": "How long?", "ideal": "30 days"}\n'),
        ("data/eval_set.tsv", "Example ID\tUser Question\tGold Answer\n1\tHow long?\t30 days\n"),
        ("evals/rag.json", '[{"id": 1, "user_input": "How long?", "reference": "30 days"}]'),
        ("tests/data/test_questions.jsonl", '{"question": "How long?", "ground_truth": "30 days"}\n'),
    ],
)
def test_questions_under_usual_names_are_found(cli: Cli, project: Path, path: str, text: str) -> None:
    """Files of questions where people keep them, with columns as people call them, are found and read alike by run."""
    (project / "shop.py").write_text(WORKING)
    (project / "prices.csv").write_text("name,price\nhub,3\n")
    place = project / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text)
    begun = cli("init", "--no-evaluate", "--json").json()
    assert (begun["eval_set"], begun["n"], begun["made_up"]) == (path, 1, False)
    (example,) = read_set(place).examples
    assert (example.query.startswith("How long"), example.references) == (True, ("30 days",))


def test_made_up_questions_come_last(cli: Cli, project: Path) -> None:
    """What init made up stays so until it is replaced, and gives way to the user's own wherever these lie."""
    (project / "shop.py").write_text(WORKING)
    assert [cli("init", "--no-evaluate", "--json").json()["made_up"] for _ in range(2)] == [True, True]
    (project / "data").mkdir()
    (project / "data/zzz.csv").write_text("prompt,ideal\nHow long?,30 days\n")
    begun = cli("init", "--no-evaluate", "--json").json()
    assert (begun["eval_set"], begun["made_up"]) == ("data/zzz.csv", False)


def test_force_keeps_what_it_writes_over(cli: Cli, project: Path) -> None:
    """An adapter that was edited stays beside the new one, under a name of its own; an equal one does not."""
    (project / "shop.py").write_text(WORKING)
    adapter = project / "ragauge_system.py"
    cli("init", "--no-evaluate")
    written = adapter.read_text()
    assert "bak" not in cli("init", "--no-evaluate", "--force").out
    for n, name in enumerate(("ragauge_system.py.bak", "ragauge_system.py.bak2")):
        adapter.write_text(f"# mine {n}")
        said = " ".join(cli("init", "--no-evaluate", "--force").out.split())
        assert f"the old file is now {name}" in said
        assert (adapter.read_text(), (project / name).read_text()) == (written, f"# mine {n}")
    assert (project / "ragauge_system.py.bak").read_text() == "# mine 0"


def test_a_system_that_fails_leaves_the_files(cli: Cli, project: Path) -> None:
    """A system that cannot be imported: the files are there, what went wrong is said, and what to look at next."""
    (project / "app.py").write_text("import no_such_package\n\ndef answer(question):\n    return 'x'\n")
    (project / "golden.jsonl").write_text(json.dumps(QUESTIONS[0]) + "\n")
    done = cli("init", "-q")
    assert done.code == 0
    assert "no_such_package" in done.err
    assert "ragauge doctor --system ragauge_system:system" in done.out
    assert (project / "ragauge.yaml").exists()


@pytest.mark.parametrize(("detached", "name", "more"), [(False, "work", ""), (True, "main", " --name main")])
def test_the_next_commands_fit_together(cli: Cli, project: Path, detached: bool, name: str, more: str) -> None:
    """The gate that is printed holds against the baseline that the command before it sets, on a branch and on none."""
    (project / "shop.py").write_text(WORKING)
    ten = [{**QUESTIONS[0], "query_id": f"q{n}"} for n in range(10)]
    (project / "questions.jsonl").write_text("".join(json.dumps(one) + "\n" for one in ten))
    commit = ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "first"]
    for words in (["init", "-q", "-b", "work", "."], commit, *([["checkout", "-q", "--detach"]] if detached else [])):
        subprocess.run(["git", *words], check=True)
    said = cli("init", "-q").out.partition("Next: ")[2]
    commands = [line.strip().removeprefix("ragauge ") for line in said.splitlines() if line.startswith("  ragauge ")]
    assert commands == [
        "report latest -o report.html",
        f"baseline set latest{more}",
        "run ragauge_system:system questions.jsonl --evaluate",
        f"gate latest --baseline {name}",
    ]
    kept, changed, gate = (one.split() for one in commands[1:])
    assert cli(*kept).code == 0
    itself = cli(*gate)  # without the run between them nothing is compared
    assert (itself.code, "this run itself" in itself.out) == (4, True)
    assert cli(*changed, "-q").code == 0
    assert cli(*gate).code == 0


def test_set_and_workflow_agree(cli: Cli, project: Path) -> None:
    """Questions that came after the first init are asked by the workflow too; one that was edited is kept, and told."""
    (project / "shop.py").write_text(WORKING)
    subprocess.run(["git", "init", "-q", "."], check=True)
    workflow = project / ".github/workflows/ragauge.yml"
    assert "eval/golden.jsonl" in cli("init", "--no-evaluate").out
    assert "ragauge_system:system eval/golden.jsonl --name change" in workflow.read_text()
    (project / "golden.csv").write_text("query,relevant\nHow long can a hub be returned?,returns\n")
    done = cli("init", "--no-evaluate")
    assert ("questions: golden.csv" in done.out, "wrote .github/workflows/ragauge.yml" in done.out) == (True, True)
    assert "ragauge_system:system golden.csv --name change" in workflow.read_text()
    assert "golden.jsonl" not in workflow.read_text()
    workflow.write_text(workflow.read_text().replace("ubuntu-latest", "macos-latest"))
    (project / "golden.csv").rename(project / "golden_set.csv")
    begun = cli("init", "--no-evaluate", "--json").json()
    assert begun["eval_set"] == "golden_set.csv"
    assert "golden.csv --name change" in workflow.read_text()  # as its owner left it
    told = [
        note for note in begun["notes"] if ".github/workflows/ragauge.yml runs ragauge_system:system golden.csv" in note
    ]
    assert [note.partition("change it to ")[2].partition(", or run ragauge init --force")[0] for note in told] == [
        "ragauge_system:system golden_set.csv"
    ]


def test_outside_git_what_is_left_out_is_said(cli: Cli, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a repository neither workflow nor .gitignore is written, and that is said; with one it is not."""
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(project.parent))
    said = " ".join(cli("init", "--no-evaluate").out.split())
    assert "no workflow and no .gitignore: this is not the top-level folder of a git repository." in said
    assert not (project / ".github").exists()
    subprocess.run(["git", "init", "-q", "."], check=True)
    assert "no workflow" not in cli("init", "--no-evaluate").out
    assert (project / ".github/workflows/ragauge.yml").exists()


def test_a_folder_that_cannot_be_written_to(project: Path) -> None:
    """No right to write: one line that names the file and what to do, exit code 2; so for a file in a folder's way."""
    project.chmod(0o555)
    done = run_python("-m", "ragauge", "init", cwd=project)
    project.chmod(0o755)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    place = project / "eval/example_documents/returns.md"
    assert f"{place}: cannot be written: Permission denied. Run ragauge init in a folder that you may" in line
    (project / "eval").touch()
    (line,) = run_python("-m", "ragauge", "init", cwd=project).stderr.splitlines()
    assert f"{place}: cannot be written: " in line


def test_a_folder_that_cannot_be_entered(tmp_path: Path) -> None:
    """No right to enter the folder: one line that names it, exit code 2."""
    closed = tmp_path / "closed"
    closed.mkdir()
    closed.chmod(0o444)
    done = run_python("-m", "ragauge", "init", closed, cwd=tmp_path)
    closed.chmod(0o755)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert f"{closed}: cannot open this folder: Permission denied. Run ragauge init in a folder" in line


def test_a_folder_that_is_not_there(cli: Cli, project: Path) -> None:
    """A wrong folder is a usage error."""
    done = cli("init", "nowhere")
    assert done.code == 2
    assert "nowhere: no such folder" in done.err
