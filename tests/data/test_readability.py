"""What a judge can read is told by control pairs alone."""

import pytest

from ragauge.core.example import Example
from ragauge.core.facts import AnswerFacts, Evidence, Rating, RelevanceFacts
from ragauge.core.response import Controls, ControlScale, Passage, Readability, Response
from ragauge.metrics.catalogue import parse_metric
from ragauge.metrics.facts import Facts
from ragauge.metrics.measure import measure_metric

LOW, HIGH = tuple(n / 100 for n in range(20)), tuple(0.8 + n / 200 for n in range(20))
READABLE, BLIND = ControlScale(HIGH, LOW), ControlScale((0.996,) * 20, (0.976,) * 20)


def test_a_scale_that_orders_at_its_end_is_not_readable() -> None:
    """AUROC alone does not make a scale readable: its ends have to lie apart, and there have to be enough pairs."""
    assert READABLE.is_readable
    assert BLIND.auroc == 1.0
    assert not BLIND.is_readable
    assert not ControlScale(HIGH[:19], LOW).is_readable
    assert not ControlScale(LOW, HIGH).is_readable


def test_auroc_counts_ties_half() -> None:
    """Equal scores are won by neither side."""
    assert ControlScale((0.5, 0.5), (0.5,)).auroc == 0.5
    assert ControlScale((0.2, 0.9), (0.5,)).auroc == 0.5


def test_share_of_no_counts_equal_scores() -> None:
    """The share of known-no pairs at or above a score: all of them at their lowest, none above their highest."""
    assert READABLE.compute_known_no_share(0.0) == 1.0
    assert READABLE.compute_known_no_share(0.19) == pytest.approx(0.05)
    assert READABLE.compute_known_no_share(0.2) == 0.0


def test_readability_of_a_response_follows_its_texts() -> None:
    """Language and layout of the passages choose the scales; address has the scale of query and answer."""
    controls = Controls({("relevance", "de", "prose"): READABLE, ("address", "en", "prose"): READABLE})
    german = Passage("p", "d", "Die Brücke wurde im Jahr 1931 von der Stadt gebaut und ist sehr lang.")
    response = Response("q", passages=(german,))
    reading = controls.build_readability(Example("q", "When was the bridge built by the city?"), response)
    assert (reading.language, reading.layout) == ("mixed", "prose")
    assert reading.can_read("address")
    assert not reading.can_read("relevance")
    own = controls.build_readability(Example("q", "Wann wurde die Brücke von der Stadt gebaut?"), response)
    assert own.language == "de"
    assert own.can_read("relevance")


@pytest.mark.parametrize(
    ("reading", "status"), [(Readability("ko", "prose", {"relevance": BLIND}), "not_read"), (None, "scored")]
)
def test_a_fact_that_cannot_be_read_is_no_score(reading: Readability | None, status: str) -> None:
    """A metric of a fact that the judge cannot read is not read, with the language in its reason."""
    evidence = Evidence("k", "rate_passages", 1, "local", "ok", RelevanceFacts((Rating(1, True, p=0.99),)))
    response = Response("q", passages=(Passage("p", "d", "text"),), answer="a")
    facts = Facts(Example("q", "Who sails?"), response, {"rate_passages": evidence}, readability=reading)
    measured = measure_metric(parse_metric("context_precision"), facts)
    assert measured.status == status
    assert "language ko" in measured.reason or reading is None


def test_answer_relevance_is_not_read_where_address_is_not() -> None:
    """Where control answers to other questions score as right ones do, no score says that an answer addresses one."""
    answer = AnswerFacts((), "fully", False, address_p=(0.9, 0.05, 0.05))
    evidence = {"verify_answer": Evidence("k", "verify_answer", 1, "local", "ok", answer)}
    response = Response("q", passages=(Passage("p", "d", "text"),), answer="a")
    for scale, status in ((READABLE, "scored"), (BLIND, "not_read")):
        reads = Readability("ko", "cells", {"address": scale})
        facts = Facts(Example("q", "Who?"), response, evidence, readability=reads)
        measured = measure_metric(parse_metric("answer_relevance"), facts)
        assert measured.status == status
    assert "cell" not in measured.reason  # of the passages, which nobody looked at


def test_empty_retrieval_needs_no_reading() -> None:
    """Where nothing was retrieved there is nothing to read: support by no passage is known in every language."""
    evidence = Evidence("k", "verify_answer", 1, "local", "ok", AnswerFacts((), "fully", False))
    response, reading = Response("q", passages=(), answer="a"), Readability("ko", "prose")
    facts = Facts(Example("q", "?"), response, {"verify_answer": evidence}, readability=reading)
    assert measure_metric(parse_metric("faithfulness"), facts).status == "undefined"
