"""A3, the developer notes "Evaluation": three layers, ranking metrics, bootstrap, the diagnosis tables, release gates.

The notes have formulas, tables and a loop instead of code. Proves each that ragauge has: the layers told apart, the
retrieval metrics as defined, a set without labels, both diagnosis tables, a gate relative to the last release, segments
behind a better mean, a regression set that must pass, and checks without a judge.
"""

from __future__ import annotations

import math
from typing import Any

import pytest
from tests.articles.house_model import HouseModel

import ragauge as rg

POLICY = "Complaints are accepted until 31 May. They are answered within two weeks."
RIGHT, WRONG = "Complaints are accepted until 31 May.", "Complaints are accepted until 30 June."
ASKED = "Until when are complaints accepted?"


def judged(rows: list[dict[str, Any]], metrics: str, **known: Any) -> Any:
    """The rows evaluated by a model that knows these verdicts."""
    return rg.evaluate(rows, metrics=metrics, judge=HouseModel(**known), judge_name="house")


def test_the_right_policy_and_the_wrong_date_is_a_failure_of_generation() -> None:
    """Retrieval passes, generation fails, and the cause lies with generation; offline."""
    row = {
        "id": "q1",
        "question": ASKED,
        "answer": WRONG,
        "contexts": [{"id": "policy", "text": POLICY}],
        "relevant_doc_ids": ["policy"],
        "reference_answer": RIGHT,
    }
    card = rg.evaluate([row], metrics="recall@5,context_recall,faithfulness,answer_correctness")
    scores = card.example("q1")["scores"]
    assert scores["recall@5"] == 1.0
    assert scores["context_recall"] > 0.5 > scores["faithfulness"]
    (example,) = card.examples()
    assert example.cause is not None
    assert example.cause.name in ("contradicted", "ignored", "hallucinated")


def test_ranking_metrics_are_those_of_the_notes() -> None:
    """Recall, precision, MRR and graded nDCG of one ranking by hand, and the share of empty results over two."""
    ranking = [{"id": one, "text": one} for one in ("x", "a", "y", "b", "z")]
    rows = [
        {"id": "found", "question": "1?", "contexts": ranking, "relevant": {"a": 2, "b": 1, "c": 1}},
        {"id": "empty", "question": "2?", "contexts": [], "relevant": {"a": 1}},
    ]
    card = rg.evaluate(rows, metrics="recall@5,precision@5,mrr,ndcg@5,empty_result_rate")
    ideal = 2 + 1 / math.log2(3) + 1 / math.log2(4)
    assert card.example("found")["scores"] == pytest.approx(
        {
            "recall@5": 2 / 3,
            "precision@5": 2 / 5,
            "mrr": 1 / 2,
            "empty_result_rate": 0.0,
            "ndcg@5": (2 / math.log2(3) + 1 / math.log2(5)) / ideal,
        }
    )
    assert card["empty_result_rate"].mean == 0.5


def test_a_set_without_labels_is_enough_to_begin() -> None:
    """Faithfulness, relevance and context utilization need no label; context recall says that it needs a reference."""
    row = {"question": ASKED, "answer": RIGHT, "contexts": ["They are sent by post.", POLICY]}
    card = judged([row], "bootstrap,context_recall", checks={RIGHT: ("supported", "2.1")})
    assert [card[name].mean for name in ("faithfulness", "answer_relevance", "context_utilization")] == [1.0, 1.0, 0.5]
    assert card["context_recall"].not_applicable == 1


HIGH, LOW = ("supported", "1.1"), ("absent",)


@pytest.mark.parametrize(
    ("metrics", "known", "causes"),
    [
        ("faithfulness,context_recall", {"checks": {WRONG: HIGH, RIGHT: LOW}}, ["retrieval_miss"]),
        ("faithfulness,context_recall", {"checks": {WRONG: LOW, RIGHT: HIGH}}, ["ignored"]),
        ("faithfulness,context_recall", {"checks": {WRONG: LOW, RIGHT: LOW}}, ["retrieval_miss", "compound"]),
        ("context_precision,context_recall", {"checks": {RIGHT: HIGH}}, ["noise"]),
        (
            "context_precision,context_recall",
            {"checks": {RIGHT: LOW}, "relevant": [POLICY]},
            ["retrieval_miss", "ranked_low"],
        ),
    ],
    ids=["ceiling", "generation", "systemic", "noise", "incomplete"],
)
def test_two_scores_together_name_what_to_fix(metrics: str, known: dict[str, Any], causes: list[str]) -> None:
    """High and low of two metrics over thirty questions, as in the tables of the notes: each row has its finding.

    High faithfulness on low recall is retrieval's ceiling, the reverse generation's fault; where both are low,
    retrieval comes first. Low precision on high recall is noise, the reverse an incomplete set.
    """
    rows = [
        {"id": f"q{n}", "question": f"{ASKED} ({n})", "answer": WRONG, "contexts": [POLICY], "reference_answer": RIGHT}
        for n in range(30)
    ]
    found = judged(rows, metrics, **known).findings
    assert [one.cause for one in found] == causes
    assert all(one.fix for one in found)


