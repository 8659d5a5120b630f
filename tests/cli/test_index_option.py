"""`ragauge evaluate --index`: what was never ingested is told from what search misses."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.conftest import Cli

import ragauge as rg
from ragauge.core.errors import DataError

ROWS = [
    {
        "query_id": f"q{n}",
        "query": f"What is {n}?",
        "relevant": [f"d{n}"],
        "answer": f"It is {n}.",
        "passages": [{"doc_id": "x", "text": "Nothing of the kind."}],
        "candidates": [{"doc_id": "x"}, {"doc_id": "y"}],
    }
    for n in range(4)
]


def counted(found: dict[str, int]) -> dict[str, int]:
    return {name: n for name, n in found.items() if n}


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    """Four questions whose documents were all missed."""
    import json

    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return path


def causes() -> dict[str, int]:
    return counted(dict(rg.open_run("latest").scorecard().causes))


def test_listing_decides_causes(cli: Cli, questions: Path, tmp_path: Path) -> None:
    """Documents that the listing lacks are not in the index; without it they were misses, and later it is kept."""
    (tmp_path / "ids.txt").write_text("d0\nd1\nx\n")
    assert cli("evaluate", questions, "-m", "recall@5").code == 0
    assert causes() == {"retrieval_miss": 4}
    assert cli("evaluate", questions, "-m", "recall@5", "--index", "ids.txt").code == 0
    assert causes() == {"retrieval_miss": 2, "not_in_index": 2}
    assert cli("evaluate", questions, "-m", "mrr").code == 0  # scored anew, without naming the listing
    assert causes() == {"retrieval_miss": 2, "not_in_index": 2}


def test_dry_run_says_what_a_listing_would_redo(cli: Cli, questions: Path, tmp_path: Path) -> None:
    """A dry run counts the failures that would be looked at again, and keeps nothing."""
    (tmp_path / "ids.txt").write_text("d0\nd1\nx\n")
    words = ("evaluate", questions, "-m", "recall@5", "--json")
    cli(*words)
    assert cli(*words, "--dry-run").json()["to_do"] == 0
    assert cli(*words, "--dry-run", "--index", "ids.txt").json()["to_do"] == 4
    assert cli(*words, "--dry-run").json()["to_do"] == 0


def test_listing_that_names_other_things_is_warned_about(cli: Cli, questions: Path, tmp_path: Path) -> None:
    """A listing without any labelled document is most likely one of chunks: said once, and evaluated all the same."""
    (tmp_path / "chunks.txt").write_text("d0#1\nd1#1\n")
    done = cli("evaluate", questions, "-m", "recall@5", "--index", "chunks.txt")
    assert done.code == 0
    assert "none of the 4 labeled documents is in this listing of the index (2 ids)" in " ".join(done.err.split())


@pytest.mark.parametrize(("content", "words"), [(None, "no such file"), ("\n", "index listing is empty")])
def test_listing_that_cannot_be_read(
    cli: Cli, questions: Path, tmp_path: Path, content: str | None, words: str
) -> None:
    """A listing that is not there or empty is an error, and nothing is evaluated."""
    if content is not None:
        (tmp_path / "ids.txt").write_text(content)
    done = cli("evaluate", questions, "-m", "recall@5", "--index", "ids.txt")
    assert done.code != 0
    assert words in " ".join(done.err.split())


def test_listing_in_python(tmp_path: Path) -> None:
    """`evaluate(index=...)` takes the ids themselves; what is no listing is refused."""
    store = f"sqlite:///{tmp_path / 'store.db'}"
    card = rg.evaluate(ROWS, metrics="recall@5", judge=None, store=store, index={"d3", "x"})
    assert counted(dict(card.causes)) == {"retrieval_miss": 1, "not_in_index": 3}
    with pytest.raises(DataError, match="listing of the index"):
        rg.evaluate(ROWS, metrics="recall@5", judge=None, store=store, index=7)
