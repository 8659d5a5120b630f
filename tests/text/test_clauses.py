"""Where a sentence is cut into clauses."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import OwnTime

from ragauge.text.clauses import split_clauses
from ragauge.text.tokens import split_words

# what joins a clause is no part of it
OPENING_A_CLAUSE = {"and", "but", "so", "yet", "who", "which", "because", "after", "while"}

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
        [
            "The bridge was repaired",
            "The bridge was built in 1850 by Italian masons",
            "the river had damaged its pillars",
        ],
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
    (
        "The kit contains a lamp, two cables, and a charger.",
        ["The kit contains a lamp", "The kit contains two cables", "The kit contains a charger"],
    ),
    (
        "The old man, a retired diver, said that the wreck lay deep and held gold.",
        ["The old man said that the wreck lay deep and held gold", "The old man is a retired diver"],
    ),
    ("The river flows north; the canal flows south.", ["The river flows north", "the canal flows south"]),
    (
        "Die Kiste ist grün; der Deckel ist rot und besteht aus Stahl.",
        ["Die Kiste ist grün", "der Deckel ist rot und besteht aus Stahl"],
    ),
]
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
    "The first, second, and third rounds were held in Oslo.",
    "She wrote about ferns, mosses, and lichens in 1890.",
    "The drug helps patients who smoke and patients who drink.",
    "La caja es verde y la tapa es roja, que es de acero.",
]


@pytest.mark.parametrize(("sentence", "wanted"), CUT)
def test_a_clause_is_a_statement_of_its_own(sentence: str, wanted: list[str]) -> None:
    """What is coordinated, relative, participial, appositive or adverbial stands alone, with its subject put back."""
    found = split_clauses(sentence)
    assert sorted(one.text for one in found) == sorted(wanted)


@pytest.mark.parametrize("sentence", WHOLE)
def test_what_belongs_together_is_not_cut(sentence: str) -> None:
    """Names, quotations, brackets, conditions, reported speech, comparisons and other languages stay in one piece."""
    assert [(one.text, one.own, one.start, one.end) for one in split_clauses(sentence)] == [
        (sentence, sentence, 0, len(sentence))
    ]


def test_every_clause_keeps_its_place() -> None:
    """A clause's characters are its own part of the sentence, which what is inserted in it may interrupt."""
    sentence = "Ada, who was born in 1815, wrote notes and met Babbage."
    assert [sentence[one.start : one.end] for one in split_clauses(sentence)] == [
        "Ada, who was born in 1815, wrote notes",
        "was born in 1815",
        "met Babbage",
    ]


def test_what_was_put_back_is_known() -> None:
    """Beside the whole statement stand its own words, without the subject that was put back."""
    found = split_clauses("The mill, built in 1850 by masons, was sold and lost its roof.")
    assert [(one.text, one.own) for one in found] == [
        ("The mill was sold", "The mill was sold"),
        ("The mill was built in 1850 by masons", "built in 1850 by masons"),
        ("The mill lost its roof", "lost its roof"),
    ]


_PIECES = """
Ada the mill was born in 1815 , , ; : — and but who which because after while wrote closed a 3,000 ( ) “ ” notes met
Babbage if said that leaving built by . [1] 其 ist
"""
ANYTHING = st.lists(st.sampled_from([*_PIECES.split(), "\n", "\x00"]), max_size=40)


@given(ANYTHING)
def test_no_word_is_lost(tokens: list[str]) -> None:
    """Whatever the sentence, places lie in it, own words come from it in order, and nothing fails."""
    sentence = " ".join(tokens)
    found = split_clauses(sentence)
    assert found
    for one in found:
        assert 0 <= one.start <= one.end <= len(sentence)
        place = one.start if len(found) > 1 else 0
        for word in one.own.split():
            place = sentence.index(word.strip(",;:"), place)
    if len(found) > 1:
        kept = split_words(" ".join(one.own for one in found))
        assert not set(split_words(sentence)) - set(kept) - OPENING_A_CLAUSE


@pytest.mark.parametrize(
    "sentence",
    ["and wrote " * 120, ", which was" * 100, "“" * 1_100, "(" * 1_100, "a, " * 390, "; it is one " * 90, "x" * 9_000],
)
def test_hostile_sentences_cost_little(sentence: str, own_time: OwnTime) -> None:
    """Sentences made of nothing but marks or joints are read in a fraction of a second."""
    own_time.within(0.5, lambda: split_clauses(sentence))
