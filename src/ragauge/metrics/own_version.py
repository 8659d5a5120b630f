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
from ragauge.core.identity import digest

LEFT_OUT = frozenset({"annotation", "returns", "type_comment", "type_params", "ctx", "kind"})
DEFINED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
SAID = "__ragauge_metric__"  # attribute of what @rg.metric(…) says more of
MAX_DEPTH = 8  # of objects within objects
CONSTANTS = (str, bytes, int, float, bool, type(None))
_SEEN: WeakKeyDictionary[FunctionType | type, str] = WeakKeyDictionary()
BITS = 48  # a version is a whole number that every database and JSON reader takes


def source_version(code: FunctionType | type, *facts: object) -> int:
    """A whole number that changes with the code, and with the facts that say how it is called.

    Raises:
        UsageError: the code cannot be read.
    """
    if (seen := _SEEN.get(code)) is None:
        seen, stays = _code_digest(code)
        if stays:
            _SEEN[code] = seen
    return int(digest([seen, *facts])[: BITS // 4], 16) or 1


def _code_digest(code: FunctionType | type) -> tuple[str, bool]:
    """A hash of the code, and whether it stays so: what is in a file is as it was imported, though the file changes."""
    scope = _scope(code)
    own = _definitions(scope.get("__name__"))
    parts: dict[str, Any] = {"": _plain(_tree(code))}
    waiting = list(_names(_tree(code)))
    while waiting:
        name = waiting.pop()
        if name in parts or (found := _found(name, scope, own)) is None:
            continue
        parts[name] = found if isinstance(found, str) else [_plain(node) for node in found]
        waiting += [] if isinstance(found, str) else _names(found)
    return digest(parts), bool(own)


def _scope(code: FunctionType | type) -> Mapping[str, Any]:
    """What the names in the code stand for: of its module and, in a function within a function, of that one."""
    if isinstance(code, type):
        return dict(vars(sys.modules[code.__module__])) if code.__module__ in sys.modules else {}
    return {**code.__globals__, **inspect.getclosurevars(code).nonlocals}


def _tree(code: FunctionType | type) -> ast.AST:
    try:
        body = ast.parse(dedent(inspect.getsource(code))).body
    except (OSError, TypeError, SyntaxError) as error:
        raise UsageError(
            f"{code.__name__}: its source cannot be read ({type(error).__name__}), so that a change of it would not be "
            "seen. Give it a version, and another one with each change: @rg.metric(version=1)."
        ) from None
    if code.__name__ != "<lambda>":
        return body[0]
    lambdas = [node for node in ast.walk(body[0]) if isinstance(node, ast.Lambda)]
    return lambdas[0] if len(lambdas) == 1 else body[0]


def _definitions(module: str | None) -> dict[str, list[ast.AST]]:
    """Name -> what the module's file says of it at its top level; nothing where there is no such file."""
    try:
        body = ast.parse(inspect.getsource(sys.modules[module or ""])).body
    except (OSError, TypeError, SyntaxError, KeyError):  # such as a notebook
        return {}
    found: dict[str, list[ast.AST]] = {}
    for node in body:
        if isinstance(node, DEFINED):
            found.setdefault(node.name, []).append(node)
        elif isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
            for name in _names(node.targets if isinstance(node, ast.Assign) else node.target):
                found.setdefault(name, []).append(node)
    return found


def _found(name: str, scope: Mapping[str, Any], own: Mapping[str, list[ast.AST]]) -> list[ast.AST] | str | None:
    """What a name stands for: its definitions in the module, else the code or the constant that it is now."""
    if name in own:
        return own[name]
    value = scope.get(name)
    if isinstance(value, FunctionType | type) and value.__module__ == scope.get("__name__"):
        try:
            return [_tree(value)]
        except UsageError:
            return None
    return constant(value) if name in scope else None


def constant(value: Any) -> str | None:
    """The text of a value where it says all of it; None of any other value. A function, class or module is its name."""
    if isinstance(value, CONSTANTS):
        return repr(value)
    if isinstance(value, ModuleType | FunctionType | BuiltinFunctionType | type):
        return f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', value.__name__)}"
    if isinstance(value, dict):
        return constant(tuple(value.items()))
    if isinstance(value, tuple | list | set | frozenset):
        parts = [constant(part) or "" for part in value]
        ordered = parts if isinstance(value, tuple | list) else sorted(parts)
        return f"{type(value).__name__} of {ordered}" if all(parts) else None
    pattern = getattr(value, "pattern", None)  # of a compiled expression
    return None if pattern is None else repr((pattern, getattr(value, "flags", 0)))


def state_text(value: object, path: tuple[int, ...] = ()) -> str:
    """The text of what a function is bound to: of an object its class and attributes, and those of its attributes."""
    text = constant(value)
    if text is not None or id(value) in path or len(path) >= MAX_DEPTH:
        return text or constant(type(value)) or ""
    inside = (*path, id(value))
    if isinstance(value, dict):
        return state_text([*value.items()], inside)
    if isinstance(value, tuple | list):
        return f"[{', '.join(state_text(part, inside) for part in value)}]"
    if isinstance(value, partial):
        return state_text([value.func, value.args, value.keywords], inside)
    attributes = {name: part for name, part in getattr(value, "__dict__", {}).items() if name != SAID}
    return f"{constant(type(value))} {state_text(attributes, inside) if attributes else ''}"


def _names(node: Any) -> set[str]:
    """The names that a tree reads or writes, but for those in what does not count."""
    if isinstance(node, list):
        return set().union(*map(_names, node))
    if not isinstance(node, ast.AST):
        return set()
    return {node.id} if isinstance(node, ast.Name) else _names([part for _, part in _fields(node)])


def _plain(node: Any) -> Any:
    """A syntax tree as lists, alike for every version of Python that has the same tree."""
    if isinstance(node, list):
        return [_plain(part) for part in node]
    if not isinstance(node, ast.AST):
        return repr(node)
    kind, parts = type(node).__name__, dict(_fields(node))
    if isinstance(node, ast.AnnAssign) and node.value is not None:  # as without its annotation
        kind, parts = "Assign", {"targets": [node.target], "value": node.value}
    return [kind, [[name, _plain(part)] for name, part in parts.items() if part not in (None, [])]]


def _fields(node: ast.AST) -> Iterator[tuple[str, Any]]:
    for name, part in ast.iter_fields(node):
        if name in LEFT_OUT:
            continue
        if name == "body" and isinstance(node, DEFINED):
            first = part[0]
            documented = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
            yield name, part[1:] if documented and isinstance(first.value.value, str) else part
        elif name == "decorator_list":
            yield name, [one for one in part if not _is_ours(one)]
        else:
            yield name, part


def _is_ours(decorator: ast.AST) -> bool:
    """Whether it is @rg.metric(…): what it says is among the facts as far as it changes a score."""
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    return (called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")) == "metric"
