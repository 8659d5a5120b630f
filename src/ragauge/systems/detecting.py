"""Looks through a project for its RAG system: what it is built with, what could be asked, questions and documents.

Nothing of the project is imported or run: Python files are parsed.
"""

from __future__ import annotations

import ast
import os
import sys
import warnings
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ragauge.systems.detecting_functions import (
    ASKED,
    FIRST,
    CallForm,
    call_of,
    class_asked,
    function_asked,
    path_of,
    reading,
    verb,
)
from ragauge.systems.detecting_kinds import ExpressionValue, framework_of
from ragauge.systems.detecting_values import Function, Inside, Modules, Outside, Scope, is_main

SKIPPED = frozenset({"venv", "env", "node_modules", "site-packages", "__pycache__", "build", "dist", "migrations"})
TESTS = frozenset({"tests", "test"})  # their code is no system and their texts are no documents; tables may be
ADAPTER = "ragauge_system.py"  # what `ragauge init` wrote before
MOST_FILES, MOST_BYTES = 3_000, 1_000_000  # a project that is larger is looked through in part
WEB = frozenset({"FastAPI", "Flask"})
OBJECTS = (  # what an object is called of which nothing else is known
    "chain",
    "rag_chain",
    "qa_chain",
    "retrieval_chain",
    "query_engine",
    "chat_engine",
    "pipeline",
    "rag_pipeline",
    "rag",
    "retriever",
)
FILES = ("rag", "chain", "qa", "pipeline", "engine", "app", "main", "bot", "chat", "answer", "query")
TABLES = (".jsonl", ".ndjson", ".csv", ".tsv", ".parquet", ".json")
TEXTS = (".md", ".txt", ".rst", ".html")
NAMED = ("gold", "eval", "question", "qa", "test", "benchmark", "faq", "ground_truth", "groundtruth", "dataset")
PLACES = (".", "eval", "evals", "evaluation", "data", "tests", "test")  # where such files lie, likeliest first
FEWEST = 3  # text files that make a folder of documents
PART = 6  # how much less likely something is the system that another one is made of


@dataclass(frozen=True, slots=True)
class Candidate:
    """Something in the project that could be asked.

    Attributes:
        target: module:name, as `ragauge run` takes it.
        kind: function, class, object, factory (a function that makes it), or route of a web application.
        path: of its file.
        line: of its definition.
        score: how likely it is the system; higher is likelier.
        root: folder that has to be importable for it; "" = the project's own.
        made: the expression that makes it, where it is not there by its name.
        call: the expression that asks it `query`, where it is not called with the question alone.
        reply: the expression that makes answer and passages of what it returned, in `reply`; "" = as it is.
        waits: the call is awaited.
    """

    target: str
    kind: str
    path: str
    line: int
    score: int
    root: str = ""
    made: str = ""
    call: str = ""
    reply: str = ""
    waits: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """How a user may name it: by the module as it is imported, or by where its file stands in the project."""
        dotted = ".".join(Path(self.path).with_suffix("").parts)
        return self.target, f"{dotted}:{self.target.partition(':')[2]}"


@dataclass(frozen=True, slots=True)
class Project:
    """What is in a project.

    Attributes:
        frameworks: names, most used first.
        candidates: likeliest first.
        tables: files that may hold questions, likeliest first.
        documents: the folder with most text files, relative; "" for none.
        hidden: of no candidate: where a system is made that no import reaches, in words.
        imports: dotted module from outside of the project and the standard library -> a file that imports it.
    """

    frameworks: tuple[str, ...]
    candidates: tuple[Candidate, ...]
    tables: tuple[Path, ...]
    documents: str
    hidden: str
    imports: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class File:
    """A Python file of the project.

    Attributes:
        path: relative to the project.
        module: its name; "" where it can have none.
        root: folder that has to be importable for it; "" = the project's own.
        tree: as parsed.
    """

    path: Path
    module: str
    root: str
    tree: ast.Module


def look_through(folder: Path) -> Project:
    """What a project is built with and what of it could be asked."""
    files: list[File] = []
    tables: list[Path] = []
    texts: dict[Path, int] = {}
    for path in _files(folder):
        if path == folder / ADAPTER:
            continue
        if path.suffix == ".py":
            tree = _parsed(path)
            if tree is not None:
                files.append(File(path.relative_to(folder), *_module(path.relative_to(folder)), tree))
        elif path.suffix in TABLES:
            tables.append(path)
        elif path.suffix in TEXTS and path.parent != folder:
            texts[path.parent] = texts.get(path.parent, 0) + 1
    uses = [name for file in files for name in {framework_of(one) for one in _imported(file.tree)} if name]
    modules = Modules(
        {file.module: file.tree for file in files if file.module},
        frozenset(file.module for file in files if file.path.name == "__init__.py"),
    )
    candidates = [candidate for file in files if file.module for candidate in _candidates(file, modules)]
    candidates.sort(key=lambda one: (-one.score, one.path, one.line))
    tables.sort(key=lambda one: _unlikely(one.relative_to(folder)))
    most = max(texts, key=lambda one: (texts[one], str(one)), default=None)
    documents = "" if most is None or texts[most] < FEWEST else most.relative_to(folder).as_posix()
    frameworks = sorted(set(uses), key=lambda name: (-uses.count(name), name))
    hidden = "" if candidates else next((one for file in files if file.module for one in _hidden(file, modules)), "")
    return Project(tuple(frameworks), tuple(candidates), tuple(tables), documents, hidden, _needed(files))


