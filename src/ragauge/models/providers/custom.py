"""A model that the user hands over: a function or a framework's object, text in, text out; or a client of OpenAI."""

from __future__ import annotations

import asyncio
import inspect
import json
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from ragauge.core.ask import Ask, ModelName, Reply
from ragauge.core.errors import JudgeError, UsageError
from ragauge.models.endpoints import hide_keys
from ragauge.models.model import CallError, Trouble

PROVIDER = "own"
NAME = re.compile(r"[\w.:/ +-]{1,100}")  # no comma and no @, which part a judge's spec
# how frameworks call it, asynchronous ones first: LangChain, LlamaIndex, deepeval and others, Haystack
METHODS = ("ainvoke", "acomplete", "a_generate", "agenerate", "invoke", "complete", "generate", "judge", "run")
CHATS = ("acompletion", "completion")  # of litellm and its router: they take the model's name and messages
REPLY_KEYS = ("content", "text", "replies", "output", "response", "choices", "message")
MAX_DEPTH = 4  # of a reply within a reply: a list of messages in parts
SCHEMA_RULE = "Reply with JSON alone, without any text around it. It must fit this JSON Schema:"

_MODELS_BY_NAME: dict[str, Any] = {}  # name -> the object, for this process: an object cannot be stored


def register_model(model: Any, name: str) -> str:
    """The spec of a judge that asks this model: own:NAME. The name stands for the model in reports and stored replies.

    Raises:
        UsageError: no name, or a model that takes no text.
    """
    chat = _find_chat(model)
    if chat is None and _find_method(model) is None:
        raise UsageError(
            "judge must be a spec such as 'local' or 'openai:MODEL', None, a function of a text, a client of OpenAI or "
            f"litellm, or an object with one of {', '.join(METHODS)}; got {type(model).__name__}."
        )
    if chat is not None and not name.strip():
        raise UsageError('a client needs the name of the model: judge_name="MODEL", as its provider spells it.')
    name = name or _build_own_name(model)
    if not NAME.fullmatch(name.strip()):
        raise UsageError(
            f"a model passed from Python needs a name of letters, digits and . : / + -, got {name!r}. "
            'Write judge_name="my-model-1" (model_name= if it writes questions); reports and stored replies use it.'
        )
    _MODELS_BY_NAME[name.strip()] = model
    return f"{PROVIDER}:{name.strip()}"


def build_own_model(name: ModelName) -> OwnModel:
    """The model that was handed over by this name. JudgeError where none was."""
    if name.model not in _MODELS_BY_NAME:
        raise JudgeError(
            f"{name} is a model that was passed from Python. Pass it again: "
            f'rg.evaluate(..., judge=model, judge_name="{name.model}").'
        )
    return OwnModel(name, _MODELS_BY_NAME[name.model])


class OwnModel:
    """`ChatModel` over a function or object; what blocks runs in a thread."""

    def __init__(self, name: ModelName, model: Any) -> None:
        self._name = name
        self._chat = _find_chat(model)
        self._call = _find_method(model)
        self._refused: set[str] = set()  # parameters that a client's model does not take

    @property
    def name(self) -> ModelName:
        """Which model."""
        return self._name

    async def reply(self, ask: Ask, timeout: float) -> Reply:  # noqa: ARG002 - the caller's clock ends the call
        """The reply; CallError where the model raised or said nothing that is text."""
        params = {key: value for key, value in ask.params.items() if key not in self._refused} if self._chat else {}
        try:
            if self._chat is not None:
                messages = [{"role": role, "content": text} for role, text in _append_schema(ask)]
                response = await _call_model(partial(self._chat, model=self._name.model, messages=messages, **params))
            elif self._call is not None:
                response = await _call_model(self._call, build_prompt(ask))
            else:
                raise TypeError("it does not accept text")
        except Exception as error:
            learned = {key for key in params if re.search(rf"\b{key}\b", str(error))}
            self._refused |= learned
            trouble: Trouble = "refused" if learned else "client"
            raise CallError(trouble, hide_keys(f"{type(error).__name__}: {error}"), learned=bool(learned)) from error
        text = _format_structure(response, ask.schema) or extract_text(response)
        if text is None:
            raise CallError("unstructured", f"{self._name} returned a {type(response).__name__}, expected text")
        return Reply("ok", text, served=str(self._name), sent={"schema": "prompted"} if ask.schema else {})

    async def close(self) -> None:
        """Nothing to close: the object is the user's."""


