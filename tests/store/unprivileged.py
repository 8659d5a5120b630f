"""Processes for which file permissions hold, whoever runs the tests: root may write to everything otherwise."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SRC = str(ROOT / "src")
CAPABILITIES = "-dac_override,-dac_read_search"


def run_python(*words: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Runs this Python; root is bound by permissions with setpriv, which every Linux has (util-linux)."""
    root = os.name == "posix" and os.geteuid() == 0
    before = ["setpriv", "--bounding-set", CAPABILITIES, "--inh-caps", CAPABILITIES] if root else []
    command = [*before, sys.executable, *map(str, words)]
    environment = {**os.environ, "PYTHONPATH": SRC}
    environment.pop("RAGAUGE_STORE", None)
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=cwd, env=environment)


def read_only(folder: Path) -> None:
    """Takes the right to write from a folder and its files."""
    for path in folder.iterdir():
        path.chmod(0o444)
    folder.chmod(0o555)
