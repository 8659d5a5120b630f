"""The overview as a whole: what it holds, in any order, and what it keeps in memory."""

from __future__ import annotations

import random
import tracemalloc
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
from tests.building import answer_facts, claim, evidence, example, passage, passed_but, reference_facts, response

from ragauge.core.score import Score
from ragauge.diagnosis.causes.attribution import attribute_failure
from ragauge.evaluation.overview.alignment import AlignmentGatherer, UsedPassages, find_third
from ragauge.evaluation.overview.response_list import OverviewGatherer, choose_responses
from ragauge.evaluation.scorecard.compute import ScorecardTables, read_metrics
from ragauge.metrics.catalogue import select_metrics
from ragauge.metrics.facts import Facts
from ragauge.metrics.measure import measure_all
from ragauge.scores.arrays import ResponseIndex, ScoreArrays
from ragauge.scores.failures import FailedResponses
from ragauge.scores.gather import Visit, run_gatherers
from ragauge.scores.results.overview import Alignment, Overview
from ragauge.scores.segments import derive_segments
from ragauge.scores.summarize import build_score_frame
from ragauge.scores.values import MetricValues

IndexOf = Callable[[Sequence[Facts]], ResponseIndex]
VisitsOf = Callable[[Sequence[Facts]], list[Visit]]
AlignmentOf = Callable[[Sequence[Facts]], Alignment | None]
METRICS = select_metrics(["faithfulness", "context_recall", "ignored_top_ranked", "answer_relevance", "latency"])


@pytest.fixture
def alignment_of(index_of: IndexOf, visits_of: VisitsOf) -> AlignmentOf:
    """Alignment by its own rule, where ignored_top_ranked was not measured."""

    def gathered(every: Sequence[Facts]) -> Alignment | None:
        gatherer = AlignmentGatherer()
        for visit in visits_of(every):
            gatherer.add(UsedPassages.of(visit))
        return gatherer.alignment(index_of(every))

    return gathered


def made_up(seed: int, count: int) -> list[Facts]:
    """Responses of every kind: failed systems, refusals, nothing retrieved, labels or not."""
    draw, every = random.Random(seed), []
    for n in range(count):
        documents = [f"d{k}" for k in draw.sample(range(9), draw.randint(0, 5))]
        ranks = range(1, len(documents) + 1)
        most = min(len(documents), draw.randint(0, 2))
        claims = [claim(*draw.sample(ranks, most)) for _ in range(draw.randint(0, 3))]
        asked = example(
            "One.",
            query_id=f"q{n}",
            query=f"Question {n}?",
            relevant=draw.choice([None, ["d1", "d2"]]),
            answerable=draw.choice([True, False, None]),
            segments={"type": draw.choice("ab")},
        )
        returned = response(
            documents,
            query_id=f"q{n}",
            latency_ms={"retrieval": draw.random(), "generation": draw.random()},
            tokens={"input": draw.randint(1, 9)},
            cost=draw.choice([None, 0.5]),
            candidates=tuple(passage(f"d{k}") for k in range(6)),
            error=draw.choice([None] * 9 + ["down"]),
        )
        found = evidence(answer_facts(*claims, refuse=draw.random() < 0.2), reference_facts(list(ranks)[:1]))
        every.append(Facts(asked, returned, {} if returned.error else found))
    return every


def overview_of(every: Sequence[Facts], visits: Sequence[Visit]) -> Overview:
    """Everything after the judge, as the scorecard puts it together."""
    scores = [
        Score(
            "r",
            facts.example.query_id,
            0,
            str(metric),
            1,
            None,
            0,
            result.status,
            result.value,
            low=result.low,
            high=result.high,
            reason=result.reason,
        )
        for facts in every
        for metric, result in zip(METRICS, measure_all(METRICS, facts), strict=True)
    ]
    columns = ScoreArrays.of(build_score_frame(scores))
    beyond = OverviewGatherer()
    run_gatherers(visits, [beyond])
    tables, values = (
        ScorecardTables(columns.index, derive_segments(f.example for f in every)),
        MetricValues(columns.index),
    )
    read_metrics(columns, METRICS, (tables, values))
    causes = ((place, attribute_failure(facts)) for place, facts in enumerate(every))
    known = ((place, cause) for place, cause in causes if cause is not None)
    failed = FailedResponses.from_causes(columns.index, known, lambda places: dict.fromkeys(places, "so"))
    chosen = choose_responses(passed_but(failed), failed, tables.quality.values())
    return beyond.overview(values, chosen, {}, failed, tables.segments, tables.in_segments)


@pytest.mark.parametrize("seed", range(5))
def test_alignment_says_what_the_metric_says(visits_of: VisitsOf, alignment_of: AlignmentOf, seed: int) -> None:
    """Of runs of every kind, ignored_top_ranked and the share of first passages not used have equal counts and mean."""
    every = made_up(seed, 200)
    metric = next(one for one in METRICS if str(one) == "ignored_top_ranked")
    values = [one.value for one in (measure_all([metric], facts)[0] for facts in every) if one.value is not None]
    for found in (overview_of(every, visits_of(every)).alignment, alignment_of(every)):
        assert found is not None
        assert (found.answers, found.ignored_top) == (len(values), sum(values))
        assert found.ignored_share.mean == pytest.approx(sum(values) / len(values))


