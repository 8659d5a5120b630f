"""Scores made up for tests of decisions, as analysis hands them on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ragauge.comparison.pairs import Join, Pairs, pair_scores
from ragauge.core.verdict import VERDICTS, Verdict
from ragauge.metrics.base import Metric
from ragauge.scores.arrays import FAILED, SCORED, UNDEFINED, Columns, ResponseIndex
from ragauge.scores.verdicts import ResponseVerdicts

Floats = npt.NDArray[np.float64]


def columns(
    values: Sequence[float] | Floats,
    *,
    failed: Mapping[int, tuple[float, float]] | None = None,
    undefined: Sequence[int] = (),
    cluster: Sequence[int] | None = None,
    weight: Sequence[float] | None = None,
) -> Columns:
    """One score an example; some failed with bounds, some undefined."""
    value = np.array(values, dtype=float)
    n = value.size
    status = np.full(n, SCORED)
    low, high = value.copy(), value.copy()
    for n_failed, (least, most) in (failed or {}).items():
        status[n_failed], low[n_failed], high[n_failed], value[n_failed] = FAILED, least, most, np.nan
    for of in (value, low, high):
        of[list(undefined)] = np.nan
    status[list(undefined)] = UNDEFINED
    at = np.arange(n)
    nothing = np.full(n, np.nan)
    return Columns(
        at,
        at,
        status,
        value,
        nothing,
        nothing,
        low,
        high,
        np.zeros(n, dtype=np.int64),
        None if weight is None else np.array(weight, dtype=float),
        None if cluster is None else np.array(cluster),
        ("",),
    )


def pairs(metric: Metric, new: Columns, base: Columns) -> Pairs:
    """Two runs on the same examples."""
    ids = [f"q{n}" for n in range(new.query.size)]
    return pair_scores(metric, new, base, Join(ids, ids))


def twins(
    generator: np.random.Generator, n: int, *, binary: bool = False, noise: float = 0.05, flips: float = 0.2
) -> tuple[Floats, Floats]:
    """Scores of a run and of its noisy twin: the same quality an example, and noise of its own."""
    quality = generator.beta(4, 2, n)
    if binary:
        there = generator.random(n) < 0.8
        sides = [np.where(generator.random(n) < flips, generator.random(n) < 0.8, there) for _ in range(2)]
        return sides[0].astype(float), sides[1].astype(float)
    found: Any = [np.clip(quality + generator.normal(0, noise, n), 0, 1) for _ in range(2)]
    return found[0], found[1]


def verdicts_by_id(reason: str = "", **by_id: Verdict) -> ResponseVerdicts:
    """One response an example, with the verdict that is given; its reason is `reason`, or "why" and the id."""
    numbers = np.arange(len(by_id))
    index = ResponseIndex(numbers, numbers, numbers * 0, None, None, tuple(by_id))
    verdict = np.array([VERDICTS.index(verdict) for verdict in by_id.values()], dtype=np.int8)
    reasons = tuple(reason or f"why {query_id}" for query_id in by_id)
    return ResponseVerdicts(index, verdict, verdict, verdict, numbers, reasons)
