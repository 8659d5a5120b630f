"""Examples in docstrings."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROOF = [ROOT / "tests/building.py", ROOT / "tests/stats/students.py"]  # which other tests rest on


def name_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(part for part in parts if part not in ("src", "__init__"))


WITH_EXAMPLES = [path for path in (*sorted((ROOT / "src").rglob("*.py")), *PROOF) if ">>> " in path.read_text()]


@pytest.mark.parametrize("name", [name_of(path) for path in WITH_EXAMPLES])
def test_examples_in_docstrings(name: str) -> None:
    """Every example in a docstring gives what it shows."""
    assert doctest.testmod(importlib.import_module(name)).failed == 0
