"""Examples in docstrings."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import ragauge

PROOF = ["tests.building", "tests.stats.students"]     # which other tests rest on
MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(ragauge.__path__, "ragauge.")
    if "migrations" not in module.name and not module.name.endswith("__main__")
) + PROOF


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings(name: str) -> None:
    """Every example in a docstring gives what it shows."""
    assert doctest.testmod(importlib.import_module(name)).failed == 0
