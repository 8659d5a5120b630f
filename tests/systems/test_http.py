"""Services behind a URL as systems."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from tests.loopback.service import FlakyService

from ragauge.core.errors import UsageError
from ragauge.core.example import Turn
from ragauge.core.response import Passage, Response
from ragauge.systems.base import Question, System, SystemTrouble
from ragauge.systems.json_path import JsonPath, NoValue
from ragauge.systems.system_lookup import find_system

QUESTION = Question("q 1", 'Why "so" & not?\nSay.', (Turn("user", "Hi"),))
HANDED = (Passage("p1", "d1", "one", 0.5), Passage("p2", "d2", "two"))


def respond(system: System, passages: Sequence[Passage] | None = None) -> Response:
    async def asked() -> Response:
        try:
            return await system.respond(QUESTION, passages)
        finally:
            await system.close()

    return asyncio.run(asked())


def test_without_settings_the_question_goes_as_query() -> None:
    """A POST of {"query": …}; the reply's own names are read as those of files are."""
    with FlakyService(respond=lambda _: {"output": "Because.", "contexts": ["one"]}) as service:
        found = respond(find_system(service.url))
        assert service.requests[0].body == {"query": QUESTION.query}
    assert found.answer == "Because."
    assert [one.text for one in found.passages or ()] == ["one"]


def test_template_and_mapping() -> None:
    """Placeholders are filled in place, alone as they are, within a text as text; paths say where the parts stand."""
    settings = {
        "method": "PUT",
        "body": {
            "messages": "{{history}}",
            "prompt": "Answer: {{query}}",
            "id": "{{query_id}}",
            "n": "{{repeat}}",
            "k": 3,
        },
        "params": {"id": "{{query_id}}"},
        "answer": "$.data[0].text",
        "passages": "$['the hits'][*].doc",
        "passage": {"doc_id": "$.id", "text": "$.body.text", "score": "similarity"},
        "tokens": {"input": "$.usage.in", "output": "$.usage.out"},
        "latency_ms": {"retrieval": "$.ms"},
        "cost": "$.usage.usd",
    }
    hits = [{"doc": {"id": 7, "body": {"text": "one"}, "similarity": 0.5}}]
    reply = {"data": [{"text": "Because."}], "the hits": hits, "usage": {"in": 9, "out": 2}, "ms": 12}
    with FlakyService(respond=lambda _: reply) as service:
        found = respond(find_system(service.url, settings))
        (request,) = service.requests
    assert request.body == {
        "messages": [{"role": "user", "content": "Hi"}],
        "prompt": f"Answer: {QUESTION.query}",
        "id": "q 1",
        "n": 0,
        "k": 3,
    }
    assert request.path == "/ask?id=q+1"
    assert found == Response(
        "q 1",
        0,
        (Passage("7", "7", "one", 0.5),),
        answer="Because.",
        latency_ms={"retrieval": 12.0},
        tokens={"input": 9, "output": 2},
        missing={},
    )


def test_scores_in_a_list_of_their_own() -> None:
    """Scores beside the contexts are those of the passages, in order; of another number they are unreadable."""
    settings = {"answer": "$.said.text", "passages": "$.contexts", "scores": "$.meta.relevance"}
    reply: dict[str, Any] = {"said": {"text": "Because."}, "contexts": ["one", "two"]}
    reply["meta"] = {"relevance": [0.9, 0.4]}
    with FlakyService(respond=lambda _: reply) as service:
        found = respond(find_system(service.url, settings))
        reply["meta"] = {"relevance": [0.9]}
        with pytest.raises(SystemTrouble, match=r"scores: .*expected one per passage, got 1 and 2"):
            respond(find_system(service.url, settings))
    assert [(one.text, one.score) for one in found.passages or ()] == [("one", 0.9), ("two", 0.4)]
    with pytest.raises(
        UsageError, match="scores needs `passages`, the path of the passages, because there is one score per passage"
    ):
        find_system("http://localhost/ask", {"answer": "$.a", "scores": "$.b"})


def test_get_with_the_question_in_the_url() -> None:
    """A value within a URL is percent-encoded."""
    with FlakyService(respond=lambda body: {"answer": body["q"]}) as service:
        found = respond(find_system(f"{service.url}?q={{{{query}}}}", {"method": "GET"}))
    assert found.answer == QUESTION.query


