"""What a user or a library names, for those who vary it."""

from __future__ import annotations

import sys
from typing import Any

from ragauge.core.errors import MissingExtra, UnknownName
from ragauge.core.object_lookup import find, is_there, load

__all__ = ["load", "named_class"]


def named_class(module: str, name: str, package: str, extra: str = "chunking") -> Any:
    """A class of a library.

    Raises:
        MissingExtra: the library is not installed; the line that installs it is in the text.
        UnknownName: it has no such class, with the nearest.
    """
    if not is_there(module):
        raise MissingExtra(name, package, extra)
    try:
        return find(f"{module}:{name}")
    except UnknownName:
        there = vars(sys.modules[module])
        known = [one for one, value in there.items() if isinstance(value, type) and not one.startswith("_")]
        raise UnknownName(f"class of {module}", name, known) from None
