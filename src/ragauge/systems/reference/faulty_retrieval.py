"""Faults of a retriever. The generator stays honest: it answers from what is left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from ragauge.data.example import Example
from ragauge.data.response import Passage, Response
from ragauge.systems.reference.faults import Answering, Fault


@dataclass(frozen=True, slots=True)
class DropGold(Fault):
    """The labelled documents are gone, as if they had never been indexed: what came after them moves up.

    No passage of a labelled document is left in passages or candidates. Nothing to spoil where there are no labels,
    or where none of the documents was found anyway.
    """

    name: ClassVar[str] = "drop_gold"
    causes: ClassVar[tuple[str, ...]] = ("retrieval_miss",)

    def spoil(self, example: Example, honest: Response, system: Answering, /) -> Response | None:
        """The answer from the ranking without the labelled documents."""
        gold = labelled(example)
        ranking = honest.candidates or ()
        left = [passage for passage in ranking if passage.doc_id not in gold]
        if len(left) == len(ranking):
            return None
        return again(example, honest, left, system)


@dataclass(frozen=True, slots=True)
class PushGoldLow(Fault):
    """The labelled documents are found and ranked just below what the generator sees.

    Scores keep their places, so the ranking still descends. Nothing to spoil where there are no labels, where the
    generator saw none of the documents, or where too few others were found to fill their places.
    """

    name: ClassVar[str] = "push_gold_low"
    causes: ClassVar[tuple[str, ...]] = ("ranked_low",)

    def spoil(self, example: Example, honest: Response, system: Answering, /) -> Response | None:
        """The answer from the ranking with the labelled documents behind the first k others."""
        gold = labelled(example)
        ranking, k = honest.candidates or (), len(honest.passages or ())
        others = [passage for passage in ranking if passage.doc_id not in gold]
        pushed = [passage for passage in ranking if passage.doc_id in gold]
        if len(others) < k or not any(passage.doc_id in gold for passage in ranking[:k]):
            return None
        moved = [*others[:k], *pushed, *others[k:]]
        scored = [replace(passage, score=place.score) for passage, place in zip(moved, ranking, strict=True)]
        return again(example, honest, scored, system)


@dataclass(frozen=True, slots=True)
class FindNothing(Fault):
    """The retriever returns nothing at all. Nothing to spoil where it found nothing anyway."""

    name: ClassVar[str] = "find_nothing"
    causes: ClassVar[tuple[str, ...]] = ("empty_retrieval",)

    def spoil(self, example: Example, honest: Response, system: Answering, /) -> Response | None:
        """The answer without passages."""
        return again(example, honest, (), system) if honest.passages else None


def labelled(example: Example) -> set[str]:
    """Documents that are labelled as holding the answer."""
    return {doc_id for item in example.relevant or () if item.grade > 0 for doc_id in item.doc_ids}


def again(example: Example, honest: Response, ranking: Sequence[Passage], system: Answering) -> Response:
    """The answer from another ranking, found in the same time."""
    return system.respond_from(example, ranking, retrieval_ms=honest.latency_ms.get("retrieval", 0.0))
