"""Finds in a project what could be asked, what it is built with, and where questions and documents lie.

Nothing of the project is imported or run: Python files are parsed, and values are followed inside their own file.
"""

from __future__ import annotations

import ast
import os
import re
import sys
import warnings
from collections import ChainMap
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from ragauge.evaluation.init.expression_values import (
    TYPE,
    UNKNOWN,
    ExpressionValue,
    add_component,
    add_parts,
    call_method,
    classify_call,
    find_framework,
    join_parts,
)
from ragauge.evaluation.init.function_scan import (
    CallForm,
    Classes,
    Function,
    count_required,
    find_route,
    list_returns,
    read_class,
    read_function,
    read_route,
)

SKIPPED_FOLDERS = re.compile(r"[._].*|venv|env|node_modules|site-packages|build|dist|migrations|.*\.egg-info")
TEST_FOLDERS = frozenset({"tests", "test"})  # their code is not a system and their texts no documents; tables may be
ADAPTER = "ragauge_system.py"  # what `ragauge init` wrote before
MAX_FILES, MAX_BYTES = 3_000, 1_000_000  # of a larger project a part is scanned
TABLES = (".jsonl", ".ndjson", ".csv", ".tsv", ".parquet", ".json")
TEXTS = (".md", ".txt", ".rst", ".html")
TABLE_WORDS = ("gold", "eval", "question", "qa", "test", "benchmark", "faq", "ground_truth", "groundtruth", "dataset")
TABLE_FOLDERS = (".", "eval", "evals", "evaluation", "data", "tests", "test")  # likeliest first
MIN_DOCUMENTS = 3  # text files that make a folder of documents
OBJECT_NAMES = re.compile(
    r"(rag|qa|retrieval)?_?(chain|rag|pipeline|retriever|(query|chat)_engine)"
)  # if all is unknown
COMPONENT_SCORE = 6  # taken from what another candidate is made of


@dataclass(frozen=True, slots=True)
class Candidate:
    """Something in the project that could be asked."""

    target: str  #: module:name, as `ragauge run` takes it.
    form: CallForm  #: how it is called with a question, and how likely it is the system.
    path: str  #: of its file.
    line: int  #: of its definition.
    root: str = ""  #: folder that has to be importable for it; "" = the project's own.

    @property
    def names(self) -> tuple[str, ...]:
        """How a user may name it: by the module as it is imported, or by where its file lies in the project."""
        dotted = ".".join(Path(self.path).with_suffix("").parts)
        return self.target, f"{dotted}:{self.target.partition(':')[2]}"


