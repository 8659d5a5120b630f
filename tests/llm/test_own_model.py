"""A function or a framework's object as the model that judges."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from ragauge.data.ask import Ask, ModelName
from ragauge.errors import JudgeError, UsageError
from ragauge.llm.build import build_model
from ragauge.llm.model import CallError
from ragauge.llm.providers.own import given

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
    "model", [lambda text: f"{len(text) > 0}", waits, Invoked(), Completed(), Generated(), Replied()],
    ids=["function", "coroutine", "ainvoke", "complete", "generate", "run"],
)  # fmt: skip
def test_every_form_is_asked(model: Any) -> None:
    """Text goes in and text comes out, whatever the framework calls it."""
    assert given(model, "house") == "own:house"
    reply = asyncio.run(build_model(ModelName("own", "house")).reply(ASK, 1))
    assert (reply.status, reply.text) == ("ok", "True")


def test_the_schema_is_in_the_prompt() -> None:
    """A model without a way to take a schema reads it at the end of what it is asked."""
    seen: list[str] = []

    def model(text: str) -> str:
        seen.append(text)
        return "{}"

    given(model, "house")
    asyncio.run(build_model(ModelName("own", "house")).reply(ASK, 1))
    assert seen[0].startswith("Judge.\n\nIs it so?")
    assert seen[0].endswith(json.dumps(ASK.schema))


@pytest.mark.parametrize(
    ("model", "said"), [(lambda _: 7, "returned a int"), (lambda _: 1 / 0, "ZeroDivisionError")], ids=["7", "raises"]
)
def test_no_text_is_no_reply(model: Callable[[str], Any], said: str) -> None:
    """What is no text, and what raises, fails the call in words."""
    given(model, "house")
    with pytest.raises(CallError, match=said):
        asyncio.run(build_model(ModelName("own", "house")).reply(ASK, 1))


@pytest.mark.parametrize(("model", "name"), [(waits, ""), (waits, "a,b"), (7, "house"), (Invoked, "house")])
def test_what_cannot_judge_is_refused(model: Any, name: str) -> None:
    """A model without a name, a name that parts a spec, a number and a class are refused before anything is asked."""
    with pytest.raises(UsageError):
        given(model, name)


def test_a_name_alone_is_not_enough() -> None:
    """An object is not stored: another process is told to hand it over again."""
    with pytest.raises(JudgeError, match="judge_name="):
        build_model(ModelName("own", "never handed over"))
