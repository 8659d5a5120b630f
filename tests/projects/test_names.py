"""Four frameworks under five names each: `ragauge init` finds the system, and it can be asked."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path

import pytest
from tests.cli.conftest import Cli, cli  # noqa: F401 - a fixture
from tests.projects.apps import NAMES, PACKAGES, SHOPS, asked_as, write_project


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], None]:
    """Makes a project the working directory, with its modules not imported yet."""

    def made(framework: str, name: str) -> None:
        package = PACKAGES.get(framework)
        if package and find_spec(package.partition(".")[0]) is None:
            pytest.skip(f"{package} is not installed")
        folder = tmp_path / framework / name
        folder.mkdir(parents=True)
        write_project(folder, framework, name)
        monkeypatch.chdir(folder)
        monkeypatch.setattr(sys, "path", [*sys.path])
        for module in ("ragauge_system", "shop", "search", "web"):
            monkeypatch.delitem(sys.modules, module, raising=False)

    return made


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of the frameworks themselves
@pytest.mark.parametrize("names", [NAMES[:1], pytest.param(NAMES, marks=pytest.mark.prove)], ids=["one", "all"])
@pytest.mark.parametrize("framework", SHOPS)
def test_init_is_right_and_the_system_answers(
    cli: Cli,  # noqa: F811 - the fixture
    project: Callable[[str, str], None],
    framework: str,
    names: Sequence[str],
    record_property: Callable[[str, object], None],
) -> None:
    """Under every name the system is found first, and one question that is asked of what init wrote is answered."""
    right = 0
    for name in names:
        project(framework, name)
        begun = cli("init", "--no-evaluate", "--json").json()
        right += begun["found"][0] == asked_as(framework, name)
        done = cli("run", begun["target"], begun["eval_set"], "--limit", "1", "--json", "-q")
        assert done.code == 0, done.err
        assert (done.json()["answered"], done.json()["failed"]) == (1, {}), (name, done.out)
    record_property("figure", f"init on {framework} projects: right under {right} of {len(names)} names")
    assert right == len(names)
