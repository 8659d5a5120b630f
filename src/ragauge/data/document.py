"""What a system retrieves from: documents."""

from __future__ import annotations

from dataclasses import dataclass

from ragauge.errors import DataError


@dataclass(frozen=True, slots=True)
class Document:
    """One page of a corpus.

    Attributes:
        doc_id: identity, which is what labels name.
        title: what the page is called; it is handed on with every passage.
        text: the body; every span counts characters of it.
        updated_at: ISO date of this version.
        superseded_by: doc_id of the version that replaced it.
        kind: such as manual or policy.

    Raises:
        DataError: a blank doc_id, or an id, title or text that is not a string.
    """

    doc_id: str
    title: str
    text: str
    updated_at: str | None = None
    superseded_by: str | None = None
    kind: str | None = None

    def __post_init__(self) -> None:
        for name in ("doc_id", "title", "text"):
            value = getattr(self, name)
            if not isinstance(value, str):
                raise DataError(f"Document: {name} must be a string, got {type(value).__name__}.")
        if not self.doc_id.strip():
            raise DataError("Document: doc_id must not be blank.", hint="Labels name documents by it.")
