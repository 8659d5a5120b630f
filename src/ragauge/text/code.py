"""Identifiers of code in a text: flags, paths, file names, dotted and underscored names, versions.

They mean what they are to the letter: `--no-cache` is no `--no-cache-dir`, whatever words the two share.
"""

from __future__ import annotations

import re
from functools import lru_cache

from ragauge.text.characters import plain
from ragauge.text.names import FORMS as NAMES
from ragauge.text.tokens import ENGLISH
from ragauge.text.word_files import read_patterns

LOOKED_AT = 20_000     # characters of a text that is searched
LONGEST = 200          # characters of an identifier
SHORT_FLAG = 3         # characters up to which a flag's capitals tell: -v and -V

FORMS = read_patterns(__file__, "code")


def codes(text: str) -> tuple[str, ...]:
    """The identifiers of a text, in order, each once; brackets of a call and the v of a version left out.

    >>> codes("Run `close_all()` with --no-cache and/or -v, then read ~/app/a.toml in v2.1.3 e.g. at 3.11 km/h.")
    ('close_all', '--no-cache', '-v', '~/app/a.toml', '2.1.3')
    """
    spans: dict[str, None] = {}
    masked = NAMES["address"].sub(" ", _readable(text))     # web addresses are names
    for run in FORMS["run"].finditer(masked):
        before = masked[run.start() - 1 : run.start()]
        code = _code(run[0], glued=before.isalnum()) if len(run[0]) <= LONGEST else ""
        if code:
            spans[code] = None
    return tuple(spans)


def _code(run: str, *, glued: bool) -> str:
    """A run of characters as an identifier; "" where it is a word, a number or an abbreviation."""
    if run.endswith("()"):
        return run[:-2].strip(".:/")
    run = run.rstrip(".:-\\").removesuffix("/")
    if FORMS["flag"].fullmatch(run):
        return "" if glued or run.lstrip("-").lower() in ENGLISH else run
    run = run.lstrip("-:")
    if version := FORMS["version"].fullmatch(run):
        return "" if FORMS["day"].fullmatch(run) else version[1] or version[2]
    shape = FORMS["shape"].fullmatch(run) if any(map(str.isalpha, run)) else None
    prose = shape is not None and shape["dotted"] and run.rpartition(".")[2] in ENGLISH     # "the end.the next"
    return run if shape is not None and not prose else ""


def stands(code: str, text: str) -> bool:
    """Whether a text has an identifier as it is written, alone or as a part of a longer path.

    Capitals tell in short flags only.

    >>> stands("--no-cache", "run --no-cache-dir"), stands("a.toml", "see ~/app/a.toml"), stands("2.1", "v2.1.3")
    (False, True, False)
    """
    return _pattern(code).search(_readable(text[:LOOKED_AT])) is not None


@lru_cache(maxsize=1_024)
def _pattern(code: str) -> re.Pattern[str]:
    exact = code.startswith("-") and len(code) <= SHORT_FLAG
    if code[0] == "-":
        before, more = r"(?<![\w-])", ""
    elif code[0].isdigit():
        before, more = r"(?<![\d.])(?:(?<!\w)|(?<=\bv))", ""
    else:
        before, more = r"(?<!\w)(?<!\w-)", "s?"
    return re.compile(rf"{before}{re.escape(code)}{more}(?!\w)(?!-\w)(?!\.\d)", 0 if exact else re.IGNORECASE)


def _readable(text: str) -> str:
    """With plain dashes, and without the backslashes that Markdown puts before signs."""
    return FORMS["escaped"].sub(r"\1", plain(text)) if "\\" in text else plain(text)
