"""The extractive generator."""

from __future__ import annotations

import pytest

from ragauge.core.response import Passage
from ragauge.models.embedders.base import WordLlamaEmbedder
from ragauge.systems.reference.extractive import (
    REFUSAL,
    ExtractiveGenerator,
    asks_for_amount,
    find_names,
    find_unmentioned_names,
    has_amount,
)
from ragauge.systems.reference.retrievers import TermWeights, extract_terms

LAMPS = "# Lamps\n\n## Desk lamp\n\n- The desk lamp weighs 3 kg.\n- The desk lamp is made of steel.\n\nIt is from Oslo."
CHAIRS = "# Chairs\n\nA chair carries up to 120 kg. Chairs are delivered within 14 days.\n\nThe desk lamp weighs 3 kg."
PASSAGES = (Passage("chairs#1", "chairs", CHAIRS), Passage("lamps#1", "lamps", LAMPS))


def generator(max_sentences: int = 3, refuse_below: float = 0.3) -> ExtractiveGenerator:
    weights = TermWeights(extract_terms(passage.text or "") for passage in PASSAGES)
    return ExtractiveGenerator(weights, WordLlamaEmbedder().embed, max_sentences, refuse_below)


def test_answers_with_the_right_sentence() -> None:
    """The sentence that answers is the answer, as it stands in the passage and without its list mark."""
    found = generator(max_sentences=1).generate("What is the desk lamp made of?", PASSAGES)
    assert found.answer == "The desk lamp is made of steel."
    assert [citation.target for citation in found.citations] == ["lamps#1"]


def test_citations_point_to_the_right_text() -> None:
    """Each citation covers one sentence of the answer, and the passage that it names holds that sentence."""
    texts = {passage.passage_id: passage.text or "" for passage in PASSAGES}
    found = generator(refuse_below=-1).generate("How heavy is the lamp, and how fast are chairs delivered?", PASSAGES)
    assert len(found.citations) >= 2
    for citation in found.citations:
        assert found.answer[citation.start : citation.end] in texts[citation.target]
    assert " ".join(found.answer[c.start : c.end] for c in found.citations) == found.answer


def test_sentences_come_in_passage_order() -> None:
    """The answer's sentences stand in the order of the passages, not of their scores."""
    found = generator(refuse_below=-1).generate("Desk lamp of steel, chairs delivered within days?", PASSAGES)
    whole = "\n".join(passage.text or "" for passage in PASSAGES)
    places = [whole.index(found.answer[c.start : c.end]) for c in found.citations]
    assert len(places) >= 2
    assert places == sorted(places)


def test_repeated_sentence_is_taken_once() -> None:
    """A sentence that two passages hold is given once and credited to the first."""
    found = generator().generate("How much does the desk lamp weigh?", PASSAGES)
    assert found.answer.count("The desk lamp weighs 3 kg.") == 1
    at = found.answer.index("The desk lamp weighs 3 kg.")
    assert [citation.target for citation in found.citations if citation.start == at] == ["chairs#1"]


@pytest.mark.parametrize("most", [1, 2, 3])
def test_most_sentences(most: int) -> None:
    """No answer has more sentences than allowed, and a list of equals gives as many as allowed."""
    same = "\n".join(f"- Shelf {word} holds books." for word in ("one", "two", "three", "four"))
    found = generator(most).generate("Which shelf holds books?", [Passage("s#1", "s", same)])
    assert len(found.citations) == most


def test_asked_amount_prefers_a_number() -> None:
    """Of two sentences that fit alike, a question for an amount takes the one with a number."""
    passage = Passage("s#1", "s", "Paper orders are shipped quickly. Paper orders are shipped in 9 hours.")
    assert generator(1).generate("How long until paper orders are shipped?", [passage]).answer.endswith("9 hours.")


def test_headings_help_and_are_not_quoted() -> None:
    """A sentence is found by words of its heading, and the heading is no part of the answer."""
    text = "# Guide\n\n## Warranty\n\nIt lasts 24 months.\n\n## Shipping\n\nIt takes a week."
    found = generator(1).generate("What about the warranty?", [Passage("g#1", "g", text)])
    assert found.answer == "It lasts 24 months."


def test_refuses_what_the_passages_do_not_say() -> None:
    """A question about something else is refused, cites nothing, and says how sure the generator was."""
    found = generator().generate("Who won the football match last night?", PASSAGES)
    assert (found.answer, found.citations) == (REFUSAL, ())
    assert found.confidence is not None
    assert found.confidence < 0.3


def test_refuses_an_unknown_name() -> None:
    """A name that no passage mentions turns an answer into a refusal; the same question without it is answered."""
    ask = generator(1, refuse_below=0.5).generate
    assert ask("How much does the desk lamp weigh?", PASSAGES).answer == "The desk lamp weighs 3 kg."
    assert ask("How much does the Zorblax 9000 desk lamp weigh?", PASSAGES).answer == REFUSAL


def test_threshold_decides() -> None:
    """The same question is answered just below its confidence and refused just above."""
    query = "What is the desk lamp made of?"
    sure = generator().generate(query, PASSAGES).confidence
    assert sure is not None
    assert generator(refuse_below=sure).generate(query, PASSAGES).answer != REFUSAL
    assert generator(refuse_below=sure + 1e-5).generate(query, PASSAGES).answer == REFUSAL
    assert generator(refuse_below=sure + 1e-5).generate(query, PASSAGES, may_refuse=False).answer != REFUSAL


@pytest.mark.parametrize("texts", [(), ("",), (None,), ("# Only a heading",)])
def test_refuses_without_a_sentence(texts: tuple[str | None, ...]) -> None:
    """Without passages, or with none that holds a sentence, the answer is a refusal whatever is asked."""
    passages = [Passage("a", "a", text) for text in texts]
    found = generator(refuse_below=-9).generate("Anything?", passages, may_refuse=False)
    assert (found.answer, found.citations, found.confidence) == (REFUSAL, (), None)


def test_question_without_a_term() -> None:
    """A question of stop words alone is judged by similarity and does not fail."""
    assert generator().generate("What is it?", PASSAGES).confidence is not None


def test_names_of_a_question() -> None:
    """Codes, versions and capitalised words are names; a first word, months and common abbreviations are not."""
    assert find_names("Does firmware 6.4 for Hub 4 fix E-104 on my iPhone?") == ("6.4", "Hub 4", "E-104", "iPhone")
    assert find_names("When can I use my PC? Since May 2024, on Monday?") == ()


def test_unmentioned_names() -> None:
    """A plural is found by its singular, an abbreviation only in capitals, a numbered name only with its number."""
    text = "The guest uses Hub 3 with us, and Hub 41."
    assert find_unmentioned_names("May Guests use a Hub 3?", [text]) == ()
    assert find_unmentioned_names("What is it in US dollars for Hub 4?", [text]) == ("US", "Hub 4")


def test_amounts() -> None:
    """Questions for numbers and dates are told from others, and so are the sentences that hold one."""
    assert [query for query in ("How many?", "Until when?", "Who may?") if not asks_for_amount(query)] == ["Who may?"]
    assert [text for text in ("It takes 3 days.", "Twice a day.", "So long.") if not has_amount(text)] == ["So long."]
