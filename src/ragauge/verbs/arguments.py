"""Arguments that Python code gives, checked before a library meets them."""

from __future__ import annotations

import os
from pathlib import Path

from ragauge.core.errors import UsageError


def path_of(given: object, example: str) -> Path:
    """The path of a file that is to be written.

    Args:
        given: a text or a path.
        example: the name of such a file.

    Raises:
        UsageError: anything else.

    >>> path_of(5, "report.html")
    Traceback (most recent call last):
    ragauge.core.errors.UsageError: the file must be a path, got int. Write 'report.html'.
    """
    if isinstance(given, str | os.PathLike) and isinstance(text := os.fspath(given), str) and text:
        return Path(text)
    raise UsageError(f"the file must be a path, got {_said(given)}. Write {example!r}.")


def text_of(given: object, what: str, example: str) -> str:
    """A text, such as an id or a name.

    Raises:
        UsageError: anything else.

    >>> text_of(None, "the run", "latest")
    Traceback (most recent call last):
    ragauge.core.errors.UsageError: the run must be a text, got None. Write 'latest'.
    """
    if isinstance(given, str):
        return given
    raise UsageError(f"{what} must be a text, got {_said(given)}. Write {example!r}.")


def _said(given: object) -> str:
    """What came, in a word.

    >>> _said(None), _said(""), _said(["a"])
    ('None', "''", 'list')
    """
    return "None" if given is None else "''" if given == "" else type(given).__name__
