"""agree: answer claims against reference claims, in both directions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ragauge.core.facts import Agreement, AgreementFacts
from ragauge.judges.inputs import Agree
from ragauge.judges.judge import AskGenerator, find_trivial_agreement
from ragauge.judges.model.prompt_blocks import Block, Prompt, build_turn_blocks
from ragauge.judges.model.question_spec import INTEGER, YES_NO, QuestionSpec, build_enum, build_list, build_object
from ragauge.judges.model.reply_parser import parse_bool, parse_word
from ragauge.judges.model.verdicts import VerdictList, ask_each

VERSION = 2
AGREEMENTS: Mapping[str, Agreement] = {"agrees": "agrees", "contradicts": "contradicts", "absent": "absent"}
AGREE_PROMPT = Prompt(
    "agree",
    """Compare the claims of the answer with those of the reference.
For every answer claim [A1], [A2], …: verdict = agrees (the reference states it, or it follows from it), contradicts \
(the reference says otherwise) or absent (the reference is silent).
For every reference claim [R1], [R2], …: stated = true if the answer says it, in whatever words, false if not.
Give every claim's number n.""",
    """For every answer claim [A1], [A2], … give its number n and verdict: agrees, contradicts or absent.
For every reference claim [R1], [R2], … give its number n and stated: true or false.""",
    ("question", "answer_claims", "reference_claims", "other_accepted_answers"),
)
SCHEMA = build_object(
    reference=build_list(n=INTEGER, stated=YES_NO), answer=build_list(n=INTEGER, verdict=build_enum(*AGREEMENTS))
)


def agree(inputs: Agree, question_spec: QuestionSpec) -> AskGenerator:
    """Both lists go out in one call; nothing is asked where the answer is an accepted one.

    A claim that could not be had has no verdict. What another claim might state then stays open too.
    """
    equal = find_trivial_agreement(inputs)
    if equal is not None:
        return equal
    claim_texts = {n: text for n, text in enumerate(inputs.answer_claims, 1) if text is not None}
    answer: VerdictList[Agreement] = VerdictList("answer", "A", claim_texts, _parse_agreement)
    reference = VerdictList("reference", "R", dict(enumerate(inputs.reference_claims, 1)), _parse_stated)
    blocks = [*build_turn_blocks(inputs.history), Block.of("question", inputs.query)] if inputs.query else []
    blocks += [answer.build_block("answer claims"), reference.build_block("reference claims")]
    if inputs.accepted:
        blocks.append(Block.of("other accepted answers", *inputs.accepted))
    replies = yield from ask_each(
        question_spec, question_spec.build_texts(AGREE_PROMPT, *blocks), SCHEMA, answer, reference
    )
    verdicts, stated = replies.of(answer), replies.of(reference)
    unknown = len(claim_texts) < len(inputs.answer_claims)
    return AgreementFacts(
        tuple(verdicts.get(n) for n, _ in enumerate(inputs.answer_claims, 1)),
        tuple(None if unknown and not stated.get(n) else stated.get(n) for n in reference.texts),
    )


def _parse_agreement(item: Mapping[str, Any]) -> Agreement | None:
    verdict = parse_word(item.get("verdict"), AGREEMENTS)
    return None if verdict is None else AGREEMENTS[verdict]


def _parse_stated(item: Mapping[str, Any]) -> bool | None:
    return parse_bool(item.get("stated"))
