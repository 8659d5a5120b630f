"""References that say that there is no answer."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragauge.text.patterns import is_no_answer

DECLINING = [
    "The documents do not say.",
    "I don't know",
    "I don’t know.",
    "Not enough information",
    "unanswerable",
    "N/A",
    "The context does not mention this.",
    "The provided context does not contain information about the price.",
    "There is no information about this in the documents.",
    "This is not mentioned in the text.",
    "No answer.",
    "CANNOTANSWER",
    "No Answer Present.",
    "Sorry, I cannot answer this question.",
    "Not specified",
    "The question cannot be answered from the given passages.",
    "I don't have enough information to answer.",
    "It is not possible to determine this from the documents.",
    "I do not know. The documents do not say.",
    "The passage doesn't give a date.",
    "The answer is not in the documents",
    "We do not know.",
    "Das weiß ich nicht.",
    "Die Dokumente sagen dazu nichts.",
    "Je ne sais pas.",
    "Les documents ne le disent pas.",
    "No lo sé.",
    "Los documentos no lo dicen.",
    "Non lo so.",
    "I documenti non lo dicono.",
    "Não sei.",
    "Os documentos não dizem.",
    "Dat weet ik niet.",
    "Jag vet inte.",
    "Nie wiem.",
    "Bilmiyorum.",
    "我不知道。",
    "文档中没有提到。",
    "わかりません。",
    "資料には記載がありません。",
]
ANSWERS = [
    "",
    "...",
    "Unknown",
    "None",
    "No",
    "No.",
    "Nothing",
    "Zero",
    "The author is unknown.",
    "It does not contain lead.",
    "The manual does not contain a plan.",
    "The documents are kept in the safe.",
    "Na",
    "Idaho",
    "It is not clear.",
    "I don't know how to swim, he said.",
    "No information was lost.",
    "Not until 1950",
    "It is not available in red.",
    "The text does not apply to boats, but to cars.",
    "The results do not support the hypothesis of a link.",
    "We could not find any effect of the drug.",
    "There is no evidence that it works.",
    "No data is collected.",
    "There is insufficient evidence to recommend screening.",
    "There was no answer to the letter, so he left.",
    "I don't know. It may be in Porto.",
    "The documents do not say, but the map shows it.",
]


@pytest.mark.parametrize("text", DECLINING)
def test_references_that_decline(text: str) -> None:
    """The usual ways to say that there is no answer are known, in ten languages."""
    assert is_no_answer(text)


@pytest.mark.parametrize("text", ANSWERS)
def test_references_that_answer(text: str) -> None:
    """A name, a plain word, a statement that denies, and a refusal that goes on to answer are answers."""
    assert not is_no_answer(text)


@given(st.text(max_size=300))
@settings(derandomize=True, deadline=None)
def test_any_text_is_judged(text: str) -> None:
    """No text fails, and what stands behind a refusal makes it an answer."""
    is_no_answer(text)
    assert not is_no_answer("The documents do not say. It was built in Porto. " + text)
