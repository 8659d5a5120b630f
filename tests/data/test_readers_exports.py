"""Exports as people have them: lists over several columns, JSON in texts, tables of tracing tools, workbooks."""

from __future__ import annotations

import csv
import io
import json
import sys
import zipfile
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from ragauge.core.errors import DataError
from ragauge.core.response import Record
from ragauge.readers import tabular
from ragauge.readers.aliases import find_nearest_field
from ragauge.readers.source import read_source
from ragauge.verbs.command_options import parse_mapping

File = Callable[..., str]
FERRY = "When does the ferry leave?"


def read(source: Any, told: list[str] | None = None, **how: Any) -> list[Record]:
    warned: list[str] = [] if told is None else told
    return list(read_source(source, warn=warned.append, **how))


def texts(record: Record) -> list[str | None] | None:
    assert record.response is not None
    return None if record.response.passages is None else [one.text for one in record.response.passages]


def table(*rows: list[Any], delimiter: str = ",") -> str:
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter).writerows(rows)
    return out.getvalue()


@pytest.mark.parametrize(
    "columns",
    [
        ["Context 1", "Context 2", "Context 3"],
        ["context_1", "context_2", "context_3"],
        ["Context1", "Context2", "Context10"],
        ["contexts[0]", "contexts[1]", "contexts[2]"],
        ["context", "context.1", "context.2"],
        ["Passage 1", "Passage 2", "Passage 3"],
        ["retrieved_chunk_0", "retrieved_chunk_1", "retrieved_chunk_2"],
    ],
    ids=lambda columns: columns[0],
)
def test_numbered_columns_are_one_list(columns: list[str], file: File) -> None:
    """Columns of one name and a number are the list of what they name, in the order of the numbers."""
    order = [columns[2], columns[0], columns[1]]
    row = dict(zip(columns, ["a", "b", "c"], strict=True))
    told: list[str] = []
    (record,) = read(file("a.csv", table(["question", *order], [FERRY, *(row[name] for name in order)])), told)
    assert (texts(record), told) == (["a", "b", "c"], [])


def test_empty_cells_of_a_list_are_left_out(file: File) -> None:
    """A row may fill some of the columns; one that fills none recorded no passages."""
    first, second = read(
        file("a.csv", table(["q", "Context 1", "Context 2"], ["a?", "", "x"], ["b?", "", ""])), columns={"query": "q"}
    )
    assert (texts(first), texts(second)) == (["x"], None)


@pytest.mark.parametrize(
    ("row", "field", "value"),
    [
        ({"ground_truth 1": "nine", "ground_truth 2": "at nine"}, "references", ("nine", "at nine")),
        ({"criteria 1": "says nine", "criteria 2": "is short"}, "criteria", ("says nine", "is short")),
    ],
)
def test_other_lists_are_spread_too(row: dict[str, Any], field: str, value: object) -> None:
    """References and criteria may be numbered as passages are."""
    (record,) = read([{"query": FERRY, **row}])
    assert getattr(record.example, field) == value


@pytest.mark.parametrize("row", [{"answer 1": "a", "answer 2": "b"}, {"Context 7": "x"}, {"score 1": 2, "score 2": 3}])
def test_numbers_that_name_no_list_join_nothing(row: dict[str, Any]) -> None:
    """Two answers are two systems'; a number that no 1 comes before is a name."""
    (record,) = read([{"query": FERRY, "answer": "nine", **row}])
    assert texts(record) is None


def test_a_field_mapped_twice_has_both_columns(file: File) -> None:
    """A second --map of a field adds its column, as a list does in Python; a column that nobody has is refused."""
    name = file("a.csv", table(["question", "Wiki", "FAQ", "extra"], [FERRY, "w", "f", "e"]))
    for columns in (parse_mapping(["passages=FAQ", "passages=Wiki"]), {"passages": ["FAQ", "Wiki"]}):
        told: list[str] = []
        (record,) = read(name, told, columns=columns)
        assert texts(record) == ["f", "w"]
        assert ["extra" in warning and "Wiki" not in warning for warning in told] == [True]
    with pytest.raises(DataError, match="no row has a column 'Wikki'"):
        read(name, columns=parse_mapping(["passages=FAQ", "passages=Wikki"]))


