"""The cause table: every row by cases where it decides and near misses where it does not."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conftest import OwnTime

from ragauge.core.example import Example, Relevant, Span
from ragauge.core.facts import (
    AgreementFacts,
    AnswerFacts,
    Claim,
    Evidence,
    JudgeFacts,
    Rating,
    ReferenceClaim,
    ReferenceFacts,
    RelevanceFacts,
)
from ragauge.core.response import Citation, Passage, Response
from ragauge.diagnosis.causes.attribution import ROWS, ROWS_BY_NAME, attribute_failure
from ragauge.metrics.base import MetricResult
from ragauge.metrics.facts import Facts
from ragauge.scores.results.scorecard import Cause


@dataclass(frozen=True)
class Case:
    """One example with evidence, every part of it perfect unless replaced.

    Two gold documents, a and b, both handed on, with c as noise; two claims, resting on passages 1 and 2 and citing
    them; two reference claims, in passages 1 and 2, both stated.
    """

    answerable: bool | None = True
    relevant: Any = (Relevant(("a",), 2), Relevant(("b",)), Relevant(("z",), 0))
    spans: Any = None
    references: Any = ("One. Two.",)
    passages: Any = (Passage("p1", "a", "one"), Passage("p2", "b", "two"), Passage("p3", "c", "three"))
    candidates: Any = None
    answer: str | None = "One. Two."
    citations: Any = (Citation(0, 4, "p1"), Citation(5, 9, "b"))
    error: str | None = None
    claims: Any = (
        Claim(1, "one", 0, 4, supporting=(1,), strength="direct"),
        Claim(2, "two", 5, 9, supporting=(2,), strength="direct"),
    )
    support_asked: bool = True
    address: Any = "fully"
    refuse: bool | None = False
    met: Any = ((1,), (2,))
    ratings: Any = None
    agrees: Any = ("agrees", "agrees")
    stated: Any = (True, True)
    failed: tuple[str, ...] = ()

    def facts(self) -> Facts:
        found: dict[str, JudgeFacts | None] = {
            "verify_answer": None
            if self.claims is None
            else AnswerFacts(self.claims, self.address, self.refuse, self.support_asked),
            "verify_reference": None
            if self.met is None
            else ReferenceFacts(tuple(ReferenceClaim(n, f"r{n}", t) for n, t in enumerate(self.met, 1))),
            "rate_passages": None
            if self.ratings is None
            else RelevanceFacts(tuple(Rating(n, q) for n, q in enumerate(self.ratings, 1))),
            "agree": None if self.agrees is None else AgreementFacts(self.agrees, self.stated),
        }
        evidence = {
            question: Evidence("k", question, 1, "test", "ok", value)
            for question, value in found.items()
            if value is not None and question not in self.failed
        }
        evidence |= {name: Evidence("k", name, 1, "test", "failed", None, reason="time-out") for name in self.failed}
        example = Example(
            "q",
            "What?",
            references=self.references,
            relevant=self.relevant,
            gold_spans=self.spans,
            answerable=self.answerable,
        )
        response = Response(
            "q",
            passages=self.passages,
            candidates=self.candidates,
            answer=self.answer,
            citations=self.citations,
            error=self.error,
        )
        return Facts(example, response, evidence)

    def cause(self, **more: Any) -> Cause | None:
        return attribute_failure(self.facts(), **more)


def case(**changes: Any) -> Case:
    return replace(Case(), **changes)


def claim(n: int, *supporting: int, against: tuple[int, ...] = ()) -> Claim:
    return Claim(
        n,
        f"claim {n}",
        5 * n - 5,
        5 * n - 1,
        supporting=supporting,
        contradicting=against,
        strength="direct" if supporting else None,
    )


def passages(*docs: str, **parts: Any) -> tuple[Passage, ...]:
    return tuple(Passage(f"p{n}", doc, doc, **parts) for n, doc in enumerate(docs, 1))


LABELS_ONLY: dict[str, Any] = {
    "references": (),
    "claims": None,
    "met": None,
    "agrees": None,
    "answer": None,
    "citations": None,
}
UNLABELLED: dict[str, Any] = {"relevant": None, "answerable": None}
NO_REFERENCE: dict[str, Any] = {"references": (), "met": None, "agrees": None}
REFUSAL: dict[str, Any] = {
    "claims": (),
    "address": "no",
    "refuse": True,
    "agrees": (),
    "stated": (False, False),
    "answer": "I do not know.",
    "citations": (),
}
WAS = "2023-05-01"
OLD = (Passage("p1", "a", "one", superseded_by="a-new"), Passage("p2", "b", "two", updated_at=WAS))
PIECES = (Passage("p1", "a", "x", span=Span("a", 0, 100)), Passage("p2", "b", "y", span=Span("b", 0, 50)))

# cause, what is changed in the perfect case, words that decided_by must hold
APPLIES: list[tuple[str, dict[str, Any], str]] = [
    ("system_failed", {"error": "HTTP 500"}, "HTTP 500"),
    ("system_failed", {"error": "time-out", "passages": (), "answer": None, "answerable": False}, "time-out"),
    ("missed_refusal", {"answerable": False, "relevant": None}, "unanswerable"),
    ("missed_refusal", {"answerable": False, "passages": (), "met": ((), ())}, "unanswerable"),
    ("empty_retrieval", {"passages": (), "met": None, "claims": (claim(1), claim(2))}, "returned nothing"),
    ("empty_retrieval", {"passages": (), **LABELS_ONLY}, "returned nothing"),
    ("empty_retrieval", {"passages": (), "candidates": (), "met": ((), ()), **REFUSAL}, "returned nothing"),
    # rests on passage 1 alone, which a newer document replaced
    ("stale_source", {"passages": OLD, "agrees": ("contradicts", "agrees")}, "claim 1"),
    # the newest version of b came too: passage 2 is from an older one
    (
        "stale_source",
        {
            "passages": (
                *passages("a"),
                Passage("p2", "b", "old", updated_at="2023-01-01"),
                Passage("p3", "b", "new", updated_at="2024-01-01T09:00"),
            ),
            "agrees": ("agrees", "contradicts"),
        },
        "passage 2",
    ),
    # passage 2 is all there is of b, and a candidate shows that a newer version of b exists
    (
        "stale_source",
        {
            "relevant": (Relevant(("b",)),),
            "met": ((1,), ()),
            "passages": (*passages("x"), Passage("p2", "b", "old", updated_at="2023-01-01")),
            "candidates": (
                Passage("p2", "b", "old", updated_at="2023-01-01"),
                Passage("p9", "b", updated_at="2024-01-01"),
            ),
        },
        "only an outdated version of gold document b was retrieved (passage 2); reference claim 2 in no passage",
    ),
    # only the version that gold document b-new replaced was retrieved, and it does not say what the reference says
    (
        "stale_source",
        {
            "relevant": (Relevant(("b-new",)),),
            "met": ((1,), ()),
            "passages": (*passages("a"), Passage("p2", "b-old", "two", superseded_by="b-new")),
        },
        "only an outdated version of gold document b-new was retrieved (passage 2)",
    ),
    # of two gold documents, a came as it is and b only in the version before
    (
        "stale_source",
        {
            "relevant": (Relevant(("a",)), Relevant(("b",))),
            "met": ((1,), ()),
            "passages": (*passages("a"), Passage("p2", "b-old", "two", superseded_by="b")),
        },
        "only an outdated version of gold document b was retrieved (passage 2); reference claim 2 in no passage",
    ),
    ("compound", {"passages": passages("a", "c"), "met": None, "claims": (claim(1, 1), claim(2))}, "1 of 2 gold"),
    ("compound", {**UNLABELLED, "met": ((1,), ()), "claims": (claim(1, 1), claim(2))}, "1 of 2 reference claims"),
    ("compound", {"met": ((1,), (), None), "claims": (claim(1), claim(2))}, "claims 1 and 2 have no support"),
    (
        "retrieval_miss",
        {"passages": passages("a", "c"), "candidates": passages("a", "c", "x", "y")},
        "gold document b not among the 4 candidates",
    ),
    ("retrieval_miss", {"passages": passages("c", "x"), **LABELS_ONLY}, "rank unknown"),
    ("retrieval_miss", {**UNLABELLED, "met": ((1,), ())}, "1 of 2 reference claims in none of the 3 passages"),
    (
        "retrieval_miss",
        {**UNLABELLED, **NO_REFERENCE, "ratings": (False, False, False), "address": "no", "claims": (claim(1, 1),)},
        "none of the 3 passages is relevant",
    ),
    (
        "ranked_low",
        {"passages": passages("a", "c"), "candidates": passages("a", "c", "x", "b"), "met": ((1,), ())},
        "gold document b at rank 4 of 4 candidates; 2 passages",
    ),
    (
        "ranked_low",
        {
            "relevant": (Relevant(("y", "x")),),
            "passages": passages("a", "c"),
            **LABELS_ONLY,
            "candidates": passages("a", "c", "x", "y"),
        },
        "gold document y or x at rank 3 of 4",
    ),
    (
        "ranked_low",
        {
            "passages": PIECES,
            "candidates": (*PIECES, Passage("p3", "a", "z", span=Span("a", 80, 200))),
            "spans": (Span("a", 90, 110),),
        },
        "a (characters 90 to 110) is at rank 3 of 3 candidates",
    ),
    (
        "lost_before_prompt",
        {"passages": passages("a", "c"), "candidates": passages("b", "a", "x", "c")},
        "gold document b at rank 1",
    ),
    (
        "lost_before_prompt",
        {"passages": passages("a", "c"), "candidates": passages("a", "b", "c"), **LABELS_ONLY},
        "gold document b at rank 2",
    ),
    ("span_cut", {"met": ((1,), ())}, "1 of 2 reference claims"),
    ("span_cut", {"passages": PIECES, "spans": (Span("a", 90, 110),)}, "a (characters 90 to 110)"),
    (
        "span_cut",
        {"passages": PIECES, "relevant": None, "spans": (Span("b", 60, 70),), **LABELS_ONLY},
        "b (characters 60 to 70)",
    ),
    ("wrong_refusal", REFUSAL, "the question is answerable"),
    ("wrong_refusal", {**UNLABELLED, **REFUSAL}, "the question is answerable"),
    (
        "wrong_refusal",
        {**UNLABELLED, **NO_REFERENCE, **REFUSAL, "agrees": None, "ratings": (True, False, False)},
        "nothing indicates",
    ),
    ("off_topic", {"address": "no"}, "does not address"),
    ("off_topic", {**UNLABELLED, **NO_REFERENCE, "address": "no", "claims": (claim(1), claim(2))}, "not address"),
    ("contradicted", {"claims": (claim(1, 1), claim(2, against=(2,)))}, "1 of 2 claims contradicted"),
    ("contradicted", {"claims": (claim(1, against=(3,)), claim(2))}, "claim 1 by passage 3"),
    (
        "noise",
        {"claims": (claim(1, 1), claim(2, 3)), "agrees": ("agrees", "contradicts"), "citations": None},
        "claim 2 is based on passage 3",
    ),
    (
        "noise",
        {"claims": (claim(1, 3), claim(2, 3)), "citations": None, "address": "partly"},
        "evidence is in passages 1 and 2",
    ),
    (
        "noise",
        {
            **UNLABELLED,
            **NO_REFERENCE,
            "ratings": (True, False, False),
            "claims": (claim(1, 2), claim(2)),
            "citations": None,
        },
        "the answer uses passage 2; the evidence is in passage 1",
    ),
    ("ignored", {"claims": (claim(1), claim(2)), "citations": None}, "passages 1 and 2"),
    (
        "ignored",
        {**UNLABELLED, **NO_REFERENCE, "ratings": (False, True, False), "claims": (claim(1),), "citations": ()},
        "passage 2",
    ),
    ("hallucinated", {"claims": (claim(1, 1), claim(2))}, "1 of 2 claims in no passage (claim 2)"),
    ("hallucinated", {"claims": (claim(1, 1), claim(2)), "agrees": ("agrees", "absent")}, "claim 2"),
    ("misattributed", {"citations": (Citation(0, 4, "p3"),), "address": "partly"}, "claim 1 cites passage 3"),
    ("misattributed", {"citations": (Citation(0, 4, "b"),), "stated": (True, False)}, "but is supported by passage 1"),
    ("incomplete", {"address": "partly"}, "only part"),
    ("incomplete", {"stated": (True, False)}, "1 of 2 reference claims and leaves out “r2”"),
    ("incomplete", {"stated": (True, False), "address": "partly"}, "only part of the question: it leaves out “r2”"),
    (
        "wrong_answer",
        {"stated": (False, False), "agrees": ("absent", "absent")},
        "states none of the 2 reference claims: “r1” and 1 more",
    ),
    (
        "wrong_answer",
        {"stated": (False,), "met": ((1,),), "agrees": ("absent", "absent"), "address": "partly"},
        "the answer does not state “r1”",
    ),
    (
        "wrong_answer",
        {"agrees": ("agrees", "contradicts")},
        "claim 2 contradicts the reference; the answer misreads passage 2, which also contains the evidence",
    ),
    (
        "wrong_answer",
        {"stated": (False,), "met": None, "references": ("One.",), "agrees": ("absent", "absent")},
        "the answer does not state “One.”",
    ),
]


@pytest.mark.parametrize(("name", "changes", "words"), APPLIES)
def test_row_decides(name: str, changes: dict[str, Any], words: str) -> None:
    """A case built for a row is attributed to it, with its numbers, its fix and its component."""
    cause = case(**changes).cause()
    assert cause is not None
    assert cause.name == name
    assert words in cause.decided_by
    fault = ROWS_BY_NAME[name].at(cause.component)
    assert (cause.component, cause.fix) == (fault.component, fault.fix)
    assert cause.basis in ("record", "labels", "judge", "guess")


@pytest.mark.parametrize(
    ("changes", "component"),
    [
        # the labeled passages a and b are at ranks 1 and 2; c leads astray
        ({}, "generation"),
        ({"passages": passages("c", "a", "b"), "claims": (claim(1, 1), claim(2, 1)), "met": ((2,), (3,))}, "retrieval"),
        ({"passages": passages("a", "c", "b"), "claims": (claim(1, 2), claim(2, 2)), "met": ((3,), (3,))}, "retrieval"),
        ({**UNLABELLED, "met": ((1,), (2,))}, "generation"),  # by the judge's evidence where no document is labelled
        ({**UNLABELLED, "met": ((3,), (3,)), "claims": (claim(1, 2), claim(2, 2))}, "retrieval"),
        ({**UNLABELLED, **NO_REFERENCE, "ratings": (True, False, False)}, "generation"),
    ],
)
def test_evidence_above_what_misled_is_the_generators_fault(changes: dict[str, Any], component: str) -> None:
    """Noise is retrieval's where what misled ranks above the evidence, and generation's where the evidence does.

    Of two passages of a labelled document that is the evidence on which a reference claim rests.
    """
    of_one = {"relevant": (Relevant(("a",)), Relevant(("b",)))}
    astray = {"claims": (claim(1, 3), claim(2, 3)), "citations": None, "address": "partly"}
    cause = case(**{**of_one, **astray, **changes}).cause()
    assert cause is not None
    assert (cause.name, cause.component) == ("noise", component)
    assert ("ranks higher" in cause.decided_by) is (component == "generation")
    assert cause.fix == ROWS_BY_NAME["noise"].at(component).fix
    assert ("Reranking cannot help" in cause.fix) is (component == "generation")


def test_a_wrong_claim_from_below_the_evidence_is_the_generators_fault() -> None:
    """A claim that contradicts the reference and stands in passage 3 alone, below the labelled ones."""
    wrong = case(claims=(claim(1, 1), claim(2, 3)), agrees=("agrees", "contradicts"), citations=None).cause()
    assert wrong is not None
    assert (wrong.name, wrong.component) == ("noise", "generation")
    assert wrong.decided_by == (
        "claim 2 is based on passage 3 but contradicts the reference; passage 1, a gold passage, ranks higher"
    )
    first = case(
        passages=passages("c", "a", "b"),
        met=((2,), (3,)),
        claims=(claim(1, 2), claim(2, 1)),
        agrees=("agrees", "contradicts"),
        citations=None,
    ).cause()
    assert first is not None
    assert (first.name, first.component) == ("noise", "retrieval")


# the passages, which hold the evidence, which the wrong claim stands in, words of the cause
GOLD_A: dict[str, Any] = {"relevant": (Relevant(("a",)),), "references": ("One.",)}
MISREAD: list[tuple[str, dict[str, Any], str]] = [
    (
        "one gold passage",
        {**GOLD_A, "passages": passages("a"), "met": ((1,),), "claims": (claim(1, 1),)},
        "which also contains the evidence",
    ),
    ("gold first of three", {**GOLD_A, "met": ((1,),), "claims": (claim(1, 1),)}, "passage 1"),
    (
        "gold last of three",
        {**GOLD_A, "passages": passages("c", "b", "a"), "met": ((3,),), "claims": (claim(1, 3),)},
        "passage 3",
    ),
    (
        "by labels alone",
        {**GOLD_A, "met": None, "claims": (claim(1, 1),)},
        "which contains the evidence according to the labels",
    ),
    ("by the judge alone", {**UNLABELLED, "met": ((2,),), "claims": (claim(1, 2),)}, "passage 2"),
    ("another passage says so too", {**GOLD_A, "met": ((1,),), "claims": (claim(1, 1, 3),)}, "misreads passage 1,"),
    ("an unlabelled copy holds the evidence too", {**GOLD_A, "met": ((1, 2),), "claims": (claim(1, 2),)}, "passage 2"),
    (
        "the part of the document with the labelled span",
        {
            **GOLD_A,
            "spans": (Span("a", 110, 120),),
            "met": ((1,),),
            "claims": (claim(1, 2),),
            "passages": tuple(Passage(f"p{n}", "a", "x", span=Span("a", 100 * n - 100, 100 * n)) for n in (1, 2)),
        },
        "passage 2",
    ),
]


@pytest.mark.parametrize(("what", "changes", "words"), MISREAD, ids=[row[0] for row in MISREAD])
def test_who_follows_the_passage_with_the_evidence_misread_it(what: str, changes: dict[str, Any], words: str) -> None:
    """A wrong answer from a passage that also holds the evidence is the generator's fault: no ranking mends it."""
    cause = case(**{"agrees": ("contradicts",), "stated": (False,), "citations": None, **changes}).cause()
    assert cause is not None
    assert (cause.name, cause.component) == ("wrong_answer", "generation")
    assert words in cause.decided_by
    assert "misreads passage" in cause.decided_by
    assert "ank" not in cause.fix


