"""Word lists and wordings, kept as data: TOML files in the folder `words` beside the module that reads them.

A list of words is one string, divided by white space. Alternatives of a regular expression may go over several lines,
which "|" joins.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any


@cache
def read_words(module: str, name: str) -> dict[str, Any]:
    """The word lists of a file, read once.

    Args:
        module: `__file__` of the module that reads them.
        name: of the file, in the folder `words` beside the module, without its ending.

    >>> "the" in read_words(__file__, "tokens")["english"].split()
    True
    """
    return tomllib.loads((Path(module).parent / "words" / f"{name}.toml").read_text(encoding="utf-8"))


@cache
def read_patterns(module: str, name: str) -> dict[str, re.Pattern[str]]:
    """The regular expressions of a file by name, without regard to case; {NAME} is what [parts] has for it."""
    read = read_words(module, name)
    parts = read.get("parts", {})

    def filled(text: str) -> str:
        return re.sub(r"\{([A-Z]+)\}", lambda match: filled(parts[match[1]]), join_lines(text))

    return {key: re.compile(filled(text), re.IGNORECASE) for key, text in read["patterns"].items()}


def join_lines(alternatives: str) -> str:
    r"""Alternatives of a regular expression in one line.

    >>> join_lines("it|this\nthat")
    'it|this|that'
    """
    return "|".join(line.strip() for line in alternatives.strip().split("\n"))
