"""Functions, classes and objects as systems."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from pydantic import BaseModel

from ragauge.core.errors import UnknownName, UsageError
from ragauge.core.example import Turn
from ragauge.core.response import Citation, Passage, Response
from ragauge.systems.base import Question, SystemTrouble, classify_error
from ragauge.systems.system_lookup import find_system

QUESTION = Question("q1", "Why?", (Turn("user", "Hi"), Turn("assistant", "Hello")))
PASSAGES = (Passage("p1", "d1", "one", 0.5), Passage("p2", "d2", "two"))
PARTS = {"answer": "Because.", "passages": [{"doc_id": "d1", "text": "one", "score": 0.5}]}


def respond(target: Any, passages: Sequence[Passage] | None = None, **settings: Any) -> Response:
    """What a system makes of one question."""
    system = find_system(target, settings)

    async def asked() -> Response:
        try:
            return await system.respond(QUESTION, passages)
        finally:
            await system.close()

    return asyncio.run(asked())


@dataclass
class Document:
    """As LangChain's and Haystack's look."""

    page_content: str
    metadata: dict[str, str]


class Answer(NamedTuple):
    """An answer with names."""

    answer: str
    contexts: list[str]


@dataclass
class Said:
    """An answer in a class of its own."""

    response: str
    source: str = "ignored"


class Model(BaseModel):
    """An answer as pydantic has it."""

    answer: str
    documents: list[str]
    tokens: dict[str, int]


class Thing:
    """An answer as plain attributes."""

    def __init__(self) -> None:
        self.answer = "Because."
        self.contexts = ["one"]


ONE = (Passage("text:7692c3ad3540", "text:7692c3ad3540", "one"),)


@pytest.mark.parametrize(
    ("returned", "answer", "passages"),
    [
        ("Because.", "Because.", None),
        ("", "", None),
        (PARTS, "Because.", (Passage("d1", "d1", "one", 0.5),)),
        (("Because.", ["one"]), "Because.", ONE),
        ((None, ["one"]), None, ONE),
        (("Because.", []), "Because.", ()),
        (Answer("Because.", ["one"]), "Because.", ONE),
        (Said("Because."), "Because.", None),
        (Model(answer="Because.", documents=["one"], tokens={"output": 2}), "Because.", ONE),
        (Thing(), "Because.", ONE),
        ({"response": "Because.", "contexts": ["one"], "id": "chatcmpl-7"}, "Because.", ONE),
        ({"result": "Because."}, "Because.", None),
        ({"choices": [{"message": {"role": "assistant", "content": "Because."}}]}, "Because.", None),
        ({"answer": None, "contexts": ["one"]}, None, ONE),
        (("Because.", [Document("one", {"source": "a.md"})]), "Because.", (Passage("a.md", "a.md", "one"),)),
        (("Because.", [(Document("one", {"id": "d1"}), 0.5)]), "Because.", (Passage("d1", "d1", "one", 0.5),)),
        (("Because.", [PASSAGES[0]]), "Because.", (PASSAGES[0],)),
        (Response("other", 7, PASSAGES, answer="Because."), "Because.", PASSAGES),
        (["Because.", [{"doc_id": "d1", "text": "one", "score": 0.5}]], "Because.", (Passage("d1", "d1", "one", 0.5),)),
        ([{"doc_id": "d1", "text": "one", "score": 0.5}], None, (Passage("d1", "d1", "one", 0.5),)),
        ([], None, ()),
        ([{"role": "user", "content": "Why?"}, {"role": "assistant", "content": "Because."}], "Because.", None),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_may_be_returned(returned: Any, answer: str | None, passages: tuple[Passage, ...] | None) -> None:
    """Texts, pairs, dictionaries, named tuples, data classes, pydantic models, objects and Responses are understood."""
    found = respond(lambda query: returned)
    assert (found.query_id, found.repeat, found.answer, found.passages) == ("q1", 0, answer, passages)


@pytest.mark.parametrize(
    ("returned", "said"),
    [
        (None, "it returned null. Return a text, \\(answer, passages\\)"),
        (42, "it returned number 42"),
        ((1, 2, 3), "it returned a list of 3"),
        ([{"score": 1.0}], r"passages\[0\] must be an object with doc_id or text"),
        ({"foo": "bar"}, "it returned neither an answer nor passages \\(an object with foo\\)"),
        ({"answer": 3.5, "passages": 7}, "passages must be a text, a list of texts, or a list of objects"),
        (("a", [{"score": 1.0}]), r"passages\[0\] must be an object with doc_id or text"),
        ({"answer": "a", "latency_ms": -1}, "latency_ms"),
    ],
)
def test_what_may_not_be_returned(returned: Any, said: str) -> None:
    """Anything else is unreadable: what was returned is said, and what may be."""
    with pytest.raises(SystemTrouble, match=said) as caught:
        respond(lambda query: returned)
    assert caught.value.kind == "unreadable"


def test_error_that_the_system_reports_is_its_failure() -> None:
    """A field error is a failure of kind reported, with its message."""
    with pytest.raises(SystemTrouble, match="the index is down") as caught:
        respond(lambda query: {"answer": "", "error": {"message": "the index is down"}})
    assert caught.value.kind == "reported"


def test_rest_of_a_response_is_read() -> None:
    """Citations, candidates, tokens, cost and latency by stage are taken over."""
    found = respond(
        lambda query: {
            **PARTS,
            "candidates": ["one", "two"],
            "citations": [{"start": 0, "end": 3, "doc_id": "d1"}],
            "tokens": {"prompt_tokens": 9, "completion_tokens": 2},
            "cost": 0.01,
            "latency_ms": {"retrieval": 3},
        }
    )
    assert found.citations == (Citation(0, 3, "d1"),)
    assert (found.tokens, found.cost, found.latency_ms) == ({"input": 9, "output": 2}, 0.01, {"retrieval": 3.0})
    assert [one.text for one in found.candidates or ()] == ["one", "two"]


@pytest.mark.parametrize(
    ("passage", "rule"),
    [
        ({"doc_id": "d1", "text": "one"}, None),
        ({"id": "d1", "text": "one"}, None),
        ({"text": "one", "metadata": {"source": "a.md"}}, "from metadata.source"),
        ("one", "from a hash of the text"),
    ],
)
def test_rule_that_gave_the_id_is_recorded(passage: Any, rule: str | None) -> None:
    """Where a doc_id was not given, `missing` says by which rule it was derived."""
    assert respond(lambda query: ("a", [passage])).missing.get("doc_id") == rule


def test_equal_texts_have_equal_ids_however_they_are_spaced() -> None:
    """The id of a text is the hash of its Unicode-normalised, whitespace-folded form."""
    found = respond(lambda query: ("a", ["caf\u00e9  au\nlait", "cafe\u0301 au lait"]))
    assert len({one.doc_id for one in found.passages or ()}) == 1


class Rag:
    """Retrieves and generates in steps of their own."""

    def __init__(self, k: int = 2) -> None:
        self.k = k
        self.seen: list[Any] = []

    def retrieve(self, query: str) -> list[str]:
        return ["one", "two", "three"][: self.k]

    async def generate(self, query: str, passages: list[str]) -> str:
        self.seen.append(passages)
        return f"from {len(passages)}"


def test_retrieve_and_generate() -> None:
    """Own retrieval hands on what retrieve returned; handed passages come as texts where texts are annotated."""
    rag = Rag()
    found = respond(rag)
    assert (found.answer, [one.text for one in found.passages or ()]) == ("from 2", ["one", "two"])
    assert found.latency_ms.keys() == {"retrieval", "generation"}
    given = respond(rag, PASSAGES[:1])
    assert (given.answer, given.passages) == ("from 1", PASSAGES[:1])
    assert respond(rag, ()).passages == ()
    assert rag.seen == [["one", "two"], ["one"], []]


def words(query: str) -> Iterator[Any]:
    """A function that streams."""
    yield from ("Be", "cause.")


def words_and_sources(query: str) -> Iterator[Any]:
    """A function that streams, and says at the end where it has it from."""
    yield from words(query)
    yield {"passages": ["one"]}


async def slow_words(query: str) -> AsyncIterator[Any]:
    """A coroutine function that streams."""
    for word in words(query):
        await asyncio.sleep(0)
        yield word


async def opened(query: str) -> AsyncIterator[Any]:
    """A coroutine that returns a stream."""
    return slow_words(query)


@pytest.mark.parametrize(
    ("function", "passages"), [(words, None), (words_and_sources, ONE), (slow_words, None), (opened, None)]
)
def test_streams_are_read_to_their_end(function: Any, passages: Any) -> None:
    """The texts of a generator, plain or async, joined are the answer; a dictionary among them says the rest."""
    found = respond(function)
    assert (found.answer, found.passages) == ("Because.", passages)


def test_retriever_that_yields() -> None:
    """A function that yields passages is a retriever: there is no answer, and the reason for that."""

    def retrieve(query: str) -> Iterator[Any]:
        yield {"doc_id": "d1", "text": "one", "score": 0.5}

    found = respond(retrieve)
    assert (found.passages, found.answer) == ((Passage("d1", "d1", "one", 0.5),), None)
    assert found.missing["answer"] == "retrieval only"


def test_question_by_keyword_only() -> None:
    """A function whose only argument has to be named gets the question by its name."""

    def answer(*, question: str) -> str:
        return f"{question} Because."

    assert respond(answer).answer == "Why? Because."


@pytest.mark.parametrize(
    ("annotated", "setting", "seen"),
    [
        (list[str], None, ["one", "two"]),
        (Sequence[Passage], None, list(PASSAGES)),
        (list[dict[str, str]], None, None),
        (Any, "text", ["one", "two"]),
        (Any, "passage", list(PASSAGES)),
        (list[str], "dict", None),
    ],
)
def test_form_of_handed_passages(annotated: Any, setting: str | None, seen: Any) -> None:
    """A function with a parameter for passages gets them in the form of its annotation, or of the setting."""
    got: list[Any] = []

    def answer(query: str, contexts: Any = None) -> str:
        got.append(contexts)
        return "a"

    answer.__annotations__["contexts"] = annotated
    settings = {"passages_as": setting} if setting else {}
    assert respond(answer, PASSAGES, **settings).passages == PASSAGES
    as_dicts = [
        {"doc_id": "d1", "passage_id": "p1", "text": "one", "score": 0.5},
        {"doc_id": "d2", "passage_id": "p2", "text": "two", "score": None},
    ]
    assert got == [as_dicts if seen is None else seen]


def test_retriever_alone_is_a_run_without_answers() -> None:
    """An object that only retrieves gives passages, and says why there is no answer."""

    class Retriever:
        async def retrieve(self, query: str) -> list[dict[str, Any]]:
            return [{"doc_id": "d1", "text": "one"}]

    found = respond(Retriever())
    assert (found.answer, found.missing["answer"]) == (None, "retrieval only")
    assert [one.doc_id for one in found.passages or ()] == ["d1"]


def test_history_goes_to_who_asks_for_it() -> None:
    """A parameter history gets the earlier turns as roles and contents."""
    got: list[Any] = []

    def answer(query: str, *, history: Any) -> str:
        got.append(history)
        return query

    respond(answer)
    assert got == [[{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]]


class Called:
    """An object whose call is a coroutine."""

    async def __call__(self, query: str) -> str:
        return query


class Query:
    """Has a method of another name."""

    def ask(self, query: str) -> str:
        return query


def plus(query: str, k: int) -> str:
    return f"{query} {k}"


@pytest.mark.parametrize(
    "target",
    [Called(), functools.partial(plus, k=1), Query().ask, lambda *args: args[0], lambda query, **rest: query],
    ids=["object", "partial", "method", "args", "kwargs"],
)
def test_what_can_be_called(target: Callable[..., Any]) -> None:
    """Objects, partials, methods and functions of any arguments are called with the question alone."""
    assert respond(target).answer


def test_class_is_made_with_its_arguments() -> None:
    """A class is called for its object, with the arguments of the settings, which stand in the configuration."""
    system = find_system(Rag, {"arguments": {"k": 3}, "config": {"model": "m"}, "name": "three"})
    assert (system.name, system.config) == ("three", {"model": "m", "arguments": {"k": 3}})
    assert respond(Rag, arguments={"k": 3}).answer == "from 3"
    with pytest.raises(UsageError, match="could not be created: TypeError"):
        find_system(Rag, {"arguments": {"depth": 3}})
    with pytest.raises(UsageError, match="arguments need a class"):
        find_system(Rag(), {"arguments": {"k": 3}})
    with pytest.raises(UnknownName, match=r"nearest: arguments.* Put values that are only recorded under config"):
        find_system(Rag, {"argument": {}})
    with pytest.raises(UnknownName, match="no passages_as 'texts'; nearest: text"):
        find_system(Rag, {"passages_as": "texts"})


def test_variants_follow_from_what_takes_passages() -> None:
    """Only what takes passages can be asked for more than own retrieval."""
    assert find_system(Rag()).variants == {"own", "oracle", "closed_book", "replayed"}
    assert find_system(lambda query: query).variants == {"own"}
    assert find_system(lambda query, passages=None: query).variants >= {"oracle"}


class TooManyRequests(Exception):  # noqa: N818 - as a client calls it
    """As a client says it."""


class StatusError(Exception):
    """As clients of HTTP say it."""

    def __init__(self, status: int, headers: dict[str, str]) -> None:
        super().__init__("no")
        self.response = type("Reply", (), {"status_code": status, "headers": headers})()


@pytest.mark.parametrize(
    ("error", "kind", "after"),
    [
        (TooManyRequests("slow"), "rate_limited", None),
        (StatusError(429, {"retry-after": "3"}), "rate_limited", 3.0),
        (StatusError(503, {}), "server", None),
        (StatusError(401, {}), "auth", None),
        (TimeoutError(), "timeout", None),
        (ConnectionResetError("gone"), "connection", None),
        (KeyError("x"), "exception", None),
    ],
)
def test_what_an_exception_means(error: Exception, kind: str, after: float | None) -> None:
    """Exceptions of any client are known by their status, their retry_after and their names."""
    found = classify_error(error)
    assert (found.kind, found.retry_after) == (kind, after)


def test_misspelt_object_is_told_with_the_nearest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Own functions, classes and objects that may answer are what could have been meant; constants are not."""
    source = "from json import loads\nclass Bot:\n    pass\nrag = Bot()\nTEXT = 'x'\ndef answer(q):\n    return q\n"
    (tmp_path / "made_here.py").write_text(source, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UnknownName, match=r"no name in made_here 'rags'; nearest: rag\. Known: Bot, answer, rag\."):
        find_system("made_here:rags")
