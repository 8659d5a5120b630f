"""One call through each provider's protocol, against a real server on this machine."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import re
import sys
import warnings
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any

import pytest
from tests.loopback.server import FaultyServer

from ragauge.core.ask import Ask, ModelName, Reply
from ragauge.core.errors import JudgeError, MissingExtra, UnknownName
from ragauge.core.providers import PROVIDERS as PROVIDERS_BY_NAME
from ragauge.models.build import build_model
from ragauge.models.model import CallError, ChatModel

pytestmark = pytest.mark.server
SCHEMA = {
    "type": "object",
    "properties": {"claims": {"type": "array", "items": {"type": "string"}}},
    "required": ["claims"],
    "additionalProperties": False,
}
ASK = Ask("chat", "agree", 1, (("system", "You judge."), ("user", "The text.")), SCHEMA, {"temperature": 0.0})
PLAIN = Ask("chat", "agree", 1, ASK.messages, None, {"temperature": 0.0})


def _lacks(module: str) -> bool:
    """Whether an extra is not installed; looked up, since importing it takes a second of every session."""
    try:
        return importlib.util.find_spec(module) is None
    except ModuleNotFoundError:  # of the package around it
        return True


PROVIDERS = [
    pytest.param("openai-chat", "any", id="openai-chat"),
    pytest.param("openai", "gpt-4.1-mini", id="openai"),
    pytest.param(
        "anthropic",
        "claude-sonnet-4-6",
        id="anthropic",
        marks=pytest.mark.skipif(_lacks("anthropic"), reason="the extra anthropic is not installed"),
    ),
    pytest.param(
        "google",
        "gemini-2.5-flash",
        id="google",
        marks=pytest.mark.skipif(_lacks("google.genai"), reason="the extra google is not installed"),
    ),
]
each_provider = pytest.mark.parametrize(("provider", "model"), PROVIDERS)
OWN_PATH = ("openai", "openai-chat")


def seen(system: str, user: str, schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """What the server answers: what it saw."""
    return {"claims": [user, *schema.get("properties", {})], "system": system[:10]}


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-0123456789abcdef")
    monkeypatch.setenv("GOOGLE_API_KEY", "AIzaSyA0123456789abcdefghijklmnop")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789abcdef")


def at(server: FaultyServer, provider: str, model: str) -> ChatModel:
    """The model of a provider, at this server."""
    root = server.url.removesuffix("/v1")
    url = f"{root}/v1" if provider in OWN_PATH else root
    return build_model(ModelName(provider, model, url, key_env=PROVIDERS_BY_NAME[provider].keys[0]))


Act = Callable[[ChatModel], Coroutine[Any, Any, Any]]


def with_model(server: FaultyServer, provider: str, model: str, act: Act) -> Any:
    """What an act with the model gives; it is closed afterwards."""

    async def main() -> Any:
        made = at(server, provider, model)
        try:
            return await act(made)
        finally:
            await made.close()

    return asyncio.run(main())


async def asked(model: ChatModel, ask: Ask = ASK, most: int = 6) -> tuple[Reply, list[CallError]]:
    """The reply to an ask, made again as long as the model learns, and what it learned from."""
    lessons: list[CallError] = []
    while True:
        try:
            return await model.reply(ask, 10.0), lessons
        except CallError as error:
            lessons.append(error)
            if not error.learned or len(lessons) == most:
                raise


@each_provider
def test_a_reply_says_all_that_is_known_of_it(provider: str, model: str) -> None:
    """Text, tokens, why it ended, who served it and what was sent come back from every protocol; no text is in sent."""
    with FaultyServer(reply=seen) as server:
        reply, lessons = with_model(server, provider, model, asked)
        (request,) = server.requests
    assert lessons == []
    assert json.loads(reply.text)["claims"] == ["The text.", "claims"]
    assert json.loads(reply.text)["system"] == "You judge."
    assert (reply.status, reply.finish) == ("ok", "stop")
    assert reply.served.endswith("-served")
    assert reply.usage is not None
    assert reply.usage.input_tokens > 0 < reply.usage.output_tokens
    assert reply.sent["schema"] == "native"
    assert reply.sent["temperature"] == 0.0
    assert "The text." not in json.dumps(dict(reply.sent))
    assert "claims" not in json.dumps(dict(reply.sent))
    assert "0123456789abcdef" in json.dumps(dict(request.headers))


@each_provider
def test_what_a_reply_says_of_thinking_is_its_text(provider: str, model: str) -> None:
    """Marks of reasoning inside a JSON text, also over two of its strings, are what the model was asked to write."""
    said = {"claims": ["The mark is <think>.", "It ends with </think>."]}
    with FaultyServer(reply=lambda *_: said) as server:
        reply, _ = with_model(server, provider, model, asked)
    assert json.loads(reply.text) == said


@pytest.mark.parametrize("ask", [ASK, PLAIN], ids=["schema", "plain"])
def test_reasoning_before_a_reply_is_no_part_of_it(ask: Ask) -> None:
    """A server that puts the reasoning of a model into its text: the reply is what stands behind it."""
    with FaultyServer(reply=lambda *_: '<think>Is {"claims": []} right?</think>\n{"claims": ["<think>"]}') as server:
        reply, _ = with_model(server, "openai-chat", "any", lambda made: asked(made, ask))
    assert reply.text == '{"claims": ["<think>"]}'


@each_provider
@pytest.mark.parametrize("modes", [("tool",), ("prompted",)], ids=["tool", "prompted"])
def test_schemas_are_given_another_way_where_one_is_refused(provider: str, model: str, modes: Sequence[str]) -> None:
    """A server that refuses native schemas (and tools) is asked the next way; the second ask begins there."""

    async def act(made: ChatModel) -> list[Any]:
        return [await asked(made), await asked(made)]

    with FaultyServer(reply=seen, schema_modes=modes) as server:
        (first, lessons), (second, none) = with_model(server, provider, model, act)
    assert [error.trouble for error in lessons] == ["refused"] * (1 if modes == ("tool",) else 2)
    assert none == []
    assert first.sent["schema"] == second.sent["schema"] == modes[0]
    assert "claims" in json.loads(first.text)


@each_provider
def test_a_model_that_talks_is_asked_another_way(provider: str, model: str) -> None:
    """A server that takes a schema and passes over it teaches the next way; what it cost is told with the lesson."""
    with FaultyServer(reply=seen, talks_when=("native",)) as server:
        reply, lessons = with_model(server, provider, model, asked)
    (lesson,) = lessons
    assert (lesson.trouble, lesson.learned) == ("unstructured", True)
    assert lesson.usage is not None
    assert lesson.usage.output_tokens > 0
    assert reply.sent["schema"] == "tool"
    assert json.loads(reply.text)["claims"]


def test_a_model_that_always_talks_is_believed_in_the_end() -> None:
    """Where no way helps, prose is the reply: the judge reads no verdict from it and asks once more."""
    with FaultyServer(reply=seen, talks_when=("native", "tool", "prompted")) as server:
        reply, lessons = with_model(server, "openai-chat", "any", asked)
        assert len(server.requests) == 3
    assert len(lessons) == 2
    assert (reply.status, reply.sent["schema"]) == ("ok", "prompted")
    assert "{" not in reply.text


def test_one_talk_does_not_change_a_way_that_works() -> None:
    """Once a structured reply came, prose is one bad reply: the way of giving the schema stays."""
    turns = iter([{}, {"prose": 1.0}, {}])

    async def act(made: ChatModel) -> list[str]:
        modes = []
        for faults in turns:
            server.faults = faults
            reply, _ = await asked(made)
            modes.append(reply.sent["schema"])
        return modes

    with FaultyServer(reply=seen) as server:
        assert with_model(server, "openai-chat", "any", act) == ["native"] * 3


def test_many_calls_at_once_learn_one_way() -> None:
    """Twenty calls that all learn at the same time fall to the next way, not beyond it."""

    async def act(made: ChatModel) -> set[str]:
        return {reply.sent["schema"] for reply, _ in await asyncio.gather(*[asked(made) for _ in range(20)])}

    for given in ({"schema_modes": ("tool", "prompted")}, {"talks_when": ("native",)}):
        with FaultyServer(reply=seen, latency=0.05, **given) as server:
            assert with_model(server, "openai-chat", "any", act) == {"tool"}


@each_provider
@pytest.mark.parametrize("parameter", ["temperature", "max_tokens"])
def test_a_refused_parameter_is_left_out_from_then_on(provider: str, model: str, parameter: str) -> None:
    """Whatever the protocol calls it, a parameter that a model refuses is sent once by each of its names."""
    known = ("temperature", "max_tokens", "max_completion_tokens", "max_output_tokens", "maxOutputTokens")
    names = [name for name in known if name.startswith(parameter[:3])]
    if provider == "anthropic" and parameter == "max_tokens":
        pytest.skip("a parameter that this protocol needs")
    ask = Ask("chat", "agree", 1, ASK.messages, SCHEMA, {"temperature": 0.0, "max_tokens": 500})

    async def act(made: ChatModel) -> list[Any]:
        return [await asked(made, ask), await asked(made, ask)]

    with FaultyServer(reply=seen, refuses=names) as server:
        (first, lessons), (second, none) = with_model(server, provider, model, act)
        names_tried = 2 if (provider, parameter) == ("openai-chat", "max_tokens") else 1
        assert len(server.requests) == names_tried + 2
    assert [error.trouble for error in lessons] == ["refused"] * names_tried
    assert none == []
    assert not set(names) & set(first.sent) | set(names) & set(second.sent)


def test_an_ask_without_a_schema_is_plain() -> None:
    """Without a schema nothing about one is sent, and prose is a reply."""
    with FaultyServer({"prose": 1.0}) as server:
        reply, lessons = with_model(server, "openai-chat", "any", lambda made: asked(made, PLAIN))
        (request,) = server.requests
    assert (reply.status, lessons) == ("ok", [])
    assert "schema" not in reply.sent
    assert "response_format" not in request.body


@each_provider
@pytest.mark.parametrize(("fault", "finish"), [("length", "length"), ("content_filter", "content_filter")])
def test_why_a_model_stopped_is_kept(provider: str, model: str, fault: str, finish: str) -> None:
    """A reply that is cut off or filtered is a failed one with its finish reason and what it cost."""
    with FaultyServer({fault: 1.0}, reply=seen) as server:
        reply, _ = with_model(server, provider, model, asked)
    assert (reply.status, reply.finish) == ("failed", finish)
    assert reply.reason
    assert fault == "content_filter" or reply.usage is not None


@each_provider
@pytest.mark.parametrize(
    ("fault", "trouble", "status"),
    [
        ("server", "server", 500),
        ("overloaded", "server", 503),
        ("too_long", "too_long", 400),
        ("broken_connection", "connection", None),
        ("garbage", "server", None),
    ],
)
def test_faults_have_their_names(provider: str, model: str, fault: str, trouble: str, status: int | None) -> None:
    """Every way to fail is told by its own name in every protocol, once: no client tries again by itself."""
    with FaultyServer({fault: 1.0}) as server:
        with pytest.raises(CallError) as caught:
            with_model(server, provider, model, asked)
        assert len(server.requests) == 1
    status = 529 if (provider, fault) == ("anthropic", "overloaded") else status
    assert (caught.value.trouble, caught.value.status) == (trouble, status)


@each_provider
def test_a_place_that_nobody_listens_at_is_told_from_a_connection_that_breaks(provider: str, model: str) -> None:
    """Where no connection can be made, the trouble is a name of its own, in the words of the operating system."""
    with FaultyServer() as server:
        pass
    with pytest.raises(CallError) as caught:
        with_model(server, provider, model, asked)
    assert caught.value.trouble == "unreachable"
    assert not caught.value.can_be_billed
    assert re.search(r"Errno \d+", str(caught.value))


@each_provider
def test_a_429_says_how_long_to_wait(provider: str, model: str) -> None:
    """Retry-After is read, fractions too, and Google's delay in the body; one request is made."""
    with FaultyServer({"rate_limited": 1.0}) as server:
        with pytest.raises(CallError) as caught:
            with_model(server, provider, model, asked)
        assert len(server.requests) == 1
    assert (caught.value.trouble, caught.value.status, caught.value.retry_after) == ("rate_limited", 429, 0.05)


