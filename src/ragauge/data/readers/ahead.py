"""The first rows of a source, looked at before any is read: whether its answers cite by number.

One answer cannot say it: [1] may be part of what it quotes, and an answer without a number may be one that should cite.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ragauge.data.citing import cites
from ragauge.data.readers.rows import Row

LOOKED_AT = 200      # rows: enough to see one answer in ten that cites
LEAST_SHARE = 0.1    # of their answers that hold a number in brackets; fewer happen in answers about code and formulas


class Ahead:
    """The numbered rows of a source, in order, the first of them held until they have been looked at.

    Attributes:
        cites: whether answers cite by number; False before the first row was asked for.
    """

    def __init__(self, rows: Iterator[tuple[int, Row]], answer: Callable[[Row], Any]) -> None:
        self.cites = False
        self._rows, self._answer = rows, answer

    def __iter__(self) -> Iterator[tuple[int, Row]]:
        held: list[tuple[int, Row]] = []
        broken: Exception | None = None
        try:
            for row in self._rows:
                held.append(row)
                if len(held) == LOOKED_AT:
                    break
        except Exception as error:
            broken = error
        answers = [said for _, row in held if isinstance(said := self._answer(row), str) and said.strip()]
        self.cites = bool(answers) and sum(map(cites, answers)) >= LEAST_SHARE * len(answers)
        yield from held
        if broken is not None:
            raise broken
        yield from self._rows
