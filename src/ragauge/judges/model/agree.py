"""agree: answer claims against reference claims, in both directions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ragauge.core.facts import Agreement, AgreementFacts
from ragauge.judges.inputs import Agree
from ragauge.judges.judge import Asking, settled
from ragauge.judges.model.prompt_blocks import Block, Prompt, earlier_turns
from ragauge.judges.model.question_spec import INTEGER, YES_NO, QuestionSpec, a_list, an_object, one_of
from ragauge.judges.model.reply_parser import word, yes
from ragauge.judges.model.verdicts import Listing, ask_each

VERSION = 2
AGREEMENTS: Mapping[str, Agreement] = {"agrees": "agrees", "contradicts": "contradicts", "absent": "absent"}
COMPARING = Prompt(
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
SCHEMA = an_object(reference=a_list(n=INTEGER, stated=YES_NO), answer=a_list(n=INTEGER, verdict=one_of(*AGREEMENTS)))


def agree(inputs: Agree, asked: QuestionSpec) -> Asking:
    """Both lists go out in one call; nothing is asked where the answer is an accepted one.

    A claim that could not be had has no verdict. What another claim might state then stays open too.
    """
    equal = settled(inputs)
    if equal is not None:
        return equal
    known = {n: text for n, text in enumerate(inputs.answer_claims, 1) if text is not None}
    answer: Listing[Agreement] = Listing("answer", "A", known, _agreement)
    reference = Listing("reference", "R", dict(enumerate(inputs.reference_claims, 1)), _stated)
    blocks = [*earlier_turns(inputs.history), Block.of("question", inputs.query)] if inputs.query else []
    blocks += [answer.block("answer claims"), reference.block("reference claims")]
    if inputs.accepted:
        blocks.append(Block.of("other accepted answers", *inputs.accepted))
    replies = yield from ask_each(asked, asked.worded(COMPARING, *blocks), SCHEMA, answer, reference)
    verdicts, stated = replies.of(answer), replies.of(reference)
    unknown = len(known) < len(inputs.answer_claims)
    return AgreementFacts(
        tuple(verdicts.get(n) for n, _ in enumerate(inputs.answer_claims, 1)),
        tuple(None if unknown and not stated.get(n) else stated.get(n) for n in reference.texts),
    )


def _agreement(item: Mapping[str, Any]) -> Agreement | None:
    verdict = word(item.get("verdict"), AGREEMENTS)
    return None if verdict is None else AGREEMENTS[verdict]


def _stated(item: Mapping[str, Any]) -> bool | None:
    return yes(item.get("stated"))
