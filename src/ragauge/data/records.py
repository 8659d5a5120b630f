"""One line of an eval set or of a file of responses, and where it stood."""

from __future__ import annotations

from dataclasses import dataclass

from ragauge.data.example import Example
from ragauge.data.response import Response


@dataclass(frozen=True, slots=True)
class Record:
    """An example with the response that was read beside it.

    Attributes:
        example: the question and its labels.
        response: what the system returned; None where the source says nothing about it.
        source: the file or table.
        line: the line, row or entry of the source, from 1.
    """

    example: Example
    response: Response | None
    source: str
    line: int