def test_another_part_of_the_gold_document_leads_astray_as_any_passage_does() -> None:
    """Of a document that came in several passages, only those with the evidence are misread; the others are noise."""
    two = passages("a", "a")
    cause = case(
        **GOLD_A,
        passages=two,
        met=((2,),),
        claims=(claim(1, 1),),
        agrees=("contradicts",),
        stated=(False,),
        citations=None,
    ).cause()
    assert cause is not None
    assert (cause.name, cause.component) == ("noise", "retrieval")


def test_no_ranking_advice_where_one_passage_was_handed_on() -> None:
    """With one passage, and nothing missed, no facts give noise: there is nothing to rank."""
    for met, supporting, labels in product((((1,),), ((),), None), ((), (1,)), (GOLD_A, UNLABELLED)):
        found = case(
            **{
                **labels,
                "references": ("One.",),
                "passages": passages("a"),
                "met": met,
                "stated": (False,),
                "claims": (claim(1, *supporting),),
                "agrees": ("contradicts",),
                "citations": None,
            }
        ).cause()
        assert found is not None
        assert found.name != "noise"


def test_which_passages_hold_the_evidence_has_to_be_known_for_noise() -> None:
    """A wrong claim from a passage is a wrong answer where nothing says that the evidence stood in another one."""
    cause = case(**UNLABELLED, met=None, agrees=("agrees", "contradicts")).cause()
    assert cause is not None
    assert (cause.name, cause.decided_by) == ("wrong_answer", "claim 2 contradicts the reference")
    assert "which passages contain the evidence" in cause.lacking


