"""Texts cut into segments and units."""

from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as st

from ragauge.judges.local.index import (
    BIG_CHARS,
    MAX_SEGMENT_CHARS,
    MAX_UNIT_SEGMENTS,
    build_haystack,
    build_index,
    detect_mode,
    index_text,
    split_units,
)
from ragauge.text.specifics import find_specifics, is_found_in


def test_segments_are_sentences_with_their_offsets() -> None:
    """A segment's characters are the sentence's."""
    text = "The lid is green. It weighs 3.5 kg."
    spans = [text[one.start : one.end] for one in build_index(text, "words").segments]
    assert spans == ["The lid is green.", "It weighs 3.5 kg."]


def test_places_name_the_segments_of_a_unit() -> None:
    """A unit is found by its stem in every segment that has it, once each."""
    made = build_index("Cats sleep. A cat sees a cat. Dogs run.", "words")
    assert list(made.places["cat"]) == [0, 1]
    assert "cats" not in made.places
    assert made.size == 9


def test_an_endless_sentence_is_cut() -> None:
    """No segment is longer than the limit, and none of the text is lost."""
    text = "alpha beta gamma " * 500
    made = build_index(text, "words")
    assert max(one.end - one.start for one in made.segments) <= MAX_SEGMENT_CHARS
    assert made.size == 1_500
    assert len(made.places["alpha"]) <= MAX_UNIT_SEGMENTS


def test_english_is_read_by_words_and_others_by_pieces() -> None:
    """The language of most of the text decides."""
    assert detect_mode(["The lid of the box is green and it is made of steel."]) == "words"
    assert detect_mode(["42", "OK"]) == "words"
    assert detect_mode(["Der Deckel der Kiste ist grün und aus Stahl."]) == "grams"
    assert detect_mode(["箱の蓋は緑色です。"]) == "grams"
    assert detect_mode(["غطاء الصندوق أخضر اللون"]) == "grams"
    assert (
        detect_mode(["Was ist das?", "The lid of the box is green, and as far as we know it is of steel."]) == "words"
    )
    assert detect_mode([]) == "words"


def test_units_without_spaces_are_pairs() -> None:
    """A script without spaces gives pairs of characters, so that order counts."""
    assert split_units("東京都", "grams") == ("東", "東京", "京都")
    assert not set(split_units("京東", "grams")[1:]) & set(split_units("東京", "grams"))


def test_a_long_text_is_searched_for_specifics_in_linear_time() -> None:
    """Eight times the text takes far less than sixty-four times as long."""

    def seconds(copies: int) -> float:
        text = "Am 3. März 2024 zahlte die Firma 1.000 Euro – naïve Zahl. " * copies
        started = time.process_time()
        assert is_found_in(find_specifics("2024")[0], build_haystack(text))
        index_text(text, "grams")
        return time.process_time() - started

    seconds(20)
    assert seconds(1_600) < 30 * max(seconds(200), 0.01)


@given(st.text(st.characters(), max_size=300))
def test_any_text_is_indexed(text: str) -> None:
    """Segments lie in the text, in order, and every place exists."""
    for mode in ("words", "grams"):
        made = build_index(text, mode)
        ends = [0, *(one.end for one in made.segments)]
        assert all(end <= one.start < one.end <= len(text) for end, one in zip(ends, made.segments, strict=False))
        assert all(0 <= place < len(made.segments) for where in made.places.values() for place in where)


def test_kept_texts_are_shared() -> None:
    """The same text is indexed once, short or long."""
    for text in ("A short one.", "A long one. " * BIG_CHARS):
        assert index_text(text, "words") is index_text(text, "words")
        assert build_haystack(text) is build_haystack(text)
