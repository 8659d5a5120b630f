"""Claims that are parts of a sentence: what they are, and how they are weighed."""

from __future__ import annotations

import pytest

from ragauge.core.ask import Reply
from ragauge.core.facts import AnswerFacts, Claim
from ragauge.core.response import Citation
from ragauge.judges.inputs import VerifyAnswer
from ragauge.judges.judge import answer_asks
from ragauge.judges.local.verify_answer import verify_answer
from ragauge.metrics.specifics import list_targets

MILL = (
    "The Orrin mill was built in 1850 by masons from Leeds and supplies flour to three villages. "
    "Its wheel has forty paddles of oak and turns eight times a minute."
)
WEIR = "The weir above the pond keeps the water high in summer. Eels climb it in May."
INVENTED = [
    "The Orrin mill, which hosts a yearly accordion festival, was built in 1850 by masons from Leeds.",
    "The Orrin mill, a favourite of Norwegian divers, was built in 1850 by masons from Leeds.",
    "The Orrin mill, leaving several tourists breathless, was built in 1850 by masons from Leeds.",
    "The Orrin mill was built in 1850 by masons from Leeds and hosts a yearly accordion festival.",
    "The Orrin mill was built in 1850 by masons from Leeds because the duke had lost a wager.",
    "After the duke had lost a wager, the Orrin mill was built in 1850 by masons from Leeds.",
    "The Orrin mill was built in 1850 by masons from Leeds; the duke owned seven parrots.",
]


def verified(answer: str, *passages: str) -> tuple[Claim, ...]:
    """The claims of an answer beside these passages."""
    asked = VerifyAnswer("", passages, answer)
    facts = answer_asks(verify_answer(asked), lambda asks: [Reply("failed", reason="no vectors") for _ in asks])
    assert isinstance(facts, AnswerFacts)
    return facts.claims


@pytest.mark.parametrize("answer", INVENTED)
def test_an_invented_clause_is_a_claim_that_nothing_supports(answer: str) -> None:
    """Put into a copied sentence, it is found as a claim of its own, and the copied part stays supported."""
    claims = verified(answer, MILL, WEIR)
    assert sorted(claim.label or "" for claim in claims) == ["not_in_context", "supported"]
    invented = next(claim for claim in claims if claim.label == "not_in_context")
    assert invented.p is not None
    assert invented.p < 0.5
    assert "masons" not in answer[invented.start : invented.end]


def test_the_clauses_of_a_copy_are_supported() -> None:
    """A sentence taken as it is makes several claims, numbered through, and each has its passage."""
    claims = verified(MILL, MILL, WEIR)
    assert [(claim.n, claim.text, claim.supporting) for claim in claims] == [
        (1, "The Orrin mill was built in 1850 by masons from Leeds", (1,)),
        (2, "The Orrin mill supplies flour to three villages", (1,)),
        (3, "Its wheel has forty paddles of oak", (1,)),
        (4, "Its wheel turns eight times a minute", (1,)),
    ]


@pytest.mark.parametrize(
    ("was", "now", "part"),
    [("1850", "1870", 0), ("Leeds", "Porto", 0), ("supplies", "does not supply", 1), ("three", "five", 1)],
)
def test_an_altered_clause_is_the_one_contradicted(was: str, now: str, part: int) -> None:
    """One thing altered in a long copy is seen by the whole sentence, and blamed on the clause that says it."""
    sentence = MILL.partition(" Its")[0]
    claims = verified(sentence.replace(was, now), MILL, WEIR)
    assert [n for n, claim in enumerate(claims) if claim.label == "contradicted"] == [part]


def test_a_citation_at_the_end_speaks_for_every_clause() -> None:
    """A citation belongs to the sentence that it stands in, whichever of its clauses it follows."""
    answer = "The Orrin mill was built in 1850 by masons from Leeds and supplies flour to three villages [1]."
    claims = verified(answer, MILL, WEIR)
    cited = [Citation(answer.index("["), answer.index("]") + 1, "mill")]
    assert len(claims) == 2
    assert [list_targets(claim, cited) for claim in claims] == [("mill",), ("mill",)]


def test_a_label_follows_its_probability() -> None:
    """A part is supported exactly from one half on, and names the passages that bear it out."""
    for answer in [*INVENTED, MILL, f"{WEIR} {INVENTED[0]}"]:
        for claim in verified(answer, MILL, WEIR):
            assert claim.p is not None
            assert (claim.p >= 0.5) == bool(claim.supporting)


def test_without_passages_every_clause_is_unsupported() -> None:
    """No passages bear out nothing, at probability 0."""
    claims = verified(MILL)
    assert [(claim.label, claim.p) for claim in claims] == [("not_in_context", 0.0)] * 4
