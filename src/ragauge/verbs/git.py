"""What git knows of the working directory: which commit a run was made at, on which branch, and who works here."""

from __future__ import annotations

import getpass
import re
import shutil
import subprocess

ADDRESS = re.compile(r"(https|ssh)://(?:[^/@\s]*@)?([^/@\s]+/\S+)")  # of a remote; a password is left out


def state() -> str:
    """The working directory's commit, with "+changes" where the tree is dirty; "" outside git."""
    commit = _asked("rev-parse", "--short=12", "HEAD")
    return commit + ("+changes" if commit and _asked("status", "--porcelain", "--untracked-files=no") else "")


def branch() -> str:
    """The branch that the working directory is on; "" outside git, and on a commit that no branch was checked out for.

    >>> isinstance(branch(), str)
    True
    """
    return _asked("symbolic-ref", "--short", "-q", "HEAD")


def user() -> str:
    """Who works here: git's user.name, or the name of the account; "" where neither is known."""
    if name := _asked("config", "user.name"):
        return name
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):  # an account without a name, as containers have
        return ""


def remote_commit(folder: str) -> str:
    """Where others get the commit of a checkout, as pip takes it; "" where it has no remote that others reach."""
    address = ADDRESS.fullmatch(_asked("-C", folder, "config", "--get", "remote.origin.url"))
    commit = _asked("-C", folder, "rev-parse", "HEAD")
    return f"git+{address[1]}://{address[2]}@{commit}" if address and commit else ""


def _asked(*words: str) -> str:
    """What git says; "" where it is not installed or fails."""
    git = shutil.which("git")
    if git is None:
        return ""
    try:
        done = subprocess.run([git, *words], capture_output=True, text=True, check=True, timeout=5)  # noqa: S603
    except (subprocess.SubprocessError, OSError, ValueError):  # ValueError: names that are not text
        return ""
    return done.stdout.strip()
