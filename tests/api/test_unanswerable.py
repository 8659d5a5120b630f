"""Questions whose references decline: unanswerable without a label, for every metric, cause and segment alike."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import ragauge as rg

PASSAGE = {"doc_id": "x", "text": "The harbour office is open on weekdays."}
METRICS = (
    "answer_correctness,answer_recall,answer_grade,answer_relevance,refusal_correctness,missed_refusal,over_refusal"
)
DECLINED = ("The documents do not say.", "I don't know.", "N/A", "Not enough information")


def record(n: int, answer: str, **more: Any) -> dict[str, Any]:
    return {"query_id": f"q{n}", "query": f"Who built pier {n}?", "answer": answer, "passages": [PASSAGE], **more}


def test_declining_references_make_questions_unanswerable(tmp_path: Path) -> None:
    """A refusal shared with the reference is right everywhere; an answer in its place is a missed refusal."""
    rows = [record(n, text, reference_answer=text) for n, text in enumerate(DECLINED)]
    rows.append(record(7, "I don't know.", references=["Not enough information", "N/A"]))
    rows.append(record(8, "Pier 8 was built by Mara Lindqvist.", reference_answer="The documents do not say."))
    with pytest.warns(UserWarning, match="6 questions treated as unanswerable"):
        card = rg.evaluate(rows, metrics=METRICS, judge="local", store=f"sqlite:///{tmp_path}/refusals.db")
    found = {(row["query_id"], row["metric"]): row for row in card.to_polars().to_dicts()}
    for n in (0, 1, 2, 3, 7):
        for metric in ("answer_correctness", "answer_recall", "answer_grade", "refusal_correctness"):
            assert found[f"q{n}", metric]["value"] == 1.0, (n, metric)
        assert found[f"q{n}", "answer_relevance"]["status"] == "undefined"
        assert found[f"q{n}", "over_refusal"]["status"] == "not_applicable"
    assert found["q8", "missed_refusal"]["value"] == 1.0
    assert found["q8", "answer_correctness"]["value"] < 0.5
    assert card.failures["query_id"].to_list() == ["q8"]


@pytest.mark.parametrize(
    ("more", "answerable"),
    [
        ({"reference_answer": "The documents do not say."}, False),
        ({"reference_answer": "The documents do not say.", "answerable": True}, True),
        ({"references": ["I don't know", "Mara Lindqvist"]}, None),
        ({"reference_answer": "Unknown"}, None),
        ({"reference_answer": "Mara Lindqvist"}, None),
        ({}, None),
    ],
)
@pytest.mark.filterwarnings("ignore:.*treated as unanswerable")
def test_a_label_and_an_answer_come_before_the_wording(
    tmp_path: Path, more: dict[str, Any], answerable: bool | None
) -> None:
    """A given label wins; one accepted answer that answers, or may, leaves it unknown; from a file as from memory."""
    row = {"query": "Who built the pier?", **more}
    path = tmp_path / "set.jsonl"
    path.write_text(json.dumps(row))
    assert rg.read_set([row]).examples[0].answerable is answerable
    assert rg.read_set(path).examples[0].answerable is answerable
