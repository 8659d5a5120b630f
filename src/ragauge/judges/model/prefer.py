"""prefer: which of two answers is better, asked in both orders, since judges favour a place."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import Any

from ragauge.core.ask import Ask, Reply
from ragauge.core.human_labels import AnswerPair, BetterAnswer, Preference
from ragauge.judges.model.prompt_blocks import Block, Prompt
from ragauge.judges.model.question_spec import QuestionSpec, build_enum, build_object
from ragauge.judges.model.reply_parser import parse_word
from ragauge.judges.model.verdicts import NO_VERDICT_REASON, ask_retry, interleave

VERSION = 2
PREFERENCE = Prompt(
    "prefer",
    """Compare the two answers to the question.
better = first if answer [A1] serves the question better, second if answer [A2] does, same if neither does. What \
counts is whether an answer is right, complete and to the point; its place, length and style do not.""",
    "Give better: first for answer [A1], second for answer [A2], or same.",
    ("question", "answers"),
)
BETTER_WORDS: Mapping[str, BetterAnswer] = {"first": 1, "second": 2, "same": 0}
SCHEMA = build_object(better=build_enum(*BETTER_WORDS))
SWAPPED_BETTER: Mapping[BetterAnswer | None, BetterAnswer | None] = {None: None, 0: 0, 1: 2, 2: 1}


def prefer(pair: AnswerPair, question_spec: QuestionSpec) -> Generator[list[Ask], list[Reply], Preference]:
    """Two calls, side by side; a reply without a verdict is asked for again once."""
    first, second = pair.answers
    (shown_better, shown_reason), (swapped_better, swapped_reason) = yield from interleave(
        [_ask_preference(pair.query, order, question_spec) for order in ((first, second), (second, first))]
    )
    return Preference(shown_better, SWAPPED_BETTER[swapped_better], shown_reason or swapped_reason)


def _ask_preference(
    query: str, answers: tuple[str, str], question_spec: QuestionSpec
) -> Generator[list[Ask], list[Reply], tuple[BetterAnswer | None, str]]:
    """The verdict on two answers in this order; None, and why, where there is none."""
    answers_block = Block("answers", [(f"A{n}", answer) for n, answer in enumerate(answers, 1)])
    worded = question_spec.build_texts(PREFERENCE, Block.of("question", query), answers_block)
    better, reason = yield from ask_retry(
        question_spec, worded, SCHEMA, _parse_better, lambda verdict: verdict is not None
    )
    return better[-1], reason or NO_VERDICT_REASON if better[-1] is None else ""


def _parse_better(value: Mapping[str, Any]) -> BetterAnswer | None:
    better = parse_word(value.get("better"), BETTER_WORDS)
    return None if better is None else BETTER_WORDS[better]
