"""Tables: in memory, in CSV, in Parquet; and files in every packing, read in flat memory."""

from __future__ import annotations

import csv
import gzip
import json
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from ragauge.core.errors import DataError, UsageError
from ragauge.core.example import EvalSet, Example, Relevant
from ragauge.core.response import Passage, Record
from ragauge.readers import tabular
from ragauge.readers.source import derive_name, read_set, read_source

File = Callable[..., str]

ROWS: list[dict[str, Any]] = [
    {
        "query_id": "1",
        "query": "a?",
        "answer": "x",
        "passages": [{"doc_id": "d1", "text": "t", "score": 0.5}],
        "relevant": ["d1"],
        "segments": {"type": "new"},
        "answerable": True,
        "latency_ms": {"total": 3.0},
    },
    {
        "query_id": "2",
        "query": "b?",
        "answer": None,
        "passages": [],
        "relevant": ["d2", "d3"],
        "segments": {"type": None},
        "answerable": None,
        "latency_ms": {"total": None},
    },
]


def told(source: Any, **options: Any) -> list[tuple[Example, Any]]:
    """What a source says, without where it stood."""
    return [(record.example, record.response) for record in read_source(source, **options)]


@pytest.fixture
def expected(file: File) -> list[tuple[Example, Any]]:
    """The same rows, read from JSONL."""
    return told(file("rows.jsonl", *ROWS))


def test_a_list_of_dictionaries(expected: list[Any]) -> None:
    """A list in memory says what the file says; the errors count entries."""
    assert told(ROWS) == expected
    assert told(iter(ROWS)) == expected


def test_polars(expected: list[Any]) -> None:
    """A polars frame, eager or lazy, with nested columns says what the file says."""
    assert told(pl.DataFrame(ROWS)) == expected
    assert told(pl.DataFrame(ROWS).lazy()) == expected


def test_pandas(expected: list[Any]) -> None:
    """A pandas frame says what the file says: NaN, NaT and NA are empty, NumPy values are Python's."""
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(ROWS)
    frame["cost"] = [float("nan"), 2]
    frame["note"] = pd.array([None, 1], dtype="Int64")
    seen: list[str] = []
    (first, one), (second, two) = told(frame, warn=seen.append)
    assert [first, second] == [example for example, _ in expected]
    assert (one.cost, two.cost, one.passages) == (None, 2.0, expected[0][1].passages)
    assert seen[0].startswith("table: columns not read: note.")


def test_pandas_arrays_are_lists(tmp_path: Path) -> None:
    """Lists that pandas read from Parquet are NumPy arrays of dictionaries; they are lists here."""
    pd = pytest.importorskip("pandas")
    pl.DataFrame(ROWS).write_parquet(tmp_path / "rows.parquet")
    found = told(pd.read_parquet(tmp_path / "rows.parquet"))
    assert found[0][0].relevant == (Relevant(("d1",)),)
    assert found[1][1].passages == ()


def test_arrow(expected: list[Any]) -> None:
    """An Arrow table says what the file says."""
    pa = pytest.importorskip("pyarrow")
    assert told(pa.Table.from_pylist(ROWS)) == expected


def test_parquet(tmp_path: Path, expected: list[Any]) -> None:
    """A Parquet file says what the file of lines says, known by its content."""
    pl.DataFrame(ROWS).write_parquet(tmp_path / "rows.parquet")
    (tmp_path / "rows.parquet").rename(tmp_path / "rows.bin")
    assert told(tmp_path / "rows.bin") == expected


