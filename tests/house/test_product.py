"""What is in the wheel is the product; what only proves it stands beside the tests."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src"
# what users, pytest and the shell begin at; Alembic finds the migrations by their folder
BEGINNINGS = re.compile(
    r"ragauge|ragauge\.(__main__|aio|pytest_plugin|cli\.main)|ragauge\.store\.migrations\.(env|versions\.v\d+_\w+)"
)
# the lazy front, manifests and tables of plug-ins name modules, and things in them, in strings
NAMED = re.compile(r"(ragauge(?:\.\w+)+)(?::\w+)?")


def modules() -> dict[str, Path]:
    """Every module of the package by its name."""
    found = {}
    for path in sorted((SOURCE / "ragauge").rglob("*.py")):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imported(tree: ast.AST) -> Iterator[str]:
    """What a module imports, or names in a string that is nothing but a module's name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and (named := NAMED.fullmatch(node.value)):
            yield named[1]


def unreached() -> dict[str, ast.Module]:
    """Modules that nothing leads to from where the product begins."""
    trees = {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in modules().items()}
    seen: set[str] = set()
    todo = [name for name in trees if BEGINNINGS.fullmatch(name)]
    while todo:
        name = todo.pop()
        if name in trees and name not in seen:
            seen.add(name)
            todo += [name.rpartition(".")[0], *imported(trees[name])]  # importing a module imports its packages
    return {name: tree for name, tree in trees.items() if name not in seen}


def test_product_holds_nothing_for_tests_alone() -> None:
    """Every module is used by the product; of the statistics, or has a function that the docs tell users to call."""
    page = (ROOT / "docs/statistics.md").read_text(encoding="utf-8")
    offered = set(re.findall(r"\w+", " ".join(re.findall(r"`[^`]+`|```python.*?```", page, re.DOTALL))))
    idle = [
        name
        for name, tree in unreached().items()
        if not name.startswith("ragauge.stats.")
        or not offered & {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    ]
    assert not idle, "move these beside the tests that use them, or delete them"


def test_product_imports_no_test() -> None:
    """No module of the package imports tests, tools or benches, which are in no wheel."""
    outside = re.compile(r"^\s*(?:from|import) (?:tests|tools|bench)\b", re.MULTILINE)
    assert not [name for name, path in modules().items() if outside.search(path.read_text(encoding="utf-8"))]


def test_advised_commands_name_a_run() -> None:
    """A command that a text advises can be given as printed: no RUN stands in it where a run's name belongs."""
    usage = r"(?! (?:NAME|TEXT) --store)"  # the form of a command whose options stood before it
    advised = re.compile(rf"(?<!`)ragauge (?:[a-z]+ )+RUN\b{usage}|\bcommand\([^)]*[\"']RUN[\"']")
    held = {name: advised.findall(path.read_text(encoding="utf-8")) for name, path in modules().items()}
    assert not {name: found for name, found in held.items() if found}
