"""How a model judge asks: what is the same for all of its questions.

JSON Schemas of replies, as strict modes take them: every field required, no others.

Long contexts go out in packs, so that nothing is cut off silently.

A judge by a short text that any process can build the same one from.

provider:model[@base URL][,key=value…], where a key is a question (its own model), embed, prompts, mode, pack, a
parameter such as temperature, or what belongs to the endpoint: key_env and header.NAME.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from ragauge.core.ask import Ask, ModelName
from ragauge.core.errors import UnknownName, UsageError
from ragauge.core.providers import ALIASES, EMBEDDERS, PROVIDERS, find_provider
from ragauge.judges.model.prompt_blocks import Block, NumberedSentence, Prompt, RequestTexts, number_sentences

Schema = Mapping[str, Any]

INTEGER: Schema = {"type": "integer"}
TEXT: Schema = {"type": "string"}
YES_NO: Schema = {"type": "boolean"}
TEXTS: Schema = {"type": "array", "items": TEXT}


def build_enum(*words: str) -> Schema:
    """One of some words."""
    return {"type": "string", "enum": list(words)}


def build_object(**fields: Schema) -> Schema:
    """An object with these fields."""
    return {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}


def build_union(*forms: Schema) -> Schema:
    """An object whose only field, reply, is one of several objects."""
    return build_object(reply={"anyOf": list(forms)})


def build_list(**fields: Schema) -> Schema:
    """A list of objects with these fields."""
    return {"type": "array", "items": build_object(**fields)}


PACK_CHARS = 24_000  # characters of passages in one call, about 6,000 tokens


@dataclass(frozen=True, slots=True)
class PassageBatch:
    """Sentences of the passages that go out together; passages keep their numbers over all packs."""

    sentences: dict[str, NumberedSentence]  #: number ("2.1") -> sentence.

    @property
    def block(self) -> Block:
        """The sentences as they are sent."""
        return Block(
            "passages",
            [(number, numbered_sentence.sentence.text) for number, numbered_sentence in self.sentences.items()],
        )


@lru_cache(maxsize=16)
def batch_passages(passages: tuple[str, ...], size: int = PACK_CHARS) -> tuple[PassageBatch, ...]:
    """The passages in packs of at most `size` characters, cut between passages, and inside one that is longer.

    A single sentence longer than that goes out whole in a pack of its own. No passages give no pack. Kept, since
    several questions about a response see the same passages.
    """
    filled: list[PassageBatch] = []
    current: dict[str, NumberedSentence] = {}
    used = 0
    lengths = [len(text) for text in passages]
    for sentence in number_sentences(passages):
        cost = len(sentence.sentence.text)
        begins = sentence.sentence.n == 1 and used + min(lengths[sentence.passage - 1], size) > size
        if current and (begins or used + cost > size):
            filled.append(PassageBatch(current))
            current, used = {}, 0
        current[sentence.number] = sentence
        used += cost
    if current:
        filled.append(PassageBatch(current))
    return tuple(filled)


@dataclass(frozen=True, slots=True)
class Settings:
    """What a judge's spec says beside its models."""

    per_claim: bool = False  #: one yes-or-no question a claim instead of one for all of them.
    pack: int = PACK_CHARS  #: characters of passages in one call.
    params: Mapping[str, Any] = field(default_factory=lambda: {"temperature": 0.0})  #: sent with every chat call.
    #: name of a prompt -> template of the user's own; checked.
    wording: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class QuestionSpec:
    """Which question is asked, in which version, how, and for which time: what no prompt of it changes."""

    question: str
    version: int
    settings: Settings
    judge_repeat: int = 0
    family: Schema | None = None  # of all questions that see passages

    def build_texts(self, prompt: Prompt, *blocks: Block) -> RequestTexts:
        """The texts of a request, in our wording or the user's own."""
        return prompt.build_messages(blocks, self.settings.wording.get(prompt.name))

    def build_chat_ask(self, worded: RequestTexts, schema: Mapping[str, Any], attempt: int = 1, only: str = "") -> Ask:
        """One request to the model; `only` stands at the end of its texts."""
        return Ask(
            "chat",
            self.question,
            self.version,
            (("system", worded.system), ("user", worded.text + only)),
            schema=schema,
            params=self.settings.params,
            judge_repeat=self.judge_repeat,
            attempt=attempt,
            shared=worded.shared,
            family=self.family if worded.shared else None,
        )


