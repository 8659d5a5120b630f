"""Programs that cannot connect anywhere, and say whether they tried."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

RAGAUGE = Path(sys.executable).with_name("ragauge")
BLOCKED = """
import os, socket

def refused(*words, **more):
    with open(os.environ["TRIED"], "a") as log:
        log.write(f"{words!r}\\n")
    raise OSError("blocked by the test")

socket.socket.connect = socket.socket.connect_ex = socket.socket.sendto = refused
socket.getaddrinfo = socket.gethostbyname = socket.create_connection = refused
"""


def offline(folder: Path, *words: str | Path, more: str = "") -> subprocess.CompletedProcess[str]:
    """Runs a program in a folder; its sockets are blocked from its first line, and those of every process it starts."""
    site = folder / "site"
    site.mkdir(exist_ok=True)
    (site / "sitecustomize.py").write_text(BLOCKED + more)
    environment = os.environ | {"PYTHONPATH": str(site), "TRIED": str(folder / "tried")}
    environment.pop("RAGAUGE_STORE", None)
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done


def tried(folder: Path) -> str:
    """The connections that programs in the folder tried, a line each."""
    log = folder / "tried"
    return log.read_text() if log.exists() else ""
