"""A quotation is evidence where it says enough, and says what its passage says."""

from __future__ import annotations

import pytest
from tests.judging.canned import answered
from tests.testsets.writing_server import corpus

from ragauge.core.ask import Reply
from ragauge.core.document import Document
from ragauge.testsets.corpus_view import CorpusView, find_quotation
from ragauge.testsets.generate.draft import Brief, Draft, PassageSampler, Quote, SourcePassage
from ragauge.testsets.generate.filters import DraftContext, find_context_fault, find_quote_fault, list_gold_sentences
from ragauge.testsets.generate.question_writer import build_writer, locate_anchor, write_questions

TEXT = (
    "The pump was not made for salt water. It lifts 22 litres a second in summer. In winter, when the canal is low and "
    "the valves are shut, a crew of three looks after it. Three of the valves are made of brass."
)
SENTENCES = TEXT.replace(". ", ".\n").splitlines()


def _draft(text: str, answer: str) -> Draft:
    source, given = (SourcePassage("d", 100, TEXT),), Quote(1, text)
    anchor = locate_anchor(given, source, answer)
    return Draft("single", "How much does the pump lift?", answer, source, (given,), (anchor,))


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("a", "22 litres"),
        ("the", "22 litres"),
        ("a", "a"),
        ("of the", "of the"),
        ("22", "It lifts 22 litres."),
        ("three", "three"),
        ("valves", "brass"),
    ],
)
def test_a_quotation_that_shows_too_little_is_rejected(text: str, answer: str) -> None:
    """A letter, frequent words, a word that is not the answer, and one that stands in two sentences are no gold."""
    known = DraftContext(CorpusView([Document("d", "", TEXT)]))
    assert find_quote_fault(_draft(text, answer), known) == f"{text!r} is too short to locate in passage 1"


@pytest.mark.parametrize(
    ("text", "answer", "n"), [("22", "22.", 1), ("22 litres", "22 litres", 1), ("brass", "Brass", 3)]
)
def test_a_bare_answer_is_quoted_with_its_sentence(text: str, answer: str, n: int) -> None:
    """Where the quotation is the whole answer and stands in one sentence, that sentence is the gold."""
    draft = _draft(text, answer)
    (anchor,) = draft.anchors
    assert anchor is not None
    assert anchor.quote == SENTENCES[n] == TEXT[anchor.start - 100 : anchor.end - 100]
    assert find_quote_fault(draft, DraftContext(CorpusView([Document("d", "", TEXT)]))) == ""


@pytest.mark.parametrize(
    ("part", "whole"),
    [
        ("mp was not made for sal", "pump was not made for salt"),
        ("lifts 22 litres a", "lifts 22 litres a"),
        ("alves are shut, a crew of thr", "valves are shut, a crew of three"),
    ],
)
def test_a_quotation_that_cuts_words_is_gold_with_its_words_whole(part: str, whole: str) -> None:
    """A span that would begin or end inside a word of its document is widened to the whole word, its quote with it."""
    (anchor,) = _draft(part, "x").anchors
    assert anchor is not None
    assert anchor.quote == whole == TEXT[anchor.start - 100 : anchor.end - 100]


def test_a_passage_of_a_long_document_ends_with_a_whole_word() -> None:
    """Where a document has no sentence as short as a passage, what is drawn of it is cut between words."""
    text = "harbourmaster " * 1_000
    (passage,) = next(PassageSampler(CorpusView([Document("d", "", text)]), 7).passages("single"))
    assert len(passage.text) < 8_001 < len(text)
    assert passage.text.endswith("harbourmaster ")


def test_a_failed_call_is_told_from_a_reply_that_cannot_be_read() -> None:
    """A call that failed is asked no more and named with its reason; prose twice is unreadable, and kept as it came."""
    writer, brief = build_writer("openai:any"), Brief("single", (SourcePassage("d", 0, TEXT),), ({}, {}))

    failed, _ = answered(write_questions(brief, writer), [Reply("failed", reason="server: 503")])
    assert [(one.unwritten, one.fault_message) for one in failed] == [("call_failed", "server: 503")] * 2
    prose = "What a fine pump! " * 200
    unreadable, _ = answered(write_questions(brief, writer), ["Hm."], [prose])
    told = f"no question, even after a retry; the last reply was: {prose[:2_000]} … (3,600 characters)"
    assert [(one.unwritten, one.fault_message) for one in unreadable] == [("unreadable", told)] * 2


@pytest.mark.parametrize(
    ("own", "other"),
    [
        ("It lifts 22 litres a second in summer", "It lifts 23 litres a second in summer"),
        ("was not made", "was made"),
        ("and the valves are shut", "and the valves are not shut"),
        ("and the valves are shut", "and the valves aren't shut"),
    ],
)
def test_a_changed_number_or_denial_is_no_quotation(own: str, other: str) -> None:
    """One word that is another number, or denies, makes another statement; a slip elsewhere does not."""
    assert find_quotation(TEXT[:-1].replace("canal", "river"), TEXT) is not None
    assert find_quotation(TEXT.replace(own, other), TEXT) is None


def test_the_judge_sees_the_sentences_of_the_gold_and_no_others() -> None:
    """Support is asked of the sentences that the evidence stands in, whole, also where a quotation is a part of one."""
    first = _draft("the canal is low and the valves are shut", "x")
    assert list_gold_sentences(first) == (SENTENCES[2],)
    assert list_gold_sentences(_draft("a second in summer. In winter, when", "x")) == (" ".join(SENTENCES[1:3]),)


@pytest.mark.parametrize(
    "question",
    [
        "How many kinds of it are there?",
        "What is that based on?",
        "What is the default in this case?",
        "In the given example, which encoding is used?",
        "According to the documentation provided, which port is open?",
    ],
)
def test_questions_that_need_their_passage_are_rejected(question: str) -> None:
    """Each points to something that only who has the passage knows; with the thing named, each passes."""
    known = DraftContext(CorpusView(corpus(2)))
    named = {"of it": "of valve", "is that": "is the Gregorian calendar", "in this case": "of httpx"}
    assert find_context_fault(Draft("single", question, "x", ()), known)
    for pointing, name in named.items():
        if pointing in question:
            assert find_context_fault(Draft("single", question.replace(pointing, name), "x", ()), known) == ""