@pytest.mark.parametrize(
    "column",
    ["retrieval_gt", "answers", "ground_truth_passages", "expected_contexts", "gold documents", "relevant_contexts"],
)
def test_gold_labels_are_never_proposed_as_what_a_system_returned(column: str) -> None:
    """A hint takes a column for a label where its name says so, else for none."""
    assert find_nearest_field(column) not in ("passages", "answer", "candidates", "retrieved_ids", "citations")


def test_files_of_autorag_are_read() -> None:
    """Its names are known: labels in groups, several references, contents and generated texts."""
    row = {
        "qid": "1",
        "query": FERRY,
        "retrieval_gt": [["d1", "d2"], ["d3"]],
        "generation_gt": ["nine"],
        "retrieved_contents": ["The ferry leaves at nine."],
        "generated_texts": "Nine.",
    }
    (record,) = read([row])
    assert [one.doc_ids for one in record.example.relevant or ()] == [("d1", "d2"), ("d3",)]
    assert (record.example.references, texts(record)) == (("nine",), ["The ferry leaves at nine."])


INPUT, OUTPUT = {"question": FERRY}, {"answer": "At nine.", "documents": ["It leaves at nine."]}


@pytest.mark.parametrize(
    "row",
    [
        {"input": json.dumps(INPUT), "output": json.dumps(OUTPUT)},
        {"input": INPUT, "output": OUTPUT},
        {"input": json.dumps(json.dumps(INPUT)), "output": json.dumps(json.dumps(OUTPUT))},
        {"input": json.dumps({"query": FERRY, "context": ["It leaves at nine."]}), "output": "At nine."},
        {
            "input": FERRY,
            "output": json.dumps({"result": "At nine."}),
            "metadata": json.dumps({"contexts": ["It leaves at nine."]}),
        },
        {"inputs": json.dumps(INPUT), "outputs": json.dumps(OUTPUT)},
        {"question": FERRY, "answer": "At nine.", "contexts": json.dumps(["It leaves at nine."])},
    ],
    ids=["text", "objects", "text in text", "context beside", "metadata", "inputs and outputs", "a list"],
)
@pytest.mark.parametrize("ending", ["jsonl", "csv"])
def test_json_in_texts_is_unpacked(row: dict[str, Any], ending: str, file: File) -> None:
    """What an export wrote as JSON into a text is read as what it was, in lines and in cells."""
    cells = [value if isinstance(value, str) else json.dumps(value) for value in row.values()]
    name = file("a.jsonl", row) if ending == "jsonl" else file("a.csv", table(list(row), cells))
    (record,) = read(name)
    assert record.response is not None
    assert (record.example.query, record.response.answer) == (FERRY, "At nine.")
    assert texts(record) == ["It leaves at nine."]


def test_items_of_a_data_set_hold_what_is_expected(file: File) -> None:
    """Langfuse's items are a set: input, expected output, and metadata to report by."""
    row = [json.dumps(INPUT), json.dumps({"answer": "At nine."}), json.dumps({"topic": "ferry"})]
    name = file("a.csv", table(["input", "expectedOutput", "metadata"], row))
    (record,) = read(name, segments=["metadata.topic"])
    assert (record.example.references, record.response) == (("At nine.",), None)
    assert dict(record.example.segments) == {"metadata.topic": "ferry"}


@pytest.mark.parametrize(
    "answer", ['{"name": "Ada", "age": 9}', '[{"role": "miller"}]', '"Yes."', "{not JSON", '["a", "b"]']
)
def test_an_answer_that_is_json_stays_a_text(answer: str) -> None:
    """Only what holds an answer by a known name is taken apart."""
    (record,) = read([{"input": FERRY, "output": answer}])
    assert record.response is not None
    assert record.response.answer == answer


@pytest.mark.parametrize(
    ("passage", "doc_id", "score"),
    [
        ({"id": "x", "score": 0.8, "metadata": {"text": "t"}}, "x", 0.8),
        ({"id": 7, "score": 0.8, "payload": {"page_content": "t", "metadata": {"source": "a.md"}}}, "7", 0.8),
        ({"_id": "e", "_score": 2.5, "_source": {"content": "t"}}, "e", 2.5),
        ({"properties": {"text": "t", "source": "b.md"}}, "b.md", None),
    ],
    ids=["metadata", "payload", "source", "properties"],
)
def test_the_text_inside_a_passage_is_found(passage: dict[str, Any], doc_id: str, score: float | None) -> None:
    """Vector stores keep the text in an object of their match, and matches in an object of the answer."""
    hits = {"took": 1, "hits": {"total": {"value": 1}, "hits": [passage]}}
    for contexts in ([passage], {"matches": [passage]}, hits):
        (record,) = read([{"query": FERRY, "contexts": contexts}])
        assert record.response is not None
        ((found),) = record.response.passages or ()
        assert (found.text, found.doc_id, found.score) == ("t", doc_id, score)