# what is known of a refusal that should not have been; words of the facts
UNTOLD: list[tuple[str, dict[str, Any], str]] = [
    ("the question can be answered", {"answerable": True}, "though the question is answerable, and nothing"),
    ("the passages were not recorded", {"passages": None, "relevant": (Relevant(("a",)),)}, "nothing shows"),
    ("the reference was not looked for", {"references": ("One.",), "failed": ("verify_reference",)}, "nothing shows"),
    ("a reference claim has no verdict", {"references": ("One. Two.",), "met": ((1,), None)}, "nothing shows"),
]


@pytest.mark.parametrize(("what", "changes", "words"), UNTOLD, ids=[row[0] for row in UNTOLD])
def test_refusal_is_unclear_where_nothing_tells_what_the_passages_hold(
    what: str, changes: dict[str, Any], words: str
) -> None:
    """Who declines may be right by its passages: that is retrieval's fault or the prompt's, and nobody knows which."""
    cause = case(**{**UNLABELLED, **NO_REFERENCE, **REFUSAL, "agrees": None, **changes}).cause()
    assert cause is not None
    assert (cause.name, cause.component) == ("", "unclear")
    assert words in cause.decided_by
    for remedy in ("a reference answer", "gold documents", "ragauge confirm"):
        assert remedy in cause.fix
        assert any(remedy in what for what in cause.lacking)


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"ratings": (False, True, False)}, "wrong_refusal"),  # by a verdict, not by a probability
        ({"ratings": (False, False, False)}, "retrieval_miss"),
        ({"passages": ()}, "empty_retrieval"),
        ({"relevant": (Relevant(("a",)),)}, "wrong_refusal"),
        ({"relevant": (Relevant(("z",)),)}, "retrieval_miss"),
        ({"references": ("One.",), "met": ((1,),)}, "wrong_refusal"),
        ({"references": ("One.",), "met": ((),)}, "retrieval_miss"),
        ({"answerable": False}, None),
    ],
)
def test_refusal_is_decided_where_something_tells(changes: dict[str, Any], name: str | None) -> None:
    """Labels, a reference that was looked for and plain verdicts on the passages decide a refusal as ever."""
    cause = case(**{**UNLABELLED, **NO_REFERENCE, **REFUSAL, "agrees": None, **changes}).cause()
    assert (cause and cause.name) == name


