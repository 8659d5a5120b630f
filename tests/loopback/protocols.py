"""What the requests and replies of four protocols look like: OpenAI's two, Anthropic's and Google's."""

from __future__ import annotations

import contextlib
import json
import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Body = Mapping[str, Any]
SIZE = 16  # numbers of a vector
RETRY_AFTER = 0.05  # seconds that a 429 asks to wait


@dataclass(frozen=True, slots=True)
class Asked:
    """What a request asks, whatever its protocol.

    Attributes:
        system: the system text.
        user: the text to judge.
        schema: of the reply; {} = none was given.
        mode: how it was given: native, tool, prompted.
    """

    system: str
    user: str
    schema: Mapping[str, Any]
    mode: str


@dataclass(frozen=True, slots=True)
class Said:
    """What a model says: its text, as a tool's arguments or not, why it stopped, its tokens, and how many choices.

    Of the input tokens `cached` were served from a cache and `written` into one.
    """

    text: str
    as_tool: bool
    finish: str
    model: str
    input_tokens: int
    output_tokens: int
    n: int = 1
    cached: int = 0
    written: int = 0


@dataclass(frozen=True, slots=True)
class Refusal:
    """How a provider says no: status, body, and headers."""

    status: int
    body: Mapping[str, Any]
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Protocol:
    """How requests are read, replies are written, and how it says no: fault -> what it answers."""

    asked: Callable[[Body], Asked]
    reply: Callable[[Said], dict[str, Any]]
    refusals: Mapping[str, Refusal]


def protocol_of(path: str) -> Protocol:
    """The protocol that is spoken at a path; chat completions at any that no other has."""
    kinds = {"/responses": RESPONSES, "/messages": MESSAGES}
    kinds |= dict.fromkeys((":generateContent", ":batchEmbedContents"), GENERATE)
    return next((found for end, found in kinds.items() if path.partition("?")[0].endswith(end)), CHAT)


def _chat_asked(body: Body) -> Asked:
    texts: dict[str, str] = {}
    for message in body.get("messages", []):
        role = message.get("role", "user")
        texts[role] = texts.get(role, "") + _content(message.get("content"))
    form = body.get("response_format", {})
    native = form.get("json_schema", {}).get("schema", {}) if form.get("type") == "json_schema" else None
    tool = body["tools"][0]["function"].get("parameters", {}) if body.get("tools") else None
    return _asked(texts.get("system", ""), texts.get("user", ""), native, tool)


def _chat_reply(said: Said) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": said.text}
    if said.as_tool:
        call = {"id": "call_1", "type": "function", "function": {"name": "reply", "arguments": said.text}}
        message = {"role": "assistant", "content": None, "tool_calls": [call]}
    used = {"prompt_tokens": said.input_tokens, "completion_tokens": said.output_tokens}
    return {
        "id": "reply",
        "object": "chat.completion",
        "created": 1,
        "model": said.model,
        "provider": "loopback",  # who serves it behind OpenRouter
        "choices": [{"index": n, "finish_reason": said.finish, "message": message} for n in range(said.n)],
        "usage": {**used, "total_tokens": sum(used.values()), "prompt_tokens_details": {"cached_tokens": said.cached}},
    }


def _responses_asked(body: Body) -> Asked:
    given = body.get("input", [])
    messages = [{"role": "user", "content": given}] if isinstance(given, str) else given
    texts = {"system": body.get("instructions") or ""}
    for message in messages:
        role = "system" if message.get("role") in ("system", "developer") else "user"
        texts[role] = texts.get(role, "") + _content(message.get("content"))
    form = body.get("text", {}).get("format", {})
    native = form.get("schema", {}) if form.get("type") == "json_schema" else None
    tool = body["tools"][0].get("parameters", {}) if body.get("tools") else None
    return _asked(texts["system"], texts.get("user", ""), native, tool)


