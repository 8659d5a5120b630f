"""Each fault does what it says and nothing else."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from tests.faults.demo_faults import DONORS
from tests.faults.generation import AnswerAnyway, IgnoreFirst, RefuseAnyway
from tests.faults.reference_faults import (
    ChangeNumber,
    DropGold,
    Fault,
    FaultySystem,
    FindNothing,
    IgnorePassages,
    InventNumber,
    PushGoldLow,
)
from tests.faults.retrieval import ShuffleRanking
from tests.faults.sources import CutEvidence, ServeSuperseded

from ragauge.core.errors import UsageError
from ragauge.core.example import EvalSet, Example, Span
from ragauge.core.response import Passage, Response
from ragauge.evaluation.demo.demo_systems import read_documents, read_eval_set
from ragauge.models.embedders.base import WordLlamaEmbedder
from ragauge.systems.reference.extractive import REFUSAL
from ragauge.systems.reference.pipeline import ReferenceConfig, ReferenceRag

RETRIEVAL = (
    DropGold(),
    PushGoldLow(),
    ShuffleRanking(seed=4),
    FindNothing(),
    CutEvidence(),
    ServeSuperseded(pages=read_documents()),
)
GENERATION = (
    InventNumber(),
    ChangeNumber(),
    IgnoreFirst(),
    IgnorePassages(donors=DONORS),
    AnswerAnyway(),
    RefuseAnyway(),
)
Pairs = list[tuple[Example, Response, Response]]


@pytest.fixture(scope="module")
def rag() -> ReferenceRag:
    return ReferenceRag(ReferenceConfig(), read_documents(), WordLlamaEmbedder().embed)


@pytest.fixture(scope="module")
def questions() -> EvalSet:
    return read_eval_set()


@pytest.fixture(scope="module")
def honest(rag: ReferenceRag, questions: EvalSet) -> dict[str, Response]:
    return {example.query_id: rag.respond(example) for example in questions.examples}


def spoilt_by(fault: Fault, rag: ReferenceRag, questions: EvalSet, honest: dict[str, Response]) -> Pairs:
    """(example, honest response, spoilt response) of every question that the fault could spoil."""
    tried = [(e, honest[e.query_id], fault.inject_fault(e, honest[e.query_id], rag)) for e in questions.examples]
    return [(example, before, after) for example, before, after in tried if after is not None]


def gold(example: Example) -> set[str]:
    return {doc_id for item in example.relevant or () for doc_id in item.doc_ids}


def found(response: Response) -> list[str]:
    return [passage.doc_id for passage in response.candidates or ()]


def seen(response: Response) -> list[str]:
    return [passage.doc_id for passage in response.passages or ()]


def numbers(text: str) -> set[str]:
    return set(re.findall(r"\d+", text.replace(",", "")))


def test_drop_gold(rag: ReferenceRag, questions: EvalSet, honest: dict[str, Response]) -> None:
    """No labelled document is left anywhere, the others keep their order, and the generator still sees k passages."""
    pairs = spoilt_by(DropGold(), rag, questions, honest)
    assert len(pairs) > 80
    for example, before, after in pairs:
        assert gold(example).isdisjoint(found(after))
        kept = [passage for passage in before.candidates or () if passage.doc_id not in gold(example)]
        assert after.candidates == tuple(kept)
        assert after.passages == tuple(kept[: rag.config.k])
        assert len(after.passages) == rag.config.k


def test_push_gold_low(rag: ReferenceRag, questions: EvalSet, honest: dict[str, Response]) -> None:
    """No labelled document is seen, all are still candidates right behind, and scores still descend."""
    pairs = spoilt_by(PushGoldLow(), rag, questions, honest)
    assert len(pairs) > 80
    for example, before, after in pairs:
        assert gold(example).isdisjoint(seen(after))
        assert sorted(found(after)) == sorted(found(before))
        assert found(after)[rag.config.k] in gold(example)
        scores = [passage.score or 0 for passage in after.candidates or ()]
        assert scores == [passage.score or 0 for passage in before.candidates or ()]


def test_find_nothing(rag: ReferenceRag, questions: EvalSet, honest: dict[str, Response]) -> None:
    """Passages and candidates are empty, and the honest generator refuses."""
    pairs = spoilt_by(FindNothing(), rag, questions, honest)
    assert len(pairs) == len(questions)
    for _, _, after in pairs:
        assert (after.passages, after.candidates, after.answer) == ((), (), REFUSAL)


def test_shuffle_ranking(rag: ReferenceRag, questions: EvalSet, honest: dict[str, Response]) -> None:
    """The same candidates in another order that the seed alone decides; scores still descend."""
    pairs = spoilt_by(ShuffleRanking(seed=4), rag, questions, honest)
    assert len(pairs) == len(questions)
    for example, before, after in pairs:
        assert after.passages != before.passages
        names = [[passage.passage_id for passage in response.candidates or ()] for response in (before, after)]
        assert sorted(names[0]) == sorted(names[1])
        assert [p.score for p in after.candidates or ()] == [p.score for p in before.candidates or ()]
        again = ShuffleRanking(seed=4).inject_fault(example, before, rag)
        other = ShuffleRanking(seed=5).inject_fault(example, before, rag)
        assert again is not None
        assert other is not None
        assert again.candidates == after.candidates != other.candidates
    # gold falls out of the first five for some questions, and stays for others
    fell = [gold(e).isdisjoint(seen(after)) for e, before, after in pairs if not gold(e).isdisjoint(seen(before))]
    assert 0.2 < sum(fell) / len(fell) < 0.8


def whole(passage: Passage, span: Span) -> bool:
    """Whether a passage holds a span from end to end."""
    mine = passage.span
    return (
        mine is not None
        and (mine.doc_id, max(mine.start, span.start)) == (span.doc_id, span.start)
        and (mine.end >= span.end)
    )


def test_cut_evidence(rag: ReferenceRag, questions: EvalSet, honest: dict[str, Response]) -> None:
    """No candidate holds a labelled span whole, the labelled documents stay, and every piece is where it says."""
    texts = {page.doc_id: page.text for page in read_documents()}
    pairs = spoilt_by(CutEvidence(), rag, questions, honest)
    assert len(pairs) > 80
    for example, before, after in pairs:
        spans = example.gold_spans or ()
        assert any(whole(passage, span) for passage in before.passages or () for span in spans)
        assert not any(whole(passage, span) for passage in after.candidates or () for span in spans)
        assert [passage.doc_id for passage in after.passages or ()] == seen(before)
        for passage in after.candidates or ():
            assert passage.span is not None
            body = texts[passage.doc_id][passage.span.start : passage.span.end]
            assert (passage.text or "").endswith(body)
        assert len({passage.passage_id for passage in after.candidates or ()}) == len(after.candidates or ())


def test_serve_superseded(rag: ReferenceRag, questions: EvalSet, honest: dict[str, Response]) -> None:
    """The current page is gone, its old version stands in its places with its date, and other pages stay."""
    dates = {page.doc_id: (page.updated_at, page.superseded_by) for page in read_documents()}
    pairs = spoilt_by(ServeSuperseded(pages=read_documents()), rag, questions, honest)
    assert len(pairs) > 15
    for example, before, after in pairs:
        replaced = {page for page in gold(example) & set(seen(before)) if page not in found(after)}
        assert replaced
        old = [passage for passage in after.passages or () if passage.superseded_by in replaced]
        assert old
        assert all((passage.updated_at, passage.superseded_by) == dates[passage.doc_id] for passage in old)
        gone = replaced | {passage.doc_id for passage in old}
        kept = [passage for passage in before.candidates or () if passage.doc_id not in gone]
        assert [passage for passage in after.candidates or () if passage.doc_id not in gone] == kept


def test_serve_superseded_without_an_old_version(
    rag: ReferenceRag, questions: EvalSet, honest: dict[str, Response]
) -> None:
    """Where no page of the corpus has been replaced, there is nothing to spoil."""
    current = tuple(page for page in read_documents() if page.superseded_by is None)
    assert spoilt_by(ServeSuperseded(pages=current), rag, questions, honest) == []


@pytest.mark.parametrize("fault", RETRIEVAL, ids=lambda fault: fault.name)
def test_retrieval_faults_leave_the_generator_honest(
    fault: Fault, rag: ReferenceRag, questions: EvalSet, honest: dict[str, Response]
) -> None:
    """The answer is the one that the honest generator gives for the passages left; retrieval time is kept."""
    for example, before, after in spoilt_by(fault, rag, questions, honest):
        again = rag.respond_from(example, after.candidates or ())
        assert (again.answer, again.citations, again.tokens) == (after.answer, after.citations, after.tokens)
        assert after.latency_ms["retrieval"] == before.latency_ms["retrieval"]


@pytest.mark.parametrize("fault", GENERATION, ids=lambda fault: fault.name)
def test_generation_faults_leave_retrieval_alone(
    fault: Fault, rag: ReferenceRag, questions: EvalSet, honest: dict[str, Response]
) -> None:
    """Only answer, citations and tokens out change (and, where it answers once more, the time of generating)."""
    pairs = spoilt_by(fault, rag, questions, honest)
    assert pairs
    for _, before, after in pairs:
        assert after.answer != before.answer
        assert after.tokens["input"] == before.tokens["input"]
        same = {"answer": "", "citations": (), "tokens": {}, "latency_ms": {}}
        assert replace(after, **same) == replace(before, **same)  # type: ignore[arg-type]


def test_invent_number(rag: ReferenceRag, questions: EvalSet, honest: dict[str, Response]) -> None:
    """One sentence is added, uncited, with exactly one number, which neither passages nor question hold."""
    for example, before, after in spoilt_by(InventNumber(seed=3), rag, questions, honest):
        added = (after.answer or "").removeprefix(before.answer or "")
        known = numbers(" ".join([example.query, *(passage.text or "" for passage in before.passages or ())]))
        assert added.startswith(" ")
        assert len(numbers(added)) == 1
        assert numbers(added).isdisjoint(known)
        assert after.citations == before.citations


def test_change_number(rag: ReferenceRag, questions: EvalSet, honest: dict[str, Response]) -> None:
    """Exactly one number differs, the new one is unknown, and citations still cover the same sentences."""
    pairs = spoilt_by(ChangeNumber(seed=3), rag, questions, honest)
    assert len(pairs) > 20
    for example, before, after in pairs:
        old, new = (re.findall(r"\d[\d,]*|\D+", response.answer or "") for response in (before, after))
        differing = [(one, other) for one, other in zip(old, new, strict=True) if one != other]
        assert len(differing) == 1
        known = numbers(" ".join([example.query, *(passage.text or "" for passage in before.passages or ())]))
        assert differing[0][1].replace(",", "").strip() not in known
        parts = [(after.answer or "")[c.start : c.end] for c in after.citations or ()]
        assert " ".join(parts) == after.answer
        assert [c.target for c in after.citations or ()] == [c.target for c in before.citations or ()]


def test_change_number_leaves_names_alone() -> None:
    """Names, versions, times, dates and codes are no quantities."""
    answer = "Hub 3 runs client 5 at 02:00 since 5 May 2024, E-104 or 6.2 aside. Up to 20 work."
    response = Response("q", passages=(), answer=answer, citations=())
    spoilt = ChangeNumber().inject_fault(Example("q", "?"), response, FixedSystem(response))
    assert spoilt is not None
    assert spoilt.answer == answer.replace("20 work", "26 work")


def test_change_number_without_a_quantity() -> None:
    """An answer without a quantity is left alone."""
    response = Response("q", passages=(), answer="Hub 3 is blue.", citations=())
    assert ChangeNumber().inject_fault(Example("q", "?"), response, FixedSystem(response)) is None


def test_ignore_passages(rag: ReferenceRag, questions: EvalSet, honest: dict[str, Response]) -> None:
    """The answer stands in no passage and cites nothing; donors' answers and boilerplate both occur."""
    pairs = spoilt_by(IgnorePassages(seed=5, donors=DONORS), rag, questions, honest)
    donated = {rag.respond(Example("q", donor)).answer for donor in DONORS}
    kinds = {after.answer in donated for _, _, after in pairs}
    assert kinds == {True, False}
    for _, before, after in pairs:
        assert after.citations == ()
        assert not any((after.answer or "") in (passage.text or "") for passage in before.passages or ())


