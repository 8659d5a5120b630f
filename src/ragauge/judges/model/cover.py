"""cover_aspects and cover_criteria: which aspects an answer addresses, which criteria it meets."""

from __future__ import annotations

from collections.abc import Sequence

from ragauge.core.facts import CoverFacts
from ragauge.judges.inputs import Cover, CoverAspects, CoverCriteria
from ragauge.judges.judge import Asking
from ragauge.judges.model.prompt_blocks import Block, Prompt, earlier_turns
from ragauge.judges.model.question_spec import INTEGER, YES_NO, QuestionSpec, a_list, an_object
from ragauge.judges.model.reply_parser import yes
from ragauge.judges.model.verdicts import Listing, ask_each

VERSION = 2
ASPECTS = Prompt(
    "cover_aspects",
    """Check which parts of the question the answer addresses.
For every part [C1], [C2], …: met = true if the answer says something that answers this part, right or wrong; false if \
not. Give every number n.""",
    "For every part [C1], [C2], … give its number n and met: true or false.",
    ("question", "answer", "parts"),
)
CRITERIA = Prompt(
    "cover_criteria",
    """Check the answer against the criteria.
For every criterion [C1], [C2], …: met = true if the statement is true of the answer, false if not. Give every number \
n.""",
    "For every criterion [C1], [C2], … give its number n and met: true or false.",
    ("question", "answer", "criteria"),
)


def cover_aspects(inputs: CoverAspects, asked: QuestionSpec) -> Asking:
    """One verdict an aspect."""
    return _covered("parts", inputs.aspects, ASPECTS, inputs, asked)


def cover_criteria(inputs: CoverCriteria, asked: QuestionSpec) -> Asking:
    """One verdict a criterion."""
    return _covered("criteria", inputs.criteria, CRITERIA, inputs, asked)


def _covered(name: str, parts: Sequence[str], prompt: Prompt, inputs: Cover, asked: QuestionSpec) -> Asking:
    listing = Listing(name, "C", dict(enumerate(parts, 1)), lambda item: yes(item.get("met")))
    question = [*earlier_turns(inputs.history), Block.of("question", inputs.query)]
    blocks = *question, Block.of("answer", inputs.answer), listing.block()
    schema = an_object(**{name: a_list(n=INTEGER, met=YES_NO)})
    verdicts = yield from ask_each(asked, asked.worded(prompt, *blocks), schema, listing)
    met = verdicts.of(listing)
    return CoverFacts(tuple(met.get(n) for n in listing.texts))
