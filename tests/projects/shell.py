"""Commands in the folder of a project, as people type them, and the steps of a workflow as a runner takes them."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

import yaml

SRC = str(Path(__file__).resolve().parents[2] / "src")
COMMITTER = ("-c", "user.name=a", "-c", "user.email=a@b")
Done = subprocess.CompletedProcess[str]


@dataclass
class Shell:
    """A folder in which commands are run.

    Attributes:
        folder: where.
        ran: commands of ragauge so far.
    """

    folder: Path
    ran: list[str] = field(default_factory=list)

    def ragauge(self, *words: str, code: int = 0) -> Done:
        """A command of ragauge; any other exit code than this one fails."""
        self.ran.append(" ".join(words))
        return self.run(sys.executable, "-m", "ragauge", *words, code=code)

    def git(self, *words: str) -> str:
        """A command of git: what it printed."""
        return self.run("git", *COMMITTER, *words).stdout.strip()

    def run(self, *words: str, code: int = 0) -> Done:
        """Any command."""
        done = subprocess.run(words, cwd=self.folder, env=self.environment, capture_output=True, text=True, check=False)
        assert done.returncode == code, f"{' '.join(words)}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done

    @property
    def environment(self) -> dict[str, str]:
        """Without what the session that tests has set; `ragauge` is the one that is tested."""
        ours = ("RAGAUGE_", "GITHUB_", "PYTEST_", "PYTHONDONTWRITEBYTECODE")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
        path = f"{Path(sys.executable).parent}{os.pathsep}{kept.get('PATH', '')}"
        return {**kept, "PYTHONPATH": SRC, "PATH": path}

    def commit(self, message: str) -> str:
        """Commits everything: its id."""
        self.git("add", "-A")
        self.git("commit", "-q", "-m", message)
        return self.git("rev-parse", "HEAD")

    def workflow(self, base: str, head: str) -> dict[str, int]:
        """Runs the steps of the workflow that init wrote for a pull request: a step's name, or command -> exit code.

        As the runner does: in order, each in a shell that stops at an error; after a failure only what always runs.
        What is to be installed is not installed again: it is checked to be what is here.
        """
        text = (self.folder / ".github/workflows/ragauge.yml").read_text()
        for name, commit in (("base", base), ("head", head)):
            text = text.replace(f"${{{{ github.event.pull_request.{name}.sha }}}}", commit)
        text = text.replace("${{ vars.RAGAUGE }}", "ragauge")
        assert "${{" not in text
        steps: list[dict[str, Any]] = yaml.safe_load(text)["jobs"]["evaluate"]["steps"]
        codes: dict[str, int] = {}
        for step in steps:
            if "run" not in step or (any(codes.values()) and step.get("if") != "always()"):
                continue
            script, name = step["run"], step.get("name", step["run"])
            if script.startswith("pip install "):
                check_installed(script)
                continue
            done = subprocess.run(
                ["bash", "-e", "-o", "pipefail", "-c", script],
                cwd=self.folder,
                env=self.environment,
                capture_output=True,
                text=True,
                check=False,
            )
            codes[name] = done.returncode
            print(name, done.stdout[-3000:], done.stderr[-1000:])  # noqa: T201 - shown where a test fails
        return codes


def check_installed(command: str) -> None:
    """Every requirement of a `pip install` is met by what is installed."""
    for wanted in shlex.split(command.removeprefix("pip install ")):
        name, _, version = wanted.partition("==")
        assert not version or metadata.version(name) == version, wanted
