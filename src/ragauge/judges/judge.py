"""What a judge is: it yields asks, receives replies, and returns facts. It never calls anything.

A reference of one claim is supported where any answer that is accepted in its place is.

Answers that are their reference: no judge needs to read those.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import replace
from typing import Protocol, TypeGuard

from ragauge.core.ask import Ask, ModelName, Reply
from ragauge.core.facts import Agreement, AgreementFacts, JudgeFacts, ReferenceClaim, ReferenceFacts
from ragauge.judges.inputs import Agree, Inputs, VerifyReference
from ragauge.text.patterns import is_no_answer

AskGenerator = Generator[list[Ask], list[Reply], JudgeFacts]


class Judge(Protocol):
    """Answers questions about one response at a time."""

    @property
    def judge_id(self) -> str:
        """Names the judge and everything that changes its verdicts: in every key and every row."""

    def version(self, question: str) -> int:
        """Version of the question as this judge asks it."""

    def answers(self, question: str) -> bool:
        """Whether this judge can answer the question at all."""

    def ask(self, inputs: Inputs, judge_repeat: int = 0) -> AskGenerator:
        """A generator that yields lists of asks (a list may run concurrently) and returns the facts.

        A failed call is sent in as a failed Reply, in the order of the asks.
        """


class AsksModels(Judge, Protocol):
    """A judge that says which model is to answer each of its asks."""

    def model_of(self, ask: Ask) -> ModelName:
        """Who answers an ask."""

    def models(self) -> Sequence[ModelName]:
        """Every model that may be asked."""


def can_ask_models(judge: object) -> TypeGuard[AsksModels]:
    """Whether a judge asks models."""
    return hasattr(judge, "model_of")


class GivesScores(Judge, Protocol):
    """A judge that gives some metrics scores of its own, beside the evidence that others are computed from."""

    def scores(self, metric: str) -> bool:
        """Whether it gives a metric scores, by its printed name."""


def can_give_scores(judge: object) -> TypeGuard[GivesScores]:
    """Whether a judge may give scores of its own."""
    return hasattr(judge, "scores")


def reword_judge(judge: Judge, templates: Mapping[str, str]) -> Judge | None:
    """A judge by other templates; None where it has no instruction, or wording of the user's own."""
    rewords: Callable[[Mapping[str, str]], Judge | None] | None = getattr(judge, "reworded", None)
    return None if rewords is None else rewords(templates)


def answer_asks(generator: AskGenerator, answer: Callable[[Sequence[Ask]], list[Reply]]) -> JudgeFacts:
    """Runs a generator to its end, answering its asks with a plain function."""
    try:
        asks = next(generator)
        while True:
            asks = generator.send(answer(asks))
    except StopIteration as done:
        facts: JudgeFacts = done.value
        return facts


def verify_accepted(verify: Callable[[VerifyReference], AskGenerator], inputs: VerifyReference) -> AskGenerator:
    """The verdict on the claims; where other answers are accepted, that on the one claim is the best of all.

    Args:
        verify: asks about claims that stand side by side.
        inputs: one claim where it has other accepted answers.
    """
    if not inputs.accepted:
        return (yield from verify(inputs))
    side_by_side = replace(inputs, claims=(*inputs.claims, *inputs.accepted), accepted=())
    verdicts = yield from verify(side_by_side)
    if not isinstance(verdicts, ReferenceFacts):
        return verdicts
    best = max(verdicts.claims, key=_rank_claim)
    return replace(verdicts, claims=(replace(best, n=1, text=inputs.claims[0]),))


def _rank_claim(claim: ReferenceClaim) -> tuple[bool, bool, float]:
    """Supported first, then not known, and by probability."""
    return bool(claim.supporting), claim.supporting is None, claim.chance


QUOTE_MARKS = " '«»`"
STOP_MARKS = " .。"
WHITE_SPACE = re.compile(r"\s+")
QUOTE_TABLE = str.maketrans('’‘“”"–—', "'''''--")


def normalize_text(text: str) -> str:
    """A text for comparing word for word: case, white space, quotes or marks of code around it and its stop aside.

    >>> (normalize_text("It's  “Half” done. ") == normalize_text("it’s 'half' done"),
    ...     normalize_text(".5") == normalize_text("5."))
    (True, False)
    """
    folded = unicodedata.normalize("NFKC", text).casefold().translate(QUOTE_TABLE)
    return WHITE_SPACE.sub(" ", folded).strip(QUOTE_MARKS).rstrip(STOP_MARKS).rstrip(QUOTE_MARKS)


def find_trivial_agreement(inputs: Agree) -> AgreementFacts | None:
    """The facts where nothing needs to be judged: the answer is an accepted one, or both decline; else None.

    Then every claim agrees and every reference claim is stated, with probability 1: also where the text makes no
    claims, such as a heading, a question or a number.
    """
    answer_text = normalize_text(inputs.answer)
    accepted = [text for text in (inputs.reference, *inputs.accepted) if text]
    same = bool(answer_text) and any(answer_text == normalize_text(text) for text in accepted)
    if not same and not (accepted and is_no_answer(inputs.answer) and all(map(is_no_answer, accepted))):
        return None
    return build_full_agreement(inputs)


def build_full_agreement(inputs: Agree) -> AgreementFacts:
    """Facts by which everything agrees."""
    n, m = len(inputs.answer_claims), len(inputs.reference_claims)
    agrees: Agreement = "agrees"
    return AgreementFacts((agrees,) * n, (True,) * m, (1.0,) * n, (1.0,) * m)