def test_every_row_is_covered() -> None:
    """Every row of the table has at least two cases above; not_in_index and unclear have their own tests."""
    names = [name for name, _, _ in APPLIES]
    assert {row.name for row in ROWS if names.count(row.name) < 2} == {"not_in_index", "unclear"}


# near misses: what is changed, what it is instead (None = it did not fail)
OTHERWISE: list[tuple[str, dict[str, Any], str | None]] = [
    ("nothing is wrong", {}, None),
    ("missed_refusal: correct refusal", {"answerable": False, **REFUSAL}, None),
    ("missed_refusal: answerable unknown", {"answerable": None}, None),
    ("empty_retrieval: correct refusal", {"answerable": False, "passages": (), **REFUSAL}, None),
    ("empty_retrieval: not recorded", {"passages": None, "met": None, "support_asked": False}, None),
    ("stale: the claim agrees", {"passages": OLD}, None),
    (
        "stale: another passage supports it too",
        {
            "passages": (*OLD, Passage("p3", "c", "x", updated_at=WAS)),
            "agrees": ("contradicts", "agrees"),
            "claims": (claim(1, 1, 3), claim(2, 2)),
        },
        "wrong_answer",
    ),
    ("stale: no dates", {"agrees": ("contradicts", "agrees")}, "wrong_answer"),
    (
        "stale: a day is not older than its hour",
        {
            "passages": (
                *passages("a"),
                Passage("p2", "b", "x", updated_at="2024-01-01"),
                Passage("p3", "b", "x", updated_at="2024-01-01T09:00"),
            ),
            "agrees": ("agrees", "contradicts"),
        },
        "wrong_answer",
    ),
    (
        "stale: a superseded document that is labelled holds the answer",
        {
            "passages": (Passage("p1", "a", "one", superseded_by="a-new"), *passages("b")),
            "met": ((1,), ()),
            "relevant": (Relevant(("a",)),),
        },
        "span_cut",
    ),
    (
        "stale: an old version does not explain the other document that was missed",
        {
            "relevant": (Relevant(("b-new",)), Relevant(("d",))),
            "met": ((), ()),
            "passages": (*passages("a"), Passage("p2", "b-old", "two", superseded_by="b-new")),
        },
        "retrieval_miss",
    ),
    (
        "stale: nothing says whether the old version holds the answer",
        {
            "relevant": (Relevant(("b-new",)),),
            "met": None,
            "agrees": None,
            "candidates": passages("a"),
            "passages": (*passages("a"), Passage("p2", "b-old", "two", superseded_by="b-new")),
        },
        "retrieval_miss",
    ),
    (
        "stale: the newest came as well",
        {
            "relevant": (Relevant(("b-new",)),),
            "met": ((1,), ()),
            "passages": (*passages("b-new"), Passage("p2", "b-old", "two", superseded_by="b-new")),
        },
        "span_cut",
    ),
    ("compound: all evidence found", {"claims": (claim(1, 1), claim(2))}, "hallucinated"),
    (
        "compound: no evidence found",
        {"passages": passages("c", "x"), "met": ((), ()), "claims": (claim(1), claim(2))},
        "retrieval_miss",
    ),
    (
        "compound: the rest is contradicted, not made up",
        {"passages": passages("a", "c"), "met": ((1,), ()), "claims": (claim(1, 1), claim(2, against=(1,)))},
        "retrieval_miss",
    ),
    ("retrieval_miss: another member of the group came", {"relevant": (Relevant(("b", "x")),)}, None),
    ("retrieval_miss: grade below 1", {"relevant": (Relevant(("a",)), Relevant(("x",), 0.5))}, None),
    ("retrieval_miss: the reference is all there", {**UNLABELLED}, None),
    (
        "retrieval_miss: one passage is relevant",
        {
            **UNLABELLED,
            **NO_REFERENCE,
            "ratings": (False, False, True),
            "address": "partly",
            "citations": None,
            "claims": (claim(1, 3),),
        },
        "incomplete",
    ),
    (
        "retrieval_miss: labels rule it out although all ratings are no",
        {**NO_REFERENCE, "ratings": (False, False, False), "address": "partly"},
        "incomplete",
    ),
    (
        "ranked_low: at the last rank handed on",
        {"passages": passages("a", "c"), "candidates": passages("a", "b", "c")},
        "lost_before_prompt",
    ),
    (
        "lost_before_prompt: one rank below",
        {"passages": passages("a", "c"), "candidates": passages("a", "c", "b")},
        "ranked_low",
    ),
    (
        "span_cut: covered by two passages with white space between",
        {"passages": (*PIECES, Passage("p3", "a", "z", span=Span("a", 102, 200))), "spans": (Span("a", 90, 110),)},
        None,
    ),
    (
        "span_cut: three characters are missing",
        {"passages": (*PIECES, Passage("p3", "a", "z", span=Span("a", 103, 200))), "spans": (Span("a", 90, 110),)},
        "span_cut",
    ),
    (
        "ranked_low: no candidate holds the span whole",
        {
            "passages": PIECES,
            "candidates": (*PIECES, Passage("p3", "a", "z", span=Span("a", 100, 200))),
            "spans": (Span("a", 90, 110),),
        },
        "span_cut",
    ),
    (
        "ranked_low: one of two spans is cut everywhere",
        {
            "passages": PIECES,
            "candidates": (*PIECES, Passage("p3", "a", "z", span=Span("a", 80, 200))),
            "spans": (Span("a", 90, 110), Span("b", 60, 70)),
        },
        "span_cut",
    ),
    ("span_cut: positions unknown", {"spans": (Span("a", 90, 110),)}, None),
    ("wrong_refusal: it answered", {"answerable": True}, None),
    ("off_topic: a refusal addresses nothing", {**REFUSAL}, "wrong_refusal"),
    ("contradicted: another passage supports it", {"claims": (claim(1, 1, against=(2,)), claim(2, 2))}, None),
    (
        "noise: the evidence is used",
        {"claims": (claim(1, 1, 3), claim(2, 3)), "address": "partly", "citations": None},
        "incomplete",
    ),
    (
        "noise: evidence cited is evidence used",
        {"claims": (claim(1, 3), claim(2, 3)), "address": "partly"},
        "misattributed",
    ),
    ("ignored: a citation is a use", {"claims": (claim(1), claim(2))}, "hallucinated"),
    (
        "ignored: there was no evidence",
        {**UNLABELLED, **NO_REFERENCE, "claims": (claim(1), claim(2)), "citations": None, "ratings": (False,) * 3},
        "retrieval_miss",
    ),
    ("ignored: no claims", {"claims": (), "citations": None, "agrees": (), "address": "partly"}, "incomplete"),
    (
        "hallucinated: the claim has no verdict",
        {"claims": (claim(1, 1), replace(claim(2), status="failed")), "address": "partly"},
        "incomplete",
    ),
    ("misattributed: on its own it is no failure", {"citations": (Citation(0, 4, "p3"),)}, None),
    (
        "misattributed: one of two citations is right",
        {"citations": (Citation(0, 4, "p3"), Citation(0, 4, "p1")), "address": "partly"},
        "incomplete",
    ),
    ("misattributed: the system does not cite", {"citations": None, "address": "partly"}, "incomplete"),
    (
        "misattributed: an unknown id is no passage",
        {"citations": (Citation(0, 4, "nine"),), "address": "partly"},
        "incomplete",
    ),
    (
        "incomplete: a sentence that could not be read may state it",
        {"stated": (True, False), "claims": (claim(1, 1), Claim(2, None, 5, 9, status="failed"))},
        None,
    ),
    ("wrong_answer: one of two is stated", {"stated": (False, True)}, "incomplete"),
    ("wrong_answer: whether the other is stated has no verdict", {"stated": (False, None)}, "incomplete"),
    ("wrong_answer: a refusal states nothing", {**REFUSAL}, "wrong_refusal"),
    (
        "wrong_answer: the claims are from nowhere",
        {"stated": (False, False), "agrees": ("absent", "absent"), "claims": (claim(1), claim(2, 2))},
        "hallucinated",
    ),
    ("labels only, all found", {**LABELS_ONLY}, None),
    ("nothing known at all", {**UNLABELLED, **LABELS_ONLY, "passages": None}, None),
]


