"""Where a sentence is cut into clauses."""

from __future__ import annotations

import pytest

from ragauge.text.clauses import clauses

CUT = [
    (
        "Ada, who was born in 1815, wrote notes and met Babbage.",
        ["Ada wrote notes", "Ada was born in 1815", "Ada met Babbage"],
    ),
    (
        "The old port of Faro closed in 1990, and the new one opened in 1992.",
        ["The old port of Faro closed in 1990", "the new one opened in 1992"],
    ),
    (
        "The bridge, built in 1850 by Italian masons, was repaired because the river had damaged its pillars.",
        ["The bridge was repaired", "The bridge was built in 1850 by Italian masons",
         "the river had damaged its pillars"],
    ),
    (
        "The lighthouse stands on a cliff, and is visited by many tourists, but it was closed in 2001.",
        ["The lighthouse stands on a cliff", "The lighthouse is visited by many tourists", "it was closed in 2001"],
    ),
    ("She was born in Rome and educated in Paris.", ["She was born in Rome", "She was educated in Paris"]),
    (
        "Founded in 1990, the company sells pumps and employs 300 people.",
        ["the company was founded in 1990", "the company sells pumps", "the company employs 300 people"],
    ),
    (
        "He visited Paris, which is the capital of France, in 1990.",
        ["He visited Paris in 1990", "Paris is the capital of France"],
    ),
    (
        "Marie Lund, a Polish chemist, won the medal after she moved to Oslo.",
        ["Marie Lund won the medal", "Marie Lund is a Polish chemist", "she moved to Oslo"],
    ),
    ("The river flows north; the canal flows south.", ["The river flows north", "the canal flows south"]),
    (
        "Die Kiste ist grün; der Deckel ist rot und besteht aus Stahl.",
        ["Die Kiste ist grün", "der Deckel ist rot und besteht aus Stahl"],
    ),
]  # fmt: skip
WHOLE = [
    "",
    "Paris.",
    "Procter and Gamble sells tea and coffee in Peru.",
    "If it rains, the pump stops and the lamp turns red.",
    "He said that the plan failed and cost millions.",
    "The sign says “no entry, and the gate is closed” in red letters.",
    "The town has 1,200 people (it had 3,000, and it was larger, in 1950).",
    "The new engine is faster than the old one and the electric one.",
    "Washed and dried apples are sold in the market and in shops.",
    "La caja es verde y la tapa es roja, que es de acero.",
]


@pytest.mark.parametrize(("sentence", "wanted"), CUT)
def test_a_clause_is_a_statement_of_its_own(sentence: str, wanted: list[str]) -> None:
    """What is coordinated, relative, participial, appositive or adverbial stands alone, with its subject put back."""
    found = clauses(sentence)
    assert sorted(one.text for one in found) == sorted(wanted)


@pytest.mark.parametrize("sentence", WHOLE)
def test_what_belongs_together_is_not_cut(sentence: str) -> None:
    """Names, quotations, brackets, conditions, reported speech, comparisons and other languages stay in one piece."""
    assert [(one.text, one.start, one.end) for one in clauses(sentence)] == [(sentence, 0, len(sentence))]
