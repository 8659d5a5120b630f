"""Quality by context length."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
import pytest
from tests.building import example, passage, response

from ragauge.core.response import REDACTED
from ragauge.core.score import Score
from ragauge.evaluation.overview.timings import ContextLengths, LengthGatherer, build_length_bands
from ragauge.metrics.catalogue import parse_metric
from ragauge.metrics.facts import Facts
from ragauge.scores.arrays import ScoreArrays
from ragauge.scores.gather import Visit
from ragauge.scores.summarize import build_score_frame
from ragauge.scores.values import MetricValues
from ragauge.stats.intervals import scaled_wilson

VisitsOf = Callable[[Sequence[Facts]], list[Visit]]


def values_of(**metrics: list[float | None]) -> MetricValues:
    scores = [
        Score("r", f"q{n}", 0, name, 1, None, 0, "undefined" if value is None else "scored", value)
        for name, column in metrics.items()
        for n, value in enumerate(column)
    ]
    arrays = ScoreArrays.of(build_score_frame(scores))
    values = MetricValues(arrays.index)
    for name in metrics:
        values.read(parse_metric(name), arrays.column(name))
    return values


def test_quarters_by_hand() -> None:
    """Eight contexts of 10 to 80 tokens are four pairs; a mean is over the scored responses of its pair."""
    tokens = np.array([80.0, 10, 20, 30, 40, 50, 60, 70])
    values = values_of(faithfulness=[0.0, 1.0, 0.5, None, 1.0, 0.25, 0.75, 0.5], recall=[1.0] * 8)
    bands = build_length_bands(values, ContextLengths("context_tokens", tokens))
    assert {band.unit for band in bands} == {"tokens"}
    assert [(band.low, band.high, band.n) for band in bands] == [(10, 20, 2), (30, 40, 2), (50, 60, 2), (70, 80, 2)]
    means = [band.means["faithfulness"] for band in bands]
    assert [(part.mean, part.n) for part in means] == [(0.75, 2), (1.0, 1), (0.5, 2), (0.25, 2)]
    assert list(bands[0].means) == ["faithfulness"]  # recall says nothing about answers
    assert means[2].interval == scaled_wilson([0.25, 0.75])


def test_equal_lengths_stay_together() -> None:
    """Where half of the contexts are equally long there are fewer bands, and every response is in one."""
    lengths = ContextLengths("context_characters", np.array([5.0] * 6 + [7, 8, 9, 10]))
    bands = build_length_bands(values_of(answer_relevance=[1.0] * 10), lengths)
    assert {band.unit for band in bands} == {"characters"}
    assert [(band.low, band.high, band.n) for band in bands] == [(5, 5, 6), (7, 8, 2), (9, 10, 2)]
    equal = ContextLengths("context_characters", np.full(10, 5.0))
    assert len(build_length_bands(values_of(answer_relevance=[1.0] * 10), equal)) == 1


def test_nothing_to_show() -> None:
    """Without lengths or without a score of quality there are no bands; without lengths of some, they are left out."""
    quality, none = values_of(faithfulness=[1.0, 0.0]), values_of(mrr=[1.0, 0.0])
    for values, lengths, n in ((quality, [np.nan, np.nan], 0), (none, [1.0, 2.0], 0), (quality, [1.0, np.nan], 1)):
        bands = build_length_bands(values, ContextLengths("context_tokens", np.array(lengths)))
        assert sum(band.n for band in bands) == n


def gathered(every: Sequence[Facts], visits_of: VisitsOf) -> LengthGatherer:
    gatherer = LengthGatherer()
    for visit in visits_of(every):
        gatherer.add(visit)
    return gatherer


def test_contexts_without_texts_are_left_out(visits_of: VisitsOf) -> None:
    """An empty retrieval has length 0; redacted, absent and failed ones have no known length."""
    every = [
        Facts(example(query_id=f"q{n}"), answer)
        for n, answer in enumerate(
            [
                response(0, query_id="q0"),
                response([passage("d", REDACTED)], query_id="q1"),
                response(None, query_id="q2"),
                response(1, query_id="q3", error="down"),
                response([passage("d", "hello world"), passage("e", "中文 \U0001f600")], query_id="q4"),
            ]
        )
    ]
    name, found = gathered(every, visits_of).lengths(values_of(faithfulness=[1.0] * 5))
    assert name == "context_characters"
    assert found.tolist() == pytest.approx([0, np.nan, np.nan, np.nan, 15], nan_ok=True)


def test_what_was_measured_is_taken(visits_of: VisitsOf) -> None:
    """Where context_tokens was measured, lengths are in tokens."""
    every = [Facts(example(query_id=f"q{n}"), response(1, query_id=f"q{n}")) for n in range(2)]
    name, found = gathered(every, visits_of).lengths(values_of(context_tokens=[900.0, None]))
    assert name == "context_tokens"
    assert found.tolist() == pytest.approx([900, np.nan], nan_ok=True)


def test_bands_hold_everything_once() -> None:
    """Whatever the lengths, bands follow each other and their counts add up."""
    draw = np.random.default_rng(2)
    for size in (1, 2, 3, 7, 100):
        tokens = draw.integers(0, 30, size).astype(float)
        bands = build_length_bands(values_of(faithfulness=[1.0] * size), ContextLengths("context_tokens", tokens))
        assert sum(band.n for band in bands) == size
        assert all(a.high < b.low for a, b in pairwise(bands))
        assert len(bands) <= 4
