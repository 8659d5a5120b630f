"""A function or a framework's object as the model that judges."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from tests.engine.model_rows import rows
from tests.loopback.server import FaultyServer
from tests.testsets.writing_server import corpus, writing

import ragauge as rg
from ragauge.core.ask import Ask, ModelName
from ragauge.core.errors import JudgeError, UsageError
from ragauge.models.build import build_model
from ragauge.models.model import CallError
from ragauge.models.providers.custom import SCHEMA_RULE, register_model
from ragauge.testsets.prepare.verb import estimate_prepare_cost, prepare_set
from ragauge.verbs.evaluate_options import PrepareOptions

ASK = Ask("chat", "agree", 1, (("system", "Judge."), ("user", "Is it so?")), schema={"type": "object"})


class Invoked:
    """LangChain's form: a message with content, asked asynchronously."""

    async def ainvoke(self, text: str) -> Any:
        return SimpleNamespace(content=f"{len(text) > 0}")

    def invoke(self, text: str) -> Any:
        raise AssertionError(text)


class Completed:
    """LlamaIndex's form: a completion with text."""

    def complete(self, text: str) -> Any:
        return SimpleNamespace(text=f"{len(text) > 0}")


class Judging:
    """The plainest form of all."""

    def judge(self, text: str) -> str:
        return f"{len(text) > 0}"


class Client:
    """The form of OpenAI's clients: the model's name and messages, the reply in the first choice."""

    def __init__(self, refuses: str = "") -> None:
        self.refuses, self.asked = refuses, list[dict[str, Any]]()
        self.chat = SimpleNamespace(completions=SimpleNamespace(create=self.create))

    def create(self, *, model: str, messages: list[dict[str, str]], **more: Any) -> Any:
        self.asked.append({"model": model, "messages": messages, **more})
        if self.refuses in more:
            raise ValueError(f"Unsupported parameter: '{self.refuses}'")
        message = SimpleNamespace(role="assistant", content=f"{len(messages) > 0}")
        return SimpleNamespace(id="x", choices=[SimpleNamespace(index=0, message=message)])


def litellm() -> ModuleType:
    """A module of litellm's form."""
    module = ModuleType("litellm")
    vars(module)["completion"] = Client().create
    return module


class AsyncClient(Client):
    """The same, awaited."""

    async def create(self, *, model: str, messages: list[dict[str, str]], **more: Any) -> Any:
        return Client.create(self, model=model, messages=messages, **more)


class Generated:
    """deepeval's form: text, or text and cost."""

    def generate(self, text: str) -> Any:
        return f"{len(text) > 0}", 0.01


class Replied:
    """Haystack's form: replies by name."""

    def run(self, *, prompt: str) -> Any:
        return {"replies": [f"{len(prompt) > 0}"], "meta": []}


async def waits(text: str) -> str:
    await asyncio.sleep(0)
    return f"{len(text) > 0}"


@pytest.mark.parametrize(
    "model",
    [
        lambda text: f"{len(text) > 0}",
        waits,
        Invoked(),
        Completed(),
        Generated(),
        Replied(),
        Judging(),
        Client(),
        AsyncClient(),
        litellm(),
        Client().create,
    ],
    ids=[
        "function",
        "coroutine",
        "ainvoke",
        "complete",
        "generate",
        "run",
        "judge",
        "openai",
        "async-openai",
        "litellm",
        "completion",
    ],
)
def test_every_form_is_asked(model: Any) -> None:
    """Text goes in and text comes out, whatever the framework calls it."""
    assert register_model(model, "house") == "own:house"
    reply = asyncio.run(build_model(ModelName("own", "house")).reply(ASK, 1))
    assert (reply.status, reply.text) == ("ok", "True")


def test_the_schema_is_in_the_prompt() -> None:
    """A model without a way to take a schema reads it at the end of what it is asked."""
    seen: list[str] = []

    def model(text: str) -> str:
        seen.append(text)
        return "{}"

    register_model(model, "house")
    asyncio.run(build_model(ModelName("own", "house")).reply(ASK, 1))
    assert seen[0].startswith("Judge.\n\nIs it so?")
    assert seen[0].endswith(json.dumps(ASK.schema))


@pytest.mark.parametrize(
    ("model", "said"), [(lambda _: 7, "returned a int"), (lambda _: 1 / 0, "ZeroDivisionError")], ids=["7", "raises"]
)
def test_no_text_is_no_reply(model: Callable[[str], Any], said: str) -> None:
    """What is no text, and what raises, fails the call in words."""
    register_model(model, "house")
    with pytest.raises(CallError, match=said):
        asyncio.run(build_model(ModelName("own", "house")).reply(ASK, 1))


