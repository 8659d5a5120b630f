"""What is written is read back as it was."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from tests.data import csv_writer

from ragauge.core.example import Example, Relevant, Span, Turn
from ragauge.core.jsonl_files import format_record, write_records
from ragauge.core.response import REDACTED, Citation, Passage, Record, Response
from ragauge.readers.jsonl import DECODER
from ragauge.readers.lines import Rows
from ragauge.readers.options import Options
from ragauge.readers.record_reader import RecordReader
from ragauge.readers.source import read_set, read_source

ROOT = Path(__file__).resolve().parents[2]
VALIDATOR = Draft202012Validator(json.loads((ROOT / "src/ragauge/core/schema/example.schema.json").read_text()))

# what every store keeps: no NUL, no half a character; REDACTED in place of a value means that there is none
TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=12).filter(
    lambda text: text != REDACTED
)
WORDS = TEXT.filter(lambda text: bool(text.strip()))
NUMBER = st.floats(allow_nan=False, allow_infinity=False)
AMOUNT = st.floats(0, 1e12)
WHOLE = st.integers(0, 10**6)
TEXTS = st.lists(TEXT, max_size=3).map(tuple)


@st.composite
def spans(draw: st.DrawFn) -> Span:
    """Characters of a document."""
    start = draw(WHOLE)
    return Span(draw(WORDS), start, start + draw(WHOLE))


@st.composite
def passages(draw: st.DrawFn) -> tuple[Passage, ...]:
    """Chunks, several of one document, told apart by passage_id."""
    ids = draw(st.lists(WORDS, max_size=4, unique=True))
    documents = draw(st.lists(WORDS, min_size=1, max_size=2))
    return tuple(
        Passage(
            passage_id=one,
            doc_id=draw(st.sampled_from([one, *documents])),
            text=draw(st.none() | TEXT | st.just(REDACTED)),
            score=draw(st.none() | NUMBER),
            span=draw(st.none() | spans()),
            hop=draw(st.integers(0, 3)),
            updated_at=draw(st.none() | TEXT),
            superseded_by=draw(st.none() | WORDS),
        )
        for one in ids
    )


@st.composite
def judged(draw: st.DrawFn) -> tuple[Relevant, ...]:
    """Labels, each named once."""
    groups = draw(st.lists(st.lists(WORDS, min_size=1, max_size=3, unique=True), max_size=3, unique_by=tuple))
    return tuple(Relevant(tuple(group), draw(NUMBER)) for group in groups)


@st.composite
def examples(draw: st.DrawFn) -> Example:
    """Examples with every field."""
    references = draw(st.lists(TEXT, max_size=3, unique=True).map(tuple))
    return Example(
        query_id=draw(WORDS),
        query=draw(WORDS),
        history=draw(
            st.lists(st.builds(Turn, st.sampled_from(["user", "assistant", "system"]), TEXT), max_size=2).map(tuple)
        ),
        references=references,
        reference_claims=draw(st.none() | TEXTS),
        aspects=draw(st.none() | TEXTS),
        criteria=draw(st.none() | TEXTS),
        relevant=draw(st.none() | judged()),
        gold_spans=draw(st.none() | st.lists(spans(), max_size=2).map(tuple)),
        answerable=draw(st.none() | st.booleans()),
        segments=draw(st.dictionaries(TEXT, TEXT, max_size=2)),
        tags=draw(st.frozensets(TEXT, max_size=2)),
        cluster=draw(st.none() | TEXT),
    )


@st.composite
def responses(draw: st.DrawFn, query_id: str) -> Response:
    """Responses with every field."""
    answer = draw(st.none() | TEXT)
    length = len(answer) if answer is not None else 40
    bounds = st.tuples(st.integers(0, length), st.integers(0, length)).map(sorted)
    found = draw(st.none() | passages())
    targets = WORDS if not found else WORDS | st.sampled_from([one.passage_id for one in found])
    cited = st.builds(lambda at, target: Citation(at[0], at[1], target), bounds, targets)
    return Response(
        query_id=query_id,
        repeat=draw(st.integers(0, 3)),
        passages=found,
        candidates=draw(st.none() | passages()),
        answer=answer,
        citations=draw(st.none() | st.lists(cited, max_size=3).map(tuple)),
        latency_ms=draw(st.dictionaries(TEXT, AMOUNT, max_size=2)),
        tokens=draw(st.dictionaries(st.sampled_from(["input", "output", "cached"]), WHOLE, max_size=2)),
        cost=draw(st.none() | NUMBER),
        outcome=draw(st.dictionaries(TEXT, st.booleans() | NUMBER | TEXT, max_size=2)),
        weight=draw(st.floats(0, 1e6, exclude_min=True)),
        missing=draw(st.dictionaries(TEXT, TEXT, max_size=2)),
        error=draw(st.none() | TEXT.filter(bool)),
    )


@st.composite
def made(draw: st.DrawFn) -> Record:
    """Records with and without a response."""
    example = draw(examples())
    return Record(example, draw(st.none() | responses(example.query_id)), "made", 1)


def parsed(text: str) -> Record:
    """One line as the reader reads it."""
    (record,) = RecordReader(Rows("made", iter([(1, DECODER.decode(text))])), Options()).read_all()
    return record


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
@given(made())
def test_a_line_written_is_read_as_it_was(record: Record) -> None:
    """read(write(x)) == x for every record that a store can keep."""
    text = format_record(record)
    assert "\n" not in text
    assert parsed(text) == record


@settings(deadline=None, derandomize=True)
@given(made())
def test_writing_is_stable(record: Record) -> None:
    """write(read(write(x))) == write(x): the canonical form has one spelling."""
    assert format_record(parsed(format_record(record))) == format_record(record)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
@given(made())
def test_every_written_line_keeps_to_the_schema(record: Record) -> None:
    """Nothing is written that the schema refuses."""
    assert [error.message for error in VALIDATOR.iter_errors(json.loads(format_record(record)))] == []


def test_what_a_reader_made_survives_a_file(tmp_path: Path) -> None:
    """Records read from another tool's file are the same after a stay in a file, packed or not."""
    rows = [
        {"question": "a?", "contexts": ["one", "one", "two"], "answer": "", "ground_truths": ["x", "y"]},
        {"question": "b?", "contexts": "__REDACTED__", "answer": None, "topic": "t"},
        {"question": "c?", "citations": ["d"], "contexts": [{"doc_id": "d", "text": text} for text in ("1", "2")]},
        {"question": "d?"},
    ]
    found = [(one.example, one.response) for one in read_source(rows, segments=["topic"])]
    for name in ("a.jsonl", "a.jsonl.gz"):
        assert write_records(tmp_path / name, read_source(rows, segments=["topic"])) == 4
        assert [(one.example, one.response) for one in read_source(tmp_path / name)] == found


