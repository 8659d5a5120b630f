"""One row, one record: what every field accepts and what it becomes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import pytest

from ragauge.core.errors import DataError, UnknownName
from ragauge.core.example import Relevant, Span, Turn
from ragauge.core.facts import Evidence
from ragauge.core.identity import derive_doc_id, derive_query_id
from ragauge.core.response import Citation, Passage, Record, Response
from ragauge.metrics.base import NotApplicable
from ragauge.metrics.facts import Facts, resolve_fact
from ragauge.readers.source import read_set, read_source

One = Callable[..., Record]
File = Callable[..., str]


def test_the_line_of_the_design_is_read_whole(one: One) -> None:
    """Every field of the documented line arrives in its place."""
    record = one(
        {
            "query_id": "q1",
            "query": "Who?",
            "answer": "It was Ada, in 1843.",
            "reference_answer": "Ada",
            "passages": [{"doc_id": "d7", "text": "Ada wrote it.", "score": 0.81}],
            "relevant": {"d7": 2},
            "gold_spans": [{"doc_id": "d7", "start": 10, "end": 95}],
            "answerable": True,
            "tags": ["golden"],
            "citations": [{"start": 0, "end": 10, "doc_id": "d7"}],
            "segments": {"type": "multi_hop", "tenant": "acme"},
            "latency_ms": {"retrieval": 31, "generation": 820},
            "tokens": {"input": 900, "output": 60},
        }
    )
    assert record.example.references == ("Ada",)
    assert record.example.relevant == (Relevant(("d7",), 2.0),)
    assert record.example.gold_spans == (Span("d7", 10, 95),)
    assert record.example.segments == {"type": "multi_hop", "tenant": "acme"}
    assert (record.example.answerable, record.example.tags) == (True, frozenset({"golden"}))
    assert record.response == Response(
        "q1",
        passages=(Passage("d7", "d7", "Ada wrote it.", 0.81),),
        answer="It was Ada, in 1843.",
        citations=(Citation(0, 10, "d7"),),
        latency_ms={"retrieval": 31.0, "generation": 820.0},
        tokens={"input": 900, "output": 60},
    )
    assert (record.source, record.line) == ("one.jsonl", 1)


def test_a_query_alone_has_no_response(one: One) -> None:
    """A row without any field of a response yields None, not an empty response."""
    assert one({"query": "Who?"}).response is None
    assert one({"query": "Who?", "answer": None, "passages": None}).response is None


def test_the_id_of_a_query_is_its_content(one: One, file: File) -> None:
    """A query without an id keeps its identity when the file is sorted, and blanks do not matter."""
    assert one({"query": "Who  wrote\nit?"}).example.query_id == derive_query_id("Who wrote it?")
    assert derive_query_id("Who wrote it?") == "q-" + hashlib.sha256(b"Who wrote it?").hexdigest()[:10]
    forth = read_set(file("a.jsonl", {"query": "a"}, {"query": "b"}))
    back = read_set(file("b.jsonl", {"query": "b"}, {"query": "a"}))
    assert {e.query_id: e for e in forth.examples} == {e.query_id: e for e in back.examples}
    assert forth.version == back.version


def test_a_text_without_id_is_named_by_its_content(one: One) -> None:
    """A passage without doc_id gets text: and 12 hex digits of its NFKC, whitespace-folded text."""
    record = one({"query": "?", "passages": ["ﬁne  print\n"]})
    assert record.response is not None
    assert record.response.passages is not None
    expected = "text:" + hashlib.sha256(b"fine print").hexdigest()[:12]
    assert record.response.passages[0] == Passage(expected, expected, "ﬁne  print\n")
    assert derive_doc_id("fine print") == expected


def test_one_text_or_many_is_one_example(one: One) -> None:
    """Acceptance case 27: contexts as a list and as one string are one example each."""
    for contexts, count in (("one text", 1), (["a", "b", "c"], 3)):
        record = one({"question": "?", "contexts": contexts, "answer": "x"})
        assert record.response is not None
        assert record.response.passages is not None
        assert len(record.response.passages) == count


def test_chunks_of_one_document_differ_in_passage_id(one: One) -> None:
    """A second text under one doc_id becomes #2; a copy of the same text stays the same passage."""
    chunks = [{"doc_id": "d", "text": text} for text in ("a", "b", "a", "c")]
    found = one({"query": "?", "passages": chunks}).response
    assert found is not None
    assert found.passages is not None
    assert [passage.passage_id for passage in found.passages] == ["d", "d#2", "d", "d#3"]
    assert {passage.doc_id for passage in found.passages} == {"d"}


