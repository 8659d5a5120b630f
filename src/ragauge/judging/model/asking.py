"""How a model judge asks: what is the same for all of its questions.

JSON Schemas of replies, as strict modes take them: every field required, no others.

Long contexts go out in packs, so that nothing is cut off silently.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from ragauge.data.ask import Ask
from ragauge.judging.model.prompt_blocks import Block, Numbered, Prompt, numbered

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


def a_list(**fields: Schema) -> Schema:
    """A list of objects with these fields."""
    return {"type": "array", "items": an_object(**fields)}


PACK = 24_000     # characters of passages in one call, about 6,000 tokens


@dataclass(frozen=True, slots=True)
class Pack:
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
def packs(passages: tuple[str, ...], size: int = PACK) -> tuple[Pack, ...]:
    """The passages in packs of at most `size` characters, cut between passages, and inside one that is longer.

    A single sentence longer than that goes out whole in a pack of its own. No passages give no pack. Kept, since
    several questions about a response see the same passages.
    """
    filled: list[Pack] = []
    current: dict[str, Numbered] = {}
    used = 0
    lengths = [len(text) for text in passages]
    for sentence in numbered(passages):
        cost = len(sentence.sentence.text)
        begins = sentence.sentence.n == 1 and used + min(lengths[sentence.passage - 1], size) > size
        if current and (begins or used + cost > size):
            filled.append(Pack(current))
            current, used = {}, 0
        current[sentence.number] = sentence
        used += cost
    if current:
        filled.append(Pack(current))
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

    def worded(self, prompt: Prompt, *blocks: Block) -> tuple[str, str]:
        """The system's and the user's text of a request, in our wording or the user's own."""
        return prompt.messages(blocks, self.settings.wording.get(prompt.name))

    def chat(self, system: str, text: str, schema: Mapping[str, Any], attempt: int = 1) -> Ask:
        """One request to the model."""
        return Ask(
            "chat", self.question, self.version, (("system", system), ("user", text)), schema=schema,
            params=self.settings.params, judge_repeat=self.judge_repeat, attempt=attempt,
        )  # fmt: skip