@dataclass(frozen=True, slots=True)
class Project:
    """What is in a project."""

    frameworks: tuple[str, ...]  #: names, most used first.
    candidates: tuple[Candidate, ...]  #: likeliest first.
    tables: tuple[Path, ...]  #: files that may hold questions, likeliest first.
    documents: str  #: the folder with most text files, relative; "" for none.
    #: dotted module from outside of the project and the standard library -> a file that imports it.
    imports: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class PythonFile:
    """A Python file of the project."""

    path: Path  #: relative to the project.
    module: str  #: its name; "" where it can have none.
    root: str  #: folder that has to be importable for it; "" = the project's own.
    tree: ast.Module  #: as parsed.
    imports: frozenset[str]  #: modules that it imports, dotted.

    @classmethod
    def from_path(cls, folder: Path, path: Path) -> PythonFile | None:
        """A file of the project; None where it is too large or cannot be parsed."""
        try:
            if path.stat().st_size > MAX_BYTES:
                return None
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of the project's own string escapes
                tree = ast.parse(path.read_text(encoding="utf-8"))
        except (SyntaxError, ValueError, OSError, RecursionError, MemoryError):
            return None
        relative = path.relative_to(folder)
        parts = relative.with_suffix("").parts
        root = parts[0] if parts[0] == "src" and len(parts) > 1 else ""
        parts = parts[bool(root) : len(parts) - (parts[-1] == "__init__")]
        module = ".".join(parts) if all(part.isidentifier() for part in parts) else ""
        imports: set[str] = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                imports |= {name.name for name in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                imports.add(node.module)
        return cls(relative, module, root, tree, frozenset(imports))


def scan_project(folder: Path) -> Project:
    """What a project is built with and what of it could be asked."""
    paths = [path for path in _list_files(folder) if path != folder / ADAPTER]
    files = [file for path in paths if path.suffix == ".py" and (file := PythonFile.from_path(folder, path))]
    tables = sorted((path for path in paths if path.suffix in TABLES), key=lambda path: _rank_table(path, folder))
    folders = [path.parent for path in paths if path.suffix in TEXTS and path.parent != folder]
    largest = max(folders, key=lambda path: (folders.count(path), str(path)), default=folder)
    documents = largest.relative_to(folder).as_posix() if folders.count(largest) >= MIN_DOCUMENTS else ""
    uses = [name for file in files for name in set(map(find_framework, file.imports)) if name]
    frameworks = sorted(set(uses), key=lambda name: (-uses.count(name), name))
    own_modules = {
        module for file in files for module in (file.path.with_suffix("").parts[0], file.module.partition(".")[0])
    }
    candidates: list[Candidate] = []
    for file in files:
        with suppress(RecursionError):  # of generated code
            candidates += _scan_file(file, own_modules) if file.module else ()
    candidates.sort(key=lambda candidate: (-candidate.form.score, candidate.path, candidate.line))
    imports: dict[str, str] = {}
    for file in files:
        for name in sorted(file.imports):
            if name.partition(".")[0] not in {*own_modules, *sys.stdlib_module_names, "ragauge"}:
                imports.setdefault(name, file.path.as_posix())
    return Project(tuple(frameworks), tuple(candidates), tuple(tables), documents, imports)


def _list_files(folder: Path) -> Iterator[Path]:
    """Files that may matter, of the folder and those below, at most MAX_FILES."""
    n_left = MAX_FILES
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(
            name
            for name in folders
            if not SKIPPED_FOLDERS.fullmatch(name) and not (Path(parent) / name / "pyvenv.cfg").exists()
        )
        for name in sorted(names):
            path = Path(parent) / name
            in_tests = not TEST_FOLDERS.isdisjoint(path.relative_to(folder).parts[:-1])
            if path.suffix not in (TABLES if in_tests else (".py", *TABLES, *TEXTS)) or name.startswith("."):
                continue
            if path.suffix == ".py" and name.startswith("test_"):
                continue
            n_left -= 1
            if n_left < 0:
                return
            yield path


def _rank_table(path: Path, folder: Path) -> tuple[bool, int, int, str]:
    """How unlikely a table holds questions: by its name, its folder, how deep it lies."""
    parts = path.relative_to(folder).parts
    has_word = any(word in path.name.lower() for word in TABLE_WORDS)
    first = parts[0].lower() if len(parts) > 1 else "."
    rank = TABLE_FOLDERS.index(first) if first in TABLE_FOLDERS else len(TABLE_FOLDERS)
    return not has_word, rank, len(parts), str(path)


def _scan_file(file: PythonFile, own_modules: Collection[str]) -> Iterator[Candidate]:
    """What of a file could be asked, less likely where another candidate is made of it."""
    reader = ModuleReader(file.tree, own_modules)
    bonus = 2 * (not {"LangChain", "LlamaIndex", "Haystack"}.isdisjoint(map(find_framework, file.imports)))
    rows: list[tuple[str, CallForm, ast.stmt, set[str]]] = []  # with the names that it is made of
    for node in list_statements(file.tree.body):
        names = {
            child.id for child in ast.walk(node) if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Load)
        }
        name, form = _read_form(node, file.module, reader, is_framework=bonus > 0)
        if form is not None and not name.startswith("_"):
            rows.append((name, form, node, names - {name}))
    for name, form, node, _ in rows:
        users = [user for _, user, other, names in rows if other is not node and name in names]
        if form.kind == "object":  # a function that asks it is another way to the same
            users = [user for user in users if user.kind == "object"]
        score = form.score + bonus - COMPONENT_SCORE * (bool(users) and form.kind != "route")
        if score > 0:
            target, path = f"{file.module}:{name}", file.path.as_posix()
            yield Candidate(target, replace(form, score=score), path, node.lineno, file.root)


