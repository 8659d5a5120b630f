"""Which passages support a claim, and which contradict it."""

from __future__ import annotations

import pytest

from ragauge.judging.local.support import ABSENT, CONTRADICTED, Evidence, Weighed
from ragauge.judging.local.weights import stored

HUB = "The Aldgate hub accepts 60 paired devices. Pairing codes expire after 15 minutes."
WARRANTY = "The warranty of the hub lasts 24 months from the date of purchase. Returns are sent to the depot in Leeds."
FOUNDER = "Lena Ortiz founded the company in 1998 in Porto. It employs 340 people and has offices in Spain and Chile."
PASSAGES = (HUB, WARRANTY, FOUNDER)


def weigh(claim: str, *passages: str) -> Weighed:
    """The verdict on one claim."""
    return Evidence(passages or PASSAGES, [claim]).weigh(claim)


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("The Aldgate hub accepts 60 paired devices.", 1),
        ("Up to 60 devices can be paired with the Aldgate hub.", 1),
        ("The hub's warranty lasts 24 months.", 2),
        ("The company was founded by Lena Ortiz in Porto.", 3),
        ("It has offices in Chile and Spain.", 3),
        ("60", 1),
        ("Leeds", 2),
    ],
)
def test_what_a_passage_says_is_supported(claim: str, passage: int) -> None:
    """Copies, close paraphrases and short answers are supported by the passage that says them, and by no other."""
    found = weigh(claim)
    assert found.supporting == (passage,)
    assert not found.joint
    assert found.contradicting == ()
    assert found.window is not None
    assert found.window.passage == passage


@pytest.mark.parametrize(
    "claim",
    ["Penguins live in Antarctica.", "The hub is waterproof and can be used outdoors.", "Tom Baker designed the logo."],
)
def test_what_no_passage_says_is_not_supported(claim: str) -> None:
    """A claim from elsewhere has no support, whatever words it shares, and contradicts nothing."""
    found = weigh(claim)
    assert found.supporting == found.contradicting == ()
    assert found.p < stored()["scorers"]["overlap_words"]["threshold"]


def test_equal_copies_all_support() -> None:
    """Every passage that says it is named."""
    assert weigh("The warranty lasts 24 months.", WARRANTY, HUB, WARRANTY).supporting == (1, 3)


def test_a_missing_number_is_named() -> None:
    """Digits that stand in no passage keep a claim unsupported, and the window says which."""
    found = weigh("According to its makers the hub was tested in 47 countries for the duration of the warranty.")
    assert found.supporting == ()
    assert found.p <= ABSENT
    assert found.window is not None
    assert "47" in found.window.missing


def test_a_missing_name_is_named() -> None:
    """A name that stands in no passage is named."""
    found = weigh("The company was founded by Maria Weber.")
    assert found.window is not None
    assert found.window.missing == ("Maria Weber",)


def test_a_near_copy_with_another_number_contradicts() -> None:
    """Where a near-copy has another number in the same place, the passage contradicts, and says what it holds."""
    found = weigh("The warranty of the hub lasts 36 months from the date of purchase.")
    assert found.supporting == ()
    assert found.contradicting == (2,)
    assert found.p <= CONTRADICTED
    assert found.window is not None
    assert found.window.missing == ("36",)
    assert "'24'" in found.reason
    assert "'36'" in found.reason


def test_conflicting_passages_are_both_named() -> None:
    """A claim that one passage says and another contradicts is supported, and the conflict is kept."""
    found = weigh("The warranty of the hub lasts 24 months.", WARRANTY, WARRANTY.replace("24", "12"))
    assert found.supporting == (1,)
    assert found.contradicting == (2,)


def test_support_of_several_passages_together() -> None:
    """A claim whose halves stand in two passages is supported by those two, jointly, and not by the others."""
    claim = "Pairing codes expire after 15 minutes and the warranty of the hub lasts 24 months from purchase."
    found = weigh(claim)
    assert found.joint
    assert found.supporting == (1, 2)
    assert weigh(claim, HUB, FOUNDER).supporting == ()


def test_no_passages_support_nothing() -> None:
    """Without passages p is 0; an empty passage supports nothing either."""
    assert Evidence((), ["Oak is a tree."]).weigh("Oak is a tree.") == Weighed(0.0)
    assert weigh("Oak is a tree.", "", "   ").supporting == ()


def test_more_passages_never_lower_p() -> None:
    """Adding a passage that says something else does not lower the probability."""
    for claim in ("The warranty lasts 24 months.", "Returns go to the depot.", "The hub accepts sixty devices."):
        alone = weigh(claim, WARRANTY).p
        assert weigh(claim, WARRANTY, FOUNDER, HUB).p >= alone - 0.05     # rarity of words may shift a little
        assert weigh(claim, WARRANTY, "").p >= alone


def test_the_window_is_a_piece_of_the_passage() -> None:
    """The window's characters are the sentences that decided."""
    window = weigh("Returns are sent to the depot in Leeds.").window
    assert window is not None
    assert WARRANTY[window.start : window.end] == "Returns are sent to the depot in Leeds."


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("Sales reached 1,000 units.", "Sales reached 1000 units."),
        ("Prices rose by 20%.", "Prices rose by 20 percent."),
        ("It opened on 3 Jan 2024.", "It opened on 2024-01-03."),
        ("It was built by ACME Corp. in Leeds.", "It was built by acme corp in Leeds."),
    ],
)
def test_spellings_of_one_thing_are_the_same(claim: str, passage: str) -> None:
    """Case 21 and 22: another spelling of a number, a date, a percentage or a name is no missing specific."""
    found = weigh(claim, passage)
    assert found.supporting == (1,)
    assert found.window is not None
    assert found.window.missing == ()


def test_a_name_inside_a_word_is_not_found() -> None:
    """Case 22: "US" is not in "USAGE"."""
    found = weigh("Exports to the US grew.", "USAGE GREW. Exports grew.")
    assert found.window is not None
    assert found.window.missing == ("US",)


@pytest.mark.parametrize(
    ("passage", "copy", "other"),
    [
        ("Der Plan Studio kostet 49 Euro im Monat. Er ist kündbar.", "Der Plan Studio kostet 49 Euro im Monat.",
         "Die Büros in Hamburg sind sonntags geschlossen."),
        ("スタジオプランの料金は月額49ユーロです。解約可能です。", "料金は月額49ユーロです。", "社長は山田太郎です。"),
        ("标准套餐的价格是每月49欧元。可以在月底取消。", "标准套餐每月49欧元。", "公司总部位于北京。"),
        ("سعر خطة الاستوديو 49 يورو شهريا. يمكن الإلغاء.", "سعر خطة الاستوديو 49 يورو شهريا.",
         "يقع المقر الرئيسي في القاهرة."),
    ],
)  # fmt: skip
def test_other_languages(passage: str, copy: str, other: str) -> None:
    """Case 39: German, Japanese, Chinese and Arabic claims are told apart, and their numbers are matched."""
    assert weigh(copy, passage).supporting == (1,)
    assert weigh(other, passage).supporting == ()
    wrong = weigh(copy.replace("49", "59"), passage)
    assert wrong.supporting == ()
    assert wrong.window is not None
    assert wrong.window.missing == ("59",)
