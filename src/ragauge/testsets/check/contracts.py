"""Whether an example keeps what its type of question promises: gold documents, their place, a date, criteria."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ragauge.core.document import Document, chunk_document
from ragauge.core.example import Example
from ragauge.core.json_keys import json_keys
from ragauge.testsets.generate.draft import CHUNK_TOKENS, CONTRACTS, LONG_DOCUMENT_TOKENS, QuestionType
from ragauge.testsets.set_file import SetFile
from ragauge.text import specifics
from ragauge.text.tokens import count_tokens

YEAR = re.compile(r"\b(?:1\d|20)\d\d\b")


@json_keys("query_id type reason", reason="problem")
@dataclass(frozen=True)
class BrokenContract:
    """An example that is not what its type says: which, of what type, and what is wrong."""

    query_id: str
    query: str
    type: QuestionType
    problem: str


def find_broken_contracts(set_file: SetFile, texts: Mapping[str, str]) -> Iterator[BrokenContract]:
    """The examples of a set that break the type in their `meta.origin`; types that are not ours promise nothing.

    Rejected examples are passed by.

    Args:
        set_file: the set.
        texts: doc_id -> text. A place in a document that is not there, or is shorter now, is not judged.
    """
    for line in set_file.lines:
        origin = line.curation.origin
        kind = next((kind for kind in CONTRACTS if origin is not None and kind == origin.type), None)
        if (
            kind is not None
            and line.curation.state != "rejected"
            and (problem := describe_breach(kind, line.example, texts))
        ):
            yield BrokenContract(line.example.query_id, line.example.query, kind, problem)


def describe_breach(kind: QuestionType, example: Example, texts: Mapping[str, str]) -> str:
    """What of the promise of its type an example breaks; "" where it keeps it.

    Args:
        kind: its type.
        example: with its labels. A group of documents of which one will do counts as one.
        texts: doc_id -> text, of the documents that spans of a `boundary` stand in.
    """
    contract, n = CONTRACTS[kind], _count_gold(example)
    min_documents, max_documents = contract.documents
    if not min_documents <= n <= max_documents:
        documents = "gold document" if n == 1 else "gold documents"
        return f"{n} {documents}, expected {min_documents}" + (
            f" to {max_documents}" if max_documents > min_documents else ""
        )
    if contract.answerable is not None and example.answerable is not contract.answerable:
        answerable_names = {True: "answerable", False: "not answerable", None: "of unknown answerability"}
        return f"it is {answerable_names[example.answerable]}, expected {answerable_names[contract.answerable]}"
    if contract.criterion and not example.criteria:
        return f"no criterion such as {contract.criterion.rstrip(' :')!r}"
    if kind == "boundary" and not _is_at_edge(example, texts):
        return "its evidence is neither late in a long document nor at the start or end"
    if kind == "temporal" and not any(map(_has_date, (example.query, *example.references))):
        return "neither the question nor the answer has a date"
    return ""


def _count_gold(example: Example) -> int:
    """Documents, or groups of which one will do, that an answer needs."""
    relevant = [label for label in example.relevant or () if label.grade > 0]
    return len(relevant) if relevant else len({span.doc_id for span in example.gold_spans or ()})


def _has_date(text: str) -> bool:
    return bool(specifics.find_specifics(text, {"date"})) or YEAR.search(text) is not None


def _is_at_edge(example: Example, texts: Mapping[str, str]) -> bool:
    spans = example.gold_spans or ()
    if not spans:
        return False
    text = texts.get(spans[0].doc_id, "")
    start, end = min(span.start for span in spans), max(span.end for span in spans)
    if end > len(text):
        return True
    if start >= 2 * len(text) / 3 and count_tokens(text) >= LONG_DOCUMENT_TOKENS:
        return True
    return any(
        start < document_chunk.start < end
        for document_chunk in chunk_document(Document(spans[0].doc_id, "", text), CHUNK_TOKENS)[1:]
    )
