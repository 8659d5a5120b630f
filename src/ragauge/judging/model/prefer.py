"""prefer: which of two answers is better, asked in both orders, since judges favour a place."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence

from ragauge.data.ask import Ask, Reply
from ragauge.data.preference import AnswerPair, Better, Preference
from ragauge.judging.model.asking import Asked, Settings
from ragauge.judging.model.fences import DATA, Block, fenced
from ragauge.judging.model.reading import structured, word
from ragauge.judging.model.verdicts import Numbering, each, one_of, together

VERSION = 1
PREFERENCE = f"""You compare two answers to a question. {DATA}
better = first if answer [A1] serves the question better, second if answer [A2] does, same if neither does. What \
counts is whether an answer is right, complete and to the point; its place, length and style do not. Reply with JSON \
only."""
SCHEMA = {
    "type": "object", "properties": {"better": one_of("first", "second", "same")}, "required": ["better"],
    "additionalProperties": False,
}  # fmt: skip
WORDS: Mapping[str, Better] = {"first": 1, "second": 2, "same": 0}
TURNED: Mapping[Better, Better] = {0: 0, 1: 2, 2: 1}


def prefer(
    pair: AnswerPair, settings: Settings, judge_repeat: int = 0
) -> Generator[list[Ask], list[Reply], Preference]:
    """Two calls, side by side; a reply without a verdict is asked for again once."""
    asked = Asked("prefer", VERSION, settings, judge_repeat)
    first, second = pair.answers
    shown, swapped = yield from together([
        _preferred(pair.query, order, asked) for order in ((first, second), (second, first))
    ])  # fmt: skip
    turned = swapped.by_number.get(1)
    reason = next((one.reason for one in (shown, swapped) if 1 not in one.by_number), "")
    return Preference(shown.by_number.get(1), None if turned is None else TURNED[turned], reason)


def _preferred(query: str, answers: tuple[str, str], asked: Asked) -> Numbering:
    block = Block("answers", [(f"A{n}", text) for n, text in enumerate(answers, 1)])
    shown = fenced([Block("question", [("", query)]), block])

    def ask(_: Sequence[int], attempt: int) -> Ask:
        return asked.chat(PREFERENCE, shown, SCHEMA, attempt)

    def read(reply: Reply, _: Sequence[int]) -> Mapping[int, Better]:
        value = structured(reply)
        said = word(value.get("better"), WORDS) if value is not None else None
        return {} if said is None else {1: WORDS[said]}

    return each([1], ask, read)
