"""Objects by module:name, with the working directory importable as Python's own `-m` makes it.

Objects that installed packages register: metrics, judges and readers, by their entry points.
"""

from __future__ import annotations

import importlib
import importlib.util
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import redirect_stdout
from functools import cache
from pathlib import Path
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any, Literal

from ragauge.core.errors import MissingExtra, UnknownName, UsageError, find_nearest

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

Group = Literal["ragauge.metrics", "ragauge.judges", "ragauge.readers"]

OBJECT_PATH = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*:[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")

NON_SYSTEM_MODULES = ("builtins", "typing", "types", "__future__", "pathlib", "re", "logging", "collections")

EXTRAS = {"langchain_core": "langchain", "llama_index": "llamaindex", "haystack": "haystack", "psycopg": "postgres"}


def is_object_path(text: str) -> bool:
    """Whether a text has the form module:name.

    >>> is_object_path("my_app.rag:answer"), is_object_path("http://host"), is_object_path("answers.jsonl")
    (True, False, False)
    """
    return OBJECT_PATH.fullmatch(text) is not None


def is_importable(module: str) -> bool:
    """Whether a module, or the package that it is in, can be found; nothing of it is imported.

    What is only in the working directory can be imported from now on, after everything that is installed: files there
    do not shadow the standard library.
    """
    importlib.invalidate_caches()
    first, here = module.partition(".")[0], str(Path.cwd())
    if importlib.util.find_spec(first) is None and here not in sys.path:
        sys.path.append(here)
    return importlib.util.find_spec(first) is not None


def load_object(text: str) -> Any:
    """The object that module:name names, in the working directory first; a dot in the name reaches into an object.

    Raises:
        UsageError: no such module, with the nearest; or it cannot be imported, with its own error.
        MissingExtra: it imports a framework that is not installed.
        UnknownName: the module has no such name, with the nearest.
    """
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    importlib.invalidate_caches()
    return find_object(text)


def find_object(text: str) -> Any:
    """As `load_object`, of modules that can be imported as things are."""
    module_name, _, path = text.partition(":")
    target: Any = _import_module(module_name, text)
    reached = module_name
    for attribute in path.split("."):
        if not hasattr(target, attribute):
            raise UnknownName(f"name in {reached}", attribute, _list_names(target), f"Write {module_name}:NAME.")
        target, reached = getattr(target, attribute), f"{reached}.{attribute}"
    return target


def _import_module(name: str, text: str) -> ModuleType:
    try:
        with redirect_stdout(sys.stderr):  # results go to stdout, which a program may read
            return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and (name == error.name or name.startswith(f"{error.name}.")):
            near = find_nearest(name, _list_local_modules())
            suggestion = f" Nearest here: {', '.join(near)}." if near else ""
            raise UsageError(
                f"{text}: no module {error.name!r} in the working directory {Path.cwd()} or among the installed "
                f"packages.{suggestion}"
            ) from None
        package = (error.name or "").partition(".")[0]
        if package in EXTRAS:
            raise MissingExtra(text, package, EXTRAS[package]) from error
        raise UsageError(f"{text}: importing {name} failed: {type(error).__name__}: {error}.") from error
    except Exception as error:  # whatever the user's module does while it is imported
        raise UsageError(f"{text}: importing {name} failed: {type(error).__name__}: {error}.") from error


def _list_local_modules() -> Iterator[str]:
    """Modules and packages of the working directory."""
    for path in sorted(Path.cwd().iterdir()):
        if path.suffix == ".py":
            yield path.stem
        elif path.is_dir() and path.name.isidentifier() and next(path.glob("*.py"), None) is not None:
            yield path.name
            yield from (f"{path.name}.{file.stem}" for file in sorted(path.glob("*.py")) if file.stem != "__init__")


def _list_names(owner: Any) -> list[str]:
    """What could have been meant: what a module defines or makes itself, not what it imports from the libraries."""
    names = [name for name in dir(owner) if not name.startswith("_")]
    if not isinstance(owner, ModuleType):
        return [name for name in names if callable(getattr(owner, name, None))]
    return [name for name in names if _is_defined_in(getattr(owner, name), owner.__name__)]


def _is_defined_in(value: Any, module: str) -> bool:
    """Whether it is a function or class of this module, or an object that may answer, such as a pipeline."""
    if isinstance(value, type | FunctionType):
        return value.__module__ == module
    return not isinstance(value, ModuleType) and type(value).__module__ not in NON_SYSTEM_MODULES


@cache
def list_entry_points(group: Group) -> Mapping[str, EntryPoint]:
    """Name -> what an installed package registers by it; of two packages with one name, the first by the alphabet."""
    from importlib.metadata import entry_points

    ordered = sorted(entry_points(group=group), key=get_package_name, reverse=True)
    return {entry.name: entry for entry in ordered}


def get_package_name(entry: EntryPoint) -> str:
    """The package that registers it."""
    return entry.dist.name if entry.dist is not None else entry.value


def load_entry_point(group: Group, name: str) -> Any:
    """The object behind a name of `list_entry_points`.

    Raises:
        UsageError: it cannot be imported; the package is named.
    """
    entry = list_entry_points(group)[name]
    try:
        return entry.load()
    except (Exception, SystemExit) as error:  # whatever the package does while it is imported
        package = get_package_name(entry)
        raise UsageError(
            f"{name} ({entry.value}) of the package {package} cannot be loaded: {type(error).__name__}: {error}. "
            f"Reinstall or uninstall {package}."
        ) from error
