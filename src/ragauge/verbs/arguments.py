"""Arguments that Python code gives, checked before a library meets them."""

from __future__ import annotations

import os
from pathlib import Path

from ragauge.core.errors import UsageError


def validate_path(raw: object, example: str) -> Path:
    """The path of a file that is to be written.

    Args:
        raw: a text or a path.
        example: the name of such a file.

    Raises:
        UsageError: anything else.

    >>> validate_path(5, "report.html")
    Traceback (most recent call last):
    ragauge.core.errors.UsageError: the file must be a path, got int. Write 'report.html'.
    """
    if isinstance(raw, str | os.PathLike) and isinstance(text := os.fspath(raw), str) and text:
        return Path(text)
    raise UsageError(f"the file must be a path, got {_describe_given(raw)}. Write {example!r}.")


def validate_text(raw: object, what: str, example: str) -> str:
    """A text, such as an id or a name.

    Raises:
        UsageError: anything else.

    >>> validate_text(None, "the run", "latest")
    Traceback (most recent call last):
    ragauge.core.errors.UsageError: the run must be a text, got None. Write 'latest'.
    """
    if isinstance(raw, str):
        return raw
    raise UsageError(f"{what} must be a text, got {_describe_given(raw)}. Write {example!r}.")


def _describe_given(raw: object) -> str:
    """What came, in a word.

    >>> _describe_given(None), _describe_given(""), _describe_given(["a"])
    ('None', "''", 'list')
    """
    return "None" if raw is None else "''" if raw == "" else type(raw).__name__