def _unlikely(table: Path) -> tuple[bool, int, int, str]:
    """How unlikely a table holds questions: by its name, its place in the project, how deep it lies."""
    named = any(word in table.name.lower() for word in NAMED)
    first = table.parts[0].lower() if len(table.parts) > 1 else "."
    return not named, PLACES.index(first) if first in PLACES else len(PLACES), len(table.parts), table.as_posix()


def _needed(files: Collection[File]) -> dict[str, str]:
    """Modules that the project imports and does not bring itself, each with a file that does."""
    own = {part for file in files for part in (*file.path.with_suffix("").parts[:1], file.module.partition(".")[0])}
    found: dict[str, str] = {}
    for file in files:
        for name in sorted(_imported(file.tree)):
            if name.partition(".")[0] not in {*own, *sys.stdlib_module_names, "ragauge"}:
                found.setdefault(name, file.path.as_posix())
    return found


def _files(folder: Path) -> Iterator[Path]:
    """Files that may matter, of the folder and those below, at most some thousands."""
    left = MOST_FILES
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(
            name
            for name in folders
            if name not in SKIPPED
            and not name.startswith((".", "_"))
            and not name.endswith(".egg-info")
            and not (Path(place) / name / "pyvenv.cfg").exists()
        )
        for name in sorted(names):
            path = Path(place) / name
            tested = not TESTS.isdisjoint(path.relative_to(folder).parts[:-1])
            if path.suffix not in (TABLES if tested else (".py", *TABLES, *TEXTS)) or name.startswith("."):
                continue
            if path.suffix == ".py" and name.startswith("test_"):
                continue
            left -= 1
            if left < 0:
                return
            yield path


def _parsed(path: Path) -> ast.Module | None:
    try:
        if path.stat().st_size > MOST_BYTES:
            return None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the project's own string escapes
            return ast.parse(path.read_text(encoding="utf-8"))
    except (SyntaxError, ValueError, OSError, RecursionError, MemoryError):
        return None


def _imported(tree: ast.Module) -> set[str]:
    """Modules that a file imports, dotted."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module)
    return found


def _module(path: Path) -> tuple[str, str]:
    """A file's module, and the folder that has to be importable for it; "" where it can have none."""
    parts = path.with_suffix("").parts
    root = parts[0] if parts[0] == "src" and len(parts) > 1 else ""
    parts = parts[1:] if root else parts
    parts = parts[:-1] if parts[-1] == "__init__" else parts
    return ".".join(parts) if parts and all(part.isidentifier() for part in parts) else "", root


def _candidates(file: File, modules: Modules) -> Iterator[Candidate]:
    """What of a file could be asked, less likely where another one of them is made of it."""
    scope = modules.scope(file.module)
    frameworks = {name for one in _imported(file.tree) if (name := framework_of(one))} - WEB
    bonus = (2 if frameworks else 0) + any(word in file.path.stem.lower() for word in FILES)
    found: list[tuple[Candidate, frozenset[str]]] = []  # with the names that it is made of
    for node in _top(file.tree.body):
        found += _routes(node, file, scope, bonus) or _defined(node, file, scope, bonus)
        found += _objects(node, file, scope, bonus, named=bool(frameworks))
    for one, _ in found:
        name = one.target.partition(":")[2]
        users = (
            []
            if one.kind == "route"
            else [other for other, names in found if other.target != one.target and name in names]
        )
        if one.kind == "object":  # a function that asks it is another way to the same
            users = [other for other in users if other.kind == "object"]
        score = one.score - PART if users else one.score
        if score > 0:
            yield replace(one, score=score)


def _hidden(file: File, modules: Modules) -> Iterator[str]:
    """Systems that a function makes and keeps, or that only running the file makes."""
    scope = modules.scope(file.module)
    for node in file.tree.body:
        if not isinstance(node, Function) and not (isinstance(node, ast.If) and is_main(node)):
            continue
        bound = modules.inner(node.body, scope)
        systems = {name: one.score for name, one in bound.items() if isinstance(one, ExpressionValue) and one.score}
        if systems:
            where = f"{node.name}()" if isinstance(node, Function) else 'the block if __name__ == "__main__"'
            best = max(systems, key=lambda name: systems[name])
            yield f"{best} is made in {where} of {file.path.as_posix()} line {node.lineno}, where no import reaches it"


