"""Of whom a sentence speaks."""

from __future__ import annotations

import pytest

from ragauge.judging.local.index import build
from ragauge.judging.local.overlap import overlap, wanted
from ragauge.judging.local.support import about_another


def another(claim: str, passage: str) -> bool:
    """Whether the passage says it of somebody else."""
    ready = build(passage, "words")
    return about_another(claim, overlap(wanted(claim, "words"), ready, 1), passage, ready)


CLAIM = "Lena Ortiz won the Harbour Prize in 2011."


@pytest.mark.parametrize(
    "passage",
    [
        "Tom Baker won the Harbour Prize in 2011.",
        "The jury met. In 2011 Tom Baker won the Harbour Prize against all odds. It rained.",
        "The Brixton Academy won the Harbour Prize in 2011.",
        "Lena Ortiz wrote an atlas. It sold well. It has maps. It has plates. Tom Baker won the Harbour Prize in 2011.",
    ],
)
def test_a_sentence_that_begins_with_another_name(passage: str) -> None:
    """The sentence with the fact begins with a name that the claim has not, and a name of the claim is not near it."""
    assert another(CLAIM, passage)


@pytest.mark.parametrize(
    "passage",
    [
        CLAIM,
        "Ortiz won the Harbour Prize in 2011.",
        "She won the Harbour Prize in 2011.",
        "Lena Ortiz wrote an atlas. She won the Harbour Prize in 2011.",
        "Winning the Harbour Prize in 2011 was a surprise to Tom Baker.",
        "Tom Baker said that Lena Ortiz won the Harbour Prize in 2011.",
        "The prize of 2011 was won by a newcomer.",
        "Nothing of the kind.",
        "",
    ],
)
def test_a_sentence_that_may_speak_of_the_same(passage: str) -> None:
    """Without a name in front, with a part of the claim's, or with that near, it may speak of the claim's subject."""
    assert not another(CLAIM, passage)


def test_a_claim_without_names_is_about_nobody() -> None:
    """Where the claim names nobody there is nobody else."""
    assert not another("The prize was won in spring.", "Tom Baker won the prize in spring.")