def test_a_given_passage_id_is_never_taken_again(one: One) -> None:
    """A derived passage_id makes way for one that the row gives."""
    chunks = [
        {"doc_id": "d", "text": "a"},
        {"doc_id": "d", "text": "b"},
        {"doc_id": "d", "passage_id": "d#2", "text": "c"},
    ]
    found = one({"query": "?", "passages": chunks}).response
    assert found is not None
    assert found.passages is not None
    assert [passage.passage_id for passage in found.passages] == ["d", "d#3", "d#2"]


@pytest.mark.parametrize(
    ("given", "passages", "reason"),
    [
        ({"passages": []}, (), None),
        ({"passages": None}, None, "null"),
        ({}, None, "no field passages"),
        ({"passages": "__REDACTED__"}, None, "redacted"),
        ({"retrieved_docs": ["renamed"]}, None, "no field passages"),
    ],
)
def test_nothing_found_is_not_nothing_recorded(
    file: File, given: dict[str, Any], passages: tuple[()] | None, reason: str | None
) -> None:
    """Acceptance case 26: an empty list is an empty retrieval; absent, renamed, null or redacted is not recorded."""
    warnings: list[str] = []
    (record,) = read_source(file("a.jsonl", {"query": "?", "answer": "x", **given}), warn=warnings.append)
    response = record.response
    assert response is not None
    assert response.passages == passages
    assert response.missing.get("passages") == reason
    fact = resolve_fact("response.texts", Facts(record.example, response))
    assert fact == () if reason is None else isinstance(fact, NotApplicable) and reason in fact.reason
    assert bool(warnings) == ("retrieved_docs" in given)


def test_missing_passages_are_known_before_anything_is_asked(one: One) -> None:
    """Acceptance case 26: what needs the passages is not applicable whatever the judge would have said."""
    response = one({"query": "?", "answer": "x"}).response
    assert response is not None
    evidence = {"verify_answer": Evidence("k", "verify_answer", 1, "j", "failed", None)}
    fact = resolve_fact("verify_answer.support", Facts(one({"query": "?"}).example, response, evidence))
    assert fact == NotApplicable("passages not recorded: no field passages")


def test_redacted_texts_stay_apart(one: One) -> None:
    """Redacted passages keep their text for the metrics to see, and are not taken for one document."""
    response = one({"query": "?", "passages": ["__REDACTED__", "__REDACTED__"], "answer": "__REDACTED__"}).response
    assert response is not None
    assert response.passages is not None
    assert [passage.text for passage in response.passages] == ["__REDACTED__"] * 2
    assert len({passage.doc_id for passage in response.passages}) == 2
    assert (response.answer, response.missing, response.has_passage_texts) == (None, {"answer": "redacted"}, False)