EMBED_KEY, LOCAL_EMBEDDER = "embed", "local"  # the key that names an embedder, and the one in the package
PROMPTS_KEY = "prompts"  # the key that names a file of own wording
DEFAULT_SETTINGS = {
    "mode": "fused",
    "temperature": "0",
    "pack": str(PACK_CHARS),
}  # and what they are where nothing is said
MIN_PACK_CHARS = 1_000
EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
# further parameters of a call, sent where they are given: how each is read, and what it must be
PARAMETERS: Mapping[str, tuple[Callable[[str], Any], str]] = {
    "max_tokens": (lambda text: _check_bounds(int(text), 1), "a number of at least 1"),
    "reasoning_effort": (lambda text: EFFORTS[EFFORTS.index(text)], f"one of {', '.join(EFFORTS)}"),
    "seed": (int, "a whole number"),
    "top_p": (lambda text: _check_bounds(float(text), 0, 1), "a number between 0 and 1"),
}
KEY_ENV, HEADER_PREFIX = (
    "key_env",
    "header.",
)  # what belongs to an endpoint: the variable of its key, and what it is sent
VARIABLE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
SECRET_NAME = re.compile(r"auth|key|token|secret|password|cookie", re.I)  # a header that is so called holds one
SECRET_IN_URL = re.compile(r"//[^/]*@|\?(?!api-version=[\w.-]+$)")  # user and password, or a query
AZURE_TAIL = re.compile(
    r"(?:/openai)?/deployments/([^/]+)(?:/chat/completions|/responses)?$|/openai(?:/responses)?$|(?<=/openai/v1)/.*$"
)


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """What a spec says."""

    default: ModelName  #: the model for every question that has none of its own.
    own: Mapping[str, ModelName] = field(default_factory=dict)  #: question -> its model.
    settings: Settings = field(default_factory=Settings)  #: how it is asked.
    embedder: ModelName | None = None  #: what turns texts into vectors; None = the embedded one.
    prompts: str = ""  #: where own wording is read from, a path or what `wording.given` names; "" = there is none.

    def model(self, question: str) -> ModelName:
        """Who answers a question."""
        return self.own.get(question, self.default)


