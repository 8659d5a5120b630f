"""What cannot be read is refused in one sentence: where, what was expected, what was found, what to do."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ragauge.core.errors import DataError
from ragauge.core.response import Record
from ragauge.readers import lines
from ragauge.readers.source import read_set, read_source

File = Callable[..., str]
GOOD = {"query": "good", "answer": "x"}


def refused(name: Any, **options: Any) -> str:
    """The message with which a source is refused."""
    with pytest.raises(DataError) as error:
        list(read_source(name, **options))
    return str(error.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "a.jsonl: the file is empty."),
        (b"\n \n\t\n", "a.jsonl: the file has only blank lines."),
        (
            '{"query": "a"}\n{"query": "caf\u00e9"}\n'.encode("latin-1"),
            "a.jsonl line 2: byte 0xE9 at position 15 is not UTF-8 (Latin-1 or Windows-1252 text has such bytes). "
            "Save it as UTF-8, for example with: iconv -f WINDOWS-1252 -t UTF-8 a.jsonl > utf8-a.jsonl",
        ),
        (
            '{"query": "a"}\n'.encode("utf-16")[:-1],
            "a.jsonl: not valid UTF-16 at byte 31: truncated data. The file may be truncated. Copy it again.",
        ),
        (
            '{"query": "a"}\n'.encode("utf-16-be"),
            "a.jsonl line 1: the file looks like UTF-16 (every second byte is 0), expected UTF-8.",
        ),
        (b'{"query": "a"}\n{"query": \x00"b"}\n', "a.jsonl line 2: not valid JSON at character 11: expecting value."),
        (
            b'{"query": "a"}\n{"query": "b',
            "a.jsonl line 2: not valid JSON at character 11: unterminated string. The file ends early and may be "
            "truncated.",
        ),
        (b'{"query": "a"}\n{"query": "b",\n', "a.jsonl line 2: not valid JSON at character 15: "),
        (
            b"{'query': 'a'}\n",
            "a.jsonl line 1: not valid JSON at character 2: expecting property name enclosed in double quotes. "
            "JSON text needs double quotes. Write the file with json.dumps, not with str.",
        ),
        (
            "{“query”: “a”}\n".encode(),
            "a.jsonl line 1: not valid JSON at character 2: expecting property name enclosed in double quotes. "
            "The quote “ comes from a word processor. Use straight quotes.",
        ),
        (
            '{"query": »a«}\n'.encode(),
            "a.jsonl line 1: not valid JSON at character 11: expecting value. The quote » comes from a word "
            "processor. Use straight quotes.",
        ),
        (b'{"query": "a"} {"query": "b"}\n', "a.jsonl line 1: not valid JSON at character 16: extra data."),
        (b'{"query": "a"}\n["b"]\n', "a.jsonl line 2: expected a JSON object, got a list of 1."),
        (b'{"query": "a"}\n42\n', "a.jsonl line 2: expected a JSON object, got number 42."),
        (b'[{"query": "a"}, "b"]', "a.jsonl entry 2: expected a JSON object, got text 'b'."),
        (
            b'[{"query": "a"},\n {"query": "b"',
            "a.jsonl line 2: not valid JSON at character 15: expecting ',' delimiter. The file ends early "
            "and may be truncated.",
        ),
        (b'[{"query": "a"}] x', "a.jsonl line 1: not valid JSON at character 18: extra data."),
        (b"[]", "a.jsonl: it contains no examples."),
        (b'{"results": []}', "a.jsonl: it contains no examples."),
        (b'{"query": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "a.jsonl line 1: the JSON is nested too deeply."),
        (b'{"query": "a", "cost": ' + b"9" * 5_000 + b"}", "a.jsonl line 1: not valid JSON: "),
    ],
)
def test_broken_file(file: File, content: bytes, message: str) -> None:
    """A file that is not what it should be is refused with the line and the reason."""
    assert refused(file("a.jsonl", content)).startswith(message)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"frage": "q", "answer": "x"}, "no field 'query' (found: frage, answer). Use --map query=COLUMN."),
        (
            {"questoin": "q", "docs": []},
            "no field 'query' (found: questoin, docs; nearest: questoin). Use --map query=questoin.",
        ),
        (
            {"query": None, "answer": "x"},
            "field 'query' is null or empty (found: answer). Give it a value, or remove the line. To read another "
            "column: "
            "Use --map query=COLUMN.",
        ),
        (
            {"question": None, "questoin": "q"},
            "field 'query', read from 'question', is null or empty (found: questoin; nearest: questoin). Give it "
            "a value, or remove the line. To read another column: Use --map query=questoin.",
        ),
        ({"query": " \n"}, "query must be non-blank text, got text ' \\n'."),
        ({"query": 42}, "query must be text, got number 42."),
        ({"query": "q", "query_id": True}, "query_id must be an id (text or whole number), got true."),
        ({"query": "q", "query_id": " "}, "query_id must be an id (text or whole number), got text ' '."),
        ({"query": "q", "answer": ["x"]}, "answer must be text, got a list of 1."),
        ({"query": "q", "answer": {"text": "x"}}, "answer must be text, got an object with text."),
        (
            {"query": "q", "response": ["x"]},
            "response must be text, got a list of 1. It is read as answer; use --map answer=COLUMN for another column.",
        ),
        (
            {"query": "q", "passages": 7},
            "passages must be a text, a list of texts, or a list of objects with doc_id and text, got number 7.",
        ),
        ({"query": "q", "passages": [None]}, "passages[0] must be a text or an object with doc_id and text, got null."),
        (
            {"query": "q", "passages": [["a"]]},
            "passages[0] must be a text or an object with doc_id and text, got a list of 1.",
        ),
        (
            {"query": "q", "passages": [{"score": 1}]},
            "passages[0] must be an object with doc_id or text, got an object with score.",
        ),
        (
            {"query": "q", "contexts": [{"doc_id": "d", "text": 1}]},
            "contexts[0].text must be text, got number 1. It is read as passages; use --map passages=COLUMN "
            "for another column.",
        ),
        (
            {"query": "q", "passages": [{"text": "t"}, {"text": "t", "score": float("nan")}]},
            "passages[1].score must be a finite number, got NaN.",
        ),
        (
            {"query": "q", "passages": [{"text": "t", "score": float("-inf")}]},
            "passages[0].score must be a finite number, got infinity.",
        ),
        (
            {"query": "q", "passages": [{"text": "t", "score": "high"}]},
            "passages[0].score must be a finite number, got text 'high'.",
        ),
        (
            {"query": "q", "passages": [{"text": "t", "score": True}]},
            "passages[0].score must be a finite number, got true.",
        ),
        (
            {"query": "q", "passages": [{"text": "t", "hop": -1}]},
            "passages[0].hop must be a whole number of at least 0, got number -1.",
        ),
        (
            {"query": "q", "candidates": {"a": 1}},
            "candidates[0] must be an object with doc_id or text, got an object with a.",
        ),
        (
            {"query": "q", "retrieved_contexts": ["a"], "retrieved_context_ids": [1, 2]},
            "retrieved_context_ids must be a list of 1 ids, one per passage of retrieved_contexts, got a list of "
            "2. It is read as retrieved_ids; use --map retrieved_ids=COLUMN for another column.",
        ),
        (
            {"query": "q", "relevant": 1.5},
            "relevant must be an object of doc_id and grade, a list of ids, or a list of objects with doc_ids "
            "and grade, got number 1.5.",
        ),
        ({"query": "q", "relevant": {"d": "high"}}, "relevant.d must be a finite number, got text 'high'."),
        ({"query": "q", "relevant": [[]]}, "relevant[0] must be a group of at least one id, got a list of 0."),
        (
            {"query": "q", "relevant": [{"grade": 1}]},
            "relevant[0] must be an object with doc_ids and grade, got an object with grade.",
        ),
        (
            {"query": "q", "relevant": [{"doc_id": "d", "grade": 1}, {"doc_id": "d", "grade": 2}]},
            "relevant of d must be one grade per document, got text '1 and 2'.",
        ),
        (
            {"query": "q", "gold_spans": [{"doc_id": "d", "start": 5, "end": 2}]},
            "gold_spans[0].end must be at least the start (5), got number 2.",
        ),
        (
            {"query": "q", "gold_spans": [{"start": 5, "end": 9}]},
            "gold_spans[0] must be an object with doc_id, start and end, got an object with start, end.",
        ),
        (
            {"query": "q", "gold_spans": [{"doc_id": "d", "start": 1}]},
            "gold_spans[0].end must be a whole number of at least 0, got null.",
        ),
        (
            {"query": "q", "answer": "four", "citations": [{"start": 0, "end": 5, "doc_id": "d"}]},
            "citations[0].end must be at most the length of the answer (4), got number 5. Offsets count "
            "characters of the answer, not bytes or tokens.",
        ),
        (
            {"query": "q", "answer": "four", "citations": [{"start": 0, "end": 2}]},
            "citations[0] must be an object with doc_id (or passage_id), got an object with start, end.",
        ),
        (
            {"query": "q", "citations": "d1"},
            "citations must be a list of objects with start, end and doc_id, or a list of ids, got text 'd1'.",
        ),
        (
            {"query": "q", "history": "before"},
            "history must be a list of objects with role and text, got text 'before'.",
        ),
        (
            {"query": "q", "history": [{"role": "boss", "text": "t"}]},
            "history[0].role must be user, assistant or system, got text 'boss'.",
        ),
        ({"query": "q", "references": {"a": "b"}}, "references must be text or a list of texts, got an object with a."),
        ({"query": "q", "reference_answer": [{"a": 1}]}, "reference_answer[0] must be text, got an object with a."),
        (
            {"query": "q", "answerable": "maybe"},
            "answerable must be true or false (or yes, no, 1, 0), got text 'maybe'.",
        ),
        ({"query": "q", "answerable": 2}, "answerable must be true or false (or yes, no, 1, 0), got number 2."),
        ({"query": "q", "segments": "type"}, "segments must be an object of column and value, got text 'type'."),
        ({"query": "q", "segments": {"a": [1]}}, "segments.a must be a single value, got a list of 1."),
        ({"query": "q", "tags": 3}, "tags must be a list of tags, got number 3."),
        (
            {"query": "q", "latency_ms": {"total": -1}},
            "latency_ms.total must be a number of at least 0, got number -1.",
        ),
        ({"query": "q", "latency_ms": "soon"}, "latency_ms must be a finite number, got text 'soon'."),
        ({"query": "q", "tokens": 1.5}, "tokens must be a whole number of at least 0, got number 1.5."),
        ({"query": "q", "cost": "free"}, "cost must be a finite number, got text 'free'."),
        ({"query": "q", "outcome": {"a": [1]}}, "outcome.a must be a single value, got a list of 1."),
        ({"query": "q", "weight": 0}, "weight must be a number above 0, got number 0."),
        ({"query": "q", "repeat": -1}, "repeat must be a whole number of at least 0, got number -1."),
        ({"query": "q", "missing": ["answer"]}, "missing must be an object of field and reason, got a list of 1."),
        ({"query": "q", "error": 500}, "error must be text, got number 500."),
    ],
)
def test_wrong_value(file: File, row: dict[str, Any], message: str) -> None:
    """A value that its field cannot hold is refused with the field, what is expected and what was found."""
    assert refused(file("a.jsonl", GOOD, row)) == f"a.jsonl line 2: {message}"


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            [{"query_id": 1, "query": "a"}, {"query_id": "1", "query": "a"}],
            "a.jsonl line 2: query_id '1' is already on line 1. Give every example its own query_id, "
            "or number several answers to one question with repeat (0, 1, …).",
        ),
        (
            [{"query_id": "1", "query": "a"}, {"query_id": "1", "query": "b", "repeat": 1}],
            "a.jsonl line 2: query_id '1' is on line 1 with a different query. Give every query its own query_id.",
        ),
    ],
)
def test_duplicates(file: File, rows: list[dict[str, Any]], message: str) -> None:
    """Two rows that claim one identity are refused, both lines named."""
    assert refused(file("a.jsonl", *rows)) == message


def test_cut_off_gzip_is_named(file: File) -> None:
    """A gzip file that ends early is refused with the number of whole lines before it, all of which were handed out."""
    packed = gzip.compress("".join(json.dumps({"query": f"q{n}"}) + "\n" for n in range(9_000)).encode())
    name = file("a.jsonl.gz", packed[: len(packed) // 2])
    handed_out: list[Record] = []
    with pytest.raises(DataError) as error:
        handed_out.extend(read_source(name))
    n = len(handed_out)
    assert n > 100
    assert str(error.value) == (
        f"a.jsonl.gz: the compressed data ends after {n} complete lines: the file is truncated. "
        "Copy or download it again."
    )
    with pytest.raises(DataError):
        read_set(name)


def test_damaged_gzip_is_named(file: File) -> None:
    """A gzip file with damaged content is refused as such."""
    packed = bytearray(gzip.compress(json.dumps(GOOD).encode() * 50))
    packed[15] ^= 0xFF
    assert refused(file("a.jsonl.gz", bytes(packed))).startswith("a.jsonl.gz: cannot be read after line 0: ")


def test_a_line_without_end_is_refused(file: File, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line over the limit is refused without being read whole."""
    monkeypatch.setattr(lines, "MAX_LINE_BYTES", 1024 * 1024)
    name = file("a.jsonl", json.dumps(GOOD) + "\n" + json.dumps({"query": "x" * 3_000_000}))
    assert refused(name) == (
        "a.jsonl line 2: the line is longer than 1 MB, the maximum for one example. Check that the file has one "
        "example per line."
    )


