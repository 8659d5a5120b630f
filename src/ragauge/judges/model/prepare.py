"""prepare: claims of a reference and aspects of a question, once per eval set."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import Any, NamedTuple

from ragauge.core.ask import Ask, Reply
from ragauge.core.example import Turn
from ragauge.judges.model.prompt_blocks import Block, Prompt, build_turn_blocks
from ragauge.judges.model.question_spec import TEXTS, QuestionSpec, build_object
from ragauge.judges.model.reply_parser import parse_texts
from ragauge.judges.model.verdicts import ask_retry

VERSION = 2
PREPARE_PROMPT = Prompt(
    "prepare",
    """Prepare the question and its reference answer for an evaluation.
claims: the statements of the reference answer, in order: short, each checkable by itself (names instead of pronouns, \
one fact each), nothing left out and nothing added. [] if there is no reference answer.
aspects: the parts that a full answer to the question has to treat, as short phrases; one if the question has one \
part.""",
    "Give claims: a list of texts, [] if there is no reference answer; and aspects: a list of texts.",
    ("question", "reference_answer"),
)
SCHEMA = build_object(claims=TEXTS, aspects=TEXTS)


class PreparationResult(NamedTuple):
    """What was found; None = could not be had, and the reason."""

    claims: tuple[str, ...] | None
    aspects: tuple[str, ...] | None
    reason: str = ""


def prepare(
    query: str, reference: str, question_spec: QuestionSpec, history: Sequence[Turn] = ()
) -> Generator[list[Ask], list[Reply], PreparationResult]:
    """Asked once, and once more where the reply holds no lists. A reference without a claim found counts as missing."""

    def is_complete(prepared: PreparationResult) -> bool:
        return bool(prepared.aspects) and (bool(prepared.claims) or not reference.strip())

    question = [*build_turn_blocks(history), Block.of("question", query)]
    worded = question_spec.build_texts(PREPARE_PROMPT, *question, Block.of("reference answer", reference))
    attempts, reason = yield from ask_retry(question_spec, worded, SCHEMA, _parse_prepared, is_complete)
    if is_complete(attempts[-1]):
        return attempts[-1]
    return PreparationResult(None, None, reason or "the reply holds no lists of claims and aspects")


def _parse_prepared(value: Mapping[str, Any]) -> PreparationResult:
    claims, aspects = (tuple(dict.fromkeys(parse_texts(value.get(name)))) for name in ("claims", "aspects"))
    return PreparationResult(claims, aspects)
