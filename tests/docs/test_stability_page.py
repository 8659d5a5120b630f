"""The page that lists what stays stable names all of it, and nothing else."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest
from tests.docs.pages import ROOT

import ragauge as rg
import ragauge.aio

PAGE = (ROOT / "docs/stability.md").read_text(encoding="utf-8")


def section(title: str) -> str:
    return PAGE.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def names(text: str) -> set[str]:
    return set(re.findall(r"`(\w+)`", text))


def test_python_names_are_listed() -> None:
    """Every public name of ragauge and of its coroutines is on the page."""
    own, _, coroutines = section("Python").partition("Coroutines in")
    assert names(own) - {"ragauge"} == set(rg.__all__)
    without = names(coroutines.partition("for every function above but")[2].partition("Three groups")[0])
    functions = names(own.partition("Functions:")[2].partition("Types and errors:")[0])
    assert without
    assert functions - without == set(ragauge.aio.__all__)


def test_fixtures_and_options_are_listed(pytestconfig: pytest.Config) -> None:
    """Every fixture and option of the plug-in for pytest is on the page."""
    text = section("pytest plug-in")
    plugin = pytestconfig.pluginmanager.get_plugin("ragauge")
    assert names(text) - {"ragauge"} == {name for name in vars(plugin) if name.startswith("ragauge_")}
    options = {option for option in pytestconfig.option.__dict__ if option.startswith("ragauge_")}
    assert {name[2:].replace("-", "_") for name in re.findall(r"`(--[\w-]+)`", text)} == options


def test_schemas_are_listed() -> None:
    """Every schema that is shipped is on the page."""
    shipped = {path.name.removesuffix(".schema.json") for path in files("ragauge.core.schema").iterdir()}
    listed = {name.removesuffix(".schema.json") for name in re.findall(r"`([\w.]+)`", section("Files"))}
    assert {name for name in shipped if not name.startswith("_")} <= listed
