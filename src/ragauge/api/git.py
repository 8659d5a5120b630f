"""Which commit a run was made at."""

from __future__ import annotations

import shutil
import subprocess


def state() -> str:
    """The working directory's commit, with "+changes" where the tree is dirty; "" outside git."""
    git = shutil.which("git")
    if git is None:
        return ""
    try:
        commit = _ask(git, "rev-parse", "--short=12", "HEAD")
        return commit + ("+changes" if _ask(git, "status", "--porcelain", "--untracked-files=no") else "")
    except (subprocess.SubprocessError, OSError):
        return ""


def _ask(git: str, *words: str) -> str:
    done = subprocess.run([git, *words], capture_output=True, text=True, check=True, timeout=5)  # noqa: S603
    return done.stdout.strip()
