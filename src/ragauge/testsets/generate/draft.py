"""A question as a model wrote it, and what each type of question promises."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, NamedTuple, get_args

from ragauge.core.curation import Anchor, Curation, Origin
from ragauge.core.errors import UnknownName, UsageError
from ragauge.core.example import Example, Relevant, Span
from ragauge.core.identity import derive_query_id
from ragauge.testsets.set_file import SetLine, build_line

QuestionType = Literal[
    "single", "boundary", "multi_hop", "comparison", "temporal", "unanswerable", "false_premise", "ambiguous"
]
TYPES: tuple[QuestionType, ...] = get_args(QuestionType)
Unwritten = Literal["", "declined", "unreadable", "call_failed"]
METHOD = "model"
MAX_HEARD_CHARS = 2_000  # characters of an unreadable reply that are kept with the request


class Contract(NamedTuple):
    """What a type of question promises."""

    asks: str  #: what the model is told to write.
    documents: tuple[int, int] = (1, 1)  #: fewest and most gold documents.
    #: one passage, one in a place that is hard to find, one with a date, or two that are linked or alike.
    draws: Literal["one", "edge", "dated", "linked", "alike"] = "one"
    quotes: int = 1  #: fewest quotations.
    answerable: bool | None = True  #: of the example; None = there is no answer to give and none to refuse.
    criterion: str = ""  #: of a good answer, before the reference; "" = none.


CONTRACTS: Mapping[QuestionType, Contract] = {
    "single": Contract("is answered by one passage"),
    "boundary": Contract(
        "is answered by the passage; where there are two, by the end of the first and the beginning of the second "
        "together, a quotation of each",
        draws="edge",
    ),
    "multi_hop": Contract(
        "can only be answered by facts of both passages together; quote the fact of each", (2, 3), "linked", 2
    ),
    "comparison": Contract(
        "compares something that each passage says about its own subject; quote the fact of each", (2, 3), "alike", 2
    ),
    "temporal": Contract("asks when something was, or whose answer depends on a date or year", draws="dated"),
    "unanswerable": Contract(
        "sounds as if the passage answered it, on its subject, but asks for a fact that the passage does not hold; "
        "answer and evidence stay empty",
        (0, 0),
        quotes=0,
        answerable=False,
    ),
    "false_premise": Contract(
        "takes for granted something that the passage says is otherwise; the answer corrects it, the evidence is the "
        "sentence that shows it",
        answerable=None,
        criterion="Corrects the false premise of the question: ",
    ),
    "ambiguous": Contract(
        "can be read in two ways, each answered by one of the passages; the answer gives both readings with their "
        "answers, the evidence both sentences",
        (1, 3),
        "alike",
        2,
        criterion="Asks which reading is meant, or answers every reading: ",
    ),
}
DEFAULT_SHARES: Mapping[QuestionType, float] = {
    "single": 40,
    "boundary": 10,
    "multi_hop": 15,
    "comparison": 10,
    "temporal": 5,
    "unanswerable": 10,
    "false_premise": 5,
    "ambiguous": 5,
}


def parse_shares(text: str | Mapping[str, float]) -> dict[QuestionType, float]:
    """Types with their shares.

    Raises:
        UnknownName: no such type.
        UsageError: a share that is no number above 0.

    >>> parse_shares("single=3,multi_hop=1")
    {'single': 3.0, 'multi_hop': 1.0}
    """
    if isinstance(text, str):
        pairs = [entry.partition("=")[::2] for entry in text.replace(" ", "").split(",") if entry]
    else:
        pairs = [(str(name), str(share)) for name, share in text.items()]
    shares: dict[QuestionType, float] = {}
    for name, share in pairs:
        kind = next((known_type for known_type in TYPES if known_type == name), None)
        if kind is None:
            raise UnknownName("type of question", name, TYPES)
        try:
            shares[kind] = float(share)
        except ValueError:
            shares[kind] = 0.0
        if not 0 < shares[kind] < float("inf"):
            raise UsageError(f"types: expected {name}=SHARE, a number above 0, got {name}={share}.")
    return shares


@dataclass(frozen=True, slots=True)
class SourcePassage:
    """Characters [start, end) of a document, which a question is written from."""

    doc_id: str
    start: int
    text: str

    @property
    def end(self) -> int:
        """One past its last character."""
        return self.start + len(self.text)


@dataclass(frozen=True, slots=True)
class Brief:
    """What one call is to write."""

    type: QuestionType  #: of its questions.
    passages: tuple[SourcePassage, ...]  #: numbered from 1 in the prompt.
    #: of each question, how it is put: persona, style, length, language -> what was drawn.
    manners: tuple[Mapping[str, str], ...]
    earlier: tuple[str, ...] = ()  #: questions that were written from these passages before.


class Quote(NamedTuple):
    """What a model says that a passage says."""

    passage: int
    text: str


@dataclass(frozen=True)
class Draft:
    """A question as it was written."""

    type: QuestionType  #: what was asked for. question, answer: as written; "" where a reply held none.
    question: str
    answer: str
    passages: tuple[SourcePassage, ...]  #: what it was written from.
    quotes: tuple[Quote, ...] = ()  #: the evidence as the model gave it.
    anchors: tuple[Anchor | None, ...] = ()  #: where each quote stands; None = nowhere.
    manner: Mapping[str, str] | None = None  #: how it was to be put.
    #: why there is no question: the model finds the passages allow none, no reply can be read, or the call failed; "" =
    #: there is one.
    unwritten: Unwritten = ""
    fault: str = ""  #: the same in words; "" = none.
    heard: str = ""  #: of an unreadable reply the last text that came.

    @property
    def fault_message(self) -> str:
        """Why there is no question, with the reply that cannot be read as it came."""
        cut = f" … ({len(self.heard):,} characters)" if len(self.heard) > MAX_HEARD_CHARS else ""
        return f"{self.fault}; the last reply was: {self.heard[:MAX_HEARD_CHARS]}{cut}" if self.heard else self.fault

    @cached_property
    def gold(self) -> tuple[str, ...]:
        """The documents that its evidence stands in; none of a question without an answer."""
        if self.type == "unanswerable":
            return ()
        return tuple(dict.fromkeys(anchor.doc_id for anchor in self.anchors if anchor is not None))

    @property
    def stretches(self) -> tuple[Span, ...]:
        """Where its evidence stands; nowhere for a question without an answer."""
        placed = [anchor for anchor in self.anchors if anchor is not None and self.gold]
        return tuple(Span(quote_anchor.doc_id, quote_anchor.start, quote_anchor.end) for quote_anchor in placed)

    def example(self, more: Mapping[str, str] | None = None) -> Example:
        """What the set holds of it.

        Args:
            more: segments beside type and manner.
        """
        contract = CONTRACTS[self.type]
        return Example(
            derive_query_id(self.question),
            self.question,
            references=() if contract.answerable is False else (self.answer,),
            criteria=(contract.criterion + self.answer,) if contract.criterion else None,
            relevant=tuple(Relevant((doc_id,)) for doc_id in self.gold),
            gold_spans=self.stretches,
            answerable=contract.answerable,
            segments={"type": self.type, **(self.manner or {}), **(more or {})},
        )

    def line(self, model: str, seed: int, more: Mapping[str, str] | None = None, rejected: str = "") -> SetLine:
        """Its line of the set; of a rejected one, with the reason."""
        origin = Origin(
            METHOD,
            model,
            self.type,
            (self.manner or {}).get("persona", ""),
            seed,
            tuple(dict.fromkeys(passage.doc_id for passage in self.passages)),
        )
        anchors = tuple(anchor for anchor in self.anchors if anchor is not None)
        made = Curation(origin=origin, anchors=anchors)
        return build_line(self.example(more), replace(made, state="rejected", note=rejected) if rejected else made)
