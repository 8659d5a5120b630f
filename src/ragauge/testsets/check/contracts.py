"""Whether an example keeps what its type of question promises: gold documents, their place, a date, criteria."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ragauge.core.document import Document, chunk
from ragauge.core.example import Example
from ragauge.testsets.generate.draft import CONTRACTS, QuestionType
from ragauge.testsets.generate.source_samples import LONG, TOKENS
from ragauge.testsets.set_file import SetFile
from ragauge.text import specifics
from ragauge.text.tokens import count

YEAR = re.compile(r"\b(?:1\d|20)\d\d\b")


@dataclass(frozen=True)
class BrokenContract:
    """An example that is not what its type says: which, of what type, and what is wrong."""

    query_id: str
    query: str
    type: QuestionType
    told: str


def broken_contracts(found: SetFile, texts: Mapping[str, str]) -> Iterator[BrokenContract]:
    """The examples of a set that break the type in their `meta.origin`; types that are not ours promise nothing.

    Rejected examples are passed by.

    Args:
        found: the set.
        texts: doc_id -> text. A place in a document that is not there, or is shorter now, is not judged.
    """
    for line in found.lines:
        origin = line.curation.origin
        kind = next((kind for kind in CONTRACTS if origin is not None and kind == origin.type), None)
        if kind is not None and line.curation.state != "rejected" and (told := broken(kind, line.example, texts)):
            yield BrokenContract(line.example.query_id, line.example.query, kind, told)


def broken(kind: QuestionType, example: Example, texts: Mapping[str, str]) -> str:
    """What of the promise of its type an example breaks; "" where it keeps it.

    Args:
        kind: its type.
        example: with its labels. A group of documents of which one will do counts as one.
        texts: doc_id -> text, of the documents that spans of a `boundary` stand in.
    """
    contract, n = CONTRACTS[kind], _gold(example)
    least, most = contract.documents
    if not least <= n <= most:
        documents = "gold document" if n == 1 else "gold documents"
        return f"{n} {documents}, expected {least}" + (f" to {most}" if most > least else "")
    if contract.answerable is not None and example.answerable is not contract.answerable:
        said = {True: "answerable", False: "not answerable", None: "not known to be answerable or not"}
        return f"it is {said[example.answerable]}, expected {said[contract.answerable]}"
    if contract.criterion and not example.criteria:
        return f"no criterion such as {contract.criterion.rstrip(' :')!r}"
    if kind == "boundary" and not _at_edge(example, texts):
        return "its evidence is neither late in a long document nor at an edge"
    if kind == "temporal" and not any(map(_dated, (example.query, *example.references))):
        return "neither question nor answer has a date"
    return ""


def _gold(example: Example) -> int:
    """Documents, or groups of which one will do, that an answer needs."""
    relevant = [one for one in example.relevant or () if one.grade > 0]
    return len(relevant) if relevant else len({span.doc_id for span in example.gold_spans or ()})


def _dated(text: str) -> bool:
    return bool(specifics.find(text, {"date"})) or YEAR.search(text) is not None


def _at_edge(example: Example, texts: Mapping[str, str]) -> bool:
    spans = example.gold_spans or ()
    if not spans:
        return False
    text = texts.get(spans[0].doc_id, "")
    start, end = min(one.start for one in spans), max(one.end for one in spans)
    if end > len(text):
        return True
    if start >= 2 * len(text) / 3 and count(text) >= LONG:
        return True
    return any(start < piece.start < end for piece in chunk(Document(spans[0].doc_id, "", text), TOKENS)[1:])
