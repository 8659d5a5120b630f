"""The README does what it says: its files, commands and code are taken from it and run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from tests.docs.pages import taken

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()
BIN = Path(sys.executable).parent
QRELS = "q1 0 a 1\nq1 0 b 0\nq2 0 c 1\n"
RUN = "q1 Q0 a 1 2.0 x\nq1 Q0 b 2 1.0 x\nq2 Q0 d 1 1.0 x\n"


CONSOLE, (CODE,), (ANSWERS,) = (taken("README.md", language) for language in ("console", "python", "json"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "answers.jsonl").write_text(ANSWERS.text)
    (tmp_path / "qrels.txt").write_text(QRELS)
    (tmp_path / "run.txt").write_text(RUN)
    return tmp_path


def run(words: list[str], folder: Path) -> str:
    env = {key: value for key, value in os.environ.items() if not key.startswith("RAGAUGE")}
    env["PATH"] = f"{BIN}{os.pathsep}{env['PATH']}"
    done = subprocess.run(words, cwd=folder, env=env, capture_output=True, text=True, check=False, timeout=240)
    assert done.returncode == 0, f"{words}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.mark.prove
def test_commands_of_the_readme_run(folder: Path) -> None:
    """Every ragauge command of the README runs, in order, on the README's own file, and writes what it says.

    The run that it compares with the first one is another.
    """
    lines = [line for block in CONSOLE for line in block.commands if line.startswith(("ragauge", "sed"))]
    assert len(lines) >= 4
    out = [run(["sh", "-c", line], folder) for line in lines]
    (compared,) = (text for line, text in zip(lines, out, strict=True) if "--baseline" in line)
    assert "is this run itself" not in compared
    assert "faithfulness" in out[0]
    assert (folder / "report.html").is_file()
    assert "12 euros" in out[1]


@pytest.mark.slow
def test_python_of_the_readme_runs(folder: Path) -> None:
    """The README's Python runs as it stands and finds the invented price and the missed page."""
    out = run([sys.executable, "-c", CODE.text], folder)
    assert "faithfulness" in out
    assert "retrieval_miss" in out


def test_make_targets_of_the_readme_exist() -> None:
    """The two commands that do everything are targets of the Makefile, and CI runs the one that includes both tests."""
    targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    for target in re.findall(r"^\$ make ([a-z]+)", README, re.MULTILINE):
        assert target in targets
    assert "make check" in (ROOT / ".ci/run").read_text()


def test_linked_pages_exist() -> None:
    """Every relative link of the README and the documentation leads to a file."""
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_dependencies_name_the_files_that_need_them() -> None:
    """Each dependency of the package stands beside files or folders that there are."""
    text = (ROOT / "pyproject.toml").read_text()
    named = re.findall(r'^    "[\w.-]+>=[^"]+", +# (.+)$', text, re.MULTILINE)
    assert len(named) == len(tomllib.loads(text)["project"]["dependencies"])
    for place in ", ".join(named).split(", "):
        assert (ROOT / "src/ragauge" / place).exists(), place
