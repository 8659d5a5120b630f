"""Conversations: one example a turn, whatever tool wrote them, and prompts that hold their context."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ragauge.core.errors import DataError, UsageError
from ragauge.core.example import Turn
from ragauge.core.response import Record
from ragauge.readers.source import read_joined, read_source


def said(role: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"role": role, "content": content, **more}


FERRY = [
    said("system", "You sell tickets."),
    said("user", "What does the ferry cost?"),
    said("assistant", "A crossing costs 12 euros."),
    said("user", [{"type": "text", "text": "And with my dog?"}, {"type": "image_url", "image_url": {"url": "d.png"}}]),
    said("assistant", "Dogs travel free."),
]
FIRST = (Turn("system", "You sell tickets."),)
SECOND = (*FIRST, Turn("user", "What does the ferry cost?"), Turn("assistant", "A crossing costs 12 euros."))
COMPLETION = {"id": "chatcmpl-7", "choices": [{"index": 0, "message": said("assistant", "Dogs travel free.")}]}


def read(*rows: dict[str, Any], **options: Any) -> list[Record]:
    return list(read_source(list(rows), **options))


def told(record: Record) -> tuple[Any, ...]:
    """Id, question, answer, texts of the passages, cluster."""
    response = record.response
    passages = None if response is None or response.passages is None else [one.text for one in response.passages]
    example = record.example
    return example.query_id, example.query, response and response.answer, passages, example.cluster


def test_a_whole_chat_is_one_example_a_turn() -> None:
    """Each answer of a chat is an example with its own question, the turns before it are its history."""
    first, second = read({"messages": FERRY})
    assert told(first) == ("conv1-t1", "What does the ferry cost?", "A crossing costs 12 euros.", None, "conv1")
    assert told(second) == ("conv1-t2", "And with my dog?", "Dogs travel free.", None, "conv1")
    assert (first.example.history, second.example.history) == (FIRST, SECOND)


@pytest.mark.parametrize(
    "row",
    [
        {"messages": FERRY[:-1], "response": COMPLETION},
        {"messages": FERRY[:-1], **COMPLETION},
        {"request": {"model": "m", "messages": FERRY[:-1]}, "response": COMPLETION},
        {"request": {"body": {"messages": FERRY[:-1]}}, "response": {"status_code": 200, "body": COMPLETION}},
        {
            "input": FERRY[:-1],
            "output": [
                {"type": "reasoning", "summary": []},
                {
                    "type": "message",
                    "role": "assistant",
                    "content": [{"type": "output_text", "text": "Dogs travel free."}],
                },
            ],
            "id": "chatcmpl-7",
        },
    ],
)
def test_a_request_with_its_completion_is_one_example(row: dict[str, Any]) -> None:
    """A chat with its answer beside it is one request: earlier turns are requests of their own, elsewhere."""
    (record,) = read(row)
    assert told(record) == ("chatcmpl-7", "And with my dog?", "Dogs travel free.", None, None)
    assert record.example.history == SECOND
    (record,) = read({**row, "conversation_id": "c9", "id": None})
    assert told(record) == ("c9-t2", "And with my dog?", "Dogs travel free.", None, "c9")


def test_a_chat_that_ends_with_a_question() -> None:
    """It is one question to be answered, with its history; among whole conversations each of its turns is read."""
    (record,) = read({"messages": FERRY[:-1], "ideal": "Free."})
    assert (record.example.query, record.example.history, record.response) == ("And with my dog?", SECOND, None)
    assert record.example.references == ("Free.",)
    logged = read({"messages": FERRY[:-1]}, {"messages": FERRY})
    assert [told(one)[:3] for one in logged[:2]] == [
        ("conv1-t1", "What does the ferry cost?", "A crossing costs 12 euros."),
        ("conv1-t2", "And with my dog?", None),
    ]
    assert [one.example.query_id for one in logged[2:]] == ["conv2-t1", "conv2-t2"]


def test_ragas_multi_turn_samples() -> None:
    """Messages by type are turns; what tools returned is what the answer rests on; the reference is the last turn's."""
    sample = {
        "user_input": [
            {"content": "Where is my parcel?", "metadata": None, "type": "human"},
            {"content": {"text": "", "tool_calls": []}, "type": "ai"},
            {"content": "Parcel 7 is in Porto.", "metadata": None, "type": "tool"},
            {"content": "It is in Porto.", "metadata": None, "type": "ai", "tool_calls": None},
            {"content": "Since when?", "metadata": None, "type": "human"},
            {"content": "Since Monday.", "metadata": None, "type": "ai", "tool_calls": None},
        ],
        "reference": "Since Monday.",
        "rubrics": None,
    }
    first, second = read(sample)
    assert told(first) == ("conv1-t1", "Where is my parcel?", "It is in Porto.", ["Parcel 7 is in Porto."], "conv1")
    assert told(second) == ("conv1-t2", "Since when?", "Since Monday.", None, "conv1")
    assert second.example.history == (Turn("user", "Where is my parcel?"), Turn("assistant", "It is in Porto."))
    assert (first.example.references, second.example.references) == ((), ("Since Monday.",))


