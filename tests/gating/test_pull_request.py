"""A pull request played through: a git repository, a baseline on main, a change that hurts one segment, the action."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / ".github/action/gate-pull-request.sh"
INSTALL = ROOT / ".github/action/install.sh"
KINDS = ("lookup", "compare", "howto", "multi_hop")
N = 120

# a small RAG system: word overlap over a corpus of one page an item, with a setting that the pull request changes
SYSTEM = """
import json, sys

settings = json.load(open("settings.json"))
examples = [json.loads(line) for line in open(sys.argv[1])]
pages = {example["gold"]: example["page"] for example in examples}

def search(query):
    words = query.replace("?", "").split()
    if settings["first_words_only"]:
        words = words[:6]
    overlap = {name: len(set(words) & set(text.replace(".", "").split())) for name, text in pages.items()}
    return sorted(pages, key=lambda name: (-overlap[name], name))[:3]

with open(sys.argv[2], "w") as out:
    for example in examples:
        found = search(example["query"])
        passages = [{"doc_id": name, "text": pages[name]} for name in found]
        row = {"query_id": example["query_id"], "query": example["query"], "answer": pages[found[0]],
               "passages": passages}
        out.write(json.dumps(row) + "\\n")
"""
RULES = """gate:
  max_failed: 2%
  rules:
    - {metric: recall@3, max_drop: 3%}
    - {metric: mrr, max_drop: 5 points, on_fail: warn}
    - {tag: regression, must_pass: true, metric: recall@3, min: 1}
"""


def examples() -> list[dict[str, Any]]:
    """Questions of four kinds; those of multi_hop name what they ask for only at their end."""
    found = []
    for n in range(N):
        kind = KINDS[n % 4]
        name = f"item{n:03d}"
        start = "which of the many things there" if kind == "multi_hop" else "what is the"
        found.append(
            {
                "query_id": f"q{n}",
                "query": f"{start} {name} colour{n} ?",
                "gold": f"page-{n:03d}",
                "page": f"the {name} has colour{n} and weight {n * 7}.",
                "relevant": {f"page-{n:03d}": 1},
                "segments": {"type": kind},
                "tags": ["regression"] if n in (0, 1, 2) else [],
            }
        )
    return found


@dataclass(frozen=True)
class Found:
    """What the step found out: exit code, what it said, and every check."""

    code: int
    said: str
    checks: list[dict[str, Any]]

    @property
    def recall(self) -> tuple[float, float]:
        """Of base and head, over all examples."""
        (check,) = (
            one
            for one in self.checks
            if one["metric"] == "recall@3" and one["kind"] == "max_drop" and one["segment"] is None
        )
        return check["baseline"], check["new"]


class Repository:
    """A git repository with a RAG system, its eval set and its gate."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir()
        self.git("init", "--quiet", "--initial-branch", "main")
        self.write("answer.py", SYSTEM)
        self.write("ragauge.yaml", RULES)
        self.write("golden.jsonl", "".join(json.dumps(one) + "\n" for one in examples()))
        self.write(".gitignore", ".ragauge\nanswers.jsonl\nragauge-gate\n")
        self.change(first_words_only=False, note="first")

    def git(self, *words: str) -> str:
        who = {"GIT_AUTHOR_NAME": "t", "GIT_AUTHOR_EMAIL": "t@example.com", "GIT_CONFIG_GLOBAL": os.devnull}
        env = os.environ | who | {"GIT_COMMITTER_NAME": "t", "GIT_COMMITTER_EMAIL": "t@example.com"}
        done = subprocess.run(["git", *words], cwd=self.path, env=env, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def write(self, name: str, text: str) -> None:
        (self.path / name).write_text(text, encoding="utf-8")

    def change(self, *, first_words_only: bool, note: str) -> None:
        self.write("settings.json", json.dumps({"first_words_only": first_words_only, "note": note}))
        self.git("add", ".")
        self.git("commit", "--quiet", "-m", note)

    def relabel(self, rows: list[dict[str, Any]], note: str) -> None:
        self.write("golden.jsonl", "".join(json.dumps(one) + "\n" for one in rows))
        self.git("commit", "--quiet", "-a", "-m", note)

    def found(self, tmp: Path, **more: str) -> Found:
        """What the step found out from labels alone."""
        done = self.gate(tmp, RAGAUGE_METRICS="recall@3,mrr", RAGAUGE_JUDGE="none", **more)
        assert done.returncode in (0, 3), done.stdout + done.stderr
        checks = json.loads((self.path / "ragauge-gate/gate.json").read_text())["checks"]
        return Found(done.returncode, done.stdout, checks)

    def gate(self, tmp: Path, **more: str) -> subprocess.CompletedProcess[str]:
        """The step of the action, as the runner starts it."""
        tmp.mkdir(exist_ok=True)
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("RAGAUGE_", "GITHUB_"))}
        env = (
            kept
            | {
                "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
                "RAGAUGE_BASE": "main",
                "RAGAUGE_SYSTEM": 'python answer.py "$RAGAUGE_SET" answers.jsonl',
                "RAGAUGE_RESPONSES": "answers.jsonl",
                "RAGAUGE_SET": "golden.jsonl",
                "RAGAUGE_METRICS": "recall@3,mrr,faithfulness",
                "RAGAUGE_JUDGE": "local",
                "GITHUB_ACTIONS": "true",
                "GITHUB_STEP_SUMMARY": str(tmp / "summary.md"),
                "GITHUB_OUTPUT": str(tmp / "output.txt"),
                "ACTION": str(ROOT),
            }
            | more
        )
        return step("gate", self.path, env)


