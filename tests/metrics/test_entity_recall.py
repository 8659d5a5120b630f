"""Names, numbers and dates of the reference that were retrieved."""

from __future__ import annotations

from tests.building import example, passage, response

from ragauge.metrics.base import MetricResult
from ragauge.metrics.catalogue import parse_metric
from ragauge.metrics.facts import Facts
from ragauge.metrics.measure import measure_metric


def scored(reference: str | None, *texts: str) -> MetricResult:
    about = example(*([reference] if reference else []))
    passages = [passage(f"d{n}", text) for n, text in enumerate(texts, 1)]
    return measure_metric(parse_metric("entity_recall"), Facts(about, response(passages)))


def test_share_of_distinct_entities() -> None:
    """Two of four distinct entities stand in the passages, in whatever spelling; repetition does not count."""
    reference = "Jane Roe founded ACME Corp. on 3 May 2020 with 7 boats. Jane Roe sold it."
    assert scored(reference, "Acme Corp was founded on 2020-05-03.").value == 2 / 4


def test_spread_over_passages() -> None:
    """Entities may stand in different passages."""
    assert scored("Jane Roe met John Doe.", "Here is Jane Roe.", "There is John Doe.").value == 1


def test_short_reference_is_an_entity() -> None:
    """A reference of one capitalised word is a name."""
    assert scored("Paris", "The capital is Paris.").value == 1
    assert scored("Paris", "The capital is Lyon.").value == 0


def test_nothing_retrieved_is_zero() -> None:
    """An empty retrieval recalls nothing."""
    assert scored("Jane Roe met John Doe.").value == 0


def test_not_applicable_without_entities_or_reference() -> None:
    """A reference without entities, and no reference, leave it not_applicable."""
    assert scored("It rains often.", "It rains.").status == "not_applicable"
    assert scored(None, "It rains.").reason == "no reference answer"
