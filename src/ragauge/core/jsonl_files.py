"""The canonical form of a record: one JSON object a line, which the reader turns into an equal record.

Files that are there whole or not at all.
"""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from ragauge.core.errors import DataError
from ragauge.core.example import Example, Relevant
from ragauge.core.response import Citation, Passage, Record, Response


@contextmanager
def replace_file(path: Path) -> Iterator[Path]:
    """A name beside the file to write under; it takes the file's place when the block ends without an error."""
    part_path = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        yield part_path
        part_path.replace(path)
    except OSError as error:
        if error.filename not in (None, str(part_path), str(path)):  # of a file that is read while this one is written
            raise
        problem = f"cannot be written: {error.strerror or error}."
        raise DataError(problem, source=str(path), hint="Check that the folder exists and is writable.") from None
    finally:
        part_path.unlink(missing_ok=True)


@contextmanager
def open_text_writer(path: Path) -> Iterator[TextIO]:
    """A UTF-8 text file, packed where its name ends in .gz."""
    with (
        replace_file(path) as part_path,
        (
            gzip.open(part_path, "wt", encoding="utf-8", newline="")
            if path.suffix == ".gz"
            else part_path.open("w", encoding="utf-8", newline="")
        ) as file,
    ):
        yield file


def write_records(path: str | Path, records: Iterable[Record | Example]) -> int:
    """Writes one record a line; the file appears when all are written.

    Args:
        path: packed where it ends in .gz.
        records: may be a generator; an Example alone is a record without a response.

    Returns:
        How many were written.
    """
    n = 0
    with open_text_writer(Path(path)) as file:
        for record in records:
            file.write(format_record(record) + "\n")
            n += 1
    return n


def format_record(record: Record | Example) -> str:
    """The record as one line of JSON."""
    return json.dumps(record_to_dict(record), ensure_ascii=False, allow_nan=False)


def record_to_dict(record: Record | Example) -> dict[str, Any]:
    """The record as plain values; what holds its default is left out."""
    if isinstance(record, Example):
        return example_to_dict(record)
    out = example_to_dict(record.example)
    return out if record.response is None else out | response_to_dict(record.response)


def example_to_dict(example: Example) -> dict[str, Any]:
    """An example as plain values."""
    out: dict[str, Any] = {"query_id": example.query_id, "query": example.query}
    if example.history:
        out["history"] = [{"role": turn.role, "text": turn.text} for turn in example.history]
    if len(example.references) == 1:
        out["reference_answer"] = example.references[0]
    elif example.references:
        out["references"] = list(example.references)
    for name in ("reference_claims", "aspects", "criteria"):
        if (texts := getattr(example, name)) is not None:
            out[name] = list(texts)
    if example.relevant is not None:
        out["relevant"] = relevant_to_json(example.relevant)
    if example.relevant_chunks is not None:
        out["relevant_chunks"] = relevant_to_json(example.relevant_chunks)
    if example.gold_spans is not None:
        spans = example.gold_spans
        out["gold_spans"] = [{"doc_id": span.doc_id, "start": span.start, "end": span.end} for span in spans]
    if example.answerable is not None:
        out["answerable"] = example.answerable
    if example.segments:
        out["segments"] = dict(example.segments)
    if example.tags:
        out["tags"] = sorted(example.tags)
    if example.cluster is not None:
        out["cluster"] = example.cluster
    return out


def response_to_dict(response: Response) -> dict[str, Any]:
    """A response as plain values, without its query_id."""
    out: dict[str, Any] = {"repeat": response.repeat} if response.repeat else {}
    for name in ("passages", "candidates"):
        if (value := getattr(response, name)) is not None:
            out[name] = _passages_to_json(value)
    if response.answer is not None:
        out["answer"] = response.answer
    if response.citations is not None:
        out["citations"] = [_citation_to_dict(citation, response.passages or ()) for citation in response.citations]
    for name in ("latency_ms", "tokens", "outcome"):
        if value := getattr(response, name):
            out[name] = dict(value)
    if response.cost is not None:
        out["cost"] = response.cost
    if response.weight != 1.0:
        out["weight"] = response.weight
    # said even where it is empty: a reader that finds no word about a missing field gives its own reason
    if response.missing or (response.error is None and (response.passages is None or response.answer is None)):
        out["missing"] = dict(response.missing)
    if response.origin:
        out["origin"] = dict(response.origin)
    if response.error is not None:
        out["error"] = response.error
    return out


def relevant_to_json(relevant: Sequence[Relevant]) -> dict[str, float] | list[dict[str, Any]]:
    """Judged items as plain values: {doc_id: grade}; a list where one is a group of documents."""
    if all(len(item.doc_ids) == 1 for item in relevant):
        return {item.doc_ids[0]: _simplify_number(item.grade) for item in relevant}
    return [{"doc_ids": list(item.doc_ids), "grade": _simplify_number(item.grade)} for item in relevant]


def _simplify_number(value: float) -> float:
    return int(value) if float(value).is_integer() else value


def _passages_to_json(passages: Sequence[Passage]) -> list[dict[str, Any]]:
    """A passage_id is left out where the reader gives the same: it equals the doc_id, and no id stands twice."""
    unique = all(
        len({getattr(passage, name) for passage in passages}) == len(passages) for name in ("doc_id", "passage_id")
    )
    return [
        _passage_to_dict(passage, with_id=not unique or passage.passage_id != passage.doc_id) for passage in passages
    ]


def _passage_to_dict(passage: Passage, with_id: bool) -> dict[str, Any]:
    out: dict[str, Any] = {"passage_id": passage.passage_id} if with_id else {}
    out["doc_id"] = passage.doc_id
    for name in ("text", "score"):
        if (value := getattr(passage, name)) is not None:
            out[name] = value
    if passage.span is not None:
        span = {"start": passage.span.start, "end": passage.span.end}
        other = {"doc_id": passage.span.doc_id} if passage.span.doc_id != passage.doc_id else {}
        out["span"] = other | span
    if passage.hop:
        out["hop"] = passage.hop
    for name in ("updated_at", "superseded_by"):
        if (value := getattr(passage, name)) is not None:
            out[name] = value
    return out


def _citation_to_dict(citation: Citation, passages: Sequence[Passage]) -> dict[str, Any]:
    documents = {passage.doc_id for passage in passages}
    chunk = citation.target not in documents and any(passage.passage_id == citation.target for passage in passages)
    return {"start": citation.start, "end": citation.end, "passage_id" if chunk else "doc_id": citation.target}
