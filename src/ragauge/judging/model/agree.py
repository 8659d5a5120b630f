"""agree: answer claims against reference claims, in both directions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ragauge.data.ask import Ask, Reply
from ragauge.data.facts import Agreement, AgreementFacts
from ragauge.judging.inputs import Agree
from ragauge.judging.judge import Asking
from ragauge.judging.model.asking import Asked, Settings
from ragauge.judging.model.fences import DATA, Block, fenced
from ragauge.judging.model.reading import word, yes
from ragauge.judging.model.verdicts import INTEGER, YES_NO, array_of, each, listed, one_of

VERSION = 1
AGREEMENTS: Mapping[str, Agreement] = {"agrees": "agrees", "contradicts": "contradicts", "absent": "absent"}
COMPARING = f"""You compare the claims of an answer with those of a reference. {DATA}
For every answer claim [A1], [A2], …: verdict = agrees (the reference states it, or it follows from it), contradicts \
(the reference says otherwise) or absent (the reference is silent).
For every reference claim [R1], [R2], …: stated = true if the answer says it, in whatever words, false if not.
Give every claim's number n. Reply with JSON only."""


def agree(inputs: Agree, settings: Settings, judge_repeat: int = 0) -> Asking:
    """Both lists are numbered through in one call: answer claims first, then reference claims.

    A claim that could not be had has no verdict. What another claim might state then stays open too.
    """
    asked = Asked("agree", VERSION, settings, judge_repeat)
    known = {n: text for n, text in enumerate(inputs.answer_claims, 1) if text is not None}
    wanted = dict(enumerate(inputs.reference_claims, len(inputs.answer_claims) + 1))
    gap = len(inputs.answer_claims)
    reading = _Reading(inputs, known, wanted, gap, asked)
    found = yield from each([*known, *wanted], reading.ask, reading.read)
    answer = tuple(found.by_number.get(n) for n in range(1, gap + 1))
    unknown = len(known) < gap
    stated = [found.by_number.get(n) for n in wanted]
    return AgreementFacts(answer, tuple(None if unknown and not yes_ else yes_ for yes_ in stated))


class _Reading:
    """One call about some of the claims; numbers beyond `gap` are reference claims."""

    def __init__(
        self, inputs: Agree, known: Mapping[int, str], wanted: Mapping[int, str], gap: int, asked: Asked
    ) -> None:
        self.known, self.wanted, self.gap, self.asked = known, wanted, gap, asked
        blocks = [Block("question", [("", inputs.query)])] if inputs.query else []
        blocks.append(Block("answer claims", [(f"A{n}", text) for n, text in known.items()]))
        blocks.append(Block("reference claims", [(f"R{n - gap}", text) for n, text in wanted.items()]))
        if inputs.accepted:
            blocks.append(Block("other accepted answers", [("", text) for text in inputs.accepted]))
        self.shown = fenced(blocks)
        answer = array_of("answer", {"n": INTEGER, "verdict": one_of(*AGREEMENTS)})["properties"]["answer"]
        self.schema = array_of("reference", {"n": INTEGER, "stated": YES_NO}, answer=answer)

    def ask(self, numbers: Sequence[int], attempt: int) -> Ask:
        """Asks about these claims; all are shown in any case."""
        text = self.shown
        if len(numbers) < len(self.known) + len(self.wanted):
            names = [f"A{n}" if n <= self.gap else f"R{n - self.gap}" for n in numbers]
            text += f"\nOnly {', '.join(names)}."
        return self.asked.chat(COMPARING, text, self.schema, attempt)

    def read(self, reply: Reply, numbers: Sequence[int]) -> dict[int, Any]:
        """The verdicts on claims that were sent."""
        mine = listed(reply, "answer", [n for n in numbers if n <= self.gap], _agreement)
        theirs = listed(reply, "reference", [n - self.gap for n in numbers if n > self.gap], _stated)
        return {**mine, **{n + self.gap: stated for n, stated in theirs.items()}}


def _agreement(item: Mapping[str, Any]) -> Agreement | None:
    found = word(item.get("verdict"), AGREEMENTS)
    return None if found is None else AGREEMENTS[found]


def _stated(item: Mapping[str, Any]) -> bool | None:
    return yes(item.get("stated"))
