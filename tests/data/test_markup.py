"""An answer in HTML is judged by its words, at the places where they stand in it."""

from __future__ import annotations

from pathlib import Path

import pytest

import ragauge as rg
from ragauge.core.facts import AnswerFacts
from ragauge.core.label import build_label_key
from ragauge.text.markup import blank_markup
from ragauge.text.sentences import split_sentences

FIRST, SECOND = "A hub can be returned within 30 days of delivery.", "Return shipping is free."
ANSWERS = {
    "p": f"<p>{FIRST}</p><p>{SECOND}</p>",
    "br": f"{FIRST}<br>{SECOND}",
    "ul": f'<ul class="a"><li>A hub can be returned within&nbsp;<b>30 days</b> of delivery.</li><li>{SECOND}</li></ul>',
}


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
def test_words_keep_their_places(answer: str) -> None:
    """Blanks stand for the markup alone: as many characters, two sentences, and the same once more."""
    blanked = blank_markup(answer)
    assert len(blanked) == len(answer)
    assert [" ".join(one.text.split()) for one in split_sentences(blanked)] == [FIRST, SECOND]
    assert blank_markup(blanked) == blanked


@pytest.mark.parametrize(
    "text",
    [
        "Use <br> or <p>here</p> in HTML.",
        "If x < y and y > z, it is <b>.",
        "Tom &amp; Jerry",
        "",
        "List<p> is generic.",
        "<table><tr><td>1</td></tr></table>",
    ],
)
def test_prose_about_html_stays(text: str) -> None:
    """A text that is not marked up itself stays as it is, with the tags that it speaks of; so does a table."""
    assert blank_markup(text) == text


def test_judged_as_plain_answers_are(tmp_path: Path) -> None:
    """Answers in HTML pass where the plain one passes; recorded answers and keys of labels keep their texts."""
    rows = [
        {
            "query_id": name,
            "query": "How long can a hub be returned?",
            "answer": answer,
            "passages": [{"doc_id": "r", "text": f"{FIRST} {SECOND}"}],
        }
        for name, answer in {**ANSWERS, "plain": f"{FIRST} {SECOND}"}.items()
    ]
    card = rg.evaluate(rows, metrics="faithfulness", store=f"sqlite:///{tmp_path / 'store.db'}")
    assert card.card.passed_examples == 4
    view = next(view for view in card.examples() if view.example.query_id == "p")
    facts = view.evidence["verify_answer"].facts
    assert isinstance(facts, AnswerFacts)
    assert [ANSWERS["p"][claim.start : claim.end] for claim in facts.claims] == [FIRST, SECOND]
    assert view.response.answer == ANSWERS["p"]
    assert build_label_key("support", "", [], ANSWERS["p"]) == build_label_key(
        "support", "", [], blank_markup(ANSWERS["p"])
    )