def test_a_bound_on_tokens_goes_by_the_name_that_a_server_knows() -> None:
    """A server that knows max_tokens alone is told the bound by that name from then on, with and without a schema."""

    async def act(made: ChatModel) -> list[Any]:
        bound = {"max_tokens": 500}
        asks = [Ask("chat", "agree", 1, ASK.messages, schema, bound) for schema in (SCHEMA, SCHEMA, None)]
        return [await asked(made, ask) for ask in asks]

    with FaultyServer(reply=seen, refuses=("max_completion_tokens",)) as server:
        (first, lessons), (second, none), (third, _) = with_model(server, "openai-chat", "any", act)
    assert [error.learned for error in lessons] == [True]
    assert none == []
    assert [one.sent["max_tokens"] for one in (first, second, third)] == [500] * 3
    assert "max_completion_tokens" not in first.sent
    assert first.sent["schema"] == "native"


@each_provider
def test_a_filter_that_refuses_the_prompt_is_a_failed_reply(provider: str, model: str) -> None:
    """The 400 of a content filter is about the text: asked again it would be the same, so it is a reply."""
    with FaultyServer({"filtered_prompt": 1.0}) as server:
        reply, _ = with_model(server, provider, model, asked)
    assert (reply.status, reply.finish) == ("failed", "content_filter")
    assert "content" in reply.reason
    assert "filter" in reply.reason


