"""One call to a model through the library that knows the providers; what a model does not take is learned once."""

from __future__ import annotations

import json
import re
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Literal

from ragauge.data.ask import Ask, ModelName, Reply, Usage
from ragauge.llm.model import CallError
from ragauge.llm.troubles import call_error, hidden

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelResponse
    from pydantic_ai.models import Model, ModelRequestParameters

Mode = Literal["native", "tool", "prompted"]
NEXT: dict[Mode, Mode] = {"native": "tool", "tool": "prompted"}
TOOL = "reply"
ABOUT_SCHEMA = re.compile(
    r"response_format|json_schema|output_config|text\.format|structured|grammar|tool|function|schema", re.I
)
BULKY = ("messages", "input", "instructions", "system", "contents", "tools", "response_format", "text")
_sent: ContextVar[dict[str, Any] | None] = ContextVar("_sent", default=None)


async def watched(request: Any) -> None:
    """A request hook: notes what is really sent, texts and schema left out, for the call of this task."""
    note = _sent.get()
    if note is not None:
        try:
            body = json.loads(request.content)
        except (ValueError, AttributeError, RuntimeError):
            return
        if isinstance(body, dict):
            note.update({key: value for key, value in body.items() if key not in BULKY})


class LibraryModel:
    """`ChatModel` for every provider that the library knows.

    The schema is given natively, else as a tool, else in the prompt; a parameter that the model refuses is left out
    from then on. Both are learned from its own answers, once, and stand beside each reply as what was sent.
    """

    def __init__(self, name: ModelName, model: Model, client: Any = None) -> None:
        self._name, self._model, self._client = name, model, client
        self._mode: Mode = "native"
        self._proven = False     # a structured reply came in this mode
        self._refused: set[str] = set()

    @property
    def name(self) -> ModelName:
        """Which model."""
        return self._name

    async def reply(self, ask: Ask, timeout: float) -> Reply:  # noqa: ARG002 - the caller's clock ends the call
        """The reply, ok or failed. CallError where nothing came that says anything about the text."""
        spent = Usage()
        while True:
            mode = self._mode if ask.schema is not None else None
            note: dict[str, Any] = {}
            token = _sent.set(note)
            try:
                response = await self._request(ask, mode)
            except Exception as error:
                found = call_error(error)
                if isinstance(found, Reply):
                    return found
                if not self._learned(found, ask, mode):
                    raise found from None
                continue
            finally:
                _sent.reset(token)
            spent = _sum(spent, response)
            if self._says_nothing_structured(response, mode):
                self._fall(mode)
                continue
            return _reply(response, spent, note | ({"schema": mode} if mode else {}))

    async def close(self) -> None:
        """Closes its connections."""
        if self._client is not None:
            await self._client.close()

    async def _request(self, ask: Ask, mode: Mode | None) -> ModelResponse:
        from pydantic_ai.direct import model_request
        from pydantic_ai.messages import ModelRequest, SystemPromptPart, UserPromptPart

        parts = [SystemPromptPart(text) if role == "system" else UserPromptPart(text) for role, text in ask.messages]
        settings: Any = {key: value for key, value in ask.params.items() if key not in self._refused}
        return await model_request(
            self._model, [ModelRequest(parts=parts)], model_settings=settings,
            model_request_parameters=_parameters(ask, mode), instrument=False,
        )  # fmt: skip

    def _learned(self, error: CallError, ask: Ask, mode: Mode | None) -> bool:
        """Whether the refusal taught something, so that the call is worth making again."""
        if error.trouble != "refused":
            return False
        text = str(error)
        for key in ask.params:
            if key not in self._refused and re.search(rf"\b{key}\b", text, re.I):
                self._refused.add(key)
                return True
        if mode in NEXT and ABOUT_SCHEMA.search(text):
            self._fall(mode)
            return True
        return False

    def _says_nothing_structured(self, response: ModelResponse, mode: Mode | None) -> bool:
        """Whether a model that never gave a structured reply in this mode talks instead."""
        if mode is None or self._proven or response.finish_reason not in ("stop", "tool_call", None):
            return False
        self._proven = "{" in _text(response)
        return not self._proven and mode in NEXT

    def _fall(self, mode: Mode | None) -> None:
        if mode == self._mode and mode in NEXT:     # another call may have learned it meanwhile
            self._mode = NEXT[mode]


def _parameters(ask: Ask, mode: Mode | None) -> ModelRequestParameters:
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.output import OutputObjectDefinition
    from pydantic_ai.tools import ToolDefinition

    if mode is None:
        return ModelRequestParameters()
    schema = dict(ask.schema or {})
    if mode == "tool":
        tool = ToolDefinition(name=TOOL, parameters_json_schema=schema, kind="output")
        return ModelRequestParameters(output_mode="tool", output_tools=[tool], allow_text_output=False)
    output = OutputObjectDefinition(json_schema=schema, name=TOOL, strict=True)
    return ModelRequestParameters(output_mode=mode, output_object=output)


def _text(response: ModelResponse) -> str:
    """The last structured part: a tool's arguments, else the text."""
    tools = [part.args for part in response.parts if part.part_kind == "tool-call"]
    if tools:
        return tools[-1] if isinstance(tools[-1], str) else json.dumps(tools[-1] or {}, ensure_ascii=False)
    return "".join(part.content for part in response.parts if part.part_kind == "text")


def _sum(before: Usage, response: ModelResponse) -> Usage:
    usage = response.usage
    return Usage(
        before.input_tokens + usage.input_tokens,
        before.output_tokens + usage.output_tokens,
        before.cached_tokens + usage.cache_read_tokens,
    )


def _reply(response: ModelResponse, usage: Usage, sent: dict[str, Any]) -> Reply:
    finish = response.finish_reason or ""
    reasons = {
        "length": f"the reply was cut off after {response.usage.output_tokens} tokens",
        "content_filter": "the provider's content filter stopped the reply",
        "error": "the provider says that it could not finish the reply",
    }
    reason = reasons.get(finish, "")
    known = usage if usage != Usage() else None
    return Reply(
        "failed" if reason else "ok", _text(response), reason=hidden(reason), finish=finish,
        served=response.model_name or "", sent=sent, usage=known,
    )  # fmt: skip
