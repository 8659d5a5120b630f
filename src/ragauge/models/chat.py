"""One call to a model through the library that knows the providers; what a model does not take is learned once.

How many tokens a text has at the least is counted here, whatever the tokenizer; a server that read fewer has cut it.
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Awaitable, Callable, Collection, Mapping
from contextvars import ContextVar
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from ragauge.core.ask import Ask, ModelName, Reply, Usage
from ragauge.models.endpoints import hide_keys, is_own_host, list_known_keys, remove_keys
from ragauge.models.model import CallError, build_call_error
from ragauge.models.prompt_cache import is_schema_first, needs_cache_mark

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelResponse
    from pydantic_ai.models import Model, ModelRequestParameters

Mode = Literal["native", "tool", "prompted"]
NEXT_MODE: dict[Mode, Mode] = {"native": "tool", "tool": "prompted"}
TOOL = "reply"
PADDING = " Reply with JSON only." * 8  # makes a prompt longer and asks nothing more: a limit stays where it is
THOUGHT = re.compile(r"\A\s*<think>.*?</think>\s*", re.DOTALL)
ABOUT_SCHEMA = re.compile(
    r"response_format|response_schema|json_schema|json_validate|output_config|output_format|text\.format|structured"
    r"|grammar|tool|function|schema",
    re.I,
)
# how providers call a parameter of ours
PARAM_PATTERNS = {
    "max_tokens": r"max(?:_completion|_output)?_tokens|maxOutputTokens",
    "openai_store": "store",
    "reasoning_effort": r"reasoning(?:[_.]effort)?|thinking\w*",
    "top_p": "top_?[pP]",
}
NO_SUCH_API = (404, 405)
KEY_HINT = (
    "No key was sent, because a provider's usual key is sent only to the provider's own hosts. To set the variable "
    "with this server's key, add ,key_env=NAME after the model"
)
FALLBACK = "chat completions"  # what a reply says was spoken where the place knows no Responses API
BULKY_KEYS = frozenset(
    {
        "messages",
        "input",
        "instructions",
        "system",
        "systemInstruction",
        "contents",
        "tools",
        "response_format",
        "text",
        "output_config",
        "output_format",
        "responseJsonSchema",
        "responseSchema",
    }
)
_sent: ContextVar[dict[str, Any] | None] = ContextVar("_sent", default=None)


async def note_request(request: Any) -> None:
    """A request hook: notes what is really sent, texts and schema left out, for the call of this task."""
    note = _sent.get()
    if note is not None:
        try:
            body = json.loads(request.content)
        except (ValueError, AttributeError, RuntimeError):
            return
        if isinstance(body, dict):
            body |= body.pop("generationConfig", {})  # where Google keeps parameters
            note.update({key: value for key, value in body.items() if key not in BULKY_KEYS})


class Dialect(NamedTuple):
    """How a provider's API is asked."""

    #: how a schema stands in a request's body; None = the library's own way, which walks through the schema several
    #: times a call.
    native: Callable[[Mapping[str, Any]], dict[str, Any]] | None = None
    always: Mapping[str, Any] = MappingProxyType({})  #: settings of every call, beside what is asked.
    refused: Collection[str] = ()  #: parameters that are known to be refused.
    #: parameter -> its older name in a request's body, tried where the library's name is refused.
    instead: Mapping[str, str] = MappingProxyType({})
    effort: str = "thinking"  #: how the library's adapter calls the effort of reasoning.


