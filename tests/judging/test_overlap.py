"""Lexical features of a claim against its evidence."""

from __future__ import annotations

from math import log1p

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragauge.judges.local.index import build_index
from ragauge.judges.local.overlap import (
    FEATURES,
    MAX_CLAIM_UNITS,
    compute_features,
    compute_overlap,
    merge_overlaps,
    prepare_claim,
)

WORDS = st.lists(st.sampled_from(["oak", "elm", "ash", "fir", "yew", "bay"]), min_size=1, max_size=12)


def measured(claim: str, *passages: str, numbers: int = 0, names: float = 0.0) -> dict[str, float]:
    """The features by name, of several passages as of one."""
    want = prepare_claim(claim, "words")
    overlaps = [compute_overlap(want, build_index(text, "words"), n) for n, text in enumerate(passages, 1)]
    return dict(zip(FEATURES, compute_features(want, merge_overlaps(want, overlaps), numbers, names), strict=True))


def test_features_by_hand() -> None:
    """Each feature has the value that counting gives.

    Claim units: green lid weigh 3 kg; all but none are stop words. Passage: "the green lid | it weigh 3 kg | a blue
    door", as segments. Claim as written "green lid weighs 3 kg": content = green, lid, weigh, 3, kg.
    """
    found = measured("Green lid weighs 3 kg", "There is a green lid. It weighs 3 kg. Nothing about doors.")
    # one segment holds green, lid (2 of 5), the next weigh, 3, kg (3 of 5); three segments hold all
    assert found["coverage"] == 1
    assert found["best_sentence"] == pytest.approx(3 / 5)
    assert found["best_three"] == found["best_five"] == 1
    # in order all five occur: longest common subsequence 5
    assert found["rouge_l"] == found["rouge_l_content"] == 1
    # pairs green-lid, weigh-3, 3-kg stand, lid-weigh does not ("lid it weigh")
    assert found["bigrams"] == pytest.approx(3 / 4)
    # threes: green-lid-weigh no, lid-weigh-3 no, weigh-3-kg yes
    assert found["trigrams"] == pytest.approx(1 / 3)
    # among the units of the claim alone, lid-weigh are neighbours too
    assert found["content_pairs"] == 1
    assert found["claim_length"] == pytest.approx(log1p(5))
    # there is a green lid it weigh 3 kg nothing about door
    assert found["evidence_length"] == pytest.approx(log1p(12))


def test_words_of_a_family_count_where_kin_counts() -> None:
    """Another word of the family, with five letters in common, counts in `best_three_kin` and nowhere else.

    It needs a word of the claim itself beside it, and four letters are too few.
    """
    found = measured("The foundation of oak", "They founded it on oak.")
    assert found["best_three"] == found["coverage"] == pytest.approx(1 / 2)
    assert found["best_three_kin"] == 1
    assert measured("The foundation of oak", "They founded it.")["best_three_kin"] == 0
    assert measured("oak ash", "An oak. Ashore.")["best_three_kin"] == pytest.approx(1 / 2)


def test_passages_together_by_hand() -> None:
    """Sets of several passages are joined; the best one's subsequence grows by the content that the others add."""
    found = measured("oak elm ash fir", "The oak and the elm.", "An elm, an ash.")
    assert found["coverage"] == found["best_three"] == pytest.approx(3 / 4)
    assert found["best_sentence"] == pytest.approx(2 / 4)
    assert found["rouge_l"] == found["rouge_l_content"] == pytest.approx(3 / 4)  # oak, elm; ash from the other
    # oak-elm stands in the one, elm-ash in the other, as neighbours among the claim's units
    assert found["content_pairs"] == pytest.approx(2 / 3)
    assert found["evidence_length"] == pytest.approx(log1p(5 + 4))


@given(WORDS, st.lists(WORDS, min_size=2, max_size=3))
def test_together_holds_at_least_as_much(claim: list[str], texts: list[list[str]]) -> None:
    """Several passages together have no share below that of the best of them, and none above 1."""
    passages = [" ".join(words) for words in texts]
    every = measured(" ".join(claim), *passages)
    for name, value in every.items():
        if not name.endswith(("missing", "length")) and not name.startswith("rouge"):
            assert value >= max(measured(" ".join(claim), text)[name] for text in passages)
            assert value <= 1 + 1e-12


def test_missing_specifics_are_counted() -> None:
    """A missing number is a yes, missing names are a share."""
    found = measured("oak", "elm", numbers=3, names=0.5)
    assert (found["numbers_missing"], found["names_missing"]) == (1.0, 0.5)


def test_the_window_is_as_narrow_as_it_can_be() -> None:
    """The window begins and ends where units of the claim stand, and never crosses passages."""
    text = "Nothing here. The oak fell. An elm stood. Nothing there."
    want = prepare_claim("oak elm", "words")
    one = compute_overlap(want, build_index(text, "words"), 4)
    assert text[one.start : one.end] == "The oak fell. An elm stood."
    assert one.passage == 4
    assert compute_overlap(want, build_index("No tree at all.", "words"), 1).three == 0


def test_a_copy_scores_full_marks() -> None:
    """A sentence copied from a passage has every share at 1."""
    text = "In spring the oak by the river turned green again."
    found = measured(text, f"It was cold. {text} Then came May.")
    shares = [name for name in FEATURES if not name.endswith(("missing", "length"))]
    assert [found[name] for name in shares] == [pytest.approx(1.0)] * len(shares)


def lcs(one: list[str], other: list[str]) -> int:
    """The textbook table."""
    row = [0] * (len(other) + 1)
    for a in one:
        before = row[:]
        for n, b in enumerate(other, 1):
            row[n] = before[n - 1] + 1 if a == b else max(before[n], row[n - 1])
    return row[-1]


@given(WORDS, WORDS)
def test_rouge_l_equals_the_textbook_table(claim: list[str], passage: list[str]) -> None:
    """The bit-parallel subsequence equals dynamic programming."""
    found = measured(" ".join(claim), " ".join(passage))
    assert found["rouge_l"] == pytest.approx(lcs(claim, passage) / len(claim) if set(claim) & set(passage) else 0)


@given(WORDS, st.lists(WORDS, min_size=1, max_size=4))
def test_shares_are_shares(claim: list[str], sentences: list[list[str]]) -> None:
    """Every share lies in [0, 1], and a wider window holds at least as much."""
    text = " ".join(f"The {' '.join(words)}." for words in sentences)
    found = measured(" ".join(claim), text)
    assert all(0 <= value <= 1 + 1e-12 for name, value in found.items() if not name.endswith("length"))
    assert found["best_sentence"] <= found["best_three"] <= found["best_five"] <= found["coverage"]
    assert found["best_three"] <= found["best_three_kin"]


def test_an_endless_claim_is_bounded() -> None:
    """Only the first units of an endless claim are compared."""
    assert len(prepare_claim("oak elm " * 5_000, "words").units) == MAX_CLAIM_UNITS


def test_a_claim_of_function_words_counts_them() -> None:
    """With nothing else to compare, function words are compared; with nothing at all, nothing is found."""
    assert measured("Where it is", "That is where it is.")["coverage"] == 1
    assert measured("?!", "Text.")["coverage"] == 0
