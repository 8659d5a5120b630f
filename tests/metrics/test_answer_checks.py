"""format_ok, answer_tokens, citation_presence and invented_citations: checks that ask nothing."""

from __future__ import annotations

import pytest
from tests.building import example, passage, response

from ragauge.core.errors import UnknownName, UsageError
from ragauge.metrics.base import MetricResult
from ragauge.metrics.catalogue import parse_metric, select_metrics
from ragauge.metrics.facts import Facts
from ragauge.metrics.measure import measure_metric
from ragauge.text.patterns import register_pattern


def scored(name: str, answer: str | None, **rest: object) -> MetricResult:
    passages = [passage("d1", passage_id="p1"), passage("d2", passage_id="p2")]
    facts = Facts(example(), response(rest.pop("passages", passages), answer, **rest))  # type: ignore[arg-type]  # any field
    return measure_metric(parse_metric(name), facts)


def test_format_by_name() -> None:
    """format_ok asks for the named form."""
    assert scored("format_ok:pattern=json", '{"a": 1}').value == 1
    assert scored("format_ok:pattern=json", "a: 1").value == 0
    assert scored("format_ok:pattern=single_sentence", "One. Two.").value == 0


def test_format_of_the_users() -> None:
    """A pattern from the configuration is asked for by its name, which parses back."""
    register_pattern("test.order", r"\AOrder \d+\Z")
    (metric,) = select_metrics(["format_ok:pattern=test.order"])
    assert str(metric) == "format_ok:pattern=test.order"
    assert measure_metric(metric, Facts(example(), response(answer="Order 66"))).value == 1
    assert measure_metric(metric, Facts(example(), response(answer="An Order 66"))).value == 0


def test_pattern_is_required_and_known() -> None:
    """Without a pattern, and with one that does not exist, it is a usage error before anything runs."""
    with pytest.raises(UsageError, match="format_ok needs pattern"):
        parse_metric("format_ok")
    with pytest.raises(UnknownName, match="nearest: json"):
        select_metrics(["format_ok:pattern=jsn"])


def test_answer_tokens_are_counted() -> None:
    """answer_tokens is the length in cl100k tokens; an empty answer has none, a missing one no value."""
    assert scored("answer_tokens", "tiktoken is great!").value == 6  # as OpenAI's cookbook prints
    assert scored("answer_tokens", "").value == 0
    assert scored("answer_tokens", None).status == "not_applicable"


def test_citation_presence() -> None:
    """An answer of a citing system has a citation or not; a system that never cites has no value."""
    assert scored("citation_presence", "It is.", citations=[(0, 5, "p9")]).value == 1
    assert scored("citation_presence", "It is.", citations=[]).value == 0
    result = scored("citation_presence", "It is.", citations=None)
    assert (result.status, result.reason) == ("not_applicable", "the system does not cite")


def test_case_23_invented_citation_is_counted() -> None:
    """A citation of [9] names nothing that was handed on; one of a passage or its document does."""
    citations = [(0, 5, "p1"), (0, 5, "d2"), (6, 9, "9"), (6, 9, "9")]
    result = scored("invented_citations", "It is so.", citations=citations)
    assert (result.numerator, result.denominator) == (2, 4)


def test_invented_citations_without_value() -> None:
    """No citation is undefined; passages not recorded, and a system that does not cite, are not_applicable."""
    assert scored("invented_citations", "It is.", citations=[]).status == "undefined"
    assert scored("invented_citations", "It is.", citations=None).status == "not_applicable"
    assert scored("invented_citations", "It is.", citations=[(0, 1, "p1")], passages=None).status == "not_applicable"


def test_citing_without_passages_invents_everything() -> None:
    """With nothing retrieved every citation is invented."""
    assert scored("invented_citations", "It is.", citations=[(0, 1, "p1")], passages=0).value == 1
