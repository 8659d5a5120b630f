"""Runs without a common id that ask the same questions, such as two captures, are compared in pairs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import ragauge as rg

METRICS = "faithfulness,answer_relevance,ignored_top_ranked"


def run(store: str, name: str, depths: list[int], *, traffic: bool, questions: int = 6) -> Any:
    """A run of an answer a depth; every question is asked twice, in the order of the depths."""
    rows = [
        {
            "query_id": f"{name}-{n}",
            "query": f"How deep is basin {n % questions}?",
            "answer": f"Basin {n % questions} is {depth} metres deep.",
            "passages": [{"doc_id": f"d{n}", "text": f"Basin {n % questions} is {n} metres deep."}],
        }
        for n, depth in enumerate(depths)
    ]
    return rg.evaluate(rows, metrics=METRICS, judge="local", store=store, name=name, traffic=traffic)


@pytest.mark.parametrize("traffic", [False, pytest.param(True, marks=pytest.mark.prove)])
def test_the_same_questions_are_paired(tmp_path: Path, traffic: bool) -> None:
    """Equal questions are the same example, the first asked with the first asked, whatever their ids."""
    store = f"sqlite:///{tmp_path}/same.db"
    run(store, "a", list(range(12)), traffic=traffic)
    run(store, "b", [*range(6), *[99] * 6], traffic=traffic)
    found = rg.compare("a", "b", store=store).runs[0]
    assert (found.matched.n, found.matched.paired) == (12, True)
    assert any("matched by question" in warning for warning in found.warnings)
    faithful = next(one for one in found.metrics if one.metric == "faithfulness")
    assert (faithful.wins, faithful.ties, faithful.losses) == (0, 6, 6)
    assert found.flips.shown
    for flip in found.flips.shown:
        n = int(flip.query_id.removeprefix("b-"))
        assert flip.base.answer == f"Basin {n % 6} is {n} metres deep."


def test_a_baseline_of_the_same_questions(tmp_path: Path) -> None:
    """A card held against such a baseline counts its causes among the same examples."""
    store = f"sqlite:///{tmp_path}/held.db"
    run(store, "a", [99] * 12, traffic=False)
    run(store, "b", list(range(12)), traffic=False)
    card = rg.evaluate("b", metrics=METRICS, judge="local", store=store, baseline="a")
    assert card.card.baseline is not None
    assert card.card.baseline.matched.n == 12


@pytest.mark.prove
def test_other_questions_are_two_samples(tmp_path: Path) -> None:
    """Where one question differs, nothing is matched: traffic is two samples, and sets are refused."""
    store = f"sqlite:///{tmp_path}/other.db"
    for name, questions in (("a", 6), ("b", 7)):
        run(store, name, list(range(12)), traffic=True, questions=questions)
        run(store, f"{name}-set", list(range(12)), traffic=False, questions=questions)
    assert rg.compare("a", "b", store=store).runs[0].matched.paired is False
    with pytest.raises(rg.UsageError, match="no example in common"):
        rg.compare("a-set", "b-set", store=store)
