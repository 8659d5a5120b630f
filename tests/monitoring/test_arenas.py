"""A server's memory: what one thread has freed another takes."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

THREADS = """
import ctypes, sys, threading
from ragauge.monitoring.service import share_arenas
if sys.argv[1] == "shared":
    assert share_arenas()
library, met = ctypes.CDLL(None), threading.Barrier(9)
library.malloc.restype = library.fopen.restype = ctypes.c_void_p
def take():
    library.malloc(1000)
    met.wait()     # none ends before each has its arena
    met.wait()
threads = [threading.Thread(target=take) for _ in range(8)]
for one in threads:
    one.start()
met.wait()
said = ctypes.c_void_p(library.fopen(sys.argv[2].encode(), b"w"))
library.malloc_info(0, said)
library.fclose(said)
met.wait()
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries have no arenas")
def test_threads_share_two_arenas(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Eight threads take memory from two arenas at most, and from more where nothing is set."""
    counts = {}
    for how in ("shared", "own"):
        said = tmp_path_factory.mktemp("arenas") / how
        subprocess.run([sys.executable, "-c", THREADS, how, str(said)], check=True, timeout=120)
        counts[how] = said.read_text().count("<heap nr=")
    assert counts["shared"] <= 2 < counts["own"]
