"""What people bring, written a little differently, is read right the first time."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from ragauge.core.errors import DataError
from ragauge.core.example import Relevant
from ragauge.core.response import Record
from ragauge.readers.source import read_set, read_source

One = Callable[..., Record]
File = Callable[..., str]

PASSAGES = ["The mast is 330 metres tall.", "It was raised in 1889.", "Tickets are sold at the gate."]


def targets(source: Any, n: int = 0) -> list[str] | None:
    """What the answer of an entry cites: numbers of passages from 1, or what was written where there is none."""
    response = list(read_source(source))[n].response
    assert response is not None
    if response.citations is None:
        return None
    ids = [passage.passage_id for passage in response.passages or ()]
    return [str(ids.index(one.target) + 1) if one.target in ids else one.target for one in response.citations]


@pytest.mark.parametrize(
    ("answer", "cited"),
    [
        ("It is 330 metres tall [1].", ["1"]),
        ("It is tall[1] and old [2, 3].", ["1", "2", "3"]),
        ("It is tall [^1].\n\n[^1]: the brochure", ["1"]),
        ("All of them say so [1-3].", ["1", "2", "3"]),
        ("It is tall [7].", ["[7]"]),
        ("It is tall [0].", ["1"]),
    ],
)
def test_numbers_are_citations(answer: str, cited: list[str]) -> None:
    """Numbers in brackets name passages from 1; one of no passage stays as it is written, which is invented."""
    assert targets([{"query": "q", "answer": answer, "passages": PASSAGES}]) == cited


@pytest.mark.parametrize(
    "answer",
    [
        "Write `rows[1]`.",
        "```\nx = rows[1]\n```",
        "See total_rows[1].",
        "Use self.rows[2].",
        "Set a[1] = 3.",
        "In [2024].",
        "It gives f([1, 2, 3]).",
        "Call `f` as f(x, [1])",
        "Use args[1].",
        "First x[0], then x[1].",
        "rows[0] is the first, rows[1] the second",
        "x = [1, 2]",
        '{"a": [1, 2]}',
        "[[1, 2], [3, 4]]",
        "m[1][2] = 4",
        "The ``rows [1]`` of it",
        "~~~\n[1]\n~~~",
        "for row in [1, 2]: pass",
        "Read `data`: data[1] is old.",
        "The (source code) is [here].",
    ],
)
def test_indices_of_code_are_no_citations(answer: str) -> None:
    """An index into a list, and a year, cite nothing: the system is not known to cite."""
    assert targets([{"query": "q", "answer": answer, "passages": PASSAGES}]) is None


@pytest.mark.parametrize(
    ("answer", "cited"),
    [
        ("It is tall [b].", ["2"]),
        ("It is tall [Source: b].", ["2"]),
        ("It is tall [source: A.md; b, p. 3].", ["1", "2"]),
        ("It is tall [docs/a.md, b].", ["1", "2"]),
        ("It is tall【2】.", ["2"]),
        ("It is tall【2†source】.", ["2"]),
        ("It is tall【4:0†a.md】.", ["1"]),
        ("It is tall [doc 2].", ["2"]),
        ("It is tall [Doc 2, Doc 3].", ["2", "3"]),
        ("It is tall [2][3].", ["2", "3"]),
        ("*It* is **tall** [2].", ["2"]),
        ("It is tall (source 2).", ["2"]),
        ("It is tall [sources 1 and 3].", ["1", "3"]),
        ("It is tall [Document 9].", ["[9]"]),
        ("It is tall [17].", ["3"]),
        ("It is tall (source 9).", None),
        ("It is tall [see below], [x].", None),
    ],
)
def test_ids_and_named_numbers_are_citations(answer: str, cited: list[str] | None) -> None:
    """Brackets that name a passage by its id, or by a word and a number, cite it; other words in brackets do not."""
    ids = ("docs/a.md", "b", "17")
    passages = [{"doc_id": doc_id, "text": text} for doc_id, text in zip(ids, PASSAGES, strict=True)]
    assert targets([{"query": "q", "answer": answer, "passages": passages}]) == cited


BLOB = json.dumps({n: {"id": int(n), "name": name} for n, name in (("34", "Velo helmet"), ("58", "Trail helmet"))})


@pytest.mark.parametrize(
    ("passages", "answer", "cited"),
    [
        ([BLOB], "The Velo helmet is light [34]. The Trail helmet fits [58].", ["1", "1"]),
        (["[34] Ada runs the mill.", "[58] The barn is red."], "Red [58].", ["2"]),
        (["[2] Ada runs it.", "[1] The barn is red."], "Ada [2], and red [1].", ["1", "2"]),  # labels before places
        (["Document 12: Die Mühle.", "Document 7: Die Scheune."], "Rot [7].", ["2"]),
        (["plan.pdf#page=3: The barn.", "plan.pdf#page=7: The mill."], "It runs [plan.pdf#page=7].", ["2"]),
        (["[Jahresbericht 2023.pdf] Die Mühle."], "Sie läuft [Jahresbericht 2023.pdf].", ["1"]),
        (['{"id": "kb-42", "title": "Velo"}', "The barn."], "Light [kb-42].", ["1"]),
        (["[1] The mill.\n\n[2] The barn.\n\n[3] The ferry."], "Red [2]. Late [3].", ["1", "1"]),
        (["방앗간은 아다가 운영한다.", "헛간은 빨갛다."], "아다가 운영한다 [0]. 빨갛다 [1].", ["1", "2"]),
        (["The mill."], "It runs [The barn], [name] and [34].", ["[34]"]),
        (["Paid 34 euros in 2034."], "It costs [34].", ["[34]"]),
    ],
)
def test_passages_are_cited_as_they_are_labeled(passages: list[str], answer: str, cited: list[str]) -> None:
    """A label at the head of a passage, a key or id in it, and places from 0 name a passage; other words do not."""
    assert targets([{"query": "q", "answer": answer, "passages": passages}]) == cited


@pytest.mark.parametrize("doc_id", ["plan.pdf", "docs/plan.pdf", "plan.pdf#page=7"])
def test_a_page_of_a_file_is_cited(doc_id: str) -> None:
    """A page behind a file's name leads to the page, or to the file where no passage is a page."""
    passages = [{"doc_id": doc_id, "text": "It runs."}, {"doc_id": "other.pdf", "text": "It stands."}]
    assert targets([{"query": "q", "answer": "It runs [plan.pdf#page=7].", "passages": passages}]) == ["1"]