def test_counts_belong_together(visits_of: VisitsOf) -> None:
    """Listed, causes, distributions and lengths speak of the same responses."""
    every = made_up(1, 200)
    found = overview_of(every, visits_of(every))
    failed = [row for row in found.listed if row.failed]
    assert (found.listed_of, len(found.listed)) == (200, 200)
    assert len(failed) == sum(attribute_failure(facts) is not None for facts in every)
    assert set(found.causes_by_segment) >= {"type"}
    for cells in found.causes_by_segment.values():
        assert sum(sum(counts.values()) for counts in cells.values()) == len(failed)
    for shown in found.distributions:
        assert sum(part.count for part in shown.bins) == sum(shown.metric in row.values for row in found.listed)
    assert sum(band.n for band in found.lengths) == sum(facts.response.error is None for facts in every)
    assert found.alignment is not None
    for rank in found.alignment.ranks:  # a row is used by those that count, and by some that do not
        assert rank.used <= sum(rank.rank in (row.used or ()) for row in found.listed)
    assert {row.query for row in found.listed} == {facts.example.query for facts in every}
    check_marks(found)
    assert {row.segments["type"] for row in found.listed} == {"a", "b"}
    assert [stage.name for stage in found.stages] == ["candidates", "top n of the candidates", "handed on", "used"]
    assert found.timings[0].stage == "total"
    assert found.spending is not None
    assert found.spending.cost == 0.5 * found.spending.costed


def check_marks(found: Overview) -> None:
    """What listed responses say of themselves makes up the marks of alignment, stages and timings."""
    assert found.alignment is not None
    for name, part in found.alignment.positions.items():
        there = [
            rank in (row.used or ())
            for row in found.listed
            for rank in row.relevant or ()
            if find_third(rank, row.handed) == name
        ]
        assert len(there) == part.n
        assert sum(there) / len(there) == pytest.approx(part.mean)
    for stage in found.stages:
        kept = [row.kept[stage.name] for row in found.listed if stage.name in row.kept]
        assert len(kept) == stage.recall.n
        assert sum(kept) / len(kept) == pytest.approx(stage.recall.mean)
    for timing in found.timings:
        taken = sorted(row.timings[timing.stage] for row in found.listed if timing.stage in row.timings)
        assert len(taken) == timing.n
        assert taken[(len(taken) - 1) // 2] <= timing.p50 <= taken[len(taken) // 2]


def test_any_order_gives_the_same(visits_of: VisitsOf) -> None:
    """Shuffled responses give the same overview; floats that are sums agree to rounding."""
    every = made_up(2, 150)
    shuffled = random.Random(5).sample(every, len(every))
    one, other = overview_of(every, visits_of(every)), overview_of(shuffled, visits_of(shuffled))
    assert one.listed == other.listed
    assert {c: {v: dict(n) for v, n in cells.items()} for c, cells in one.causes_by_segment.items()} == {
        c: {v: dict(n) for v, n in cells.items()} for c, cells in other.causes_by_segment.items()
    }
    assert (one.distributions, one.timings, one.spending) == (other.distributions, other.timings, other.spending)
    assert flat(one) == pytest.approx(flat(other), abs=1e-9, nan_ok=True)


def flat(found: Overview) -> list[Any]:
    """The numbers that are sums over responses."""
    assert found.alignment is not None
    estimates = [found.alignment.ignored_share, *found.alignment.positions.values()]
    estimates += [stage.recall for stage in found.stages]
    estimates += [part for band in found.lengths for part in band.means.values()]
    numbers = [number for part in estimates for number in (part.mean, part.n)]
    numbers += [end for part in estimates if part.interval for end in (part.interval.low, part.interval.high)]
    ranks = [n for rank in found.alignment.ranks for n in (rank.n, rank.used, rank.best, rank.relevant or 0)]
    every = (*numbers, *ranks, found.alignment.correlation)
    return [float("nan") if number is None else number for number in every]


def test_nothing_evaluated(visits_of: VisitsOf) -> None:
    """A run without responses has an empty overview."""
    assert overview_of([], visits_of([])) == Overview()


def test_no_evidence_and_nothing_recorded(visits_of: VisitsOf) -> None:
    """A plain answer that nobody judged shows neither alignment nor stages, lengths, timings or spending."""
    every = [Facts(example(query_id=f"q{n}"), response(None, query_id=f"q{n}")) for n in range(9)]
    found = overview_of(every, visits_of(every))
    assert (found.alignment, found.stages, found.lengths, found.timings, found.spending) == (None, (), (), (), None)
    assert len(found.listed) == 9


@pytest.mark.prove
def test_memory_of_50_000_responses() -> None:
    """What is kept of 50,000 responses of ten passages each is below 6 MB."""
    asked = example("One.", relevant=["d1"], answerable=True)
    returned = response(10, latency_ms={"retrieval": 1.0, "generation": 2.0}, tokens={"input": 9}, cost=0.1)
    found = evidence(answer_facts(claim(1), claim(3)), reference_facts([1]))
    beyond = OverviewGatherer()
    tracemalloc.start()
    for n in range(50_000):
        name = f"q{n}"
        beyond.add(Visit(n, n, replace(asked, query_id=name), replace(returned, query_id=name), found))
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < 6_000_000