def test_passages_are_handed_where_a_request_for_them_is_given() -> None:
    """with_passages gives oracle, closed book and replay: {{passages}} as objects, {{texts}} within a prompt."""
    settings = {"with_passages": {"body": {"q": "{{query}}", "docs": "{{passages}}", "prompt": "From: {{texts}}"}}}
    with FlakyService(respond=lambda _: {"answer": "Because."}) as service:
        system = find_system(service.url, settings)
        assert system.variants == {"own", "oracle", "closed_book", "replayed"}
        assert respond(system, HANDED).passages == HANDED
        assert respond(system, ()).passages == ()
        first, second = (request.body for request in service.requests)
    assert first["prompt"] == "From: one\n\ntwo"
    assert [one["doc_id"] for one in first["docs"]] == ["d1", "d2"]
    assert (second["docs"], second["prompt"]) == ([], "From: ")


def test_secrets_come_from_the_environment_and_stay_out_of_the_record(monkeypatch: pytest.MonkeyPatch) -> None:
    """Headers, URL and body take ${NAME}; the configuration keeps the names, never a value, nor a password in a URL."""
    monkeypatch.setenv("MY_TOKEN", "swordfish-1")
    monkeypatch.setenv("MY_TENANT", "acme-2")
    settings = {"headers": {"X-Login": "Bearer ${MY_TOKEN}"}, "body": {"q": "{{query}}", "tenant": "${MY_TENANT}"}}
    with FlakyService() as service:
        url = service.url.replace("127.0.0.1", "me:pass-3@127.0.0.1") + "?key=${MY_TOKEN}"
        system = find_system(url, settings)
        respond(system)
        (request,) = service.requests
    assert request.headers["x-login"] == "Bearer swordfish-1"
    assert request.body["tenant"] == "acme-2"
    assert request.path == "/ask?key=swordfish-1"
    record = f"{system.name} {dict(system.config)}"
    assert not [secret for secret in ("swordfish-1", "acme-2", "pass-3") if secret in record]
    assert system.config["headers"] == ["X-Login"]
    assert {"swordfish-1", "Bearer swordfish-1", "acme-2", "pass-3"} <= set(system.secrets)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"body": {"q": "{{qurey}}"}}, "no placeholder in body.q 'qurey'; nearest: query"),
        ({"body": {"q": "always the same"}}, "the request does not contain the question"),
        ({"body": {"q": "{{query}}", "h": "so far: {{history}}"}}, "is a list and must be the whole value"),
        ({"body": {"q": "{{query}}", "p": "{{passages}}"}}, "no placeholder in body.p 'passages'"),
        ({"anwser": "$.a"}, "no setting of an HTTP system 'anwser'; nearest: answer"),
        ({"answer": "$..text"}, "is not a supported path, at '..text'"),
        ({"answer": "$.hits[?(@.x)]"}, "is not a supported path"),
        ({"passage": {"text": "$.t"}}, "set `passages` to the path of the passages"),
        ({"passages": "$.p", "passage": {"txt": "$.t"}}, "no setting of passage 'txt'; nearest: text"),
        ({"method": "DELETE"}, "no method 'DELETE'"),
        ({"headers": ["X: y"]}, "headers: expected names with values"),
        ({"config": "k=8"}, "config: expected names with values"),
        ({"headers": {"X": "${NO_SUCH_VARIABLE_HERE}"}}, "needs the environment variable NO_SUCH_VARIABLE_HERE"),
        ({"with_passages": {"body": {"q": "{{query}}"}}}, "write {{passages}} or {{texts}}"),
    ],
)
def test_wrong_settings_are_said_before_the_first_call(settings: Mapping[str, Any], said: str) -> None:
    """Unknown placeholders, settings, paths, methods and variables are usage errors when the system is made."""
    with pytest.raises(UsageError) as caught:
        find_system("http://127.0.0.1:9/ask", settings)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("status", "kind"),
    [(307, "not_found"), (400, "refused"), (401, "auth"), (404, "not_found"), (408, "server"), (500, "server")],
)
def test_status_becomes_a_kind(status: int, kind: str) -> None:
    """Each status other than success is a trouble of its kind, with the reply's words."""
    said = pytest.raises(SystemTrouble, match=f"HTTP {status}: .*no such thing")
    with FlakyService(status=status, respond=lambda _: {"detail": "no such thing"}) as service, said as caught:
        respond(find_system(service.url))
    assert caught.value.kind == kind


def test_reply_without_the_mapped_part_is_unreadable() -> None:
    """A path that leads nowhere is said with what stands there and the start of the reply."""
    said = pytest.raises(SystemTrouble, match=r"no 'answer' at \$\.data\.answer \(found an object with text\)")
    with FlakyService(respond=lambda _: {"data": {"text": "Because."}}) as service, said as caught:
        respond(find_system(service.url, {"answer": "$.data.answer"}))
    assert caught.value.kind == "unreadable"


