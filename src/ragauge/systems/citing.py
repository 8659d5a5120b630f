"""Citations that stand in the text of an answer as numbers: [1], [2, 3]."""

from __future__ import annotations

import re
from dataclasses import replace

from ragauge.data.response import Citation, Passage, Response
from ragauge.errors import UnknownName
from ragauge.text.sentences import split

MARKER = re.compile(r"\[(\d{1,3}(?:\s*[,;]\s*\d{1,3})*)\]")
NUMBERED = "numbered"


def checked(setting: object) -> bool:
    """Whether the setting `citations` asks for numbers to be read.

    Raises:
        UnknownName: another value.
    """
    if setting not in (None, NUMBERED):
        raise UnknownName("way to read citations", str(setting), [NUMBERED])
    return setting == NUMBERED


def with_numbers(response: Response) -> Response:
    """The response with the citations that its answer's numbers stand for; 1 is the first passage.

    Each credits the sentence that it stands in. A number of no passage is kept as it is written, such as [9]: it is an
    invented citation. Citations that the system gave itself stay.
    """
    if response.answer is None or response.passages is None or response.citations is not None:
        return response
    return replace(response, citations=numbered(response.answer, response.passages))


def numbered(answer: str, passages: tuple[Passage, ...]) -> tuple[Citation, ...]:
    """The citations of an answer by their numbers."""
    found = list(MARKER.finditer(answer))
    sentences = [(one.start, one.end) for one in split(answer)] if found else []
    out = []
    for marker in found:
        start, end = next(
            (one for one in reversed(sentences) if one[0] <= marker.start()), (0, len(answer))
        )
        for number in re.findall(r"\d+", marker.group(1)):
            n = int(number)
            target = passages[n - 1].passage_id if 1 <= n <= len(passages) else f"[{number}]"
            out.append(Citation(start, max(end, marker.end()), target))
    return tuple(dict.fromkeys(out))
