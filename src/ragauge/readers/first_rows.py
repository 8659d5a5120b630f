"""The first rows of a source, looked at before any is read: whether its answers cite in their text, and how.

One answer cannot say it: [1] may be part of what it quotes, and an answer without a number may be one that should cite.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ragauge.core.response import Passage
from ragauge.readers.lines import Row
from ragauge.text.citation_marks import can_cite, count_citations, detect_first_number, has_citation

MAX_ROWS = 200  # rows: enough to see one answer in ten that cites
MIN_ANSWERS = 5  # that cite: in fewer, numbers of no passage may as well be invented
MIN_CITING_SHARE = 0.1  # of their answers that cite in brackets; fewer happen in answers about code and formulas


class FirstRows:
    """The numbered rows of a source, in order, the first of them held until they have been looked at.

    Attributes:
        cites: whether answers cite in their text; False before the first rows were looked at.
        first_number: number of the first passage, as they count: 1 or 0.
        not_understood: why what they cite is not known; "" where it is.
    """

    def __init__(
        self,
        rows: Iterator[tuple[int, Row]],
        answer: Callable[[Row], Any],
        passages: Callable[[Row], Sequence[Passage]],
    ) -> None:
        self.cites, self.first_number, self.not_understood = False, 1, ""
        self._rows, self._answer, self._passages = rows, answer, passages
        self._held: list[tuple[int, Row]] | None = None
        self._broken: Exception | None = None

    def first(self) -> list[tuple[int, Row]]:
        """The first rows; where one cannot be read, those before it."""
        if self._held is not None:
            return self._held
        first_rows = self._held = []
        try:
            for row in self._rows:
                first_rows.append(row)
                if len(first_rows) == MAX_ROWS:
                    break
        except Exception as error:
            self._broken = error
        self._detect_citations(first_rows)
        return first_rows

    def _detect_citations(self, first_rows: Sequence[tuple[int, Row]]) -> None:
        """Finds out whether and how the answers of some rows cite."""
        texts = [
            (answer, row) for _, row in first_rows if isinstance(answer := self._answer(row), str) and answer.strip()
        ]
        answer_passages = ((answer, self._passages(row)) for answer, row in texts if can_cite(answer))
        citing = [(answer, passages) for answer, passages in answer_passages if has_citation(answer, passages)]
        self.cites = bool(texts) and len(citing) >= MIN_CITING_SHARE * len(texts)
        self.first_number = detect_first_number(citing)
        counts = [count_citations(answer, passages, self.first_number) for answer, passages in citing if passages]
        unknown, n_cited = (sum(column) for column in zip(*counts, strict=True)) if counts else (0, 0)
        if len(counts) >= MIN_ANSWERS and 2 * unknown > n_cited:
            self.not_understood = (
                f"{unknown} of {n_cited} citations in the first answers match no passage by position, id or label"
            )

    def __iter__(self) -> Iterator[tuple[int, Row]]:
        yield from self.first()
        if self._broken is not None:
            raise self._broken
        yield from self._rows
