"""BEE-30050, "RAG Evaluation and Quality Measurement": retrieval and generation apart, thresholds, misalignment.

Proves that each of the article's six code examples is a call or two: claims with three verdicts, relevancy in three
steps, context recall and precision by sentence, one example's four numbers, a verdict over thresholds, and which
documents an answer uses.
"""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.articles.house_model import HouseModel

import ragauge as rg

QUESTION = "How long is the ferry crossing to Ulvholm, and how many cars fit?"
CONTEXT = "The crossing to Ulvholm takes 40 minutes. The ferry carries 60 cars. The café on board opens at seven."
ANSWER = "The crossing takes 40 minutes. The ferry carries 90 cars. Dogs travel free."
REFERENCE = "The crossing takes 40 minutes. The ferry carries 60 cars. Cars must be booked a day ahead."


@pytest.fixture
def model() -> HouseModel:
    return HouseModel(
        checks={
            "The crossing takes 40 minutes.": ("supported", "1.1"),
            "The ferry carries 90 cars.": ("contradicted", "1.2"),
            "The ferry carries 60 cars.": ("supported", "1.2"),
        },
        relevant=["The crossing to Ulvholm takes 40 minutes.", "The ferry carries 60 cars."],
        addresses={"Ask at the harbour.": "no", "It takes 40 minutes.": "partly"},
    )


def test_claims_are_supported_contradicted_or_not_in_the_context(model: HouseModel) -> None:
    """Each claim has one of three verdicts; only the supported ones count towards faithfulness: 1 of 3."""
    card = rg.evaluate(
        [{"question": QUESTION, "context": CONTEXT, "response": ANSWER}],
        metrics="faithfulness,contradicted,not_in_context",
        judge=model,
        judge_name="house",
    )
    assert [claim["label"] for claim in card.example()["claims"]] == ["supported", "contradicted", "not_in_context"]
    assert card.example()["scores"] == pytest.approx(dict.fromkeys(card.summaries, 1 / 3))


def test_relevancy_is_full_partial_or_none_whatever_the_passages_say(model: HouseModel) -> None:
    """1, 0.5 and 0, for answers none of which the context supports."""
    answers = ["It takes an hour and 70 cars fit.", "It takes 40 minutes.", "Ask at the harbour."]
    rows = [{"id": answer, "question": QUESTION, "context": CONTEXT, "response": answer} for answer in answers]
    card = rg.evaluate(rows, metrics="answer_relevance,faithfulness", judge=model, judge_name="house")
    assert [card.example(one)["scores"]["answer_relevance"] for one in answers] == [1.0, 0.5, 0.0]
    assert card["faithfulness"].mean == 0.0


def test_retrieval_by_the_reference_and_by_the_sentences_of_the_context(model: HouseModel) -> None:
    """Two of the reference's three statements are in the context; two of its three sentences are relevant."""
    row = {"question": QUESTION, "context": CONTEXT, "reference_answer": REFERENCE}
    metrics = ["context_recall", "context_precision:unit=sentence"]
    found = rg.evaluate([row], metrics=metrics, judge=model, judge_name="house").example()["scores"]
    assert found == pytest.approx(dict.fromkeys(metrics, 2 / 3))


def test_one_example_has_its_four_numbers_and_its_claims(model: HouseModel) -> None:
    """One awaited call gives all four; without a reference context recall is None, with the reason, and never 0."""
    row = {"question": QUESTION, "retrieved_context": CONTEXT, "response": ANSWER}
    metrics = ["faithfulness", "answer_relevance", "context_precision:unit=sentence", "context_recall"]

    async def scored(example: dict[str, str]) -> dict[str, Any]:
        card = await rg.aio.evaluate([example], metrics=metrics, judge=model, judge_name="house")
        return card.example()

    whole = asyncio.run(scored(row | {"reference_answer": REFERENCE}))
    free = asyncio.run(scored(row))
    assert list(whole["scores"].values()) == pytest.approx([1 / 3, 1.0, 2 / 3, 2 / 3])
    assert len(whole["claims"]) == 3
    assert free["scores"]["context_recall"] is None
    assert free["reasons"]["context_recall"]


def test_thresholds_make_a_verdict_with_averages_and_what_falls_short(model: HouseModel) -> None:
    """Rules that block and rules that ask to look: averages, each shortfall, and one verdict to deploy by."""
    rows = [
        {"id": f"q{n}", "question": QUESTION, "context": CONTEXT, "response": ANSWER, "reference_answer": REFERENCE}
        for n in range(10)
    ]
    metrics = ["faithfulness", "answer_relevance", "context_recall", "context_precision:unit=sentence"]
    blocks, least = ["block", "block", "warn", "warn"], [0.85, 0.75, 0.80, 0.70]
    rules = [
        {"metric": metric, "min": level, "on_fail": how, "decide": "point"}
        for metric, level, how in zip(metrics, least, blocks, strict=True)
    ]
    card = rg.evaluate(rows, metrics=metrics, judge=model, judge_name="house")
    result = rg.gate(card, rules={"gate": {"rules": rules}})
    assert result.verdict == "fail"
    checks = {check.metric: check for check in result.checks if check.metric}
    assert [checks[one].new for one in metrics] == pytest.approx([1 / 3, 1.0, 2 / 3, 2 / 3])
    assert [checks[one].verdict for one in metrics] == ["fail", "pass", "fail", "fail"]
    with pytest.raises(rg.GateFailed, match="faithfulness"):
        result.raise_if_failed()


def test_which_documents_an_answer_uses_and_how_often_the_first_is_passed_over() -> None:
    """The used documents by their rank; the first is ignored in one of two answers."""
    documents = ["The harbour café opens at seven.", "The crossing takes 40 minutes.", "The ferry carries 60 cars."]
    rows: dict[str, list[Any]] = {
        "id": ["late", "early"],
        "question": ["How long is the crossing?", "When does the café open?"],
        "contexts": [documents, documents],
        "answer": ["The crossing takes 40 minutes.", "The harbour café opens at seven."],
    }
    cheap = HouseModel(checks={rows["answer"][0]: ("supported", "2.1"), rows["answer"][1]: ("supported", "1.1")})
    card = rg.evaluate(rows, metrics="ignored_top_ranked", judge=cheap, judge_name="house-small")
    assert [card.example("late")["claims"][0]["passages"], card.example("early")["claims"][0]["passages"]] == [[2], [1]]
    assert card.example("late")["scores"]["ignored_top_ranked"] == 1.0
    assert card["ignored_top_ranked"].mean == 0.5
