"""What is asked of a RAG system, and what is known about the right answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from ragauge.core.errors import DataError
from ragauge.core.identity import hash_json, to_json_value

# what a set may know of its examples' answers, as its repr counts it
LABELS = (
    "references",
    "reference_claims",
    "relevant",
    "relevant_chunks",
    "gold_spans",
    "answerable",
    "aspects",
    "criteria",
)


@dataclass(frozen=True, slots=True)
class Turn:
    """One earlier message of a conversation."""

    role: Literal["user", "assistant", "system"]
    text: str


HISTORY_CHARS = 6_000  # of earlier turns that judges and annotators see, counted from the last


def select_visible_turns(history: Sequence[Turn]) -> tuple[Turn, ...]:
    """The last earlier turns of user and assistant, `HISTORY_CHARS` characters at most; a note says what is left out.

    Of the first turn that does not fit the end stays. What a system was told is no turn of the conversation.

    >>> select_visible_turns([Turn("user", "One?"), Turn("assistant", "x" * 6000)])[0].text
    '… 1 earlier turn left out'
    """
    turns = [turn for turn in history if turn.role != "system"]
    visible: list[Turn] = []
    room = HISTORY_CHARS
    while room > 0 and len(visible) < len(turns):
        turn = turns[-1 - len(visible)]
        cut = turn.text if len(turn.text) <= room else f"…{turn.text[-room:]}"
        visible.insert(0, Turn(turn.role, cut))
        room -= len(cut)
    n_left_out = len(turns) - len(visible)
    note = f"… {n_left_out:,} earlier turn{'' if n_left_out == 1 else 's'} left out"
    return (*([Turn("system", note)] if n_left_out else ()), *visible)


@dataclass(frozen=True, slots=True)
class Relevant:
    """One judged item: a document, or a group of which any one member will do.

    Raises:
        DataError: a text in place of the members: its letters would be ids.
    """

    doc_ids: tuple[str, ...]  #: the members, at least one.
    grade: float = 1.0  #: relevance; 0 or less is judged not relevant.

    def __post_init__(self) -> None:
        if isinstance(self.doc_ids, str):
            raise DataError(f"Relevant: doc_ids must be a tuple, got {self.doc_ids!r}. Write ({self.doc_ids!r},).")


@dataclass(frozen=True, slots=True)
class Span:
    """Characters [start, end) of a document."""

    doc_id: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Example:
    """One question of an eval set with whatever labels there are.

    None means that nothing is known; an empty tuple means known to be empty. Both leave a metric
    that needs the label not_applicable.
    """

    query_id: str  #: identity within the set.
    query: str  #: the question.
    history: tuple[Turn, ...] = ()  #: earlier turns of the conversation.
    references: tuple[str, ...] = ()  #: accepted answers, the main one first.
    #: the facts of the reference, one short statement each; None = not prepared.
    reference_claims: tuple[str, ...] | None = None
    aspects: tuple[str, ...] | None = None  #: what a complete answer has to address; None = not prepared.
    criteria: tuple[str, ...] | None = None  #: pass or fail statements about a good answer.
    relevant: tuple[Relevant, ...] | None = None  #: judged documents (grade 0 = judged not relevant).
    gold_spans: tuple[Span, ...] | None = None  #: where the evidence stands.
    answerable: bool | None = None  #: whether the corpus holds the answer, as the set says; see `is_answerable`.
    segments: Mapping[str, str] = field(default_factory=dict)  #: column -> value, for reports per segment.
    tags: frozenset[str] = frozenset()  #: such as golden or regression.
    cluster: str | None = None  #: examples that share one are not independent (document, tenant, conversation).
    #: judged chunks, by the passage_id of each; the members of a group are passage_ids too.
    relevant_chunks: tuple[Relevant, ...] | None = None

    @property
    def user_text(self) -> str:
        """The user's earlier turns and the question, one a line."""
        return "\n".join([*(turn.text for turn in self.history if turn.role == "user"), self.query])

    @property
    def is_answerable(self) -> bool | None:
        """Whether the corpus holds the answer: as the set says, else yes where gold evidence or an answer is known.

        None where neither is known. A reference that declines is no answer: its question may have none.

        >>> Example("q", "Who?", references=("Ada.",)).is_answerable, Example("q", "Who?").is_answerable
        (True, None)
        """
        from ragauge.text.patterns import is_no_answer

        if self.answerable is not None or any(is_no_answer(reference) for reference in self.references):
            return self.answerable
        gold = any(item.grade > 0 for item in (*(self.relevant or ()), *(self.relevant_chunks or ())))
        return True if gold or self.gold_spans or self.references else None

    @property
    def content_hash(self) -> str:
        """SHA-256 of everything in the example."""
        return hash_json(to_json_value(self))

    @property
    def labels(self) -> tuple[str, ...]:
        """Which labels it has, of those that a set may know."""
        return tuple(label for label in LABELS if getattr(self, label) not in (None, ()))


@dataclass(frozen=True)
class EvalSet:
    """A named, versioned list of examples."""

    name: str  #: what people call it.
    examples: tuple[Example, ...]  #: in file order, query_id unique.
    corpus: str | None = None  #: fingerprint of the corpus that the labels were made on, where known.

    @cached_property
    def version(self) -> str:
        """Hash of the content: the same examples in any order have the same version."""
        return hash_json(sorted(example.content_hash for example in self.examples))[:16]

    def __len__(self) -> int:
        return len(self.examples)

    def __iter__(self) -> Iterator[Example]:
        return iter(self.examples)

    def __repr__(self) -> str:
        """Name, number of examples, and how many have each label: a set is too long to be shown whole."""
        examples = f"{len(self):,} example{'' if len(self) == 1 else 's'}"
        label_counts = [f"{label} of {'all' if n == len(self) else f'{n:,}'}" for label, n in self.labels.items()]
        return f"EvalSet({self.name!r}, {examples}: {', '.join(label_counts) or 'no labels'})"

    @property
    def labels(self) -> Mapping[str, int]:
        """Label -> how many examples have it; labels that none has are left out."""
        counts = ((label, sum(label in example.labels for example in self.examples)) for label in LABELS)
        return {label: n for label, n in counts if n}
