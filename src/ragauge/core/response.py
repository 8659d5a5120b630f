"""What a RAG system returned.

A system's answers to an eval set, or a stretch of its traffic.

One line of an eval set or of a file of responses, and where it stood.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from ragauge.core.example import Example, Span
from ragauge.core.identity import hash_json, to_json_value

REDACTED = "__REDACTED__"
NO_RESPONSE_REASON = (
    "no response in the run"  # why the answer is missing of an example that a finished run holds nothing for
)
# words that say of an outcome whether it is a good one, as `normalize_outcome` writes them
GOOD_OUTCOMES = frozenset(
    (
        "true",
        "yes",
        "y",
        "good",
        "up",
        "thumbs_up",
        "thumbsup",
        "thumbs-up",
        "like",
        "liked",
        "positive",
        "solved",
        "resolved",
        "accepted",
        "success",
        "successful",
        "helpful",
        "click",
        "clicked",
        "correct",
        "👍",
    )
)
BAD_OUTCOMES = frozenset(
    (
        "false",
        "no",
        "n",
        "bad",
        "down",
        "thumbs_down",
        "thumbsdown",
        "thumbs-down",
        "dislike",
        "disliked",
        "negative",
        "unsolved",
        "unresolved",
        "rejected",
        "failure",
        "failed",
        "unhelpful",
        "escalated",
        "no_click",
        "incorrect",
        "👎",
    )
)


def normalize_outcome(value: object) -> str:
    """An outcome's value as it is compared: in lower case, without spaces.

    >>> normalize_outcome(" Thumbs Down")
    'thumbs_down'
    """
    return str(value).strip().casefold().replace(" ", "_")


@dataclass(frozen=True, slots=True)
class Passage:
    """One retrieved piece of text."""

    passage_id: str  #: identity; two chunks of one document differ in it.
    doc_id: str  #: the document that it comes from, which is what labels name.
    text: str | None = None  #: None when not recorded.
    score: float | None = None  #: the retriever's, higher is better.
    span: Span | None = None  #: where in the document it stands.
    hop: int = 0  #: which retrieval step brought it, from 0.
    updated_at: str | None = None  #: ISO date of the document's version.
    superseded_by: str | None = None  #: doc_id of the version that replaced it.


@dataclass(frozen=True, slots=True)
class Citation:
    """Characters [start, end) of the answer are credited to a passage or document."""

    start: int  #: first character of the credited part.
    end: int  #: one past its last character.
    target: str  #: the passage_id or doc_id named; it may name nothing that was retrieved.


@dataclass(frozen=True, slots=True)
class Response:
    """What the system did with one question."""

    query_id: str  #: the example that it answers.
    repeat: int = 0  #: 0 for the first answer to the question, 1 for the second ...
    #: what the generator saw, in order. () = the system found nothing; None = not recorded.
    passages: tuple[Passage, ...] | None = None
    #: the longer ranking before rerank, filter or truncation; None = not recorded.
    candidates: tuple[Passage, ...] | None = None
    answer: str | None = None  #: None when not recorded (a retrieval-only run).
    #: read from the answer by offset; None = the system does not cite at all.
    citations: tuple[Citation, ...] | None = None
    #: stage -> milliseconds; the key "total" is the whole.
    latency_ms: Mapping[str, float] = field(default_factory=dict)
    tokens: Mapping[str, int] = field(default_factory=dict)  #: kind -> count, such as input and output.
    cost: float | None = None  #: in the currency of the price table, US dollars by default.
    #: what became of it in production: solved, thumbs, click.
    outcome: Mapping[str, float | bool | str] = field(default_factory=dict)
    weight: float = 1.0  #: how many real requests a sampled one stands for.
    #: field -> why it is not recorded, such as redacted or truncated.
    missing: Mapping[str, str] = field(default_factory=dict)
    #: what its trace says of how it was made: model, prompt, embedder, index, k, version; span is the id of its
    #: outermost one.
    origin: Mapping[str, str] = field(default_factory=dict)
    error: str | None = None  #: the system's failure; everything else may then be missing.

    @property
    def content_hash(self) -> str:
        """SHA-256 of everything in the response."""
        return hash_json(to_json_value(self))

    @property
    def has_passage_texts(self) -> bool:
        """Whether every passage handed on is there with its text (true for an empty retrieval)."""
        return self.passages is not None and all(p.text is not None and p.text != REDACTED for p in self.passages)

    @property
    def is_empty(self) -> bool:
        """Whether nothing of it was recorded, not even that the system failed."""
        return replace(self, query_id="", repeat=0, weight=1.0, missing={}) == Response("")


State = Literal["running", "finished", "interrupted", "failed"]
Variant = Literal["own", "oracle", "closed_book", "replayed"]


@dataclass(frozen=True, slots=True)
class Run:
    """What one system returned, as a whole."""

    run_id: str  #: short unique id.
    name: str  #: what people call it.
    kind: Literal["set", "traffic"] = "set"  #: over an eval set, or sampled traffic.
    set_name: str = ""  #: the eval set's name.
    set_version: str = ""  #: its content hash.
    system: str = ""  #: what produced it.
    config: Mapping[str, Any] = field(default_factory=dict)  #: its settings.
    variant: Variant = "own"  #: own retrieval, gold passages, no passages, or another run's.
    git: str = ""  #: commit and whether the tree was dirty.
    state: State = "finished"  #: of collecting the responses.
    planned: int = 0  #: how many responses there will be.
    done: int = 0  #: how many there are.
    heartbeat: str = ""  #: when it last moved, ISO time.
    created_at: str = ""  #: ISO time.

    @property
    def confirms(self) -> str:
        """The run whose causes it puts to the test, by id; "" for a system's answers in their own right."""
        return str(self.config.get("confirms", ""))


@dataclass(frozen=True, slots=True)
class Record:
    """An example with the response that was read beside it."""

    example: Example  #: the question and its labels.
    response: Response | None  #: what the system returned; None where the source says nothing about it.
    source: str  #: the file or table.
    line: int  #: the line, row or entry of the source, from 1.
