"""What the workflow of `ragauge init` installs, and what it says that it cannot know."""

from __future__ import annotations

import subprocess
from importlib import metadata
from pathlib import Path

import pytest
import yaml

from ragauge.core import origin
from ragauge.evaluation.init import project_files
from ragauge.evaluation.init.project import begin_project
from ragauge.evaluation.init.project_files import find_needs
from ragauge.verbs.evaluate_options import InitOptions

YAML_VERSION = metadata.version("pyyaml")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository whose system imports a package that is installed and one that is not."""
    monkeypatch.setattr(origin, "find_source", lambda: "ragauge")
    monkeypatch.setattr(project_files, "find_source", lambda: "ragauge")
    (tmp_path / ".git").mkdir()
    (tmp_path / "app.py").write_text(
        "import json\nimport yaml\nimport helper\nfrom no_such_package import x\n\n"
        "def answer(question):\n    return 'x'\n"
    )
    (tmp_path / "helper.py").write_text("import re\n")
    return tmp_path


def installed(project: Path) -> list[str]:
    """The lines of the step that installs, comments before it included."""
    begun = begin_project(InitOptions(project))
    text = (project / ".github/workflows/ragauge.yml").read_text()
    steps = yaml.safe_load(text)["jobs"]["evaluate"]["steps"]
    (step,) = [step["run"] for step in steps if "pip install" in step.get("run", "")]
    comments = [line.strip() for line in text.splitlines() if line.strip().startswith("# ")]
    return [*comments, *step.strip().splitlines(), *begun.notes]


def test_imports_become_distributions(project: Path) -> None:
    """Without a list, what is imported is installed as it is here; the standard library and own modules are not."""
    lines = installed(project)
    assert f'pip install "ragauge" PyYAML=={YAML_VERSION}' in lines
    assert any(
        line.startswith("# ADD the package that provides the module no_such_package (imported by app.py)")
        for line in lines
    )
    assert any("the package that provides no_such_package (in app.py) is unknown" in line for line in lines)


def test_a_list_of_requirements_is_used(project: Path) -> None:
    """A requirements file is installed, and beside it what is imported, is installed here, and is not in it."""
    (project / "requirements.txt").write_text("no-such-package>=1  # mine\n")
    assert f'pip install "ragauge" -r requirements.txt PyYAML=={YAML_VERSION}' in installed(project)


def test_what_the_list_brings_in_turn_is_not_repeated(project: Path) -> None:
    """A package that one in the list needs is not named again."""
    (project / "requirements.txt").write_text("ragauge\nno-such-package\n")
    assert 'pip install "ragauge" -r requirements.txt' in installed(project)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (
            "[build-system]\nrequires = []\n[project]\nname = 'a'\ndependencies = ['pyyaml']\n",
            ['pip install "ragauge" .'],
        ),
        ("[tool.poetry]\nname = 'a'\n[tool.poetry.dependencies]\n", ['pip install "ragauge" .']),
        (
            "[project]\nname = 'a'\ndependencies = ['pyyaml >= 6']\n",
            ['pip install "ragauge" -r "$RUNNER_TEMP/ragauge-needs.txt"'],
        ),
        ("[tool.ruff]\nline-length = 100\n", [f'pip install "ragauge" PyYAML=={YAML_VERSION}']),
    ],
)
def test_a_project_file_is_read(project: Path, text: str, wanted: list[str]) -> None:
    """What can be built is installed; of what cannot, its dependencies; a pyproject of tools alone says nothing."""
    (project / "pyproject.toml").write_text(text)
    assert set(wanted) <= set(installed(project))


@pytest.mark.parametrize(
    ("remote", "line"),
    [
        (
            "https://name:secret@host.example/r/ragauge.git",
            'pip install "ragauge @ git+https://host.example/r/ragauge.git@',
        ),
        ("ssh://git@host.example/r/ragauge.git", 'pip install "ragauge @ git+ssh://host.example/r/ragauge.git@'),
        ("/home/name/ragauge", 'pip install "${{ vars.RAGAUGE }}"'),
        ("", 'pip install "${{ vars.RAGAUGE }}"'),
    ],
)
def test_a_workflow_installs_ragauge_from_where_it_can_be_had(
    project: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch, remote: str, line: str
) -> None:
    """A checkout is installed from the commit of its remote, without a password; where it has none, a variable is."""
    checkout = tmp_path_factory.mktemp("checkout")
    for words in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "x"], ["remote", "add", "origin", remote]):
        if words[-1]:
            named = ["-c", "user.name=a", "-c", "user.email=a@host.example"]
            subprocess.run(["git", "-C", str(checkout), *named, *words], check=True)
    monkeypatch.setattr(project_files, "find_source", lambda: str(checkout))
    lines = installed(project)
    assert any(text.startswith(line) for text in lines)
    assert any("ADD RAGAUGE" in text for text in lines) == ("vars" in line)
    assert not any("secret" in text for text in lines)


def test_a_shared_package_is_told_by_its_module() -> None:
    """Of distributions that share a package the one that brings the very module is installed."""
    pytest.importorskip("llama_index.core", reason="the group frameworks is not installed")
    found = find_needs(Path("nowhere"), {"llama_index.core": "app.py"})
    assert found.install == f"llama-index-core=={metadata.version('llama-index-core')}"
    assert found.unknown == ()
