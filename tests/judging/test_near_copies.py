"""One wrong thing in a copied sentence: classes of fault that a second planter of edits brought to light."""

from __future__ import annotations

import pytest

from ragauge.judges.local.support import MAX_CONTRADICTED_P, PreparedPassages, SupportVerdict

AROUND = "The lamp room of the lighthouse was rebuilt after the great storm, and its logs were kept in the cellar."


def weigh(claim: str, passage: str) -> SupportVerdict:
    """The verdict on a claim; another sentence stands before the one that it is about."""
    return PreparedPassages([f"{AROUND} {passage}"], [claim]).weigh_claim(claim)


def assert_contradicted(claim: str, passage: str) -> None:
    """The passage contradicts the claim, and the claim the passage's sentence."""
    for one, other in ((claim, passage), (passage, claim)):
        found = weigh(one, other)
        assert found.contradicting == (1,), (one, found)
        assert found.p <= MAX_CONTRADICTED_P


def assert_agree(claim: str, passage: str) -> None:
    """Neither contradicts the other."""
    for one, other in ((claim, passage), (passage, claim)):
        assert weigh(one, other).contradicting == (), one


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("The pilots failed to join the union in the spring.", "The pilots joined the union in the spring."),
        ("The valve fails to close at high tide.", "The valve closes at high tide."),
        ("The council refused to sell the northern quay.", "The council sold the northern quay."),
        (
            "The crew, which failed to reach the island, was fed in Oslo.",
            "The crew, which reached the island, was fed in Oslo.",
        ),
    ],
)
def test_failing_to_do_is_not_doing(claim: str, passage: str) -> None:
    """To fail to do a thing denies it, in a main and in a subordinate clause."""
    assert_contradicted(claim, passage)


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("The crew did not reach the island in spring.", "The crew failed to reach the island in spring."),
        ("The crew managed to reach the island in spring.", "The crew reached the island in spring."),
    ],
)
def test_failing_and_managing_in_other_words(claim: str, passage: str) -> None:
    """Having failed to is "did not", and "managed to" adds no denial."""
    assert_agree(claim, passage)


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("The lamps are neither bright nor durable in the cold.", "The lamps are both bright and durable in the cold."),
        ("Oil soap will neither clean nor protect the deck.", "Oil soap will either clean or protect the deck."),
        ("Neither the mate nor the cook signed the paper.", "The mate and the cook signed the paper."),
    ],
)
def test_neither_and_nor_are_one_denial(claim: str, passage: str) -> None:
    """Neither … nor denies once: its second half does not undo the first."""
    assert_contradicted(claim, passage)


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("A quarter of all prizes were given by the mayor.", "Two thirds of all prizes were given by the mayor."),
        (
            "The song was written in the first two thirds of the year.",
            "The song was written in the first half of the year.",
        ),
        ("About three-quarters of the boats were lost.", "About two-thirds of the boats were lost."),
        (
            "By the early thirteenth century the harbour was silting up.",
            "By the early nineteenth century the harbour was silting up.",
        ),
        (
            "By the early thirteenth century the harbour was silting up.",
            "By the early 19th century the harbour was silting up.",
        ),
        ("The twelfth boat won the race in the bay.", "The fifteenth boat won the race in the bay."),
        ("Leaping nine places, the choir won the cup.", "Leaping eight places, the choir won the cup."),
    ],
)
def test_shares_and_ranks_in_words(claim: str, passage: str) -> None:
    """Fractions of two words, ranks beyond the tenth and counts behind a sentence's first word are compared."""
    assert_contradicted(claim, passage)


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("One third of the boats were lost.", "A third of the boats were lost."),
        ("The twelfth boat won the race.", "The 12th boat won the race."),
    ],
)
def test_the_same_share_or_rank_written_otherwise(claim: str, passage: str) -> None:
    """The same share or rank in other signs is no other one."""
    assert_agree(claim, passage)


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        (
            "Between 1844 and 1853 forty ships called at the island.",
            "Between 1790 and 1853 forty ships called at the island.",
        ),
        (
            "Its earliest mention is in the Dictionary of Harbour Words (1810), where it means to moor.",
            "Its earliest mention is in the Dictionary of Harbour Words (1785), where it means to moor.",
        ),
        (
            "Around 1423 Ulrich Hagen built the first furnace in the valley.",
            "Around 1450 Ulrich Hagen built the first furnace in the valley.",
        ),
        ("The plant makes 1183 tons of glass a year.", "The plant makes 910 tons of glass a year."),
    ],
)
def test_years_wherever_they_stand(claim: str, passage: str) -> None:
    """A year is compared whether or not its place shows it as one, and a rough one is not off by decades."""
    assert_contradicted(claim, passage)


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("Around 1455 Ulrich Hagen built the first furnace.", "Around 1450 Ulrich Hagen built the first furnace."),
        ("About 1450 ships called at the port.", "About 1480 ships called at the port."),
    ],
)
def test_rough_years_and_counts_may_be_a_little_off(claim: str, passage: str) -> None:
    """A rough year may be off by some years, a rough count by a tenth."""
    assert_agree(claim, passage)


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        (
            "The reef stretches over 4,100 kilometres in the south.",
            "The reef stretches over 2,000 kilometres (1,243 mi) in the south.",
        ),
        ("Its shores are 34.2 metres below sea level.", "Its shores are 430.5 metres (1,412 ft) below sea level."),
        ("The prize went to Vera Kolb in the end.", "The prize (a silver lamp) went to Nils Haugen in the end."),
    ],
)
def test_brackets_do_not_hide_a_difference(claim: str, passage: str) -> None:
    """What a sentence has in brackets stands between a claim and its difference no longer."""
    assert weigh(claim, passage).contradicting == (1,)


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        (
            "The reef stretches over 1,243 miles in the south.",
            "The reef stretches over 2,000 kilometres (1,243 mi) in the south.",
        ),
        ("Its other name, the Grey Tower, is older.", "Its other name, the Old Tower (the Grey Tower), is older."),
    ],
)
def test_what_the_brackets_say_is_said(claim: str, passage: str) -> None:
    """A claim that has the value or the name in brackets differs in nothing."""
    assert weigh(claim, passage).contradicting == ()


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        (
            "The debris lay for a mile, while the Scorpion itself was only 90 feet wide.",
            "The debris lay for a mile, whereas the Albatross itself was only 90 feet wide.",
        ),
        (
            "Rip Tide is the second album put out by Canadian post-punk players in a row.",
            "Rip Tide is the second album released by Scottish post-punk players in a row.",
        ),
    ],
)
def test_another_name_with_other_words_on_one_side(claim: str, passage: str) -> None:
    """Beside another name a word or two may be said otherwise, where equal words with content follow."""
    assert_contradicted(claim, passage)


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("TEE is useful to assess the pressure of the boiler.", "FAC was used to assess the pressure of the boiler."),
        (
            "Grey for Now featured more vocals by Vera Kolb.",
            "The song was cut with Haugen, and features more vocals by Vera Kolb.",
        ),
    ],
)
def test_another_name_at_the_start_needs_equal_words(claim: str, passage: str) -> None:
    """A name at an end of the claim that other words follow may be of another thing."""
    assert weigh(claim, passage).contradicting == ()


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("The headwaters are not situated in Dodge County.", "The headwaters are located in Dodge County."),
        (
            "The yard hasn't purchased the big cranes at the north quay.",
            "The yard has bought the large cranes at the north quay.",
        ),
        ("The Blanda Station is no big underground plant.", "The Blanda Station is a large underground plant."),
    ],
)
def test_a_denial_of_the_same_in_another_word(claim: str, passage: str) -> None:
    """A denied word is found where the passage has another of the same meaning."""
    assert_contradicted(claim, passage)


def test_another_adjective_denied_is_no_contradiction() -> None:
    """Not wooden and heavy go together: only words of one meaning stand for each other."""
    assert weigh("The lid of the well is not wooden.", "The lid of the well is heavy.").contradicting == ()