def test_a_list_beyond_the_limit_is_refused(file: File, monkeypatch: pytest.MonkeyPatch) -> None:
    """A JSON list over the limit is refused with the way to lines."""
    monkeypatch.setattr(lines, "MAX_WHOLE_BYTES", 1024 * 1024)
    name = file("a.json", json.dumps([{"query": "x" * 2_000_000}]))
    assert refused(name) == (
        "a.json: a JSON file that is not one object per line may have at most 1 MB. "
        "Write one object per line, for example with: jq -c '.[]' FILE > FILE.jsonl"
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"question\n", "a.csv: it contains no examples."),
        (
            b"question,answer\nq1,a,b\n",
            "a.csv row 2: 3 cells, but the header has 2 columns. Quote cells that contain the "
            "delimiter, a quote or a line break.",
        ),
        (b"question,answer\nq1,a\nq2\n", "a.csv row 3: 1 cells, but the header has 2 columns."),
        (
            b'question,answer\nq1,"a\nq2,b\n',
            "a.csv row 2: not valid CSV: a quoted cell is never closed. "
            'Double the quotes inside a quoted cell: "say ""yes"" twice".',
        ),
        (b'question,answer\nq1,"a"b\n', "a.csv row 2: not valid CSV: ',' expected after '\"'."),
        (b"question,question\na,b\n", "a.csv row 1: the column 'question' appears twice in the header."),
        (b"frage,answer\na,b\n", "a.csv row 2: no field 'query' (found: frage, answer). Use --map query=COLUMN."),
        ("question\ncaf\u00e9\n".encode("latin-1"), "a.csv line 2: byte 0xE9 at position 4 is not UTF-8"),
        (
            b"question,contexts\nq,\"['a'\n 'b']\"\n",
            "a.csv row 2: contexts must be a JSON list, got text \"['a'\\n 'b']\". It looks like a NumPy array "
            "printed as text: save lists as JSON.",
        ),
        (b"question,cost\nq,free\n", "a.csv row 2: cost must be a finite number, got text 'free'."),
    ],
)
def test_broken_csv(file: File, content: bytes, message: str) -> None:
    """A CSV file is refused with the row as a spreadsheet counts it."""
    assert refused(file("a.csv", content)).startswith(message)


