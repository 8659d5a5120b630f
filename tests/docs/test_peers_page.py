"""docs/beside-peers.md: lines that a user writes, here and in other tools."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def bench() -> ModuleType:
    spec = importlib.util.spec_from_file_location("lines_of_code", ROOT / "bench/lines_of_code.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_table_is_what_the_bench_counts(bench: ModuleType) -> None:
    """The page's table is counted from the texts that the bench runs, and no line is longer than the rule says."""
    assert bench.table() in (ROOT / "docs/beside-peers.md").read_text(encoding="utf-8")
    assert max(len(line) for text in bench.TEXT.values() for line in text.splitlines()) <= 110


def test_texts_read(bench: ModuleType) -> None:
    """Every Python text of ragauge compiles, as it is run."""
    for task in bench.TASKS:
        compile(bench.HEAD + bench.whole(task, "ragauge"), task, "exec")
