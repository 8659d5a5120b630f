"""The core's faults are found: each one planted in a copy of the package makes a named test fail."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.mutants.core import MUTANTS, Mutant

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src/ragauge"


def source_of(mutant: Mutant) -> Path:
    """The file that holds a mutant's text, once; where its file has moved, the only other one that does."""
    named = PACKAGE / mutant.path
    among = [named] if named.is_file() else sorted(PACKAGE.rglob("*.py"))
    found = [path for path in among if path.read_text(encoding="utf-8").count(mutant.old) == 1]
    assert len(found) == 1, f"{mutant}: stands exactly once in {len(found)} files, expected 1. Update the list."
    return found[0]


def test_list_is_up_to_date() -> None:
    """Every mutant's text stands exactly once in its file, its tests exist, and no fault is listed twice."""
    places = [(source_of(mutant), mutant.old, mutant.new) for mutant in MUTANTS]
    assert len(set(places)) == len(places) >= 40
    assert all(mutant.old != mutant.new for mutant in MUTANTS)
    absent = {name for mutant in MUTANTS for name in mutant.tests.split() if not (ROOT / f"tests/{name}.py").is_file()}
    assert not absent


@pytest.fixture(scope="session")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of src/ that mutants are planted in, one at a time."""
    return Path(shutil.copytree(ROOT / "src", tmp_path_factory.mktemp("mutants") / "src"))


def run(scratch: Path, names: str) -> subprocess.CompletedProcess[str]:
    """Runs test files against the copy, up to the first failure."""
    files = [f"tests/{name}.py" for name in names.split()]
    options = ["-q", "-x", "-p", "no:xdist", "-p", "no:cacheprovider", "-m", "not prove and not slow"]
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "COV"))}
    env = kept | {"PYTHONPATH": str(scratch), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        [sys.executable, "-m", "pytest", *options, *files],
        cwd=ROOT,
        env=env,
        text=True,
        capture_output=True,
        check=False,
    )


@pytest.mark.prove
@pytest.mark.parametrize("names", sorted({mutant.tests for mutant in MUTANTS}))
def test_passes_without_a_fault(scratch: Path, names: str) -> None:
    """The tests that kill mutants pass where nothing is planted, so it is the fault that they see."""
    done = run(scratch, names)
    assert done.returncode == 0, done.stdout[-3000:]


@pytest.mark.prove
@pytest.mark.parametrize("mutant", MUTANTS, ids=str)
def test_killed(scratch: Path, mutant: Mutant) -> None:
    """A planted fault makes one of its tests fail; an error while tests are collected is not a kill."""
    planted = scratch / source_of(mutant).relative_to(ROOT / "src")
    whole = planted.read_text(encoding="utf-8")
    try:
        planted.write_text(whole.replace(mutant.old, mutant.new), encoding="utf-8")
        done = run(scratch, mutant.tests)
    finally:
        planted.write_text(whole, encoding="utf-8")
    assert done.returncode == 1, f"survived (pytest exit {done.returncode}): {mutant}\n{done.stdout[-2000:]}"
