"""Where an answer only names its sources: marks within its sentences, and the list or line at its end.

What is a source is told by shape and place: a number behind what it is for, a file or an address, a line that begins
with a mark which the text above has. Words that head a list of sources only serve where shape does not tell.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

from ragauge.text.tokens import ENGLISH
from ragauge.text.word_files import read_patterns

FORMS = read_patterns(__file__, "sentences")
MARK_CHARS = 14  # of a mark that `split` leaves with the sentence before it
MOST_WORDS, MOST_HEAD_WORDS, MOST_LINES = 12, 4, 40


def drop_marks(text: str) -> str:
    """The text without the marks of sources within its sentences.

    >>> drop_marks("It runs (1), as it did (mill.pdf, page 3)<sup>2</sup>.")
    'It runs, as it did.'
    """
    return FORMS["mark"].sub(lambda match: "" if _marks(match) else match[0], text)


def number_marks(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """The text with other marks of sources as [1], [11] …, which `drop_marks` takes out; every word keeps its place.

    Args:
        text: an answer.
        spans: characters [start, end) of such marks, three or more each.

    >>> number_marks("It runs [doc-3].", [(8, 15)])
    'It runs [11111].'
    """
    for start, end in spans:
        n_parts = -(-(end - start) // MARK_CHARS)
        bounds = [start + (end - start) * n // n_parts for n in range(n_parts + 1)]
        mark = "".join(f"[{'1' * (last - first - 2)}]" for first, last in pairwise(bounds))
        text = text[:start] + mark + text[end:]
    return text


def _marks(match: re.Match[str]) -> bool:
    """Whether this is a mark; a number in parentheses is none behind "of" or "was", or where nothing stands before."""
    if match["number"] is None:
        return True
    before = FORMS["last_word"].search(match.string, max(0, match.start() - 40), match.start())
    return before is not None and (before[1] or "").lower() not in ENGLISH


@lru_cache(maxsize=256)
def source_spans(text: str) -> tuple[tuple[int, int], ...]:
    """The characters of a text that only name sources, in order: marks, and the list at its end."""
    foot = footer(text)
    marks = tuple(match.span() for match in FORMS["mark"].finditer(text, 0, foot) if _marks(match))
    return (*marks, (foot, len(text))) if foot < len(text) else marks


@lru_cache(maxsize=256)
def footer(text: str) -> int:
    r"""Where the list or line of sources at the end of a text begins; its length where there is none.

    >>> [text[footer(text):] for text in ("It runs [1].\n\nSources:\n[1] mill.pdf", "It runs.\nMembers:\n- Ada")]
    ['Sources:\n[1] mill.pdf', '']
    """
    filled = [match for match in FORMS["line"].finditer(text) if match[0].strip()]
    lines = [(match.start(), FORMS["dress"].sub("", match[0])) for match in filled[-MOST_LINES:]]
    first = len(lines)
    while first > 1 and _names_source(lines[first - 1][1], text[: lines[first - 1][0]]):
        first -= 1
    above = lines[first - 1][1] if 1 < first < len(lines) else ""
    if above.endswith((":", "：")) and len(above.split()) <= MOST_HEAD_WORDS:
        first -= 1
    for at in range(len(lines) - 1, 0, -1):
        head = FORMS["head"].match(lines[at][1])
        if head is not None and (head["colon"] or not head["rest"]) and (head["rest"] or at + 1 < len(lines)):
            below = (head["rest"], *(line for _, line in lines[at + 1 :]))
            if all(len(line.split()) <= MOST_WORDS for line in below):  # "Sources:" and short lines to the end
                first = min(first, at)
                break
    while 1 < first < len(lines) and not lines[first - 1][1]:  # a rule above them
        first -= 1
    return lines[first][0] if first < len(lines) else len(text)


def _names_source(line: str, above: str) -> bool:
    """Whether a line gives the source of a mark that stands above, or is hardly more than a file or an address."""
    mark = FORMS["defined"].match(line)
    if mark is not None:
        return mark[0].strip(": ") in above or FORMS["lists"].search(line) is not None
    found = FORMS["lists"].search(line)
    return found is not None and len(line.split()) <= MOST_WORDS and len(found[0]) * 2 >= len(line)
