"""What a system says of itself in `origin` stands among the settings that differ."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import ragauge as rg

FIRST, LATER = {"version": "1.4.0", "model": "m-1", "k": "5"}, {"version": "1.5.0", "model": "m-1", "k": "8"}


def evaluated(store: str, name: str, origins: list[dict[str, str]]) -> None:
    """A run of so many responses, each with what it says of itself."""
    rows: list[dict[str, Any]] = [
        {"query_id": f"q{n}", "query": "How long?", "answer": "14 days.", "passages": ["14 days."], "origin": origin}
        for n, origin in enumerate(origins)
    ]
    rg.evaluate(rows, name=name, store=store, metrics=["faithfulness"])


@pytest.mark.prove
def test_what_the_system_said_differs(tmp_path: Path) -> None:
    """A new version and k stand in comparison, log and scorecard; the same model does not, nor does a rare value."""
    store, rare = f"sqlite:///{tmp_path}/s.db", {**FIRST, "model": "m-0"}
    evaluated(store, "base", [*[FIRST] * 19, rare])
    evaluated(store, "new", [LATER] * 20)
    (compared,) = rg.compare("base", "new", store=store).runs
    changed = {one.path: (one.base, one.new) for one in compared.settings.changed}
    assert changed == {"origin.version": ("1.4.0", "1.5.0"), "origin.k": ("5", "8")}
    assert (compared.settings.added, compared.settings.removed) == ((), ())
    for shown in (rg.compare("base", "new", store=store).to_markdown(), rg.log(store=store).to_markdown()):
        assert "origin.k" in shown
        assert "origin.model" not in shown
    history = rg.open_run("new", store=store).scorecard().card.history
    assert history is not None
    assert {one.path for one in history.rows[0].changed} == {"origin.version", "origin.k"}


@pytest.mark.prove
def test_several_values_are_named_together(tmp_path: Path) -> None:
    """A run whose responses come from two models names both; where nothing was said before, the fact is added."""
    store = f"sqlite:///{tmp_path}/s.db"
    evaluated(store, "base", [{}] * 4)
    evaluated(store, "new", [{"model": "m-2"}, {"model": "m-1"}] * 2)
    (compared,) = rg.compare("base", "new", store=store).runs
    assert [(one.path, one.new) for one in compared.settings.added] == [("origin.model", "m-1 and m-2")]