def test_a_dict_is_a_reply() -> None:
    """A function that returns the object that was asked for, instead of its JSON, has replied; another dict has not."""
    schema = {"type": "object", "properties": {"stated": {"type": "array"}}}
    register_model(lambda _: {"stated": [{"n": 1, "text": "„so“"}]}, "dicts")
    reply = asyncio.run(build_model(ModelName("own", "dicts")).reply(replace(ASK, schema=schema), 1))
    assert json.loads(reply.text) == {"stated": [{"n": 1, "text": "„so“"}]}
    register_model(lambda _: {"verdicts": []}, "others")
    with pytest.raises(CallError, match="returned a dict, expected text"):
        asyncio.run(build_model(ModelName("own", "others")).reply(replace(ASK, schema=schema), 1))


def test_a_client_is_told_the_model_and_the_messages() -> None:
    """A client of OpenAI is asked for the model of the name, with roles and parameters; a refused one is left out."""
    client, ask = Client("temperature"), replace(ASK, params={"temperature": 0.0, "max_tokens": 9})
    register_model(client, "gpt-5-mini")
    model = build_model(ModelName("own", "gpt-5-mini"))
    with pytest.raises(CallError, match="temperature") as caught:
        asyncio.run(model.reply(ask, 1))
    assert caught.value.learned
    assert asyncio.run(model.reply(ask, 1)).text == "True"
    first, second = client.asked
    assert [one["role"] for one in first["messages"]] == ["system", "user"]
    assert (first["model"], first["max_tokens"], second.get("temperature")) == ("gpt-5-mini", 9, None)


@pytest.mark.server
def test_real_clients_are_taken() -> None:
    """Both clients of the installed openai package are models, and are asked for the one that is named."""
    pytest.importorskip("openai")
    from openai import AsyncOpenAI, OpenAI

    with FaultyServer() as server:
        for made in (OpenAI, AsyncOpenAI):
            register_model(made(api_key="none", base_url=server.url), "small")
            asyncio.run(build_model(ModelName("own", "small")).reply(ASK, 10))
        assert [one.body["model"] for one in server.requests] == ["small", "small"]


def test_a_named_function_needs_no_name() -> None:
    """Module and name of a function identify it; a lambda and an object are asked for a name."""

    def inner(text: str) -> str:
        return text

    assert register_model(waits, "") == f"own:{__name__}.waits"
    assert register_model(inner, "") == f"own:{__name__}.test_a_named_function_needs_no_name.inner"
    for nameless in (lambda text: text, Invoked(), Client()):
        with pytest.raises(UsageError, match="judge_name="):
            register_model(nameless, "")


def _house(prompt: str) -> str:
    """Writes and judges by script, as the server of these tests does."""
    system, user, *_ = prompt.split("\n\n", 1)
    return json.dumps(writing()(system, user.rpartition(SCHEMA_RULE)[0], json.loads(prompt.rpartition("\n\n")[2])))


@pytest.mark.server
def test_a_function_stands_wherever_a_model_is_named(tmp_path: Path) -> None:
    """A plain function writes a set, prepares it, looks for its holes and judges, without a name of its own."""
    store, folder = f"sqlite:///{tmp_path}/store.db", tmp_path
    texts = {one.doc_id: one.text for one in corpus(20)}
    made = rg.generate_set(texts, output=folder / "set.jsonl", n=3, types="single=1", model=_house, store=store)
    assert len(made.data.lines) == 3
    rg.check_set(folder / "set.jsonl", corpus=texts, judge=_house, store=store)
    prepared = PrepareOptions(source=folder / "set.jsonl", output=folder / "prepared.jsonl", judge=_house, store=store)
    assert estimate_prepare_cost(prepared)["judge"].startswith("own:")
    asyncio.run(prepare_set(prepared))
    card = rg.evaluate(rows(2), metrics="faithfulness", judge=_house, store=store)
    assert card["faithfulness"].mean is not None


@pytest.mark.parametrize(("model", "name"), [(Invoked(), ""), (waits, "a,b"), (7, "house"), (Invoked, "house")])
def test_what_cannot_judge_is_refused(model: Any, name: str) -> None:
    """A model without a name, a name that parts a spec, a number and a class are refused before anything is asked."""
    with pytest.raises(UsageError):
        register_model(model, name)


def test_a_name_alone_is_not_enough() -> None:
    """An object is not stored: another process is told to hand it over again."""
    with pytest.raises(JudgeError, match="judge_name="):
        build_model(ModelName("own", "never handed over"))
