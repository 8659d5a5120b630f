"""What is said of each passage of one example."""

from __future__ import annotations

from pathlib import Path

import pytest

import ragauge as rg
from ragauge.diagnosis.examples.passage_views import build_passage_views


@pytest.fixture(scope="module")
def card(tmp_path_factory: pytest.TempPathFactory) -> rg.Scorecard:
    """One answer whose labelled passage shares no word with the question."""
    row = {
        "query_id": "q",
        "query": "Who opened the harbour?",
        "answer": "Mara Lindqvist.",
        "relevant": {"d1": 1},
        "passages": [
            {"doc_id": "d1", "text": "Lindqvist cut the ribbon in May."},
            {"doc_id": "d2", "text": "Bread is baked here."},
        ],
    }
    place = tmp_path_factory.mktemp("shelves") / "s.db"
    return rg.evaluate(
        [row], metrics="faithfulness,context_precision,recall@5", judge="local", store=f"sqlite:///{place}"
    )


def test_a_labelled_passage_is_not_called_off_the_question(card: rg.Scorecard, tmp_path: Path) -> None:
    """A label outweighs the judge: the judge's mark of a passage that is labelled relevant is not shown against it."""
    (view,) = card.examples()
    gold, other = build_passage_views(view)
    assert (gold.gold, gold.relevant) == (True, None)
    assert (other.gold, other.relevant) == (False, False)
    page = card.save(tmp_path / "report.html").read_text("utf-8")
    assert page.count("judged off-topic") == 1
    assert page.count("labeled relevant") >= 1