class LibraryModel:
    """`ChatModel` for every provider that the library knows.

    The schema is given natively, else as a tool, else in the prompt; a parameter that the model refuses is left out
    from then on. Both are learned from its own answers, once, and stand beside each reply as what was sent.
    """

    def __init__(
        self,
        name: ModelName,
        model: Model,
        close: Callable[[], Awaitable[None]],
        dialect: Dialect,
        otherwise: LibraryModel | None = None,
    ) -> None:
        """A model that the library knows.

        Args:
            name: which.
            model: the library's adapter.
            close: closes its connections.
            dialect: how it is asked.
            otherwise: who is asked from then on where the place knows no such API: it speaks another one.
        """
        warnings.filterwarnings("ignore", "Failed to extract usage")  # tokens below zero: `_read_usage` has none then
        self._otherwise = otherwise
        self._elsewhere = False  # the place knows no such API
        self._name, self._model, self._close = name, model, close
        self._native, self._always, self._effort = dialect.native, dict(dialect.always), dialect.effort
        self._schema_first, self._marked = is_schema_first(name), needs_cache_mark(name)
        self._mode: Mode = "native"
        self._proven = False  # a structured reply came in this mode
        self._doubted: dict[tuple[tuple[str, str], ...], int] = {}  # messages -> tokens read, at what may be a limit
        self._refused: set[str] = set(dialect.refused)
        self._instead = dict(dialect.instead)
        self._older: set[str] = set()  # parameters that go by their older names
        self._sent_with: dict[tuple[Mode | None, frozenset[str], str], dict[str, Any]] = {}  # settings -> as sent
        self._keys = list_known_keys()  # a server that echoes one must not get it into the store

    @property
    def name(self) -> ModelName:
        """Which model."""
        return self._name

    @property
    def note(self) -> str:
        """What the place does not know, and what was asked instead; "" for nothing."""
        address = f"{self._name.model}@{self._name.endpoint}"
        return (
            (
                f"{self._name}: the server has no Responses API, so chat completions were "
                f"used. Use openai-chat:{address} to call them directly."
            )
            if self._elsewhere
            else ""
        )

    async def reply(self, ask: Ask, timeout: float) -> Reply:
        """The reply, ok or failed. CallError where nothing came that says anything about the text."""
        if self._elsewhere and self._otherwise is not None:
            reply = await self._otherwise.reply(ask, timeout)
            return replace(reply, sent={**reply.sent, "api": FALLBACK})
        mode = self._mode if ask.schema is not None else None
        if self._schema_first and ask.shared and ask.family is not None:
            ask = replace(ask, schema=ask.family)
        messages, doubted = ask.messages, self._doubted.pop(ask.messages, 0)
        if doubted:
            (role, text), *others = messages
            ask = replace(ask, messages=((role, text + PADDING), *others))
        params = {key: value for key, value in {**self._always, **ask.params}.items() if key not in self._refused}
        older = frozenset(self._older & params.keys())
        settings = (mode, older, repr(params))
        note = dict(self._sent_with.get(settings, {}))
        token = _sent.set(None if note else note)  # a body is read once for each combination of settings
        try:
            response = await self._send_request(ask, mode, params, older)
        except Exception as error:
            outcome = build_call_error(error, self._name.provider)
            if isinstance(outcome, CallError) and self._otherwise is not None and outcome.status in NO_SUCH_API:
                self._elsewhere = True
                raise CallError("refused", str(outcome), status=outcome.status, learned=True) from None
            if isinstance(outcome, CallError):
                if outcome.trouble == "auth" and not self._name.key_env and not is_own_host(self._name):
                    outcome.args = (f"{str(outcome).rstrip('.')}. {KEY_HINT}",)
                outcome.learned = outcome.trouble == "refused" and self._learn_refusal(
                    str(outcome), params, older, mode
                )
                raise outcome from None
            return outcome
        finally:
            _sent.reset(token)
        self._sent_with[settings] = note
        usage = _read_usage(response)
        if response.finish_reason != "content_filter":  # a prompt that is refused was not read
            self._check_read(messages, usage, doubted, may_doubt=mode is not None)
        if self._is_prose(response, mode):
            self._fall_back(mode)
            text = f"no structure in the reply ({mode}): {hide_keys(_extract_text(response))[:80]!r}"
            raise CallError("unstructured", text, usage=usage, learned=True)
        outcome = _build_reply(
            response, usage, (note or params) | ({"schema": mode} if mode else {})
        )  # no hook: as meant
        return replace(
            outcome, text=remove_keys(outcome.text, self._keys), served=remove_keys(outcome.served, self._keys)
        )

    async def close(self) -> None:
        """Closes its connections."""
        await self._close()

    def _check_read(
        self, messages: tuple[tuple[str, str], ...], usage: Usage | None, doubted: int, *, may_doubt: bool
    ) -> None:
        """Raises where the server read less than was sent.

        Where as many tokens were read as a limit may be, the same is asked once more with a longer prompt: if no more
        are read then, the prompt is cut there.

        Args:
            messages: what was sent, without padding.
            usage: tokens, as the provider counted them; some count those from their cache apart.
            doubted: tokens read when the same was sent without padding; 0 = it was not.
            may_doubt: whether the padding fits what is asked.
        """
        if usage is None:
            return
        read = usage.input_tokens + usage.cached_tokens + usage.written_tokens
        text = describe_cut(messages[-1][1], read)
        if not text and doubted and usage.input_tokens <= doubted:
            text = (
                f"the server read {doubted:,} tokens of this and a longer prompt, so it truncates prompts. {CUT_HINT}"
            )
        if text:
            raise CallError("cut", text, usage=usage)
        if may_doubt and not doubted and can_be_cut(usage.input_tokens):
            self._doubted[messages] = usage.input_tokens
            raise CallError("cut", "asked again with a longer prompt", usage=usage, learned=True)

    async def _send_request(
        self, ask: Ask, mode: Mode | None, params: Mapping[str, Any], older: Collection[str]
    ) -> ModelResponse:
        from pydantic_ai.direct import model_request
        from pydantic_ai.messages import CachePoint, ModelRequest, SystemPromptPart, UserPromptPart

        parts = [SystemPromptPart(text) if role == "system" else UserPromptPart(text) for role, text in ask.messages]
        if self._marked and ask.shared:
            text = ask.messages[-1][1]
            parts[-1] = UserPromptPart([text[: ask.shared], CachePoint(), text[ask.shared :]])
        called = {"reasoning_effort": self._effort}
        settings: Any = {called.get(key, key): value for key, value in params.items() if key not in older}
        more = {self._instead[key]: params[key] for key in older}
        if mode == "native" and self._native is not None:
            more, mode = more | self._native(ask.schema or {}), None
        if more:
            settings["extra_body"] = more
        return await model_request(
            self._model,
            [ModelRequest(parts=parts)],
            model_settings=settings,
            model_request_parameters=_build_parameters(ask, mode),
            instrument=False,
        )

    def _learn_refusal(self, text: str, params: Mapping[str, Any], older: Collection[str], mode: Mode | None) -> bool:
        """Whether a refusal taught something, so that the call is worth making again.

        A parameter that another call learned of meanwhile counts too: this call was sent before.
        """
        for key in params:
            if re.search(rf"\b(?:{PARAM_PATTERNS.get(key, re.escape(key))})\b", text, re.I):
                (self._older if key in self._instead and key not in older else self._refused).add(key)
                return True
        if mode in NEXT_MODE and ABOUT_SCHEMA.search(text) and not (mode == self._mode and self._proven):
            self._fall_back(mode)
            return True
        return False

    def _is_prose(self, response: ModelResponse, mode: Mode | None) -> bool:
        """Whether a model that never gave a structured reply in this mode talks instead."""
        if mode is None or response.finish_reason not in ("stop", "tool_call", None):
            return False
        structured = "{" in _extract_text(response)
        if mode != self._mode:  # another call learned meanwhile that this way does not work
            return not structured
        if structured:
            self._proven = True
        return not structured and not self._proven and mode in NEXT_MODE

    def _fall_back(self, mode: Mode | None) -> None:
        if mode == self._mode and mode in NEXT_MODE:  # another call may have learned it meanwhile
            self._mode, self._proven = NEXT_MODE[mode], False


