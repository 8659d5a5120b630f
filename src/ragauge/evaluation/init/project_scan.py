"""Finds in a project what could be asked, what it is built with, and where questions and documents lie.

Nothing of the project is imported or run: Python files are parsed, and values are followed inside their own file. How
something is called with a question is read from names, arguments, annotations and return statements.
"""

from __future__ import annotations

import ast
import os
import re
import sys
import warnings
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from ragauge.evaluation.init.expression_values import (
    ANSWER_KEYS,
    PASSAGE_KEYS,
    UNKNOWN,
    Classes,
    ExpressionValue,
    Function,
    ModuleReader,
    find_framework,
    list_returns,
    list_statements,
    locate_reply,
)

VERBS = ("answer", "ask", "query", "respond", "chat", "rag", "qa")  # words of a name: it answers
STEP_WORDS = re.compile(  # words of a name: it is a step of a system
    r"(^|_)(embed\w*|encode|tokenize|split|chunk|load|index|ingest|normalize|clean|format|rewrite|expand|rerank|rank|"
    r"score|classify|detect|log|save|print|parse|validate|is|has|build|count|translate|hash|vector\w*)(_|$)"
)
QUESTION_NAMES = ("question", "query", "q", "user_query", "user_question", "user_input")
INPUT_NAMES = (*QUESTION_NAMES, "prompt", "message", "text", "input")
METHODS = ("query", "answer", "ask", "run", "invoke", "respond", "chat", "__call__", "retrieve")
ADAPTED_METHODS = ("query", "__call__", "retrieve")  # `ragauge run` calls them itself
NUMBER_TYPES = frozenset({"float", "ndarray", "Tensor", "bool", "int", "None", "Embedding", "Vector"})
MODEL_CALLS = ("create", "generate_content", "complete", "generate", "invoke", "ainvoke", "chat", "achat")
ROUTES = ("post", "get", "put", "api_route", "route")


@dataclass(frozen=True, slots=True)
class CallForm:
    """How something of a project is called with a question."""

    kind: str  #: function, class, object, factory (a function that makes a system), or route of a web application.
    score: int  #: how likely it is the system; higher is likelier.
    factory: str = ""  #: the expression that makes it; "" where an import gives it.
    call: str = ""  #: the expression that passes it `query`; "" where the question is its only argument.
    reply: str = ""  #: the expression that picks answer and passages from what it returned, in `reply`; "" = as it is.
    is_async: bool = False  #: the call is awaited.


def find_route(node: ast.stmt) -> tuple[str, str] | None:
    """Method and path of the route that a function stands behind; None where it is not a route."""
    for decorator in node.decorator_list if isinstance(node, Function) else ():
        match decorator:
            case ast.Call(func=ast.Attribute(attr=method), args=[ast.Constant(value=str(path)), *_]):
                if method in ROUTES:
                    return method, path
    return None


def read_route(node: Function, module: str, classes: Classes) -> CallForm | None:
    """How a route's function is called, without its server.

    Args:
        node: the function.
        module: of its file.
        classes: those of its file, by name: the body of a request may be one of them.

    Returns:
        None where it needs more than the question, such as a session or a login, or reads the request itself.
    """
    method, path = find_route(node) or ("route", "")
    arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    injected = any(isinstance(default, ast.Call) for default in [*node.args.defaults, *node.args.kw_defaults])
    if method == "route" or len(arguments) != 1 or injected:
        return None
    name, annotation = arguments[0].arg, arguments[0].annotation
    if not any(isinstance(child, ast.Name) and child.id == name for line in node.body for child in ast.walk(line)):
        return None
    value = "query" if name in INPUT_NAMES else ""
    if annotation is not None and (kind := ast.unparse(annotation)) != "str":
        field = _find_question_field(classes[kind]) if kind in classes else ""
        value = f"{module}.{kind}({field}=query)" if field else ""
    if not value:
        return None
    words = re.findall("[a-z]+", f"{node.name} {path}".lower())
    call, is_async = f"{module}.{node.name}({name}={value})", isinstance(node, ast.AsyncFunctionDef)
    score = 6 + 2 * (not set(words).isdisjoint(VERBS))
    return CallForm("route", score, call=call, reply=locate_reply(node, classes), is_async=is_async)


def read_function(node: Function, module: str, classes: Classes) -> CallForm | None:
    """How a function is called; None where it takes no question, or gives no answer.

    Args:
        node: the function.
        module: of its file.
        classes: those of its file, by name: what it returns may be one of them.
    """
    if STEP_WORDS.search(node.name) or not _takes_one_argument(node.args, 0) or not _may_answer(node):
        return None
    score, by_name = _score_name(node.name), 2 * _is_named(node.args, 0, INPUT_NAMES)
    if not by_name and not count_required(node.args, 0):
        return None
    evidence = _weigh_body(node)
    if score or evidence:
        score = max(score, 2) + by_name + evidence
    elif not _is_named(node.args, 0, QUESTION_NAMES):
        return None
    reply, is_async = locate_reply(node, classes), isinstance(node, ast.AsyncFunctionDef)
    call = f"{module}.{node.name}(query)" if reply else ""
    return CallForm("function", score or 3, call=call, reply=reply, is_async=is_async)


