"""cover_aspects and cover_criteria: which aspects an answer addresses, which criteria it meets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ragauge.data.ask import Ask, Reply
from ragauge.data.facts import CoverFacts
from ragauge.judging.inputs import CoverAspects, CoverCriteria
from ragauge.judging.judge import Asking
from ragauge.judging.model.asking import Asked, Settings, only
from ragauge.judging.model.fences import DATA, Block, fenced
from ragauge.judging.model.reading import yes
from ragauge.judging.model.verdicts import INTEGER, YES_NO, array_of, each, listed

VERSION = 1
ASPECTS = f"""You check which parts of a question an answer addresses. {DATA}
For every part [C1], [C2], …: met = true if the answer says something that answers this part, right or wrong; false if \
not. Give every number n. Reply with JSON only."""
CRITERIA = f"""You check an answer against acceptance criteria. {DATA}
For every criterion [C1], [C2], …: met = true if the statement is true of the answer, false if not. Give every number \
n. Reply with JSON only."""


def cover_aspects(inputs: CoverAspects, settings: Settings, judge_repeat: int = 0) -> Asking:
    """One verdict an aspect."""
    return (yield from _covered(inputs, inputs.aspects, ASPECTS, "parts", settings, judge_repeat))


def cover_criteria(inputs: CoverCriteria, settings: Settings, judge_repeat: int = 0) -> Asking:
    """One verdict a criterion."""
    return (yield from _covered(inputs, inputs.criteria, CRITERIA, "criteria", settings, judge_repeat))


def _covered(
    inputs: CoverAspects | CoverCriteria,
    parts: Sequence[str],
    system: str,
    name: str,
    settings: Settings,
    judge_repeat: int,
) -> Asking:
    asked = Asked(inputs.question, VERSION, settings, judge_repeat)
    listing = Block(name, [(f"C{n}", text) for n, text in enumerate(parts, 1)])
    shown = fenced([Block("question", [("", inputs.query)]), Block("answer", [("", inputs.answer)]), listing])

    def ask(numbers: Sequence[int], attempt: int) -> Ask:
        text = shown + only("C", numbers, len(parts))
        return asked.chat(system, text, array_of(name, {"n": INTEGER, "met": YES_NO}), attempt)

    def read(reply: Reply, numbers: Sequence[int]) -> Mapping[int, bool]:
        return listed(reply, name, numbers, lambda item: yes(item.get("met")))

    found = yield from each(range(1, len(parts) + 1), ask, read)
    return CoverFacts(tuple(found.by_number.get(n) for n in range(1, len(parts) + 1)))
