"""The scripted judge's verdicts follow from known facts, case by case."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.planted.known_facts import PARTS, KnownFacts

from ragauge.core.document import Document
from ragauge.core.example import Example, Relevant, Span
from ragauge.core.facts import AgreementFacts, AnswerFacts, ReferenceFacts, RelevanceFacts
from ragauge.core.response import Citation, Passage, Response
from ragauge.evaluation.demo.demo_systems import read_documents, read_eval_set
from ragauge.systems.reference.extractive import REFUSAL
from ragauge.systems.reference.retrievers import extract_terms

TEXT = "A hub takes 8 drives. It weighs 3 kg."
PAGE = Document("hub", "Hub", TEXT)
DRIVES, WEIGHT = Span("hub", 0, 21), Span("hub", 22, 37)
EXAMPLE = Example(
    "q",
    "How many drives, and how heavy?",
    reference_claims=("8 drives.", "3 kg."),
    relevant=(Relevant(("hub",)),),
    gold_spans=(DRIVES, WEIGHT),
    answerable=True,
)
WHOLE = Passage("hub#1", "hub", f"# Hub\n\n{TEXT}", span=Span("hub", 0, 37))
HALF = Passage("hub#1a", "hub", "# Hub\n\nA hub takes 8 drives. It weighs", span=Span("hub", 0, 31))
OTHER = Passage("box#1", "box", "A box is blue. It weighs 3 kg.", span=Span("box", 0, 30))
HONEST = Response("q", passages=(OTHER, WHOLE), answer=TEXT, citations=())
KNOWN = KnownFacts([PAGE])


def verified(response: Response) -> AnswerFacts:
    facts = KNOWN.evidence(EXAMPLE, response, HONEST)["verify_answer"].facts
    assert isinstance(facts, AnswerFacts)
    return facts


def held(response: Response) -> list[tuple[int, ...] | None]:
    facts = KNOWN.evidence(EXAMPLE, response, HONEST)["verify_reference"].facts
    assert isinstance(facts, ReferenceFacts)
    return [claim.supporting for claim in facts.claims]


def agreed(response: Response) -> AgreementFacts:
    facts = KNOWN.evidence(EXAMPLE, response, HONEST)["agree"].facts
    assert isinstance(facts, AgreementFacts)
    return facts


def test_copied_sentences() -> None:
    """A sentence is supported by every passage in which its words stand, and states the claim of its span."""
    assert [(c.supporting, c.contradicting) for c in verified(HONEST).claims] == [((2,), ()), ((1, 2), ())]
    assert (verified(HONEST).address, verified(HONEST).refuse) == ("fully", False)
    assert agreed(HONEST) == AgreementFacts(("agrees", "agrees"), (True, True))
    assert KNOWN.answer_right(EXAMPLE, HONEST, HONEST)
    assert KNOWN.passages_right(EXAMPLE, HONEST)


def test_half_a_span_is_none() -> None:
    """A claim whose span is cut through is in no passage; the same words on another page hold it."""
    cut = replace(HONEST, passages=(HALF,))
    assert held(cut) == [(1,), ()]
    assert not KNOWN.passages_right(EXAMPLE, cut)
    assert held(replace(HONEST, passages=(OTHER, HALF))) == [(2,), (1,)]


def test_relevant_passages() -> None:
    """A passage is relevant when it holds a gold span."""
    facts = KNOWN.evidence(EXAMPLE, replace(HONEST, passages=(HALF, replace(OTHER, text="Blue."))), HONEST)
    found = facts["rate_passages"].facts
    assert isinstance(found, RelevanceFacts)
    assert [rating.relevant for rating in found.ratings] == [True, False]


def test_changed_number() -> None:
    """A sentence that is an honest one but for its figures is contradicted by the passages that hold the honest one."""
    changed = replace(HONEST, answer="A hub takes 10 drives. It weighs 3 kg.")
    assert [(c.supporting, c.contradicting) for c in verified(changed).claims] == [((), (2,)), ((1, 2), ())]
    assert verified(changed).address == "fully"
    assert agreed(changed) == AgreementFacts(("contradicts", "agrees"), (False, True))
    assert not KNOWN.answer_right(EXAMPLE, changed, HONEST)


def test_changed_number_that_stands_in_a_passage() -> None:
    """A sentence that a passage holds is no changed number, whatever the honest answer said."""
    old = Passage("old#1", "old", "A hub takes 6 drives.", superseded_by="hub")
    claim = verified(replace(HONEST, passages=(old, WHOLE), answer="A hub takes 6 drives.")).claims[0]
    assert (claim.supporting, claim.contradicting) == ((1,), ())


def test_invented_sentence() -> None:
    """A sentence of its own that stands nowhere is neither supported nor contradicted."""
    invented = replace(HONEST, answer=f"{TEXT} In a test the value was 512.")
    last = verified(invented).claims[-1]
    assert (last.text, last.supporting, last.contradicting) == ("In a test the value was 512.", (), ())
    assert agreed(invented) == AgreementFacts(("agrees", "agrees", "absent"), (True, True))
    assert not KNOWN.answer_right(EXAMPLE, invented, HONEST)


def test_part_of_the_answer() -> None:
    """An answer with one of two claims addresses the question partly; one with none of them, not at all."""
    part = replace(HONEST, answer="It weighs 3 kg.")
    assert (verified(part).address, agreed(part).reference) == ("partly", (False, True))
    assert verified(replace(HONEST, answer="A box is blue.")).address == "no"


def test_refusal() -> None:
    """The generator's refusal claims nothing; it is right where there is no answer, and only there."""
    declined = replace(HONEST, answer=REFUSAL)
    assert verified(declined) == AnswerFacts((), "no", True)
    assert not KNOWN.answer_right(EXAMPLE, declined, HONEST)
    nothing = Example("q", "?", answerable=False)
    assert KNOWN.answer_right(nothing, declined, declined)
    assert not KNOWN.answer_right(nothing, HONEST, declined)
    assert KNOWN.evidence(nothing, declined, declined).keys() == {"verify_answer", "rate_passages"}


