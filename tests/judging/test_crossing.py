"""Sentences that make two statements alike, and claims made of a part of each."""

from __future__ import annotations

import pytest

from ragauge.judging.local.support import PreparedPassages, Weighed

TWO = [
    "The blue pass costs 9 euros a week and the red pass costs 19 euros a week.",
    "The blue pass costs 9 euros a week, while the red pass costs 19 euros a week.",
    "The blue pass costs 9 euros a week; the red pass costs 19 euros a week.",
]


def weighed(claim: str, passage: str) -> Weighed:
    return PreparedPassages([passage], [claim]).weigh(claim)


@pytest.mark.parametrize("passage", TWO)
def test_the_value_of_one_is_not_that_of_the_other(passage: str) -> None:
    """Of two parallel statements each supports its own copy, and contradicts a claim that exchanges the values."""
    for thing, own, other in (("blue", 9, 19), ("red", 19, 9)):
        assert weighed(f"The {thing} pass costs {own} euros a week.", passage).p >= 0.9
        wrong = weighed(f"The {thing} pass costs {other} euros a week.", passage)
        assert (wrong.p < 0.1, wrong.contradicting) == (True, (1,))


@pytest.mark.parametrize(
    ("passage", "claim"),
    [
        ("Vera Lund wrote the opera and Piet Oss wrote the ballet.", "Vera Lund wrote the ballet."),
        ("Nils paints boats while Jette paints harbours.", "Nils paints harbours."),
        ("Members pay 12 euros, guests 5 euros.", "Members pay 5 euros."),
        ("The limit is 5 kg for parcels and 2 kg for letters.", "The limit is 2 kg for parcels."),
        ("Orders were 40 million in 2019 and 55 million in 2020.", "Orders were 55 million in 2019."),
        ("Iron melts at 1538 degrees and tin melts at 232 degrees.", "Iron melts at 232 degrees."),
        ("The attic has 12 windows on the south side, and the cellar has 3 windows.", "The attic has 3 windows."),
    ],
)
def test_a_claim_that_leaps_between_statements_is_not_supported(passage: str, claim: str) -> None:
    """All words of the claim stand there in order, and it is not what the sentence says."""
    assert weighed(claim, passage).p < 0.5


@pytest.mark.parametrize(
    ("passage", "claim"),
    [
        ("Vera Lund wrote the opera and the ballet.", "Vera Lund wrote the ballet."),
        ("Vera Lund wrote the opera and Piet Oss wrote the ballet.", "Piet Oss wrote the ballet."),
        ("She lived in Oslo and then lived in Bergen for ten years.", "She lived in Bergen for ten years."),
        ("The mill was begun in 1173 and was finished in 1372.", "The mill was finished in 1372."),
        (
            "The mill, which opened in 1910 and closed in 1950, was built by Vera Lund.",
            "The mill was built by Vera Lund.",
        ),
        ("Seats cost 12 dollars online, 15 dollars at the door.", "Seats cost 15 dollars at the door."),
        ("The yard sold 12 boats in May and 15 boats in June.", "The yard sold 15 boats in June."),
        ("It costs 12 euros for adults but only 5 euros for children.", "It costs 5 euros for children."),
    ],
)
def test_what_one_subject_does_twice_is_supported(passage: str, claim: str) -> None:
    """A subject that two phrases share belongs to both, and the second statement is as good as the first."""
    assert weighed(claim, passage).p >= 0.9


def test_another_passage_may_still_say_it() -> None:
    """A sentence that mixes up takes no support away that another passage gives."""
    claim = "Vera Lund wrote the ballet."
    mixed, plain = "Vera Lund wrote the opera and Piet Oss wrote the ballet.", "In 1931 Vera Lund wrote the ballet."
    assert (
        PreparedPassages([mixed, plain], [claim]).weigh(claim).p
        == PreparedPassages([plain], [claim]).weigh(claim).p
        >= 0.9
    )
