"""Sentences that make several statements, and claims that say one of them."""

from __future__ import annotations

import pytest

from ragauge.judges.local.support import PreparedPassages, SupportVerdict


def weighed(claim: str, passage: str) -> SupportVerdict:
    return PreparedPassages([passage], [claim]).weigh_claim(claim)


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
