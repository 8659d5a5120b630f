"""Passages that a newer version has replaced."""

from __future__ import annotations

from tests.building import example, passage, response

from ragauge.core.response import Passage
from ragauge.metrics.base import MetricResult
from ragauge.metrics.catalogue import parse_metric
from ragauge.metrics.facts import Facts
from ragauge.metrics.measure import measure_metric


def scored(*passages: Passage) -> MetricResult:
    return measure_metric(parse_metric("stale_passage_rate"), Facts(example(), response(passages)))


def test_superseded_or_older_than_its_document() -> None:
    """Of four passages one is superseded and one older than another passage of its document."""
    result = scored(
        passage("a", updated_at="2024-06-01"),
        passage("a", passage_id="a-2", updated_at="2023-01-01"),
        passage("b", updated_at="2020-01-01"),
        passage("c", updated_at="2024-01-01", superseded_by="d"),
    )
    assert (result.numerator, result.denominator) == (2, 4)


def test_age_alone_is_not_stale() -> None:
    """An old document without a newer version is not stale."""
    assert scored(passage("a", updated_at="1999-01-01"), passage("b", updated_at="2024-01-01")).value == 0


def test_day_and_hour_of_one_version() -> None:
    """A date and a time of that day are compared by the day."""
    assert scored(passage("a", updated_at="2024-06-01"), passage("a", updated_at="2024-06-01T10:00:00Z")).value == 0


def test_superseded_needs_no_date() -> None:
    """What superseded a passage is enough to call it stale."""
    assert scored(passage("a", superseded_by="b")).value == 1


def test_undefined_and_not_applicable() -> None:
    """Nothing retrieved is undefined; a passage that records neither date nor successor is not taken as fresh."""
    assert scored().status == "undefined"
    result = scored(passage("a"), passage("b", updated_at="2024-01-01"))
    assert (result.status, result.reason) == ("not_applicable", "dates of 1 of 2 passages not recorded")