def test_objects_without_a_text_are_told() -> None:
    """Where no known key holds a text, the keys that hold one are named."""
    told: list[str] = []
    read([{"query": FERRY, "contexts": [{"id": "x", "metadata": {"chunk": "t", "source": "a.md"}}]}], told)
    assert told == ["list: passage keys not read: contexts[].metadata.chunk."]


@pytest.mark.parametrize("text", ['{"34": {"id": 34, "name": "Velo"}}', '[{"nr": 34, "name": "Velo"}]', '{"total": 3}'])
def test_json_that_holds_no_passages_is_one(text: str, file: File) -> None:
    """What a tool returned as JSON is a passage as it stands, also in a cell."""
    assert texts(read(file("a.csv", table(["query", "context"], [FERRY, text])))[0]) == [text]
    assert texts(read([{"query": FERRY, "context": text}])[0]) == [text]


def test_a_list_without_quotes_is_told(file: File) -> None:
    """Where its parts end cannot be known: it is one passage, and a warning says so; a mark in brackets is none."""
    told: list[str] = []
    cells = ["[It leaves at nine, it carries cars]", "[1] It leaves, at nine [2]", "[It], he said"]
    rows = [[f"q{n}?", cell] for n, cell in enumerate(cells)]
    found = read(file("a.csv", table(["query", "contexts"], *rows)), told)
    assert [texts(record) for record in found] == [[cell] for cell in cells]
    assert told == ["a.csv: 1 text in contexts in brackets read as one passage each. Save lists as JSON, with quotes."]


SPANS = ["context.span_id", "context.trace_id"]


def test_reference_of_phoenix_is_what_was_retrieved(file: File) -> None:
    """A table with the ids of spans is Phoenix's; an empty cell there is not recorded."""
    rows = [["s1", FERRY, "At nine.", "It leaves at nine."], ["s2", "Who?", "Nobody.", ""]]
    first, second = read(file("a.csv", table([SPANS[0], "input", "output", "reference"], *rows)))
    assert (texts(first), first.example.references, texts(second)) == (["It leaves at nine."], (), None)


def test_documents_of_phoenix_are_one_row_a_search(file: File) -> None:
    """Its table of retrieved documents has a row a document; those of one search are the passages of its question."""
    header = [SPANS[0], "document_position", SPANS[1], "input", "reference", "document_score"]
    rows = [["s1", 0, "t1", FERRY, "a", 0.9], ["s1", 1, "t1", FERRY, "b", 0.4], ["s2", 0, "t2", FERRY, "c", ""]]
    first, second = read(file("a.csv", table(header, *rows)))
    assert (texts(first), texts(second)) == (["a", "b"], ["c"])
    assert first.response is not None
    assert [one.score for one in first.response.passages or ()] == [0.9, 0.4]


def test_a_reference_that_may_be_phoenixs_is_asked_about() -> None:
    """Without ids of spans the reference is the right answer, and a warning says how to have it read as retrieved."""
    row = {"input": FERRY, "output": "At nine.", "reference": "It leaves at nine."}
    told: list[str] = []
    (record,) = read([row], told)
    assert record.example.references == ("It leaves at nine.",)
    assert told == [
        "list: column reference is read as the reference answer. In a Phoenix table it has the retrieved "
        "passages: --map passages=reference."
    ]
    told.clear()
    assert texts(read([row], told, columns={"passages": "reference"})[0]) == ["It leaves at nine."]
    assert told == []


def test_predictions_and_targets_of_mlflow() -> None:
    """Of `mlflow.evaluate`: texts are answer and reference, lists are the ids of a retriever."""
    words, ids = read(
        [
            {"inputs": FERRY, "targets": "Nine.", "predictions": "At nine."},
            {"inputs": "Which?", "targets": ["d1"], "predictions": ["d1", "d2"]},
        ]
    )
    assert words.response is not None
    assert ids.response is not None
    assert (words.example.references, words.response.answer) == (("Nine.",), "At nine.")
    assert [one.doc_id for one in ids.response.passages or ()] == ["d1", "d2"]


