"""Named forms of an answer."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragauge.core.errors import UnknownName, UsageError
from ragauge.text.patterns import PATTERNS, get_pattern, matches_pattern, register_pattern

CASES = {
    "json": (['{"a": [1, null]}', " 3 ", '"x"'], ["{a: 1}", "NaN", "", '{"a": 1} indeed', "[" * 100_000]),
    "json_block": (['```json\n{"a": 1}\n```', "[]"], ["```json\n{a}\n```", "see: []"]),
    "url_free": (["No address.", "3.5 of them, e.g. this"], ["See https://a.org", "at www.a.org", "on example.com"]),
    "no_markdown": (["Plain, 2 * 3 * 4, a_b_c.", "A - b"], ["**bold**", "# Head", "- item", "`code`", "[a](b)"]),
    "bullet_list": (["- a\n- b", "1. a\n\n2. b", "* a", "• a"], ["a\n- b", "", "-a", "text"]),
    "single_sentence": (["One sentence, with Dr. Roe.", "一句话。"], ["One. Two.", ""]),
    "single_line": (["One. Two.\n"], ["a\nb", ""]),
    "ends_with_punctuation": (["Yes.", "Is it?", "好。", '"No."', "So it is. [1]", "Done!**"], ["Yes", "Yes,", ""]),
    "cites_brackets": (["It is [1].", "It [2, 3] is", "它【4†a】"], ["It is (1).", "It is [sic].", ""]),
    "not_empty": (["a"], ["", " \n"]),
}


@pytest.mark.parametrize("name", CASES)
def test_pattern(name: str) -> None:
    """Each named pattern accepts what has its form and refuses what has not."""
    yes, no = CASES[name]
    assert [text for text in yes if not matches_pattern(name, text)] == []
    assert [text for text in no if matches_pattern(name, text)] == []


def test_every_pattern_has_cases() -> None:
    """No pattern goes without a test."""
    assert {name for name in PATTERNS if not name.startswith("test.")} == set(CASES)


@given(st.sampled_from(sorted(CASES)), st.text(max_size=80))
@settings(derandomize=True, deadline=None)
def test_any_text_is_decided(name: str, text: str) -> None:
    """Every pattern says yes or no to every text."""
    assert isinstance(matches_pattern(name, text), bool)


def test_registered_pattern() -> None:
    """A pattern of the user's is known by its name, and may be registered again as it is."""
    register_pattern("test.ticket", r"\bT-\d{4}\b")
    register_pattern("test.ticket", r"\bT-\d{4}\b")
    assert matches_pattern("test.ticket", "see T-1234.")
    assert not matches_pattern("test.ticket", "see T-12.")


@pytest.mark.parametrize(
    ("name", "regex", "message"),
    [("a b", "x", "letters, digits"), ("json", "x", "exists already"), ("test.open", "(", "not a regular expression")],
)
def test_pattern_that_cannot_be(name: str, regex: str, message: str) -> None:
    """A bad name, a taken name and a malformed expression are usage errors that say so."""
    with pytest.raises(UsageError, match=message):
        register_pattern(name, regex)


def test_unknown_pattern_names_the_nearest() -> None:
    """Asking for a pattern that does not exist names those that do."""
    with pytest.raises(UnknownName, match="nearest: json"):
        get_pattern("jsn")
