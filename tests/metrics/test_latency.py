"""latency, tokens and cost: what a response took, as recorded."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf

import pytest
from tests.building import example, response

from ragauge.metrics.base import MetricResult
from ragauge.metrics.catalogue import parse_metric
from ragauge.metrics.facts import Facts
from ragauge.metrics.measure import measure_all, measure_metric


def scored(name: str, **recorded: object) -> MetricResult:
    return measure_metric(parse_metric(name), Facts(example(), response(**recorded)))  # type: ignore[arg-type]  # any field


@pytest.mark.parametrize(
    ("name", "milliseconds", "value"),
    [
        ("latency", {"total": 900.0, "retrieval": 30.0}, 900),
        ("latency", {"retrieval": 30.0, "generation": 800.0}, 830),
        ("latency:stage=retrieval", {"total": 900.0, "retrieval": 30.0}, 30),
        ("latency:stage=rerank", {"total": 900.0}, None),
        ("latency", {}, None),
    ],
)
def test_latency(name: str, milliseconds: Mapping[str, float], value: float | None) -> None:
    """The total as recorded, else the sum of the stages, or one stage; what is not recorded has no value."""
    result = scored(name, latency_ms=milliseconds)
    assert result.value == value
    assert result.status == ("not_applicable" if value is None else "scored")


@pytest.mark.parametrize(
    ("name", "counts", "value"),
    [
        ("tokens", {"input": 900, "output": 60}, 960),
        ("tokens", {"input": 900, "output": 60, "cached": 500, "reasoning": 40}, 960),
        ("tokens", {"input": 900, "output": 60, "total": 1000}, 1000),
        ("tokens", {"output": 60}, 60),
        ("tokens", {"prompt": 5, "completion": 6}, 11),
        ("tokens:of=output", {"input": 900, "output": 60}, 60),
        ("tokens:of=cached", {"input": 900}, None),
        ("tokens", {}, None),
    ],
)
def test_tokens(name: str, counts: Mapping[str, int], value: float | None) -> None:
    """Input and output are added once, whatever parts of them are recorded beside; one kind can be asked for."""
    result = scored(name, tokens=counts)
    assert result.value == value
    assert result.status == ("not_applicable" if value is None else "scored")


def test_cost() -> None:
    """The recorded cost counts, 0 included; an unknown cost is no 0."""
    assert scored("cost", cost=0.25).value == 0.25
    assert scored("cost", cost=0.0).value == 0
    assert scored("cost").status == "not_applicable"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("latency", 30_000),
        ("latency:stage=retrieval", 40),
        ("tokens", 900),
        ("tokens:of=input", 900),
        ("cost", 0.02),
        ("latency:stage=generation", None),
        ("tokens:of=output", None),
    ],
)
def test_a_failed_call_counts_as_recorded(name: str, value: float | None) -> None:
    """A time-out took its time, tokens and money; a stage or kind that it did not get to record is not known."""
    took = {"latency_ms": {"total": 30_000.0, "retrieval": 40.0}, "tokens": {"input": 900}, "cost": 0.02}
    result = scored(name, error="time-out", **took)
    assert result.value == value
    if value is None:
        assert result == MetricResult("failed", low=0.0, reason="the system failed: time-out")
    else:
        assert result == scored(name, **took)


@pytest.mark.parametrize("name", ["latency", "latency:stage=retrieval", "tokens", "tokens:of=input", "cost"])
def test_a_failed_call_without_record_is_not_known(name: str) -> None:
    """What a failed call took and did not record failed, at least 0: it is neither 0 nor not applicable."""
    assert scored(name, error="time-out") == MetricResult("failed", low=0.0, reason="the system failed: time-out")


def test_nothing_else_of_a_failed_call_counts() -> None:
    """Passages, answer and citations that came with an error are not read, whatever it took."""
    names = ("latency", "context_tokens", "answer_tokens", "empty_result_rate", "citation_presence", "precision@5")
    returned = response(2, "It is.", citations=[(0, 6, "p1")], latency_ms={"total": 9.0}, error="time-out")
    found = measure_all([parse_metric(name) for name in names], Facts(example(relevant={"d1": 1}), returned))
    assert [result.status for result in found] == ["scored", *["failed"] * 5]


@pytest.mark.parametrize("name", ["latency", "tokens", "cost", "context_tokens", "answer_tokens"])
def test_amounts(name: str) -> None:
    """Amounts have no upper end and are summarised as quantiles."""
    metric = parse_metric(name)
    assert metric.range == (0, inf)
    assert metric.scale == "amount"