def _build_parameters(ask: Ask, mode: Mode | None) -> ModelRequestParameters:
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


def _extract_text(response: ModelResponse) -> str:
    """The last structured part: a tool's arguments, else the text behind the reasoning that some servers put first."""
    tools = [part.args for part in response.parts if part.part_kind == "tool-call"]
    if tools:
        return tools[-1] if isinstance(tools[-1], str) else json.dumps(tools[-1] or {}, ensure_ascii=False)
    return THOUGHT.sub("", "".join(part.content for part in response.parts if part.part_kind == "text"))


def _read_usage(response: ModelResponse) -> Usage | None:
    """Tokens; None where the provider says none, or what cannot be: a prompt of none, or fewer of anything."""
    usage = response.usage
    counted = Usage(usage.input_tokens, usage.output_tokens, usage.cache_read_tokens, usage.cache_write_tokens)
    read = counted.input_tokens + counted.cached_tokens + counted.written_tokens
    return counted if read > 0 <= min(counted.input_tokens, counted.output_tokens) else None


def _build_reply(response: ModelResponse, usage: Usage | None, sent: dict[str, Any]) -> Reply:
    finish = response.finish_reason or ""
    reasons = {
        "length": f"the reply was truncated after {response.usage.output_tokens} tokens",
        "content_filter": "the provider's content filter stopped the reply",
        "error": "the provider reports that it could not finish the reply",
    }
    reason = reasons.get(finish, "")
    return Reply(
        "failed" if reason else "ok",
        _extract_text(response),
        reason=reason,
        finish=finish,
        served=response.model_name or "",
        sent=sent,
        usage=usage,
    )