def parse_spec(text: str, questions: tuple[str, ...]) -> ModelSpec:
    """A spec from its text. A file of prompts is named, not read.

    Args:
        text: such as `openai:gpt-5-mini,agree=openai:gpt-5,temperature=none`.
        questions: names that may have a model of their own.

    Raises:
        UnknownName: no such provider or key.
        UsageError: a part that cannot be read, with what to write.

    >>> str(parse_spec("openai-chat:qwen2.5:7b@http://localhost:11434/v1/", ()).default)
    'openai-chat:qwen2.5:7b@http://localhost:11434/v1'
    """
    head, *settings = [setting.strip() for setting in text.split(",")]
    default = _parse_model_name(head)  # first: it refuses a key in a URL, and so none is repeated below
    own_models: dict[str, ModelName] = {}
    values: dict[str, str] = {}
    access_by_owner: dict[str, dict[str, str]] = {}  # whose endpoint -> what belongs to it
    keys = (*questions, *DEFAULT_SETTINGS, *PARAMETERS, EMBED_KEY, PROMPTS_KEY)
    for setting in settings:
        key, equals, value = setting.partition("=")
        owner = next((name for name in (*questions, EMBED_KEY) if key.startswith(f"{name}.")), "")
        access_key = key.removeprefix(f"{owner}.") if owner else key
        if access_key != KEY_ENV and not access_key.startswith(HEADER_PREFIX) and key not in keys:
            raise UnknownName("setting of a judge", key, [*keys, KEY_ENV, f"{HEADER_PREFIX}NAME"])
        if not equals or not value:
            usual = {
                EMBED_KEY: LOCAL_EMBEDDER,
                PROMPTS_KEY: "prompts.yaml",
                "max_tokens": "1000",
                "reasoning_effort": "low",
                "seed": "7",
                "top_p": "0.9",
                **dict.fromkeys(questions, head),
                **DEFAULT_SETTINGS,
            }.get(key, "VARIABLE")
            hint = f"Write {key}={usual}, or omit it."
            raise UsageError(f"--judge {head},…: expected key=value, got {setting!r}. {hint}")
        if key in questions:
            own_models[key] = _parse_model_name(value)
        elif key in keys:
            values[key] = value
        else:
            access_by_owner.setdefault(owner, {})[access_key] = value
    embedder = _parse_embedder(values.get(EMBED_KEY, LOCAL_EMBEDDER))

    def with_access(owner: str, name: ModelName) -> ModelName:
        same = _split_url(name.url)[0] == _split_url(default.url)[0]
        return _add_access(name, {**(access_by_owner.get("", {}) if same else {}), **access_by_owner.get(owner, {})})

    return ModelSpec(
        with_access("", default),
        {key: with_access(key, name) for key, name in own_models.items()},
        _parse_settings(values),
        embedder and with_access(EMBED_KEY, embedder),
        values.get(PROMPTS_KEY, ""),
    )


def parse_model_name(text: str) -> ModelName:
    """A model from `provider:model[@base URL][,key_env=NAME][,header.NAME=VALUE]`.

    Without a URL, the variable that the provider's client reads names it. The place is part of the name however it was
    said: an answer from one place is none from another.

    Raises:
        UnknownName: no such provider or setting.
        UsageError: no model is named, or the URL is none or holds a key.
    """
    head, *settings = [setting.strip() for setting in text.split(",")]
    name, options = (
        _parse_model_name(head),
        {key: value for key, _, value in (setting.partition("=") for setting in settings)},
    )
    for key in options:
        if key != KEY_ENV and not key.startswith(HEADER_PREFIX):
            raise UnknownName("setting of a model", key, [KEY_ENV, f"{HEADER_PREFIX}NAME"])
    return _add_access(name, options)


def _parse_model_name(text: str) -> ModelName:
    prefix, _, body = text.partition(":")
    provider = find_provider(text)
    if provider is None:
        raise UnknownName("provider", prefix, [*PROVIDERS, *ALIASES], "Write a model as provider:model.")
    url_index = max(body.find("@http://"), body.find("@https://"))
    model, endpoint = (body, "") if url_index < 0 else (body[:url_index], body[url_index + 1 :])
    if not model:
        raise UsageError(f"{text!r} does not name a model. Write {prefix}:NAME, with the provider's spelling.")
    return ModelName(provider, model, _normalize_endpoint(provider, model, endpoint))


def _add_access(name: ModelName, options: Mapping[str, str]) -> ModelName:
    """A model with the variable of its endpoint's key, and with what is sent to that endpoint beside the text."""
    key_env = options.get(KEY_ENV, "")
    if KEY_ENV in options and not VARIABLE_NAME.fullmatch(key_env):
        raise UsageError(f"{KEY_ENV} names the environment variable with the key: {KEY_ENV}=MY_KEY.")
    headers = {
        key.removeprefix(HEADER_PREFIX): value for key, value in options.items() if key.startswith(HEADER_PREFIX)
    }
    for header, value in headers.items():
        if not HEADER_NAME.fullmatch(header):
            raise UsageError(f"{HEADER_PREFIX}{header}: not a valid header name. Write {HEADER_PREFIX}X-Name=value.")
        if SECRET_NAME.search(header) and "$" not in value:
            raise UsageError(
                f"{HEADER_PREFIX}{header} may contain a secret, and a judge's name is stored and shown. Put it in an "
                f"environment variable: {HEADER_PREFIX}{header}=$NAME."
            )
    return replace(name, key_env=key_env, headers=tuple(sorted(headers.items())))


