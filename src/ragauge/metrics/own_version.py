"""The version of a metric of the user's own: a hash of its code, so that what another code gave is never taken for it.

What counts is the syntax tree of the function or class, and of the functions, classes and values of its own module that
it uses, and that these use; of other modules, what is used by its name. Comments, docstrings, annotations and layout do
not count.
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterator, Mapping
from functools import partial
from textwrap import dedent
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any
from weakref import WeakKeyDictionary

from ragauge.core.errors import UsageError
from ragauge.core.identity import hash_json

IGNORED_FIELDS = frozenset({"annotation", "returns", "type_comment", "type_params", "ctx", "kind"})
DEFINITION_NODES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
METRIC_ATTRIBUTE = "__ragauge_metric__"  # attribute of what @rg.metric(…) says more of
MAX_DEPTH = 8  # of objects within objects
CONSTANT_TYPES = (str, bytes, int, float, bool, type(None))
_SEEN: WeakKeyDictionary[FunctionType | type, str] = WeakKeyDictionary()
BITS = 48  # a version is a whole number that every database and JSON reader takes


def compute_source_version(code: FunctionType | type, *facts: object) -> int:
    """A whole number that changes with the code, and with the facts that say how it is called.

    Raises:
        UsageError: the code cannot be read.
    """
    if (code_digest := _SEEN.get(code)) is None:
        code_digest, stays = _code_digest(code)
        if stays:
            _SEEN[code] = code_digest
    return int(hash_json([code_digest, *facts])[: BITS // 4], 16) or 1


def _code_digest(code: FunctionType | type) -> tuple[str, bool]:
    """A hash of the code, and whether it stays so: what is in a file is as it was imported, though the file changes."""
    scope = _build_scope(code)
    definitions = _find_definitions(scope.get("__name__"))
    parts: dict[str, Any] = {"": _simplify_tree(_parse_tree(code))}
    waiting = list(_list_names(_parse_tree(code)))
    while waiting:
        name = waiting.pop()
        if name in parts or (resolved := _resolve_name(name, scope, definitions)) is None:
            continue
        parts[name] = resolved if isinstance(resolved, str) else [_simplify_tree(node) for node in resolved]
        waiting += [] if isinstance(resolved, str) else _list_names(resolved)
    return hash_json(parts), bool(definitions)


def _build_scope(code: FunctionType | type) -> Mapping[str, Any]:
    """What the names in the code stand for: of its module and, in a function within a function, of that one."""
    if isinstance(code, type):
        return dict(vars(sys.modules[code.__module__])) if code.__module__ in sys.modules else {}
    return {**code.__globals__, **inspect.getclosurevars(code).nonlocals}


def _parse_tree(code: FunctionType | type) -> ast.AST:
    try:
        body = ast.parse(dedent(inspect.getsource(code))).body
    except (OSError, TypeError, SyntaxError) as error:
        raise UsageError(
            f"{code.__name__}: its source cannot be read ({type(error).__name__}), so a change would not "
            "be detected. Set a version, and raise it with each change: @rg.metric(version=1)."
        ) from None
    if code.__name__ != "<lambda>":
        return body[0]
    lambdas = [node for node in ast.walk(body[0]) if isinstance(node, ast.Lambda)]
    return lambdas[0] if len(lambdas) == 1 else body[0]


def _find_definitions(module: str | None) -> dict[str, list[ast.AST]]:
    """Name -> what the module's file says of it at its top level; nothing where there is no such file."""
    try:
        body = ast.parse(inspect.getsource(sys.modules[module or ""])).body
    except (OSError, TypeError, SyntaxError, KeyError):  # such as a notebook
        return {}
    definitions: dict[str, list[ast.AST]] = {}
    for node in body:
        if isinstance(node, DEFINITION_NODES):
            definitions.setdefault(node.name, []).append(node)
        elif isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
            for name in _list_names(node.targets if isinstance(node, ast.Assign) else node.target):
                definitions.setdefault(name, []).append(node)
    return definitions