def test_ignore_first(rag: ReferenceRag, questions: EvalSet, honest: dict[str, Response]) -> None:
    """The answer is the one without the first passage, which is recorded but never cited."""
    pairs = spoilt_by(IgnoreFirst(), rag, questions, honest)
    assert len(pairs) > 50
    for example, before, after in pairs:
        blind = rag.respond_from(example, (before.passages or ())[1:])
        assert (after.answer, after.citations) == (blind.answer, blind.citations)
        first = (before.passages or ())[0].passage_id
        assert first not in [citation.target for citation in after.citations or ()]


def test_donors_are_answered(rag: ReferenceRag) -> None:
    """Every donor question of the demo has an answer to lend."""
    assert all(rag.respond(Example("q", donor)).answer != REFUSAL for donor in DONORS)


def test_answer_anyway(rag: ReferenceRag, questions: EvalSet, honest: dict[str, Response]) -> None:
    """Only unanswerable questions that were refused are answered, with sentences of the passages."""
    for example, before, after in spoilt_by(AnswerAnyway(), rag, questions, honest):
        assert example.answerable is False
        assert before.answer == REFUSAL
        for citation in after.citations or ():
            quoted = (after.answer or "")[citation.start : citation.end]
            assert any(quoted in (passage.text or "") for passage in after.passages or ())


