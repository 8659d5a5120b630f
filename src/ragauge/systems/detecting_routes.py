"""Functions behind the routes of a web application (FastAPI, Flask), as something that can be asked."""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping

from ragauge.systems.detecting_values import Function

ROUTES = frozenset({"post", "get", "put", "route", "api_route"})
FIRST = 6     # how likely a route is the system: less than a function that answers, more than a class


def path_of(node: ast.stmt) -> str | None:
    """The path of a route; None of what is none."""
    found = _route(node)
    return None if found is None else found[1]


def call_of(
    node: Function, classes: Mapping[str, ast.ClassDef], asked: Collection[str], module: str,
    apps: Collection[str] = (),
) -> str | None:     # fmt: skip
    """The expression that asks a route's function `query`; None where it takes more, such as a session or a login.

    Args:
        node: the function.
        classes: those of its file, by name: the body of a request is one of them.
        asked: what a field or an argument for the question is called.
        module: of the file.
        apps: names of applications (Flask) that have a client for tests: by it a function is asked that reads the
            request itself.
    """
    arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    injected = any(isinstance(one, ast.Call) for one in [*node.args.defaults, *node.args.kw_defaults])
    if not arguments:
        return _by_client(node, asked, module, apps)
    if len(arguments) != 1 or injected:
        return None
    (argument,) = arguments
    if not any(isinstance(one, ast.Name) and one.id == argument.arg for part in node.body for one in ast.walk(part)):
        return None     # it does not look at what it is asked
    called = f"{module}.{node.name}({argument.arg}="
    kind = argument.annotation
    if isinstance(kind, ast.Name) and kind.id in classes:
        field = _field(classes[kind.id], asked)
        return f"{called}{module}.{kind.id}({field}=query))" if field else None
    return f"{called}query)" if argument.arg in asked and (kind is None or _is_text(kind)) else None


def _route(node: ast.stmt) -> tuple[ast.Attribute, str] | None:
    """The decorator of a route, and its path."""
    if not isinstance(node, Function):
        return None
    for one in node.decorator_list:
        if isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute) and one.func.attr in ROUTES and one.args:
            path = one.args[0]
            if isinstance(path, ast.Constant) and isinstance(path.value, str):
                return one.func, path.value
    return None


def _by_client(node: Function, asked: Collection[str], module: str, apps: Collection[str]) -> str | None:
    """The call by the client of a Flask application, with the field that the function reads from the request."""
    found = _route(node)
    if found is None or not isinstance(found[0].value, ast.Name) or found[0].value.id not in apps:
        return None
    read = {one.value for part in node.body for one in ast.walk(part) if isinstance(one, ast.Constant)}
    field = next((name for name in asked if name in read), "")
    used = {one.attr for part in node.body for one in ast.walk(part) if isinstance(one, ast.Attribute)}
    app = f"{module}.{found[0].value.id}.test_client()"
    if not field:
        return None
    if used & {"json", "get_json"}:
        return f'{app}.post("{found[1]}", json={{"{field}": query}}).get_json()'
    return f'{app}.get("{found[1]}", query_string={{"{field}": query}}).get_json()' if "args" in used else None


def _is_text(kind: ast.expr) -> bool:
    return isinstance(kind, ast.Name) and kind.id == "str"


def _field(body: ast.ClassDef, asked: Collection[str]) -> str:
    """The field of a request's body that takes the question, where no other is needed."""
    fields = {one.target.id: one for one in body.body if isinstance(one, ast.AnnAssign)
              and isinstance(one.target, ast.Name)}     # fmt: skip
    needed = [name for name, one in fields.items() if one.value is None]
    found = next((name for name in asked if name in fields), needed[0] if len(needed) == 1 else "")
    return found if set(needed) <= {found} else ""
