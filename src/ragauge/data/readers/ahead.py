"""The first rows of a source, looked at before any is read: whether its answers cite in their text.

One answer cannot say it: [1] may be part of what it quotes, and an answer without a number may be one that should cite.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ragauge.data.citing import cites
from ragauge.data.readers.rows import Row
from ragauge.data.response import Passage

LOOKED_AT = 200      # rows: enough to see one answer in ten that cites
LEAST_SHARE = 0.1    # of their answers that cite in brackets; fewer happen in answers about code and formulas


class Ahead:
    """The numbered rows of a source, in order, the first of them held until they have been looked at.

    Attributes:
        cites: whether answers cite in their text; False before the first rows were looked at.
    """

    def __init__(
        self,
        rows: Iterator[tuple[int, Row]],
        answer: Callable[[Row], Any],
        passages: Callable[[Row], Sequence[Passage]],
    ) -> None:
        self.cites = False
        self._rows, self._answer, self._passages = rows, answer, passages
        self._held: list[tuple[int, Row]] | None = None
        self._broken: Exception | None = None

    def first(self) -> list[tuple[int, Row]]:
        """The first rows; where one cannot be read, those before it."""
        if self._held is not None:
            return self._held
        held = self._held = []
        try:
            for row in self._rows:
                held.append(row)
                if len(held) == LOOKED_AT:
                    break
        except Exception as error:
            self._broken = error
        said = [
            cites(answer) or cites(answer, self._passages(row))
            for _, row in held
            if isinstance(answer := self._answer(row), str) and answer.strip()
        ]
        self.cites = bool(said) and sum(said) >= LEAST_SHARE * len(said)
        return held

    def __iter__(self) -> Iterator[tuple[int, Row]]:
        yield from self.first()
        if self._broken is not None:
            raise self._broken
        yield from self._rows
