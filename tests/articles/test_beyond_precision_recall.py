"""A2, "Beyond Precision/Recall": worked examples, ragas' table, a batch, a model of one's own, question types.

Proves that the worked examples come out as 2/3, low and 1/2, and that the tables and objects of the article's code (a
dictionary of columns, a system with `query`, a model with `generate`, questions by type) are taken as they are.
"""

from __future__ import annotations

from typing import Any

import pytest
from tests.articles.house_model import HouseModel

import ragauge as rg

MUSEUM = {
    "Who leads the museum?": ("Ida Moen leads the museum.", ["Ida Moen has led the museum since 2019."]),
    "When does it open?": ("It opens at ten.", ["The museum opens at ten.", "It is closed on Mondays."]),
    "What did the board say when Ida Moen resigned?": ("It thanked her.", ["The board thanked Ida Moen."]),
    "Who led it before she came back?": ("Per Lund led it.", ["The museum opens at ten."]),
    "What will a ticket cost next year?": ("It will cost 20 euros.", ["A ticket costs 12 euros."]),
}


class Museum:
    """A RAG system as the article has one: a question gives the answer and its contexts."""

    def query(self, question: str) -> tuple[str, list[str]]:
        return MUSEUM[question]


def test_faithfulness_of_two_supported_claims_and_one_added_consequence() -> None:
    """A sentence with three claims, of which the passages support two, is 2/3 faithful."""
    answer = "The railway lowered its fares by 15% in March 2021, which made the bus companies follow."
    model = HouseModel(
        claims={
            answer: {
                "The railway lowered its fares in March 2021": ("supported", "1.1"),
                "Fares fell by 15%": ("supported", "1.1"),
                "The bus companies followed": ("absent",),
            }
        }
    )
    row = {
        "question": "What did the railway do?",
        "answer": answer,
        "contexts": ["The railway lowered its fares by up to 15% on March 3, 2021."],
    }
    card = rg.evaluate([row], metrics="faithfulness", judge=model, judge_name="house")
    assert card["faithfulness"].mean == pytest.approx(2 / 3)


def test_relevance_by_the_questions_that_an_answer_would_answer() -> None:
    """A tangential answer leads to other questions, and scores far lower than one that was asked for."""
    question, off, on = "Who leads the museum?", "The museum is a house of glass.", "Ida Moen leads the museum."
    model = HouseModel(
        guesses={
            off: ["What is the house made of?", "Which buildings are of glass?", "What does it look like?"],
            on: ["Who leads the museum?", "Who is the museum's leader?", "Who is the head of the museum?"],
        }
    )
    metric = "answer_relevance:method=questions"
    rows = [{"id": answer, "question": question, "answer": answer} for answer in (off, on)]
    card = rg.evaluate(rows, metrics=metric, judge=model, judge_name="house")
    tangential, direct = (card.example(answer)["scores"][metric] for answer in (off, on))
    assert tangential < 0.5 < 0.8 < direct


def test_context_recall_of_one_statement_in_two() -> None:
    """Of a reference that says two things, the passages hold one: 1/2."""
    row = {
        "question": "What happened to Ida Moen?",
        "reference_claims": ["Ida Moen was dismissed on April 12", "Ida Moen came back on April 19"],
        "ground_truth": "Ida Moen was dismissed on April 12, 2021, and came back on April 19.",
        "contexts": ["Ida Moen dismissed as director (2021-04-12)", "The minister spoke in favour of Ida Moen"],
    }
    model = HouseModel(checks={"Ida Moen was dismissed on April 12": ("supported", "1.1")})
    card = rg.evaluate([row], metrics="context_recall", judge=model, judge_name="house")
    assert card["context_recall"].mean == 0.5


def test_context_precision_by_what_contributed_to_the_answer() -> None:
    """One of three passages is what the answer rests on: 1/3."""
    row = {
        "question": "When does it open?",
        "answer": "It opens at ten.",
        "contexts": ["It is closed on Mondays.", "The museum opens at ten.", "Dogs must wait outside."],
    }
    model = HouseModel(checks={"It opens at ten.": ("supported", "2.1")})
    card = rg.evaluate([row], metrics="context_precision:by=answer", judge=model, judge_name="house")
    assert card["context_precision:by=answer"].mean == pytest.approx(1 / 3)