def _parse_embedder(text: str) -> ModelName | None:
    if text == LOCAL_EMBEDDER:
        return None
    provider = text.partition(":")[0]
    if provider not in EMBEDDERS:
        hint = "Write an embedder as embed=openai:MODEL[@base URL]; embed=local is the built-in one."
        raise UnknownName("provider of embeddings", provider, EMBEDDERS, hint)
    return _parse_model_name(text)


def _normalize_endpoint(provider: str, model: str, url: str) -> str:
    provider_entry = PROVIDERS[provider]
    own_url = url
    url = url or (os.environ.get(provider_entry.variable, "").strip() if provider_entry.variable else "")
    if SECRET_IN_URL.search(url) or ("?" in url and not provider.startswith("azure")):
        raise UsageError(
            "a judge's base URL must not contain a key or a query, because it is stored and shown. Put the key in an "
            "environment variable and name it, such as key_env=MY_KEY; ?api-version= is for azure:DEPLOYMENT@URL."
        )
    url = url.partition("#")[0].rstrip("/")
    if provider.startswith("azure") and url:
        url = _normalize_azure_url(url, model if own_url else "")
    elif (
        provider_entry.keyless and url and not _split_url(url)[1]
    ):  # as its server is known, without the path of its API
        url += _split_url(provider_entry.official)[1]
    return "" if url == provider_entry.official else url


def _split_url(url: str) -> tuple[str, str]:
    """Scheme and host of a URL, and its path; ("", "") of what is none."""
    match = re.match(r"(\w+://[^/?#]*)([^?#]*)", url)
    return (match[1].lower(), match[2].rstrip("/")) if match else ("", "")


def _normalize_azure_url(url: str, deployment: str) -> str:
    """Azure's address as its portal gives it, without what the client adds; with the version of the API."""
    base, _, query = url.partition("?")
    tail = AZURE_TAIL.search(base.rstrip("/"))
    if tail is not None and tail[1] and deployment and tail[1] != deployment:
        raise UsageError(
            f"the URL names the deployment {tail[1]}, but the judge names {deployment}. Write azure:{tail[1]}@URL."
        )
    base = AZURE_TAIL.sub("", base.rstrip("/"))
    version = os.environ.get("OPENAI_API_VERSION", "").strip()
    if base.endswith(("/v1", ".models.ai.azure.com")):  # which take no version
        query = ""
    elif not query and version:
        query = f"api-version={version}"
    return f"{base}?{query}" if query else base


def _parse_settings(values: Mapping[str, str]) -> Settings:
    values = {**DEFAULT_SETTINGS, **values}
    mode = values["mode"]
    if mode not in ("fused", "per_claim"):
        raise UnknownName("mode of a judge", mode, ("fused", "per_claim"))
    temperature = values["temperature"]
    try:
        params: dict[str, Any] = {} if temperature == "none" else {"temperature": float(temperature)}
        pack = int(values["pack"])
    except ValueError:
        raise UsageError(
            "a judge's temperature must be a number or none, and its pack a number "
            f"of characters; got temperature={temperature}, pack={values['pack']}."
        ) from None
    if pack < MIN_PACK_CHARS:
        raise UsageError(f"a judge's pack must be at least {MIN_PACK_CHARS:,} characters, got {pack:,}.")
    for key, (read, expected) in PARAMETERS.items():
        if key in values:
            try:
                params[key] = read(values[key])
            except ValueError:
                raise UsageError(f"a judge's {key} must be {expected}, got {values[key]}.") from None
    return Settings(mode == "per_claim", pack, params)


def _check_bounds(value: float, min_value: float, max_value: float = float("inf")) -> float:
    if not min_value <= value <= max_value:
        raise ValueError(value)
    return value