def test_a_file_counts_from_zero_or_from_one() -> None:
    """Where one answer cites [0], numbers of the others count from 0 too, unless more of them then name nothing."""
    rows = [{"query": f"q{n}", "answer": f"Tall [{n}].", "passages": PASSAGES} for n in range(3)]
    assert [targets(rows, n) for n in range(3)] == [["1"], ["2"], ["3"]]
    rows += [{"query": f"p{n}", "answer": "Tall [3].", "passages": PASSAGES} for n in range(2)]
    assert [targets(rows, n) for n in (0, 1, 3)] == [["[0]"], ["1"], ["3"]]


@pytest.mark.parametrize("number", ["{n}00", "{n}4"])
def test_citations_that_mostly_name_nothing_are_not_understood(number: str) -> None:
    """Where most citations name no passage, none is read: the reason is kept, and a warning says what to do."""
    marks = [number.format(n=n) for n in range(1, 7)]
    rows: list[dict[str, Any]] = [
        {"query": f"q{n}", "answer": f"Tall [{mark}].", "passages": PASSAGES} for n, mark in enumerate(marks)
    ]
    told: list[str] = []
    (record, *_) = read_source(rows, warn=told.append)
    assert record.response is not None
    assert record.response.citations is None
    assert record.response.missing["citations"] == (
        "6 of 6 citations in the first answers match no passage by position, id or label"
    )
    assert ["the citation style was not recognized, so no citations are read" in one for one in told] == [True]
    ids = [{"doc_id": mark, "text": f"{mark} metres"} for mark in marks]
    assert targets([{**row, "passages": ids} for row in rows], 5) == ["6"]


