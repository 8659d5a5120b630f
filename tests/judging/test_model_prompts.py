"""What a model judge sends: whole prompts, and the user's text as it is."""

from __future__ import annotations

from typing import Any

import pytest

from ragauge.judging.inputs import (
    Agree,
    CoverAspects,
    CoverCriteria,
    GuessQuestions,
    RateAnswer,
    RatePassages,
    RateSentences,
    VerifyAnswer,
    VerifyReference,
)
from ragauge.judging.model.judge import ASKED, ModelJudge

QUERY, PASSAGES, ANSWER = "How long is it?", ("It lasts a day. It is free.", "No more."), "It lasts a day."
INPUTS: list[Any] = [
    VerifyAnswer(QUERY, PASSAGES, ANSWER),
    VerifyAnswer(QUERY, None, ANSWER),
    VerifyReference(QUERY, ("A day.",), PASSAGES),
    RatePassages(QUERY, PASSAGES),
    RateSentences(QUERY, PASSAGES),
    RateAnswer(QUERY, ANSWER),
    Agree(("A day.",), ("A week.",), QUERY, ("Two days.",), ANSWER),
    CoverAspects(QUERY, ("length",), ANSWER),
    CoverCriteria(QUERY, ("It is polite.",), ANSWER),
    GuessQuestions(QUERY, ANSWER),
]


def sent(inputs: Any, spec: str = "openai:any") -> list[str]:
    """Every text of a question's first asks."""
    return [text for ask in next(ModelJudge.of(spec).ask(inputs)) for _, text in ask.messages]


@pytest.mark.parametrize("inputs", INPUTS, ids=lambda one: one.question)
@pytest.mark.parametrize("spec", ["openai:any", "openai:any,mode=per_claim"])
def test_case_37_nothing_is_left_to_fill(inputs: Any, spec: str) -> None:
    """A prompt holds no placeholder: where no text of the user has a brace, no message has one."""
    texts = sent(inputs, spec)
    assert texts
    assert not any(brace in text for text in texts for brace in "{}")


def test_case_37_every_question_is_looked_at() -> None:
    """The list above leaves no question out; similarity has no prompt, it sends the texts alone to an embedder."""
    assert {one.question for one in INPUTS} == set(ASKED) - {"similarity"}


def test_case_37_braces_of_the_user_are_text() -> None:
    """A passage, question or answer with {{x}} in it is sent as it is: it is no template."""
    for inputs in (VerifyAnswer("Why {{x}}?", ("It says {{y}}.",), "Because {z}."), RatePassages("{{x}}?", ("{{y}}",))):
        whole = "\n".join(sent(inputs))
        assert "{{x}}" in whole
        assert "{{y}}" in whole
    assert "{z}" in "\n".join(sent(VerifyAnswer("Why?", ("A.",), "Because {z}.")))