def build_prompt(ask: Ask) -> str:
    """The messages of an ask as one text, the schema of the reply at its end."""
    return "\n\n".join(text for _, text in _append_schema(ask))


def _append_schema(ask: Ask) -> list[tuple[str, str]]:
    """The messages of an ask, the schema of the reply at the end of the last."""
    *first, (role, text) = ask.messages
    if ask.schema is not None:
        text = f"{text}\n\n{SCHEMA_RULE}\n\n{json.dumps(ask.schema, ensure_ascii=False)}"
    return [*first, (role, text)]


def _format_structure(response: Any, schema: Mapping[str, Any] | None) -> str:
    """As JSON, a mapping that has every field of the reply that was asked for; "" for anything else."""
    fields = set((schema or {}).get("properties", ()))
    if not fields or not isinstance(response, Mapping) or not fields <= response.keys():
        return ""
    try:
        return json.dumps(response, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):  # it holds what is no JSON
        return ""


def extract_text(response: Any, depth: int = 0) -> str | None:
    """The text of what a model returned: a text, a message, a completion, or the first of several."""
    if isinstance(response, str):
        return response
    if response is None or depth == MAX_DEPTH:
        return None
    if isinstance(response, Mapping):
        return next((extract_text(response[key], depth + 1) for key in REPLY_KEYS if response.get(key)), None)
    if isinstance(response, Sequence) and not isinstance(response, bytes):
        return extract_text(response[0], depth + 1) if response else None
    values = (getattr(response, key, None) for key in REPLY_KEYS)
    return next((extract_text(value, depth + 1) for value in values if value and not callable(value)), None)


def _find_method(model: Any) -> Callable[..., Any] | None:
    """What is called with the text."""
    if not inspect.isfunction(model) and not inspect.isclass(model):
        for name in METHODS:
            method: Callable[..., Any] | None = getattr(model, name, None)
            if callable(method):
                return method
    return model if callable(model) and not inspect.isclass(model) else None


def _find_chat(model: Any) -> Callable[..., Any] | None:
    """What is called with a model's name and messages: of a client of OpenAI, of litellm; None of anything else."""
    create = getattr(getattr(getattr(model, "chat", None), "completions", None), "create", None)
    for call in (create, *(getattr(model, name, None) for name in CHATS), model):
        if callable(call) and not inspect.isclass(call):
            with suppress(TypeError, ValueError):  # what is built in may show no parameters
                if {"model", "messages"} <= inspect.signature(call).parameters.keys():
                    chat_call: Callable[..., Any] = call
                    return chat_call
    return None


def _build_own_name(model: Any) -> str:
    """Module and name of a plain function, the file's where it was started itself; "" of anything else."""
    if not inspect.isfunction(model) or "<lambda>" in model.__qualname__:
        return ""
    file = Path(model.__code__.co_filename)
    module = file.stem if model.__module__ == "__main__" and file.suffix == ".py" else model.__module__
    return f"{module}.{model.__qualname__}".replace("<locals>.", "")


async def _call_model(call: Callable[..., Any], *texts: str) -> Any:
    """What the call returns, awaited where it is a coroutine's."""
    if inspect.iscoroutinefunction(call) or inspect.iscoroutinefunction(type(call).__call__):
        return await call(*texts)
    takes_prompt = getattr(call, "__name__", "") == "run"  # Haystack's components take their inputs by name
    response = await asyncio.to_thread(lambda: call(prompt=texts[0]) if takes_prompt else call(*texts))
    return await response if inspect.isawaitable(response) else response