def _responses_reply(said: Said) -> dict[str, Any]:
    stopped = {"length": "max_output_tokens", "content_filter": "content_filter"}.get(said.finish)
    status = "incomplete" if stopped else "completed"
    part = {"type": "output_text", "text": said.text, "annotations": []}
    output: dict[str, Any] = {"type": "message", "id": "msg_1", "role": "assistant", "content": [part]}
    if said.as_tool:
        output = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "reply", "arguments": said.text}
    used = {"input_tokens": said.input_tokens, "output_tokens": said.output_tokens}
    details = {"input_tokens_details": {"cached_tokens": said.cached}, "output_tokens_details": {"reasoning_tokens": 0}}
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "model": said.model,
        "status": status,
        "incomplete_details": {"reason": stopped} if stopped else None,
        "error": None,
        "output": [output | {"status": status}],
        "usage": {**used, **details, "total_tokens": sum(used.values())},
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    }


def _messages_asked(body: Body) -> Asked:
    user = "".join(_content(one.get("content")) for one in body.get("messages", []))
    form = body.get("output_config", {}).get("format") or body.get("output_format") or {}
    tool = body["tools"][0].get("input_schema", {}) if body.get("tools") else None
    return _asked(_content(body.get("system")), user, form.get("schema"), tool)


def _messages_reply(said: Said) -> dict[str, Any]:
    part: dict[str, Any] = {"type": "text", "text": said.text}
    if said.as_tool:
        with contextlib.suppress(ValueError):
            part = {"type": "tool_use", "id": "toolu_1", "name": "reply", "input": json.loads(said.text)}
    stops = {"stop": "tool_use" if said.as_tool else "end_turn", "length": "max_tokens", "content_filter": "refusal"}
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": said.model,
        "content": [part],
        "stop_reason": stops[said.finish],
        "stop_sequence": None,
        "usage": {
            "input_tokens": said.input_tokens - said.cached - said.written,
            "output_tokens": said.output_tokens,
            "cache_read_input_tokens": said.cached,
            "cache_creation_input_tokens": said.written,
        },
    }


def _generate_asked(body: Body) -> Asked:
    system = _parts(body.get("systemInstruction", {}))
    user = "".join(_parts(one) for one in body.get("contents", []))
    settings = body.get("generationConfig", {})
    native = settings.get("responseJsonSchema") or settings.get("responseSchema")
    tools = [one for tool in body.get("tools") or [] for one in tool.get("functionDeclarations", [])]
    names = ("parametersJsonSchema", "parameters_json_schema", "parameters")  # the client's versions differ
    tool: Any = next((tools[0][name] for name in names if tools[0].get(name)), {}) if tools else None
    return _asked(system, user, native, tool)


def _generate_reply(said: Said) -> dict[str, Any]:
    part: dict[str, Any] = {"text": said.text}
    if said.as_tool:
        with contextlib.suppress(ValueError):
            part = {"functionCall": {"name": "reply", "args": json.loads(said.text)}}
    stops = {"stop": "STOP", "length": "MAX_TOKENS", "content_filter": "SAFETY"}
    used = {"promptTokenCount": said.input_tokens, "candidatesTokenCount": said.output_tokens}
    content = {"role": "model", "parts": [part]}
    return {
        "candidates": [{"index": 0, "finishReason": stops[said.finish], "content": content}],
        "usageMetadata": {**used, "totalTokenCount": sum(used.values())},
        "modelVersion": said.model,
    }


def _openai(status: int, kind: str, message: str, **more: str) -> Refusal:
    headers = {"retry-after": str(RETRY_AFTER)} if status == 429 else {}
    return Refusal(status, {"error": {"message": message, "type": kind, **more}}, headers)


def _anthropic(status: int, kind: str, message: str) -> Refusal:
    headers = {"retry-after": str(RETRY_AFTER)} if status == 429 else {}
    return Refusal(status, {"type": "error", "error": {"type": kind, "message": message}}, headers)


def _google(status: int, kind: str, message: str, details: Sequence[Body] = ()) -> Refusal:
    return Refusal(status, {"error": {"code": status, "message": message, "status": kind, "details": list(details)}})


