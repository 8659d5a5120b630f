"""What a user or a library names, for those who vary it."""

from __future__ import annotations

import sys
from typing import Any

from ragauge.core.errors import MissingExtra, UnknownName
from ragauge.core.object_lookup import find_object, is_importable, load_object

__all__ = ["load_class", "load_object"]


def load_class(module: str, name: str, package: str, extra: str = "chunking") -> Any:
    """A class of a library.

    Raises:
        MissingExtra: the library is not installed; the line that installs it is in the text.
        UnknownName: it has no such class, with the nearest.
    """
    if not is_importable(module):
        raise MissingExtra(name, package, extra)
    try:
        return find_object(f"{module}:{name}")
    except UnknownName:
        namespace = vars(sys.modules[module])
        class_names = [
            attribute
            for attribute, value in namespace.items()
            if isinstance(value, type) and not attribute.startswith("_")
        ]
        raise UnknownName(f"class of {module}", name, class_names) from None
