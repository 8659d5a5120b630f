"""Passed is said of what was looked at: answers that nobody could check are not known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import ragauge as rg

TRUE = "The lid of case {n} is made of oak and weighs {n} kg."


def row(n: int, answer: str | None, **more: Any) -> dict[str, Any]:
    made: dict[str, Any] = {
        "query_id": f"q{n}",
        "query": f"Is the lid of case {n} made of oak?",
        "tags": ["regression"],
        "passages": [{"doc_id": f"d{n}", "text": TRUE.format(n=n)}],
        "relevant": {f"d{n}": 1},
    }
    return {**made, **({} if answer is None else {"answer": answer}), **more}


def evaluated(rows: list[dict[str, Any]], folder: Path, **options: Any) -> Any:
    return rg.evaluate(rows, store=f"sqlite:///{folder}/s.db", name="run", **options).card


GATE = "gate:\n  rules:\n    - {tag: regression, must_pass: true}\n"


def verdict(folder: Path) -> str:
    (folder / "ragauge.yaml").write_text(GATE)
    return str(rg.gate("run", rules=folder / "ragauge.yaml", store=f"sqlite:///{folder}/s.db").verdict)


@pytest.mark.parametrize(
    "rows",
    [[row(n, "Yes, of course.") for n in range(1, 8)], [row(n, TRUE.format(n=n), passages=None) for n in range(1, 8)]],
    ids=["no claim", "passages not recorded"],
)
def test_what_could_not_be_checked_has_not_passed(rows: list[dict[str, Any]], tmp_path: Path) -> None:
    """Answers without a claim, or without anything to hold them against, are neither failed nor passed."""
    rows = [{name: value for name, value in one.items() if value is not None} for one in rows]
    for one in rows:
        one.pop("relevant", None)
    card = evaluated(rows, tmp_path, metrics="faithfulness,answer_relevance", judge="local")
    assert card.passed_examples == 0
    assert card.failed_examples + card.unclear_examples + card.not_judged_examples == len(rows)
    assert verdict(tmp_path) != "pass"


def test_labels_alone_pass_no_answer(tmp_path: Path) -> None:
    """With labels of documents alone an answer that nobody judged is not known; a retriever without answers passes."""
    card = evaluated([row(n, TRUE.format(n=n)) for n in range(1, 8)], tmp_path, metrics="recall@5", judge=None)
    assert (card.passed_examples, card.not_judged_examples) == (0, 7)
    assert verdict(tmp_path) != "pass"
    (tmp_path / "alone").mkdir()
    card = evaluated([row(n, None) for n in range(1, 8)], tmp_path / "alone", metrics="recall@5", judge=None)
    assert (card.passed_examples, card.not_judged_examples) == (7, 0)


def test_a_checked_answer_passes(tmp_path: Path) -> None:
    """A judged answer that its passages state has passed."""
    card = evaluated([row(n, TRUE.format(n=n)) for n in range(1, 8)], tmp_path, metrics="faithfulness", judge="local")
    assert (card.passed_examples, card.not_judged_examples) == (7, 0)
    assert verdict(tmp_path) == "pass"


@pytest.mark.prove
def test_a_partly_judged_baseline_passes_no_drop(tmp_path: Path) -> None:
    """A drop among examples that the baseline's judge never saw is not enough data, not a pass over the others."""
    store = f"sqlite:///{tmp_path}/s.db"
    good = [row(n, TRUE.format(n=n), tags=["ok"] if n < 15 else ["new"]) for n in range(1, 21)]
    wrong = "The lid is made of blue glass from Rome."
    bad = [one if "ok" in one["tags"] else {**one, "answer": wrong} for one in good]
    rg.evaluate(good, store=store, name="base", metrics="faithfulness", judge="local", filter={"tag": "ok"})
    rg.evaluate(good, store=store, name="base", metrics="recall@5", judge=None)
    rg.evaluate(bad, store=store, name="new", metrics="faithfulness", judge="local")
    (tmp_path / "ragauge.yaml").write_text("gate:\n  rules:\n    - {metric: faithfulness, max_drop: 5 points}\n")
    found = rg.gate("new", baseline="base", rules=tmp_path / "ragauge.yaml", store=store)
    assert found.verdict != "pass"


def test_a_chosen_part_passes_no_gate_for_the_rest(tmp_path: Path) -> None:
    """Evaluated by a filter alone, a run is not enough data; a random part of it speaks for the whole, and says so."""
    rows = [row(n, TRUE.format(n=n), tags=["ok"] if n < 21 else ["new"]) for n in range(1, 41)]
    (tmp_path / "ragauge.yaml").write_text("gate:\n  rules:\n    - {metric: recall@5, min: 0.5}\n")
    found = {}
    for name, part in (("chosen", {"filter": {"tag": "ok"}}), ("drawn", {"limit": 20})):
        store = f"sqlite:///{tmp_path}/{name}.db"
        rg.evaluate(rows, store=store, name="run", metrics="recall@5", judge=None, **part)
        found[name] = rg.gate("run", rules=tmp_path / "ragauge.yaml", store=store)
    assert found["chosen"].verdict != "pass"
    assert "chosen, not sampled at random" in " ".join(found["chosen"].gated.warnings)
    assert found["drawn"].verdict == "pass"
    assert "a random sample" in " ".join(found["drawn"].gated.warnings)
