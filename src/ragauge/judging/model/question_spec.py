"""How a model judge asks: what is the same for all of its questions.

JSON Schemas of replies, as strict modes take them: every field required, no others.

Long contexts go out in packs, so that nothing is cut off silently.

A judge by a short text that any process can build the same one from.

provider:model[@base URL][,key=value…], where a key is a question (its own model), embed, prompts, mode, temperature or
pack.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from ragauge.data.ask import EMBEDDERS, PROVIDERS, Ask, ModelName
from ragauge.errors import UnknownName, UsageError
from ragauge.judging.model.prompt_blocks import Block, Numbered, Prompt, Worded, numbered

Schema = Mapping[str, Any]

INTEGER: Schema = {"type": "integer"}
TEXT: Schema = {"type": "string"}
YES_NO: Schema = {"type": "boolean"}
TEXTS: Schema = {"type": "array", "items": TEXT}


def one_of(*words: str) -> Schema:
    """One of some words."""
    return {"type": "string", "enum": list(words)}


def an_object(**fields: Schema) -> Schema:
    """An object with these fields."""
    return {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}


def any_of(*forms: Schema) -> Schema:
    """An object whose only field, reply, is one of several objects."""
    return an_object(reply={"anyOf": list(forms)})


def a_list(**fields: Schema) -> Schema:
    """A list of objects with these fields."""
    return {"type": "array", "items": an_object(**fields)}


PACK = 24_000     # characters of passages in one call, about 6,000 tokens


@dataclass(frozen=True, slots=True)
class PassageBatch:
    """Sentences of the passages that go out together; passages keep their numbers over all packs.

    Attributes:
        sentences: number ("2.1") -> sentence.
    """

    sentences: dict[str, Numbered]

    @property
    def block(self) -> Block:
        """The sentences as they are sent."""
        return Block("passages", [(number, one.sentence.text) for number, one in self.sentences.items()])


@lru_cache(maxsize=16)
def passage_batches(passages: tuple[str, ...], size: int = PACK) -> tuple[PassageBatch, ...]:
    """The passages in packs of at most `size` characters, cut between passages, and inside one that is longer.

    A single sentence longer than that goes out whole in a pack of its own. No passages give no pack. Kept, since
    several questions about a response see the same passages.
    """
    filled: list[PassageBatch] = []
    current: dict[str, Numbered] = {}
    used = 0
    lengths = [len(text) for text in passages]
    for sentence in numbered(passages):
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
    """What a judge's spec says beside its models.

    Attributes:
        per_claim: one yes-or-no question a claim instead of one for all of them.
        pack: characters of passages in one call.
        params: sent with every chat call.
        wording: name of a prompt -> template of the user's own; checked.
    """

    per_claim: bool = False
    pack: int = PACK
    params: Mapping[str, Any] = field(default_factory=lambda: {"temperature": 0.0})
    wording: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class QuestionSpec:
    """Which question is asked, in which version, how, and for which time: what no prompt of it changes."""

    question: str
    version: int
    settings: Settings
    judge_repeat: int = 0
    family: Schema | None = None     # of all questions that see passages

    def worded(self, prompt: Prompt, *blocks: Block) -> Worded:
        """The texts of a request, in our wording or the user's own."""
        return prompt.messages(blocks, self.settings.wording.get(prompt.name))

    def chat(self, worded: Worded, schema: Mapping[str, Any], attempt: int = 1, only: str = "") -> Ask:
        """One request to the model; `only` stands at the end of its texts."""
        return Ask(
            "chat", self.question, self.version, (("system", worded.system), ("user", worded.text + only)),
            schema=schema, params=self.settings.params, judge_repeat=self.judge_repeat, attempt=attempt,
            shared=worded.shared, family=self.family if worded.shared else None,
        )  # fmt: skip


EMBED, EMBEDDED = "embed", "local"     # the key that names an embedder, and the one in the package
PROMPTS = "prompts"     # the key that names a file of own wording
SETTINGS = {"mode": "fused", "temperature": "0", "pack": str(PACK)}     # and what they are where nothing is said
LEAST_PACK = 1_000
SECRET = re.compile(r"//[^/]*@|\?")     # user and password, or a query


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """What a spec says.

    Attributes:
        default: the model for every question that has none of its own.
        own: question -> its model.
        settings: how it is asked.
        embedder: what turns texts into vectors; None = the embedded one.
        prompts: where own wording is read from, a path or what `wording.given` names; "" = there is none.
    """

    default: ModelName
    own: Mapping[str, ModelName] = field(default_factory=dict)
    settings: Settings = field(default_factory=Settings)
    embedder: ModelName | None = None
    prompts: str = ""

    def model(self, question: str) -> ModelName:
        """Who answers a question."""
        return self.own.get(question, self.default)


