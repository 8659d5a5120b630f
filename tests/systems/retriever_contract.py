"""What every retriever over the index does, whatever it searches with."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from tests.systems.one_index import answered, golden, nearest, one_response, plain_system, scores

from ragauge.core.errors import UsageError
from ragauge.core.response import Response
from ragauge.systems.base import Question, System

K = 4  # as the plain system's
RETRIEVAL = "recall@4,ndcg@4,mrr"


class RetrieverContract:
    """A retriever of the four nearest pieces. A store subclasses this and supplies `system`."""

    @pytest.fixture
    def system(self) -> System:
        """The retriever."""
        raise NotImplementedError

    def score(self, cosine: float) -> float:
        """The score of a passage whose cosine is known."""
        return cosine

    def test_ranking_of_every_question(self, system: System) -> None:
        """For every question: the pieces that are nearest by hand, in that order, with their ids, texts and scores."""
        found = answered(system)
        for example in golden().examples:
            passages = found[example.query_id].passages or ()
            expected = nearest(example.query, K)
            assert [(one.passage_id, one.doc_id, one.text) for one in passages] == [
                (piece.passage_id, piece.doc_id, piece.text) for piece, _ in expected
            ]
            scored = [self.score(cosine) for _, cosine in expected]
            assert [one.score for one in passages] == pytest.approx(scored, abs=1e-5)

    def test_passages_and_no_answer(self, system: System) -> None:
        """Scores fall, higher is better; there is no answer, and the reason stands with it."""
        found = one_response(system, "How do I pair a device?")
        values = [one.score or 0.0 for one in found.passages or ()]
        assert values == sorted(values, reverse=True)
        assert (found.answer, found.missing) == (None, {"answer": "retrieval only"})

    def test_same_metrics_as_without_a_store(self, system: System, tmp_path: Path) -> None:
        """Evaluated, its retrieval metrics are those of the system written by hand."""
        plain = scores(answered(plain_system()), tmp_path / "plain", RETRIEVAL)
        assert scores(answered(system), tmp_path / "store", RETRIEVAL) == plain

    def test_questions_at_once_do_not_mix(self, system: System) -> None:
        """Fifty questions under way at once: each gets its own passages."""
        asked = [golden().examples[n % 5] for n in range(50)]

        async def all_of_them() -> list[Response]:
            try:
                questions = [Question(f"{n}", one.query) for n, one in enumerate(asked)]
                return list(await asyncio.gather(*map(system.respond, questions)))
            finally:
                await system.close()

        for example, found in zip(asked, asyncio.run(all_of_them()), strict=True):
            assert found.passages is not None
            assert found.passages[0].passage_id == nearest(example.query)[0][0].passage_id

    def test_handed_passages_are_refused(self, system: System) -> None:
        """A store does not answer: what to write instead is said, before any question."""
        with pytest.raises(UsageError, match=r"retrieve\(query\) and generate\(query, passages\)"):
            system.check_variant("oracle")
