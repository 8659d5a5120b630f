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

HEADING_PATTERN = re.compile(r"^#{1,4}[ \t]+(.+?)[ \t]*#*[ \t]*$", re.MULTILINE)
MIN_HEADING_WORDS, MAX_HEADING_WORDS = 2, 12  # of a heading that makes a question
MAX_QUESTIONS_PER_DOCUMENT = 3  # questions, at most


def build_first_questions(folder: Path, max_questions: int, *, is_labeled: bool) -> EvalSet:
    """Questions made from the headings of documents: enough to see everything run, not to judge a system by.

    Args:
        folder: with text files.
        max_questions: questions.
        is_labeled: name the heading's document as the relevant one; only where the index names documents by file.

    Raises:
        DataError: the folder cannot be read.
    """
    rounds = zip(*(_pad_questions(document) for document in read_corpus(folder)), strict=True)
    pairs = [pair for turn in rounds for pair in turn if pair is not None][:max_questions]
    examples = [
        Example(
            f"s{n}",
            query,
            relevant=(Relevant((document.doc_id,)),) if is_labeled else None,
            tags=frozenset({"starter"}),
        )
        for n, (document, query) in enumerate(pairs, 1)
    ]
    return EvalSet("golden", tuple(examples))


def _pad_questions(document: Document) -> list[tuple[Document, str] | None]:
    pairs: list[tuple[Document, str] | None] = [(document, query) for query in _iter_questions(document)]
    return (pairs + [None] * MAX_QUESTIONS_PER_DOCUMENT)[:MAX_QUESTIONS_PER_DOCUMENT]


def _iter_questions(document: Document) -> Iterator[str]:
    for heading in dict.fromkeys(HEADING_PATTERN.findall(document.text)):
        words = heading.split()
        if heading == document.title and len(words) < MIN_HEADING_WORDS:
            continue
        if heading.endswith("?"):
            yield heading
        elif MIN_HEADING_WORDS <= len(words) <= MAX_HEADING_WORDS:
            yield f"What do the documents say about {heading}?"