def test_refuse_anyway(rag: ReferenceRag, questions: EvalSet, honest: dict[str, Response]) -> None:
    """Only answered questions that are not unanswerable are refused."""
    for example, before, after in spoilt_by(RefuseAnyway(), rag, questions, honest):
        assert example.answerable is not False
        assert before.answer != REFUSAL
        assert (after.answer, after.citations) == (REFUSAL, ())


@pytest.mark.parametrize(
    "fault", [DropGold(), PushGoldLow(), CutEvidence(), ServeSuperseded(pages=read_documents())], ids=lambda f: f.name
)
def test_nothing_to_spoil_without_labels(
    fault: Fault, rag: ReferenceRag, questions: EvalSet, honest: dict[str, Response]
) -> None:
    """A question without labels is left alone by faults that need them."""
    bare = [replace(example, relevant=None, gold_spans=None) for example in questions.examples]
    assert all(fault.inject_fault(example, honest[example.query_id], rag) is None for example in bare)


class FixedSystem:
    """A system that gives one response to everything."""

    def __init__(self, response: Response) -> None:
        self.response = response

    def respond(self, example: Example) -> Response:
        return replace(self.response, query_id=example.query_id)

    def respond_from(self, example: Example, *_: object, **__: object) -> Response:
        return self.respond(example)


