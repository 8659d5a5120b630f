"""Runs on queries that were drawn from documents say what they do not settle, wherever they are shown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import ragauge as rg
from ragauge.scores.known_items import warn_known_items

SAID = "lexical and dense retrieval"
TEXTS = {f"d{n}": f"Crane {n} was built by Tarn{n}." for n in range(8)}


def _run(name: str, n_drawn: int, store: str, *, wrong: int = 0) -> None:
    examples = tuple(
        rg.Example(
            f"q{n}",
            f"crane {n} tarn{n}",
            relevant=(rg.Relevant((f"d{n}",)),),
            segments={"type": "known_item" if n < n_drawn else "single", "difficulty": "easy"},
        )
        for n in range(8)
    )

    def system(question: str) -> dict[str, Any]:
        n = int(question.split(" ")[1])
        found = f"d{(n + 1) % 8}" if n < wrong else f"d{n}"
        return {"answer": "", "passages": [{"doc_id": found, "text": TEXTS[found]}]}

    rg.run(system, rg.EvalSet(f"set-{n_drawn}", examples), name=name, store=store)


@pytest.mark.parametrize(
    ("n_drawn", "cautioned"),
    [
        pytest.param(8, True, marks=pytest.mark.prove),
        (5, True),
        (4, False),
        pytest.param(0, False, marks=pytest.mark.prove),
    ],
)
def test_report_comparison_json_and_page_say_what_known_items_do_not_settle(
    n_drawn: int, cautioned: bool, tmp_path: Path
) -> None:
    """Where most queries are known items, the card and the comparison say so in text, JSON and on their pages."""
    store = f"sqlite:///{tmp_path / 's.db'}"
    _run("old", n_drawn, store, wrong=2)
    _run("new", n_drawn, store)
    cards = [rg.evaluate(name, metrics=["recall@5"], store=store) for name in ("old", "new")]
    comparison = rg.compare("old", "new", store=store)
    for shown, name in ((cards[1], "card"), (comparison, "comparison")):
        page = shown.save(tmp_path / f"{name}.html").read_text(encoding="utf-8")
        for text in (shown.to_markdown(), str(shown.to_dict()), page):
            assert (SAID in text) is cautioned
    if cautioned:
        assert f"{n_drawn} of 8 queries consist of words taken from the documents" in cards[1].to_markdown()


def test_a_majority_is_more_than_half() -> None:
    """Half of the queries, or none at all, are not cautioned."""
    assert [bool(warn_known_items(n, 10)) for n in (0, 5, 6, 10)] == [False, False, True, True]
    assert warn_known_items(0, 0) == ()