CALL = {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "type": "function"}]}
HIT = "磨坊由王明经营。"


@pytest.mark.parametrize(
    "returned",
    [
        {"role": "tool", "tool_call_id": "c1", "content": HIT},
        {"role": "tool", "content": [{"type": "text", "text": HIT}]},
        {"role": "tool", "content": [{"id": "d1", "page_content": HIT}]},
        {"role": "tool", "content": {"hits": [{"id": "d1", "text": HIT}], "took": 3}},
        {"role": "tool", "content": json.dumps({"results": [{"id": "d1", "text": HIT}]})},
        {"role": "function", "name": "search", "content": json.dumps([HIT])},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": HIT}]},
        {"role": "user", "content": [{"type": "tool_result", "content": [{"type": "text", "text": HIT}]}]},
        {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": HIT}]},
        {"type": "function_call_output", "call_id": "c1", "output": HIT},
    ],
)
def test_what_a_tool_returned_is_what_the_answer_rests_on(returned: dict[str, Any]) -> None:
    """Its texts are passages, however the message holds them, and nothing has to be said of it."""
    warned: list[str] = []
    chat = [said("user", "谁经营磨坊？"), CALL, returned, said("assistant", "王明。")]
    (record,) = read({"messages": chat}, warn=warned.append)
    assert told(record)[1:4] == ("谁经营磨坊？", "王明。", [HIT])
    assert warned == []


@pytest.mark.parametrize("returned", ["[]", [], {"results": []}, '{"results": [], "took": 3}'])
def test_a_tool_that_found_nothing_is_an_empty_retrieval(returned: Any) -> None:
    """An empty list, and an object that names its results, say that nothing was found."""
    chat = [said("user", "Wer?"), CALL, {"role": "tool", "content": returned}, said("assistant", "Niemand.")]
    (record,) = read({"messages": chat})
    assert told(record)[3] == []


@pytest.mark.parametrize(
    ("returned", "beside", "role"),
    [
        ({"role": "tool", "content": [{"type": "image_url", "image_url": {"url": "https://a.org/a.png"}}]}, {}, "tool"),
        ({"role": "ipython", "content": "Zwei Treffer."}, {}, "ipython"),
        ({"role": "tool", "content": "Zwei Treffer."}, {"contexts": ["Ada Brandt leitet die Mühle."]}, "tool"),
        ({"role": "tool", "content": {"rows": 2, "took": 3}}, {}, "tool"),
    ],
)
def test_tools_that_are_not_read_are_named(returned: dict[str, Any], beside: dict[str, Any], role: str) -> None:
    """A message of a tool, or of a role that nobody knows, whose text is no passage is said, with what to do."""
    warned: list[str] = []
    chat = [said("user", "Wer leitet die Mühle?"), CALL, returned, said("assistant", "Ada Brandt.")]
    (record,) = read({"messages": chat, **beside}, warn=warned.append)
    assert told(record)[2:4] == ("Ada Brandt.", beside.get("contexts"))
    assert [f"1 message from tools not read as passages (role {role})" in one for one in warned] == [True]
    assert warned[0].endswith("--map passages=COLUMN.")


def test_deepeval_conversations(tmp_path: Any) -> None:
    """Turns of deepeval keep their own retrieval context, in a list, in a text, and in the file of a test run."""
    turns = [
        said("user", "What does it cost?", retrieval_context=None),
        said("assistant", "12 euros.", retrieval_context=["The ferry costs 12 euros."]),
        said("user", "How long is it?", retrieval_context=None),
        said("assistant", "An hour.", retrieval_context=["The crossing takes an hour."]),
    ]
    case = {"name": "ferry", "turns": turns, "scenario": None, "context": ["It sails daily."], "expectations": None}
    camel = [{**turn, "retrievalContext": turn["retrieval_context"]} for turn in turns]
    for turn in camel:
        del turn["retrieval_context"]
    test_run = {"testRunData": {"testCases": [], "conversationalTestCases": [{"name": "ferry", "turns": camel}]}}
    path = tmp_path / "run.json"
    path.write_text(json.dumps(test_run), encoding="utf-8")
    wanted = [
        ("ferry-t1", "What does it cost?", "12 euros.", ["The ferry costs 12 euros."], "ferry"),
        ("ferry-t2", "How long is it?", "An hour.", ["The crossing takes an hour."], "ferry"),
    ]
    quiet: dict[str, Any] = {"warn": lambda _: None}
    for found in (
        read(case, **quiet),
        read({**case, "turns": json.dumps(turns)}, **quiet),
        [*read_source(path, **quiet)],
    ):
        assert [told(one) for one in found] == wanted
    assert [bool(one.example.relevant) for one in read(case, **quiet)] == [False, True]  # its context is no passage


def test_what_a_row_says_beside_a_chat() -> None:
    """Labels and passages beside a chat are about its last turn, segments and the conversation's id about all."""
    row = {"messages": FERRY, "thread_id": "t", "contexts": ["Dogs go free."], "reference": "r", "topic": "dogs"}
    first, second = read(row, segments=["topic"])
    assert [told(one)[3:] for one in (first, second)] == [(None, "t"), (["Dogs go free."], "t")]
    assert [dict(one.example.segments) for one in (first, second)] == [{"topic": "dogs"}] * 2
    assert [one.example.references for one in (first, second)] == [(), ("r",)]
    assert [told(one)[1] for one in read({"log": FERRY}, columns={"query": "log"})] == [told(first)[1], told(second)[1]]


def test_answers_to_a_set_of_conversations() -> None:
    """A file of chats answers a set by the ids of its turns."""
    asked = [{"query_id": "conv1-t2", "query": "And with my dog?", "reference": "Free."}]
    found = read_joined(asked, [{"messages": FERRY}], on_unknown="warn", warn=lambda _: None)
    assert [told(one)[:3] for one in found] == [("conv1-t2", "And with my dog?", "Dogs travel free.")]


PROMPT = "Use what follows.\n\nContext:\nThe ferry costs 12 euros.\n\nIt sails daily.\n\nQuestion: What does it cost?"
FORM = "Context: {context} Question: {query}"


@pytest.mark.parametrize(
    ("marker", "text"),
    [
        (FORM, PROMPT),
        (" Context:{context}Question:\n{question}".replace("question", "query"), PROMPT),
        ("{query} Context: {context}", "What does it cost?\nContext:\nThe ferry costs 12 euros.\n\nIt sails daily."),
        (
            "<docs>{context}</docs>{query}",
            "<docs>The ferry costs 12 euros.\n \nIt sails daily.</docs>\nWhat does it cost?",
        ),
        ("Context:", "What does it cost?\n\nContext:\nThe ferry costs 12 euros.\n\nIt sails daily."),
        ("Context:", "Context:\nThe ferry costs 12 euros.\n\nIt sails daily.\n\nWhat does it cost?"),
    ],
)
def test_a_prompt_is_parted_where_the_user_says_how(marker: str, text: str) -> None:
    """The form of a prompt, or the text before its context, gives question and passages, one a paragraph."""
    (record,) = read({"messages": [said("user", text), said("assistant", "12 euros.")]}, context_marker=marker)
    assert told(record)[1:4] == ("What does it cost?", "12 euros.", ["The ferry costs 12 euros.", "It sails daily."])


def test_earlier_prompts_are_parted_too() -> None:
    """History keeps the questions of earlier prompts without their context, and a system's context is a passage."""
    chat = [said("user", PROMPT), said("assistant", "12."), said("user", PROMPT.replace("it cost", "a dog cost"))]
    (record,) = read({"messages": chat, "answer": "Nothing."}, context_marker=FORM)
    assert record.example.history == (Turn("user", "What does it cost?"), Turn("assistant", "12."))
    chat = [said("system", "Be kind.\nContext: It sails daily."), said("user", "When?"), said("assistant", "Daily.")]
    (record,) = read({"messages": chat}, context_marker="Context:")
    assert (told(record)[1:4], record.example.history) == (
        ("When?", "Daily.", ["It sails daily."]),
        (Turn("system", "Be kind."),),
    )


def test_a_long_question_is_questioned() -> None:
    """Questions as long as prompts, or with the same lines, are read as they are; a warning says what they may be."""
    warnings: list[str] = []
    long = PROMPT.replace("daily", "daily " * 300)
    (record,) = read({"query": long, "answer": "12 euros."}, warn=warnings.append)
    assert record.example.query == long
    asks = (
        "characters, with lines like 'Context:', 'Question:', and no separate passages. Describe the "
        "prompt's form: --context-marker 'Context: {context} Question: {query}'."
    )
    hold = "may be whole prompts that include the retrieved passages: up to"
    assert warnings == [f"list: 1 question {hold} {len(long):,} {asks}"]
    read({"query": long, "answer": "12 euros.", "passages": []}, warn=warnings.append)
    assert len(warnings) == 1
    short = [{"query_id": str(n), "query": PROMPT.replace("12", str(n)), "answer": "a"} for n in range(5, 8)]
    read(*short[:1], warn=warnings.append)
    assert len(warnings) == 1
    read(*short, warn=warnings.append)
    assert warnings[1:] == [f"list: 3 questions {hold} {len(short[0]['query']):,} {asks}"]


def test_conversations_without_a_name_are_questioned() -> None:
    """Requests of one conversation that nothing holds together are told in a warning; with an id they are a cluster."""
    rows = [
        {"query_id": f"r{n}", "messages": FERRY[1:n], "response": {"choices": [{"message": said("assistant", "a")}]}}
        for n in (2, 4)
    ]
    rows.append({**rows[-1], "query_id": "r6", "messages": [*FERRY[1:], said("user", "And a cat?")]})
    warnings: list[str] = []
    assert [one.example.cluster for one in read(*rows, warn=warnings.append)] == [None] * 3
    assert [text[:52] for text in warnings] == ["list: 2 examples start with the same conversation as"]
    named = read(*({**row, "session_id": "s"} for row in rows))
    assert [one.example.cluster for one in named] == ["s"] * 3


def test_a_marker_that_does_not_fit_is_refused() -> None:
    """A marker that fits no question is refused, and one with the same instruction before it each time."""
    rows = [{"query_id": str(n), "query": f"{PROMPT} {n}", "answer": "12."} for n in range(2)]
    with pytest.raises(DataError, match="no question matches the form 'Kontext:'"):
        read(*rows, context_marker="Kontext:")
    with pytest.raises(DataError, match="The text before it never changes"):
        read(*rows, context_marker="Context:")
    for form in ("Context: {context}", " ", "{query}{query}{context}"):
        with pytest.raises(UsageError, match="context_marker: expected a text, or a template with"):
            read(*rows, context_marker=form)


def test_a_chat_without_a_question() -> None:
    """A chat in which nobody asks is left out, with a warning; a file of such chats holds no example."""
    greeting = {"messages": [said("system", "Be kind."), said("assistant", "How can I help?")]}
    warnings: list[str] = []
    assert len(read(greeting, {"messages": FERRY}, greeting, warn=warnings.append)) == 2
    assert warnings == ["list: 2 chats skipped: no question in them."]
    with pytest.raises(DataError, match="it contains no examples"):
        read(greeting)
