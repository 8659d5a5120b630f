"""A further fault of a retriever. The generator stays honest: it answers from what is left."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from tests.faults.reference_faults import Fault, FaultTarget, answer_from_ranking, draw_share

from ragauge.core.example import Example
from ragauge.core.response import Response


@dataclass(frozen=True, slots=True)
class ShuffleRanking(Fault):
    """The candidates come in an order drawn from seed and question, so that evidence may fall out of the first k.

    Scores keep their places, so the ranking still descends. Nothing to spoil where fewer than two were found, or where
    the first k come out as they were.
    """

    name: ClassVar[str] = "shuffle_ranking"
    causes: ClassVar[tuple[str, ...]] = ("ranked_low",)

    def inject_fault(self, example: Example, honest: Response, system: FaultTarget, /) -> Response | None:
        """The answer from the shuffled ranking."""
        ranking, k = honest.candidates or (), len(honest.passages or ())
        drawn = {n: draw_share(self.seed, self.name, "place", example.query_id, str(n)) for n in range(len(ranking))}
        moved = [ranking[n] for n in sorted(drawn, key=drawn.__getitem__)]
        if moved[:k] == list(ranking[:k]):
            return None
        scored = [replace(passage, score=place.score) for passage, place in zip(moved, ranking, strict=True)]
        return answer_from_ranking(example, honest, scored, system)