def release(recalled: dict[str, bool], name: str, tenants: dict[str, str] | None = None) -> Any:
    """A release whose retriever finds the one document of some questions."""

    def retrieve(question: str) -> dict[str, Any]:
        return {"passages": [{"doc_id": "gold" if recalled[question] else "other", "text": question}]}

    questions = [
        {
            "query": one,
            "relevant": ["gold"],
            "segments": {"tenant": (tenants or {}).get(one, "a")},
            "tags": ["regression"] if one == "q0" else [],
        }
        for one in recalled
    ]
    return rg.evaluate(rg.run(retrieve, questions, name=name), metrics="recall@5")


RELATIVE = {"gate": {"rules": [{"metric": "recall@5", "max_drop": "3%"}]}}


def test_a_release_must_not_fall_more_than_three_percent_below_the_last() -> None:
    """The same recall passes against the last release, a recall a third lower blocks; no absolute target is named."""
    questions = [f"q{n}" for n in range(60)]
    last = release(dict.fromkeys(questions, True), "last")
    rg.set_baseline(last.run.run_id, name="main")
    same = release(dict.fromkeys(questions, True), "same")
    worse = release({one: n % 3 > 0 for n, one in enumerate(questions)}, "worse")
    assert rg.gate(same, baseline="main", rules=RELATIVE).passed
    assert rg.gate(worse, baseline="main", rules=RELATIVE).verdict == "fail"


def test_a_tenant_that_lost_blocks_though_the_mean_rose() -> None:
    """Thirty questions of tenant a are gained, ten of tenant b lost: the mean is better, and the gate fails for b."""
    tenants = {f"q{n}": "b" if n < 20 else "a" for n in range(80)}
    before = {one: tenants[one] == "b" or n % 2 == 0 for n, one in enumerate(tenants)}
    after = {one: tenants[one] == "a" or n >= 10 for n, one in enumerate(tenants)}
    last, new = release(before, "last", tenants), release(after, "new", tenants)
    assert new["recall@5"].mean > last["recall@5"].mean
    result = rg.gate(new, baseline=last, rules=RELATIVE)
    assert result.verdict == "fail"
    assert [check.segment for check in result.checks if check.verdict == "fail"] == [("tenant", "b")]


def test_a_known_failure_must_stay_repaired_whatever_the_mean() -> None:
    """One question tagged as a past failure is lost again: the gate fails, however good the other fifty-nine are."""
    card = release({f"q{n}": n != 0 for n in range(60)}, "new")
    rules = {"gate": {"rules": [{"tag": "regression", "must_pass": True, "metric": "recall@5", "min": 1}]}}
    result = rg.gate(card, rules=rules)
    assert card["recall@5"].mean > 0.98
    assert result.verdict == "fail"


def test_form_citations_and_length_are_checked_without_a_judge() -> None:
    """Whether an answer is JSON, cites at all, cites something real, and how long it is: no judge is asked."""
    answers = ["Until 31 May [1].", "Until 31 May [7].", '{"until": "31 May"}']
    rows = [{"id": one, "question": ASKED, "answer": one, "contexts": [POLICY]} for one in answers]
    metrics = "format_ok:pattern=json,citation_presence,invented_citations,answer_tokens"
    card = rg.evaluate(rows, metrics=metrics, judge=None)
    real, invented, plain = (card.example(one)["scores"] for one in answers)
    assert [one["citation_presence"] for one in (real, invented, plain)] == [1.0, 1.0, 0.0]
    assert [one["invented_citations"] for one in (real, invented)] == [0.0, 1.0]
    assert [one["format_ok:pattern=json"] for one in (real, invented, plain)] == [0.0, 0.0, 1.0]
    assert all(one["answer_tokens"] > 0 for one in (real, invented, plain))
