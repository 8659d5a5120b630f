"""One walk through a project, made once for all that is asked of it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter

import pytest
from tests.projects.apps import PACKAGES, break_retriever, write_project
from tests.projects.shell import Done, Shell


@dataclass(frozen=True)
class Walked:
    """A project from its first command to the gate of a broken retriever.

    Attributes:
        shell: its folder, with the retriever broken.
        init: what each command did.
        run: with the broken retriever.
        gate: of the broken one.
        commands: those that led from the folder to the red gate.
        seconds: that these took.
    """

    shell: Shell
    init: Done
    run: Done
    gate: Done
    commands: tuple[str, ...]
    seconds: float

    @property
    def broken(self) -> str:
        """Id of the run with the broken retriever."""
        found = re.search(r"\brun ([0-9a-f]{12})\b", self.run.stdout)
        assert found is not None, self.run.stdout
        return found[1]


def begun(folder: Path, framework: str, name: str) -> Shell:
    """A project in a repository of its own; skipped where the framework is not installed."""
    package = PACKAGES.get(framework, "")
    if package and find_spec(package.partition(".")[0]) is None:
        pytest.skip(f"{package} is not installed")
    folder.mkdir()
    write_project(folder, framework, name)
    shell = Shell(folder)
    shell.git("init", "-q", "-b", "main", ".")
    return shell


@pytest.fixture(scope="class")
def walked(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Walked:
    """Init, baseline, a broken retriever, run, gate."""
    shell = begun(tmp_path_factory.mktemp("walked") / "project", request.cls.framework, request.cls.name)
    started = perf_counter()
    init = shell.ragauge("init", "-q")
    shell.ragauge("baseline", "set", "latest")
    break_retriever(shell.folder)
    run = shell.ragauge("run", "ragauge_system:system", "golden.jsonl", "--evaluate", "-q")
    gate = shell.ragauge("gate", "latest", "--baseline", "main", code=3)
    return Walked(shell, init, run, gate, tuple(shell.ran), perf_counter() - started)
