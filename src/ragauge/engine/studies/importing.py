"""What a user or a library names, for those who vary it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ragauge.errors import UnknownName, UsageError
from ragauge.systems.importing import find, is_there, load

__all__ = ["load", "named_class"]


def named_class(modules: Sequence[str], name: str, package: str) -> Any:
    """A class of the first of some modules that is installed.

    Raises:
        UsageError: none is installed; the line that installs it is in the text.
        UnknownName: it has no such class, with the nearest.
    """
    module = next((one for one in modules if is_there(one)), None)
    if module is None:
        raise UsageError(f"{name} needs {package}. Install it with: pip install {package}")
    try:
        return find(f"{module}:{name}")
    except UnknownName as error:
        raise UnknownName(f"class of {module}", name, error.known) from None
