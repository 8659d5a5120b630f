"""Gaps and confirmed causes in the reports."""

from __future__ import annotations

from dataclasses import replace

import pytest
from rich.console import Console

from ragauge.comparison.gaps.losses import build_losses, build_sections, describe_losses
from ragauge.core.json_keys import encode
from ragauge.diagnosis.causes.counterfactuals import RULES_BY_CAUSE
from ragauge.diagnosis.confirm.tables import describe_experiments
from ragauge.evaluation.scorecard import tables as scorecard
from ragauge.evaluation.scorecard.html import render_report
from ragauge.rendering.lists import Anchors
from ragauge.rendering.writers.markdown import render_markdown
from ragauge.rendering.writers.terminal import render_terminal as written
from ragauge.scores.results.experiments import AnswerQuality, CauseTally, Confirmed, Experiment, ExperimentOutcome
from ragauge.scores.results.overview import ClosedBook, Gaps, MeanEstimate, MetricGaps, Oracle
from ragauge.scores.results.scorecard import ScorecardData
from ragauge.stats.weighted import Interval


def estimate(mean: float) -> MeanEstimate:
    return MeanEstimate(mean, Interval(mean - 0.05, mean + 0.05, "t"), 80)


def metric(name: str, own: float, oracle: float, alone: float | None = None) -> MetricGaps:
    lower = name == "contradicted"
    best = 0.0 if lower else 1.0
    return MetricGaps(
        name,
        "lower" if lower else "higher",
        Oracle(own, oracle, estimate(oracle - own), estimate(best - oracle)),
        None if alone is None else ClosedBook(own, estimate(alone), estimate(own - alone), undefined=3),
    )


@pytest.fixture
def gaps() -> Gaps:
    correct = metric("answer_correctness", 0.5, 0.7, 0.2)
    return Gaps(
        "mine",
        "mine-oracle",
        "mine-closed_book",
        (metric("contradicted", 0.3, 0.1), metric("answer_relevance", 0.9, 0.6), correct),
        {"type": {"<b>hard</b>": (metric("answer_correctness", 0.2, 0.7, 0.1),)}},
        ("one note",),
    )


@pytest.fixture
def confirmed() -> Confirmed:
    experiment = Experiment(
        "q1", 0, "retrieval_miss", RULES_BY_CAUSE["retrieval_miss"], (), None, AnswerQuality(0, "wrong"), "old"
    )
    outcome = ExperimentOutcome(experiment, "confirmed", "right with the changed passages", AnswerQuality(2), "new")
    return Confirmed(
        "abc", (CauseTally("retrieval_miss", "retrieval", 40, 8, 1, 1), CauseTally("noise", "retrieval", 5)), (outcome,)
    )


def test_a_bar_is_cut_where_the_means_say(gaps: Gaps) -> None:
    """By hand: what is there, lost to retrieval and to generation fill the line; the best value is its right end."""
    found = build_losses(gaps, Anchors())
    assert found is not None
    cuts = {row.name: row.cut for row in found.rows}
    assert (cuts["answer_correctness"].own, cuts["answer_correctness"].alone) == (0.5, 0.2)
    assert cuts["answer_correctness"].retrieval == (0.5, 0.7)
    assert cuts["answer_correctness"].generation == (0.7, 1.0)
    lower = cuts["contradicted ↓"]
    assert (lower.own, lower.retrieval, lower.generation) == (0.7, (0.7, 0.9), (0.9, 1.0))
    worse = cuts["answer_relevance"]
    assert (worse.retrieval, worse.worse, worse.generation) == (None, (0.6, 0.9), (0.9, 1.0))


def test_one_metric_stands_for_all(gaps: Gaps) -> None:
    """The sentence and the segments are those of answer_correctness, which comes first."""
    assert describe_losses(gaps) == (
        "answer_correctness is 0.50 with the system's own retrieval. With the gold passages, it is 0.70: "
        "+0.20 [+0.15, +0.25] is "
        "lost to retrieval, and +0.30 [+0.25, +0.35] to generation. Without passages, it is 0.20 [0.15, 0.25]."
    )
    found = build_losses(gaps, Anchors())
    assert found is not None
    assert found.rows[0].name == found.first == "answer_correctness"
    assert len(found.segments["type"]) == 1


def test_every_report_tells_the_gaps(card: ScorecardData, gaps: Gaps) -> None:
    """Page, Markdown, terminal and JSON have them where there are some; else they say nothing of them."""
    with_gaps = replace(card, gaps=gaps)
    shown, bare = render_report(with_gaps), render_report(card)
    assert 'id="losses"' in shown
    assert "<b>hard" not in shown
    assert "one note" in shown
    assert "Up to 3 examples left out" in shown
    assert 'id="losses"' not in bare
    said = render_markdown("", scorecard.build_sections(with_gaps))
    assert "is 0.50 with the system's own retrieval. With the gold passages, it is 0.70" in said
    assert "Where quality is lost" in _printed(with_gaps)
    assert "Where quality is lost" not in _printed(card) + render_markdown("", scorecard.build_sections(card), 2)
    assert encode(with_gaps)["gaps"]["metrics"]["answer_correctness"]["oracle"]["oracle_gap"]["n"] == 80
    assert (encode(card)["gaps"], encode(card)["confirmed"]) == (None, None)
    console = Console(width=150)
    with console.capture() as captured:
        console.print(written(build_sections(gaps)))
    assert "+0.20 [+0.15, +0.25]" in captured.get()


def test_a_confirmed_share_stands_beside_the_inferred_one(card: ScorecardData, confirmed: Confirmed) -> None:
    """By hand: Wilson's interval of 8 in 10 is 0.49 to 0.94; a cause without an experiment says nothing."""
    said = "confirmed in 8 of 10 experiments, 0.80 [0.49, 0.94] (1 refuted, 1 inconclusive)"
    assert describe_experiments(confirmed, "retrieval_miss") == said
    assert describe_experiments(confirmed, "noise") == describe_experiments(None, "retrieval_miss") == ""
    whole = replace(card, confirmed=confirmed, causes={"retrieval_miss": 40, "noise": 5}, failed_examples=45)
    assert "0.80 [0.49, 0.94]" in render_report(whole)
    assert said in render_markdown("", scorecard.build_sections(whole), 2)
    assert "confirmed in 8 of 10 experiments" in _printed(whole)
    told = encode(whole)["confirmed"]
    assert list(told["causes"]) == ["retrieval_miss"]
    assert told["causes"]["retrieval_miss"]["confirmed_share"] == 0.8


def _printed(card: ScorecardData) -> str:
    console = Console(width=140)
    with console.capture() as captured:
        console.print(written(scorecard.build_sections(card)))
    return captured.get()