@pytest.mark.parametrize(("what", "changes", "name"), OTHERWISE, ids=[what for what, _, _ in OTHERWISE])
def test_near_miss_is_something_else(what: str, changes: dict[str, Any], name: str | None) -> None:
    """A case that just misses a row falls to the next that applies, or did not fail."""
    cause = case(**changes).cause()
    assert (cause and cause.name) == name


def test_not_in_index_needs_a_listing() -> None:
    """A missed document that the index does not hold is not_in_index; without a listing the row is lacking."""
    missed = case(passages=passages("a", "c"), **LABELS_ONLY)
    absent = missed.cause(indexed={"a", "c"})
    assert absent is not None
    assert (absent.name, absent.decided_by) == ("not_in_index", "gold document b not in the index")
    assert (absent.second, absent.second_by) == ("", "")  # what is not in the index cannot be found
    listed = missed.cause(indexed={"a", "b", "c"})
    assert listed is not None
    assert listed.name == "retrieval_miss"
    unlisted = missed.cause()
    assert unlisted is not None
    assert "a listing of the index" in unlisted.lacking
    assert "a listing of the index" not in listed.lacking
    grouped = replace(missed, relevant=(Relevant(("x", "b")),)).cause(indexed={"x"})
    assert grouped is not None
    assert grouped.name == "retrieval_miss"


def test_order_of_the_table() -> None:
    """The rows stand in the order of the specification."""
    assert [row.name for row in ROWS] == [
        "system_failed",
        "unclear",
        "missed_refusal",
        "empty_retrieval",
        "stale_source",
        "compound",
        "not_in_index",
        "retrieval_miss",
        "ranked_low",
        "lost_before_prompt",
        "span_cut",
        "wrong_refusal",
        "off_topic",
        "contradicted",
        "noise",
        "ignored",
        "hallucinated",
        "wrong_answer",
        "misattributed",
        "incomplete",
    ]


def test_first_row_decides_and_the_next_is_the_second() -> None:
    """Repairing what decided brings out the next cause, down a chain; the second is the row that applies after it."""
    broken = case(
        passages=passages("a", "c"),
        candidates=passages("b", "a", "c"),
        met=((1,), ()),
        address="no",
        claims=(claim(1, 1), claim(2, against=(2,))),
        agrees=("contradicts", "absent"),
        stated=(True, False),
        citations=(Citation(0, 4, "b"),),
    )
    repairs: list[tuple[dict[str, Any], str, str]] = [
        ({}, "lost_before_prompt", "off_topic"),
        ({"passages": passages("a", "b")}, "span_cut", "off_topic"),
        ({"met": ((1,), (2,))}, "off_topic", "contradicted"),
        ({"address": "fully"}, "contradicted", "wrong_answer"),
        ({"claims": (claim(1, 3), claim(2, 2)), "citations": (Citation(0, 4, "b"),)}, "noise", "misattributed"),
        ({"claims": (claim(1, 1), claim(2, 2))}, "wrong_answer", "misattributed"),
        ({"agrees": ("agrees", "agrees")}, "misattributed", "incomplete"),
        ({"citations": (Citation(0, 4, "a"),)}, "incomplete", ""),
    ]
    for changes, name, second in repairs:
        broken = replace(broken, **changes)
        cause = broken.cause()
        assert cause is not None
        assert (cause.name, cause.second) == (name, second)
    assert replace(broken, stated=(True, True)).cause() is None


