"""Answers made comparable."""

from __future__ import annotations

import re
import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragauge.text.tokens import normalize_answer, split_answer_tokens


def by_the_rule(text: str) -> str:
    """The rule as the SQuAD paper states it, for ASCII: lower case, no punctuation, no articles, single spaces."""
    bare = "".join(char for char in text.lower() if char not in string.punctuation)
    return " ".join(re.sub(r"\b(?:a|an|the)\b", " ", bare).split())


@given(st.text(alphabet=st.characters(max_codepoint=127), max_size=80))
@settings(derandomize=True, deadline=None)
def test_ascii_follows_the_rule(text: str) -> None:
    """ASCII answers are normalised exactly as the SQuAD rule says."""
    assert normalize_answer(text) == by_the_rule(text)


@given(st.text(max_size=60))
@settings(derandomize=True, deadline=None)
def test_normal_form_is_stable(text: str) -> None:
    """A normalised answer is its own normal form."""
    once = normalize_answer(text)
    assert normalize_answer(once) == once


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The  Eiffel Tower!", "eiffel tower"),
        ("A cat, an owl and the dog", "cat owl and dog"),
        ("1,000", "1000"),
        ("«Café» — déjà-vu", "café déjàvu"),
        ("ＡＢＣ　１２", "abc 12"),
        ("東京。", "東京"),
        ("Straße", "strasse"),
        ("5 €", "5 €"),
        ("theatre", "theatre"),
    ],
)
def test_examples(text: str, expected: str) -> None:
    """Case, punctuation of every script, width, articles and spaces do not count; other symbols do."""
    assert normalize_answer(text) == expected


def test_tokens_of_unspaced_scripts_are_characters() -> None:
    """Words are split at spaces, Chinese, Japanese and Thai at every character."""
    assert split_answer_tokens("The Eiffel Tower") == ["eiffel", "tower"]
    assert split_answer_tokens("東京タワー tower") == ["東", "京", "タ", "ワ", "ー", "tower"]
    assert split_answer_tokens("한국 탑") == ["한국", "탑"]