def test_an_answer_without_number_cites_nothing_where_others_cite() -> None:
    """Whether a system cites is a matter of the file: beside answers that cite, one without a number cites nothing."""
    rows = [{"query": f"q{n}", "answer": "Tall." if n else "Tall [1].", "passages": PASSAGES} for n in range(8)]
    assert targets(rows, 7) == []
    rows = [{"query": f"q{n}", "answer": "Tall." if n else "Tall [1].", "passages": PASSAGES} for n in range(30)]
    assert targets(rows, 0) is None


def test_given_citations_win(one: One) -> None:
    """Citations in a field of their own are taken as they are, whatever stands in the answer."""
    record = one({"query": "q", "answer": "Tall [1].", "passages": [{"doc_id": "d"}], "citations": ["d7"]})
    assert record.response is not None
    assert [found.target for found in record.response.citations or ()] == ["d7"]


def test_a_bad_row_is_told_where_it_stands(file: File) -> None:
    """Rows looked at ahead change no error: the first bad line is the one that is named."""
    name = file("a.jsonl", '{"query": "a"}\n{"query": 7}\n{"query": "b"\n')
    with pytest.raises(DataError, match="line 2: query must be text"):
        list(read_source(name))


COLUMNS = {"question": ["a?", "b?"], "answer": ["x", "y"], "contexts": [["c"], ["d", "e"]]}


@pytest.mark.parametrize(
    "write", [None, json.dumps, lambda value: json.dumps(value, indent=1)], ids=["dict", "one line", "lines"]
)
def test_columns(file: File, write: Callable[[Any], str] | None) -> None:
    """A dictionary of columns is one example a cell, in memory and in a file."""
    found = list(read_source(COLUMNS if write is None else file("a.json", write(COLUMNS))))
    assert [(one.example.query, one.response and one.response.answer) for one in found] == [("a?", "x"), ("b?", "y")]
    assert [len(one.response.passages or ()) for one in found if one.response] == [1, 2]


def test_columns_as_pandas_writes_them(file: File) -> None:
    """{"question": {"0": ..., "1": ...}} is what a frame's to_json gives."""
    name = file("a.json", json.dumps({"question": {"0": "a?", "1": "b?"}, "answer": {"0": "x", "1": None}}))
    assert [one.example.query for one in read_source(name)] == ["a?", "b?"]


def test_columns_of_different_lengths_are_refused() -> None:
    """A column that is too short belongs to nobody knows which questions."""
    with pytest.raises(DataError, match="answer must be a column of 2 cells"):
        list(read_source({"question": ["a?", "b?"], "answer": ["x"]}))


def test_one_example_is_one(file: File) -> None:
    """A dictionary whose query is a text, or one chat, is one example."""
    assert [found.example.query for found in read_source({"question": "a?", "contexts": ["c", "d"]})] == ["a?"]
    chat = [{"role": "user", "content": "a?"}]
    assert [found.example.query for found in read_source(file("a.json", json.dumps({"user_input": chat})))] == ["a?"]


def test_categories(file: File) -> None:
    """Questions under the names of their categories are reported by them; unanswerable ones are known as such."""
    given = {"simple": ["a?"], "multi_hop": [{"question": "b?", "ground_truth": "r"}], "unanswerable": ["c?"]}
    for source in (given, file("set.json", json.dumps(given))):
        found = read_set(source).examples
        assert [one.segments["category"] for one in found] == ["simple", "multi_hop", "unanswerable"]
        assert [one.answerable for one in found] == [None, None, False]
        assert found[1].references == ("r",)


