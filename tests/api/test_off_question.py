"""Sentences of an answer that nobody asked for: measured without a reference, and shown in every form."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

import ragauge as rg
from ragauge.core.facts import RelevanceFacts
from ragauge.diagnosis.examples.one_example import build_sections
from ragauge.diagnosis.explain.tables import build_example_sections
from ragauge.rendering.writers.terminal import render_terminal

NAME = "answer_relevance:by=sentence"
LAKE = "Our founder sails on a lake."
ROWS = [
    {
        "query_id": "beside",
        "query": "How many days does a parcel take to arrive?",
        "answer": f"The parcel takes three days to arrive. {LAKE} To islands a parcel takes five days.",
    },
    {
        "query_id": "straight",
        "query": "How many days does a parcel take to arrive?",
        "answer": "The parcel takes three days to arrive.",
    },
]


def printed(shown: Any) -> str:
    """What a terminal shows, on one line."""
    console = Console(width=120, color_system=None, force_terminal=False)
    with console.capture() as captured:
        console.print(shown)
    return " ".join(captured.get().split())


def test_beside_the_question(tmp_path: Path) -> None:
    """Neither reference nor passages are needed; the answer with a sentence beside it scores less, and it is named."""
    url = f"sqlite:///{tmp_path}/off.db"
    card = rg.evaluate(ROWS, metrics=[NAME], judge="local", store=url, name="off", workers=1)
    run = rg.open_run("off", store=url)
    scores = {name: run.example(name).scores[NAME].value for name in ("beside", "straight")}
    assert scores["beside"] == pytest.approx(2.3 / 3, abs=0.15)
    assert scores["straight"] == pytest.approx(1.0, abs=0.1)
    said = printed(render_terminal(build_sections(run.example("beside"))))
    assert re.findall(r"off-topic \(p 0\.\d\d\): ([^.]+\.)", said) == [LAKE]
    assert "off-topic" not in printed(render_terminal(build_sections(run.example("straight"))))
    facts = run.example("beside").evidence["rate_answer"].facts
    assert isinstance(facts, RelevanceFacts)
    assert [one.relevant for one in facts.ratings] == [True, False, True]
    assert card.card.summaries[0].mean == pytest.approx(sum(value or 0.0 for value in scores.values()) / 2)


def test_the_page_shows_it(tmp_path: Path) -> None:
    """A page of one answer lists its sentence off the question under that head; explain says which counts how much."""
    url = f"sqlite:///{tmp_path}/page.db"
    rows = [{**ROWS[0], "relevant": {"gone": 1}, "passages": [{"doc_id": "d", "text": "a parcel"}]}]  # it failed
    card = rg.evaluate(rows, metrics=["recall@5", NAME], judge="local", store=url, name="off", workers=1)
    page = Path(card.save(tmp_path / "off.html")).read_text(encoding="utf-8")
    part = page.partition("<h4>Off-topic</h4>")[2].partition("</ul>")[0]
    assert LAKE in part
    assert "islands" not in part
    explained = printed(
        render_terminal(build_example_sections(rg.open_run("off", store=url).explain_example("beside")))
    )
    assert f"sentence of the answer 2 not relevant to the question {LAKE}" in explained
    assert "sentence of the answer 1 relevant to the question" in explained
