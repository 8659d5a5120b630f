"""Labels that people give decide verdicts, causes and counts wherever they are shown, without a new evaluation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import ragauge as rg
from ragauge.core.label import format_part
from ragauge.core.verdict import ExampleVerdict
from ragauge.labels.label.label_session import LabelInput, open_label_sheet, save_label
from ragauge.store.store_access import open_store

N, DRAWN = 12, 4


def towers() -> list[dict[str, Any]]:
    """Answers with one sentence that the passage states, which the judge passes."""
    return [
        {
            "query_id": f"q{i}",
            "query": f"How tall is tower {i}?",
            "answer": f"Tower {i} is {300 + i} metres tall.",
            "passages": [{"doc_id": f"d{i}", "text": f"Tower {i} is {300 + i} metres tall."}],
        }
        for i in range(N)
    ]


@pytest.fixture
def store(tmp_path: Path) -> str:
    """A store with a judged run, `new`."""
    url = f"sqlite:///{tmp_path / 'store.db'}"
    rg.evaluate(towers(), metrics="faithfulness", name="new", store=url)
    return url


def tasks_of(store: str, tmp_path: Path, question: str = "support") -> list[dict[str, Any]]:
    """The tasks of a draw from the run."""
    path = tmp_path / "tasks.jsonl"
    rg.label_draw("new", output=path, n=DRAWN, question=question, store=store)
    return [json.loads(line) for line in path.read_text().splitlines()]


def label(tasks: list[dict[str, Any]], value: str, store: str) -> set[str]:
    """Says the same of the first part of every task; the ids of their examples."""
    rows = [
        {name: task[name] for name in ("key", "question", "guideline")}
        | {"part": task["parts"][0] or "", "value": value, "annotator": "ann"}
        for task in tasks
    ]
    rg.label_import(rows, store=store)
    return {f"q{task['query'].split()[-1][:-1]}" for task in tasks}


def verdicts(url: str, name: str = "new") -> dict[str, ExampleVerdict]:
    """query_id -> stored verdict of the last judge."""
    with open_store(url) as store:
        run = store.runs.find(name)
        judge = store.scores.judges(run.run_id)[0]
        items = store.runs.load(store.runs.load_order(run.run_id).numbers)
        ids = {item.response_no: item.response.query_id for item in items}
        return {ids[number]: verdict for number, verdict in store.verdicts.read(run.run_id, judge)}


def test_imported_labels_decide(store: str, tmp_path: Path) -> None:
    """An import fails the labeled answers in card, list, JSON and explanation; the others stay as they were."""
    before = verdicts(store)
    labeled = label(tasks_of(store, tmp_path), "contradicted", store)
    after = verdicts(store)
    assert {name for name, verdict in after.items() if verdict.verdict == "failed"} == labeled
    assert {name: verdict for name, verdict in after.items() if name not in labeled} == {
        name: verdict for name, verdict in before.items() if name not in labeled
    }
    run = rg.open_run("new", store=store)
    card = run.scorecard()
    assert (card.card.failed_examples, dict(card.card.failed_by)) == (DRAWN, {"people": DRAWN})
    assert set(card.card.causes) == {"contradicted"}
    assert "4 by human labels" in card.to_markdown().replace("\\", "")
    said = "a person labeled this answer as not supported by its passages"
    assert after[min(labeled)].reason == said
    explained = run.explain_example(min(labeled))
    assert explained.cause is not None
    assert (explained.sign, explained.cause.name) == (said, "contradicted")


def test_a_killed_import_is_completed(store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An import that ends between its labels and their decisions is completed by the same import again."""
    tasks = tasks_of(store, tmp_path)

    def ends(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("ragauge.engine.label_facts.decide_again", ends)
        with pytest.raises(KeyboardInterrupt):
            label(tasks, "contradicted", store)
    assert not any(verdict.verdict == "failed" for verdict in verdicts(store).values())
    labeled = label(tasks, "contradicted", store)
    assert {name for name, verdict in verdicts(store).items() if verdict.verdict == "failed"} == labeled


def test_scored_labels_decide_right(store: str, tmp_path: Path) -> None:
    """A score of correctness by people decides whether an answer is right, and its example with it."""
    rows = [row | {"reference": row["answer"]} for row in towers()]
    rg.evaluate(rows, metrics=["faithfulness", "answer_correctness"], name="new", store=store)
    labeled = label(tasks_of(store, tmp_path, "score:answer_correctness"), "0", store)
    after = verdicts(store)
    assert {name for name, verdict in after.items() if verdict.right == "failed"} == labeled
    assert {verdict.reason for name, verdict in after.items() if name in labeled} == {
        "a person labeled this answer as wrong"
    }


def test_label_on_the_page_decides(store: str, tmp_path: Path) -> None:
    """A label given in the dashboard decides at once, and the next by the same person takes it back."""
    tasks_of(store, tmp_path)
    sheet = open_label_sheet(1, "ann", store=store)
    assert sheet.task is not None
    for value, failed in (("not_in_context", 1), ("supported", 0)):
        given = LabelInput(sheet.task.key, format_part(sheet.task.parts[0]), value, "ann")
        save_label(1, given, store=store)
        assert sum(verdict.verdict == "failed" for verdict in verdicts(store).values()) == failed


@pytest.mark.prove
def test_order_of_labels_and_evaluation(store: str, tmp_path: Path) -> None:
    """Labels that were there before an evaluation decide as those that come after, in any run of the same texts."""
    label(tasks_of(store, tmp_path), "not_in_context", store)
    for name, workers in (("later", 1), ("workers", 2)):  # other questions' texts make it another run
        rows = [row | {"segments": {"of": name}} for row in towers()]
        rg.evaluate(rows, metrics="faithfulness", name=name, store=store, workers=workers)
    assert verdicts(store) == verdicts(store, "later") == verdicts(store, "workers")
