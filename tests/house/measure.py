"""Measures the size of src and the words in it, room by room.

`python -m tests.house.measure` prints the numbers beside the budgets; with `--lower` each budget above its number
becomes the number.
"""

from __future__ import annotations

import ast
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src/ragauge"
BUDGETS = Path(__file__).with_name("budgets.toml")
BANNED = {"one", "found", "told", "said", "mine", "wanted", "asked"}
PARTICIPLES = ("ed", "ing")
NOUNS_IN_ING = {"chunking", "sampling", "ranking", "gating", "monitoring", "rendering", "judging"}


def count_code_lines(text: str, tree: ast.Module) -> int:
    """Lines that hold code: no blank line, comment, docstring or import."""
    dropped: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            dropped |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            dropped |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    lines = enumerate(text.splitlines(), 1)
    return sum(number not in dropped and bool(line.strip()) and line.strip()[0] != "#" for number, line in lines)


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Every function and method."""
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def count_docstring_lines(text: str, tree: ast.Module) -> int:
    """Lines of docstrings of the module and of its public classes and functions, and those that document a field."""
    nodes = [tree, *(node for node in ast.walk(tree) if isinstance(node, ast.ClassDef | ast.FunctionDef))]
    public = (node for node in nodes if isinstance(node, ast.Module) or not node.name.startswith("_"))
    fields = sum("#: " in line for line in text.splitlines())
    return fields + sum(len((ast.get_docstring(node) or "").splitlines()) for node in public)


def variables(tree: ast.Module) -> Iterator[str]:
    """Every name that is assigned, and every argument."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg


def measure() -> dict[str, dict[str, int]]:
    """Numbers of the whole, and lines of code of each room."""
    whole, rooms = Counter[str](), Counter[str]()
    for path in sorted(SOURCE.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text)
        code = count_code_lines(text, tree)
        room = path.relative_to(SOURCE).parts[0].removesuffix(".py")
        rooms[room if (SOURCE / room).is_dir() else "top"] += code
        names = [node.name for node in functions(tree) if not node.name.startswith("__")]
        whole["files"] += 1
        whole["lines"] += len(text.splitlines())
        whole["code"] += code
        whole["docstrings"] += count_docstring_lines(text, tree)
        whole["functions"] += len(names)
        whole["one_word_functions"] += sum("_" not in name.strip("_") for name in names)
        whole["banned_variables"] += sum(name in BANNED for name in variables(tree))
        stem = path.stem.strip("_")
        whole["participle_modules"] += stem.endswith(PARTICIPLES) and stem not in NOUNS_IN_ING and "_" not in stem
        for node in functions(tree):
            whole["long_functions"] += (node.end_lineno or 0) - node.lineno + 1 > 50
        whole["long_files"] += len(text.splitlines()) > 400
        whole["fmt_skips"] += text.count("fmt: skip")
    contracts = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    whole["layer_exceptions"] = contracts.count(" -> ragauge.")
    return {"whole": dict(whole), "rooms": dict(sorted(rooms.items()))}


def read_budgets() -> dict[str, dict[str, int]]:
    """The numbers that may not be passed; `docstrings` is a least."""
    return tomllib.loads(BUDGETS.read_text(encoding="utf-8"))


def write_budgets(budgets: Mapping[str, Mapping[str, int]]) -> None:
    """Writes the budgets, with the comments at the head of the file."""
    head = BUDGETS.read_text(encoding="utf-8").partition("[")[0] if BUDGETS.exists() else ""
    parts = [f"[{name}]\n" + "".join(f"{key} = {n}\n" for key, n in of.items()) for name, of in budgets.items()]
    BUDGETS.write_text(head + "\n".join(parts), encoding="utf-8")


def main() -> None:
    """Prints the numbers, or lowers the budgets to them."""
    numbers = measure()
    budgets = read_budgets() if BUDGETS.exists() else numbers
    if "--lower" in sys.argv:
        for name, now in numbers.items():
            for key, n in now.items():
                choose = max if key == "docstrings" else min
                now[key] = choose(n, budgets.get(name, {}).get(key, n))
        write_budgets(numbers)
        return
    for name, now in numbers.items():
        for key, n in now.items():
            print(f"{name:6} {key:20} {n:8,} of {budgets.get(name, {}).get(key, 0):8,}")  # noqa: T201


if __name__ == "__main__":
    main()
