"""What every framework's object that retrieves, reranks and answers does when it is given to `rg.run`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.systems.one_index import K, golden, nearest, say

import ragauge as rg
from ragauge.core.example import EvalSet
from ragauge.store.store_access import open_store

KEPT = 2  # passages after reranking
ASKED = EvalSet("asked", golden().examples[:8])


class AnsweringContract:
    """An object that retrieves the K nearest pieces, keeps the last two of them, the farthest first, and says `say`.

    A framework subclasses this and supplies `target`.
    """

    @pytest.fixture
    def target(self) -> Any:
        """The framework's object."""
        raise NotImplementedError

    def test_run_keeps_answer_passages_and_candidates(self, target: Any, tmp_path: Path) -> None:
        """Run over eight questions at once: each response has its own answer, the passages kept and all retrieved."""
        url = f"sqlite:///{tmp_path}/s.db"
        run = rg.run(target, ASKED, store=url, name="r").run
        with open_store(url) as store:
            found = {example.query_id: response for example, response in store.runs.pairs(run.run_id)}
        assert len(found) == len(ASKED.examples)
        for example in ASKED.examples:
            response, ranked = found[example.query_id], [piece for piece, _ in nearest(example.query, K)]
            kept = ranked[::-1][:KEPT]
            assert response.error is None
            assert response.answer == say([piece.text for piece in kept])
            for passages, pieces in ((response.passages, kept), (response.candidates, ranked)):
                assert [(one.passage_id, one.doc_id) for one in passages or ()] == [
                    (piece.passage_id, piece.doc_id) for piece in pieces
                ]
