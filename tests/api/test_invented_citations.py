"""Citations of what was never handed on are counted and named, whatever else a run is like."""

from __future__ import annotations

from pathlib import Path

import ragauge as rg


def test_invented_citations_are_counted_and_named(tmp_path: Path) -> None:
    """Where answers often cite a number beyond their passages, the card has the share and the diagnosis says it."""
    rows = [
        {
            "query_id": f"q{n}",
            "query": f"How deep is basin {n}?",
            "answer": f"Basin {n} is {n} metres deep [{1 + n % 2 * 6}].",
            "passages": [{"doc_id": f"d{n}", "text": f"Basin {n} is {n} metres deep."}],
        }
        for n in range(40)
    ]
    card = rg.evaluate(rows, judge="local", store=f"sqlite:///{tmp_path}/invented.db")
    assert card["invented_citations"].mean == 0.5
    assert "invented_citations" in [finding.cause for finding in card.findings]
