"""Budgets of latency and cost where a few amounts are not known."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest
from tests.gating.scores import columns

from ragauge.gating.compute.decision import CheckCell
from ragauge.gating.compute.sample import MetricLevel
from ragauge.metrics.catalogue import parse_metric

LATENCY = parse_metric("latency")


def level(statistic: str, unknown: int) -> MetricLevel:
    """200 calls of 1 to 200 ms in any order, of which the slowest are not known."""
    times = np.arange(1.0, 201.0)
    lost = dict.fromkeys(range(200 - unknown, 200), (np.nan, np.nan))
    return MetricLevel.of(LATENCY, columns(times, failed=lost), statistic)


@pytest.mark.parametrize(
    ("statistic", "unknown", "least", "most"),
    [
        # all 200 there: the rank is q·199 from 0, of which the unknown ones at 0 are the first 3 (20) ranks
        ("p50", 3, 97.5, 100.5),
        ("p95", 3, 187.05, 190.05),
        ("p99", 3, 195.01, inf),
        ("p50", 20, 80.5, 100.5),
        ("p95", 20, 170.05, inf),
        ("mean", 3, sum(range(1, 198)) / 200, inf),
    ],
)
def test_unknown_amounts_move_a_quantile_by_ranks(statistic: str, unknown: int, least: float, most: float) -> None:
    """An amount is at least 0, and a few unknown ones leave a quantile between two of the known amounts."""
    assert level(statistic, unknown).reach() == pytest.approx((least, most))


@pytest.mark.parametrize(
    ("statistic", "unknown", "limit", "verdict"),
    [
        ("p95", 0, 200, "pass"),
        ("p95", 3, 200, "pass"),
        ("p95", 3, 170, "fail"),
        ("p95", 3, 190, "not_enough_data"),
        ("p95", 20, 200, "not_enough_data"),
        ("p95", 20, 150, "fail"),
        ("p50", 20, 120, "pass"),
        ("mean", 3, 200, "not_enough_data"),
        ("mean", 3, 20, "not_enough_data"),
    ],
)
def test_budgets_are_decided_whatever_few_amounts_were(
    statistic: str, unknown: int, limit: float, verdict: str
) -> None:
    """A quantile is decided where no unknown amount could turn it; of a mean any one of them could."""
    cell = CheckCell(level(statistic, unknown), limit, above=False, min_n=10)
    assert cell.verdict()[0] == verdict


@pytest.mark.parametrize(("unknown", "fails"), [(3, False), (20, True)])
def test_a_quantile_could_fail_by_what_is_unknown(unknown: int, fails: bool) -> None:
    """It might have failed had nothing failed only where enough amounts are unknown to reach beyond the limit."""
    assert CheckCell(level("p95", unknown), 195, above=False, min_n=10).could_fail() == fails


def test_the_estimate_alone_is_decided_too() -> None:
    """With decide: point, 3 unknown amounts of 200 leave p95 within 190.05 ms: it meets 191 ms, and 189 is open."""
    verdicts = [
        CheckCell(level("p95", 3), limit, above=False, min_n=10, point=True).verdict() for limit in (191, 189, 187)
    ]
    assert verdicts == [("pass", "point"), ("not_enough_data", "failed"), ("fail", "point")]


def test_nothing_known_reaches_from_0_on() -> None:
    """Where nothing is known but that amounts failed, they lie from 0 on."""
    lost = dict.fromkeys(range(3), (np.nan, np.nan))
    assert MetricLevel.of(LATENCY, columns([0.0] * 3, failed=lost), "p95").reach() == (0.0, inf)
