"""Tokens."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragauge.text.tokens import count_tokens


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        # counts that OpenAI's cookbook prints for cl100k_base ("How to count tokens with tiktoken")
        ("tiktoken is great!", 6),
        ("antidisestablishmentarianism", 6),
        ("2 + 2 = 4", 7),
        ("お誕生日おめでとう", 9),
        ("", 0),
    ],
)
def test_published_counts(text: str, tokens: int) -> None:
    """The counts are those that the encoding's makers publish."""
    assert count_tokens(text) == tokens


@given(st.text(max_size=100))
@settings(derandomize=True, deadline=None)
def test_any_text_has_a_count(text: str) -> None:
    """No text fails, lone surrogates included; only the empty one has no token, none has more than bytes."""
    tokens = count_tokens(text)
    assert (tokens == 0) == (text == "")
    assert tokens <= len(text.encode("utf-8", "replace")) * 3


def test_lone_surrogate_counts_as_the_replacement_character() -> None:
    """A character that cannot be encoded counts as what stands in for it."""
    assert count_tokens("a \ud800 b") == count_tokens("a \ufffd b")


def test_special_tokens_are_text() -> None:
    """Markers of the model's own protocol are counted as the text that they are."""
    assert count_tokens("<|endoftext|>") > 1


@pytest.mark.slow
@pytest.mark.parametrize("unit", ["a", *(pytest.param(unit, marks=pytest.mark.prove) for unit in " !\né中")])
def test_ten_megabytes_of_one_character(unit: str) -> None:
    """An endless run takes time in proportion to its length, and its count is that of its pieces."""
    begin = time.perf_counter()
    assert count_tokens(unit * 10_000_000) == pytest.approx(100 * count_tokens(unit * 100_000), rel=0.02)
    assert time.perf_counter() - begin < 60
