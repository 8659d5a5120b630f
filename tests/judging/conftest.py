"""Ways to put a question to the local judge; makes `tests.judging.criteria_cases` importable."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from ragauge.core.ask import Ask, Reply
from ragauge.core.facts import JudgeFacts
from ragauge.judges.inputs import Inputs
from ragauge.judges.judge import answer_asks
from ragauge.judges.local.judge import LocalJudge
from ragauge.models.embedders.base import WordLlamaEmbedder

Put = Callable[[Inputs], JudgeFacts]
ROOT = str(Path(__file__).resolve().parents[2])
if ROOT not in sys.path:
    sys.path.insert(0, ROOT)


@pytest.fixture(scope="session")
def embedded() -> Callable[[Sequence[Ask]], list[Reply]]:
    """Answers embed asks from the embedded embedder."""
    embedder = WordLlamaEmbedder()

    def answer(asks: Sequence[Ask]) -> list[Reply]:
        return [Reply("ok", vectors=embedder.embed([text for _, text in ask.messages])) for ask in asks]

    return answer


@pytest.fixture(scope="session")
def put(embedded: Callable[[Sequence[Ask]], list[Reply]]) -> Put:
    """Puts a question to the local judge, with vectors."""
    return lambda inputs: answer_asks(LocalJudge().ask(inputs), embedded)


@pytest.fixture(scope="session")
def put_lexically() -> Put:
    """Puts a question to the local judge while every call fails."""
    return lambda inputs: answer_asks(
        LocalJudge().ask(inputs), lambda asks: [Reply("failed", reason="down") for _ in asks]
    )
