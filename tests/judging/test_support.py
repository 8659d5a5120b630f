"""Which passages support a claim, and which contradict it."""

from __future__ import annotations

import random

import pytest

from ragauge.judges.local.index import Mode
from ragauge.judges.local.support import MAX_ABSENT_P, MAX_CONTRADICTED_P, MIN_SURE_P, PreparedPassages, SupportVerdict
from ragauge.judges.local.weights import read_weights

HUB = "The Aldgate hub accepts 60 paired devices. Pairing codes expire after 15 minutes."
WARRANTY = "The warranty of the hub lasts 24 months from the date of purchase. Returns are sent to the depot in Leeds."
FOUNDER = "Lena Ortiz founded the company in 1998 in Porto. It employs 340 people and has offices in Spain and Chile."
PASSAGES = (HUB, WARRANTY, FOUNDER)


def weigh(claim: str, *passages: str) -> SupportVerdict:
    """The verdict on one claim."""
    return PreparedPassages(passages or PASSAGES, [claim]).weigh_claim(claim)


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
    assert found.p < read_weights()["scorers"]["overlap_words"]["threshold"]


def test_equal_copies_all_support() -> None:
    """Every passage that says it is named."""
    assert weigh("The warranty lasts 24 months.", WARRANTY, HUB, WARRANTY).supporting == (1, 3)


def test_a_missing_number_is_named() -> None:
    """Digits that stand in no passage keep a claim unsupported, and the window says which."""
    found = weigh("According to its makers the hub was tested in 47 countries for the duration of the warranty.")
    assert found.supporting == ()
    assert found.p <= MAX_ABSENT_P
    assert found.window is not None
    assert "47" in found.window.missing


def test_a_missing_name_is_named() -> None:
    """A name that stands in no passage is named."""
    found = weigh("The company was founded by Maria Weber.")
    assert found.window is not None
    assert found.window.missing == ("Maria Weber",)


def test_a_near_copy_with_another_number_contradicts() -> None:
    """Where a near-copy has another number in the same place, the passage contradicts, and says what it holds."""
    claim = "The warranty of the hub lasts 36 months from the date of purchase."
    found = weigh(claim)
    assert found.supporting == ()
    assert found.contradicting == (2,)
    assert weigh(claim, WARRANTY).p <= MAX_CONTRADICTED_P
    assert found.p == weigh(claim, HUB, FOUNDER).p  # beside others it adds nothing, and takes nothing away
    assert found.window is not None
    assert found.window.missing == ("36",)
    assert "'24'" in found.reason
    assert "'36'" in found.reason


def test_conflicting_passages_are_both_named() -> None:
    """A claim that one passage says and another contradicts is supported, and the conflict is kept."""
    found = weigh("The warranty of the hub lasts 24 months.", WARRANTY, WARRANTY.replace("24", "12"))
    assert found.supporting == (1,)
    assert found.contradicting == (2,)


def test_a_sure_support_stays_beside_a_near_copy() -> None:
    """A passage that has the claim in other words, surely, supports it beside a near-copy that contradicts."""
    claim = "The warranty of the hub lasts 24 months from the date of purchase."
    sure = "As the leaflet says, from the date of purchase the warranty of the hub lasts a full 24 months."
    wrong = WARRANTY.replace("24", "36")
    alone, found = weigh(claim, sure), weigh(claim, wrong, sure)
    assert alone.p >= MIN_SURE_P
    assert (found.supporting, found.contradicting, found.p) == ((2,), (1,), alone.p)


def test_halves_in_two_passages_support_nothing() -> None:
    """The probability of a claim is that of its best passage: two that hold a half each do not add up."""
    claim = "Pairing codes expire after 15 minutes and the warranty of the hub lasts 24 months from purchase."
    assert weigh(claim).p == max(weigh(claim, text).p for text in (HUB, WARRANTY, FOUNDER))


def test_no_passages_support_nothing() -> None:
    """Without passages p is 0; an empty passage supports nothing either."""
    assert PreparedPassages((), ["Oak is a tree."]).weigh_claim("Oak is a tree.") == SupportVerdict(0.0)
    assert weigh("Oak is a tree.", "", "   ").supporting == ()


NOUNS = ("hub", "warranty", "depot", "company", "device", "code", "office", "purchase", "valve", "harbour")
VERBS = ("lasts", "accepts", "founded", "expires after", "employs", "sends", "has", "replaced", "is not", "closed")
ENDS = ("24 months", "60 devices", "1998", "Porto", "Lena Ortiz", "Leeds", "15 minutes", "Tom Baker", "purchase", "tea")
FOREIGN = (
    "Der Hafen wurde im Jahre 1998 von der Stadt gebaut und ist seitdem jeden Tag geöffnet, auch sonntags und nachts.",
    "Le dépôt de la société se trouve depuis longtemps à Porto, et il est ouvert tous les jours de la semaine.",
    "",
)
CLAIMS = (
    "The warranty of the hub lasts 24 months from the date of purchase.",
    "Pairing codes expire after 15 minutes and the warranty of the hub lasts 24 months from purchase.",
    "Lena Ortiz founded the company in Porto in 1998, and it employs 340 people.",
    "Returns go to the depot in Leeds.",
    "The hub accepts sixty devices.",
    "Tom Baker founded the company in Porto.",
)


