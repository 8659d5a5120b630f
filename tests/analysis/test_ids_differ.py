"""Labels and passages that name documents differently: said first, and no retrieval miss is sure from such labels."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import ragauge as rg

# the reader says of many such examples what is said here of the run
pytestmark = pytest.mark.filterwarnings("ignore:.*has a labeled document among its passages")
TOPICS = [
    ("How long can a hub be returned?", "Hubs are taken back within 30 days of delivery."),
    ("How often is the kettle descaled?", "Descale the kettle every three months."),
    ("When do parcels leave?", "Parcels leave the warehouse within two working days."),
]


def rows(labelled: Sequence[str], retrieved: Sequence[str]) -> list[dict[str, Any]]:
    """Answered from the right text, which is labelled and retrieved under these ids."""
    return [
        {
            "query_id": f"q{n}",
            "query": f"{TOPICS[n % 3][0]} ({n})",
            "answer": TOPICS[n % 3][1],
            "relevant": [label],
            "passages": [{"doc_id": doc_id, "text": TOPICS[n % 3][1]}],
        }
        for n, (label, doc_id) in enumerate(zip(labelled, retrieved, strict=True))
    ]


def card_of(tmp_path: Path, labelled: Sequence[str], retrieved: Sequence[str]) -> rg.Scorecard:
    more: dict[str, Any] = {"metrics": "recall@5,faithfulness", "store": f"sqlite:///{tmp_path}/ids.db", "workers": 1}
    return rg.evaluate(rows(labelled, retrieved), **more)


@pytest.mark.parametrize("n", [2, 12])
def test_ids_that_differ_lead(tmp_path: Path, n: int) -> None:
    """Labels by file and passages by chunk: the first finding says so with one of each, whatever the number."""
    card = card_of(tmp_path, [f"topic{'abc'[i % 3]}.md" for i in range(n)], [f"chunk-{i}" for i in range(n)])
    first, *others = card.findings
    assert (first.cause, first.confidence) == ("ids_differ", "high")
    assert "labels and passages use different ids (labeled 'topica.md', retrieved 'chunk-0')" in first.headline
    assert [one.confidence for one in others if one.cause == "retrieval_miss"] == ["low"]
    assert f"First: {first.headline}" in " ".join(card.to_markdown().split())
    assert card.card.warnings[0].startswith("Only 0 of")


def test_ids_made_alike_may_be_missed(tmp_path: Path) -> None:
    """Where ids are made alike and none of many is met, both readings are said; of a few it is a miss, and not sure."""
    many = card_of(tmp_path, [f"d{i}" for i in range(8)], [f"d{i + 50}" for i in range(8)]).findings[0]
    assert (many.cause, many.confidence) == ("ids_differ", "low")
    assert "different ids, or retrieval finds none of the evidence (labeled 'd0', retrieved 'd50')" in many.headline
    few = card_of(tmp_path, [f"e{i}" for i in range(3)], [f"e{i + 50}" for i in range(3)]).findings
    assert [(one.cause, one.confidence) for one in few] == [("retrieval_miss", "medium")]


def test_other_spelling(tmp_path: Path) -> None:
    """The same ids in another spelling are shown as a pair."""
    card = card_of(tmp_path, ["Topic_A.md", "Topic_B.md"], ["topic-a.md", "topic-b.md"])
    assert "(labeled 'Topic_A.md', retrieved 'topic-a.md')" in card.findings[0].headline


def test_labels_that_are_met_are_believed(tmp_path: Path) -> None:
    """One labelled id that came back shows that the ids meet: the other misses are misses, for sure."""
    card = card_of(tmp_path, [f"d{i}" for i in range(9)], ["d0", *(f"chunk-{i}" for i in range(8))])
    assert (card.findings[0].cause, card.findings[0].confidence) == ("retrieval_miss", "high")
