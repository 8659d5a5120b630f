"""What functions and classes of a framework make, and how functions, classes and routes of a project are called.

All is read from parsed code: names, arguments, annotations and return statements.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from ragauge.readers.aliases import list_field_names

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
ANSWER_KEYS = (*list_field_names("answer"), "text", "reply", "content", "message", "output_text", "completion")
PASSAGE_KEYS = (
    *list_field_names("passages"),
    "chunks",
    "hits",
    "sources",
    "snippets",
    "results",
    "matches",
    "texts",
    "docs",
)
Function = ast.FunctionDef | ast.AsyncFunctionDef
Classes = Mapping[str, ast.ClassDef]
Kind = Literal["system", "retriever", "part", "maker", "writer", "type", "other", "unknown"]


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


def list_returns(node: Function) -> Iterator[ast.expr]:
    """What a function returns, without what functions inside of it return."""
    nodes: list[ast.AST] = list(node.body)
    while nodes:
        inner = nodes.pop(0)
        if isinstance(inner, ast.Return) and inner.value is not None:
            yield inner.value
        if not isinstance(inner, Function | ast.ClassDef | ast.Lambda):
            nodes.extend(ast.iter_child_nodes(inner))


def locate_reply(node: Function, classes: Classes) -> str:
    """The expression that picks answer and passages from what a function returned, in `reply`; "" = as it is.

    Args:
        node: the function.
        classes: those of its file, by name: a reply may be one of them.
    """
    assigned: dict[str, ast.expr] = {}
    for child in ast.walk(node):
        match child:
            case ast.Assign(targets=[ast.Name(id=name)]):
                assigned[name] = child.value
    for value in list_returns(node):
        paths = dict(_list_paths(value, classes, assigned))
        answer = _pick_path(paths, list_field_names("answer"), ANSWER_KEYS)
        if answer is None:
            continue
        passages = _pick_path(paths, list_field_names("passages"), PASSAGE_KEYS)
        selected = [paths[path] for path in (answer, passages) if path is not None]
        if all(
            len(keys) == 1 and keys[0] in (*list_field_names("answer"), *list_field_names("passages"))
            for keys in selected
        ):
            return ""  # `ragauge run` reads it without help
        end = "" if passages is None else f', "passages": reply{passages}'
        return f'{{"answer": reply{answer}{end}}}'
    return ""


def _list_paths(
    node: ast.expr, classes: Classes, assigned: Mapping[str, ast.expr], path: str = "", keys: tuple[str, ...] = ()
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Values in a reply: how each is reached from it, as Python, and the keys on the way."""
    inner: list[tuple[str, str, ast.expr]] = []
    match node:
        case ast.Name(id=name) if isinstance(assigned.get(name), ast.Dict | ast.Call):
            without = {other: value for other, value in assigned.items() if other != name}  # it may contain itself
            yield from _list_paths(assigned[name], classes, without, path, keys)
            return
        case ast.Dict():
            for literal, value in zip(node.keys, node.values, strict=True):
                if isinstance(literal, ast.Constant) and isinstance(literal.value, str):
                    inner += [(f"[{json.dumps(literal.value)}]", literal.value, value)]
        case ast.Call(func=ast.Name(id=name)) if name in classes and node.keywords:
            inner = [(f".{keyword.arg}", keyword.arg, keyword.value) for keyword in node.keywords if keyword.arg]
        case ast.Constant():
            return
    for step, key, value in inner:
        yield from _list_paths(value, classes, assigned, path + step, (*keys, key))
    if keys and not inner:
        yield path, keys


def _pick_path(paths: Mapping[str, tuple[str, ...]], usual: Collection[str], possible: Collection[str]) -> str | None:
    """The path whose last key says most that it is what is looked for; of several the first."""
    matches = [path for path, keys in paths.items() if keys[-1] in {*usual, *possible}]
    return max(matches, key=lambda path: (paths[path][-1] in usual, not {*usual}.isdisjoint(paths[path])), default=None)


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
    if keys.isdisjoint(list_field_names("answer")):
        return evidence
    return evidence + (2 if keys.isdisjoint(list_field_names("passages")) else 5)


def _find_question_field(body: ast.ClassDef) -> str:
    """The field of a request's body that takes the question; "" where it needs others too."""
    statements = [statement for statement in body.body if isinstance(statement, ast.AnnAssign)]
    fields = [ast.unparse(statement.target) for statement in statements]
    required = [ast.unparse(statement.target) for statement in statements if statement.value is None]
    field = next((name for name in INPUT_NAMES if name in fields), required[0] if len(required) == 1 else "")
    return field if set(required) <= {field} else ""