def test_citations_bound_sentences() -> None:
    """Where citations cover the answer, they say where its sentences end, full stop or not."""
    answer = "A hub takes 8 drives. It weighs A box is blue."
    cut = replace(HONEST, answer=answer, citations=(Citation(0, 21, "a"), Citation(22, 31, "a"), Citation(32, 46, "b")))
    assert [claim.text for claim in verified(cut).claims] == ["A hub takes 8 drives.", "It weighs", "A box is blue."]


def test_computed_claim() -> None:
    """A difference is supported by the two sentences that it follows from, and copying both does not state it."""
    example = next(e for e in read_eval_set().examples if e.query_id == "q081")
    texts = {page.doc_id: page.text for page in read_documents()}
    spans = example.gold_spans or ()
    said = [texts[span.doc_id][span.start : span.end] for span in spans]
    passages = tuple(Passage(text, span.doc_id, text, span=span) for span, text in zip(spans, said, strict=True))
    copied = Response("q081", passages=passages, answer=" ".join(said), citations=())
    found = KnownFacts(read_documents()).evidence(example, copied, copied)
    assert isinstance(found["verify_reference"].facts, ReferenceFacts)
    assert [claim.supporting for claim in found["verify_reference"].facts.claims] == [(1,), (2,), (1, 2)]
    assert isinstance(found["agree"].facts, AgreementFacts)
    assert found["agree"].facts.reference == (True, True, False)


def test_system_error() -> None:
    """Nothing is known of an answer that was not given."""
    assert KNOWN.evidence(EXAMPLE, Response("q", error="HTTP 503"), HONEST) == {}


@pytest.mark.parametrize("example", [e for e in read_eval_set().examples if e.gold_spans], ids=lambda e: e.query_id)
def test_claims_have_their_spans(example: Example) -> None:
    """Of every question of the demo, each claim has spans, and no other span shares clearly more words with it."""
    texts = {page.doc_id: page.text for page in read_documents()}
    spans, claims = example.gold_spans or (), example.reference_claims or ()
    words = [set(extract_terms(texts[span.doc_id][span.start : span.end])) for span in spans]
    one = [(0,)] * len(claims) if len(spans) == 1 else [(n,) for n in range(len(spans))]
    for claim, places in zip(claims, PARTS.get(example.query_id, one), strict=True):
        shared = [len(set(extract_terms(claim)) & held) / len(set(extract_terms(claim))) for held in words]
        assert max(shared[place] for place in places) >= max(shared) - 0.3, claim
