"""docs/causes.md says what the code does, and its figures hold."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from ragauge.diagnosis.causes.attribution import ROWS

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/causes.md").read_text(encoding="utf-8")
NAMES = [row.name for row in ROWS]


def loaded() -> ModuleType:
    """The tool as a module; tools/ is no package."""
    spec = importlib.util.spec_from_file_location("cause_matrix", ROOT / "tools/cause_matrix.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


tool = loaded()


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "tools/cause_matrix.py", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=240)


def test_list_of_causes_is_that_of_the_code() -> None:
    """The causes stand in the page in the order of decision, each with what decides it, an example and its fix."""
    done = run("--list", "--check")
    assert done.returncode == 0, done.stderr
    inside = tool.part(PAGE, "list")[1]
    assert [line.split(". ")[1] for line in inside.splitlines() if line.startswith("### ")] == NAMES
    for row in ROWS:
        assert f"- fix: {row.fix}" in inside
    assert inside.count("Applies when") == len(ROWS)
    assert "“”" not in inside


def test_every_row_says_when_it_applies() -> None:
    """The docstring of every row has a plain sentence, then the condition."""
    for row in ROWS:
        what, _, when = (row.decide.__doc__ or "").strip().partition("\n\n")
        assert what.endswith("."), row.name
        assert when.strip().startswith("Applies when"), row.name


def test_matrix_of_the_page_is_whole() -> None:
    """Every cause that can be planted has at least 30 cases in the page's matrix, and enough of them are right."""
    matrix = tool.read(tool.part(PAGE, "matrix")[1])
    for name in NAMES:
        if name == "unclear":  # what nobody can tell cannot be planted
            continue
        assert sum(n for (planted, _), n in matrix.items() if planted == name) >= 30
    assert tool.share(matrix) >= tool.LEAST
    assert tool.moved(matrix, matrix) == []


def test_figures_that_moved_are_told() -> None:
    """The check fails for a share below the least, for one that moved, for a cause that moved, and for no matrix."""
    good = {(name, name): 36 for name in NAMES}
    assert tool.moved(good, good) == []
    worse = good | {("noise", "noise"): 29, ("noise", "incomplete"): 7}
    assert tool.moved(good, worse) == ["noise: the page says 36 right, they are 29"]
    spread = dict.fromkeys(good, 34) | {(name, "wrong_cause"): 2 for name in NAMES}
    assert tool.moved(good, spread) == ["right causes: the page says 100.0%, they are 94.4%"]
    bad = {(name, name): 20 for name in NAMES} | {(name, "wrong_cause"): 16 for name in NAMES}
    assert "it has to be 75%" in tool.moved(bad, bad)[0]
    passed = {(name, name): 20 for name in NAMES} | {(name, tool.PASSED): 16 for name in NAMES}
    assert tool.moved(passed, passed) == ["44.4% of the faults pass; at most 15% may"]
    doubted = {(name, name): 30 for name in NAMES} | {(name, tool.OPEN): 6 for name in NAMES}
    assert tool.moved(doubted, doubted) == []
    assert tool.moved({}, good) == ["the page holds no matrix"]


def test_one_planted_case_of_each_cause_is_named_as_on_the_page() -> None:
    """The local judge names the right cause of one failed case of each in 75 % at least."""
    matrix = tool.named(tool.planted_cases(each=1), tool.build_judge("local"))
    assert sum(matrix.values()) == len({planted for planted, _ in matrix}) >= len(NAMES) - 1
    assert tool.share(matrix) >= tool.LEAST


@pytest.mark.prove
def test_figures_of_the_page_hold() -> None:
    """With the local judge as it is, the page's figures hold: of 75 % of the failed the right cause is named."""
    done = run("--check")
    assert done.returncode == 0, done.stderr