# a case, its cause, the second opinion, words of what decides that
TIES: list[tuple[str, dict[str, Any], str, str, str]] = [
    (
        "two documents are missed for different reasons",
        {
            "relevant": (Relevant(("a",)), Relevant(("b",)), Relevant(("d",))),
            "passages": passages("a", "c"),
            "candidates": passages("a", "c", "x", "d"),
            "met": None,
        },
        "retrieval_miss",
        "ranked_low",
        "gold document d at rank 4 of 4",
    ),
    (
        "one ranked low, one lost",
        {
            "relevant": (Relevant(("a",)), Relevant(("b",)), Relevant(("d",))),
            "passages": passages("a", "c"),
            "candidates": passages("b", "a", "c", "d"),
            "met": ((1,), ()),
        },
        "ranked_low",
        "lost_before_prompt",
        "gold document b at rank 1",
    ),
    (
        "a document is missed, and what came is contradicted",
        {
            "passages": passages("a", "c"),
            "candidates": passages("a", "c", "x"),
            "met": ((1,), ()),
            "claims": (claim(1, against=(1,)),),
            "agrees": ("contradicts",),
            "stated": (False, False),
            "citations": None,
        },
        "retrieval_miss",
        "contradicted",
        "1 of 1 claim contradicted",
    ),
    (
        "nothing was found, and the answer is from nowhere",
        {"passages": (), "met": ((), ()), "claims": (claim(1), claim(2)), "citations": None},
        "empty_retrieval",
        "hallucinated",
        "2 of 2 claims",
    ),
    (
        "every document is missed, and the answer is from nowhere",
        {
            "passages": passages("c", "x"),
            "met": ((), ()),
            "claims": (claim(1),),
            "agrees": ("absent",),
            "citations": None,
        },
        "retrieval_miss",
        "hallucinated",
        "1 of 1 claim",
    ),
    (
        "compound, and another claim contradicts",
        {
            "passages": passages("a", "c"),
            "met": ((1,), ()),
            "claims": (claim(1, against=(1,)), claim(2)),
            "citations": None,
        },
        "compound",
        "contradicted",
        "claim 1 by passage 1",
    ),
    (
        "one claim is contradicted, one made up",
        {"claims": (claim(1, against=(1,)), claim(2)), "stated": (True, True), "citations": None},
        "contradicted",
        "hallucinated",
        "1 of 2 claims in no passage (claim 2)",
    ),
    (
        "the outdated version came, and the new one was found too far down",
        {
            "relevant": (Relevant(("b-new",)),),
            "met": ((), ()),
            "candidates": passages("a", "b-old", "x", "b-new"),
            "passages": (*passages("a"), Passage("p2", "b-old", "two", superseded_by="b-new")),
        },
        "stale_source",
        "ranked_low",
        "gold document b-new at rank 4 of 4",
    ),
    (
        "a part was there and not stated, another was missed",
        {
            "passages": passages("a", "c"),
            "candidates": passages("a", "c"),
            "met": ((1,), ()),
            "claims": (claim(1, 1),),
            "agrees": ("absent",),
            "stated": (False, False),
            "citations": None,
        },
        "retrieval_miss",
        "incomplete",
        "1 of 2 reference claims and leaves out “r1”",
    ),
    (
        "wrong citations, and a part left out",
        {"citations": (Citation(0, 4, "p3"),), "address": "partly"},
        "misattributed",
        "incomplete",
        "only part",
    ),
]

# what the cause explains is no second cause
EXPLAINED: list[tuple[str, dict[str, Any], str]] = [
    ("the system failed, so that nothing came", {"error": "boom", "passages": (), "answer": None}, "system_failed"),
    (
        "an answer that should not be there is unsupported",
        {"answerable": False, "relevant": None, "claims": (claim(1), claim(2)), "citations": None},
        "missed_refusal",
    ),
    ("nothing was found, and the system says so", {"passages": (), "met": ((), ()), **REFUSAL}, "empty_retrieval"),
    (
        "a document is missed, and the system says so",
        {"passages": passages("c"), "met": ((), ()), **REFUSAL},
        "retrieval_miss",
    ),
    (
        "a document is missed, and so is what it says",
        {
            "passages": passages("a"),
            "candidates": passages("a"),
            "met": ((1,), ()),
            "claims": (claim(1, 1),),
            "agrees": ("agrees",),
            "stated": (True, False),
            "address": "partly",
            "citations": None,
        },
        "retrieval_miss",
    ),
    (
        "a claim on outdated passages contradicts the reference, which is then not stated",
        {"passages": OLD, "agrees": ("contradicts", "agrees"), "stated": (False, True)},
        "stale_source",
    ),
    ("a refusal states nothing", REFUSAL, "wrong_refusal"),
    (
        "another topic states nothing",
        {"address": "no", "agrees": ("absent", "absent"), "stated": (False, False)},
        "off_topic",
    ),
    (
        "a contradicted claim stands where a right one belongs",
        {"claims": (claim(1, 1), claim(2, against=(2,))), "agrees": ("agrees", "contradicts"), "stated": (True, False)},
        "contradicted",
    ),
    (
        "an answer without passages has no support",
        {
            "claims": (claim(1), claim(2)),
            "citations": None,
            "agrees": ("absent", "absent"),
            "stated": (False, False),
            "address": "partly",
        },
        "ignored",
    ),
    (
        "compound: both halves are in its name",
        {
            "passages": passages("a", "c"),
            "met": ((1,), ()),
            "claims": (claim(1, 1), claim(2)),
            "agrees": ("agrees", "absent"),
            "stated": (True, False),
            "citations": None,
        },
        "compound",
    ),
]


@pytest.mark.parametrize(("what", "changes", "name", "second", "words"), TIES, ids=[row[0] for row in TIES])
def test_two_causes_tie(what: str, changes: dict[str, Any], name: str, second: str, words: str) -> None:
    """Where another cause would be left with the first mended, it is the second opinion, with its own facts."""
    cause = case(**changes).cause()
    assert cause is not None
    assert (cause.name, cause.second) == (name, second)
    assert words in cause.second_by


@pytest.mark.parametrize(("what", "changes", "name"), EXPLAINED, ids=[row[0] for row in EXPLAINED])
def test_no_second_cause_in_what_the_first_explains(what: str, changes: dict[str, Any], name: str) -> None:
    """Whatever follows from the cause is not named beside it."""
    cause = case(**changes).cause()
    assert cause is not None
    assert (cause.name, cause.second, cause.second_by) == (name, "", "")


def test_compound_names_both_halves() -> None:
    """A compound failure says which row its retrieval half is, and which claims come from nowhere."""
    halves = {
        "retrieval_miss": {"candidates": passages("a", "c")},
        "ranked_low": {"candidates": passages("a", "c", "b")},
        "lost_before_prompt": {"candidates": passages("b", "a")},
    }
    for half, changes in halves.items():
        cause = case(passages=passages("a", "c"), met=None, claims=(claim(1, 1), claim(2)), **changes).cause()
        assert cause is not None
        assert cause.name == "compound"
        assert cause.decided_by.startswith(f"{half} and hallucinated at once: 1 of 2 gold documents were found")
        assert "gold document b" in cause.decided_by
        assert cause.decided_by.endswith("claim 2 has no support in any passage")
    cut = case(met=((1,), ()), claims=(claim(1, 1), claim(2))).cause()
    assert cut is not None
    assert cut.decided_by.startswith("span_cut and hallucinated at once: the passages contain 1 of 2 reference claims")