def _read_form(node: ast.stmt, module: str, reader: ModuleReader, *, is_framework: bool) -> tuple[str, CallForm | None]:
    """The name that a statement defines, and how it is called; None where it could not be asked."""
    name, form = "", None
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            if find_route(node) is not None:
                form = read_route(node, module, reader.classes)
            elif count_required(node.args, 0) or not (made := reader.read_definition(node)).score:
                form = read_function(node, module, reader.classes)
            elif isinstance(node, ast.FunctionDef):
                form = CallForm("factory", made.score - 1, factory=f"{module}.{name}()")
        case ast.ClassDef(name=name) if not reader.read_definition(node).framework:
            form = read_class(node, module)
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            form = _read_object(name, node.value, module, reader, is_framework=is_framework)
    return name, form


def _read_object(
    name: str, node: ast.expr | None, module: str, reader: ModuleReader, *, is_framework: bool
) -> CallForm | None:
    """How an object is called: by what it is, and where that is unknown by its name."""
    value = reader.names.get(name)
    if isinstance(value, ExpressionValue) and value.score:
        return CallForm("object", value.score)
    if value != UNKNOWN or not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        return None
    if node.func.id in reader.classes:
        return read_class(reader.classes[node.func.id], module, name)
    is_system = is_framework and OBJECT_NAMES.fullmatch(name.lower())
    return CallForm("object", 2 if name == "retriever" else 5) if is_system else None


Bound = ExpressionValue | str | Function | ast.ClassDef  # a text is a dotted name from outside of the project
Names = ChainMap[str, Bound]


