"""Word lists and wordings, kept as data: TOML files in the folder `words` beside the module that reads them.

A list of words is one string, divided by white space. Alternatives of a regular expression may go over several lines,
which "|" joins.

A short notation for the wordings of a sentence, one a line.

a space          white space (" ?" is white space that may be missing)
…                up to 80 characters
a line with "|"  first goes on the line before
{NAME}           one of the words listed under that name
everything else  as in a regular expression

A line is looked for between word boundaries, without regard to case, in the first characters of the sentence. Every
gap is bounded, so that no text takes long.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
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


def read_sets(module: str, name: str, kinds: str) -> tuple[frozenset[str], ...]:
    """Word lists of a file as sets, in the order in which they are asked for."""
    return tuple(frozenset(read_words(module, name)[kind].split()) for kind in kinds.split())


@cache
def read_patterns(module: str, name: str) -> dict[str, re.Pattern[str]]:
    """The regular expressions of a file by name; {NAME} is what [parts] has for it.

    Those of [patterns] disregard case, those of [exact] do not.
    """
    read = read_words(module, name)
    parts = read.get("parts", {})

    def fill_parts(text: str) -> str:
        return re.sub(r"\{([A-Z]+)\}", lambda match: fill_parts(parts[match[1]]), join_lines(text))

    kinds = ((read.get("patterns", {}), re.IGNORECASE), (read.get("exact", {}), re.NOFLAG))
    return {
        key: re.compile(fill_parts(text), flags) for expressions, flags in kinds for key, text in expressions.items()
    }


def join_lines(alternatives: str) -> str:
    r"""Alternatives of a regular expression in one line.

    >>> join_lines("it|this\nthat")
    'it|this|that'
    """
    return "|".join(line.strip() for line in alternatives.strip().split("\n"))


CONTINUED_LINE = re.compile(r"\n\s*\|")
MAX_READ_CHARS = 400  # characters of a sentence: what kind it is shows early


def compile_wordings(lines: str, words: Mapping[str, str]) -> re.Pattern[str]:
    """One pattern that finds any of the lines.

    >>> bool(compile_wordings("i {CAN} not…find", {"CAN": "can|could"}).search("Sadly I could not really find it."))
    True
    """
    wordings = [line.strip() for line in CONTINUED_LINE.sub("|", lines).split("\n") if line.strip()]
    return re.compile("|".join(_expand_line(line, words) for line in wordings), re.IGNORECASE)


def has_wording(pattern: re.Pattern[str], sentence: str) -> bool:
    """Whether one of the wordings stands in the sentence."""
    return pattern.search(" ".join(sentence[:MAX_READ_CHARS].replace("’", "'").split())) is not None


def _expand_line(line: str, words: Mapping[str, str]) -> str:
    for name in re.findall(r"\{([A-Z]+)\}", line):
        line = line.replace(f"{{{name}}}", f"(?:{join_lines(words[name])})")
    if re.search(r"\{[A-Z]+\}", line):
        return _expand_line(line, words)
    line = line.replace("…", ".{0,80}?").replace(" ?", r"\s*").replace(" ", r"\s+")
    unspaced = re.search("[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]", line) is not None  # none, or endings grown on
    start = "" if line.startswith("^") or unspaced else r"\b"
    end = "" if line.endswith("$") or unspaced else r"(?!\w)"
    return f"(?:{start}(?:{line}){end})"
