"""HTML around an answer: a judge sees the words, at the places where they stand in the answer."""

from __future__ import annotations

import re
from html import unescape

BLOCK = r"p|div|ul|ol|li|h[1-6]|blockquote|section|article|body|html"
INLINE = r"span|b|strong|i|em|u|small|sup|sub|a|mark|code"
END = rf"</?(?:{BLOCK})\b[^<>]*>|<br\s*/?>"  # a sentence ends here
MARK = re.compile(rf"(?P<end>{END})|</?(?:{INLINE})\b[^<>]*>|&(?:#\d+|#x[\da-f]+|[a-z]+);", re.IGNORECASE)
# an answer that is one element after the other, or whose lines end in <br>; prose about HTML names its tags within
MARKUP_ANSWER = re.compile(
    rf"\s*<({BLOCK}|{INLINE})\b[^<>]*>.*(</\w+>|<br\s*/?>)\s*|.*[.!?:;,]\s*<br\s*/?>.*", re.I | re.S
)


def blank_markup(text: str) -> str:
    r"""The text with blanks in place of its HTML, where it is marked up: every other character keeps its place.

    >>> blank_markup("<p>It is <b>free</b>.</p>"), blank_markup("Use <br> or <p>here</p> in HTML.")
    ('\n\n It is    free    .\n\n  ', 'Use <br> or <p>here</p> in HTML.')
    """
    return MARK.sub(_blank_match, text) if MARKUP_ANSWER.fullmatch(text) else text


def _blank_match(mark: re.Match[str]) -> str:
    size = len(mark[0])
    if mark[0].startswith("&"):
        return unescape(mark[0]).replace("\N{NO-BREAK SPACE}", " ").ljust(size)[:size]
    return ("\n\n" * bool(mark["end"])).ljust(size)
