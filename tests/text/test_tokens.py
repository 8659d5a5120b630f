"""Words, stems and folded text."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragauge.text.tokens import ENGLISH, fold_text, split_words, stem_word


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Don't stop the B2B flow.", ["don't", "stop", "the", "b2b", "flow"]),
        ("1,000.50 at 10:30 in v2", ["1,000.50", "at", "10:30", "in", "v2"]),
        ("ﬁne Ｗｉｄｅ Straße", ["fine", "wide", "strasse"]),
        ("it’s", ["it's"]),
        ("東京 is ok", ["東", "京", "is", "ok"]),
        ("สวัสดี", list("สวัสดี")),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("한국어 문장", ["한국어", "문장"]),
        ("snake_case a-b", ["snake", "case", "a", "b"]),
    ],
)
def test_words(text: str, expected: list[str]) -> None:
    """Words are folded letters, digits and marks; numbers stay whole; unspaced scripts give characters."""
    assert split_words(text) == expected


@given(st.text(max_size=60))
@settings(derandomize=True, deadline=None)
def test_words_of_words(text: str) -> None:
    """Words joined by spaces are read as the same words."""
    once = split_words(text)
    assert split_words(" ".join(once)) == once


@given(st.text(alphabet="ab1'. ,:/-", max_size=60))
@settings(derandomize=True, deadline=None)
def test_short_way_reads_as_the_long_way(text: str) -> None:
    """An ASCII text has the same words with one letter of another script behind it."""
    assert [*split_words(text), "é"] == split_words(f"{text} é")


def test_stop_words_are_words() -> None:
    """Each English stop word is one word as texts are cut, so that it is met; "not" is none of them."""
    assert "not" not in ENGLISH
    assert all(split_words(word) == [word] for word in ENGLISH)


@pytest.mark.parametrize(
    "forms",
    [
        ("use", "uses", "used", "using"),
        ("city", "cities", "city's"),
        ("run", "runs", "running"),
        ("study", "studies", "studied", "studying"),
        ("quick", "quickly"),
        ("possible", "possibly"),
        ("easy", "easily"),
        ("box", "boxes"),
        ("make", "makes", "making"),
        ("plan", "planned", "planning"),
    ],
)
def test_forms_of_a_word_share_their_stem(forms: tuple[str, ...]) -> None:
    """Plural, possessive, -ing, -ed and -ly leave the stem."""
    assert len({stem_word(form) for form in forms}) == 1


def test_stem_leaves_short_and_foreign_words() -> None:
    """What only looks like an ending is no ending, and other scripts are left alone."""
    assert [stem_word(word) for word in ("bring", "red", "bus", "is", "boss", "größe", "b2b", "2,000")] == [
        "bring",
        "red",
        "bus",
        "is",
        "boss",
        "größe",
        "b2b",
        "2,000",
    ]


@given(st.text(max_size=60))
@settings(derandomize=True, deadline=None)
def test_folding_twice_changes_nothing(text: str) -> None:
    """Folded text is folded."""
    assert fold_text(fold_text(text)) == fold_text(text)
