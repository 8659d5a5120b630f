"""Whether an answer addresses the question."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ragauge.data.facts import AnswerFacts, FactsOf
from ragauge.judging.inputs import Inputs, VerifyAnswer

Put = Callable[[Inputs], FactsOf]


def addressed(put: Put, query: str, answer: str) -> str | None:
    """What the judge says."""
    facts = put(VerifyAnswer(query, None, answer))
    assert isinstance(facts, AnswerFacts)
    return facts.address


@pytest.mark.parametrize(
    ("query", "answer"),
    [
        ("How long does the warranty of the hub last?", "The warranty of the hub lasts 24 months."),
        ("How many devices can be paired?", "60"),
        ("Who founded the company?", "Lena Ortiz."),
        ("Is the lid made of steel?", "Yes."),
        ("The lid is made of steel. True or false?", "False."),
        ("When was the bridge opened?", "It was opened in spring, after the floods."),
        ("Why does iron rust?", "Iron rusts because it reacts with oxygen and water, which forms iron oxide."),
        ("Was kostet der Plan Studio?", "Der Plan Studio kostet 49 Euro im Monat."),
        ("标准套餐多少钱？", "标准套餐每月49欧元。"),
        ("", "The lid is green."),
    ],
)
def test_an_answer_to_the_question(put: Put, query: str, answer: str) -> None:
    """What the question asks for is there."""
    assert addressed(put, query, answer) == "fully"


@pytest.mark.parametrize(
    ("query", "answer"),
    [
        ("How long does the warranty of the hub last?", "Penguins are birds that live mostly on cold southern coasts."),
        ("How long does the warranty of the hub last?", "I could not find this in the documents."),
        ("How many devices can be paired?", "Green ones."),
        ("How long does the warranty last?", ""),
        ("How long does the warranty last?", "Hello!"),
        ("How long does the warranty last?", "What do you mean?"),
    ],
)
def test_an_answer_to_something_else(put: Put, query: str, answer: str) -> None:
    """Off the topic, a refusal, the wrong kind of thing, or nothing at all."""
    assert addressed(put, query, answer) == "no"


@pytest.mark.parametrize(
    ("query", "answer"),
    [
        ("When was the old bridge over the river opened?", "The old bridge over the river was opened by the mayor."),
        ("How many devices can the hub pair?", "The hub can pair devices such as phones, laptops and printers."),
        (
            "What does the studio plan cost and how can I cancel the subscription?",
            "The studio plan costs 49 euros a month, and a discount is given to schools and charities.",
        ),
        (
            "How long does the warranty of the hub last?",
            "The documents do not mention the exact period. The warranty of the hub covers the drives and the fan.",
        ),
    ],
)
def test_a_partial_answer(put: Put, query: str, answer: str) -> None:
    """The topic without the number or date asked for, one of two questions, or half a refusal."""
    assert addressed(put, query, answer) == "partly"


def test_without_vectors_words_decide(put_lexically: Put) -> None:
    """A failed embedding leaves the verdict to the words."""
    query = "How long does the warranty of the hub last?"
    assert addressed(put_lexically, query, "The warranty of the hub lasts 24 months.") == "fully"
    assert addressed(put_lexically, query, "Penguins are birds and live in the southern hemisphere, 12 kinds.") == "no"