def unlikely(drawn: Case, answer_p: tuple[float, ...], reference_p: tuple[float, ...]) -> Cause | None:
    """The cause where the judge of support has but probabilities."""
    facts = drawn.facts()
    answer, reference = (facts.evidence[name] for name in ("verify_answer", "verify_reference"))
    assert isinstance(answer.facts, AnswerFacts)
    assert isinstance(reference.facts, ReferenceFacts)
    mine = tuple(replace(one, p=p) for one, p in zip(answer.facts.claims, answer_p, strict=True))
    theirs = tuple(replace(one, p=p) for one, p in zip(reference.facts.claims, reference_p, strict=True))
    evidence = {
        "verify_answer": replace(answer, facts=replace(answer.facts, claims=mine)),
        "verify_reference": replace(reference, facts=replace(reference.facts, claims=theirs)),
    }
    return attribute_failure(replace(facts, evidence={**facts.evidence, **evidence}))


def test_answer_and_reference_that_say_the_same_stand_or_fall_together() -> None:
    """A claim that agrees with a reference that is there is not made up, nor is missing what a supported answer states.

    That holds for probabilities alone: a plain verdict stands, and so does a contradiction.
    """
    said = {"references": ("Claim 1 and claim 2.",), "answer": "Claim 1 and claim 2, r1 and r2."}
    bare = {"claims": (claim(1), claim(2)), "citations": None, **said}
    assert unlikely(case(**bare), (0.25, 0.25), (0.9, 0.9)) is None
    plain = case(**bare).cause()
    assert plain is not None
    assert plain.name == "ignored"
    against = unlikely(case(claims=(claim(1, 1), claim(2, against=(2,)))), (0.9, 0.1), (0.9, 0.9))
    assert against is not None
    assert against.name == "contradicted"
    assert unlikely(case(met=((), ()), citations=None, **said), (0.9, 0.9), (0.25, 0.25)) is None
    more = unlikely(case(**{**bare, "references": ("Claim 3.",)}), (0.25, 0.25), (0.9, 0.9))  # than the reference
    assert more is not None
    missing = unlikely(case(met=((), ()), claims=(claim(1), claim(2)), citations=None), (0.25, 0.25), (0.25, 0.25))
    assert missing is not None
    assert (missing.name, missing.component) == ("", "unclear")  # which of both is at fault, and not that neither is


def test_reference_that_says_more_than_the_documents() -> None:
    """What is in no passage may be cut away or never have been there; where every labelled span came, it is not cut.

    Without labelled spans the cause is a guess and says so.
    """
    for met in ((1,), ()), ((), ()):
        cut = case(met=met).cause()
        assert cut is not None
        assert (cut.name, cut.basis) == ("span_cut", "guess")
        assert "they were cut off, or the reference says more than the documents" in cut.decided_by
        assert "gold spans: the location of the evidence in the documents" in cut.lacking
    filled = case(met=((1,), ()), claims=(claim(1, 1), claim(2))).cause()
    assert filled is not None
    assert (filled.name, filled.basis) == ("compound", "guess")
    whole = case(met=((1,), ()), passages=PIECES, spans=(Span("a", 10, 20), Span("b", 0, 50)), citations=None).cause()
    assert whole is not None
    assert whole.name == ""
    assert "where reference claim 2 should be found: every gold span was retrieved" in whole.lacking
    made_up = case(
        met=((1,), ()), passages=PIECES, spans=(Span("a", 10, 20),), claims=(claim(1, 1), claim(2)), citations=None
    ).cause()
    assert made_up is not None
    assert made_up.name == "hallucinated"  # not compound: no part of the evidence is missing
    elsewhere = case(met=((1,), ()), spans=(Span("a", 10, 20),)).cause()
    assert elsewhere is not None
    assert "where the passages are located in their documents" in elsewhere.lacking


def test_lacking_names_what_was_not_known() -> None:
    """Rows without their facts are skipped and named; rows that known facts rule out are not."""
    labels = case(passages=passages("a", "c"), **LABELS_ONLY).cause()
    assert labels is not None
    assert labels.name == "retrieval_miss"
    assert set(labels.lacking) == {
        "answer not recorded",
        "a listing of the index",
        "candidates (the ranking before the cutoff) were not recorded",
    }
    known = case(passages=passages("a", "c"), candidates=passages("a", "c"), agrees=None, met=None).cause(indexed={"b"})
    assert known is not None
    assert known.lacking == ()
    timed_out = case(failed=("verify_answer",), stated=(True, False), agrees=("agrees", "agrees")).cause()
    assert timed_out is not None
    assert timed_out.name == "incomplete"
    assert timed_out.lacking == ("time-out",)


def test_nothing_decides_but_it_failed() -> None:
    """A failed example that no row fits is unclear: no cause, the sign of failure and what is lacking."""
    # claim 1 contradicts the reference; no verdict says whether a passage supports it
    only = case(
        **UNLABELLED,
        agrees=("contradicts", "agrees"),
        support_asked=False,
        passages=None,
        met=None,
        citations=None,
        claims=(claim(1), claim(2)),
    )
    cause = attribute_failure(only.facts(), {"context_recall": MetricResult("failed", reason="2 verdicts missing")})
    assert cause is not None
    assert (cause.name, cause.component, cause.second, cause.basis) == ("", "unclear", "", "")
    assert "contradicts part of the reference" in cause.decided_by
    assert "passages not recorded" in cause.lacking
    assert "context_recall: 2 verdicts missing" in cause.lacking


def test_requested_metrics_do_not_matter() -> None:
    """The same facts give the same cause whatever was measured."""
    for _, changes, _ in APPLIES:
        facts = case(**changes).facts()
        assert attribute_failure(facts) == attribute_failure(facts, {"faithfulness": MetricResult("scored", 0.0)})


numbers = st.lists(st.integers(1, 3), max_size=3, unique=True).map(tuple)
any_claims = st.lists(
    st.builds(
        lambda supporting, against, status: (supporting, against, status),
        numbers,
        numbers,
        st.sampled_from(["ok", "ok", "failed"]),
    ),
    max_size=3,
)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Any evidence, labels and record, perfect or broken."""
    drawn = draw(any_claims)
    claims = tuple(
        replace(claim(n, *(s if status == "ok" else ()), against=x if status == "ok" else ()), status=status)
        for n, (s, x, status) in enumerate(drawn, 1)
    )
    agreement = st.lists(
        st.sampled_from(["agrees", "contradicts", "absent", None]), min_size=len(claims), max_size=len(claims)
    )
    met = draw(st.none() | st.lists(st.none() | numbers, min_size=2, max_size=2).map(tuple))
    bits = st.sampled_from([True, False, None])
    docs = st.lists(st.sampled_from("abcx"), max_size=3).map(lambda d: passages(*d))
    return case(
        answerable=draw(bits),
        relevant=draw(st.sampled_from([None, Case().relevant, (Relevant(("a", "x")),)])),
        passages=draw(st.none() | docs),
        candidates=draw(st.none() | docs),
        claims=draw(st.sampled_from([None, claims])),
        address=draw(st.sampled_from(["fully", "partly", "no", None])),
        refuse=draw(bits),
        met=met,
        ratings=draw(st.none() | st.lists(bits, min_size=3, max_size=3).map(tuple)),
        agrees=draw(st.none() | agreement.map(tuple)),
        stated=draw(st.lists(bits, min_size=2, max_size=2).map(tuple)),
        error=draw(st.sampled_from([None, None, None, "boom"])),
        failed=draw(st.sampled_from([(), (), ("verify_answer",), ("agree", "verify_reference")])),
    )


@given(cases())
@settings(deadline=None)
def test_attribution_is_total_and_sound(drawn: Case) -> None:
    """Any facts get a known cause or none; correct refusals never fail; a system error always does."""
    cause = drawn.cause()
    if cause is not None:
        order = [row.name for row in ROWS]
        assert cause.name in ("", *order)
        assert cause.decided_by
        if cause.second:
            assert order.index(cause.second) > order.index(cause.name)
    if drawn.error:
        assert cause is not None
        assert cause.name == "system_failed"
    elif drawn.answerable is False and drawn.refuse and drawn.claims is not None and not drawn.failed:
        assert cause is None


@given(cases())
@settings(deadline=None)
def test_a_lost_verdict_never_makes_an_example_fail(drawn: Case) -> None:
    """Losing all of a question's verdicts never turns a good example into a failed one, correct refusals aside."""
    if drawn.cause() is not None or (drawn.answerable is False and drawn.refuse):
        return
    for question in ("verify_answer", "verify_reference", "rate_passages", "agree"):
        assert replace(drawn, failed=(*drawn.failed, question)).cause() is None