def test_models_that_reason_are_not_sent_what_they_refuse() -> None:
    """A model known to take no temperature is asked without it from the first call, and nobody is warned each time."""
    with FaultyServer(reply=seen) as server, warnings.catch_warnings():
        warnings.simplefilter("error")
        models = [("openai", "gpt-5-mini"), ("openai-chat", "o4-mini")]
        models += [] if _lacks("anthropic") else [("anthropic", "claude-opus-4-8")]
        for provider, model in models:
            reply, lessons = with_model(server, provider, model, asked)
            assert lessons == []
            assert "temperature" not in reply.sent


def test_openai_is_told_to_store_nothing() -> None:
    """The Responses API is told not to keep what it is sent; a server that does not know the word is not told."""
    with FaultyServer(reply=seen) as server:
        with_model(server, "openai", "gpt-4.1-mini", asked)
        assert server.requests[0].body["store"] is False
    with FaultyServer(reply=seen, refuses=("store",)) as server:
        _, lessons = with_model(server, "openai", "gpt-4.1-mini", asked)
        assert len(lessons) == 1
        assert "store" not in server.requests[-1].body


@pytest.mark.parametrize(("provider", "module"), [("anthropic", "anthropic"), ("google", "google.genai")])
def test_a_missing_extra_is_named(provider: str, module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a provider's library the message names the package and the pip line."""
    monkeypatch.setitem(sys.modules, module, None)
    for name in (f"pydantic_ai.models.{provider}", f"pydantic_ai.providers.{provider}"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    with pytest.raises(MissingExtra, match=rf"pip install .*\[{provider}\]'"):
        build_model(ModelName(provider, "any"))


@each_provider
def test_a_missing_key_is_named(provider: str, model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a key nothing is called; the message says which variable to set."""
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY"):
        monkeypatch.delenv(name)
    with pytest.raises(JudgeError, match=r"needs a key. Set \w+_API_KEY"):
        build_model(ModelName(provider, model))


def test_an_unknown_provider_is_named() -> None:
    """A provider that does not exist is refused, with the nearest."""
    with pytest.raises(UnknownName, match="openai"):
        build_model(ModelName("opnai", "any"))
