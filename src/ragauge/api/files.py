"""Reports and exports by the ending of their file's name."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ragauge.errors import UsageError

if TYPE_CHECKING:
    from ragauge.api.scorecard import Scorecard


def whole(path: Path, text: str) -> None:
    """Writes a file whole or not at all: a crash leaves the old one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)
        umask = os.umask(0)
        os.umask(umask)
        Path(name).chmod(0o666 & ~umask)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _csv(card: Scorecard, path: Path) -> None:
    whole(path, card.to_polars().write_csv())


def _parquet(card: Scorecard, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    card.to_polars().write_parquet(path)


FORMS: Mapping[str, Callable[[Scorecard, Path], None]] = {
    ".html": lambda card, path: whole(path, card.to_html()),
    ".md": lambda card, path: whole(path, card.to_markdown()),
    ".json": lambda card, path: whole(path, card.to_json()),
    ".csv": _csv,
    ".parquet": _parquet,
}


def check(path: Path) -> None:
    """Refuses an ending that no report has, before any work is done."""
    if path.suffix.lower() not in FORMS:
        got = path.suffix or "no ending"
        raise UsageError(f"-o {path}: the ending says the form; expected {', '.join(FORMS)}, got {got}.")


def save(card: Scorecard, path: Path) -> Path:
    """Writes the report and returns its path."""
    check(path)
    FORMS[path.suffix.lower()](card, path)
    return path
