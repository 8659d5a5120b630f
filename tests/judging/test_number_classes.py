"""Amounts of any locale, with any minus sign or unit, and numbers that only tell versions apart, beside a reference."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ragauge.core.example import Example
from ragauge.core.facts import AgreementFacts, AnswerFacts, JudgeFacts
from ragauge.core.response import Response
from ragauge.judges.inputs import Inputs, VerifyAnswer, build_inputs

Put = Callable[[Inputs], JudgeFacts]

SHARE, CHANGE = "What is the share?", "What was the change?"

SAME = [
    (SHARE, "Die Quote liegt bei 3,75 %.", "3,75 %"),
    (SHARE, "O preço é de R$ 1.299,90.", "R$ 1.299,90"),
    (SHARE, "Andelen är 8,4 procent.", "8,4 %"),
    (SHARE, "La ville compte 1\u202f234\u202f567 habitants.", "1 234 567"),
    (SHARE, "Es sind 12\u2019500 Einwohner.", "12'500 Einwohner"),
    (SHARE, "Cena wynosi 1\u00a0299,99 zł.", "1299,99 zł"),
    (SHARE, "There are 12,34,567 voters.", "1234567"),
    (SHARE, "النسبة ٣٫٥٪", "3.5%"),
    (SHARE, "Die Werte sind 3,5 und 4,5.", "3,5 und 4,5"),
    (SHARE, "The numbers are 3, 5 and 7.", "3, 5, 7"),
    (CHANGE, "The change was \u22124.2 %.", "-4.2%"),
    (CHANGE, "The change was \u20124.2 %.", "-4.2%"),
    (CHANGE, "The change was minus 4.2 %.", "\u22124.2%"),
    (CHANGE, "It reached \u207b12 °C.", "\u221212 °C"),
    (CHANGE, "Es waren minus 12 °C.", "-12 °C"),
    (CHANGE, "Il faisait moins 12 °C.", "\ufe6312 °C"),
    ("How far is it?", "It is 7 km.", "7,000 m"),
    ("How far is it?", "It is about 3.1 miles.", "5 km"),
    ("How heavy is it?", "It weighs 2.5 kg.", "2500 g"),
    ("Wie lange dauert es?", "Es dauert 90 Minuten.", "1,5 Stunden"),
    ("How hot was it?", "It was 212 °F.", "100 °C"),
]

OTHER = [
    (SHARE, "Die Quote liegt bei 3,57 %.", "3,75 %"),
    (SHARE, "Die Quote liegt bei 37,5 %.", "3,75 %"),
    (SHARE, "O preço é de R$ 1.299,09.", "R$ 1.299,90"),
    (SHARE, "La ville compte 1\u202f243\u202f567 habitants.", "1 234 567"),
    (CHANGE, "The change was 4.2 %.", "-4.2%"),
    (CHANGE, "It reached 12 °C.", "\u221212 °C"),
    ("How far is it?", "It is 70 km.", "7,000 m"),
    ("How far is it?", "It is 5 miles.", "5 km"),
    ("How long is it?", "It is 105 cm long.", "1 m"),
]

VERSIONS = [
    ("Which version added the export?", "3.1", "3.10"),
    ("Which release has it?", "It came with release 1.2.", "1.20"),
    ("Welche Version hat es?", "Es kam mit Version 3.2.", "3.20"),
    ("¿Qué versión lo añadió?", "La versión 4.1 lo añadió.", "4.10"),
    ("Quelle section en parle ?", "Voir la section 5.2.", "5.20"),
    ("どのバージョンですか。", "バージョン2.3です。", "2.30"),
    ("Which Node does it need?", "Node 18.1 is needed.", "Node 18.10"),
    ("Which release has it?", "v1.2", "v1.20"),
]

NO_VERSIONS = [
    ("Which version added the export?", "It was added in version 3.10.", "3.10"),
    ("Which release has it?", "v1.20", "1.20"),
    ("Which Node does it need?", "Node 18.10 is needed.", "Node 18.10"),
    ("Which Python does it need?", "It needs Python 3.", "Python 3.0"),
    ("What does it cost?", "It costs $2.10.", "$2.1"),
    ("How heavy is it?", "It weighs 2.10 kg.", "2.1 kg"),
    ("What is the ratio?", "It is 0.50.", "0.5"),
]


def chance(put: Put, query: str, answer: str, reference: str) -> float:
    """The probability that an answer states a reference, by the way that an evaluation takes."""
    verified = put(VerifyAnswer(query, None, answer))
    assert isinstance(verified, AnswerFacts)
    example, response = Example("q", query, references=(reference,)), Response("q", answer=answer)
    inputs = build_inputs("agree", example, response, {"verify_answer": verified})
    assert inputs is not None
    facts = put(inputs)
    assert isinstance(facts, AgreementFacts)
    assert facts.reference_p is not None
    (p,) = facts.reference_p
    assert p is not None
    return p


@pytest.mark.parametrize(("query", "answer", "reference"), SAME)
def test_one_amount_in_another_spelling(put: Put, query: str, answer: str, reference: str) -> None:
    """Separators of any locale, a minus of any form and a converted unit leave an amount what it is."""
    assert chance(put, query, answer, reference) >= 0.9


@pytest.mark.parametrize(("query", "answer", "reference"), OTHER)
def test_another_amount(put: Put, query: str, answer: str, reference: str) -> None:
    """Other digits, another place of the comma, another sign or another unit make another amount."""
    assert chance(put, query, answer, reference) <= 0.35


@pytest.mark.parametrize(("query", "answer", "reference"), VERSIONS)
def test_versions_are_not_decimals(put: Put, query: str, answer: str, reference: str) -> None:
    """Of a version or section the zeros at its end count, whether it is named so in the text or in the question."""
    assert chance(put, query, answer, reference) <= 0.2


@pytest.mark.parametrize(("query", "answer", "reference"), NO_VERSIONS)
def test_zeros_at_the_end_of_an_amount_say_nothing(put: Put, query: str, answer: str, reference: str) -> None:
    """An amount with a unit, and an equal version, are met in any spelling."""
    assert chance(put, query, answer, reference) >= 0.9


COPIES = [
    ("It needs Deno 1.40 or later.", "It needs Deno 1.4 or later."),
    ("Returns are treated in clause 7.30.", "Returns are treated in clause 7.3."),
    ("Die Ausgabe kam mit Fedora 3.20.", "Die Ausgabe kam mit Fedora 3.2."),
]


@pytest.mark.parametrize(("passage", "claim"), COPIES)
def test_a_passage_with_another_version_supports_nothing(put: Put, passage: str, claim: str) -> None:
    """A copy of a sentence with another version is less likely supported than not."""
    facts = put(VerifyAnswer("", (passage,), claim))
    assert isinstance(facts, AnswerFacts)
    assert all(part.p is not None and part.p <= 0.35 for part in facts.claims)
