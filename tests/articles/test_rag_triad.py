"""A5, "How to Evaluate Your RAG Pipeline": the triad, entities, made-up figures, a sweep of k, sampled traffic.

Proves that each of the article's code examples that ragauge has is a call or a short loop: yes or no a chunk, found and
missing entities, the list of unsupported claims, precise facts that are made up, k from 1 to 20, and 5 % of traffic.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.articles.house_model import HouseModel

import ragauge as rg
from ragauge.core.facts import RelevanceFacts

CHUNKS = [
    {"id": "c1", "text": "Refunds are paid within 14 days."},
    {"id": "c2", "text": "The office is closed on Sundays."},
    {"id": "c3", "text": "A refund needs the receipt."},
    {"id": "c4", "text": "Parcels are sent by rail."},
    {"id": "c5", "text": "Gift cards are valid for two years."},
]
QUESTION = "When is a refund paid?"


def test_context_precision_by_yes_or_no_for_each_chunk() -> None:
    """Two of five chunks are judged relevant: 0.4, with the verdict of each; the same where the ids are labelled."""
    model = HouseModel(relevant=[CHUNKS[0]["text"], CHUNKS[2]["text"]])
    row = {"question": QUESTION, "retrieved_chunks": CHUNKS, "relevant_doc_ids": ["c1", "c3"]}
    card = rg.evaluate([row], metrics="context_precision,precision@5,recall@5", judge=model, judge_name="house")
    assert [found.mean for found in card.summaries.values()] == pytest.approx([0.4, 0.4, 1.0])
    (example,) = card.examples()
    facts = example.evidence["rate_passages"].facts
    assert isinstance(facts, RelevanceFacts)
    assert [one.passage for one in facts.ratings if one.relevant] == [1, 3]


def test_entities_of_the_right_answer_found_in_the_context_and_missing() -> None:
    """The share of the reference's names, numbers and dates in the passages, with both lists."""
    row = {
        "id": "q1",
        "question": "Who opened the bridge?",
        "contexts": ["The bridge was opened by Ida Moen."],
        "reference_answer": "Ida Moen opened the bridge on 3 May 1998.",
    }
    card = rg.evaluate([row], metrics="entity_recall")
    (worked,) = rg.open_run(card.run.run_id).explain_example("q1", "entity_recall").metrics
    assert card["entity_recall"].mean == 0.5
    assert {item.name: item.counts for item in worked.items} == {"Ida Moen": True, "3 May 1998": False}


def test_faithfulness_with_its_counts_and_the_unsupported_claims() -> None:
    """Claims in all, supported ones, and the texts of the others; only direct support counts here."""
    model = HouseModel(
        claims={
            "Refunds take 14 days and need a receipt and a form.": {
                "Refunds take 14 days": ("supported", "1.1"),
                "Refunds need a receipt": ("implied", "2.1"),
                "Refunds need a form": ("absent",),
            }
        }
    )
    row = {
        "question": QUESTION,
        "answer": "Refunds take 14 days and need a receipt and a form.",
        "contexts": [CHUNKS[0]["text"], CHUNKS[2]["text"]],
    }
    metric = "faithfulness:support=direct"
    card = rg.evaluate([row], metrics=f"{metric},faithfulness", judge=model, judge_name="house")
    scores = {score["metric"]: (score["numerator"], score["denominator"]) for score in card.to_polars().to_dicts()}
    assert scores == {metric: (1.0, 3.0), "faithfulness": (2.0, 3.0)}
    assert [one["text"] for one in card.example()["claims"] if one["label"] != "supported"] == ["Refunds need a form"]


@pytest.mark.parametrize(
    ("kind", "wrong"),
    [
        ("number", "It weighs 75 kilograms."),
        ("date", "It was built on 4 June 2011."),
        ("percent", "It saves 35% of fuel."),
        ("name", "It was built by Per Lund."),
        ("quote", 'The maker calls it "the last of its kind".'),
    ],
)
def test_precise_facts_that_are_made_up_are_counted_by_kind(kind: str, wrong: str) -> None:
    """Numbers, dates, names, percentages and quotes that no passage holds, apart from faithfulness overall; offline."""
    passages = ["The engine weighs 57 kilograms and saves 12% of fuel.", "Ida Moen built the engine on 9 May 2004."]
    answers = [wrong, "The engine weighs 57 kilograms.", "Ida Moen built the engine on 9 May 2004."]
    rows = [
        {"id": one, "question": "What is known of the engine?", "contexts": passages, "answer": one} for one in answers
    ]
    metric = f"fabricated_specifics:kind={kind}"
    card = rg.evaluate(rows, metrics=metric)
    assert card.example(wrong)["scores"][metric] == pytest.approx(1.0, abs=0.2)
    right = [card.example(one)["scores"][metric] for one in answers[1:]]
    assert all(value is None or value < 0.2 for value in right)


def test_a_sweep_of_k_is_a_loop_and_every_k_is_compared_with_the_first() -> None:
    """The triad for k from 1 to 5, and one table that holds every other k against the first.

    One chunk of five is relevant, and the generator answers from the last chunk that it is handed.
    """
    model = HouseModel(relevant=[CHUNKS[0]["text"]], checks={CHUNKS[0]["text"]: ("supported", "1.1")})
    questions = [{"query": f"{QUESTION} ({n})"} for n in range(10)]

    def system(k: int) -> Callable[[str], tuple[str, list[dict[str, str]]]]:
        return lambda question: (CHUNKS[k - 1]["text"], CHUNKS[:k])

    cards = {}
    for k in (1, 2, 3, 5):
        run = rg.run(system(k), questions, name=f"k={k}", settings={"config": {"k": k}})
        cards[k] = rg.evaluate(run, metrics="triad", judge=model, judge_name="house")
    precision = {k: card["context_precision"].mean for k, card in cards.items()}
    assert precision == pytest.approx({1: 1, 2: 1 / 2, 3: 1 / 3, 5: 1 / 5})
    table = rg.compare(*cards.values(), metrics="triad").to_polars().to_dicts()
    worse = {(row["run"], row["metric"]) for row in table if row["verdict"] == "worse"}
    assert worse == {(f"k={k}", metric) for k in (2, 3, 5) for metric in ("context_precision", "faithfulness")}


def test_one_question_in_twenty_of_production_is_scored_and_gated(tmp_path: Path) -> None:
    """A decorator keeps 5 % of the traffic with its weight; a threshold on its faithfulness raises the alarm."""
    seen_at = tmp_path / "traffic.jsonl"
    seen = rg.capture(seen_at, sample=0.05)

    @seen
    def answer(question: str) -> tuple[str, list[str]]:
        return "The office opens at noon.", [chunk["text"] for chunk in CHUNKS]

    for n in range(2000):
        answer(f"{QUESTION} ({n})")
    seen.close()
    assert 60 <= seen.recorded <= 145
    card = rg.evaluate(seen_at, traffic=True, metrics="triad", judge=HouseModel(), judge_name="house")
    assert card.card.n == seen.recorded
    alarm = rg.gate(card, rules={"gate": {"rules": [{"metric": "faithfulness", "min": 0.8}]}})
    assert alarm.verdict == "fail"