def test_an_empty_answer_is_an_answer(one: One) -> None:
    """Empty text stays; null is not recorded."""
    empty, absent = one({"query": "?", "answer": ""}).response, one({"query": "?", "answer": None, "cost": 1}).response
    assert empty is not None
    assert absent is not None
    assert (empty.answer, "answer" in empty.missing) == ("", False)
    assert (absent.answer, absent.missing["answer"]) == (None, "null")


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"d1": 2, "d2": "0"}, (Relevant(("d1",), 2.0), Relevant(("d2",), 0.0))),
        ({"d1": 1, "d2": None}, (Relevant(("d1",)),)),
        (["d1", 7, "d1"], (Relevant(("d1",)), Relevant(("7",)))),
        ([["d1", "d2"], ["d3"]], (Relevant(("d1", "d2")), Relevant(("d3",)))),
        ([{"doc_ids": ["d1", "d2"], "grade": 3}, {"doc_id": "d3"}], (Relevant(("d1", "d2"), 3.0), Relevant(("d3",)))),
        ([{"doc_uri": "u", "content": "c"}, {"content": "c"}], (Relevant(("u",)), Relevant((derive_doc_id("c"),)))),
        ("d1", (Relevant(("d1",)),)),
        ({}, ()),
        ([], ()),
    ],
)
def test_relevant_comes_in_many_forms(one: One, given: Any, expected: tuple[Relevant, ...]) -> None:
    """Labels may be grades by id, ids, groups, or objects; a label that stands twice counts once."""
    assert one({"query": "?", "relevant": given}).example.relevant == expected


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ([{"start": 0, "end": 3, "doc_id": "d"}], (Citation(0, 3, "d"),)),
        ([{"start": 1, "end": 2, "passage_id": "d#2", "doc_id": "d"}], (Citation(1, 2, "d#2"),)),
        (["d", 9], (Citation(0, 5, "d"), Citation(0, 5, "9"))),
        ([{"doc_id": "d"}], (Citation(0, 5, "d"),)),
        ([], ()),
        (None, None),
    ],
)
def test_citations_by_offset_or_by_id(one: One, given: Any, expected: tuple[Citation, ...] | None) -> None:
    """An id alone credits the whole answer; an empty list cites nothing; null is a system that does not cite."""
    response = one({"query": "?", "answer": "12345", "citations": given}).response
    assert response is not None
    assert response.citations == expected


