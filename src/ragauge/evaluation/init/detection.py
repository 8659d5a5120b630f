"""A project that is to be evaluated for the first time: what is in it, and first questions from its documents."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from ragauge.core.document import Document
from ragauge.core.example import EvalSet, Example, Relevant
from ragauge.evaluation.init.project_scan import Candidate as Candidate  # noqa: PLC0414 - for layers that may not see systems
from ragauge.evaluation.init.project_scan import Project as Project  # noqa: PLC0414 - likewise
from ragauge.evaluation.init.project_scan import scan_project as scan_project  # noqa: PLC0414 - likewise
from ragauge.readers.corpus import read_corpus

HEADING = re.compile(r"^#{1,4}[ \t]+(.+?)[ \t]*#*[ \t]*$", re.MULTILINE)
LEAST_WORDS, MOST_WORDS = 2, 12  # of a heading that makes a question
A_DOCUMENT = 3  # questions, at most


def first_questions(folder: Path, most: int, *, labelled: bool) -> EvalSet:
    """Questions made from the headings of documents: enough to see everything run, not to judge a system by.

    Args:
        folder: with text files.
        most: questions.
        labelled: name the heading's document as the relevant one; only where the index names documents by file.

    Raises:
        DataError: the folder cannot be read.
    """
    rounds = zip(*(_padded(document) for document in read_corpus(folder)), strict=True)
    found = [one for turn in rounds for one in turn if one is not None][:most]
    examples = [
        Example(
            f"s{n}", query, relevant=(Relevant((document.doc_id,)),) if labelled else None, tags=frozenset({"starter"})
        )
        for n, (document, query) in enumerate(found, 1)
    ]
    return EvalSet("golden", tuple(examples))


def _padded(document: Document) -> list[tuple[Document, str] | None]:
    found: list[tuple[Document, str] | None] = [(document, query) for query in _questions(document)]
    return (found + [None] * A_DOCUMENT)[:A_DOCUMENT]


def _questions(document: Document) -> Iterator[str]:
    for heading in dict.fromkeys(HEADING.findall(document.text)):
        words = heading.split()
        if heading == document.title and len(words) < LEAST_WORDS:
            continue
        if heading.endswith("?"):
            yield heading
        elif LEAST_WORDS <= len(words) <= MOST_WORDS:
            yield f"What do the documents say about {heading}?"
