"""A language model that a team already has: `generate(prompt)` gives text. It looks up what it is to say."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

ITEM = re.compile(r"^\[([SCRA])(\d+)\] (.*)$", re.MULTILINE)
SENTENCE = re.compile(r"^\[(\d+)(\.\d+)\] (.*)$", re.MULTILINE)
ANSWER = re.compile(r"<<<answer ([0-9a-f]{8})\n(.*?)\n\1>>>", re.DOTALL)
Verdict = tuple[str, ...]  # supported, implied, contradicted or absent, then the sentences of passages that show it


@dataclass
class HouseModel:
    """What it knows of the texts; whatever it was not told of is absent, irrelevant and not met.

    Attributes:
        claims: sentence of an answer -> its claims with their verdicts.
        checks: claim -> its verdict.
        relevant: texts of passages or sentences that help.
        agreeing: claims that an answer and a reference share.
        addresses: answer -> fully, partly or no.
        guesses: answer -> the questions that it would answer.
        prompts: what it was asked, in order.
    """

    claims: Mapping[str, Mapping[str, Verdict]] = field(default_factory=dict)
    checks: Mapping[str, Verdict] = field(default_factory=dict)
    relevant: Sequence[str] = ()
    agreeing: Sequence[str] = ()
    addresses: Mapping[str, str] = field(default_factory=dict)
    guesses: Mapping[str, Sequence[str]] = field(default_factory=dict)
    prompts: list[str] = field(default_factory=list)

    def generate(self, prompt: str) -> str:
        """The reply: JSON of the form that the end of the prompt asks for."""
        self.prompts.append(prompt)
        fields = json.loads(prompt.rsplit("\n\n", 1)[1])["properties"]
        items = [(letter, int(n), text) for letter, n, text in ITEM.findall(prompt)]
        return json.dumps({name: self._part(name, items, prompt) for name in fields})

    def _part(self, name: str, items: Sequence[tuple[str, int, str]], prompt: str) -> Any:
        numbered = [(n, text) for letter, n, text in items if letter == LETTERS.get(name)]
        if name == "sentences" and "Rate the sentences" in prompt:
            rated = numbered or [(n + place, text) for n, place, text in SENTENCE.findall(prompt)]
            return [{"n": n, "relevant": text in self.relevant} for n, text in rated]
        if name == "passages":
            return [{"n": n, "relevant": text in self.relevant} for n, text in passages(prompt).items()]
        if name == "sentences":
            return [
                {"n": n, "claims": [{"text": one, **verdict(said)} for one, said in self._claims(text).items()]}
                for n, text in numbered
            ]
        if name in ("addresses", "refuses", "questions"):
            answer = re.sub(r"^\[S\d+\] ", "", ANSWER.findall(prompt)[0][1], flags=re.MULTILINE).replace("\n", " ")
            of: Mapping[str, Any] = {"addresses": self.addresses, "questions": self.guesses}.get(name, {})
            return of.get(answer, {"addresses": "fully", "refuses": False, "questions": []}[name])
        said = any(letter == "A" and text in self.agreeing for letter, _, text in items)
        reads: dict[str, Callable[[str], Mapping[str, Any]]] = {
            "claims": lambda text: verdict(self.checks.get(text, ("absent",))),
            "answer": lambda text: {"verdict": "agrees" if text in self.agreeing else "absent"},
            "reference": lambda text: {"stated": text in self.agreeing and said},
        }
        return [{"n": n, **reads[name](text)} for n, text in numbered]

    def _claims(self, sentence: str) -> Mapping[str, Verdict]:
        return self.claims.get(sentence, {sentence: self.checks.get(sentence, ("absent",))})


LETTERS = {"sentences": "S", "claims": "C", "answer": "A", "reference": "R"}


def passages(prompt: str) -> dict[int, str]:
    """The passages of a prompt, each its sentences in a row."""
    texts: dict[int, str] = {}
    for n, _, text in SENTENCE.findall(prompt):
        texts[int(n)] = f"{texts[int(n)]} {text}" if int(n) in texts else text
    return texts


def verdict(said: Verdict) -> dict[str, Any]:
    """The fields of a verdict."""
    word, *places = said
    by = places if word in ("supported", "implied") else []
    against = places if word == "contradicted" else []
    return {
        "verdict": "supported" if word == "implied" else word,
        "by": by,
        "against": against,
        "together": False,
        "direct": word != "implied",
    }
