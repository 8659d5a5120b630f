"""What a RAG system returned, and which of it a judge can read."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, get_args

from ragauge.core.example import Example, Span
from ragauge.core.identity import hash_json, to_json_value
from ragauge.core.json_keys import json_keys, key

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


@json_keys("run_id name kind set_name set_version system variant git created_at")
@json_keys("run_id name", view="run_name")
@dataclass(frozen=True, slots=True)
class Run:
    """What one system returned, as a whole."""

    run_id: str  #: short unique id.
    name: str  #: what people call it.
    kind: Literal["set", "traffic"] = "set"  #: over an eval set, or sampled traffic.
    set_name: str = field(default="", metadata=key("set"))  #: the eval set's name.
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


ControlledFact = Literal["support", "reference", "relevance", "address", "agreement"]
CONTROLLED_FACTS: tuple[ControlledFact, ...] = get_args(ControlledFact)
PASSAGE_FACTS: frozenset[ControlledFact] = frozenset({"support", "reference", "relevance"})  # the others see none
Layout = Literal["prose", "table", "cells"]  # as in text.table_rows, which is loaded only where texts are read
ScaleKey = tuple[ControlledFact, str, Layout]

MIN_PAIRS = 20  # of each kind before anything is said of a scale
MIN_AUROC = 0.9
MIN_GAP = 0.3  # between the medians: a scale whose ends lie together orders, but says nothing
UNKNOWN_LANGUAGE = "und"
MIXED = "mixed"  # query or answer in another language than the passages
MAX_CHARS = 2_000  # of each text that tell the language


@dataclass(frozen=True, slots=True)
class ControlScale:
    """A judge's scores of control pairs of one fact, language and layout."""

    yes: tuple[float, ...]  #: scores of known-yes pairs, ascending, in [0, 1].
    no: tuple[float, ...]  #: scores of known-no pairs, likewise.
    shipped: int = 0  #: how many of all are pairs of the texts shipped with the package.

    @property
    def auroc(self) -> float:
        """Chance that a known yes scores higher than a known no, ties half; nan without pairs of both kinds."""
        if not self.yes or not self.no:
            return float("nan")
        wins = sum((bisect_left(self.no, p) + bisect_right(self.no, p)) / 2 for p in self.yes)
        return wins / (len(self.yes) * len(self.no))

    @property
    def gap(self) -> float:
        """Median score of the known-yes pairs less that of the known-no pairs; nan without pairs of both kinds."""
        from statistics import median

        return median(self.yes) - median(self.no) if self.yes and self.no else float("nan")

    @property
    def known_no(self) -> float | None:
        """Mean score of the known-no pairs, None without any."""
        return sum(self.no) / len(self.no) if self.no else None

    @property
    def is_readable(self) -> bool:
        """Whether the judge tells yes from no here: at least 20 pairs of each, AUROC ≥ .9, medians .3 apart."""
        enough = min(len(self.yes), len(self.no)) >= MIN_PAIRS
        return enough and self.auroc >= MIN_AUROC and self.gap >= MIN_GAP

    def compute_known_no_share(self, p: float) -> float:
        """Share of the known-no pairs that score p or more: what p is worth as evidence against *no*; 1 without any."""
        return 1 - bisect_left(self.no, p) / len(self.no) if self.no else 1.0


@dataclass(frozen=True, slots=True)
class Readability:
    """What a judge can read of one response."""

    language: str  #: of its texts, ISO 639-1; "und" where nothing tells, "mixed" where they are in two.
    layout: Layout  #: of its passages.
    #: fact -> scores of control pairs of that language and layout; a fact without any is absent.
    scales: Mapping[ControlledFact, ControlScale] = field(default_factory=dict)
    #: facts that people labeled: whatever the judge can read, these are known.
    labeled: frozenset[ControlledFact] = frozenset()
    #: whether its request is one of the run's about whatever document is at hand, and names no topic.
    is_task: bool = False

    def can_read(self, fact: ControlledFact) -> bool:
        """Whether the judge can read this fact here, or people labeled it."""
        scale = self.scales.get(fact)
        return fact in self.labeled or (scale is not None and scale.is_readable)


class TextKind(NamedTuple):
    """What the texts of a response are written in."""

    own: str  #: language of query and answer; that of the passages where nothing tells.
    language: str  #: of all its texts, ISO 639-1; "und" where nothing tells, "mixed" where they are in two.
    layout: Layout  #: of its passages.

    def key(self, fact: ControlledFact) -> ScaleKey:
        """Where the scale of a fact stands."""
        if fact in PASSAGE_FACTS:
            return fact, self.language, self.layout
        return ("support" if fact == "agreement" else fact), self.own, "prose"

    @classmethod
    def from_texts(cls, example: Example, response: Response) -> TextKind:
        """The place of a response."""
        from ragauge.text.language import guess_language  # here, so that a metric of ids alone loads no texts
        from ragauge.text.table_rows import detect_common_layout

        texts = [passage.text for passage in response.passages or () if passage.text]
        own_language = guess_language(f"{example.query[:MAX_CHARS]}\n{(response.answer or '')[:MAX_CHARS]}")
        context = guess_language("\n".join(text[:MAX_CHARS] for text in texts))
        own_language = context if own_language == UNKNOWN_LANGUAGE else own_language
        return cls(
            own_language,
            own_language if context in (own_language, UNKNOWN_LANGUAGE) else MIXED,
            detect_common_layout(texts),
        )


def build_request_key(example: Example) -> str | None:
    """What requests of the same content words share; None in a conversation, where an earlier turn may name a topic."""
    from ragauge.text.tokens import list_content_stems

    return None if example.history else hash_json(sorted(list_content_stems(example.query)))[:16]


@dataclass(frozen=True, slots=True)
class Controls:
    """A judge's scores of control pairs for a run, and what else the run shows of its texts."""

    scales: Mapping[ScaleKey, ControlScale]  #: by fact, language and layout.
    #: of what was drawn from the run and how it scored: what was decided with other controls is decided again.
    fingerprint: str = ""
    #: printed name of a metric -> its mean over the known-no pairs.
    known_no: Mapping[str, float] = field(default_factory=dict)
    #: keys of the requests that the run makes of several documents, so that they name no topic.
    tasks: frozenset[str] = frozenset()

    def build_readability(self, example: Example, response: Response) -> Readability:
        """What the judge can read of a response."""
        text_kind = TextKind.from_texts(example, response)
        keys = {fact: text_kind.key(fact) for fact in CONTROLLED_FACTS}
        scales = {fact: self.scales[key] for fact, key in keys.items() if key in self.scales}
        is_task = bool(self.tasks) and build_request_key(example) in self.tasks
        return Readability(text_kind.language, text_kind.layout, scales, is_task=is_task)
