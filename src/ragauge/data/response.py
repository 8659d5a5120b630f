"""What a RAG system returned."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ragauge.data.canonical import digest, plain
from ragauge.data.example import Span

REDACTED = "__REDACTED__"
ABSENT = "no response in the run"     # why the answer is missing of an example that a finished run holds nothing for


@dataclass(frozen=True, slots=True)
class Passage:
    """One retrieved piece of text.

    Attributes:
        passage_id: identity; two chunks of one document differ in it.
        doc_id: the document that it comes from, which is what labels name.
        text: None when not recorded.
        score: the retriever's, higher is better.
        span: where in the document it stands.
        hop: which retrieval step brought it, from 0.
        updated_at: ISO date of the document's version.
        superseded_by: doc_id of the version that replaced it.
    """

    passage_id: str
    doc_id: str
    text: str | None = None
    score: float | None = None
    span: Span | None = None
    hop: int = 0
    updated_at: str | None = None
    superseded_by: str | None = None


@dataclass(frozen=True, slots=True)
class Citation:
    """Characters [start, end) of the answer are credited to a passage or document.

    Attributes:
        start: first character of the credited part.
        end: one past its last character.
        target: the passage_id or doc_id named; it may name nothing that was retrieved.
    """

    start: int
    end: int
    target: str


@dataclass(frozen=True, slots=True)
class Response:
    """What the system did with one question.

    Attributes:
        query_id: the example that it answers.
        repeat: 0 for the first answer to the question, 1 for the second ...
        passages: what the generator saw, in order. () = the system found nothing; None = not recorded.
        candidates: the longer ranking before rerank, filter or truncation; None = not recorded.
        answer: None when not recorded (a retrieval-only run).
        citations: read from the answer by offset; None = the system does not cite at all.
        latency_ms: stage -> milliseconds; the key "total" is the whole.
        tokens: kind -> count, such as input and output.
        cost: in the currency of the price table, US dollars by default.
        outcome: what became of it in production: solved, thumbs, click.
        weight: how many real requests a sampled one stands for.
        missing: field -> why it is not recorded, such as redacted or truncated.
        error: the system's failure; everything else may then be missing.
    """

    query_id: str
    repeat: int = 0
    passages: tuple[Passage, ...] | None = None
    candidates: tuple[Passage, ...] | None = None
    answer: str | None = None
    citations: tuple[Citation, ...] | None = None
    latency_ms: Mapping[str, float] = field(default_factory=dict)
    tokens: Mapping[str, int] = field(default_factory=dict)
    cost: float | None = None
    outcome: Mapping[str, float | bool | str] = field(default_factory=dict)
    weight: float = 1.0
    missing: Mapping[str, str] = field(default_factory=dict)
    error: str | None = None

    @property
    def content_hash(self) -> str:
        """SHA-256 of everything in the response."""
        return digest(plain(self))

    @property
    def texts_recorded(self) -> bool:
        """Whether every passage handed on is there with its text (true for an empty retrieval)."""
        return self.passages is not None and all(p.text is not None and p.text != REDACTED for p in self.passages)