class ModuleReader:
    """What the names of a module stand for. What it imports from elsewhere in the project is unknown.

    Args:
        tree: the parsed module.
        own: top-level modules of the project.

    Attributes:
        names: those that an import of the module binds.
        classes: its own, by name.
    """

    def __init__(self, tree: ast.Module, own_modules: Collection[str]) -> None:
        self._own = own_modules
        self._definitions: dict[ast.stmt, ExpressionValue] = {}
        self.classes: Classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
        self.names: Names = ChainMap()
        self._bind_names(tree.body, self.names)

    def read_definition(self, node: Function | ast.ClassDef) -> ExpressionValue:
        """What a function returns, or a class makes."""
        if node not in self._definitions:
            self._definitions[node] = UNKNOWN  # where it refers to itself
            value = self._read_class(node) if isinstance(node, ast.ClassDef) else self._read_return(node)
            self._definitions[node] = value
        return self._definitions[node]

    def _read_return(self, node: Function) -> ExpressionValue:
        arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        names = self.names.new_child({argument.arg: UNKNOWN for argument in arguments})
        self._bind_names(node.body, names)
        values = [self._read_expression(value, names) for value in list_returns(node)]
        readable = [value for value in values if isinstance(value, ExpressionValue)]
        return max(readable, key=lambda value: (value.score, value.kind != "unknown"), default=UNKNOWN)

    def _read_class(self, node: ast.ClassDef) -> ExpressionValue:
        for base in node.bases:
            bound = self._read_expression(base, self.names)
            value = self.read_definition(bound) if isinstance(bound, ast.ClassDef) else UNKNOWN
            value = classify_call(bound) if isinstance(bound, str) else value
            if value.framework:
                return value
        if "haystack.component" not in [
            self._read_expression(decorator, self.names) for decorator in node.decorator_list
        ]:
            return UNKNOWN
        words = {child.value for child in ast.walk(node) if isinstance(child, ast.Constant)}
        words |= {child.arg or "" for child in ast.walk(node) if isinstance(child, ast.keyword)}
        generates = 2 * (not words.isdisjoint({"replies", "answers"}))
        return ExpressionValue("part", "Haystack", generates, "documents" in words and "replies" not in words)

    def _bind_names(self, body: Sequence[ast.stmt], names: Names) -> None:
        for node in list_statements(body):
            match node:
                case ast.Import() | ast.ImportFrom():
                    for alias in node.names:
                        names[alias.asname or alias.name.partition(".")[0]] = self._read_import(node, alias)
                case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                    names[node.name] = node
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    names[name] = self._read_expression(value, names)
                case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                    names[name] = self._read_expression(value, names)
                case ast.Expr(
                    value=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="add_component")) as call
                ):
                    pipeline, arguments = names.get(name), self._read_arguments(call, names)
                    if isinstance(pipeline, ExpressionValue) and pipeline.framework == "Haystack" and arguments:
                        names[name] = add_component(pipeline, arguments[-1])

    def _read_import(self, node: ast.Import | ast.ImportFrom, alias: ast.alias) -> Bound:
        if isinstance(node, ast.ImportFrom):
            module, path = node.module or "", f"{node.module}.{alias.name}"
        else:
            module, path = alias.name, alias.name if alias.asname else alias.name.partition(".")[0]
        is_own = module.partition(".")[0] in self._own or (isinstance(node, ast.ImportFrom) and node.level > 0)
        return UNKNOWN if is_own else path

    def _read_expression(self, node: ast.expr, names: Names) -> Bound:
        """What an expression stands for: a value, or a name that is not called yet."""
        match node:
            case ast.Name(id=name):
                return names.get(name, UNKNOWN)
            case ast.Attribute(value=owner, attr=name):
                bound = self._read_expression(owner, names)
                return f"{bound}.{name}" if isinstance(bound, str) else UNKNOWN
            case ast.Call():
                return self._read_call(node, names)
            case ast.BinOp(op=ast.BitOr()):
                return join_parts([self._read_part(part, names) for part in _split_pipe(node)])
            case ast.Await(value=inner):
                return self._read_expression(inner, names)
            case ast.Dict(values=values):
                return add_parts(ExpressionValue("part"), [self._read_part(value, names) for value in values])
        return UNKNOWN

    def _read_call(self, node: ast.Call, names: Names) -> ExpressionValue:
        method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        bound = self._read_expression(node.func.value if isinstance(node.func, ast.Attribute) else node.func, names)
        arguments = self._read_arguments(node, names)
        if isinstance(bound, str):
            return add_parts(classify_call(f"{bound}.{method}".rstrip(".")), arguments)
        if method:
            return call_method(bound if isinstance(bound, ExpressionValue) else UNKNOWN, method, arguments)
        return UNKNOWN if isinstance(bound, ExpressionValue) else self.read_definition(bound)

    def _read_arguments(self, node: ast.Call, names: Names) -> list[ExpressionValue]:
        values = [*node.args, *(keyword.value for keyword in node.keywords)]
        return [self._read_part(value, names) for value in values]

    def _read_part(self, node: ast.expr, names: Names) -> ExpressionValue:
        """An operand or argument: what is unknown, such as a function, may be a model."""
        bound = self._read_expression(node, names)
        if isinstance(node, ast.Lambda) or isinstance(bound, Function) or bound == UNKNOWN:
            return TYPE if isinstance(node, ast.Constant) else ExpressionValue(generates=1)
        if isinstance(bound, ExpressionValue):
            return bound
        is_class = isinstance(bound, ast.ClassDef) or bound.rpartition(".")[2][:1].isupper()
        return TYPE if is_class else ExpressionValue("part")


def list_statements(body: Collection[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements that an import or a call runs, those in branches included, but not `if __name__ == "__main__"`."""
    for node in body:
        if isinstance(node, ast.If | ast.Try | ast.With | ast.AsyncWith | ast.For):
            if not (isinstance(node, ast.If) and "__name__" in ast.unparse(node.test)):
                yield from list_statements([*node.body, *getattr(node, "orelse", ())])
        else:
            yield node


def _split_pipe(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return [*_split_pipe(node.left), *_split_pipe(node.right)]
    return [node]