def step(which: str, path: Path, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """A step of the action, as the runner starts it."""
    (run,) = (one["run"] for one in action()["runs"]["steps"] if one.get("id") == which)
    words = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", run]
    return subprocess.run(words, cwd=path, env=env, capture_output=True, text=True, check=False, timeout=240)


def action() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text())
    return found


@pytest.mark.prove
def test_pull_request_that_hurts_one_segment(tmp_path: Path) -> None:
    """A change that hurts multi_hop ends with exit 3, named in JUnit, summary and annotations; its repair passes.

    Answers that are then the same at both commits stay two runs, each under its own name.
    """
    repository = Repository(tmp_path / "app")
    repository.git("checkout", "--quiet", "-b", "shorter-queries")
    repository.change(first_words_only=True, note="search for the first words only")
    done = repository.gate(tmp_path / "first")
    assert done.returncode == 3, done.stdout + done.stderr

    suite = ET.parse(repository.path / "ragauge-gate/gate.xml").getroot().find("testsuite")  # noqa: S314 - XML that ragauge wrote
    assert suite is not None
    cases = {(case.get("classname"), case.get("name")): case for case in suite}
    failed = [name for (_, name), case in cases.items() if case.find("failure") is not None and name]
    assert any(name.endswith("type=multi_hop") for name in failed)
    assert not any(name.endswith(f"type={kind}") for name in failed for kind in KINDS[:3])
    assert int(suite.get("failures", "0")) == len(failed)
    assert all("ragauge.yaml line " in (failure.text or "") for failure in suite.iter("failure"))

    summary = (tmp_path / "first/summary.md").read_text(encoding="utf-8")
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in summary.splitlines() if line[:1] == "|"]
    hurt = next(row for row in rows if "multi\\_hop" in row[1])
    assert hurt[0] == "❌ **fail**"
    assert hurt[2] == "1.000 → 0.000"
    assert summary == (repository.path / "ragauge-gate/gate.md").read_text(encoding="utf-8")

    errors = [line for line in done.stdout.splitlines() if line.startswith("::error ")]
    assert any("line=4" in line and "type=multi_hop" in line for line in errors)
    assert (tmp_path / "first/output.txt").read_text() == "output=ragauge-gate\nverdict=fail\n"
    found = json.loads((repository.path / "ragauge-gate/gate.json").read_text())
    assert (found["verdict"], found["exit_code"], found["matched"]) == ("fail", 3, N)
    assert (repository.path / "ragauge-gate/report.html").stat().st_size > 10_000
    assert repository.git("worktree", "list").count("\n") == 0  # nothing is left behind

    repository.change(first_words_only=False, note="search for the whole query again")
    again = repository.found(tmp_path / "second")
    assert again.code == 0
    assert re.search("the answers at commit-[0-9a-f]{12} are kept", again.said)  # not asked for again
    assert (tmp_path / "second/output.txt").read_text() == "output=ragauge-gate\nverdict=pass\n"
    commits = [f"commit-{repository.git('rev-parse', name)[:12]}" for name in ("main", "HEAD")]
    for name in ("gate.md", "report.html"):  # the answers are those of main again: they stay two runs
        said = (repository.path / "ragauge-gate" / name).read_text(encoding="utf-8")
        assert all(commit in said for commit in commits)


