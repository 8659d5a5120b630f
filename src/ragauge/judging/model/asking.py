"""How a model judge asks: what is the same for all of its questions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ragauge.data.ask import Ask
from ragauge.judging.model.passage_batches import PACK
from ragauge.judging.model.prompt_blocks import Block
from ragauge.judging.model.wording import Prompt


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
