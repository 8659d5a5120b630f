"""Whether the labels and the passages of a source name documents the same way."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ragauge.core.document import match_document_names
from ragauge.core.example import Example
from ragauge.core.response import Response

MANY_LABELS = 5  # from so many labelled and answered examples on, no match at all is worth a word


@dataclass(slots=True)
class LabelMatchCounter:
    """Counts of labels that are among the passages."""

    judged: int = 0  #: examples with labels and passages.
    met: int = 0  #: of them, with a label among the passages.
    chunks: int = 0  #: examples whose labels name passage_ids, and no document.
    by_text: int = 0  #: examples whose labels are texts.
    met_by_text: int = 0  #: of them, with one among the passages.

    def count_example(self, example: Example, response: Response | None) -> None:
        """Counts whether a label of the example is among the passages."""
        if not example.relevant or response is None or not response.passages:
            return
        returned = {passage.doc_id for passage in response.passages}
        labels = {doc_id for item in example.relevant for doc_id in item.doc_ids}
        is_match = not returned.isdisjoint(labels) or bool(match_document_names(labels, returned))
        self.chunks += not is_match and any(
            passage.passage_id in item.doc_ids for item in example.relevant for passage in response.passages
        )
        by_text = all(doc_id.startswith("text:") for item in example.relevant for doc_id in item.doc_ids)
        self.judged += 1
        self.met += is_match
        self.by_text += by_text
        self.met_by_text += is_match and by_text

    def warnings(self) -> Iterator[str]:
        """That labels and passages hardly meet."""
        if self.by_text and 2 * self.met_by_text < self.by_text:
            yield (
                f"labels are texts, but only {self.met_by_text} of {self.by_text} examples have one in their "
                "passages word for word, so recall will be low. Add ids to passages and labels."
            )
        elif self.chunks > self.met:
            yield (
                f"{self.chunks} of {self.judged} examples have labels that name chunks (passage_id), "
                "not documents. To read them as chunk labels: --map relevant_chunks=COLUMN."
            )
        elif self.judged >= MANY_LABELS and not self.met:
            yield (
                f"none of {self.judged} examples has a labeled document among its passages. "
                "Check that labels and passages use the same document ids."
            )
