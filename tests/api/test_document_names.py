"""Labels and passages that name the same file otherwise: by folder, or by the ending."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest

import ragauge as rg
from ragauge.core.document import match_document_names
from ragauge.store.store_access import open_store


@pytest.mark.parametrize(
    ("label", "doc_id"),
    [
        ("docs/a.md", "a"),
        ("a", "docs/a.md"),
        ("a.md", "docs/a.md"),
        ("a.md", "a"),
        ("docs/a", "a.md"),
        ("kb/docs/a.md", "docs/a"),
        ("handbuch/Übersicht.rst", "Übersicht"),
        ("ガイド/料金", "料金.md"),
        ("docs\\a.md", "docs/a"),
        ("./a.md", "a.md"),
        ("https://example.org/docs/a.html", "a"),
        ("v2.10.md", "v2.10"),
    ],
)
def test_one_file_by_two_names(label: str, doc_id: str) -> None:
    """A path that says less of the same file, in either place, is matched among others."""
    assert match_document_names({label, "other.md"}, {doc_id, "z/other.md", "third"})[doc_id] == label


@pytest.mark.parametrize(
    ("labels", "retrieved"),
    [
        ({"en/a.md", "de/a.md"}, {"a"}),  # which of them, nobody says
        ({"a"}, {"en/a.md", "de/a.md"}),
        ({"a.md"}, {"a.md", "docs/a.md"}),  # one is the label itself
        ({"a.md"}, {"a.pdf"}),
        ({"v2.1"}, {"v2.10"}),
        ({"v2"}, {"v2.10"}),  # a number is no ending
        ({"en/a"}, {"de/a"}),
        ({"A.md"}, {"a.md"}),
        ({"ba"}, {"a"}),
        ({"x/a"}, {"xx/a"}),
    ],
)
def test_two_files_are_not_matched(labels: set[str], retrieved: set[str]) -> None:
    """What may be two documents, or is one of several, keeps its own id."""
    assert match_document_names(labels, retrieved) == {}


ROWS: list[dict[str, Any]] = [
    {
        "query_id": "q1",
        "query": "Who runs the mill?",
        "relevant": ["docs/mill.md"],
        "answer": "Ada [mill].",
        "passages": [{"doc_id": "mill", "text": "Ada Brandt runs it."}, {"doc_id": "inn", "text": "It has beds."}],
    },
    {
        "query_id": "q2",
        "query": "When does it open?",
        "relevant": ["hours"],
        "answer": "At six.",
        "passages": [{"doc_id": "docs/hours.txt", "text": "It opens at six."}],
    },
    {
        "query_id": "q3",
        "query": "Where is it?",
        "relevant": ["place.md"],
        "answer": "In Grell.",
        "passages": [{"doc_id": "place.md", "text": "It is in Grell."}],
    },
]


def evaluated(source: Any, store: str) -> tuple[float | None, list[str]]:
    """Recall of what is evaluated, and what was said of ids."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        card = rg.evaluate(source, metrics="recall@5", judge=None, store=store)
    return card["recall@5"].mean, [str(one.message) for one in caught if "matched labels" in str(one.message)]


def test_ids_of_a_file_are_matched_once_with_one_notice(tmp_path: Path) -> None:
    """Labels and passages of an evaluated table meet; the same table again is the same run, and nothing is said."""
    store = f"sqlite:///{tmp_path}/ids.db"
    mean, told = evaluated(ROWS, store)
    assert mean == 1.0
    assert len(told) == 1
    assert "2 documents of the passages" in told[0]
    assert "in 2 responses" in told[0]
    assert evaluated(ROWS, store) == (1.0, [])
    with open_store(store) as opened:
        (run,) = opened.runs.list()
        passages = {example.query_id: response.passages or () for example, response in opened.runs.pairs(run.run_id)}
    assert [passage.doc_id for passage in passages["q1"]] == ["docs/mill.md", "inn"]


def test_ids_that_may_be_two_files_stay(tmp_path: Path) -> None:
    """Where the name of a file stands in two folders of the labels nothing is matched, and recall is what it is."""
    rows = [{**ROWS[0], "relevant": ["en/mill.md"]}, {**ROWS[1], "relevant": ["de/mill.md"]}]
    assert evaluated(rows, f"sqlite:///{tmp_path}/ids.db") == (0.0, [])


def test_ids_of_a_system_are_matched_when_its_run_is_complete(tmp_path: Path) -> None:
    """A system that names files by their endings answers a set that does not; the labels' ids count."""
    told: list[str] = []
    questions = [{"query_id": f"q{n}", "query": f"Question {n}?", "relevant": [f"page{n}"]} for n in range(3)]

    def system(query: str) -> dict[str, Any]:
        n = query.removeprefix("Question ").removesuffix("?")
        return {"answer": "So.", "passages": [{"doc_id": f"docs/page{n}.md", "text": f"Page {n}."}]}

    store = f"sqlite:///{tmp_path}/ids.db"
    run = rg.run(system, questions, store=store, warn=told.append)
    assert [one for one in told if "3 documents of the passages matched labels" in one]
    assert evaluated(run, store) == (1.0, [])
