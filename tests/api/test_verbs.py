"""The verbs in Python: what they take, what they give back, what they refuse."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import ragauge as rg
from ragauge.metrics.catalogue import parse_metric

ROWS: list[dict[str, Any]] = [
    {
        "query_id": "a",
        "query": "a?",
        "answer": "It is blue.",
        "passages": [{"doc_id": "x", "text": "It is blue."}],
        "relevant": {"x": 1},
        "segments": {"kind": "one"},
    },
    {
        "query_id": "b",
        "query": "b?",
        "answer": "It is red.",
        "passages": [],
        "relevant": {"y": 1},
        "segments": {"kind": "two"},
    },
]


@pytest.fixture
def store(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/verbs.db"


def test_sources_in_memory_and_stored(store: str) -> None:
    """Rows, a frame, a run's name, "latest" and an opened run are the same run with the same number."""
    import polars as pl

    flat = [{"query": row["query"], "query_id": row["query_id"], "answer": row["answer"]} for row in ROWS]
    assert rg.evaluate(pl.DataFrame(flat), metrics="answer_tokens", judge=None, store=store).card.n == 2
    card = rg.evaluate(ROWS, metrics="mrr", judge=None, store=store, name="mine")
    assert card["mrr"].mean == 0.5
    for source in ("mine", "latest", card, card.run, rg.open_run("mine", store=store)):
        again = rg.evaluate(source, metrics="mrr", judge=None, store=store)
        assert (again.run.run_id, again["mrr"].mean) == (card.run.run_id, 0.5)


@pytest.mark.parametrize(
    "metrics", ["recall@5, mrr", ["recall@5", "mrr"], (parse_metric("recall@5"), parse_metric("mrr"))]
)
def test_metrics_in_every_form(store: str, metrics: Any) -> None:
    """Metrics are a comma-separated text, a list of names, or metric objects."""
    assert list(rg.evaluate(ROWS, metrics=metrics, judge=None, store=store).summaries) == ["recall@5", "mrr"]


@pytest.mark.parametrize("segments", ["kind,half", ["kind", "half"], ("kind", "half")])
def test_segments_in_every_form(store: str, segments: Any) -> None:
    """Columns to report by are a comma-separated text or a list of names, of a set as of a run."""
    rows = [{"query": f"q{n}?", "answer": "a", "kind": f"{n % 2}", "half": "x" if n < 10 else "y"} for n in range(20)]
    card = rg.evaluate(rows, segments=segments, metrics="answer_tokens", judge=None, store=store)
    assert set(card.card.segments) == {"kind", "half"}
    assert rg.read_set(rows, segments=segments).examples[0].segments == {"kind": "0", "half": "x"}


def test_card_at_hand(store: str, tmp_path: Path) -> None:
    """The card gives summaries by name, scores and failures as frames, and files by ending."""
    card = rg.evaluate(ROWS, metrics="recall@5,empty_result_rate", judge=None, store=store)
    assert card.failures["query_id"].to_list() == ["b"]
    assert card.failures.select("cause", "query", "recall@5").row(0) == ("empty_retrieval", "b?", 0.0)
    assert card.to_polars().height == len(card.to_pandas()) == 4
    assert card.save(tmp_path / "new" / "card.JSON").read_text() == card.to_json()
    assert card._repr_html_().startswith("<iframe srcdoc=")
    assert "recall@5" in repr(card)
    with pytest.raises(rg.UnknownName, match="nearest: recall@5"):
        card["recal@5"]
    with pytest.raises(rg.UsageError, match=r"got \.doc"):
        card.save(tmp_path / "card.doc")


@pytest.mark.parametrize(
    ("source", "more", "words"),
    [
        (None, {}, "cannot read"),
        ([], {}, "no example"),
        ("a\0b", {}, "no run"),
        (ROWS, {"metrics": [5]}, "no metric or preset '5'"),
        (ROWS, {"limit": 0}, "limit must be at least 1"),
        (ROWS, {"workers": 0}, "workers must be at least 1"),
        (ROWS, {"filter": {"kin": "one"}}, "nearest: kind"),
        (ROWS, {"judge": "locl"}, "nearest: local"),
        (ROWS, {"name": "latest"}, "cannot be named latest"),
    ],
)
def test_refused(store: str, source: Any, more: dict[str, Any], words: str) -> None:
    """What cannot be done is an exception of ours that says what to do, and leaves no run behind."""
    with pytest.raises(rg.RagaugeError, match=words):
        rg.evaluate(source, **{"metrics": "mrr", "judge": None, "store": store} | more)
    assert rg.runs(store=store) == []


def test_scores_are_written_a_line_an_example(tmp_path: Path) -> None:
    """save("x.jsonl") writes every example with its scores, claims and cause, in the published form."""
    rows = [
        {
            "query_id": "a",
            "query": "How long is the trial?",
            "answer": "The trial lasts 90 days.",
            "passages": [{"doc_id": "d", "text": "The trial lasts 30 days."}],
        },
        {"query_id": "b", "query": "How long is the trial?"},
    ]
    card = rg.evaluate(rows, metrics="faithfulness", store=f"sqlite:///{tmp_path}/s.db")
    lines = [json.loads(line) for line in card.save(tmp_path / "x.jsonl").read_text().splitlines()]
    assert [line["query_id"] for line in lines] == ["a", "b"]
    assert lines[0]["scores"]["faithfulness"]["value"] == lines[0]["claims"][0]["p"] <= 0.05
    assert lines[0]["claims"][0]["label"] == "contradicted"
    assert [view.example.query_id for view in card.examples()] == ["a", "b"]


def test_export_leaves_absent_responses_absent(tmp_path: Path) -> None:
    """An example without a response in the run is exported without one."""
    rows = [{"query_id": "a", "query": "x?", "answer": "Yes, it is."}, {"query_id": "b", "query": "y?"}]
    store = f"sqlite:///{tmp_path}/s.db"
    card = rg.evaluate(rows, metrics="answer_tokens", store=store, name="one")
    rg.open_run(card.run.run_id, store=store).export(tmp_path / "out.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert "answer" in lines[0]
    assert set(lines[1]) == {"query_id", "query"}