def test_parquet_is_read_in_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows come in order and once, whatever the size of a batch."""
    monkeypatch.setattr(tabular, "BATCH_SIZE_ROWS", 7)
    pl.DataFrame({"query": [f"q{n}" for n in range(30)]}).write_parquet(tmp_path / "a.parquet")
    found = list(read_source(tmp_path / "a.parquet"))
    assert [(record.example.query, record.line) for record in found] == [(f"q{n}", n + 1) for n in range(30)]


class Dataset:
    """The shape of a Hugging Face data set."""

    def __init__(self, rows: list[dict[str, Any]]) -> None:
        self.rows = rows

    @property
    def column_names(self) -> list[str]:
        return list(self.rows[0])

    def __getitem__(self, n: int) -> dict[str, Any]:
        return self.rows[n]

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.rows)


class Splits(dict[str, Dataset]):
    """The shape of several splits."""

    @property
    def column_names(self) -> dict[str, list[str]]:
        return {name: split.column_names for name, split in self.items()}


def test_hugging_face(expected: list[Any]) -> None:
    """A data set is read by its shape; of several splits test, or the one that is named."""
    assert told(Dataset(ROWS)) == expected
    splits = Splits(train=Dataset(ROWS[:1]), test=Dataset(ROWS[1:]))
    assert told(splits) == expected[1:]
    assert told(splits, split="train") == expected[:1]
    with pytest.raises(UsageError, match=r"the splits train, test; got 'dev'\. Choose one with split=NAME\."):
        read_source(splits, split="dev")


def test_an_object_with_to_list(expected: list[Any]) -> None:
    """The data set of ragas gives its rows by to_list."""

    class EvaluationDataset:
        def to_list(self) -> list[dict[str, Any]]:
            return ROWS

    assert told(EvaluationDataset()) == expected


def test_objects_with_fields(expected: list[Any]) -> None:
    """Objects of pydantic's kind give their fields by model_dump."""

    class Sample:
        def __init__(self, row: dict[str, Any]) -> None:
            self.row = row

        def model_dump(self) -> dict[str, Any]:
            return self.row

    assert told([Sample(row) for row in ROWS]) == expected


def test_an_eval_set_is_a_source() -> None:
    """An eval set in memory gives its examples."""
    example = Example("1", "a?")
    assert list(read_source(EvalSet("mine", (example,)))) == [Record(example, None, "mine", 1)]


@pytest.mark.parametrize("ending", [".gz", ".zst"])
def test_packed_lines(tmp_path: Path, ending: str) -> None:
    """Files packed with gzip and zstandard are known by content; the ending of the name does not matter."""
    content = b"".join(json.dumps({"query": f"q{n}"}).encode() + b"\n" for n in range(3))
    path = tmp_path / "a.jsonl"
    if ending == ".gz":
        path.write_bytes(gzip.compress(content))
    else:
        pa = pytest.importorskip("pyarrow")
        with pa.CompressedOutputStream(str(path), "zstd") as file:
            file.write(content)
    assert [record.example.query for record in read_source(path)] == ["q0", "q1", "q2"]


def test_byte_order_mark_and_windows_lines(file: File) -> None:
    """A UTF-8 mark at the start, blank lines and Windows line ends do not matter."""
    name = file("a.jsonl", b'\xef\xbb\xbf{"query": "a"}\r\n\r\n{"query": "b"}\r\n')
    assert [(record.example.query, record.line) for record in read_source(name)] == [("a", 1), ("b", 3)]
    name = file("a.csv", b"\xef\xbb\xbfquestion,answer\r\na,x\r\n\r\nb,y\r\n")
    assert [(record.example.query, record.line) for record in read_source(name)] == [("a", 2), ("b", 4)]


@pytest.mark.parametrize(
    "content",
    [
        '[{"query": "a"}, {"query": "b"}]',
        '[\n  {\n    "query": "a"\n  },\n  {"query": "b"}\n]\n',
        '{"data": [{"query": "a"}, {"query": "b"}], "version": 2}',
        '{\n "examples": [\n  {"query": "a"},\n  {"query": "b"}\n ]\n}',
        '{"version": 1, "goldens": [\n{"input": "a"},\n{"input": "b"}]}',
        '{"query": "a"}\n{"query": "b"}',
    ],
)
def test_json_in_every_layout(file: File, content: str) -> None:
    """One object a line, a list, or an object around a list, on one line or many, are all read."""
    assert [record.example.query for record in read_source(file("a.json", content))] == ["a", "b"]


def test_one_object_over_several_lines(file: File) -> None:
    """A file that is one example, laid out over lines, is that example, its lists of passages left alone."""
    row = {"query": "a", "results": [{"query": "b"}], "passages": ["t"]}
    (record,) = read_source(file("a.json", json.dumps(row, indent=2)), warn=lambda _: None)
    assert record.example.query == "a"


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_csv_with_any_delimiter(file: File, delimiter: str) -> None:
    """The delimiter is found in the header; a cell may hold it, quotes and line breaks."""
    text = f'question{delimiter}answer\n"a{delimiter}b"{delimiter}"say ""yes""\ntwice"\n'
    ((example, response),) = told(file("a.csv", text))
    assert (example.query, response.answer) == (f"a{delimiter}b", 'say "yes"\ntwice')


def test_csv_is_known_without_its_ending(file: File) -> None:
    """A header with a column for the question is enough."""
    assert told(file("export.txt", "id,question\n7,a\n"))[0][0] == Example("7", "a")


