"""cover_aspects and cover_criteria: which aspects an answer addresses, which criteria it meets."""

from __future__ import annotations

from collections.abc import Sequence

from ragauge.core.facts import CoverFacts
from ragauge.judges.inputs import Cover, CoverAspects, CoverCriteria
from ragauge.judges.judge import AskGenerator
from ragauge.judges.model.prompt_blocks import Block, Prompt, build_turn_blocks
from ragauge.judges.model.question_spec import INTEGER, YES_NO, QuestionSpec, build_list, build_object
from ragauge.judges.model.reply_parser import parse_bool
from ragauge.judges.model.verdicts import VerdictList, ask_each

VERSION = 2
ASPECTS_PROMPT = Prompt(
    "cover_aspects",
    """Check which parts of the question the answer addresses.
For every part [C1], [C2], …: met = true if the answer says something that answers this part, right or wrong; false if \
not. Give every number n.""",
    "For every part [C1], [C2], … give its number n and met: true or false.",
    ("question", "answer", "parts"),
)
CRITERIA_PROMPT = Prompt(
    "cover_criteria",
    """Check the answer against the criteria.
For every criterion [C1], [C2], …: met = true if the statement is true of the answer, false if not. Give every number \
n.""",
    "For every criterion [C1], [C2], … give its number n and met: true or false.",
    ("question", "answer", "criteria"),
)


def cover_aspects(inputs: CoverAspects, question_spec: QuestionSpec) -> AskGenerator:
    """One verdict an aspect."""
    return _ask_coverage("parts", inputs.aspects, ASPECTS_PROMPT, inputs, question_spec)


def cover_criteria(inputs: CoverCriteria, question_spec: QuestionSpec) -> AskGenerator:
    """One verdict a criterion."""
    return _ask_coverage("criteria", inputs.criteria, CRITERIA_PROMPT, inputs, question_spec)


def _ask_coverage(
    name: str, points: Sequence[str], prompt: Prompt, inputs: Cover, question_spec: QuestionSpec
) -> AskGenerator:
    listing = VerdictList(name, "C", dict(enumerate(points, 1)), lambda item: parse_bool(item.get("met")))
    question = [*build_turn_blocks(inputs.history), Block.of("question", inputs.query)]
    blocks = *question, Block.of("answer", inputs.answer), listing.build_block()
    schema = build_object(**{name: build_list(n=INTEGER, met=YES_NO)})
    verdicts = yield from ask_each(question_spec, question_spec.build_texts(prompt, *blocks), schema, listing)
    met_by_number = verdicts.of(listing)
    return CoverFacts(tuple(met_by_number.get(n) for n in listing.texts))