def test_a_model_of_ones_own_with_prompts_of_ones_own() -> None:
    """Two templates of our own words reach the model; its verdicts come back with their evidence, and are a judge."""
    house = "You check what a museum tells its guests.\nContext:\n{passages}\nAnswer:\n{answer}\nAsked: {question}"
    model = HouseModel(checks={"Ida Moen leads the museum.": ("supported", "1.1")})
    row = {
        "question": "Who leads the museum?",
        "answer": "Ida Moen leads the museum. She is 40.",
        "contexts": ["Ida Moen has led the museum since 2019."],
    }
    given: dict[str, Any] = {"metrics": "faithfulness,answer_relevance", "judge": model, "judge_name": "house"}
    own = rg.evaluate([row], prompts={"verify_answer": house}, **given)
    assert "You check what a museum tells its guests.\nContext:\n<<<passages" in model.prompts[0]
    assert [found.mean for found in own.summaries.values()] == [0.5, 1.0]
    assert [claim["passages"] for claim in own.example()["claims"]] == [[1], []]
    assert rg.evaluate([row], **given).card.judge.judge_id != own.card.judge.judge_id


def test_the_dictionary_of_columns_that_ragas_takes() -> None:
    """Question, answer, contexts and ground_truth in lists, and the four metrics by ragas' names, offline."""
    data = {
        "question": ["Who leads the museum?"],
        "answer": ["Ida Moen leads the museum."],
        "contexts": [["Ida Moen leads the museum and founded it."]],
        "ground_truth": ["Ida Moen"],
    }
    with pytest.warns(UserWarning, match="answer_relevancy is answer_relevance here"):
        card = rg.evaluate(data, metrics=["faithfulness", "answer_relevancy", "context_recall", "context_precision"])
    assert {name: found.scored for name, found in card.summaries.items()} == dict.fromkeys(
        ["faithfulness", "answer_relevance", "context_recall", "context_precision"], 1
    )
    assert "faithfulness" in repr(card)


def test_a_batch_through_a_system_gives_a_row_a_question() -> None:
    """`query` is asked every question, and a data frame has one row each with every metric."""
    run = rg.run(Museum(), [{"question": question} for question in MUSEUM])
    frame = rg.evaluate(run, metrics="faithfulness,answer_relevance,context_precision:by=answer").to_pandas(wide=True)
    assert set(frame["query"]) == set(MUSEUM)
    assert frame["faithfulness"].notna().all()
    assert {"answer_relevance", "context_precision:by=answer"} <= set(frame.columns)


def test_questions_by_type_are_reported_by_type() -> None:
    """Averages by type, however few questions a type has; what the documents cannot answer is marked so."""
    who, when, what, before, ticket = MUSEUM
    questions = rg.read_set(
        {"simple": [who, when], "multi_hop": [what], "temporal": [before], "unanswerable": [ticket]}
    )
    assert [example.query for example in questions.examples if example.answerable is False] == [ticket]
    model = HouseModel(checks={MUSEUM[one][0]: ("supported", "1.1") for one in (who, what)})
    card = rg.evaluate(rg.run(Museum(), questions), metrics="faithfulness", judge=model, judge_name="house")
    means = card.to_pandas(wide=True).groupby("category")["faithfulness"].mean()
    assert means.to_dict() == {"simple": 0.5, "multi_hop": 1.0, "temporal": 0.0, "unanswerable": 0.0}


def test_versions_are_kept_and_compared_by_type() -> None:
    """Two evaluations stand in the log; their differences come for the whole, and for each type with enough questions.

    Ten plain questions stay as they were, five hard ones are answered from the passages in the second version only.
    """
    questions = {
        "plain": [f"When does house {n} open?" for n in range(10)],
        "hard": [f"Who led house {n} before?" for n in range(5)],
    }
    model = HouseModel(checks={"It opens at ten.": ("supported", "1.1"), "Per Lund led it.": ("supported", "2.1")})
    passages = ["It opens at ten.", "Per Lund led it before."]

    def first(question: str) -> tuple[str, list[str]]:
        return ("It opens at ten." if "open" in question else "Nobody led it."), passages

    def second(question: str) -> tuple[str, list[str]]:
        return ("It opens at ten." if "open" in question else "Per Lund led it."), passages

    cards = [
        rg.evaluate(rg.run(version, questions), metrics="faithfulness", judge=model, judge_name="house")
        for version in (first, second)
    ]
    assert len(rg.log()) == 2
    table = rg.compare(*cards).to_polars()
    differences = {row["value"]: row["difference"] for row in table.to_dicts()}
    assert differences == pytest.approx({None: 1 / 3, "plain": 0.0, "hard": 1.0})
