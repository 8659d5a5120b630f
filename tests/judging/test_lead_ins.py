"""Openings that say nothing are no part of a claim, and signs and operators of one are looked for."""

from __future__ import annotations

import pytest

from ragauge.judges.local.signs import find_signs, has_signs
from ragauge.judges.local.statements import count_opening_chars, find_statements
from ragauge.judges.local.support import PreparedPassages

OPENINGS = (
    "The answer is ",
    "Answer: ",
    "Based on the provided context, ",
    "According to the passages, the answer is ",
    "The correct answer to your question is ",
    "A resposta é ",
    "La respuesta es ",
    "La réponse est ",
    "Die Antwort lautet ",
    "De acordo com o contexto fornecido, ",
    "Según los documentos, ",
)


@pytest.mark.parametrize("opening", OPENINGS)
def test_an_opening_is_no_claim(opening: str) -> None:
    """However a model leads in, the claim is what it then says, with its own place in the answer."""
    answer = f"{opening}Helena Vogt of Lindau."
    (claim,) = find_statements(answer).claims
    assert claim.text == "Helena Vogt of Lindau."
    assert answer[claim.start : claim.end] == claim.text


@pytest.mark.parametrize(
    "text",
    [
        "According to Ada Lovelace, it computes.",
        "In the context of war, prices fell.",
        "The answering machine is on.",
        "In this document the price is 5 euros.",
        "Answer:",
        "From Lindau the ferry goes to Bregenz.",
    ],
)
def test_what_speaks_of_the_matter_stays(text: str) -> None:
    """An attribution to a person, a place or a time is no opening; nor is one with nothing behind it."""
    assert count_opening_chars(text) == 0


def test_a_led_in_answer_is_supported_as_a_bare_one_is() -> None:
    """The probability of a claim does not depend on how it is led in."""
    passages = ["The mayor of Lindau was Helena Vogt from 1968 to 1973."]
    ps = set()
    for opening in ("", *OPENINGS):
        (claim,) = find_statements(f"{opening}Helena Vogt.").claims
        ps.add(PreparedPassages(passages, [claim.text]).weigh_claim(claim.text).p)
    assert len(ps) == 1
    assert min(ps) > 0.5


@pytest.mark.parametrize(
    ("said", "there"),
    [
        ("while x < 3: run()", "while x > 3: run()"),
        ("Values >= 3 are accepted.", "Values <= 3 are accepted."),
        ("if a == 3: stop", "if a != 3: stop"),
        ("y = x + 3", "y = x - 3"),
        ("It is written in C++.", "It is written in C."),
        ("The rating was A+ in May.", "The rating was A- in May."),
    ],
)
def test_another_sign_is_no_support(said: str, there: str) -> None:
    """A copy with another sign or operator is not supported; the copy itself is."""
    assert PreparedPassages([there], [said]).weigh_claim(said).p <= 0.3
    assert PreparedPassages([said], [said]).weigh_claim(said).p >= 0.9


@pytest.mark.parametrize("text", ["Open from 3-5 pm, see section 2 - notes.", "A well-known e-mail of 2020-01-03.", ""])
def test_dashes_are_no_signs(text: str) -> None:
    """Ranges, hyphens and dates have no sign that a passage must repeat."""
    assert find_signs(text) == ()
    assert has_signs((), text)
