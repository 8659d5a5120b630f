"""The embedded embedder."""

from __future__ import annotations

import logging
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragauge.errors import UsageError
from ragauge.llm.embedders.base import Embedder
from ragauge.llm.embedders.wordllama import PIECE, WordLlamaEmbedder

TEXTS = ["The lid of the box is green.", "a", "Ein Satz über Öfen.", "箱の蓋は緑色です。", "line\none\ttab"]


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return WordLlamaEmbedder()


def test_rows_have_shape_type_and_length_one(embedder: Embedder) -> None:
    """There is one float32 row a text, of length 1."""
    rows = embedder.embed(TEXTS)
    assert rows.shape == (len(TEXTS), embedder.dimensions) == (5, 256)
    assert rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-6)


def test_equals_the_library_itself(embedder: Embedder) -> None:
    """Vectors equal those of wordllama's own embed with normalising."""
    import wordllama

    folder = Path(str(wordllama.__file__)).parent
    theirs = wordllama.WordLlama.load(cache_dir=folder, disable_download=True).embed(TEXTS, norm=True)
    assert np.allclose(embedder.embed(TEXTS), theirs, atol=1e-6)


def test_long_text_equals_the_library_itself(embedder: Embedder) -> None:
    """Cutting a long text at spaces does not change its vector."""
    import wordllama

    text = "The quick brown fox jumps over 13 lazy dogs, again and again. " * (3 * PIECE // 60)
    folder = Path(str(wordllama.__file__)).parent
    theirs = wordllama.WordLlama.load(cache_dir=folder, disable_download=True).embed([text], norm=True)
    assert np.allclose(embedder.embed([text]), theirs, atol=1e-5)


def test_blank_text_is_a_row_of_zeros(embedder: Embedder) -> None:
    """An empty or blank text has no direction, and does not disturb its neighbours."""
    rows = embedder.embed(["", TEXTS[0], " \n\t"])
    assert not rows[0].any()
    assert not rows[2].any()
    assert np.array_equal(rows[1], embedder.embed([TEXTS[0]])[0])
    assert embedder.embed([]).shape == (0, 256)


def test_vector_depends_on_its_own_text_alone(embedder: Embedder) -> None:
    """The same text has bit for bit the same vector in any company and order."""
    together = embedder.embed(TEXTS)
    assert np.array_equal(together[::-1], embedder.embed(TEXTS[::-1]))
    assert all(np.array_equal(row, embedder.embed([text])[0]) for row, text in zip(together, TEXTS, strict=True))


def test_nearer_in_meaning_is_nearer(embedder: Embedder) -> None:
    """A paraphrase is nearer than an unrelated sentence."""
    rows = embedder.embed(["A man plays a guitar.", "A guy is playing guitar music.", "The stock market fell."])
    assert rows[0] @ rows[1] > rows[0] @ rows[2] + 0.2


@given(st.lists(st.text(st.characters(), max_size=40), max_size=4))
@settings(max_examples=100, deadline=None)
def test_any_string_is_accepted(texts: list[str]) -> None:
    """Control characters, lone surrogates and every script give finite rows."""
    rows = SHARED.embed(texts)
    assert rows.shape == (len(texts), 256)
    assert np.isfinite(rows).all()


SHARED = WordLlamaEmbedder()


def test_one_string_is_refused(embedder: Embedder) -> None:
    """A single string is not taken for a list of characters."""
    with pytest.raises(UsageError, match=r"Write embed\(\[text\]\)"):
        embedder.embed("one text")


def test_no_connection_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """With every socket refused, the weights still load."""

    def refuse(*args: object, **kwargs: object) -> None:
        raise AssertionError("a connection was tried")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    assert WordLlamaEmbedder().embed(["hello"]).any()


def test_loading_is_lazy_and_leaves_logging_alone() -> None:
    """Making an embedder imports nothing heavy, and using it adds no handler to the root logger."""
    script = (
        "import sys, logging\n"
        "from ragauge.llm.embedders.wordllama import WordLlamaEmbedder\n"
        "embedder = WordLlamaEmbedder()\n"
        "assert not {'numpy', 'wordllama', 'requests'} & set(sys.modules)\n"
        "embedder.embed(['hello'])\n"
        "assert logging.getLogger().handlers == [] and logging.getLogger().level == logging.WARNING\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert logging.getLogger().level == logging.WARNING


GROWTH = """
import random
from pathlib import Path
from ragauge.llm.embedders.wordllama import WordLlamaEmbedder

def megabytes():
    return int(Path("/proc/self/smaps_rollup").read_text().split("Anonymous:")[1].split()[0]) / 1024

draw, embedder = random.Random(3), WordLlamaEmbedder()
words = [f"{one}{two}" for one in ("mar", "lon", "ter", "vis") for two in ("do", "ran", "pel", "tic")]
sizes = []
for _ in range(2):
    for _ in range(2_000):
        embedder.embed([" ".join(draw.choices(words, k=20))])
    sizes.append(megabytes())
print(sizes[1] - sizes[0])
"""


@pytest.mark.skipif(not Path("/proc/self/smaps_rollup").exists(), reason="the kernel does not tell anonymous memory")
def test_texts_are_not_kept() -> None:
    """Another 2,000 different texts leave no memory behind: the tokenizer would keep about 5 kB of each."""
    done = subprocess.run([sys.executable, "-c", GROWTH], capture_output=True, text=True, check=True)
    assert float(done.stdout) < 2