def test_lists_in_cells(file: File) -> None:
    """A cell with a JSON list or a printed Python list is a list; a text that only starts like one is a text."""
    cells = ['["a", "b"]', "['it''s', \"b\"]".replace("''", "\\'"), "[1] Paris is …", "plain", ""]
    path = Path(file("a.csv", ""))
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(["question", "contexts", "ground_truth"])
        writer.writerows([[f"q{n}", cell, "[1]"] for n, cell in enumerate(cells)])
    found = told(str(path))
    texts = [
        None if response.passages is None else [passage.text for passage in response.passages] for _, response in found
    ]
    assert texts == [["a", "b"], ["it's", "b"], ["[1] Paris is …"], ["plain"], None]
    assert {example.references for example, _ in found} == {("[1]",)}


def test_an_empty_cell_is_no_answer(file: File) -> None:
    """CSV cannot tell an empty answer from none: it is taken for none, and the reason says why."""
    ((_, response),) = told(file("a.csv", "question,contexts,answer\na,t,\n"))
    assert (response.answer, response.missing) == (None, {"answer": "empty cell"})


def test_cells_beyond_the_usual_limit(file: File) -> None:
    """A cell may be far longer than Python's csv module allows by default, and its limit stays as it was."""
    before = csv.field_size_limit()
    ((_, response),) = told(file("a.csv", f"question,contexts\na,{'x' * 1_000_000}\n"))
    assert len(response.passages[0].text) == 1_000_000
    assert csv.field_size_limit() == before


@pytest.mark.parametrize(
    ("source", "name"),
    [("x/golden.jsonl.gz", "golden"), ("a.b.csv", "a.b"), (Path("s.parquet"), "s"), ([{"query": "q"}], "table")],
)
def test_the_name_of_a_set(source: Any, name: str) -> None:
    """A set is called like its file, without the endings of formats."""
    assert derive_name(source) == name


def test_the_given_name_wins(file: File) -> None:
    """A set can be named."""
    assert read_set(file("a.jsonl", {"query": "q"}), name="mine").name == "mine"


def test_lines_are_read_in_flat_memory(file: File) -> None:
    """Reading 15 MB of lines keeps less than 3 MB of it."""
    row = {"answer": "x", "passages": [{"doc_id": f"d{n}", "text": "word " * 100} for n in range(5)]}
    name = file("a.jsonl", *({"query": f"q{n}", **row} for n in range(5_000)))
    assert Path(name).stat().st_size > 13_000_000
    tracemalloc.start()
    for _ in read_source(name):
        pass
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 3_000_000


def test_reading_imports_no_table_library(file: File) -> None:
    """JSONL is read without polars, pandas or pyarrow."""
    import subprocess

    name = file("a.jsonl", {"query": "q", "passages": ["t"]})
    code = (
        "import sys; from ragauge.readers.source import read_set; "
        f"assert len(read_set({name!r})) == 1; "
        "assert not {'polars', 'pandas', 'pyarrow', 'numpy', 'pydantic'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_what_pandas_and_numpy_leave_in_dictionaries() -> None:
    """NaN for nothing, NumPy numbers and arrays, dates and decimals in a list of dictionaries are understood."""
    np = pytest.importorskip("numpy")
    passage = {"doc_id": np.int64(7), "text": "t", "score": np.float32(0.5), "updated_at": date(2024, 1, 3)}
    row = {
        "query": "q",
        "answer": float("nan"),
        "passages": np.array([passage], dtype=object),
        "cost": Decimal("0.25"),
        "answerable": np.bool_(True),
        "relevant": np.array(["7"]),
    }
    ((example, response),) = told([row])
    assert (example.answerable, example.relevant) == (True, (Relevant(("7",)),))
    assert response.passages == (Passage("7", "7", "t", 0.5, updated_at="2024-01-03"),)
    assert (response.answer, response.cost, response.missing) == (None, 0.25, {"answer": "null"})


def test_a_missing_score_inside_a_passage_is_no_number() -> None:
    """Only a cell may be empty by NaN; a score that is NaN is an error."""
    with pytest.raises(DataError, match=r"^list entry 1: passages\[0\]\.score must be a finite number, got NaN\.$"):
        told([{"query": "q", "passages": [{"text": "t", "score": float("nan")}]}])


def test_brackets_in_a_cell_are_only_text(file: File) -> None:
    """A cell that reads as a Python number or text, and no list, stays the text that it is."""
    found = told(file("a.csv", "question,contexts\na,('x')\nb,(1)\nc,\"{'a'}\"\n"))
    assert [response.passages[0].text for _, response in found] == ["('x')", "(1)", "{'a'}"]
