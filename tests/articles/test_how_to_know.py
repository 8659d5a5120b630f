"""A4, "How to Know If Your Pipeline Is Actually Working": a retriever over a test set, generation, a log of changes.

Proves that each of the article's code examples is a call, and that its numbers are those of the article's formulas:
recall and MRR, three kinds of support, ragas' lists, correctness in three steps, and what a change did.
"""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from tests.articles.house_model import HouseModel

import ragauge as rg

WARRANTY = "The pump has a warranty of three years. It must be registered within 30 days of purchase."
HOSE = "The hose is four metres long and fits every tap of half an inch."


@dataclass
class Document:
    id: str
    text: str


class Retriever:
    """A retriever of five documents in a fixed order."""

    def retrieve(self, query: str, top_k: int = 5) -> list[Document]:
        return [Document(f"d{n}", f"text {n} about {query}") for n in (3, 1, 2, 4, 5)][:top_k]


def test_a_retriever_over_questions_with_their_relevant_documents() -> None:
    """recall@5 and MRR of a retriever object over rows of query and relevant_doc_ids, as the formulas have them.

    Found are 1 of 2, 1 of 1 and 2 of 3 documents; the first relevant one is at rank 2, 1 and 3.
    """
    test_set = [
        {"query": "pump", "relevant_doc_ids": ["d1", "d9"]},
        {"query": "hose", "relevant_doc_ids": ["d3"]},
        {"query": "tap", "relevant_doc_ids": ["d2", "d5", "d8"]},
    ]
    card = rg.evaluate(rg.run(Retriever(), test_set), metrics="recall@5,mrr,precision@5")
    assert card["recall@5"].mean == pytest.approx((1 / 2 + 1 + 2 / 3) / 3)
    assert card["mrr"].mean == pytest.approx((1 / 2 + 1 + 1 / 3) / 3)
    assert card["precision@5"].mean == pytest.approx((1 / 5 + 1 / 5 + 2 / 5) / 3)


def test_claims_are_direct_implied_or_in_no_passage() -> None:
    """Direct and implied support both count towards faithfulness, unless direct support alone is asked for."""
    answer = "The warranty is three years. A pump bought in May is covered in June. Batteries are included."
    model = HouseModel(
        checks={
            "The warranty is three years.": ("supported", "1.1"),
            "A pump bought in May is covered in June.": ("implied", "1.1"),
        }
    )
    row = {"question": "How long is the warranty?", "contexts": [WARRANTY], "answer": answer}
    card = rg.evaluate([row], metrics="faithfulness,faithfulness:support=direct", judge=model, judge_name="house")
    assert [found.mean for found in card.summaries.values()] == pytest.approx([2 / 3, 1 / 3])
    assert [claim["strength"] for claim in card.example()["claims"]] == ["direct", "implied", None]


def test_the_four_metrics_over_lists_with_optional_references() -> None:
    """Lists of questions, answers, lists of contexts and references; one without its reference lacks recall alone."""
    data = {
        "question": ["How long is the warranty?", "How long is the hose?"],
        "answer": ["The pump has a warranty of three years.", "The hose is four metres long."],
        "contexts": [[WARRANTY, HOSE], [HOSE]],
        "ground_truth": ["The pump has a warranty of three years.", None],
    }
    card = rg.evaluate(data, metrics="faithfulness,answer_relevance,context_recall,context_precision")
    assert {name: found.scored for name, found in card.summaries.items()} == {
        "faithfulness": 2,
        "answer_relevance": 2,
        "context_recall": 1,
        "context_precision": 2,
    }
    assert card["context_recall"].not_applicable == 1


def test_the_answer_against_the_expected_one() -> None:
    """Containing, similar and graded: right and complete 1, half of it 0.5, something else 0."""
    reference = "Three years. Registration is needed."
    answers = ["Three years. Registration is needed.", "Three years.", "Four metres."]
    rows = [
        {
            "id": answer,
            "question": "How long is the warranty, and on which condition?",
            "answer": answer,
            "reference_answer": reference,
        }
        for answer in answers
    ]
    model = HouseModel(agreeing=["Three years."])
    metrics = "answer_grade,semantic_similarity,answer_contains"
    card = rg.evaluate(rows, metrics=metrics, judge=model, judge_name="house")
    whole, half, wrong = (card.example(answer)["scores"] for answer in answers)
    assert [one["answer_grade"] for one in (whole, half, wrong)] == [1.0, 0.5, 0.0]
    assert [one["answer_contains"] for one in (whole, half, wrong)] == [1.0, 0.0, 0.0]
    assert whole["semantic_similarity"] == pytest.approx(1.0)
    assert whole["semantic_similarity"] > half["semantic_similarity"] > wrong["semantic_similarity"]


def test_a_log_of_what_was_changed_and_what_came_of_it() -> None:
    """A baseline, a change, a second run: each is a row with the setting that changed, the metrics and the note."""
    documents = [{"doc_id": "d1", "text": HOSE}, {"doc_id": "d2", "text": WARRANTY}]
    questions = [
        {
            "query": "How long is the warranty?",
            "relevant_doc_ids": ["d2"],
            "reference_answer": "The pump has a warranty of three years.",
        }
    ]

    class System:
        def __init__(self, top_k: int) -> None:
            self.top_k = top_k

        def query(self, question: str) -> dict[str, object]:
            passages = documents[: self.top_k]
            return {"answer": str(passages[-1]["text"]).partition(".")[0] + ".", "passages": passages}

    for top_k in (1, 2):
        rg.evaluate(
            rg.run(System(top_k), questions, name=f"k={top_k}", settings={"config": {"top_k": top_k}}),
            metrics="recall@5,mrr,faithfulness,answer_relevance,answer_correctness",
        )
    rg.note("latest", "one passage was too few")
    newest, oldest = rg.log().to_dict()["rows"]
    assert (oldest["name"], newest["name"], newest["note"]) == ("k=1", "k=2", "one passage was too few")
    assert [(one["path"], one["base"], one["new"]) for one in newest["changed"]] == [("top_k", 1, 2)]
    for metric in ("recall@5", "mrr", "faithfulness", "answer_relevance", "answer_correctness"):
        assert {metric} <= set(newest["metrics"]) & set(oldest["metrics"])
    assert (oldest["metrics"]["recall@5"]["mean"], newest["metrics"]["recall@5"]["mean"]) == (0.0, 1.0)
    header, *rows = rg.log().to_csv().splitlines()
    assert len(rows) == 2
    assert {"changed", "note", "recall@5", "mrr", "faithfulness"} <= set(header.split(","))
