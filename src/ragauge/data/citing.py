"""Citations that stand in the text of an answer as numbers: [1], [2, 3], [1-3], [^1]."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import replace

from ragauge.data.response import Citation, Passage, Response
from ragauge.text.sentences import split

ONE = r"\^?\d{1,3}(?:\s?[-–]\s?\d{1,3})?"
MARKER = re.compile(rf"\[({ONE}(?:\s{{0,3}}[,;]\s{{0,3}}{ONE})*)\]")
NUMBERS = re.compile(r"(\d{1,3})(?:\s?[-–]\s?(\d{1,3}))?")
CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
WORD_BEFORE, LOOKED_BACK = re.compile(r"[\w.$]+\Z"), 40
ELEMENT = re.compile(r"\s?=[^=]|\.\w|\(")     # after an index of code: an assignment, an attribute, a call
NOTE = re.compile(r"(?:\A|\n)[ \t]{0,3}\Z")   # a footnote stands at the start of a line, with a colon: [^1]: ...
WIDEST = 20      # numbers that a range may stand for; [1-200] is no citation of 200 passages


def with_numbers(response: Response) -> Response:
    """The response with the citations that its answer's numbers stand for; 1 is the first passage.

    Each credits the sentence that it stands in. A number of no passage is kept as it is written, such as [9]: it is an
    invented citation. Citations that the system gave itself stay.
    """
    if response.answer is None or response.passages is None or response.citations is not None:
        return response
    return replace(response, citations=numbered(response.answer, response.passages))


def where_cited(response: Response) -> Response:
    """As `with_numbers`, where the answer holds a number; another answer may be one of a system that does not cite."""
    return with_numbers(response) if cites(response.answer or "") else response


def cites(answer: str) -> bool:
    """Whether the answer holds a citation by number.

    >>> cites("It is 330 m tall [1]."), cites("Write `rows[1]`."), cites("See total_rows[1].")
    (True, False, False)
    """
    return next(_markers(answer), None) is not None


def numbered(answer: str, passages: tuple[Passage, ...]) -> tuple[Citation, ...]:
    """The citations of an answer by their numbers."""
    found = list(_markers(answer))
    sentences = [(one.start, one.end) for one in split(answer)] if found else []
    starts = [start for start, _ in sentences]
    out = []
    for marker in found:
        at = bisect_right(starts, marker.start()) - 1
        start, end = sentences[at] if at >= 0 else (0, len(answer))
        for n in _numbers(marker.group(1)):
            target = passages[n - 1].passage_id if 1 <= n <= len(passages) else f"[{n}]"
            out.append(Citation(start, max(end, marker.end()), target))
    return tuple(dict.fromkeys(out))


def _numbers(inside: str) -> Iterator[int]:
    for first, last in NUMBERS.findall(inside):
        low, high = int(first), int(last or first)
        yield from range(low, high + 1) if low <= high < low + WIDEST else (low, high)


def _markers(answer: str) -> Iterator[re.Match[str]]:
    """The numbers in brackets that cite: not those of code, and not the text of a footnote."""
    if "[" not in answer:
        return
    code = [found.span() for found in CODE.finditer(answer)] if "`" in answer else []
    starts = [start for start, _ in code]
    for found in MARKER.finditer(answer):
        at = bisect_right(starts, found.start()) - 1
        if (at < 0 or found.start() >= code[at][1]) and _is_citation(answer, found):
            yield found


def _is_citation(answer: str, found: re.Match[str]) -> bool:
    before, after = answer[max(0, found.start() - LOOKED_BACK) : found.start()], answer[found.end() : found.end() + 3]
    if after[:1] == ":" and NOTE.search(before):
        return False
    word = WORD_BEFORE.search(before)
    if word is None:
        return True
    # as in "tall[1]", which cites, and "rows_by_day[1]", "self.rows[1]" or "rows[1] = 3", which do not
    named = "_" in word[0] or "$" in word[0] or "." in word[0].strip(".0123456789")
    return not named and ELEMENT.match(after) is None