@pytest.mark.prove
@pytest.mark.parametrize("back", [False, pytest.param(True, marks=pytest.mark.prove)])
def test_the_verdict_does_not_depend_on_what_is_kept(tmp_path: Path, back: bool) -> None:
    """Answers of the base that are kept are held to the labels of the pull request, as those asked for now would be.

    The base is asked again for other questions, not for other labels; labels that come back are met as they were.
    """
    repository = Repository(tmp_path / "app")
    base = f"commit-{repository.git('rev-parse', 'HEAD')[:12]}"
    repository.git("checkout", "--quiet", "-b", "other-labels")
    edited = examples()
    for one in edited[:20]:
        one["relevant"] = {"page-none": 1}
    repository.relabel(edited, "edit labels")
    first = repository.found(tmp_path / "first")
    assert f"answering the eval set at {base}" in first.said
    assert first.recall == pytest.approx((1 - 20 / N, 1 - 20 / N))
    repository.relabel(examples(), "labels of before")
    with_kept = repository.found(tmp_path / "kept")
    assert f"the answers at {base} are kept" in with_kept.said
    assert with_kept.recall == pytest.approx((1, 1))
    if back:
        repository.relabel(edited, "edit labels again")
        again = repository.found(tmp_path / "back")
        assert f"the answers at {base} are kept" in again.said
        assert (again.code, again.checks) == (first.code, first.checks)
    edited[0]["query"] = 'which colour has "item000" \\ colour0 ?'
    repository.relabel(edited, "edit a question")
    stub = tmp_path / "stub/python"  # the base is asked, and that is enough
    stub.parent.mkdir()
    stub.write_text("#!/bin/sh\nexit 7\n")
    stub.chmod(0o755)
    path = os.pathsep.join([str(stub.parent), str(Path(sys.executable).parent), os.environ["PATH"]])
    asked = repository.gate(tmp_path / "question", PATH=path)
    assert f"answering the eval set at {base}" in asked.stdout
    assert asked.returncode == 7


@pytest.mark.prove
def test_questions_are_known_without_their_labels(tmp_path: Path) -> None:
    """What the base is asked anew for is id, text and earlier turns, however they are quoted; labels are not."""
    one = {"query_id": 'a"query": "b', "query": 'why\\ "query": "é]', "history": [{"role": "user", "text": 'x ] " \\'}]}
    other = {"query_id": "b", "query": "on\ntwo lines", "tags": ["t"]}
    found = questions(tmp_path, [one | {"relevant": {"d": 1}}, other])
    asked = [json.loads(line if line.endswith("}") else line + "}") for line in found]
    assert asked == [one, {"query_id": "b", "query": "on\ntwo lines"}]
    assert questions(tmp_path, [other | {"reference_answer": "r"}, one]) == found
    turn = {"role": "user", "text": "y"}
    for field, value in (("query", "why"), ("query_id", "c"), ("history", []), ("history", [turn])):
        assert questions(tmp_path, [one | {field: value}, other]) != found


