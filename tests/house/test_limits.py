"""The limits of the house. An exemption stands here, with its reason."""

from __future__ import annotations

import ast
import re
import subprocess
import tomllib
from collections import Counter
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import grimp

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src/ragauge"
FILES = sorted(SOURCE.rglob("*.py"))
TOO_LONG = tomllib.loads(Path(__file__).with_name("too_long.toml").read_text(encoding="utf-8"))
MANY_ARGUMENTS: dict[str, str] = {  # "path:function" -> reason
    "src/ragauge/comparison/verb.py:compare": "any number of runs precedes its options, which no dataclass declares",
    "src/ragauge/metrics/own.py:metric": "a decorator that users write out: each says one thing of their metric",
}
BANNED_NAMES = {"utils", "util", "helpers", "common", "misc"}


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def test_files_fit() -> None:
    """No file has more than 400 lines, and no metric more than 80, but those that were longer before, which shrink."""
    long = {}
    for path in FILES:
        text = path.read_text()
        family = path.parent.parent == SOURCE / "metrics" and path.name != "__init__.py" and "(Metric)" in text
        if (lines := len(text.splitlines())) > (80 if family else 400):
            long[named(path)] = lines
    assert set(long) == set(TOO_LONG["files"]), long
    assert not {path: lines for path, lines in long.items() if lines > TOO_LONG["files"][path]}


def test_functions_fit() -> None:
    """No function has more than 50 lines, but those that were longer before, which shrink."""
    long = {
        f"{named(path)}:{node.name}": lines
        for path in FILES
        for node in functions(path)
        if (lines := (node.end_lineno or node.lineno) - node.lineno + 1) > 50
    }
    assert set(long) == set(TOO_LONG["functions"]), long
    assert not {name: lines for name, lines in long.items() if lines > TOO_LONG["functions"][name]}


def test_functions_take_few_arguments() -> None:
    """No function takes more than seven arguments, self and * aside, but those with a reason; no reason is stale."""
    many = set()
    for path in FILES:
        for node in functions(path):
            taken = [one.arg for one in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
            if len(taken) - (taken[:1] in (["self"], ["cls"])) > 7:
                many.add(f"{named(path)}:{node.name}")
    assert many == set(MANY_ARGUMENTS)


def test_no_class_name_stands_for_two_things() -> None:
    """No two classes of the package have one name."""
    trees = map(tree_of, FILES)
    counted = Counter(node.name for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
    assert not {name for name, times in counted.items() if times > 1}


def test_files_are_full() -> None:
    """A file has at least 120 lines on average."""
    assert sum(len(path.read_text().splitlines()) for path in FILES) >= 120 * len(FILES)


def test_no_vague_module() -> None:
    """No module or folder is called utils, helpers, common or misc."""
    assert not [named(path) for path in FILES if BANNED_NAMES & set(path.relative_to(SOURCE).with_suffix("").parts)]


def test_init_holds_names_only() -> None:
    """An __init__.py imports and lists names; the lazy front is the one that also looks them up."""
    allowed = (ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign)
    wrong = []
    for path in FILES:
        if path.name != "__init__.py" or path.parent == SOURCE:
            continue
        body = tree_of(path).body
        docstring = bool(body) and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant)
        wrong += [named(path) for node in body[1 if docstring else 0 :] if not isinstance(node, allowed)]
    assert not wrong


def test_every_folder_is_a_package() -> None:
    """A folder with Python files has an __init__.py, so that the layers see it."""
    assert not [named(path.parent) for path in FILES if not (path.parent / "__init__.py").exists()]


def test_no_import_by_string() -> None:
    """Only the lazy fronts import by a string, where the layers cannot see it; and a user's module:name is one."""
    allowed = {"src/ragauge/__init__.py", "src/ragauge/cli/command_group.py", "src/ragauge/core/object_lookup.py"}
    found = {named(path) for path in FILES if re.search(r"\bimportlib\.import_module|__import__\(", path.read_text())}
    assert found <= allowed


def test_no_pickle() -> None:
    """Nothing is pickled to disk."""
    banned = re.compile(r"^\s*(import|from) (pickle|dill|shelve|marshal)\b", re.MULTILINE)
    assert not [named(path) for path in FILES if banned.search(path.read_text())]


def test_tree_names_no_host_or_machine() -> None:
    """No file of the tree names a package index host or a path of a machine."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    banned = ["pypi" + r"\.org", "python" + "hosted", "registry" + r"\.npmjs", "/wo" + "rk/", "/ro" + "ot/"]
    pattern = re.compile("|".join(banned))
    texts = {".py", ".md", ".toml", ".txt", ".yaml", ".yml", ".json", ".jsonl", ".sh", ""}
    paths = [ROOT / name for name in listed.splitlines() if Path(name).suffix in texts]
    assert not [named(path) for path in paths if path.is_file() and pattern.search(path.read_text(errors="ignore"))]


def test_every_test_states_its_claim() -> None:
    """Every test function has a docstring: the claim that it proves."""
    silent = [
        f"{named(path)}: {node.name}"
        for path in sorted((ROOT / "tests").rglob("test_*.py"))
        for node in functions(path)
        if node.name.startswith("test_") and not ast.get_docstring(node)
    ]
    assert not silent


def test_modules_import_without_a_cycle() -> None:
    """No module imports itself through others, whatever folders they stand in."""
    graph = grimp.build_graph("ragauge", cache_dir=None)
    imports = {name: graph.find_modules_directly_imported_by(name) for name in graph.modules}
    assert len(tuple(TopologicalSorter(imports).static_order())) > 500