def test_outputs_beside_a_question_of_another_name() -> None:
    """What an application returned as one object is taken apart, whatever its input is called."""
    documents = [{"page_content": "It leaves at nine.", "metadata": {"source": "a.md"}}]
    row = {"questions": FERRY, "outputs": {"query": FERRY, "result": "At nine.", "source_documents": documents}}
    (record,) = read([row], columns={"query": "questions"})
    assert record.response is not None
    assert (record.response.answer, texts(record)) == ("At nine.", ["It leaves at nine."])


RESULT = {
    "provider": {"id": "python:p.py"},
    "prompt": {"raw": FERRY, "label": "{{ query }}"},
    "vars": {"query": FERRY, "context": "It leaves at nine."},
    "response": {"output": "At nine."},
    "success": True,
    "gradingResult": {"pass": True},
}


def test_results_of_promptfoo_version_2(file: File) -> None:
    """Rows that count no tests are read too, and two prompts of one provider are refused as two systems."""
    failed = {**RESULT, "vars": {"query": "b?"}, "response": {"error": "429"}, "success": False}
    wrapped = {"evalId": "e", "results": {"version": 2, "results": [RESULT, failed], "stats": {}}}
    first, second = read(file("a.json", json.dumps(wrapped)))
    assert (texts(first), second.response and second.response.error) == (["It leaves at nine."], "429")
    other = {**RESULT, "prompt": {"raw": f"Briefly: {FERRY}", "label": "Briefly: {{ query }}"}}
    wrapped["results"] = {"version": 2, "results": [RESULT, other]}
    with pytest.raises(DataError, match="provider must be the same for all results if there is one prompt"):
        read(file("a.json", json.dumps(wrapped)))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
def test_wide_text_with_a_mark_is_read(encoding: str, file: File) -> None:
    """What Excel and PowerShell save as Unicode is read by its byte-order mark, lines and cells alike."""
    row = {"question": "Wann fährt die Fähre?", "answer": "Um neun.", "contexts": ["Die Fähre fährt um neun. 🚢"]}
    lines = (json.dumps(row, ensure_ascii=False) + "\r\n").encode(encoding)
    cells = table(list(row), [*list(row.values())[:2], row["contexts"][0]], delimiter="\t").encode(encoding)
    for name, content in (("a.jsonl", lines), ("a.csv", cells), ("a.txt", cells)):
        (record,) = read(file(name, content))
        assert (record.example.query, texts(record)) == (row["question"], row["contexts"])


def a_workbook(file: File) -> str:
    """A file that looks like a workbook from outside."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr(tabular.SHEETS, "<workbook/>")
    return file("a.xlsx", packed.getvalue())


def test_a_workbook_needs_an_engine(file: File, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without one the error names the line that installs it; another archive is not taken for a workbook."""
    monkeypatch.setattr(tabular, "find_spec", lambda _: None)
    with pytest.raises(DataError, match="pip install openpyxl"):
        read(a_workbook(file))
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("a.jsonl", "{}")
    with pytest.raises(DataError, match="a zip archive cannot be read"):
        read(file("a.xlsx", packed.getvalue()))


def test_the_first_filled_sheet_is_read(file: File, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows are numbered as the spreadsheet shows them, empty cells are null, and other sheets are named."""
    none = (None, None, None)
    rows: list[Any] = [none, ("Question", "Context 1", "Context 2"), (FERRY, "a", None), none, ("b?", "", 2)]
    sheets: list[tuple[str, list[Any]]] = [("Notes", []), ("Data", rows), ("More", [("x",)])]
    made = [
        SimpleNamespace(title=title, iter_rows=lambda values_only, cells=cells: iter(cells)) for title, cells in sheets
    ]
    fake = ModuleType("openpyxl")
    fake.load_workbook = lambda path, **how: SimpleNamespace(worksheets=made, close=lambda: None)  # type: ignore[attr-defined] # of a fake module
    monkeypatch.setitem(sys.modules, "openpyxl", fake)
    monkeypatch.setattr(tabular, "find_spec", lambda name: name)
    told: list[str] = []
    with pytest.raises(DataError, match=r"a\.xlsx row 5: .* must be a text"):
        read(a_workbook(file), told)
    rows[-1] = ("b?", "", None)
    first, second = read(a_workbook(file), told)
    assert (texts(first), texts(second), first.line, second.line) == (["a"], None, 3, 5)
    assert told == ["a.xlsx: read the sheet 'Data'; skipped: 'More'. To read another sheet, save it as CSV."]
