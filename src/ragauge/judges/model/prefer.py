"""prefer: which of two answers is better, asked in both orders, since judges favour a place."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import Any

from ragauge.core.ask import Ask, Reply
from ragauge.core.human_labels import AnswerPair, Better, Preference
from ragauge.judges.model.prompt_blocks import Block, Prompt
from ragauge.judges.model.question_spec import QuestionSpec, an_object, one_of
from ragauge.judges.model.reply_parser import word
from ragauge.judges.model.verdicts import NO_VERDICT, ask_retry, interleave

VERSION = 2
PREFERENCE = Prompt(
    "prefer",
    """Compare the two answers to the question.
better = first if answer [A1] serves the question better, second if answer [A2] does, same if neither does. What \
counts is whether an answer is right, complete and to the point; its place, length and style do not.""",
    "Give better: first for answer [A1], second for answer [A2], or same.",
    ("question", "answers"),
)
WORDS: Mapping[str, Better] = {"first": 1, "second": 2, "same": 0}
SCHEMA = an_object(better=one_of(*WORDS))
TURNED: Mapping[Better | None, Better | None] = {None: None, 0: 0, 1: 2, 2: 1}


def prefer(pair: AnswerPair, asked: QuestionSpec) -> Generator[list[Ask], list[Reply], Preference]:
    """Two calls, side by side; a reply without a verdict is asked for again once."""
    first, second = pair.answers
    (shown, why), (swapped, swapped_why) = yield from interleave(
        [_preferred(pair.query, order, asked) for order in ((first, second), (second, first))]
    )
    return Preference(shown, TURNED[swapped], why or swapped_why)


def _preferred(
    query: str, answers: tuple[str, str], asked: QuestionSpec
) -> Generator[list[Ask], list[Reply], tuple[Better | None, str]]:
    """The verdict on two answers in this order; None, and why, where there is none."""
    shown = Block("answers", [(f"A{n}", answer) for n, answer in enumerate(answers, 1)])
    worded = asked.worded(PREFERENCE, Block.of("question", query), shown)
    better, reason = yield from ask_retry(asked, worded, SCHEMA, _better, lambda verdict: verdict is not None)
    return better[-1], reason or NO_VERDICT if better[-1] is None else ""


def _better(value: Mapping[str, Any]) -> Better | None:
    better = word(value.get("better"), WORDS)
    return None if better is None else WORDS[better]
