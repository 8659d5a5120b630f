"""What a call costs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ragauge.core.ask import ModelName, Usage
from ragauge.core.errors import UsageError
from ragauge.models.prices import PRICES_VARIABLE, compute_price

MINI = ModelName("openai", "gpt-4o-mini")
OWN = ModelName("openai-chat", "qwen", "http://localhost:8000/v1")
MILLION = Usage(1_000_000, 1_000_000)


@pytest.fixture(autouse=True)
def _no_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(PRICES_VARIABLE, raising=False)


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's table that the environment names."""
    path = tmp_path / "prices.yaml"
    path.write_text("openai-chat:qwen: {input: 1, output: 4, cached: 0.1}\nopenai:gpt-4o-mini: {input: 9, output: 9}\n")
    monkeypatch.setenv(PRICES_VARIABLE, str(path))
    return path


def test_the_maintained_table() -> None:
    """gpt-4o-mini cost 0.15, 0.075 (cached) and 0.60 dollars a million tokens, by OpenAI's price list of 2024."""
    assert compute_price(MINI, Usage(1_000_000, 0)) == pytest.approx(0.15)
    assert compute_price(MINI, Usage(1_000_000, 0, cached_tokens=1_000_000)) == pytest.approx(0.075)
    assert compute_price(MINI, Usage(0, 1_000_000)) == pytest.approx(0.60)
    assert compute_price(ModelName("openai-chat", "gpt-4o-mini"), MILLION) == pytest.approx(0.75)


def test_unknown_is_none_and_never_0() -> None:
    """No price for a model that nobody knows, nor for any model at a place of one's own: it may cost anything there."""
    assert compute_price(ModelName("openai", "no-such-model"), MILLION) is None
    assert compute_price(OWN, MILLION) is None
    assert compute_price(ModelName("openai-chat", "gpt-4o-mini", "https://gateway.example/v1"), MILLION) is None


def test_the_users_table_comes_first(table: Path) -> None:
    """A price of the user's holds at every place, with or without the place in its name; cached tokens cost less."""
    assert compute_price(OWN, MILLION) == pytest.approx(5.0)
    assert compute_price(OWN, Usage(1_000_000, 0, cached_tokens=600_000)) == pytest.approx(0.4 + 0.06)
    assert compute_price(MINI, MILLION) == pytest.approx(18.0)
    assert compute_price(MINI, Usage(1_000_000, 0, cached_tokens=600_000)) == pytest.approx(
        9.0
    )  # no lower price is known
    table.write_text(f"'{OWN}': {{input: 2, output: 2}}\nopenai-chat:qwen: {{input: 1, output: 1}}\n")
    os.utime(table, (1, 1))
    assert compute_price(OWN, MILLION) == pytest.approx(4.0)


def test_more_cached_than_input_is_not_paid_back(table: Path) -> None:
    """A server that counts cached tokens beside the input makes no call cheaper than free."""
    assert compute_price(OWN, Usage(100, 0, cached_tokens=5_000)) == pytest.approx(100 * 0.1 / 1e6)


def test_an_edited_table_counts_at_once(table: Path) -> None:
    """A table that changes in the middle of a session is read anew."""
    assert compute_price(OWN, MILLION) == pytest.approx(5.0)
    table.write_text("openai-chat:qwen: {input: 3, output: 3}\n")
    os.utime(table, (2, 2))
    assert compute_price(OWN, MILLION) == pytest.approx(6.0)


@pytest.mark.parametrize(
    "text",
    ["openai-chat:qwen: {input: 1}", "openai-chat:qwen: {input: -1, output: 1}", "a: b", "[1]", "x: {input: many}"],
)
def test_a_table_that_cannot_be_read_is_told(table: Path, text: str) -> None:
    """A broken table is an error with what to write, never a price of 0."""
    table.write_text(text)
    os.utime(table, (3, 3))
    with pytest.raises(UsageError, match="input"):
        compute_price(OWN, MILLION)


def test_a_missing_table_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """A table that is not there is an error, not an empty one."""
    monkeypatch.setenv(PRICES_VARIABLE, "/nowhere/prices.yaml")
    with pytest.raises(UsageError, match="nowhere"):
        compute_price(OWN, MILLION)