def _top(body: Collection[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements that an import of a module runs."""
    for node in body:
        if isinstance(node, ast.If | ast.Try | ast.With):
            if not (isinstance(node, ast.If) and is_main(node)):
                yield from _top([*node.body, *getattr(node, "orelse", ())])
        else:
            yield node


def _classes(file: File) -> dict[str, ast.ClassDef]:
    return {node.name: node for node in file.tree.body if isinstance(node, ast.ClassDef)}


def _routes(node: ast.stmt, file: File, scope: Scope, bonus: int) -> list[tuple[Candidate, frozenset[str]]]:
    """The function of a route."""
    route = path_of(node)
    if route is None or not isinstance(node, Function):
        return []
    apps = [
        name for name, one in scope.bound.items() if isinstance(one, ExpressionValue) and one.origin == "flask.Flask"
    ]
    call = call_of(node, _classes(file), ASKED, file.module, apps)
    if not call:
        return []
    words = " ".join([node.name, *route.strip("/").split("/")]).replace("-", "_").lower().split()
    score = FIRST + bonus + (2 if any(map(verb, words)) else 0)
    target, reply = f"{file.module}:{node.name}", reading(node, _classes(file))
    waits = isinstance(node, ast.AsyncFunctionDef) and "test_client" not in call
    one = Candidate(target, "route", file.path.as_posix(), node.lineno, score, file.root, "", call, reply, waits)
    return [(one, _names(node))]


def _defined(node: ast.stmt, file: File, scope: Scope, bonus: int) -> list[tuple[Candidate, frozenset[str]]]:
    """A function or class."""
    if not isinstance(node, Function | ast.ClassDef) or node.name.startswith("_") or path_of(node) is not None:
        return []
    inside = Inside(node, scope)
    asked = class_asked(node, made=False) if isinstance(node, ast.ClassDef) else function_asked(inside, scope.modules)
    if asked is None or (isinstance(node, ast.ClassDef) and scope.modules.instance(inside).framework):
        return []
    call = f"{file.module}.{node.name}"
    one = Candidate(
        f"{file.module}:{node.name}", asked.kind, file.path.as_posix(), node.lineno, asked.score + bonus, file.root
    )
    if asked.kind == "factory":
        one = replace(one, made=f"{call}()")
    elif asked.kind == "class":
        one = replace(one, made=f"{call}()", call=f"made.{asked.method}(query)") if asked.method else one
    elif isinstance(node, Function) and (reply := reading(node, _classes(file))):
        one = replace(one, call=f"{call}(query)", reply=reply, waits=isinstance(node, ast.AsyncFunctionDef))
    return [(one, _names(node))]


def _objects(
    node: ast.stmt, file: File, scope: Scope, bonus: int, *, named: bool
) -> list[tuple[Candidate, frozenset[str]]]:
    """Objects that a statement assigns: by what they are, and where that cannot be read by what they are called."""
    if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
        return []
    found = []
    for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
        if not isinstance(target, ast.Name) or target.id.startswith("_"):
            continue
        value = scope.find(target.id)
        asked = _of_object(target.id, value, node.value, scope, named=named)
        if asked is None:
            continue
        call = f"{file.module}.{target.id}.{asked.method}(query)" if asked.method else ""
        one = Candidate(
            f"{file.module}:{target.id}",
            "object",
            file.path.as_posix(),
            node.lineno,
            asked.score + bonus,
            file.root,
            "",
            call,
        )
        names = value.names if isinstance(value, ExpressionValue) else frozenset()
        found.append((one, (names | _names(node.value)) - {target.id}))
    return found


def _of_object(name: str, value: Any, node: ast.expr, scope: Scope, *, named: bool) -> CallForm | None:
    if not isinstance(value, ExpressionValue):
        return None
    if value.score:
        return CallForm("object", value.score)
    if value.kind != "unknown" or not isinstance(node, ast.Call | ast.Await):
        return None
    made = scope.modules.bound(node.func, scope) if isinstance(node, ast.Call) else None
    if isinstance(made, Inside) and isinstance(made.node, ast.ClassDef):
        return class_asked(made.node, made=True)
    known = isinstance(made, Outside) or (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute))
    if known or not named or name.lower() not in OBJECTS:
        return None
    return CallForm("object", 2 if name == "retriever" else 5)


def _names(node: ast.AST) -> frozenset[str]:
    """Names that a definition reads."""
    return frozenset(one.id for one in ast.walk(node) if isinstance(one, ast.Name))