def test_an_eval_set_survives_a_file(tmp_path: Path) -> None:
    """A set written example by example has the same version."""
    golden = read_set(ROOT / "src/ragauge/evaluation/demo/golden.jsonl")
    write_records(tmp_path / "copy.jsonl", golden.examples)
    assert read_set(tmp_path / "copy.jsonl").version == golden.version


def test_a_flat_table_holds_everything_but_empty_texts(tmp_path: Path) -> None:
    """CSV keeps lists and objects as JSON in their cells; an empty answer becomes none."""
    rows = [
        {
            "query_id": "1",
            "query": 'say "a;b"\n',
            "answer": "x",
            "passages": [{"doc_id": "d", "text": "t"}],
            "relevant": {"d": 2},
            "segments": {"type": "new"},
            "answerable": False,
            "reference_answer": "[1]",
            "latency_ms": {"total": 3},
            "tags": ["a,b"],
        },
        {"query_id": "2", "query": "b?", "answer": "", "passages": []},
    ]
    before = list(read_source(rows))
    assert csv_writer.write_records(tmp_path / "a.csv", before) == 2
    after = list(read_source(tmp_path / "a.csv"))
    assert (after[0].example, after[0].response) == (before[0].example, before[0].response)
    assert after[1].response is not None
    assert (after[1].response.passages, after[1].response.answer) == ((), None)
    header = pl.read_csv(tmp_path / "a.csv").columns
    assert header == [
        "query_id",
        "query",
        "reference_answer",
        "relevant",
        "answerable",
        "segments",
        "tags",
        "passages",
        "answer",
        "latency_ms",
    ]


def test_the_written_line_is_the_documented_one() -> None:
    """A record that the documented line describes is written as that line."""
    row = {
        "query_id": "q1",
        "query": "…",
        "reference_answer": "…",
        "relevant": {"d7": 2},
        "gold_spans": [{"doc_id": "d7", "start": 10, "end": 95}],
        "answerable": True,
        "segments": {"type": "multi_hop", "tenant": "acme"},
        "tags": ["golden"],
        "passages": [{"doc_id": "d7", "text": "…", "score": 0.81}],
        "answer": "four",
        "citations": [{"start": 0, "end": 4, "doc_id": "d7"}],
        "latency_ms": {"retrieval": 31.0, "generation": 820.0},
        "tokens": {"input": 900, "output": 60},
    }
    assert json.loads(format_record(parsed(json.dumps(row)))) == row