def read_class(node: ast.ClassDef, module: str, name: str = "") -> CallForm | None:
    """How an object of a class is called; None where it takes no question, or cannot be made.

    Args:
        node: the class.
        module: of its file.
        name: of the object; "" = it is made without arguments.
    """
    methods = {method.name: method for method in node.body if isinstance(method, Function)}
    if not name and "__init__" in methods and count_required(methods["__init__"].args, 1):
        return None
    more = [key for key in methods if key[0] != "_" and _is_named(methods[key].args, 1, QUESTION_NAMES)]
    for key in dict.fromkeys([*(key for key in METHODS if key in methods), *more]):
        method = methods[key]
        if STEP_WORDS.search(key) or not _takes_one_argument(method.args, 1) or not _may_answer(method):
            continue
        score = 2 * _is_named(method.args, 1, INPUT_NAMES) - 2 * (key == "retrieve" and "generate" not in methods)
        call = "" if key in ADAPTED_METHODS else f"{f'{module}.{name}' if name else 'instance'}.{key}(query)"
        if name:
            return CallForm("object", 6 + score, call=call)
        return CallForm("class", 2 + score, factory=f"{module}.{node.name}()", call=call)
    return None


def count_required(arguments: ast.arguments, n_skipped: int) -> int:
    """Arguments without a default, less the first ones that are skipped (self)."""
    positional = [*arguments.posonlyargs, *arguments.args][n_skipped:]
    return max(0, len(positional) - len(arguments.defaults)) + arguments.kw_defaults.count(None)


def _score_name(name: str) -> int:
    """How much the name of a function says that it answers."""
    return 4 if name.removesuffix("_question") in VERBS else 2 * (not set(name.split("_")).isdisjoint(VERBS))


def _takes_one_argument(arguments: ast.arguments, n_skipped: int) -> bool:
    """Whether it can be called with one argument by place, less self."""
    positional = [*arguments.posonlyargs, *arguments.args][n_skipped:]
    return bool(positional) and count_required(arguments, n_skipped) <= 1 and None not in arguments.kw_defaults


def _is_named(arguments: ast.arguments, n_skipped: int, names: tuple[str, ...]) -> bool:
    """Whether the first argument, less self, has one of the names."""
    positional = [*arguments.posonlyargs, *arguments.args][n_skipped:]
    return bool(positional) and positional[0].arg in names


def _may_answer(node: Function) -> bool:
    """Whether what a function is annotated to return may be an answer or passages."""
    words = set(re.findall(r"\w+", ast.unparse(node.returns))) if node.returns is not None else set()
    return bool(words & {"str", "dict"}) or not words & NUMBER_TYPES


def _weigh_body(node: Function) -> int:
    """How much the body of a function says that it answers: what it calls, and the keys that it returns."""
    calls = [child.func for child in ast.walk(node) if isinstance(child, ast.Call)]
    models = [call for call in calls if isinstance(call, ast.Attribute) and call.attr in MODEL_CALLS]
    evidence = 2 * any("embed" not in ast.unparse(model) for model in models)
    dictionaries = [value for value in list_returns(node) if isinstance(value, ast.Dict)]
    keys = {key.value for value in dictionaries for key in value.keys if isinstance(key, ast.Constant)}
    if keys.isdisjoint(ANSWER_KEYS):
        return evidence
    return evidence + (2 if keys.isdisjoint(PASSAGE_KEYS) else 5)


def _find_question_field(body: ast.ClassDef) -> str:
    """The field of a request's body that takes the question; "" where it needs others too."""
    statements = [statement for statement in body.body if isinstance(statement, ast.AnnAssign)]
    fields = [ast.unparse(statement.target) for statement in statements]
    required = [ast.unparse(statement.target) for statement in statements if statement.value is None]
    field = next((name for name in INPUT_NAMES if name in fields), required[0] if len(required) == 1 else "")
    return field if set(required) <= {field} else ""


SKIPPED_FOLDERS = re.compile(r"[._].*|venv|env|node_modules|site-packages|build|dist|migrations|.*\.egg-info")
TEST_FOLDERS = frozenset({"tests", "test"})  # their code is not a system and their texts no documents; tables may be
ADAPTER = "ragauge_system.py"  # what `ragauge init` wrote before
MAX_FILES, MAX_BYTES = 3_000, 1_000_000  # of a larger project a part is scanned
TABLES = (".jsonl", ".ndjson", ".csv", ".tsv", ".parquet", ".json")
TEXTS = (".md", ".txt", ".rst", ".html")
TABLE_WORDS = ("gold", "eval", "question", "qa", "test", "benchmark", "faq", "ground_truth", "groundtruth", "dataset")
TABLE_FOLDERS = (".", "eval", "evals", "evaluation", "data", "tests", "test")  # likeliest first
MIN_DOCUMENTS = 3  # text files that make a folder of documents
# if all is unknown
OBJECT_NAMES = re.compile(r"(rag|qa|retrieval)?_?(chain|rag|pipeline|retriever|(query|chat)_engine)")
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
