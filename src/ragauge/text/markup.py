"""Markdown taken off a sentence, and what looks like it but is code left alone."""

from __future__ import annotations

import re

SOURCE = (
    r"(?:sources?|src|docs?|documents?|passages?|contexts?|chunks?|excerpts?|snippets?|ref(?:erence)?s?|citations?)"
)
CREDIT = rf"\[(?i:{SOURCE})(?:\s?[:#]\s?|\s)[^\[\]\n]{{1,60}}\]"      # [Source: a.md], [doc 2]

FENCE = re.compile(r"\s*(?:`{3,}|~{3,})[\w+#.-]*\s*$")     # a line that opens or ends a block of code
_LIST = re.compile(r"^\s*(?:[-*+•‣◦·]\s+|#{1,6}\s+|>\s+|\(?\d{1,3}[.)]\s+|\(?[A-Za-z][.)]\s+)+")
_SPAN = re.compile(r"(?<!`)(`{1,3})(?!`)([^`\n]+)\1(?!`)")
_STARS = re.compile(r"\*{1,3}")
_STARRED = re.compile(r"\.\w|(?:kw)?args\b")     # *.py, **kwargs
_UNDERLINED = re.compile(r"(?<!\w)(_{1,3})(?!__)(?=[^\s_])(.*?[^\s_])\1(?!\w)")
_DUNDER = re.compile(r"__\w+__")
_TICKS = re.compile(r"(?<!\w)`{1,3}|`{1,3}(?!\w)|\|")
_HELD = "\ue000"     # stands for a code span while the rest is read; of the private use area


def unmarked(sentence: str, also: re.Pattern[str]) -> str:
    """A sentence without list markers, emphasis and the marks of code spans.

    What stands in a code span is as written; so are names with underscores, `*args`, `*.py`, and a star between
    spaces.

    Args:
        sentence: one sentence.
        also: what else is taken out, though not within code spans.

    >>> never = re.compile("(?!)")
    >>> unmarked("- **Set** `A_*` and __init__ of _this_ to 2 * 3", never)
    'Set A_* and __init__ of this to 2 * 3'
    """
    spans: list[str] = []

    def hold(found: re.Match[str]) -> str:
        spans.append(found[2])
        return _HELD

    text = _SPAN.sub(hold, sentence.replace(_HELD, " "))
    text = also.sub("", _LIST.sub("", also.sub("", text)))
    text = _TICKS.sub("", _STARS.sub(_without_star, _UNDERLINED.sub(_without_line, text)))
    for span in spans:
        text = text.replace(_HELD, span, 1)
    return text


def _without_line(found: re.Match[str]) -> str:
    return found[0] if _DUNDER.fullmatch(found[0]) else found[2]


def _without_star(found: re.Match[str]) -> str:
    """Nothing in the place of stars that mark emphasis."""
    before, after = found.string[: found.start()][-1:], found.string[found.end() :][:1]
    word = [char.isalnum() or char == "_" for char in (before, after)]
    operator = before == after == " " and len(found[0]) < 3
    return found[0] if all(word) or operator or _STARRED.match(found.string, found.end()) else ""
