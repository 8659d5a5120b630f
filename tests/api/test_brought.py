"""What people bring to `evaluate`: their model, their metric names; and what they take away."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import ragauge as rg
from ragauge.core.errors import UnknownName, UsageError

PASSAGES = ["The mast is 330 metres tall.", "It was raised in 1889."]
ROWS = {
    "question": ["How tall is it?", "When was it raised?"],
    "answer": ["It is 330 metres tall [1].", "In 1889."],
    "contexts": [PASSAGES, PASSAGES],
}


@pytest.fixture
def store(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/kept.db"


def replies(asked: str) -> str:
    """Every sentence is one claim, supported by the first sentence of the first passage."""
    n = max(map(int, re.findall(r"\[S(\d+)\]", asked)), default=1)
    claim = '{"text": "a", "verdict": "supported", "by": ["1.1"], "against": [], "together": false, "direct": true}'
    sentences = ", ".join(f'{{"n": {one}, "claims": [{claim}]}}' for one in range(1, n + 1))
    return f'{{"sentences": [{sentences}], "addresses": "fully", "refuses": false}}'


def test_a_model_of_ones_own(store: str) -> None:
    """A function judges; its name is in the judge's id, and the same name asks nothing twice."""
    asked: list[str] = []

    def model(text: str) -> str:
        asked.append(text)
        return replies(text)

    given: dict[str, Any] = {"metrics": "faithfulness", "judge": model, "judge_name": "house-1", "store": store}
    card = rg.evaluate(ROWS, **given)
    assert card["faithfulness"].mean == 1.0
    assert card.card.judge.judge_id.startswith("own:house-1#")
    before = len(asked)
    assert rg.evaluate(ROWS, **given)["faithfulness"].mean == 1.0
    assert len(asked) == before == 2


def test_a_model_needs_a_name(store: str) -> None:
    """Stored replies are known by the model's name: a function has its own, a lambda without one is refused."""
    with pytest.raises(UsageError, match="judge_name"):
        rg.evaluate(ROWS, metrics="faithfulness", judge=lambda text: text, store=store)
    with pytest.raises(UsageError, match="passed as judge="):
        rg.evaluate(ROWS, metrics="faithfulness", judge="local", judge_name="x", store=store)


def test_names_of_other_tools_are_said_and_printed_under_ours(store: str) -> None:
    """answer_relevancy is read, said once, and printed as answer_relevance."""
    with pytest.warns(UserWarning, match="answer_relevancy is answer_relevance here") as told:
        card = rg.evaluate(ROWS, metrics="answer_relevancy,faithfulness", store=store)
    assert [str(one.message) for one in told] == ["answer_relevancy is answer_relevance here."]
    assert list(card.summaries) == ["answer_relevance", "faithfulness"]
    assert card["answer_relevancy"] is card["answer_relevance"]
    with pytest.raises(UnknownName, match="metric of this scorecard 'recall@5'"):
        card["recall@5"]


def test_a_wide_table(store: str) -> None:
    """One row a question, one column a metric; a value that is not there is null."""
    card = rg.evaluate(ROWS, metrics="citation_presence,recall@5", judge=None, store=store)
    table = card.to_polars(wide=True)
    assert table.columns == ["query_id", "repeat", "query", "citation_presence", "recall@5"]
    assert table["citation_presence"].to_list() == [1.0, 0.0]
    assert table["recall@5"].to_list() == [None, None]


def test_a_wide_table_has_the_segments(store: str) -> None:
    """A declared segment is a column to group by, whatever its size; one called like another column says what it is."""
    rows = [
        {"query": "How tall?", "answer": "330 metres", "segments": {"kind": "height", "query": "x"}},
        {"query": "When?", "answer": "In 1889 [1].", "segments": {"kind": "date"}},
    ]
    table = rg.evaluate(rows, metrics="citation_presence", judge=None, store=store).to_polars(wide=True)
    assert table.columns == ["query_id", "repeat", "query", "kind", "query (segment)", "citation_presence"]
    assert dict(table.select("query", "kind").iter_rows()) == {"How tall?": "height", "When?": "date"}


def test_one_example_as_a_dictionary(store: str) -> None:
    """Scores and claims of one example; a card of several asks which."""
    card = rg.evaluate(ROWS, metrics="faithfulness,recall@5", store=store)
    found = card.example(str(card.to_polars()["query_id"][0]))
    assert found["query"] == "How tall is it?"
    assert found["scores"]["recall@5"] is None
    assert found["reasons"] == {"recall@5": "no relevance labels"}
    assert [(claim["label"], claim["passages"]) for claim in found["claims"]] == [("supported", [1])]
    with pytest.raises(UsageError, match="2 answers"):
        card.example()
    with pytest.raises(UnknownName):
        card.example("nobody")