def filler(draw: random.Random) -> str:
    """A passage of random sentences in the claims' own words, a near-copy of a passage, or one in another language."""
    kind = draw.random()
    if kind < 0.1:
        return draw.choice(FOREIGN)
    if kind < 0.3:
        wrong = {"24": "36", "Porto": "Leeds", "60": "70", "Lena Ortiz": "Tom Baker", "15": "5", "lasts": "never lasts"}
        text = draw.choice(PASSAGES)
        for old, new in draw.sample(sorted(wrong.items()), 2):
            text = text.replace(old, new)
        return text
    said = [f"The {draw.choice(NOUNS)} {draw.choice(VERBS)} {draw.choice(ENDS)}." for _ in range(draw.randint(1, 6))]
    return " ".join(said)


@pytest.mark.parametrize("mode", [None, "words", "grams"])
def test_another_passage_never_lowers_support(mode: Mode | None) -> None:
    """Law, 500 random fillers: wherever a passage joins, p does not fall, and what was supported stays supported.

    The one exception: a near-copy that contradicts takes the name of support from what is not sure; p stays.
    The fillers are in the claims' words, altered copies of the passages, passages in other languages, and empty ones.
    """
    draw = random.Random(18)
    raised = 0
    for n in range(500):
        claim = CLAIMS[n % len(CLAIMS)]
        passages = draw.sample(PASSAGES, draw.randint(1, 3)) + [filler(draw) for _ in range(draw.randint(0, 4))]
        more = list(passages)
        more.insert(draw.randint(0, len(more)), filler(draw))
        before, after = (PreparedPassages(some, [claim], mode).weigh_claim(claim) for some in (passages, more))
        assert after.p >= before.p, (claim, passages, more)
        kept = bool(after.supporting) >= bool(before.supporting)
        joined = len(after.contradicting) - len(before.contradicting)
        assert kept or (joined > 0 and after.p < MIN_SURE_P), (claim, passages, more)
        assert joined >= 0, (claim, passages, more)
        raised += after.p > before.p
    assert raised > 25  # the fillers are near enough to matter


def test_many_unrelated_passages_change_nothing() -> None:
    """Sixteen unrelated passages, or five hundred, leave p, the support and the window as they are."""
    others = [f"Bay {n} of the old brewery is rented to a baker until spring." for n in range(500)]
    alone = weigh("The warranty lasts 24 months.", WARRANTY)
    assert alone.supporting == (1,)
    assert weigh("The warranty lasts 24 months.", WARRANTY, *others[:16]) == alone
    assert weigh("The warranty lasts 24 months.", WARRANTY, *others) == alone


@pytest.mark.parametrize(
    ("claim", "passages"),
    [
        (
            "Lena Ortiz, who founded the company in Porto, won the Harbour Prize in 2011.",
            (FOUNDER, "Tom Baker won the Harbour Prize in 2011. He gave the money away."),
        ),
        (
            "Mara Lind opened the Tarn observatory in May 1974 after a long dispute.",
            ("Mara Lind led the Tarn observatory for years.", "In May 1974 Jon Ek opened a gallery after a dispute."),
        ),
    ],
)
def test_the_name_of_one_and_the_fact_of_another_support_nothing(claim: str, passages: tuple[str, ...]) -> None:
    """A claim whose subject stands in one passage, and its fact in another about somebody else, is not supported."""
    for order in (passages, passages[::-1], (*passages, WARRANTY)):
        found = weigh(claim, *order)
        assert found.supporting == ()
        assert found.p < read_weights()["scorers"]["overlap_words"]["threshold"]
    assert weigh(claim, claim, *passages).supporting == (1,)


@pytest.mark.parametrize("text", [*HUB.split(". "), *WARRANTY.split(". "), *FOUNDER.split(". ")])
def test_a_copy_is_supported_and_a_stranger_is_not(text: str) -> None:
    """A verbatim copy has a p of 0.95 at least, beside anything; a claim that shares no word, 0.05 at most."""
    assert weigh(text).p >= 0.95
    assert weigh(text, "Penguins breed early.", "Zebras graze at dawn.").p <= 0.05


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
        (
            "Der Plan Studio kostet 49 Euro im Monat. Er ist kündbar.",
            "Der Plan Studio kostet 49 Euro im Monat.",
            "Die Büros in Hamburg sind sonntags geschlossen.",
        ),
        ("スタジオプランの料金は月額49ユーロです。解約可能です。", "料金は月額49ユーロです。", "社長は山田太郎です。"),
        ("标准套餐的价格是每月49欧元。可以在月底取消。", "标准套餐每月49欧元。", "公司总部位于北京。"),
        (
            "سعر خطة الاستوديو 49 يورو شهريا. يمكن الإلغاء.",
            "سعر خطة الاستوديو 49 يورو شهريا.",
            "يقع المقر الرئيسي في القاهرة.",
        ),
    ],
)
def test_other_languages(passage: str, copy: str, other: str) -> None:
    """Case 39: German, Japanese, Chinese and Arabic claims are told apart, and their numbers are matched."""
    assert weigh(copy, passage).supporting == (1,)
    assert weigh(other, passage).supporting == ()
    wrong = weigh(copy.replace("49", "59"), passage)
    assert wrong.supporting == ()
    assert wrong.window is not None
    assert wrong.window.missing == ("59",)
