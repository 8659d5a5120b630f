"""What a model judge sends: whole prompts, and the user's text as it is."""

from __future__ import annotations

from typing import Any

import pytest

from ragauge.core.facts import Criterion
from ragauge.judges.inputs import (
    Agree,
    CoverAspects,
    CoverCriteria,
    GuessQuestions,
    MeetCriteria,
    RateAnswer,
    RatePassages,
    RateSentences,
    VerifyAnswer,
    VerifyReference,
)
from ragauge.judges.model.judge import ASKED, ModelJudge
from ragauge.judges.model.prompt_blocks import register_templates

QUERY, PASSAGES, ANSWER = "How long is it?", ("It lasts a day. It is free.", "No more."), "It lasts a day."
CRITERIA = (
    Criterion("polite", "It is polite."),
    Criterion("based", "It rests on them.", ("query", "passages", "answer", "history"), ("not", "wholly"), 2),
)
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
    MeetCriteria(CRITERIA[:1], QUERY, ANSWER),
    MeetCriteria(CRITERIA[1:], QUERY, ANSWER, PASSAGES, ("A day.",)),
    GuessQuestions(QUERY, ANSWER),
]


SEEING = [one for one in INPUTS if getattr(one, "passages", None) == PASSAGES]


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


def first(inputs: Any, spec: str = "openai:any") -> Any:
    """The first ask of a question."""
    return next(ModelJudge.of(spec).ask(inputs))[0]


def test_questions_about_passages_begin_alike() -> None:
    """All that see passages begin with the same system text, question and passages; task and answer come behind."""
    rating = {"rate_passages", "rate_sentences"}
    assert {one.question for one in SEEING} == {"verify_answer", "verify_reference", "meet_criteria", *rating}
    asks = [first(one) for one in SEEING]
    assert len({(ask.messages[0], ask.messages[1][1][: ask.shared], ask.shared) for ask in asks}) == 1
    head = asks[0].messages[1][1][: asks[0].shared]
    assert head.endswith(">>>")
    assert all(text in head for text in (QUERY, "[1.2] It is free.", "[2.1] No more."))
    assert "<<<answer" not in head


@pytest.mark.parametrize("inputs", [one for one in INPUTS if one not in SEEING], ids=lambda one: one.question)
def test_what_sees_no_passages_shares_none(inputs: Any) -> None:
    """A question that sees no passages has the same system text, and no passages to share."""
    assert first(inputs).messages[0] == first(SEEING[0]).messages[0]
    assert first(inputs).shared == 0


def test_another_question_or_passage_shares_nothing() -> None:
    """The prefix is that of this question and these passages: its marks differ wherever one of them does."""
    heads = [
        (ask := first(RatePassages(query, passages))).messages[1][1][: ask.shared]
        for query, passages in ((QUERY, PASSAGES), ("Why?", PASSAGES), (QUERY, (*PASSAGES, "More.")))
    ]
    assert len({head[: len("<<<question 01234567")] for head in heads}) == 3


def test_own_wording_shares_what_stands_before_its_own() -> None:
    """Templates that begin with the same words, the question and the passages share these; others nothing beyond."""
    begins = "We run a bank.\n{question}\n{passages}\n"
    prompts = register_templates({"verify_answer": begins + "Ours: {answer}", "rate_passages": begins + "Rate each."})
    worded = [one for one in SEEING if one.question in ("verify_answer", "rate_passages")]
    asks = [first(one, f"openai:any,prompts={prompts}") for one in worded]
    assert len({ask.messages[1][1][: ask.shared] for ask in asks}) == 1
    assert asks[0].messages[1][1].startswith("We run a bank.\n<<<question ")
