"""Quality by context length."""

from __future__ import annotations

import doctest
import random
from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
import pytest

from ragauge.analysis.overview import context_length
from ragauge.analysis.overview.context_length import LengthGatherer, about, length_bands
from ragauge.analysis.scores.arrays import ScoreArrays
from ragauge.analysis.scores.frames import score_frame
from ragauge.analysis.scores.gather import Visit
from ragauge.analysis.scores.values import Values
from ragauge.data.building import example, passage, response
from ragauge.data.response import REDACTED
from ragauge.data.score import Score
from ragauge.metrics.catalogue import parse
from ragauge.metrics.context.context_tokens import ContextTokens
from ragauge.metrics.facts import Facts
from ragauge.stats.intervals import scaled_wilson

VisitsOf = Callable[[Sequence[Facts]], list[Visit]]
WORDS = ["the", "warranty", "of", "the", "hub", "lasts", "two", "years", "from", "the", "day", "of", "purchase"]


def test_docstring_examples() -> None:
    """Every example in the docstrings gives what it says."""
    assert not doctest.testmod(context_length).failed


def values_of(**metrics: list[float | None]) -> Values:
    scores = [
        Score("r", f"q{n}", 0, name, 1, None, 0, "undefined" if value is None else "scored", value)
        for name, column in metrics.items()
        for n, value in enumerate(column)
    ]
    arrays = ScoreArrays.of(score_frame(scores))
    values = Values(arrays.index)
    for name in metrics:
        values.read(parse(name), arrays.column(name))
    return values


def test_quarters_by_hand() -> None:
    """Eight contexts of 10 to 80 tokens are four pairs; a mean is over the scored responses of its pair."""
    tokens = np.array([80.0, 10, 20, 30, 40, 50, 60, 70])
    values = values_of(faithfulness=[0.0, 1.0, 0.5, None, 1.0, 0.25, 0.75, 0.5], recall=[1.0] * 8)
    bands = length_bands(values, tokens)
    assert [(band.low, band.high, band.n) for band in bands] == [(10, 20, 2), (30, 40, 2), (50, 60, 2), (70, 80, 2)]
    means = [band.means["faithfulness"] for band in bands]
    assert [(part.mean, part.n) for part in means] == [(0.75, 2), (1.0, 1), (0.5, 2), (0.25, 2)]
    assert list(bands[0].means) == ["faithfulness"]      # recall says nothing about answers
    assert means[2].interval == scaled_wilson([0.25, 0.75])


def test_equal_lengths_stay_together() -> None:
    """Where half of the contexts are equally long there are fewer bands, and every response is in one."""
    tokens = np.array([5.0] * 6 + [7, 8, 9, 10])
    bands = length_bands(values_of(answer_relevance=[1.0] * 10), tokens)
    assert [(band.low, band.high, band.n) for band in bands] == [(5, 5, 6), (7, 8, 2), (9, 10, 2)]
    assert len(length_bands(values_of(answer_relevance=[1.0] * 10), np.full(10, 5.0))) == 1


def test_nothing_to_show() -> None:
    """Without lengths or without a score of quality there are no bands; without lengths of some, they are left out."""
    quality, none = values_of(faithfulness=[1.0, 0.0]), values_of(mrr=[1.0, 0.0])
    assert length_bands(quality, np.full(2, np.nan)) == ()
    assert length_bands(none, np.array([1.0, 2.0])) == ()
    assert sum(band.n for band in length_bands(quality, np.array([1.0, np.nan]))) == 1


def test_short_contexts_are_counted_exactly() -> None:
    """Up to a thousand characters the count is that of the metric context_tokens."""
    passages = [passage(f"d{n}", " ".join(WORDS)) for n in range(5)]
    assert about(passages) == ContextTokens().value(passages)


def test_long_contexts_are_about_right() -> None:
    """Passages of shuffled words, 40,000 characters in all, come within 10 % of the full count."""
    draw = random.Random(1)
    passages = [passage(f"d{n}", " ".join(draw.choices(WORDS, k=800))) for n in range(10)]
    assert about(passages) == pytest.approx(ContextTokens().value(passages), rel=0.1)


@pytest.mark.parametrize("text", ["ü" * 5_000, " " * 5_000, "中文" * 3_000, "\n a" * 2_000, "x"])
def test_odd_texts_have_a_length(text: str) -> None:
    """Text without spaces, of spaces only, and long beside empty passages is counted without fail."""
    assert about([passage("a", text), passage("b", ""), passage("c", None)]) >= 1


def gathered(every: Sequence[Facts], visits_of: VisitsOf, responses: int = 0, measured: bool = False) -> LengthGatherer:
    gatherer = LengthGatherer(responses or len(every), measured=measured)
    for visit in visits_of(every):
        gatherer.add(visit)
    return gatherer


def test_contexts_without_texts_are_left_out(visits_of: VisitsOf) -> None:
    """An empty retrieval has no tokens; redacted, absent and failed ones have no known length."""
    every = [
        Facts(example(query_id=f"q{n}"), answer)
        for n, answer in enumerate([
            response(0, query_id="q0"), response([passage("d", REDACTED)], query_id="q1"),
            response(None, query_id="q2"), response(1, query_id="q3", error="down"),
            response([passage("d", "hello world")], query_id="q4"),
        ])
    ]     # fmt: skip
    tokens = gathered(every, visits_of).tokens(values_of(faithfulness=[1.0] * 5))
    assert tokens.tolist() == pytest.approx([0, np.nan, np.nan, np.nan, 2], nan_ok=True)


def test_what_was_measured_is_taken(visits_of: VisitsOf) -> None:
    """Where context_tokens was measured nothing is counted again."""
    every = [Facts(example(query_id=f"q{n}"), response(1, query_id=f"q{n}")) for n in range(2)]
    tokens = gathered(every, visits_of, measured=True).tokens(values_of(context_tokens=[900.0, None]))
    assert tokens.tolist() == pytest.approx([900, np.nan], nan_ok=True)


def test_large_runs_are_drawn_the_same_in_any_order(visits_of: VisitsOf) -> None:
    """Of a run of 12,500, one response in five is counted, and the same ones whatever comes first."""
    every = [Facts(example(query_id=f"q{n}"), response(1, query_id=f"q{n}")) for n in range(1_000)]
    gatherer = gathered(every, visits_of, responses=12_500)
    # binomial: 1,000 · 0.2 = 200, standard deviation 12.6; within four of them
    assert 150 <= len(gatherer._places) <= 250
    ids = {every[place].example.query_id for place in gatherer._places}
    backwards = every[::-1]
    again = gathered(backwards, visits_of, responses=12_500)
    assert {backwards[place].example.query_id for place in again._places} == ids


def test_bands_hold_everything_once() -> None:
    """Whatever the lengths, bands follow each other and their counts add up."""
    draw = np.random.default_rng(2)
    for size in (1, 2, 3, 7, 100):
        tokens = draw.integers(0, 30, size).astype(float)
        bands = length_bands(values_of(faithfulness=[1.0] * size), tokens)
        assert sum(band.n for band in bands) == size
        assert all(a.high < b.low for a, b in pairwise(bands))
        assert len(bands) <= 4

