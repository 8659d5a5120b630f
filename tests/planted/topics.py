"""What the cases are made of: questions about the demo's corpus with true, altered and made-up statements."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from ragauge.core.document import Document
from ragauge.core.example import Span
from ragauge.evaluation.demo.demo_systems import read_documents

FOLDER = Path(__file__).resolve().parent


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of the corpus, and how a generator may say it.

    Attributes:
        text: as it stands in the page.
        span: where that is.
        said: wordings that say the same, the page's own first.
    """

    text: str
    span: Span
    said: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Part:
    """One thing that a complete answer says.

    Attributes:
        claim: the reference claim.
        sentence: the evidence.
        wrong: statements that the evidence contradicts.
    """

    claim: str
    sentence: Sentence
    wrong: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Decoy:
    """A sentence that a careless generator answers with.

    Attributes:
        sentence: where it stands.
        said: the answers.
        conflicts: they contradict the reference.
    """

    sentence: Sentence
    said: tuple[str, ...]
    conflicts: bool = False


@dataclass(frozen=True, slots=True)
class Topic:
    """One question.

    Attributes:
        name: of the topic.
        query: the question.
        parts: of a complete answer; () where the corpus holds none.
        general: an answer from general knowledge, in no page.
        extra: a statement that may be added, in no page.
        decoy: what leads astray, where the corpus has such a sentence.
        invented: answers in no page, where there is no true one.
        besides: other pages that say the same, or how it was earlier.
    """

    name: str
    query: str
    parts: tuple[Part, ...] = ()
    general: str = ""
    extra: str = ""
    decoy: Decoy | None = None
    invented: tuple[str, ...] = ()
    besides: tuple[str, ...] = ()

    @property
    def docs(self) -> tuple[str, ...]:
        """The pages that hold the evidence."""
        return tuple(dict.fromkeys(part.sentence.span.doc_id for part in self.parts))


@cache
def pages() -> Mapping[str, Document]:
    """The demo's pages by id."""
    return {page.doc_id: page for page in read_documents()}


@cache
def topics() -> tuple[Topic, ...]:
    """Questions that the corpus answers."""
    return tuple(
        Topic(
            name=item["id"],
            query=item["query"],
            parts=tuple(_part(part) for part in item["parts"]),
            general=item["general"],
            extra=item["extra"],
            decoy=_decoy(item["decoy"]) if "decoy" in item else None,
            besides=tuple(item.get("besides", ())),
        )
        for item in _read("topics.yaml")
    )


@cache
def outdated() -> tuple[Topic, ...]:
    """Questions whose answer an earlier version of the page gave otherwise: that answer is the decoy."""
    return tuple(
        Topic(f"outdated-{n}", item["query"], (_part(item["now"]),), decoy=_decoy(item["before"] | {"conflicts": True}))
        for n, item in enumerate(_read("outdated.yaml"), 1)
    )


@cache
def unanswerable() -> tuple[Topic, ...]:
    """Questions that the corpus does not answer; the decoy is a sentence near them."""
    return tuple(
        Topic(f"open-{n}", item["query"], decoy=_decoy(item["borrowed"]), invented=tuple(item["invented"]))
        for n, item in enumerate(_read("unanswerable.yaml"), 1)
    )


def _read(name: str) -> list[Any]:
    import yaml

    found: list[Any] = yaml.safe_load((FOLDER / name).read_text(encoding="utf-8"))
    return found


def _part(item: Mapping[str, Any]) -> Part:
    return Part(item.get("claim", item["text"]), _sentence(item), tuple(item.get("wrong", ())))


def _decoy(item: Mapping[str, Any]) -> Decoy:
    sentence = _sentence(item)
    return Decoy(sentence, sentence.said[1:] or sentence.said, bool(item.get("conflicts")))


def _sentence(item: Mapping[str, Any]) -> Sentence:
    doc_id, text = item["doc"], item["text"]
    body = pages()[doc_id].text
    start = body.index(text)
    said = item.get("said", ())
    wordings = (text.replace("`", ""), *((said,) if isinstance(said, str) else said))
    return Sentence(text, Span(doc_id, start, start + len(text)), wordings)