def read_spec(text: str, questions: tuple[str, ...]) -> ModelSpec:
    """A spec from its text. A file of prompts is named, not read.

    Args:
        text: such as `openai:gpt-5-mini,agree=openai:gpt-5,temperature=none`.
        questions: names that may have a model of their own.

    Raises:
        UnknownName: no such provider or key.
        UsageError: a part that cannot be read, with what to write.

    >>> str(read_spec("openai-chat:qwen2.5:7b@http://localhost:11434/v1/", ()).default)
    'openai-chat:qwen2.5:7b@http://localhost:11434/v1'
    """
    head, *rest = [part.strip() for part in text.split(",")]
    default = read_model(head)     # first: it refuses a key in a URL, and so none is repeated below
    own: dict[str, ModelName] = {}
    values: dict[str, str] = {}
    for part in rest:
        key, equals, value = part.partition("=")
        if key not in (*questions, *SETTINGS, EMBED, PROMPTS):
            raise UnknownName("setting of a judge", key, [*questions, *SETTINGS, EMBED, PROMPTS])
        if not equals or not value:
            usual = head if key in questions else {EMBED: EMBEDDED, PROMPTS: "prompts.yaml", **SETTINGS}[key]
            hint = f"Write {key}={usual}, or leave it out."
            raise UsageError(f"--judge {head},…: expected key=value, got {part!r}. {hint}")
        if key in questions:
            own[key] = read_model(value)
        else:
            values[key] = value
    settings = _settings(values)
    return ModelSpec(default, own, settings, _embedder(values.get(EMBED, EMBEDDED)), values.get(PROMPTS, ""))


def read_model(text: str) -> ModelName:
    """A model from `provider:model[@base URL]`; without one, the variable that the provider's client reads names it.

    The place is part of the name however it was said: an answer from one place is none from another.

    Raises:
        UnknownName: no such provider.
        UsageError: no model is named, or the URL is none or holds a key.
    """
    provider, _, rest = text.partition(":")
    if provider not in PROVIDERS:
        raise UnknownName("provider", provider, PROVIDERS, "A model is written provider:model.")
    at = max(rest.find("@http://"), rest.find("@https://"))
    model, endpoint = (rest, "") if at < 0 else (rest[:at], rest[at + 1 :])
    if not model:
        raise UsageError(f"{text!r} names no model. Write {provider}:NAME, as the provider spells it.")
    return ModelName(provider, model, _endpoint(provider, endpoint))


def _embedder(text: str) -> ModelName | None:
    if text == EMBEDDED:
        return None
    provider = text.partition(":")[0]
    if provider not in EMBEDDERS:
        hint = "An embedder is written embed=openai:MODEL[@base URL]; embed=local is the one in the package."
        raise UnknownName("provider of embeddings", provider, EMBEDDERS, hint)
    return read_model(text)


def _endpoint(provider: str, url: str) -> str:
    endpoint = PROVIDERS[provider]
    url = url or (os.environ.get(endpoint.variable, "").strip() if endpoint.variable else "")
    if SECRET.search(url):
        raise UsageError(
            "a judge's base URL must hold no key: it is stored and shown. Put the key into the environment, "
            "such as OPENAI_API_KEY."
        )
    url = url.partition("#")[0].rstrip("/")
    return "" if url == endpoint.official else url


def _settings(values: Mapping[str, str]) -> Settings:
    values = {**SETTINGS, **values}
    mode = values["mode"]
    if mode not in ("fused", "per_claim"):
        raise UnknownName("mode of a judge", mode, ("fused", "per_claim"))
    temperature = values["temperature"]
    try:
        params = {} if temperature == "none" else {"temperature": float(temperature)}
        pack = int(values["pack"])
    except ValueError:
        raise UsageError(
            "a judge's temperature is a number or none, its pack a number of characters; "
            f"got temperature={temperature}, pack={values['pack']}."
        ) from None
    if pack < LEAST_PACK:
        raise UsageError(f"a judge's pack must be at least {LEAST_PACK:,} characters, got {pack:,}.")
    return Settings(mode == "per_claim", pack, params)
