"""Chroma's questions for chunking: question, references (JSON: content, start_index, end_index), corpus_id."""

from __future__ import annotations

import json
from pathlib import Path

from ragauge.data.example import EvalSet, Example, Span
from ragauge.data.readers import csv
from ragauge.errors import DataError

COLUMNS = ("question", "references", "corpus_id")


def is_chroma(path: Path) -> bool:
    """Whether a file has Chroma's header."""
    if path.suffix != ".csv" or not path.is_file():
        return False
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        return set(COLUMNS) <= {cell.strip() for cell in file.readline().split(",")}


def read_chroma(path: Path, name: str = "") -> EvalSet:
    """The questions with their gold spans; q1, q2 … by row, the segment `corpus` is the document.

    Raises:
        DataError: references that are not a list of such objects.
    """
    examples: list[Example] = []
    for n, row in csv.read(path).rows:
        doc_id = str(row["corpus_id"])
        try:
            given = json.loads(str(row["references"]))
            spans = tuple(Span(doc_id, int(one["start_index"]), int(one["end_index"])) for one in given)
        except (ValueError, TypeError, KeyError) as error:
            problem = f"references must be JSON: [{{content, start_index, end_index}}], got {row['references']!r:.60}."
            raise DataError(problem, source=str(path), line=n, unit="row") from error
        examples.append(
            Example(f"q{len(examples) + 1}", str(row["question"]), gold_spans=spans, segments={"corpus": doc_id})
        )
    return EvalSet(name or path.stem, tuple(examples))