def _resolve_name(
    name: str, scope: Mapping[str, Any], definitions: Mapping[str, list[ast.AST]]
) -> list[ast.AST] | str | None:
    """What a name stands for: its definitions in the module, else the code or the constant that it is now."""
    if name in definitions:
        return definitions[name]
    value = scope.get(name)
    if isinstance(value, FunctionType | type) and value.__module__ == scope.get("__name__"):
        try:
            return [_parse_tree(value)]
        except UsageError:
            return None
    return format_constant(value) if name in scope else None


def format_constant(value: Any) -> str | None:
    """The text of a value where it says all of it; None of any other value. A function, class or module is its name."""
    if isinstance(value, CONSTANT_TYPES):
        return repr(value)
    if isinstance(value, ModuleType | FunctionType | BuiltinFunctionType | type):
        return f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', value.__name__)}"
    if isinstance(value, dict):
        return format_constant(tuple(value.items()))
    if isinstance(value, tuple | list | set | frozenset):
        items = [format_constant(item) or "" for item in value]
        ordered = items if isinstance(value, tuple | list) else sorted(items)
        return f"{type(value).__name__} of {ordered}" if all(items) else None
    pattern = getattr(value, "pattern", None)  # of a compiled expression
    return None if pattern is None else repr((pattern, getattr(value, "flags", 0)))


def format_state(value: object, path: tuple[int, ...] = ()) -> str:
    """The text of what a function is bound to: of an object its class and attributes, and those of its attributes."""
    text = format_constant(value)
    if text is not None or id(value) in path or len(path) >= MAX_DEPTH:
        return text or format_constant(type(value)) or ""
    inside = (*path, id(value))
    if isinstance(value, dict):
        return format_state([*value.items()], inside)
    if isinstance(value, tuple | list):
        return f"[{', '.join(format_state(item, inside) for item in value)}]"
    if isinstance(value, partial):
        return format_state([value.func, value.args, value.keywords], inside)
    attributes = {name: item for name, item in getattr(value, "__dict__", {}).items() if name != METRIC_ATTRIBUTE}
    return f"{format_constant(type(value))} {format_state(attributes, inside) if attributes else ''}"


def _list_names(node: Any) -> set[str]:
    """The names that a tree reads or writes, but for those in what does not count."""
    if isinstance(node, list):
        return set().union(*map(_list_names, node))
    if not isinstance(node, ast.AST):
        return set()
    return {node.id} if isinstance(node, ast.Name) else _list_names([child for _, child in _list_fields(node)])


def _simplify_tree(node: Any) -> Any:
    """A syntax tree as lists, alike for every version of Python that has the same tree."""
    if isinstance(node, list):
        return [_simplify_tree(child) for child in node]
    if not isinstance(node, ast.AST):
        return repr(node)
    kind, children = type(node).__name__, dict(_list_fields(node))
    if isinstance(node, ast.AnnAssign) and node.value is not None:  # as without its annotation
        kind, children = "Assign", {"targets": [node.target], "value": node.value}
    return [kind, [[name, _simplify_tree(child)] for name, child in children.items() if child not in (None, [])]]


def _list_fields(node: ast.AST) -> Iterator[tuple[str, Any]]:
    for name, field_value in ast.iter_fields(node):
        if name in IGNORED_FIELDS:
            continue
        if name == "body" and isinstance(node, DEFINITION_NODES):
            first = field_value[0]
            documented = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
            yield name, field_value[1:] if documented and isinstance(first.value.value, str) else field_value
        elif name == "decorator_list":
            yield name, [decorator for decorator in field_value if not _is_ours(decorator)]
        else:
            yield name, field_value


def _is_ours(decorator: ast.AST) -> bool:
    """Whether it is @rg.metric(…): what it says is among the facts as far as it changes a score."""
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    return (called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")) == "metric"
