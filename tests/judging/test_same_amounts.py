"""A number of a reference and one of an answer: whether they are one amount, and whether it is an amount at all."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ragauge.core.example import Example
from ragauge.core.facts import AgreementFacts, AnswerFacts, JudgeFacts
from ragauge.core.response import Response
from ragauge.judges.inputs import Agree, Inputs, VerifyAnswer, build_inputs

Put = Callable[[Inputs], JudgeFacts]


def reached(put: Put, query: str, answer: str, reference: str) -> AgreementFacts:
    """What is found for an answer and a reference, by the way that an evaluation takes."""
    verified = put(VerifyAnswer(query, None, answer))
    assert isinstance(verified, AnswerFacts)
    example, response = Example("q", query, references=(reference,)), Response("q", answer=answer)
    inputs = build_inputs("agree", example, response, {"verify_answer": verified})
    assert isinstance(inputs, Agree)
    facts = put(inputs)
    assert isinstance(facts, AgreementFacts)
    return facts


def stated(put: Put, query: str, answer: str, reference: str) -> bool:
    """Whether an answer is held to state a reference."""
    return reached(put, query, answer, reference).reference == (True,)


GATES = "How many gates does the lock have?"

WITHIN = [
    (GATES, "The lock was mended after a 7-hour flood.", "7"),
    (GATES, "It is a 7-step lock.", "7"),
    (GATES, "A seven-step lock lies in Orle.", "seven"),
    (GATES, "The lock stands at the 7th mile of the canal.", "7"),
    (GATES, "It was the third lock that the firm built.", "3"),
    (GATES, "The crew of the lock won 7-3.", "7"),
    (GATES, "The crew of the lock won 9\u20133.", "3"),
    ("Which lane is shut?", "The lane at the 3-storey shed is shut.", "3"),
]

ALONE = [
    (GATES, "It has 7 gates.", "7"),
    (GATES, "It is a 7-gate lock.", "7"),
    (GATES, "It is a seven-gate lock.", "7"),
    (GATES, "The 7-step lock has 7 gates.", "7"),
    (GATES, "The 7th lock, the largest, has seven gates.", "7"),
    ("How long did the flood last, in hours?", "It was a 7-hour flood.", "7"),
    ("Which race did the crew win?", "It won the 400-metre race.", "400"),
    ("Which lock is the largest?", "The 7th lock is.", "7"),
    ("What was the score of the match?", "Orle won 7-3.", "7-3"),
    ("How high is the lock?", "It is 7-8 metres high.", "7-8 metres"),
]


@pytest.mark.parametrize(("query", "answer", "reference"), WITHIN)
def test_a_number_within_a_word_is_no_amount(put: Put, query: str, answer: str, reference: str) -> None:
    """A number in a compound, an ordinal or a score does not meet a reference that is a count."""
    assert not stated(put, query, answer, reference)


@pytest.mark.parametrize(("query", "answer", "reference"), ALONE)
def test_a_number_of_its_own_is_an_amount(put: Put, query: str, answer: str, reference: str) -> None:
    """A number that stands alone, or in a compound with what the question asks for, meets its reference."""
    assert stated(put, query, answer, reference)


MARGIN = "What was the margin of the yard, in units of percents?"
MILLIONS = "What did the yard earn, in USD millions?"
BILLIONS = "What is the fleet worth? Answer in USD billions."
EARNED = "What did the yard earn?"
RATIO = "What was the payout ratio? Round to two decimal places."

EQUAL = [
    (MARGIN, "The margin was 5.4%.", "0.054"),
    (MARGIN, "The margin was 5.43 percent.", "0.054"),
    (MARGIN, "The margin was 5.4.", "0.054"),
    (MARGIN, "The margin was 0.054.", "5.4%"),
    (MARGIN, "The margin was 0.054.", "5.4"),
    (MARGIN, "The margin was 105.4%.", "1.054"),
    (MARGIN, "The margin was -5.4%.", "-0.054"),
    ("What was the margin?", "The margin was 5.4%.", "0.054"),
    ("What was the margin?", "The margin was 5.43%.", "5.4%"),
    (RATIO, "The ratio was 79.84%.", "0.8"),
    (MILLIONS, "It earned 3215.", "$3,215.4 million"),
    (MILLIONS, "It earned $3,215.4 million.", "3215"),
    (MILLIONS, "It earned $3,215,400,000.", "3215"),
    (MILLIONS, "It earned $3.2154 billion.", "3215"),
    (EARNED, "It earned $3.22 billion.", "$3,215.4 million"),
    (BILLIONS, "It is worth $8.738 billion.", "8.7"),
    (BILLIONS, "It is worth $8,738 million.", "8.7"),
    (BILLIONS, "It is worth $4.625 billion.", "4.6"),
    (BILLIONS, "It is worth $389 million.", "0.4"),
]

UNEQUAL = [
    (MARGIN, "The margin was 54%.", "0.054"),
    (MARGIN, "The margin was 0.54.", "5.4%"),
    (MARGIN, "The margin was 0.54%.", "0.054"),
    (MARGIN, "The margin was 5.5%.", "0.054"),
    (MARGIN, "The margin was 5.46%.", "0.054"),
    (MARGIN, "The margin was 5.4%.", "-0.054"),
    (RATIO, "The ratio was 79.1%.", "0.8"),
    ("What was the margin?", "The margin was 5.", "5.4%"),
    ("How many boats are there?", "It is 100% sure that there are two boats.", "1"),
    ("How many boats are there?", "There are 2.4 boats a mile.", "2"),
    ("How many boats are there?", "There are 21.4 boats a mile.", "21"),
    (MILLIONS, "It earned 3251.", "$3,215.4 million"),
    (MILLIONS, "It earned $3,251 million.", "3215"),
    (MILLIONS, "It earned $3,216.4 million.", "3215"),
    (MILLIONS, "It earned $3,251,000,000.", "3215"),
    (EARNED, "It earned 3215.", "$3,215.4 million"),
    (EARNED, "It earned $3.21 billion.", "$3,215.4 million"),
    (EARNED, "It earned \u20ac3.22 billion.", "$3,215.4 million"),
    (BILLIONS, "It is worth $8.4 billion.", "8.7"),
    (BILLIONS, "It is worth $8.78 billion.", "8.7"),
    (BILLIONS, "It is worth $8.738 million.", "8.7"),
    (BILLIONS, "It is worth $9 billion.", "8.7"),
    (BILLIONS, "It is worth $0.5 billion.", "0.4"),
    ("When did it open?", "It opened in 2019.", "2018"),
    ("How long is a permit valid?", "It is valid for 12.04 months.", "12.0 years"),
]


@pytest.mark.parametrize(("query", "answer", "reference"), EQUAL)
def test_an_amount_in_another_form_is_equal(put: Put, query: str, answer: str, reference: str) -> None:
    """Per cent and fractions, scales that one side or the question names, and correct rounding are equal."""
    assert stated(put, query, answer, reference)


@pytest.mark.parametrize(("query", "answer", "reference"), UNEQUAL)
def test_another_amount_is_not_equal(put: Put, query: str, answer: str, reference: str) -> None:
    """Another amount is not met, one digit off included, nor one whose scale nobody names."""
    assert not stated(put, query, answer, reference)


def test_another_form_is_less_sure(put: Put) -> None:
    """What meets a reference in another form only is less probable than the same figures."""
    (same,), (other,) = (reached(put, MARGIN, f"It was {said}.", "5.4%").reference_p for said in ("5.4%", "0.054"))
    assert (same or 0.0) > (other or 0.0) > 0.9
