"""Templates of a judge's prompts: a YAML file, name of a prompt -> its text, or the path of a file with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ragauge.core.config.yaml_tree import read_tree
from ragauge.core.errors import DataError, UsageError
from ragauge.core.values import describe_value

Check = Callable[[str, str], None]
SHAPE = "expected prompt names, each with its text"


def read_prompts(source: Path | Mapping[str, Any], check: Check) -> dict[str, str]:
    """The templates of a file, or of a mapping in Python.

    A text of one line without a brace is the path of a file, seen from the folder of the YAML file.

    Args:
        source: path of a YAML or JSON file; or name -> text, or a Path.
        check: refuses a template by its name and text.

    Raises:
        DataError: what cannot be read or is refused, with its line.
    """
    name, folder = ("prompts", Path()) if isinstance(source, Mapping) else (str(source), source.parent)
    if isinstance(source, Path) and not source.exists():
        raise DataError("there is no such file.", source=name, hint="See ragauge docs model-judges for the format.")
    tree = source if isinstance(source, Mapping) else read_tree(source)
    if not isinstance(tree, Mapping) or not tree:
        raise DataError(f"{SHAPE}, got {describe_value(tree) if tree else 'nothing'}.", source=name)
    lines: Mapping[str, int] = getattr(tree, "lines", {})
    prompts = {}
    for key, value in tree.items():
        try:
            prompts[key] = _read_template(value, folder)
            check(key, prompts[key])
        except UsageError as error:
            raise DataError(f"{key}: {error}", source=name, line=lines.get(key)) from None
    return prompts


def _read_template(value: Any, folder: Path) -> str:
    if isinstance(value, str) and ("\n" in value.strip() or "{" in value):
        return value
    if not isinstance(value, str | Path) or not str(value).strip():
        raise UsageError(f"expected a text with slots, or a file that contains one, got {describe_value(value)}.")
    path = folder / str(value).strip()
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "the file is not UTF-8 text"
        raise UsageError(f"a line without a slot is a file name, but {path} cannot be read: {reason}.") from None
