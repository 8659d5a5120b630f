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
MAX_WORDS, MAX_HEAD_WORDS, MAX_LINES = 12, 4, 40


def remove_marks(text: str) -> str:
    """The text without the marks of sources within its sentences.

    >>> remove_marks("It runs (1), as it did (mill.pdf, page 3)<sup>2</sup>.")
    'It runs, as it did.'
    """
    return FORMS["mark"].sub(lambda match: "" if _is_mark(match) else match[0], text)


def number_marks(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """The text with other marks of sources as [1], [11] …, which `remove_marks` takes out; every word keeps its place.

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


def _is_mark(match: re.Match[str]) -> bool:
    """Whether this is a mark; a number in parentheses is none behind "of" or "was", or where nothing stands before."""
    if match["number"] is None:
        return True
    word_before = FORMS["last_word"].search(match.string, max(0, match.start() - 40), match.start())
    return word_before is not None and (word_before[1] or "").lower() not in ENGLISH


@lru_cache(maxsize=256)
def find_source_spans(text: str) -> tuple[tuple[int, int], ...]:
    """The characters of a text that only name sources, in order: marks, and the list at its end."""
    foot = find_footer(text)
    marks = tuple(match.span() for match in FORMS["mark"].finditer(text, 0, foot) if _is_mark(match))
    return (*marks, (foot, len(text))) if foot < len(text) else marks


@lru_cache(maxsize=256)
def find_footer(text: str) -> int:
    r"""Where the list or line of sources at the end of a text begins; its length where there is none.

    >>> [text[find_footer(text):] for text in ("It runs [1].\n\nSources:\n[1] mill.pdf", "It runs.\nMembers:\n- Ada")]
    ['Sources:\n[1] mill.pdf', '']
    """
    filled = [match for match in FORMS["line"].finditer(text) if match[0].strip()]
    lines = [(match.start(), FORMS["dress"].sub("", match[0])) for match in filled[-MAX_LINES:]]
    first = len(lines)
    while first > 1 and _is_source_line(lines[first - 1][1], text[: lines[first - 1][0]]):
        first -= 1
    above = lines[first - 1][1] if 1 < first < len(lines) else ""
    if above.endswith((":", "：")) and len(above.split()) <= MAX_HEAD_WORDS:
        first -= 1
    for index in range(len(lines) - 1, 0, -1):
        head = FORMS["head"].match(lines[index][1])
        if head is not None and (head["colon"] or not head["rest"]) and (head["rest"] or index + 1 < len(lines)):
            below = (head["rest"], *(line for _, line in lines[index + 1 :]))
            if all(len(line.split()) <= MAX_WORDS for line in below):  # "Sources:" and short lines to the end
                first = min(first, index)
                break
    while 1 < first < len(lines) and not lines[first - 1][1]:  # a rule above them
        first -= 1
    return lines[first][0] if first < len(lines) else len(text)


def _is_source_line(line: str, above: str) -> bool:
    """Whether a line gives the source of a mark that stands above, or is hardly more than a file or an address."""
    mark = FORMS["defined"].match(line)
    if mark is not None:
        return mark[0].strip(": ") in above or FORMS["lists"].search(line) is not None
    list_match = FORMS["lists"].search(line)
    return list_match is not None and len(line.split()) <= MAX_WORDS and len(list_match[0]) * 2 >= len(line)