def questions(tmp: Path, rows: list[dict[str, Any]]) -> list[str]:
    """What the script's function of this name prints for an eval set."""
    (tmp / "golden.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    body = re.search(r"^questions\(\) \{.*?^\}$", SCRIPT.read_text(), re.MULTILINE | re.DOTALL)
    assert body is not None
    words = ["bash", "-euo", "pipefail", "-c", f"{body[0]}\nthere=$PWD RAGAUGE_SET=golden.jsonl; questions"]
    env = os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(words, cwd=tmp, env=env, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


@pytest.mark.prove
def test_ragauge_is_installed_apart_from_the_system(tmp_path: Path) -> None:
    """The install step puts ragauge into an environment of its own, anew each time, and tells where the command is."""
    wheel = tmp_path / "ragauge-1-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as file:
        file.writestr("stand_in.py", "import sys\n\ndef main():\n    print(sys.prefix)\n")
        file.writestr("ragauge-1.dist-info/METADATA", "Metadata-Version: 2.1\nName: ragauge\nVersion: 1\n")
        file.writestr("ragauge-1.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        file.writestr("ragauge-1.dist-info/entry_points.txt", "[console_scripts]\nragauge = stand_in:main\n")
        file.writestr("ragauge-1.dist-info/RECORD", "")
    home, told = tmp_path / "with a blank/ragauge", tmp_path / "output.txt"
    env = os.environ | {
        "ACTION": str(ROOT),
        "RAGAUGE_PYTHON": sys.executable,
        "RAGAUGE_PACKAGE": str(wheel),
        "RAGAUGE_HOME": str(home),
        "GITHUB_OUTPUT": str(told),
        "PIP_NO_INDEX": "1",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    }
    (home / "lib").mkdir(parents=True)
    (home / "left over").touch()
    done = step("install", tmp_path, env)
    assert done.returncode == 0, done.stderr
    name, _, command = told.read_text().strip().partition("=")
    assert name == "command"
    assert subprocess.run([command], capture_output=True, text=True, check=True).stdout.strip() == str(home)
    assert not (home / "left over").exists()


@pytest.mark.prove
def test_the_system_runs_with_the_python_of_the_job(tmp_path: Path) -> None:
    """`python` in the system's command is the user's, with the user's packages, though ragauge is not there.

    The newest commit of the branch that is merged into is no baseline of itself: its parent is.
    """
    users = tmp_path / "users"
    users.mkdir()
    (users / "only_here.py").write_text("")
    python = users / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH="{users}" exec "{sys.base_prefix}/bin/python3" "$@"\n')
    python.chmod(0o755)
    (git,) = {str(Path(found).parent) for found in [shutil.which("git")] if found}
    path = os.pathsep.join([str(users), git, "/usr/bin", "/bin"])
    assert shutil.which("ragauge", path=path) is None
    repository = Repository(tmp_path / "app")
    repository.write("answer.py", f"import only_here\n{SYSTEM}")
    repository.change(first_words_only=True, note="needs a package of the user's, is worse, and merged")
    ours = str(Path(sys.executable).parent / "ragauge")
    found = repository.found(tmp_path / "step", PATH=path, RAGAUGE_COMMAND=ours)
    assert found.code == 3
    assert "HEAD is in main already" in found.said
    assert found.recall[0] == 1.0 > found.recall[1]
    needed = repository.gate(tmp_path / "without", PATH=path.partition(os.pathsep)[2], RAGAUGE_COMMAND=ours)
    assert needed.returncode not in (0, 3, 4)  # another python lacks it


def test_a_bad_gate_stops_before_anything_is_asked(tmp_path: Path) -> None:
    """A mistake in ragauge.yaml, or a missing setting, ends the step at once: the system is never started."""
    repository = Repository(tmp_path / "app")
    repository.write("ragauge.yaml", RULES.replace("regression", "regresion"))
    done = repository.gate(tmp_path / "step", RAGAUGE_SYSTEM="touch started")
    assert done.returncode == 2
    assert "ragauge.yaml line 6: gate.rules[3].tag" in done.stderr
    assert "nearest: regression" in done.stderr
    assert not (repository.path / "started").exists()
    assert (tmp_path / "step/output.txt").read_text() == "verdict=error\n"
    apart = repository.gate(tmp_path / "apart", RAGAUGE_BASE="origin/main", RAGAUGE_SYSTEM="touch started")
    assert apart.returncode == 1
    assert "fetch-depth: 0" in apart.stderr
    assert "RAGAUGE_BASE" in apart.stderr
    assert not (repository.path / "started").exists()
    unset = repository.gate(tmp_path / "step", RAGAUGE_SYSTEM="")
    assert unset.returncode not in (0, 3, 4)
    assert "RAGAUGE_SYSTEM" in unset.stderr


def test_action_is_whole_and_safe() -> None:
    """Inputs are used and reach scripts by environment alone, so that none is run as code; every script is there."""
    found = action()
    steps = found["runs"]["steps"]
    text = json.dumps(steps)
    assert {name for name in found["inputs"] if f"inputs.{name} " not in text} == set()
    assert set(re.findall(r"inputs\.([\w-]+)", text)) == set(found["inputs"])
    for one in steps:
        assert "${{" not in one.get("run", "")
    for name in re.findall(r"\$ACTION/(\S+?)\"", "\n".join(one.get("run", "") for one in steps)):
        assert os.access(ROOT / name, os.X_OK)
    for script, which in ((SCRIPT, "gate"), (INSTALL, "install")):
        used = set(re.findall(r"RAGAUGE_[A-Z]+", script.read_text()))
        given = next(set(one["env"]) for one in steps if one.get("id") == which)
        assert used - {"RAGAUGE_STORE"} == given - {"ACTION"}


def test_example_workflow_names_what_the_action_takes() -> None:
    """The workflow that people copy gives inputs that there are, and reads outputs that there are."""
    workflow = yaml.safe_load((ROOT / ".github/examples/rag-gate.yml").read_text())
    steps = workflow["jobs"]["gate"]["steps"]
    used = next(one for one in steps if one.get("id") == "ragauge")
    found = action()
    needed = {name for name, given in found["inputs"].items() if given.get("required")}
    assert needed <= set(used["with"]) <= set(found["inputs"])
    before = " ".join(str(one.get("run", "")) for one in steps[: steps.index(used)])
    assert "pip install" in before  # what the system needs, as the action installs ragauge alone
    assert set(re.findall(r"steps\.ragauge\.outputs\.(\w+)", json.dumps(steps))) <= set(found["outputs"])


def test_what_to_replace_in_the_example_is_said_beside_it() -> None:
    """The one placeholder of the workflow stands beside what to put there, in the file and on the page."""
    lines = (ROOT / ".github/examples/rag-gate.yml").read_text().splitlines()
    (at,) = (n for n, line in enumerate(lines) if "uses: OWNER/ragauge@" in line)
    said = " ".join(line.strip(" #") for line in lines[at - 4 : at])
    assert "REPLACE OWNER" in said
    page = (ROOT / "docs/gates.md").read_text()
    assert "`OWNER`" in page
    assert "ragauge init" in page.partition("## GitHub Actions")[2]  # the workflow that needs no action