@given(cases())
@settings(deadline=None)
def test_a_wrong_answer_states_nothing_and_an_incomplete_one_something(drawn: Case) -> None:
    """Where an answer is wrong every reference claim is unstated; where it is incomplete not all are."""
    cause = drawn.cause()
    if cause is not None and cause.name == "wrong_answer":
        assert set(drawn.stated) == {False}
    if cause is not None and cause.name == "incomplete" and "reference claims" in cause.decided_by:
        assert set(drawn.stated) != {False} or None in (drawn.met or (None,)) or () in (drawn.met or ())


SURENESS = ("guess", "judge", "labels", "record")
WITHOUT: dict[str, dict[str, Any]] = {
    "ratings": {"ratings": None},
    "labels": {"relevant": None, "spans": None, "answerable": None},
    "reference": NO_REFERENCE,
}
UNSURE = {  # as many verdicts that are but probabilities
    "claims": (replace(claim(1, 1), p=0.5), replace(claim(2), p=0.05)),
    "citations": None,
}


def likely(drawn: Case, ratings: bool, claims: bool) -> Facts:
    """The facts with probabilities on the ratings, on the claims, or on both."""
    facts = drawn.facts()
    changed = dict(facts.evidence)
    rated, said = changed.get("rate_passages"), changed.get("verify_answer")
    if ratings and rated is not None and isinstance(rated.facts, RelevanceFacts):
        with_p = tuple(replace(one, p=0.6 if one.relevant else 0.1) for one in rated.facts.ratings)
        changed["rate_passages"] = replace(rated, facts=replace(rated.facts, ratings=with_p))
    if claims and said is not None and isinstance(said.facts, AnswerFacts):
        sure = tuple(replace(one, p=0.9 if one.supporting else 0.1) for one in said.facts.claims)
        changed["verify_answer"] = replace(said, facts=replace(said.facts, claims=sure))
    return replace(facts, evidence=changed)


@given(cases(), st.booleans(), st.booleans(), st.lists(st.sampled_from(sorted(WITHOUT)), min_size=1, unique=True))
@settings(deadline=None)
def test_with_fewer_facts_a_cause_is_never_surer(drawn: Case, ratings: bool, claims: bool, gone: list[str]) -> None:
    """Taking away ratings, labels or the reference never raises the basis of a cause, nor its probability."""
    fewer = replace(drawn, **{name: value for one in gone for name, value in WITHOUT[one].items()})
    whole = attribute_failure(likely(drawn, ratings, claims))
    left = attribute_failure(likely(fewer, ratings, claims))
    if whole is None or left is None or whole.name != left.name or not whole.name:
        return
    if whole.name == "compound" and whole.basis == "guess":
        return  # labels speak against it: all documents came
    assert SURENESS.index(left.basis) <= SURENESS.index(whole.basis)
    if whole.name == "hallucinated":
        assert left.p <= whole.p


@pytest.mark.parametrize("unsure", [{}, UNSURE], ids=["verdicts", "probabilities"])
def test_a_hallucination_is_a_guess_where_nothing_says_that_the_evidence_was_there(unsure: dict[str, Any]) -> None:
    """No labels, reference or plain ratings: a guess, whatever else the judge gave; with one of them it is none."""
    made = {"claims": (claim(1, 1), claim(2)), "citations": None, **unsure}
    bare = {**made, **UNLABELLED, **NO_REFERENCE}
    for one in (case(**bare), case(**bare, ratings=(True, None, True)), case(**bare, address="partly")):
        cause = one.cause()
        assert cause is not None
        assert (cause.name, cause.basis) == ("hallucinated", "guess")
        assert any("relevance labels or a reference" in what for what in cause.lacking)
    rated = case(**bare, ratings=(True, True, False)).cause()
    assert rated is not None
    assert rated.basis == ("guess" if unsure else "judge")
    other = {**made, "agrees": ("agrees", "absent")}  # what agrees with a reference that is there is not made up
    for known in (case(**other), case(**other, **UNLABELLED), case(**made, **NO_REFERENCE)):
        cause = known.cause()
        assert cause is not None
        assert (cause.name, cause.basis) == ("hallucinated", "judge")


def test_attribution_is_fast(own_time: OwnTime) -> None:
    """A mix of good and failed examples takes below 100 microseconds of computing each."""
    every = [case(**changes).facts() for _, changes, _ in APPLIES] + [Case().facts()] * len(APPLIES)
    own_time.within(100e-6 * len(every), lambda: [attribute_failure(facts) for facts in every])


@pytest.mark.parametrize(
    ("answerable", "refuse", "shown_by"),
    [(True, True, "label and judge"), (None, True, "judge"), (False, False, "label and judge"), (False, True, None)],
)
def test_a_refusal_held_against_a_label_is_not_the_judges_word_alone(
    answerable: bool | None, refuse: bool, shown_by: str | None
) -> None:
    """A wrong or missed refusal is shown by label and judge where the set says what is right, else by the judge."""
    facts = AnswerFacts((), "fully", refuse)
    found = {"verify_answer": Evidence("k", "verify_answer", 1, "j", "ok", facts)}
    asked = Example("q1", "Why?", answerable=answerable)
    cause = attribute_failure(Facts(asked, Response("q1", passages=(), answer="So."), found))
    assert (cause and cause.shown_by) == shown_by


def test_evidence_without_recorded_passages_has_no_compound() -> None:
    """A part of the reference was met but no passage was recorded: no half of a compound is to blame."""
    made = {"claims": (claim(1),), "citations": None, "answer": "One. Two.", "met": ((), (1,)), "refuse": True}
    cause = case(**made, **UNLABELLED, passages=None, candidates=None).cause()
    assert cause is None or cause.name != "compound"
