"""Which sentences make a claim."""

from __future__ import annotations

import pytest

from ragauge.judges.local.statements import find_statements, is_statement, split_claims, strip_marks

CLAIMS = [
    "The lid is green.",
    "Paris.",
    "42",
    "No, the plan does not include support.",
    "Yes, it weighs 3 kg.",
    "No, Paris.",
    "- The lid is made of steel [2].",
    "1. Press the red button.",
    "If you want to shorten the cable, cut it.",
    "Juliet asks “What's in a name?”",
    "The three sizes are: small, medium and large.",
    "Die Kiste ist grün.",
    "箱の蓋は緑色です。",
    "غطاء الصندوق أخضر.",
]
NO_CLAIMS = [
    "",
    "   ",
    "…",
    "***",
    "[1] [2]",
    "Yes.",
    "Hello!",
    "Sure, happy to help!",
    "Great question!",
    "Thank you for asking!",
    "Here is the answer:",
    "Here are the main steps:",
    "The reasons are as follows:",
    "## Installation",
    "**Materials:**",
    "Is there anything else you would like to know?",
    "What is its colour?",
    "Who is “Ada”?",
    "I hope this helps!",
    "Let me know if you have any questions.",
    "Sources: [1], [3]",
    "It is.",
    "あなたは何を知りたいですか？",
    "你好！",
]


@pytest.mark.parametrize("sentence", CLAIMS)
def test_a_statement_is_a_claim(sentence: str) -> None:
    """What states something is a claim, in any language and as an item of a list."""
    assert is_statement(sentence)


@pytest.mark.parametrize("sentence", NO_CLAIMS)
def test_talk_is_no_claim(sentence: str) -> None:
    """Greetings, headings, pure questions, pointers and empty sentences claim nothing."""
    assert not is_statement(sentence)


def test_claims_keep_their_place() -> None:
    """A claim's characters are those of its sentence in the answer, in order."""
    answer = "Hello! The lid is green [1]. Is that all? It weighs 3 kg."
    found = find_statements(answer).claims
    assert [answer[one.start : one.end] for one in found] == ["The lid is green [1].", "It weighs 3 kg."]


def test_marks_are_taken_off() -> None:
    """Citations, list markers and emphasis are no part of a claim; brackets of the text itself are."""
    assert strip_marks("* The **lid** is `green` [1][2, 3].") == "The lid is green."
    assert strip_marks("2) Area [m²] doubled【4†source】.") == "Area [m²] doubled."
    assert strip_marks("It grew [Source: a.md]. So did we [doc 2].") == "It grew. So did we."
    assert strip_marks("It grew.³ So did we.⁴") == "It grew. So did we."
    assert strip_marks("3.5 kg") == "3.5 kg"


def test_claims_of_a_sentence_keep_their_places_and_their_sentence() -> None:
    """A claim's characters are its own, and it knows the sentence it is part of; one that is all of it needs none."""
    answer = "Hello! The lid is green [1], and the box weighs 3 kg [2]. It is new."
    first, second = find_statements(answer).claims
    assert [(answer[p.start : p.end], p.within) for p in split_claims(first)] == [
        ("The lid is green [1]", (7, 57)),
        ("the box weighs 3 kg [2]", (7, 57)),
    ]
    assert [(part.text, part.within) for part in split_claims(second)] == [("It is new.", None)]


def test_a_part_that_states_nothing_is_no_claim() -> None:
    """Talk within a sentence is left out, and a sentence that has one other part stays whole."""
    (whole,) = find_statements("The lid is green; feel free to ask for more details.").claims
    assert [part.text for part in split_claims(whole)] == ["The lid is green; feel free to ask for more details."]