def test_page_instead_of_json_is_unreadable() -> None:
    """A page with status 200 is named with its beginning."""
    said = pytest.raises(SystemTrouble, match=r"expected JSON, got .*: <html>")
    with FlakyService(faults={"garbage": 1.0}) as service, said:
        respond(find_system(service.url))


def test_stream_of_events_is_named() -> None:
    """A reply in pieces is unreadable, and how to get it whole is said."""

    class Streaming(FlakyService):
        async def _answer(self, path: str, headers: Any, raw: bytes, writer: asyncio.StreamWriter) -> None:
            head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
            writer.write(head + b'data: {"token": "Be"}\n\ndata: [DONE]\n\n')
            await writer.drain()
            writer.close()

    said = pytest.raises(SystemTrouble, match=r"a stream \(text/event-stream\).*stream: false.*data: ..token.: .Be")
    with Streaming() as service, said as caught:
        respond(find_system(service.url))
    assert caught.value.kind == "unreadable"


def test_passage_without_some_part() -> None:
    """A part that one passage lacks is absent there; a path that leads nowhere in any passage is wrong."""
    hits = [{"id": "d1", "body": "one", "score": 0.5}, {"id": "d2", "body": "two"}]
    paths = {"doc_id": "$.id", "text": "$.body", "score": "$.score"}
    settings = {"answer": "$.a", "passages": "$.hits", "passage": paths}
    with FlakyService(respond=lambda _: {"a": "Because.", "hits": hits}) as service:
        found = respond(find_system(service.url, settings))
        assert found.passages == (Passage("d1", "d1", "one", 0.5), Passage("d2", "d2", "two"))
        wrong = {**settings, "passage": {"doc_id": "$.id", "text": "$.txt"}}
        with pytest.raises(SystemTrouble, match=r"no 'txt' at \$\.txt \(found an object with id, body, score\)"):
            respond(find_system(service.url, wrong))


def test_search_service_gives_passages_alone() -> None:
    """A reply that is a list is what was retrieved; there is no answer."""
    with FlakyService(respond=lambda _: [{"id": "d1", "text": "one"}]) as service:
        found = respond(find_system(service.url))
    assert (found.answer, found.passages) == (None, (Passage("d1", "d1", "one"),))


@pytest.mark.parametrize(
    ("path", "value", "found"),
    [
        ("$", {"a": 1}, {"a": 1}),
        ("$.a.b", {"a": {"b": 1}}, 1),
        ("a.b", {"a": {"b": 1}}, 1),
        ("$.a[-1]", {"a": [1, 2]}, 2),
        ("$[*].x", [{"x": 1}, {"x": 2}], [1, 2]),
        ("$.a[*].b[*]", {"a": [{"b": [1]}, {"b": [2, 3]}]}, [[1], [2, 3]]),
        ("$['a.b'][\"c d\"]", {"a.b": {"c d": 1}}, 1),
        ("$.größe", {"größe": 1}, 1),
    ],
)
def test_paths(path: str, value: Any, found: Any) -> None:
    """Keys, quoted keys, places and every item are followed."""
    assert JsonPath.parse(path, "x").of(value) == found


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        ("$.a", {"b": 1}, "no 'a' at $.a (found an object with b)"),
        ("$.a[2]", {"a": [1]}, "no item [2] at $.a[2] (found a list of 1)"),
        ("$.a[*]", {"a": 1}, "no list at $.a[*] (found int)"),
    ],
)
def test_path_that_leads_nowhere(path: str, value: Any, said: str) -> None:
    """What is missing is said with the whole path and what stands there."""
    with pytest.raises(NoValue) as caught:
        JsonPath.parse(path, "x").of(value)
    assert str(caught.value) == said


@pytest.mark.parametrize("status", [200, 422])
def test_a_failed_reply_keeps_what_it_says(status: int) -> None:
    """Of a reply that is no response, latency, tokens and cost are read where the settings say, else by their names."""
    reply = {"detail": "none today", "usage": {"in": 9}, "tokens": {"input": 4}, "usd": 0.5, "ms": {"retrieval": 7}}
    paths = {"tokens": {"input": "$.usage.in"}, "cost": "$.usd", "latency_ms": {"retrieval": "$.ms.retrieval"}}
    with FlakyService(respond=lambda _: reply, status=status) as service:
        for more, *expected in ((paths, {"input": 9}, 0.5, {"retrieval": 7.0}), ({}, {"input": 4}, None, {})):
            with pytest.raises(SystemTrouble) as told:
                respond(find_system(service.url, {"answer": "$.text", **more}))
            spent = told.value.spent
            assert spent is not None
            assert [spent.tokens, spent.cost, spent.latency_ms] == expected
