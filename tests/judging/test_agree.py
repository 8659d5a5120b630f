"""Agreement of an answer with its reference: short references, other accepted answers, the question as context."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ragauge.data.example import Example
from ragauge.data.facts import AgreementFacts, AnswerFacts, FactsOf
from ragauge.data.response import Response
from ragauge.judging.inputs import Agree, Inputs, VerifyAnswer, inputs_for
from ragauge.judging.local.short_answers import Said, is_descriptive, is_short, readings
from ragauge.metrics.answer.answer_grade import AnswerGrade
from ragauge.metrics.answer.answer_recall import AnswerRecall
from ragauge.metrics.base import Ratio

Put = Callable[[Inputs], FactsOf]


def agreed(put: Put, query: str, answer: str, *references: str) -> AgreementFacts:
    """What is found for one answer and its accepted answers, by the way that an evaluation takes."""
    example = Example("q", query, references=references)
    response = Response("q", answer=answer)
    verified = put(VerifyAnswer(query, None, answer))
    assert isinstance(verified, AnswerFacts)
    inputs = inputs_for("agree", example, response, {"verify_answer": verified})
    assert isinstance(inputs, Agree)
    facts = put(inputs)
    assert isinstance(facts, AgreementFacts)
    return facts


WHO = "Who wrote the harbour manual?"
WHEN = "When did the depot open?"

STATED = [
    (WHO, "The harbour manual was written by Mara Lindqvist.", "Mara Lindqvist"),
    (WHO, "It was Mara J. Lindqvist.", "Mara Lindqvist"),
    (WHO, "Mara Lindquist wrote it.", "Mara Lindqvist"),
    (WHO, "MARA LINDQVIST", "Mara Lindqvist (author)"),
    (WHO, "Chloe Arnaud wrote it.", "Chloé Arnaud, who was the harbour master then"),
    ("Which agency runs it?", "It is run by the Harbour Relief Agency.", "the Harbour Relief Agency or HRA"),
    ("Which agency runs it?", "The HRA runs it.", "the Harbour Relief Agency (HRA)"),
    ("Which two towns does it join?", "It joins Orle and Vint.", "Vint and Orle"),
    ("Which colours has the flag?", "1. Green\n2. White\n3. Orange", "orange, green and white"),
    (WHEN, "It opened on 3 May 1912.", "1912"),
    (WHEN, "It opened on May 3rd, 1912.", "3 May 1912"),
    ("How long is a permit valid?", "A permit is valid for four years.", "4 years"),
    ("How long is a permit valid?", "Four.", "4 years"),
    ("What did the crane cost?", "It cost £50 million.", "£50m"),
    ("How far is it?", "It is 24,901 miles.", "24,900 miles"),
    ("How many gates are there?", "There is one gate.", "1"),
    ("What is kept in the shed?", "Seashells are kept there.", "sea shells"),
    ("Which letters are on the key?", "The letters are JKL.", "J K L"),
    ("Which was first, the crane or the pier?", "The crane was built before the pier.", "the crane"),
    ("Does the pier have a light?", "Yes, it has one.", "yes"),
    ("Does the pier have a light?", "The pier does not have a light.", "No"),
    ("Does the pier have a light?", "Yes.", "yes"),
    ("Which word is on the sign?", "Let", "Let"),
    ("首都はどこですか。", "首都は東京です。", "東京"),
]

NOT_STATED = [
    (WHO, "The harbour manual was written by Mara Olsen.", "Mara Lindqvist"),
    (WHO, "It was not Mara Lindqvist.", "Mara Lindqvist"),
    ("Which two towns does it join?", "It joins Orle and Kell.", "Vint and Orle"),
    (WHEN, "It opened in 1912.", "3 May 1912"),
    (WHEN, "It opened on 4 May 1912.", "3 May 1912"),
    ("How long is a permit valid?", "A permit is valid for four months.", "4 years"),
    ("How many gates are there?", "It is on the map.", "1"),
    ("Which was first, the crane or the pier?", "The pier was built before the crane.", "the crane"),
    ("Does the pier have a light?", "No, it has none.", "yes"),
    ("Does the pier have a light?", "No.", "Yes, the pier has a light."),
    ("Which word is on the sign?", "I could not find Let in the documents.", "Let"),
    ("Which river is it near?", "It is near the town.", "the Orle"),
]


@pytest.mark.parametrize(("query", "answer", "reference"), STATED)
def test_a_short_reference_is_stated(put: Put, query: str, answer: str, reference: str) -> None:
    """Other spellings, forms of numbers and dates, orders and ellipses state a reference of few words."""
    assert agreed(put, query, answer, reference).reference == (True,)


@pytest.mark.parametrize(("query", "answer", "reference"), NOT_STATED)
def test_a_short_reference_is_not_stated(put: Put, query: str, answer: str, reference: str) -> None:
    """Another thing of the kind, a denial, a part of a list, a less exact date or another unit does not state it."""
    assert agreed(put, query, answer, reference).reference == (False,)


@pytest.mark.parametrize(
    ("query", "answer", "reference"),
    [
        ("What is the capital of Orland?", "The capital of Orland is Kell.", "Vint"),
        (WHEN, "The depot opened in 1914.", "1912"),
        (WHO, "The harbour manual was written by Jon Olsen.", "Mara Lindqvist"),
    ],
)
def test_another_thing_of_the_kind_contradicts(put: Put, query: str, answer: str, reference: str) -> None:
    """An answer that gives another name or number in the place of a short reference contradicts it."""
    assert agreed(put, query, answer, reference).answer == ("contradicts",)


def test_nothing_of_the_kind_is_only_absent(put: Put) -> None:
    """An answer that gives no name where a name is the reference, or names only what the question does, is absent."""
    for answer in ("The capital of Orland is an old town on a hill.", "Orland has a capital."):
        assert agreed(put, "What is the capital of Orland?", answer, "Vint").answer == ("absent",)


def test_any_accepted_answer_will_do(put: Put) -> None:
    """Stating another accepted answer states the reference, be it a phrase, a sentence or several; parts do not."""
    query = "What do I need for a mooring?"
    main = "You need a permit from the office."
    for answer in ("A harbour licence.", "Bring a harbour licence with you."):
        assert agreed(put, query, answer, "permit", "harbour licence").reference == (True,)
        assert agreed(put, query, answer, "permit").reference == (False,)
    second = "Registration happens at the gate. The fee is 12 euros."
    said = "Registration happens at the gate. The fee is 12 euros. Dogs are welcome."
    facts = agreed(put, query, said, main, second)
    assert facts == AgreementFacts(("agrees", "agrees", "absent"), (True,))
    assert agreed(put, query, "Registration happens at the gate.", main, second).reference == (False,)
    two = "A permit is needed. It is sold in Kell."
    assert agreed(put, query, said, two, second).reference == (True, True)


def test_what_the_question_says_need_not_be_repeated(put: Put) -> None:
    """A reference that restates the question is stated by the part of it that is new, and by nothing less."""
    query = "How long is the guarantee of a winch that was bought in March 2024?"
    reference = "A winch bought in March 2024 has a guarantee of 18 months."
    assert agreed(put, query, "The guarantee lasts 18 months.", reference) == AgreementFacts(("agrees",), (True,))
    for answer in ("The guarantee lasts 12 months.", "The guarantee lasts 18 years.", "A winch has a guarantee."):
        assert agreed(put, query, answer, reference).reference == (False,)
    inputs = Agree(("The guarantee lasts 18 months.",), (reference,))
    facts = put(inputs)
    assert isinstance(facts, AgreementFacts)
    assert facts.reference == (False,)


def test_a_number_is_needed_as_often_as_it_is_said(put: Put) -> None:
    """The 2 of a name does not stand for a count of 2."""
    query = "How do the winches differ?"
    assert agreed(put, query, "The drum of Winch 2 takes 8 ropes.", "Winch 2 has 2 drums.").reference == (False,)
    assert agreed(put, query, "Winch 2 has 2 drums for ropes.", "Winch 2 has 2 drums.").reference == (True,)


def test_a_bare_yes_states_a_reference_without_a_claim(put: Put) -> None:
    """An answer that claims nothing may state the reference: recall and grade are right, precision is undefined."""
    query = "Does the pier have a light?"
    for answer, value in (("Yes.", 1.0), ("No.", 0.0)):
        facts = agreed(put, query, answer, "Yes")
        stated = [bool(one) for one in facts.reference]
        assert facts.answer == ()
        assert AnswerRecall().value(stated, refuse=False) == Ratio(int(value), 1)
        assert AnswerGrade().value((), stated, refuse=False) == value


def test_the_answer_alone_never_makes_a_refusal_right(put: Put) -> None:
    """A refusal that names the reference does not state it."""
    assert agreed(put, WHO, "I don't know whether it was Mara Lindqvist.", "Mara Lindqvist").reference == (False,)


def test_readings_of_a_reference() -> None:
    """Alternatives, members, glosses and brackets are told apart; a thousands comma divides nothing."""

    def read(text: str) -> list[list[str]]:
        return [[part.joined for part in each] for each in readings(text)]

    assert read("crane (bird)") == [["crane"]]
    assert read("Prince Olav (accept Duke of Kell)") == [["princeolav"], ["dukeofkell"]]
    assert read("pigeons or doves") == [["pigeons"], ["doves"]]
    assert read("Mara Olsen, who led the office from 1990") == [["maraolsen"]]
    assert read("red, white & blue") == [["red", "white", "blue"]]
    assert read("1,135 boats") == [["1135boats"]]
    assert read("") == read("...") == []


def test_kinds_of_references() -> None:
    """A phrase is short, a sentence is not; a phrase of plain words describes, a name does not."""
    assert is_short("the old lamp by the gate")
    assert not is_short("The old lamp stands by the gate.")
    assert not is_short("")
    assert is_descriptive("teaching the use of old cranes to children")
    assert not is_descriptive("Old Cranes and New Ones")


def test_a_word_within_a_word_is_not_named() -> None:
    """Parts are whole words, though words may be joined or end in the number of a footnote."""
    (part,) = readings("art")[0]
    assert not Said("She bought a cart.").says(part)
    assert Said("She bought art1 for the office.").says(part)