# characters of scripts that put no blanks between words: Thai and Lao, Burmese, Khmer, kana, Han
UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
# what tokenizers do not join: words, as one token up to 24 characters (4 where nothing parts them), and marks that no
# letter follows, as many as stand in a row
PIECE = re.compile(
    rf"[{UNSPACED}]{{1,4}}|(?:[^\W_{UNSPACED}]|[^\x00-\x7f\s{UNSPACED}]){{1,24}}|[!-/:-@\[-`{{-~]+(?![^\W\d_])"
)
ASCII_PIECE = re.compile(r"[A-Za-z0-9]{1,24}|[!-/:-@\[-`{-~]+(?![A-Za-z])")  # the same, three times as fast
MIN_TOKENS = 64  # tokens of a text that is checked: what is judged never has fewer
MIN_LIMIT_TOKENS = 512  # tokens: where a server cuts without a word that it read fewer than a text can have
MIN_READ_SHARE = 0.85  # of the fewest tokens that a text can have
LIMIT_STEP_TOKENS, LIMIT_OFFSETS = (
    1_024,
    (0, 1, 2, 1_023),
)  # where servers cut: at a multiple, or half of one with a few tokens kept
CUT_HINT = "Raise num_ctx (Ollama: OLLAMA_CONTEXT_LENGTH) or the server's context length"


def count_fewest_tokens(text: str) -> int:
    """Tokens of a text by a tokenizer that knows every word: real ones need more. Blanks count nothing.

    >>> count_fewest_tokens("It lasts a day."), count_fewest_tokens(" " * 500 + "=" * 500), count_fewest_tokens("คุณภาพ")
    (5, 1, 2)
    """
    return len((ASCII_PIECE if text.isascii() else PIECE).findall(text))


def describe_cut(text: str, read: int) -> str:
    """That a server cut a text of which it says how many tokens it read, and what to do; "" where it read all.

    Args:
        text: what was sent, without what a server may leave out or add.
        read: tokens, those from its cache included.
    """
    fewest = count_fewest_tokens(text) if read < len(text) else 0
    if fewest < MIN_TOKENS or read >= MIN_READ_SHARE * fewest:
        return ""
    return f"the server read {read:,} of at least {fewest:,} tokens, so it truncated the prompt. {CUT_HINT}"


def can_be_cut(read: int) -> bool:
    """Whether a number of tokens looks like a limit; one in 256 does by chance."""
    return read >= MIN_LIMIT_TOKENS and read % LIMIT_STEP_TOKENS in LIMIT_OFFSETS