def test_unknown_formats_name_what_is_accepted(file: File, tmp_path: Path) -> None:
    """Whatever cannot be read is refused with the list of what can."""
    accepted = "Accepted: .jsonl, .json, .csv, .tsv"
    assert refused(file("a.txt", "hello there\n")).startswith(
        "a.txt: unknown format (extension '.txt', first line 'hello there'). " + accepted
    )
    assert accepted in refused(3)
    assert refused(file("a.parquet", "no")).startswith("a.parquet: not a Parquet file: it does not start with PAR1.")
    assert refused(file("a.parquet", b"PAR1 and nothing")).startswith("a.parquet: not a readable Parquet file: ")
    assert refused(file("a.xlsx", b"PK\x03\x04rest")) == (
        "a.xlsx: not a readable zip archive or workbook: File is not a zip file. The file may be truncated. Copy it "
        "again."
    )
    (tmp_path / "folder").mkdir()
    assert refused("folder").startswith("folder: the folder is not a BEIR data set (queries.jsonl, qrels/test.tsv).")
    assert refused(file("run.txt", "401 Q0 FT-1 1 2.5 tag\n")).endswith(
        "To read TREC runs and qrels: ragauge retrieval QRELS RUN."
    )


def test_a_missing_file_names_its_neighbours(file: File) -> None:
    """A path with a slip is answered with the files that it may have meant."""
    file("golden.jsonl", GOOD)
    assert refused("goldn.jsonl") == "goldn.jsonl: there is no such file. Nearest: golden.jsonl."


