"""Functions behind the routes of a web application (FastAPI, Flask), as something that can be asked."""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping

ROUTES = frozenset({"post", "get", "put", "route", "api_route"})
FIRST = 6     # how likely a route is the system: less than a function that answers, more than a class


def path_of(node: ast.stmt) -> str | None:
    """The path of a route; None of what is none."""
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return None
    for one in node.decorator_list:
        if isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute) and one.func.attr in ROUTES and one.args:
            path = one.args[0]
            if isinstance(path, ast.Constant) and isinstance(path.value, str):
                return path.value
    return None


def call_of(
    node: ast.FunctionDef | ast.AsyncFunctionDef, classes: Mapping[str, ast.ClassDef], asked: Collection[str],
    module: str,
) -> str | None:     # fmt: skip
    """The expression that asks a route's function `query`; None where it takes more, such as a session or a login.

    Args:
        node: the function.
        classes: those of its file, by name: the body of a request is one of them.
        asked: what a field or an argument for the question is called.
        module: of the file.
    """
    arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    injected = any(isinstance(one, ast.Call) for one in [*node.args.defaults, *node.args.kw_defaults])
    if len(arguments) != 1 or injected:
        return None
    (argument,) = arguments
    called = f"{module}.{node.name}({argument.arg}="
    kind = argument.annotation
    if isinstance(kind, ast.Name) and kind.id in classes:
        field = _field(classes[kind.id], asked)
        return f"{called}{module}.{kind.id}({field}=query))" if field else None
    return f"{called}query)" if argument.arg in asked and (kind is None or _is_text(kind)) else None


def _is_text(kind: ast.expr) -> bool:
    return isinstance(kind, ast.Name) and kind.id == "str"


def _field(body: ast.ClassDef, asked: Collection[str]) -> str:
    """The field of a request's body that takes the question, where no other is needed."""
    fields = {one.target.id: one for one in body.body if isinstance(one, ast.AnnAssign)
              and isinstance(one.target, ast.Name)}     # fmt: skip
    needed = [name for name, one in fields.items() if one.value is None]
    found = next((name for name in asked if name in fields), needed[0] if len(needed) == 1 else "")
    return found if set(needed) <= {found} else ""
