"""The contract of texts."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ragauge.store.store_access import Store
from ragauge.store.text_codec import escape_for_frame, escape_text, pack_text, unescape_text, unpack_text


class TextsContract:
    """What every store of texts does. A back end supplies `store`."""

    def test_equal_texts_are_one(self, store: Store) -> None:
        """A text put twice, in one call or in two, keeps one number and one row."""
        first = store.texts.put(["a", "b", "a"])
        assert store.texts.put(["b"]) == [first[1]]
        assert first[0] == first[2] != first[1]
        assert store.texts.count() == 2

    @pytest.mark.parametrize(
        "text", ["", "\x00", "a\x00b", "\ud800", "a\udfff\ud800", "𝄞", "\x1a0000", "x" * 10_000_000, "é\x00" * 100_000]
    )
    def test_any_text_survives(self, store: Store, text: str) -> None:
        """NUL, lone surrogates, an empty text and 10 MB are read back equal."""
        (number,) = store.texts.put([text])
        assert store.texts.get([number]) == {number: text}

    def test_texts_that_differ_in_a_trap_are_two(self, store: Store) -> None:
        """Texts that are equal up to a NUL, or but for a surrogate, are different texts."""
        assert len(set(store.texts.put(["a\x00b", "a\x00c", "a", "\ud800", "\ud801", "�"]))) == 6

    def test_more_than_a_statement_holds(self, store: Store) -> None:
        """Thousands of texts are put and read in one call."""
        texts = [f"text {i}" for i in range(5_000)]
        numbers = store.texts.put(texts)
        assert store.texts.get(numbers) == dict(zip(numbers, texts, strict=True))


class TestSqliteTexts(TextsContract):
    """The contract on SQLite."""

    @pytest.fixture
    def store(self, sqlite_store: Store) -> Store:
        return sqlite_store


@given(st.text(st.characters()))
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_packing_loses_nothing(text: str) -> None:
    """Packed and escaped text is read back equal, and what is escaped is text that any database takes."""
    assert unpack_text(pack_text(text)) == text
    assert unescape_text(escape_text(text)) == text
    assert "\x00" not in escape_text(text)
    escape_text(text).encode("utf-8")
    escape_for_frame(text).encode("utf-8")


def test_ordinary_text_is_stored_as_it_is() -> None:
    """Escaping changes nothing in text without traps, so that names stay readable in the database."""
    assert escape_text("Straße \n 100 % 𝄞 \\x1a") == "Straße \n 100 % 𝄞 \\x1a"


def test_long_text_is_deflated() -> None:
    """A body of repeated words takes less than a tenth; a short one is not touched."""
    assert len(pack_text("the same words " * 100)) < 150
    assert pack_text("short") == b"\x00short"
