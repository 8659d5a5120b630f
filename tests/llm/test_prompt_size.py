"""How few tokens a prompt can have: no real tokenizer makes fewer, and what a cutting server reads is far below."""

from __future__ import annotations

import json
import random
from functools import cache
from importlib import resources
from typing import Any

import pytest

from ragauge.models.chat import can_be_cut, count_fewest_tokens, describe_cut

TEXTS = resources.files("ragauge.judges") / "known_texts"
ODD = {
    "blanks": ("word" + " " * 200 + "\n") * 100 + "\n" * 4_000 + "\t" * 4_000,
    "rules": "=" * 4_000 + "\n" + "-" * 4_000 + ("|" + "-" * 70 + "\n") * 50 + ("| " * 40 + "|\n") * 40,
    "numbers": " ".join(str(random.Random(n).randrange(10 ** (1 + n % 11))) for n in range(2_000)),
    "table": "\n".join(",".join(f"{n * m / 7:.2f}" for m in range(8)) for n in range(200)),
    "code": "def get_internationalized_name(self) -> dict[str, Any]:\n    return self._names['a_b'] or {}\n" * 100,
    "links": " ".join(f"https://www.example.com/path_to/{n}?q=a&b={n * 7919:x}#top" for n in range(200)),
    "one letter": "a" * 5_000,
    "emoji": "😀🎉👨‍👩‍👧 " * 300,
}


@cache
def tokenizer() -> Any:
    """The one that is in the package: of Llama 2."""
    from tokenizers import Tokenizer

    name = "l2_supercat_tokenizer_config.json"
    return Tokenizer.from_str((resources.files("ragauge.models.embedders") / "weights" / name).read_text("utf-8"))


def texts_of(value: Any) -> str:
    """Every text in a JSON value."""
    if isinstance(value, str):
        return value
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return "\n".join(filter(None, map(texts_of, parts)))


@pytest.mark.parametrize("language", sorted(path.name[:2] for path in TEXTS.iterdir() if path.name.endswith(".json")))
def test_no_language_has_fewer(language: str) -> None:
    """Texts of each language have more tokens than the fewest, so none looks cut where it was read whole."""
    text = texts_of(json.loads((TEXTS / f"{language}.json").read_text("utf-8")))
    real = len(tokenizer().encode(text, add_special_tokens=False).ids)
    assert 0.15 * real < count_fewest_tokens(text) <= real
    assert describe_cut(text, real) == ""


@pytest.mark.parametrize("kind", ODD)
def test_no_odd_text_has_fewer(kind: str) -> None:
    """Blanks, rules, numbers, tables, code, links and repeats, which tokenizers press together, have as many."""
    real = len(tokenizer().encode(ODD[kind], add_special_tokens=False).ids)
    assert count_fewest_tokens(ODD[kind]) <= real
    assert describe_cut(ODD[kind], real) == ""


def test_a_cut_text_is_told() -> None:
    """What was read of a long English text, half of it or the end, is said, with what to raise."""
    text = "The harbour of the old town is deep, and boats of seven metres lie there in winter. " * 200
    real = len(tokenizer().encode(text, add_special_tokens=False).ids)
    for read in (1_024, 2_050, real // 2):
        assert describe_cut(text, read).startswith(
            f"the server read {read:,} of at least {count_fewest_tokens(text):,} tokens, so"
        )
        assert "num_ctx" in describe_cut(text, read)
    assert describe_cut("A short text.", 1) == ""  # the count is of something else


@pytest.mark.parametrize("read", [1, 99, 250])
def test_a_short_prompt_that_is_cut_is_told(read: int) -> None:
    """A prompt of 2,400 characters of which a server says that it read 250 tokens or fewer was cut."""
    text = "The harbour of the old town is deep, and boats of seven metres lie there in winter. " * 28
    assert "num_ctx" in describe_cut(text, read)


def test_limits_are_told_by_their_look() -> None:
    """Numbers that servers cut at may be limits: the whole context, or half of one and what is always kept."""
    assert all(map(can_be_cut, (1_024, 2_048, 2_047, 1_026, 2_050, 4_098, 32_768)))
    assert not any(map(can_be_cut, (2, 255, 1_500, 2_060, 5_311)))
