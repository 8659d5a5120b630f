"""Identifiers of code in a text: flags, paths, file names, dotted and underscored names, versions.

They mean what they are to the letter: `--no-cache` is no `--no-cache-dir`, whatever words the two share.
"""

from __future__ import annotations

import re
from functools import lru_cache

from ragauge.text.characters import plain
from ragauge.text.names import ADDRESS
from ragauge.text.tokens import ENGLISH

LOOKED_AT = 20_000     # characters of a text that is searched
LONGEST = 200          # characters of an identifier
SHORT_FLAG = 3         # characters up to which a flag's capitals tell: -v and -V

_RUN = re.compile(r"[\w./~\\:-]+(?:\(\))?")
_FLAG = re.compile(r"--[A-Za-z][\w-]+|-[A-Za-z]{1,2}")
_ROOTED = re.compile(r"(?:~|\.{1,2}|[A-Za-z]:)?[/\\][\w.-]*[^\W\d_][\w.-]*(?:[/\\][\w.-]+)*")
_RELATIVE = re.compile(r"[\w.-]+(?:[/\\][\w.-]+)+")
_DOTTED = re.compile(r"[\w-]{2,}(?:\.[\w-]+)*\.(?:[a-z][\w-]+|[ch])|[a-z][\w-]+\.[a-z][\w-]+\.[A-Z]\w+")
_EXTENDED = re.compile(r"\w\.[a-z]\w{1,5}$")
_UNDERSCORED = re.compile(r"\w*[^\W_]_+\w+|_+[^\W_]\w*|[^\W_]\w*_+")
_HUMPED = re.compile(r"[a-z]{2,}(?:[A-Z][a-z0-9]+)+|(?:[A-Z][a-z0-9]+){2,}(?:Error|Exception|Warning)")
_VERSION = re.compile(r"v(\d{1,5}(?:\.\d{1,5}){1,4}[\w-]*)|(\d{1,5}(?:\.\d{1,5}){2,4}[\w-]*)", re.IGNORECASE)
_DAY = re.compile(r"\d{1,2}\.\d{1,2}\.(?:\d{4}|\d{2})|\d{4}\.\d{1,2}\.\d{1,2}")
_ESCAPED = re.compile(r"\\([_*\-.#])")


def codes(text: str) -> tuple[str, ...]:
    """The identifiers of a text, in order, each once; brackets of a call and the v of a version left out.

    >>> codes("Run `close_all()` with --no-cache and/or -v, then read ~/app/a.toml in v2.1.3 e.g. at 3.11 km/h.")
    ('close_all', '--no-cache', '-v', '~/app/a.toml', '2.1.3')
    """
    spans: dict[str, None] = {}
    masked = ADDRESS.sub(" ", _readable(text))     # web addresses are names
    for run in _RUN.finditer(masked):
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
    if _FLAG.fullmatch(run):
        return "" if glued or run.lstrip("-").lower() in ENGLISH else run
    run = run.lstrip("-:")
    version = _VERSION.fullmatch(run)
    if version is not None:
        return "" if _DAY.fullmatch(run) else version[1] or version[2]
    return run if _shaped(run) else ""


def _shaped(run: str) -> bool:
    if not any(map(str.isalpha, run)):
        return False
    if "/" in run or "\\" in run:
        telling = "_" in run or _EXTENDED.search(run) is not None
        return _ROOTED.fullmatch(run) is not None or (telling and _RELATIVE.fullmatch(run) is not None)
    if "::" in run or _UNDERSCORED.search(run) is not None:
        return True
    if _DOTTED.fullmatch(run):
        return run.rpartition(".")[2] not in ENGLISH     # "the end.the next"
    return _HUMPED.fullmatch(run) is not None


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
    return _ESCAPED.sub(r"\1", plain(text)) if "\\" in text else plain(text)