def test_a_mapped_column_must_be_there(file: File) -> None:
    """A column that the user names and no row has is an error, with the nearest."""
    assert refused(file("a.jsonl", {"query": "q"}), columns={"answer": "query"}) == (
        "a.jsonl line 1: no field 'query' (found: query; query is read as answer, as requested). Use --map "
        "query=COLUMN."
    )
    assert refused(file("a.jsonl", {"query": "q", "replyy": "x"}), columns={"answer": "reply"}, warn=print) == (
        "a.jsonl: no line has a column 'reply' (found: query, replyy; nearest: replyy)."
    )
    assert refused(file("a.jsonl", {"query": "q"}), segments=["topic"]) == (
        "a.jsonl: no line has a column 'topic' (found: query)."
    )


def test_the_nearest_column_is_one_that_is_free(file: File) -> None:
    """A column that is read as another field is not offered; a segment inside an object is named by its path."""
    assert refused(file("a.jsonl", {"query_id": "q1", "question_text": "Why?", "answer": "So."})).endswith(
        "nearest: question_text). Use --map query=question_text."
    )
    inside = file("a.jsonl", {"query": "q", "about": {"kind": "who"}})
    assert refused(inside, segments=["kind"], warn=print) == (
        "a.jsonl: no line has a column 'kind' (found: query, about; nearest: about.kind)."
    )
    assert read_set(inside, segments=["about.kind"], warn=print).examples[0].segments == {"about.kind": "who"}
    exported = file("a.jsonl", {"query": "q", "segments": {"type": "who"}})
    assert read_set(exported, segments=["type"]).examples[0].segments == {"type": "who"}
    assert "nearest: segments.type" in refused(exported, segments=["typ"], warn=print)


def test_one_bad_line_spoils_the_set(file: File) -> None:
    """A set with one bad line is not read at all."""
    with pytest.raises(DataError, match="line 3"):
        read_set(file("a.jsonl", {"query": "a"}, {"query": "b"}, {"query": 3}))


def test_the_error_keeps_its_parts(file: File) -> None:
    """Source, line and hint can be read from the error itself."""
    with pytest.raises(DataError) as error:
        list(read_source(file("a.jsonl", {"frage": "q"})))
    assert (error.value.source, error.value.line) == ("a.jsonl", 1)
    assert error.value.hint == "Use --map query=COLUMN."