def test_a_misspelt_field_is_no_category() -> None:
    """Where a name looks like a field's, the error names the field instead of making a category of it."""
    with pytest.raises(DataError, match="nearest: questoin"):
        list(read_source({"questoin": ["a?"], "antwort": ["x"]}))


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({"segments": {"kind of": "Unanswerable"}}, False),
        ({"tags": ["unanswerable"]}, False),
        ({"segments": {"kind": "unanswerable"}, "answerable": True}, True),
        ({"segments": {"kind": "simple"}}, None),
    ],
)
def test_unanswerable(one: One, row: dict[str, Any], expected: bool | None) -> None:
    """A segment or a tag says that the corpus lacks the answer, unless the field says otherwise."""
    assert one({"query": "q", **row}).example.answerable is expected


def test_unanswerable_by_type() -> None:
    """A column of question types says it too, though it is reported by only where that is asked."""
    told: list[str] = []
    (found,) = read_source([{"query": "q", "question_type": "unanswerable"}], warn=told.append)
    assert found.example.answerable is False
    assert "--segments COLUMN" in told[0]


def test_labels_by_other_names(one: One) -> None:
    """relevant_doc_ids and retrieved_doc_ids are the labels and the passages; chunk ids are labels of their own."""
    labels = {"relevant_doc_ids": ["b"], "relevant_chunk_ids": ["b-1"]}
    record = one({"query": "q", **labels, "retrieved_doc_ids": ["a", "b"]})
    assert record.example.relevant == (Relevant(("b",)),)
    assert record.example.relevant_chunks == (Relevant(("b-1",)),)
    assert record.response is not None
    assert [passage.doc_id for passage in record.response.passages or ()] == ["a", "b"]


def test_chunk_ids_among_the_labels_are_told() -> None:
    """Labels that meet passage_ids and no doc_id are not called a miss without a word."""
    told: list[str] = []
    row = {"query": "q", "passages": [{"doc_id": "d", "chunk_id": "d-1", "text": "t"}], "relevant": ["d-1"]}
    list(read_source([row], warn=told.append))
    assert "--map relevant_chunks=COLUMN" in told[0]


JOINED = {
    "input": "How tall?",
    "actual_output": "330",
    "expected_output": "330 m",
    "context": f"{PASSAGES[0]}|{PASSAGES[2]}",
    "retrieval_context": f"{PASSAGES[0]}|{PASSAGES[1]}",
    "input_token_count": 7,
}


def test_joined_passages(one: One, file: File) -> None:
    """Deepeval's CSV and JSONL give the passages and labels that its JSON gives."""
    lists = {name: value.split("|") if isinstance(value, str) else value for name, value in JOINED.items()}
    lists |= {name: JOINED[name] for name in ("input", "actual_output", "expected_output")}
    expected = next(iter(read_source(file("a.json", json.dumps([lists])))))
    csv = ",".join(JOINED) + "\n" + ",".join(map(str, JOINED.values())) + "\n"
    for found in (one(JOINED), next(iter(read_source(file("a.csv", csv))))):
        assert found.example == expected.example
        assert found.response is not None
        assert expected.response is not None
        assert found.response.passages == expected.response.passages
        assert found.response.tokens == {"input": 7}


def test_a_mark_inside_a_text_is_told() -> None:
    """A table's bars cannot be told from the marks between passages, which is said."""
    told: list[str] = []
    list(read_source([{**JOINED, "retrieval_context": "|a|b|\n|1|2|"}], warn=told.append))
    assert any("split wrongly" in one for one in told)


def test_a_bar_elsewhere_joins_nothing(one: One) -> None:
    """Only deepeval's columns are parted: a text of another tool keeps its bars."""
    record = one({"question": "q", "contexts": ["a|b"], "answer": "x|y"})
    assert record.response is not None
    assert [passage.text for passage in record.response.passages or ()] == ["a|b"]
