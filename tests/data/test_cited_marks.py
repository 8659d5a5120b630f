"""What an answer cites, in brackets of any form, is read as a citation and is no part of what is judged."""

from __future__ import annotations

import pytest

from ragauge.core.ask import Reply
from ragauge.core.example import Example
from ragauge.core.facts import AnswerFacts, Claim
from ragauge.core.response import Passage, Response
from ragauge.judges.inputs import VerifyAnswer, build_evidence_key, build_inputs
from ragauge.judges.judge import answer_asks
from ragauge.judges.local.verify_answer import verify_answer
from ragauge.metrics.specifics import find_unfounded
from ragauge.text.citation_marks import find_citation_spans, find_citations

TEXT = "A hub can be returned within 30 days of delivery"
TEA = Passage("tea", "tea", "Tea is grown in Assam.")
MARKS = [
    ("doc-3", "[doc-3]"),
    ("doc-3", "(doc-3)"),
    ("doc-3", "[source=doc-3]"),
    ("kb-12", "(see kb-12)"),
    ("tea-2", "[D2]"),
    ("docs/returns/2", "[docs/returns/2]"),
    ("policy_2024", "[policy_2024]"),
    ("chunk_003", "[chunk_003]"),
    ("returns", "[returns]"),
    ("manual.pdf", "(manual.pdf p. 7)"),
    ("manual.pdf", "[manual.pdf p. 7]"),
    ("doc-3", "<cite>doc-3</cite>"),
    ("starter.txt", "[source=inputs/starter.txt]"),
    ("a-very-long-name/of-2024", "【a-very-long-name/of-2024】"),
]


def _passages(doc_id: str) -> tuple[Passage, ...]:
    return (TEA, Passage(doc_id, doc_id, f"{TEXT}."))


@pytest.mark.parametrize(("doc_id", "mark"), MARKS)
def test_a_mark_cites_and_holds_no_number(doc_id: str, mark: str) -> None:
    """A mark before, within and after a sentence cites the passage, and the numbers in it are none of the answer's."""
    for answer in (f"{TEXT} {mark}.", f"{TEXT}. {mark}", TEXT.replace(" within", f" {mark} within") + "."):
        assert [one.target for one in find_citations(answer, _passages(doc_id))] == [doc_id]
        assert find_unfounded(answer, "", _passages(doc_id), "any")[1] == ()


def _claim(answer: str, doc_id: str) -> Claim:
    response = Response("q", passages=_passages(doc_id), answer=answer)
    inputs = build_inputs("verify_answer", Example("q", "How long can a hub be returned?"), response, {})
    assert isinstance(inputs, VerifyAnswer)
    facts = answer_asks(verify_answer(inputs), lambda asks: [Reply("failed") for _ in asks])
    assert isinstance(facts, AnswerFacts)
    (claim,) = facts.claims
    return claim


@pytest.mark.parametrize(("doc_id", "mark"), MARKS)
def test_judged_as_an_answer_cited_by_number_is(doc_id: str, mark: str) -> None:
    """The local judge gives every form of a mark the verdict that [2] gets, on a claim at its place in the answer."""
    expected = _claim(f"{TEXT} [2].", doc_id)
    for answer in (f"{TEXT} {mark}.", f"{TEXT}. {mark}"):
        claim = _claim(answer, doc_id)
        assert (claim.text, claim.p, claim.supporting) == (expected.text, expected.p, (2,))
        assert answer[claim.start : claim.end].startswith(TEXT)


def test_only_answers_with_such_marks_are_judged_again() -> None:
    """A name that is cited is in the evidence's key; [1], which every judge leaves out by itself, is not."""

    def key(answer: str, doc_id: str) -> str:
        response = Response("q", passages=_passages(doc_id), answer=answer)
        inputs = build_inputs("verify_answer", Example("q", "?"), response, {})
        assert isinstance(inputs, VerifyAnswer)
        assert inputs.answer == answer  # as a model sees it
        return build_evidence_key("local", 1, inputs)

    assert key(f"{TEXT} [1].", "doc-3") == key(f"{TEXT} [1].", "doc-4")
    assert key(f"{TEXT} [doc-3].", "doc-3") != key(f"{TEXT} [doc-3].", "other")


PLAIN = [
    "It takes (30 days).",
    "It was raised (2019).",
    "Call open(3).",
    "See (the manual).",
    "Vitamin [C14] is new.",
    "It is [sic].",
]


@pytest.mark.parametrize("answer", PLAIN)
def test_what_names_no_passage_stays(answer: str) -> None:
    """Amounts, words and calls in brackets are no marks."""
    assert find_citation_spans(answer, _passages("doc-3")) == ()


def test_a_name_like_the_others_is_an_invented_citation() -> None:
    """[doc-9] beside a passage doc-3 cites what nobody handed on, and is no number of the claim."""
    answer = f"{TEXT} [doc-9]."
    assert [one.target for one in find_citations(answer, _passages("doc-3"))] == ["[doc-9]"]
    assert len(find_citation_spans(answer, _passages("doc-3"))) == 1


LISTS = [
    (f"{TEXT} [2].\n\nReferences: [2]", ["doc-3"]),
    (f"{TEXT} [2].\n\nReferences:\n[2] doc-3", ["doc-3"]),
    (f"{TEXT} [1].\n\nReferences:\n[1] doc-3", ["doc-3"]),
    (f"{TEXT} [^1].\n\n[^1]: doc-3", ["doc-3"]),
    (f"{TEXT}.\n\nSources: [2]", ["doc-3"]),
]


@pytest.mark.parametrize(("answer", "targets"), LISTS)
def test_a_list_of_sources_says_what_numbers_mean(answer: str, targets: list[str]) -> None:
    """The list below an answer cites nothing again; what its numbers name there counts; alone it is of the whole."""
    found = find_citations(answer, _passages("doc-3"))
    assert [one.target for one in found] == targets
    assert found[0].start == 0