# what the providers' own pages and users' reports show; Google says the time to wait in the body
OPENAI_REFUSALS = {
    "rate_limited": _openai(429, "rate_limit_error", "Rate limit reached."),
    "server": _openai(500, "server_error", "The server had an error."),
    "too_long": _openai(
        400,
        "invalid_request_error",
        "This model's maximum context length is 8192 tokens. Please reduce the length of the messages.",
        code="context_length_exceeded",
    ),
    "filtered_prompt": _openai(
        400,
        "invalid_request_error",
        "The response was filtered due to the prompt triggering the content management policy.",
        code="content_filter",
    ),
}
ANTHROPIC_REFUSALS = {
    "rate_limited": _anthropic(429, "rate_limit_error", "This request would exceed your rate limit."),
    "server": _anthropic(500, "api_error", "Internal server error"),
    "overloaded": _anthropic(529, "overloaded_error", "Overloaded"),
    "too_long": _anthropic(400, "invalid_request_error", "prompt is too long: 215000 tokens > 200000 maximum"),
    "filtered_prompt": _anthropic(400, "invalid_request_error", "Output blocked by content filtering policy"),
}
GOOGLE_REFUSALS = {
    "rate_limited": _google(
        429,
        "RESOURCE_EXHAUSTED",
        "You exceeded your current quota, please check your plan and billing details. Quota exceeded for metric: "
        f"generate_content_requests, limit: 10. Please retry in {RETRY_AFTER}s.",
        [
            {
                "@type": "type.googleapis.com/google.rpc.QuotaFailure",
                "violations": [{"quotaId": "GenerateRequestsPerMinutePerProjectPerModel"}],
            },
            {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": f"{RETRY_AFTER}s"},
        ],
    ),
    "server": _google(500, "INTERNAL", "An internal error has occurred."),
    "overloaded": _google(503, "UNAVAILABLE", "The model is overloaded. Please try again later."),
    "too_long": _google(
        400,
        "INVALID_ARGUMENT",
        "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
    ),
    "filtered_prompt": Refusal(
        200, {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "usageMetadata": {"promptTokenCount": 9}}
    ),
}
CHAT = Protocol(_chat_asked, _chat_reply, OPENAI_REFUSALS)
RESPONSES = Protocol(_responses_asked, _responses_reply, OPENAI_REFUSALS)
MESSAGES = Protocol(_messages_asked, _messages_reply, ANTHROPIC_REFUSALS)
GENERATE = Protocol(_generate_asked, _generate_reply, GOOGLE_REFUSALS)


def _asked(system: str, user: str, native: Any, tool: Any) -> Asked:
    if native is not None:
        return Asked(system, user, native, "native")
    if tool is not None:
        return Asked(system, user, tool, "tool")
    return Asked(system, user, _in_prompt(f"{system} {user}"), "prompted")


def _content(content: Any) -> str:
    if isinstance(content, list):
        return "".join(part.get("text", "") for part in content)
    return content or ""


def _parts(content: Body) -> str:
    return "".join(part.get("text", "") for part in content.get("parts", []))


def _in_prompt(text: str) -> Mapping[str, Any]:
    """The schema that a prompt describes, where there is one."""
    at = text.find('{"')
    while at >= 0:
        with contextlib.suppress(ValueError):
            found, _ = json.JSONDecoder().raw_decode(text, at)
            if isinstance(found, dict) and "properties" in found:
                return found
        at = text.find('{"', at + 1)
    return {}


def embeddings(body: Body, fault: str = "") -> dict[str, Any]:
    """A vector a text, drawn from its words: the same text has the same, texts that share words are alike."""
    given = body.get("input", [])
    if "requests" in body:  # Google's
        given = [_parts(one.get("content", {})) for one in body["requests"]]
    texts: Sequence[str] = [given] if isinstance(given, str) else given
    rows = [_vector(text) for text in texts]
    if fault == "missing":
        rows = rows[: len(rows) // 2]
    elif fault == "wrong_types":
        rows = [row[: SIZE - n % 2] for n, row in enumerate(rows)]
    if "requests" in body:
        return {"embeddings": [{"values": row} for row in rows]}
    data = [{"object": "embedding", "index": n, "embedding": row} for n, row in enumerate(rows)]
    tokens = sum(len(text) // 4 + 1 for text in texts)
    usage = {"prompt_tokens": tokens, "total_tokens": tokens}
    return {"object": "list", "data": data, "model": f"{body.get('model', 'any')}-served", "usage": usage}


def _vector(text: str) -> list[float]:
    """The sum of a vector a word."""
    row = [0.0] * SIZE
    for word in re.findall(r"\w+", text.lower()):
        draw = random.Random(word)
        row = [value + draw.uniform(-1, 1) for value in row]
    return row
