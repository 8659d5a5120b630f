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

from ragauge.core.errors import MissingExtra, UnknownName, UsageError, nearest

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

Group = Literal["ragauge.metrics", "ragauge.judges", "ragauge.readers"]

NAMED = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*:[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")

NO_SYSTEMS = ("builtins", "typing", "types", "__future__", "pathlib", "re", "logging", "collections")

EXTRAS = {"langchain_core": "langchain", "llama_index": "llamaindex", "haystack": "haystack", "psycopg": "postgres"}


def is_named(text: str) -> bool:
    """Whether a text has the form module:name.

    >>> is_named("my_app.rag:answer"), is_named("http://host"), is_named("answers.jsonl")
    (True, False, False)
    """
    return NAMED.fullmatch(text) is not None


def is_there(module: str) -> bool:
    """Whether a module, or the package that it is in, can be found; nothing of it is imported.

    What is only in the working directory can be imported from now on, after everything that is installed: files there
    do not shadow the standard library.
    """
    importlib.invalidate_caches()
    first, here = module.partition(".")[0], str(Path.cwd())
    if importlib.util.find_spec(first) is None and here not in sys.path:
        sys.path.append(here)
    return importlib.util.find_spec(first) is not None


def load(text: str) -> Any:
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
    return find(text)


def find(text: str) -> Any:
    """As `load`, of modules that can be imported as things are."""
    module_name, _, path = text.partition(":")
    found: Any = _module(module_name, text)
    reached = module_name
    for part in path.split("."):
        if not hasattr(found, part):
            raise UnknownName(f"name in {reached}", part, _names(found), f"Write {module_name}:NAME.")
        found, reached = getattr(found, part), f"{reached}.{part}"
    return found


def _module(name: str, text: str) -> ModuleType:
    try:
        with redirect_stdout(sys.stderr):  # results go to stdout, which a program may read
            return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and (name == error.name or name.startswith(f"{error.name}.")):
            near = nearest(name, _modules())
            said = f" Nearest here: {', '.join(near)}." if near else ""
            raise UsageError(
                f"{text}: no module {error.name!r} in the working directory {Path.cwd()} or among the installed "
                f"packages.{said}"
            ) from None
        package = (error.name or "").partition(".")[0]
        if package in EXTRAS:
            raise MissingExtra(text, package, EXTRAS[package]) from error
        raise UsageError(f"{text}: importing {name} failed: {type(error).__name__}: {error}.") from error
    except Exception as error:  # whatever the user's module does while it is imported
        raise UsageError(f"{text}: importing {name} failed: {type(error).__name__}: {error}.") from error


def _modules() -> Iterator[str]:
    """Modules and packages of the working directory."""
    for path in sorted(Path.cwd().iterdir()):
        if path.suffix == ".py":
            yield path.stem
        elif path.is_dir() and path.name.isidentifier() and next(path.glob("*.py"), None) is not None:
            yield path.name
            yield from (f"{path.name}.{file.stem}" for file in sorted(path.glob("*.py")) if file.stem != "__init__")


def _names(found: Any) -> list[str]:
    """What could have been meant: what a module defines or makes itself, not what it imports from the libraries."""
    names = [name for name in dir(found) if not name.startswith("_")]
    if not isinstance(found, ModuleType):
        return [name for name in names if callable(getattr(found, name, None))]
    return [name for name in names if _is_own(getattr(found, name), found.__name__)]


def _is_own(value: Any, module: str) -> bool:
    """Whether it is a function or class of this module, or an object that may answer, such as a pipeline."""
    if isinstance(value, type | FunctionType):
        return value.__module__ == module
    return not isinstance(value, ModuleType) and type(value).__module__ not in NO_SYSTEMS


@cache
def registered(group: Group) -> Mapping[str, EntryPoint]:
    """Name -> what an installed package registers by it; of two packages with one name, the first by the alphabet."""
    from importlib.metadata import entry_points

    ordered = sorted(entry_points(group=group), key=package_of, reverse=True)
    return {entry.name: entry for entry in ordered}


def package_of(entry: EntryPoint) -> str:
    """The package that registers it."""
    return entry.dist.name if entry.dist is not None else entry.value


def load_registered(group: Group, name: str) -> Any:
    """The object behind a name of `registered`.

    Raises:
        UsageError: it cannot be imported; the package is named.
    """
    entry = registered(group)[name]
    try:
        return entry.load()
    except (Exception, SystemExit) as error:  # whatever the package does while it is imported
        package = package_of(entry)
        raise UsageError(
            f"{name} ({entry.value}) of the package {package} cannot be loaded: {type(error).__name__}: {error}. "
            f"Install {package} again, or take it out."
        ) from error
