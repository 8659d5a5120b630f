"""Whether an answer declines."""

from __future__ import annotations

import time

import pytest

from ragauge.judging.local.refusals import is_refusal
from ragauge.judging.local.statements import statements

REFUSALS = [
    "I could not find the price in the documents.",
    "I couldn’t find any information about the price.",
    "I don't know.",
    "I do not have enough information to answer this question.",
    "I'm sorry, but I cannot answer that.",
    "Unfortunately, I am unable to determine the price from the context.",
    "The provided context does not mention the price.",
    "The documents do not contain any information on the price.",
    "The retrieved passages contain no information about the price.",
    "Based on the provided documents, I cannot determine the price.",
    "The price is not mentioned in the given sources.",
    "There is no information about the price in the context.",
    "No relevant information was found.",
    "This question cannot be answered from the provided documents.",
    "There is not enough information to answer.",
    "It is not specified.",
    "Not found",
    "Unanswerable",
    "As an AI language model, I cannot access the price list.",
    "That is outside the scope of the provided documents.",
    "Das geht aus den Dokumenten nicht hervor, dazu enthält der Text keine Angaben.",
    "Ich kann diese Frage leider nicht beantworten.",
    "Je ne trouve pas cette information dans les documents.",
    "Les documents ne mentionnent pas le prix.",
    "No encuentro esa información en los documentos.",
    "El contexto no menciona el precio.",
    "Non ho trovato informazioni nei documenti.",
    "I documenti non menzionano il prezzo.",
    "Não encontrei essa informação nos documentos.",
    "O texto não menciona o preço.",
    "抱歉，文档中没有提到价格。",
    "我无法从提供的资料中找到答案。",
    "申し訳ありませんが、文書には価格に関する情報は含まれていません。",
    "資料からはわかりません。",
]
ANSWERS = [
    "The plan does not include support.",
    "We could not find a significant difference between the groups.",
    "There is no evidence that the drug works.",
    "The lid cannot be opened from outside.",
    "The cause of the fire is unknown to this day.",
    "He did not know that the bridge was closed.",
    "The treaty does not mention Alaska.",
    "The contract was not found until 1998.",
    "Die Garantie gilt nicht für Schäden durch Wasser.",
    "El plan no incluye soporte.",
    "Il piano non include il supporto.",
    "Le plan n'inclut pas le support.",
    "该套餐不包含技术支持。",
    "このプランにサポートは含まれません。",
]


@pytest.mark.parametrize("answer", REFUSALS)
def test_a_refusal_is_seen(answer: str) -> None:
    """The usual ways to decline are seen, in eight languages, and claim nothing."""
    found = statements(answer)
    assert found.refuses
    assert found.claims == ()


@pytest.mark.parametrize("answer", ANSWERS)
def test_a_negative_answer_is_no_refusal(answer: str) -> None:
    """An answer that says what is not so does not decline."""
    assert not is_refusal(answer)
    assert not statements(answer).refuses


def test_advice_beside_a_refusal_leaves_it_one() -> None:
    """Apology, advice and what the documents hold instead do not turn a refusal into an answer."""
    for tail in ("Please contact the sales team.", "They only describe the warranty.", "I am sorry!", "Let me know!"):
        assert statements(f"The documents do not mention the price. {tail}").refuses


def test_an_answer_that_later_answers_is_no_refusal() -> None:
    """A sentence that answers makes the whole an answer; the declining sentence is no claim."""
    found = statements("I could not find the exact date in the documents. The bridge was opened in spring 1932.")
    assert not found.refuses
    assert found.declined
    assert [one.text for one in found.claims] == ["The bridge was opened in spring 1932."]


@pytest.mark.parametrize(
    ("answer", "claim"),
    [
        ("The plan costs 49 euros, but the documents do not mention taxes.", "The plan costs 49 euros"),
        ("Although the context does not give the exact date, it was built in the 1930s.", "it was built in the 1930s."),
        ("I could not find the day in the documents; however, it was in May 1932.", "it was in May 1932."),
        ("Die Dokumente nennen keinen Preis, aber der Plan ist monatlich kündbar.", "der Plan ist monatlich kündbar."),
        ("文档中没有提到价格，但是可以在月底取消套餐。", "可以在月底取消套餐。"),
    ],
)
def test_half_a_refusal_claims_its_other_half(answer: str, claim: str) -> None:
    """A sentence that declines and answers is no refusal; the part that answers is the claim, in its place."""
    found = statements(answer)
    assert not found.refuses
    assert found.declined
    assert [one.text for one in found.claims] == [claim]
    assert [answer[one.start : one.end] for one in found.claims] == [claim]


@pytest.mark.parametrize(
    "answer",
    [
        "The documents do not mention the price, but you can contact support.",
        "The documents do not mention the price, but they describe the warranty.",
        "I am sorry, but I cannot find this in the documents.",
        "Although I searched all the documents, I could not find the price.",
    ],
)
def test_a_turn_does_not_make_an_answer(answer: str) -> None:
    """Advice, apology or what else there is after a "but" leave a refusal a refusal."""
    assert statements(answer).refuses


@pytest.mark.usefixtures("own_time")
@pytest.mark.parametrize("part", ["not ", "the documents ", " ", "i can't ", "no information in the context "])
def test_no_text_takes_long(part: str) -> None:
    """The patterns read the start of a sentence only, and every gap is bounded."""
    text = part * 50_000
    started = time.process_time()
    is_refusal(text)
    assert time.process_time() - started < 1.0
