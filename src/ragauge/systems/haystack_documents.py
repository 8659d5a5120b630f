"""A Haystack component that gives documents which are handed in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from haystack import Document, component

from ragauge.core.response import Passage
from ragauge.systems.response_parser import build_metadata


@component
class GivenDocumentsComponent:
    """Gives the documents that it was made with.

    Args:
        output: what the output is called.
        passages: what the documents are made of.
    """

    def __init__(self, output: str, passages: Sequence[Passage]) -> None:
        component.set_output_types(self, **{output: list[Document]})
        self._output = output
        self._documents = [
            Document(
                id=passage.passage_id, content=passage.text or "", score=passage.score, meta=build_metadata(passage)
            )
            for passage in passages
        ]

    def run(self) -> Mapping[str, Any]:
        """The documents."""
        return {self._output: list(self._documents)}
