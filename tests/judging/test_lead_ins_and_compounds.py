"""What leads in to a statement hides no contradiction, and a compound's head is no other name."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ragauge.core.facts import AnswerFacts, JudgeFacts
from ragauge.judges.inputs import Inputs, VerifyAnswer
from ragauge.judges.local.statements import count_lead_in_chars

Put = Callable[[Inputs], JudgeFacts]


def opposed(put: Put, answer: str, passage: str) -> bool:
    """Whether the one claim of an answer is contradicted."""
    facts = put(VerifyAnswer("What applies?", (passage,), answer))
    assert isinstance(facts, AnswerFacts)
    (claim,) = facts.claims
    return bool(claim.contradicting) and not claim.supporting


LEADS = [
    "According to the harbour rules, ",
    "As stated in the passages: ",
    "As described in the brochure, ",
    "No, ",
    "Please be aware that ",
    "The guide says that ",
    "You should know that ",
    "Here is what I found: ",
    "Note: ",
]
FALSE = [
    ("dogs are allowed on the ferry.", "Dogs are not allowed on the ferry. The crossing takes an hour."),
    ("the museum is closed in winter.", "The museum is open in winter. Entry is free for children."),
    ("the loan must be paid back within 14 years.", "The loan must be paid back within 24 years. Interest is due."),
]


@pytest.mark.parametrize("lead", LEADS)
@pytest.mark.parametrize(("said", "there"), FALSE)
def test_a_lead_in_hides_no_contradiction(put: Put, lead: str, said: str, there: str) -> None:
    """A near-copy with one thing altered is contradicted, however the answer leads in to it."""
    assert opposed(put, lead + said, there)


NUMBERS = [
    ("Laut Merkblatt gilt: Die Frist beträgt 21 Tage.", "Die Frist beträgt 28 Tage."),
    ("Das Merkblatt besagt, dass die Frist 21 Tage beträgt.", "Es gilt, dass die Frist 28 Tage beträgt."),
    ("Selon le règlement, le délai est de 21 jours.", "Le délai est de 28 jours."),
    ("Según el reglamento, el plazo es de 21 días.", "El plazo es de 28 días."),
    ("Secondo il regolamento, il termine è di 21 giorni.", "Il termine è di 28 giorni."),
    ("Volgens het reglement is de termijn 21 dagen.", "De termijn is 28 dagen."),
    ("Согласно правилам, срок составляет 21 день.", "Срок составляет 28 дней."),
]


@pytest.mark.parametrize(("answer", "passage"), NUMBERS)
def test_another_number_is_seen_behind_a_lead_in(put: Put, answer: str, passage: str) -> None:
    """In other languages too an altered number gets little support behind a lead-in."""
    facts = put(VerifyAnswer("", (passage,), answer))
    assert isinstance(facts, AnswerFacts)
    (claim,) = facts.claims
    assert claim.p is not None
    assert claim.p <= 0.3


@pytest.mark.parametrize("lead", LEADS)
def test_a_lead_in_to_what_is_so_is_no_contradiction(put: Put, lead: str) -> None:
    """What the passage says is not contradicted behind a lead-in."""
    for _, there in FALSE:
        first = there.split(". ")[0] + "."
        assert not opposed(put, lead + first[0].lower() + first[1:], there)


@pytest.mark.parametrize(
    "text",
    [
        "It is not true that dogs are allowed on it.",
        "We doubt that dogs are allowed here.",
        "Ada Lovelace said that it works well.",
        "There is no rule that dogs are banned here.",
        "In 1990, the yard was closed down.",
        "BBC: the yard is open again.",
        "Perhaps it is so that dogs are allowed.",
        "The museum is open.",
    ],
)
def test_what_changes_the_statement_is_no_lead_in(text: str) -> None:
    """A denial, a doubt, a year or a name before a statement belongs to it."""
    assert count_lead_in_chars(text) == 0


COMPOUNDS = [
    ("Die Gebühr beträgt 40 Euro.", "Die Anmeldegebühr beträgt 40 Euro."),
    ("Der Motor kostet 900 Euro.", "Der Elektromotor kostet 900 Euro."),
    ("Das Boot liegt in Kiel.", "Das Hausboot liegt in Kiel und ist blau."),
    ("Bron byggdes i Malmö.", "Gångbron byggdes i Malmö."),
    ("Huset ligger i Bergen.", "Fiskehuset ligger i Bergen ved havnen."),
    ("De trein rijdt naar Gent.", "De sneltrein rijdt naar Gent."),
    ("Billetten koster 90 kroner.", "Dagsbilletten koster 90 kroner."),
]


@pytest.mark.parametrize(("claim", "passage"), COMPOUNDS)
def test_the_head_of_a_compound_contradicts_nothing(put: Put, claim: str, passage: str) -> None:
    """Who names a thing by the head of its compound is not contradicted, and rather supported than not."""
    facts = put(VerifyAnswer("", (passage,), claim))
    assert isinstance(facts, AnswerFacts)
    (found,) = facts.claims
    assert found.contradicting == ()
    assert found.p is not None
    assert found.p >= 0.5


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("Die Gebühr beträgt 60 Euro.", "Die Anmeldegebühr beträgt 40 Euro."),
        ("Bron är 90 meter.", "Gångbron är 60 meter."),
    ],
)
def test_another_number_beside_a_compound_is_seen(put: Put, claim: str, passage: str) -> None:
    """A compound excuses no other number."""
    facts = put(VerifyAnswer("", (passage,), claim))
    assert isinstance(facts, AnswerFacts)
    assert all(found.p is not None and found.p <= 0.3 for found in facts.claims)
