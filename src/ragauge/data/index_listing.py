"""Which of the labelled documents a system's index holds."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from ragauge.data.canonical import digest


@dataclass(frozen=True, slots=True)
class IndexListing:
    """What a listing of the index says about the documents that a run's labels name.

    Only those are ever looked up, so a listing of millions of documents leaves a handful of ids. `doc_id in listing`
    says whether the index holds a labelled document.

    Attributes:
        documents: how many documents the listing names.
        absent: labelled documents that it does not name.
    """

    documents: int
    absent: frozenset[str] = frozenset()

    def __contains__(self, doc_id: object) -> bool:
        return doc_id not in self.absent

    @property
    def fingerprint(self) -> str:
        """Names what the listing says: two listings that lack the same labelled documents lead to the same causes."""
        return digest(sorted(self.absent))[:16]

    @staticmethod
    def of(doc_ids: Iterable[str], labelled: Collection[str]) -> IndexListing:
        """Reads a listing once, as a stream, keeping no more than the labelled documents that it lacks.

        Args:
            doc_ids: of the documents in the index; one that stands twice is counted twice.
            labelled: documents that labels name.
        """
        absent, documents = set(labelled), 0
        for doc_id in doc_ids:
            documents += 1
            absent.discard(doc_id)
        return IndexListing(documents, frozenset(absent))