ANSWERED = FixedSystem(Response("", passages=(), answer="It costs 10 euros.", citations=()))


def test_decision_is_seeded() -> None:
    """The same seed strikes the same questions in any order; another seed strikes others; shares are kept."""
    examples = [Example(f"q{n}", "?") for n in range(2_000)]
    struck = {e.query_id for e in examples if InventNumber(share=0.3, seed=1).is_struck(e)}
    assert struck == {e.query_id for e in reversed(examples) if InventNumber(share=0.3, seed=1).is_struck(e)}
    assert struck != {e.query_id for e in examples if InventNumber(share=0.3, seed=2).is_struck(e)}
    # binomial: 2000 x 0.3 = 600, standard deviation sqrt(2000 x 0.3 x 0.7) = 20.5; within four of them
    assert 518 <= len(struck) <= 682
    # a larger share strikes more questions, and all that a smaller one struck
    assert struck < {e.query_id for e in examples if InventNumber(share=0.6, seed=1).is_struck(e)}
    assert not [e for e in examples if InventNumber(share=0).is_struck(e)]
    assert all(InventNumber(share=1).is_struck(e) for e in examples)


def test_segments_limit_a_fault() -> None:
    """A fault strikes only within the segments that it names, all columns together."""
    fault = InventNumber(segments={"type": ("a", "b"), "area": ("x",)})
    inside = [{"type": "a", "area": "x"}, {"type": "b", "area": "x"}]
    outside: list[dict[str, str]] = [{"type": "a", "area": "y"}, {"type": "c", "area": "x"}, {"type": "a"}, {}]
    assert all(fault.is_struck(Example("q", "?", segments=segments)) for segments in inside)
    assert not any(fault.is_struck(Example("q", "?", segments=segments)) for segments in outside)


def test_planted_is_recorded() -> None:
    """What was planted is known per question; the first fault that can spoil wins; an unspoilt question is absent."""
    system = FaultySystem(ANSWERED, [AnswerAnyway(), InventNumber(share=0.5, seed=1), RefuseAnyway(share=0.5, seed=2)])
    examples = [Example(f"q{n}", "?") for n in range(200)]
    answers = {example.query_id: system.respond(example).answer or "" for example in examples}
    assert set(system.planted_faults.values()) == {"invent_number", "refuse_anyway"}
    for query_id, answer in answers.items():
        expected = {"It costs 10 euros.": None, REFUSAL: "refuse_anyway"}.get(answer, "invent_number")
        assert system.planted_faults.get(query_id) == expected
    assert 0 < len(system.planted_faults) < 200


def test_planted_cannot_be_written() -> None:
    """The record is read-only for others."""
    with pytest.raises(TypeError):
        FaultySystem(ANSWERED).planted_faults["q"] = "x"  # type: ignore[index]  # read-only: the test


def test_wrong_share() -> None:
    """A share outside 0 to 1 is refused."""
    with pytest.raises(UsageError, match=r"DropGold: share must lie between 0 and 1, got 1\.2"):
        DropGold(share=1.2)
