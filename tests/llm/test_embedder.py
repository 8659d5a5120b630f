"""The embedded embedder."""

from __future__ import annotations

import json
import logging
import re
import shutil
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragauge.core.errors import MissingFile, UsageError
from ragauge.models.embedders.base import (
    MATRIX,
    PIECE_CHARS,
    TOKENIZER,
    WEIGHTS,
    Embedder,
    EmbeddingModel,
    WordLlamaEmbedder,
)

TEXTS = ["The lid of the box is green.", "a", "Ein Satz über Öfen.", "箱の蓋は緑色です。", "line\none\ttab"]
LONG = "The quick brown fox jumps over 13 lazy dogs, again and again. " * (3 * PIECE_CHARS // 60)
GOLDEN = "58c15d7c5c40780e277249ee99dd62282fbc49342c1fcaeefe7f348f3d083952"  # of TEXTS, by wordllama's own files


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return WordLlamaEmbedder()


def test_rows_have_shape_type_and_length_one(embedder: Embedder) -> None:
    """There is one float32 row a text, of length 1."""
    rows = embedder.embed(TEXTS)
    assert rows.shape == (len(TEXTS), embedder.dimensions) == (5, 256)
    assert rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-6)


@pytest.fixture(scope="module")
def library() -> Any:
    """The library with its own files; the test environment has it wherever it has a wheel."""
    wordllama = pytest.importorskip("wordllama", reason="wordllama has no wheel for this machine")
    return wordllama.WordLlama.load(cache_dir=Path(str(wordllama.__file__)).parent, disable_download=True)


def test_equals_the_library_to_the_bit(library: Any) -> None:
    """Matrix and vectors are bit for bit what wordllama's own matrix and tokenizer give."""
    ours, theirs = WordLlamaEmbedder(), WordLlamaEmbedder()
    texts = [*TEXTS, LONG, "x" * 3 * PIECE_CHARS, "🦙 \x00\ud800", "1,234.5 % of 7 °C"]
    theirs._model = EmbeddingModel(library.tokenizer, library.embedding)
    assert ours.embed(texts).tobytes() == theirs.embed(texts).tobytes()
    assert ours._get_model().matrix.dtype == library.embedding.dtype
    assert ours._get_model().matrix.tobytes() == library.embedding.tobytes()


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=80))
@settings(deadline=None)
def test_tokens_equal_those_of_the_library(library: Any, text: str) -> None:
    """Every text has the token ids that wordllama's own tokenizer gives it."""
    ours = SHARED._get_model().tokenizer.encode(text, add_special_tokens=False).ids
    assert ours == library.tokenizer.encode(text, add_special_tokens=False).ids


def test_equals_the_library_where_it_has_no_wheel(embedder: Embedder) -> None:
    """The vectors have the bits that wordllama 0.4.0.post1 gave on a machine that it has a wheel for."""
    assert sha256(embedder.embed(TEXTS).astype("<f4").tobytes()).hexdigest() == GOLDEN


def test_equals_the_library_embedding_for_itself(embedder: Embedder, library: Any) -> None:
    """Vectors equal those of wordllama's own embed with normalising, which adds in float32."""
    assert np.allclose(embedder.embed(TEXTS), library.embed(TEXTS, norm=True), atol=1e-6)


def test_long_text_equals_the_library_itself(embedder: Embedder, library: Any) -> None:
    """Cutting a long text at spaces does not change its vector."""
    assert np.allclose(embedder.embed([LONG]), library.embed([LONG], norm=True), atol=1e-5)


def test_name_in_stored_evidence() -> None:
    """The name and size that evidence and systems were stored with stay, so that what is stored is found."""
    assert (WordLlamaEmbedder.name, WordLlamaEmbedder.dimensions) == ("wordllama-l2-supercat-256", 256)


@pytest.mark.parametrize("name", [MATRIX, TOKENIZER])
def test_missing_file_is_named(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without one of its files the embedder says which, where, and how to get it."""
    _files_in(tmp_path, monkeypatch)
    (tmp_path / name).unlink()
    said = rf"^The embedder's file {name} is not in {tmp_path}\. .*pip install .*python tools/embedder_files\.py"
    with pytest.raises(MissingFile, match=said):
        WordLlamaEmbedder().embed(["a"])


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        (MATRIX, b"", "a matrix of 256 columns in float16, got the header b'' and 0 bytes"),
        (MATRIX, b"version https of a pointer, not the file", "a matrix of 256 columns in float16, got the header"),
        (MATRIX, b"\x02" + bytes(7) + b"[]", "a matrix of 256 columns"),
        (TOKENIZER, b"{}", "must be a tokenizer, got"),
    ],
)
def test_damaged_file_is_named(
    name: str, content: bytes, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file cut short, or of another kind, is told with its path, what was found and what to do."""
    _files_in(tmp_path, monkeypatch)
    (tmp_path / name).write_bytes(content)
    with pytest.raises(MissingFile, match=re.escape(said)) as caught:
        WordLlamaEmbedder().embed(["a"])
    assert str(tmp_path / name) in str(caught.value)
    assert "pip install" in str(caught.value)


def test_matrix_cut_short_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A matrix with fewer numbers than its header says is not used."""
    _files_in(tmp_path, monkeypatch)
    (tmp_path / MATRIX).write_bytes((tmp_path / MATRIX).read_bytes()[:-512])
    with pytest.raises(MissingFile, match="16383488 bytes after it"):
        WordLlamaEmbedder().embed(["a"])


def _files_in(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (MATRIX, TOKENIZER):
        shutil.copy(WEIGHTS / name, folder)
    monkeypatch.setattr("ragauge.models.embedders.base.WEIGHTS", folder)


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
@settings(deadline=None)
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
        "from ragauge.models.embedders.base import WordLlamaEmbedder\n"
        "embedder = WordLlamaEmbedder()\n"
        "assert not {'numpy', 'tokenizers', 'requests'} & set(sys.modules)\n"
        "embedder.embed(['hello'])\n"
        "assert logging.getLogger().handlers == [] and logging.getLogger().level == logging.WARNING\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert logging.getLogger().level == logging.WARNING


GROWTH = """
import random
from pathlib import Path
from ragauge.models.embedders.base import WordLlamaEmbedder

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


def test_what_is_loaded_is_shared() -> None:
    """Embedders of a process have one matrix, however often they are made and from how many threads at once."""
    with ThreadPoolExecutor(8) as threads:
        made = list(threads.map(lambda _: WordLlamaEmbedder()._get_model(), range(8)))
    assert {id(one.matrix) for one in made} == {id(SHARED._get_model().matrix)}


def test_missing_file_ends_an_evaluation_and_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the files an evaluation stops with that error; when they are there, the same store holds no failure."""
    import ragauge as rg

    row = {"query_id": "1", "query": "What colour is the lid?", "answer": "The lid is green."}
    asked = tmp_path / "answers.jsonl"
    asked.write_text(json.dumps(row | {"contexts": ["The lid of the box is green."]}) + "\n")
    how: Any = {"metrics": ("faithfulness",), "store": f"sqlite:///{tmp_path}/store.db"}
    with monkeypatch.context() as without:
        without.setattr("ragauge.models.embedders.base.WEIGHTS", tmp_path / "none")
        with pytest.raises(MissingFile, match="safetensors is not in "):
            rg.evaluate(asked, **how)
    assert rg.evaluate(asked, **how)["faithfulness"].mean == pytest.approx(1, abs=0.1)