@pytest.mark.parametrize(
    ("field", "given", "expected"),
    [
        (
            "history",
            [{"role": "user", "content": "a"}, {"type": "ai", "text": "b"}],
            (Turn("user", "a"), Turn("assistant", "b")),
        ),
        ("history", [["human", "a"]], (Turn("user", "a"),)),
        (
            "history",
            [{"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "image"}]}],
            (Turn("user", "a"),),
        ),
        ("references", ["a", "b"], ("a", "b")),
        ("references", 42, ("42",)),
        ("reference_claims", [["the", "tower", "stands"], "b"], ("the tower stands", "b")),
        ("aspects", [], ()),
        ("criteria", {"tone": ["polite", "short"], "form": "a list"}, ("polite", "short", "a list")),
        ("answerable", "no", False),
        ("answerable", 1, True),
        ("segments", {"year": 2024, "new": True, "none": None}, {"year": "2024", "new": "true"}),
        ("tags", "golden; regression", frozenset({"golden", "regression"})),
        ("cluster", 7, "7"),
    ],
)
def test_example_fields(one: One, field: str, given: Any, expected: Any) -> None:
    """Each field of an example accepts the forms that people write."""
    assert getattr(one({"query": "?", field: given}).example, field) == expected


@pytest.mark.parametrize(
    ("field", "given", "expected"),
    [
        ("latency_ms", 12, {"total": 12.0}),
        ("latency_ms", "12.5", {"total": 12.5}),
        ("latency_ms", {"retrieval": 1, "rerank": None}, {"retrieval": 1.0}),
        ("tokens", 60, {"total": 60}),
        ("tokens", {"prompt_tokens": "900", "completion_tokens": 60.0}, {"input": 900, "output": 60}),
        ("cost", "0.002", 0.002),
        ("outcome", {"solved": True, "clicks": 2, "thumb": "up"}, {"solved": True, "clicks": 2.0, "thumb": "up"}),
        ("outcome", False, {"outcome": False}),
        ("weight", "20", 20.0),
        ("repeat", "1", 1),
        ("error", "", None),
        ("error", {"message": "time-out"}, "time-out"),
        ("candidates", ["a"], (Passage(derive_doc_id("a"), derive_doc_id("a"), "a"),)),
    ],
)
def test_response_fields(one: One, field: str, given: Any, expected: Any) -> None:
    """Each field of a response accepts the forms that people write."""
    response = one({"query": "?", "answer": "x", field: given}).response
    assert getattr(response, field) == expected


def test_a_failed_response_needs_no_other_reason(one: One) -> None:
    """Where the system failed, nothing else is said to be missing."""
    response = one({"query": "?", "error": "time-out"}).response
    assert response == Response(one({"query": "?"}).example.query_id, error="time-out")


def test_metadata_names_the_document(one: One) -> None:
    """LangChain's documents keep their id in metadata; an id beside a doc_id is the chunk's."""
    response = one(
        {
            "query": "?",
            "passages": [
                {"page_content": "a", "metadata": {"source": "s.pdf", "page": 3}},
                {"doc_id": "d", "id": "chunk-7", "content": "b", "hop": 1, "span": [2, 5], "updated_at": "2024-01-03"},
            ],
        }
    ).response
    assert response is not None
    assert response.passages == (
        Passage("s.pdf", "s.pdf", "a"),
        Passage("chunk-7", "d", "b", span=Span("d", 2, 5), hop=1, updated_at="2024-01-03"),
    )


def test_equal_queries_stay_two_where_ids_differ(file: File) -> None:
    """Acceptance case 74: duplicate query text stays two examples when the ids differ."""
    found = read_set(file("a.jsonl", {"query_id": "1", "query": "same"}, {"query_id": "2", "query": "same"}))
    assert [example.query_id for example in found.examples] == ["1", "2"]


def test_repeated_answers_are_one_example(file: File) -> None:
    """Several answers to one question are told apart by repeat, and the set holds the question once."""
    rows = [{"query_id": "1", "query": "q", "answer": text, "repeat": n} for n, text in enumerate("ab")]
    name = file("a.jsonl", *rows)
    assert [record.response and record.response.repeat for record in read_source(name)] == [0, 1]
    assert len(read_set(name)) == 1


def test_columns_of_the_users_own(file: File) -> None:
    """A mapping reads a column under any name, also inside an object, and frees its old meaning."""
    row = {"frage": "q", "answer": "gold", "out": {"text": "said"}, "thema": "tax", "n": 3}
    columns = {"query": "frage", "reference_answer": "answer", "answer": "out.text"}
    warnings: list[str] = []
    (record,) = read_source(file("a.jsonl", row), columns=columns, segments=["thema"], warn=warnings.append)
    assert (record.example.query, record.example.references) == ("q", ("gold",))
    assert record.response is not None
    assert record.response.answer == "said"
    assert record.example.segments == {"thema": "tax"}
    assert warnings == [
        "a.jsonl: columns not read: n. --map FIELD=COLUMN reads "
        "one, --segments COLUMN reports by it, --scores COLUMN reads its numbers."
    ]


def test_a_segment_of_the_object_segments_may_be_named(file: File) -> None:
    """To report by a column that stands in `segments` already is no mistake; a name that stands nowhere is one."""
    row = {"query": "q", "segments": {"topic": "tax"}}
    (record,) = read_source(file("a.jsonl", row), segments=["topic"])
    assert record.example.segments == {"topic": "tax"}
    (filed,) = read_source({"easy": ["How?"]}, segments=["category"])
    assert filed.example.segments == {"category": "easy"}
    with pytest.raises(DataError, match="no line has a column 'tenant'"):
        list(read_source(file("a.jsonl", row), segments=["topic", "tenant"]))


def test_unread_columns_are_named_once_with_the_nearest(file: File) -> None:
    """Columns that nothing reads are one warning, which names the field that was probably meant."""
    rows = [{"query": f"q{n}", "awnser": "x", "topic": "t", "answer": "y"} for n in range(3)]
    with pytest.warns(UserWarning, match=r"columns not read: awnser, topic \(did you mean answer=awnser\?\)") as caught:
        list(read_source(file("a.jsonl", *rows)))
    assert len(caught) == 1


def test_spelling_of_columns_is_forgiven(one: One) -> None:
    """Case, blanks and camel case do not matter."""
    record = one({"User Input": "q", "actualOutput": "x", "Ground Truth": "g"})
    assert record.response is not None
    assert (record.example.query, record.response.answer, record.example.references) == ("q", "x", ("g",))


def test_characters_that_no_store_keeps_are_replaced(file: File) -> None:
    """Lone surrogates and NUL become U+FFFD, one for one, with a warning; pairs and control characters survive."""
    line = r'{"query": "\ud83d\ude00 \ud800x", "answer": "a\u0000b\u0001<b>", "passages": ["\udc00"]}'
    warnings: list[str] = []
    (record,) = read_source(file("a.jsonl", line), warn=warnings.append)
    assert record.response is not None
    assert record.response.passages is not None
    assert record.example.query == "😀 �x"
    assert record.response.answer == "a�b\x01<b>"
    assert record.response.passages[0].text == "�"
    record.example.query.encode()
    assert warnings == ["a.jsonl: 3 texts contained NUL or half a character (lone surrogate), replaced by U+FFFD."]


def test_a_passage_of_ten_megabytes_is_read(one: One) -> None:
    """Long texts are no problem."""
    text = "lorem ipsum " * 900_000
    response = one({"query": "?", "passages": [{"doc_id": "d", "text": text}]}).response
    assert response is not None
    assert response.passages is not None
    assert response.passages[0].text == text


def test_labels_that_name_documents_another_way_are_noticed(file: File) -> None:
    """When no label is ever among the passages, the reader asks whether both name documents the same way."""
    rows = [{"query": f"q{n}", "relevant": [f"d{n}"], "passages": ["text"]} for n in range(5)]
    warnings: list[str] = []
    list(read_source(file("a.jsonl", *rows), warn=warnings.append))
    assert warnings == [
        "a.jsonl: none of 5 examples has a labeled document among its passages. Check that labels and passages use "
        "the same document ids."
    ]


def test_labels_by_text_that_never_match_are_noticed(file: File) -> None:
    """Reference texts that are not the retriever's chunks would make recall 0: the reader says so."""
    rows = [
        {"user_input": f"q{n}", "reference_contexts": ["long chunk"], "retrieved_contexts": ["c"]} for n in range(2)
    ]
    warnings: list[str] = []
    (first, _) = read_source(file("a.jsonl", *rows), warn=warnings.append)
    assert first.example.relevant == (Relevant((derive_doc_id("long chunk"),)),)
    assert len(warnings) == 1
    assert "only 0 of 2 examples have one in their passages word for word" in warnings[0]


def test_a_conflict_between_two_names_is_not_silent(file: File) -> None:
    """Where a row has our name and a tool's for one field, ours is read and the other is named."""
    warnings: list[str] = []
    (record,) = read_source(
        file("a.jsonl", {"query": "q", "answer": "ours", "response": "theirs"}), warn=warnings.append
    )
    assert record.response is not None
    assert record.response.answer == "ours"
    assert "columns not read: response" in warnings[0]


def test_wrong_option_is_refused_before_reading(file: File) -> None:
    """A mapping onto a field that does not exist is a usage error with the nearest names."""
    name = file("a.jsonl", {"query": "q"})
    with pytest.raises(UnknownName, match="no field 'anser'; nearest: answer"):
        read_source(name, columns={"anser": "x"})
