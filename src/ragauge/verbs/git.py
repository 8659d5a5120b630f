"""What git knows of the working directory: which commit a run was made at, on which branch, and who works here."""

from __future__ import annotations

import getpass
import re
import shutil
import subprocess

REMOTE_ADDRESS = re.compile(r"(https|ssh)://(?:[^/@\s]*@)?([^/@\s]+/\S+)")  # of a remote; a password is left out


def find_commit() -> str:
    """The working directory's commit, with "+changes" where the tree is dirty; "" outside git."""
    commit = _run_git("rev-parse", "--short=12", "HEAD")
    return commit + ("+changes" if commit and _run_git("status", "--porcelain", "--untracked-files=no") else "")


def find_branch() -> str:
    """The branch that the working directory is on; "" outside git, and on a commit that no branch was checked out for.

    >>> isinstance(find_branch(), str)
    True
    """
    return _run_git("symbolic-ref", "--short", "-q", "HEAD")


def find_user() -> str:
    """Who works here: git's user.name, or the name of the account; "" where neither is known."""
    if name := _run_git("config", "user.name"):
        return name
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):  # an account without a name, as containers have
        return ""


def find_remote_commit(folder: str) -> str:
    """Where others get the commit of a checkout, as pip takes it; "" where it has no remote that others reach."""
    address = REMOTE_ADDRESS.fullmatch(_run_git("-C", folder, "config", "--get", "remote.origin.url"))
    commit = _run_git("-C", folder, "rev-parse", "HEAD")
    return f"git+{address[1]}://{address[2]}@{commit}" if address and commit else ""


def _run_git(*words: str) -> str:
    """What git says; "" where it is not installed or fails."""
    git = shutil.which("git")
    if git is None:
        return ""
    try:
        completed = subprocess.run([git, *words], capture_output=True, text=True, check=True, timeout=5)  # noqa: S603
    except (subprocess.SubprocessError, OSError, ValueError):  # ValueError: names that are not text
        return ""
    return completed.stdout.strip()
