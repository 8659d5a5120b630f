"""Terminal and Markdown: the same content as the page, shorter, at any width."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from dataclasses import replace

import pytest

from ragauge.comparison.tables.words import describe_against_baseline
from ragauge.core.response import Passage, Readability, Response
from ragauge.evaluation.scorecard.bars import list_worst_segments, rank_values
from ragauge.evaluation.scorecard.tables import build_sections
from ragauge.metrics.base import explain_unread
from ragauge.rendering.verdict_texts import first_thing, outcomes, verdict
from ragauge.rendering.words import UNNAMED, escape_cell, first_of_layers, ignored, pareto_line, unreadable
from ragauge.rendering.writers import markdown as writer
from ragauge.rendering.writers.terminal import render_terminal
from ragauge.scores.results.comparison import Matched, MetricChange
from ragauge.scores.results.overview import MeanEstimate
from ragauge.scores.results.scorecard import ScorecardData
from ragauge.stats.weighted import Interval

Whole = Callable[..., ScorecardData]


def markdown(card: ScorecardData) -> str:
    return writer.render_markdown("", build_sections(card), 2)


def printed(card: ScorecardData, width: int) -> str:
    from rich.console import Console

    out = io.StringIO()
    Console(file=out, width=width, color_system=None).print(render_terminal(build_sections(card)))
    return out.getvalue()


@pytest.mark.parametrize("width", [80, 100, 120, 160])
@pytest.mark.parametrize("with_baseline", [True, False])
def test_terminal_fits_its_width(whole: Whole, width: int, with_baseline: bool) -> None:
    """No line is longer than the terminal, none is cut off, and each metric has its mean and interval on one line."""
    card = whole(60)
    card = card if with_baseline else replace(card, baseline=None)
    lines = printed(card, width).splitlines()
    assert max(map(len, lines)) <= width
    assert not [line for line in lines if "…" in line]
    for summary in card.summaries:
        assert any(line.split()[:1] == [summary.metric] and "[" in line for line in lines), summary.metric
    assert any(line.strip().startswith("recall@5") and "0.62  [0.50, 0.74]" in line for line in lines)


@pytest.mark.parametrize("form", [lambda card: printed(card, 120), markdown], ids=["terminal", "markdown"])
def test_short_reports_say_what_is_decided_from(whole: Whole, form: Callable[[ScorecardData], str]) -> None:
    """Verdict, changes, fix, Pareto line, worst segment, alignment and where the full report is: each is there."""
    card = whole(60)
    text = " ".join(form(card).replace("\\", "").split())
    assert "Mixed results against main: worse on recall@5 −0.10" in text
    assert "−0.10 [" in text
    assert "Hybrid search, metadata filters, query rewriting." in text
    assert "high confidence, compared with the baseline" in text
    assert pareto_line(card) in text
    assert f"type = {list_worst_segments(card, ['recall@5'])[0].value} " in text
    assert "The first passage was not used in 24 of 60 answers, 40% [34%, 46%]" in text
    assert "ragauge report 'k=8, new chunks' -o report.html" in text


def test_an_incomplete_run_is_said_to_be_one_first(whole: Whole) -> None:
    """Responses to come: the first sentence counts them, the first thing to do is to finish the run, no baseline."""
    card = whole(24)
    finished = replace(card.run, state="finished", planned=60, done=24)
    for run in (finished, replace(finished, state="interrupted", done=60)):
        same = replace(card, run=run)
        assert (verdict(same), first_thing(same)) == (verdict(card), first_thing(card))
    for run in (replace(finished, state="interrupted"), replace(finished, state="running")):
        short = replace(card, run=run, failed_examples=0)
        assert verdict(short) == (
            "Not complete: 24 of 60 responses. 24 examples passed (37 failed in main); 5 more are not evaluated yet."
        )
        assert first_thing(short) == (
            "Finish the run: repeat the ragauge run command of reference RAG on golden to resume. Until then the run "
            "is not a baseline."
        )
        for text in (printed(short, 200), markdown(short)):
            before = text.index("Not complete: 24 of 60 responses."), text.index("Start here: Finish the run")
            assert max(before) < text.index("recall")


def test_no_failure_is_claimed_where_it_is_not_known(whole: Whole) -> None:
    """Unclear, pending and unjudged examples each have their words; with none of them nothing failed."""
    card = replace(whole(24), failed_examples=0, baseline=None, pending=0)
    assert verdict(card) == "No failed example among 24."
    assert verdict(replace(card, not_judged={"no judge": 20}, unclear={"judges differ": 4})) == (
        "None of 24 examples failed or passed: 4 unclear, 20 not judged (judges differ; no judge)."
    )
    some = replace(card, not_judged={"not judged by j": 4})
    assert verdict(some) == "20 of 24 examples passed, none failed, 4 not judged (not judged by j)."
    assert outcomes(some) == "0 failed · 20 passed · 4 not judged (not judged by j)"
    both = replace(some, unclear={"a": 2, "b": 1})
    assert outcomes(both) == "0 failed · 3 unclear (a: 2; b: 1) · 17 passed · 4 not judged (not judged by j)"
    assert verdict(replace(card, pending=2)) == "24 examples passed; 2 more are not evaluated yet."
    alone = replace(card, labels_alone=True)
    assert verdict(alone) == "No example among 24 failed by its labels; no answer was judged."


def test_one_failure_comes_from_its_cause(whole: Whole) -> None:
    """The sentence on causes agrees with its number."""
    card = replace(whole(20), causes={"retrieval_miss": 1}, failed_examples=1)
    assert pareto_line(card) == "100% of 1 failure comes from retrieval_miss."
    two = replace(card, causes={"retrieval_miss": 2}, failed_examples=2)
    assert pareto_line(two) == "100% of 2 failures come from retrieval_miss."


def test_failures_without_a_cause_come_from_none(whole: Whole) -> None:
    """Failures whose cause is not decided are counted apart from those that come from a cause."""
    card = replace(whole(20), causes={"": 3, "noise": 1}, failed_examples=4)
    assert pareto_line(card) == "25% of 4 failures come from noise; the cause of 75% is undecided."
    assert pareto_line(replace(card, causes={"": 4})) == "No cause could be decided for 4 failures."
    for form in (markdown(card), printed(card, 100)):
        causes = form[form.index("Failures by cause") : form.index("What to do")]
        assert UNNAMED in causes
        assert "unclear" not in causes


def test_what_is_not_read_is_said_of_its_texts_alone(whole: Whole) -> None:
    """Each kind of text that was not read has its metrics and how many examples; where all was read nothing is said."""
    card = whole(20)
    assert unreadable(card) == []
    returned = Response("q", passages=(Passage("p", "d", "text"),))
    counts = {"nl": 3, "fi": 2}
    unread = {code: explain_unread("rate_passages", Readability(code, "prose"), returned) for code in counts}
    reasons = {reason.reason: counts[code] for code, reason in unread.items() if reason is not None}
    summaries = [replace(one, not_read=5, reasons={**reasons, "no label": 9}) for one in card.summaries[:2]]
    first, second = unreadable(replace(card, summaries=tuple(summaries)))
    names = ", ".join(one.metric for one in summaries)
    assert first.startswith(f"Not read on 3 examples ({names}): ")
    assert "language nl" in first
    assert second.startswith(f"Not read on 2 examples ({names}): ")
    assert "language fi" in second
    assert unreadable(replace(card, summaries=tuple(replace(one, not_read=0) for one in summaries))) == []


def test_markdown_tables_are_whole(whole: Whole) -> None:
    """Every row of every table has as many cells as its header, whatever the names hold."""
    hostile = "a|b \\| `c` <td> | \n## x @everyone"
    for block in re.split(r"\n(?!\|)", markdown(whole(40, text=lambda words: words + hostile))):
        rows = [line for line in block.splitlines() if line.startswith("|")]
        widths = {len(re.findall(r"(?<!\\)\|", row.replace("\\\\", ""))) for row in rows}
        assert len(widths) <= 1, rows


def test_markdown_makes_no_heading_and_no_mention_of_data(whole: Whole) -> None:
    """A heading or a mention in the data is text in the report."""
    text = markdown(whole(40, text=lambda words: f"{words}\n# Heading @everyone"))
    assert not [line for line in text.splitlines() if line.startswith("# ")]
    assert "@everyone" not in re.sub(r"`[^`]*`", "", text)  # within a command it notifies nobody
    assert escape_cell("recall@5") == "recall@5"


def test_baseline_sentence(whole: Whole) -> None:
    """Better, worse, mixed and no change are told apart by the changes that are sure."""
    card = whole(20)
    baseline = card.baseline
    assert baseline is not None
    by_verdict = {change.verdict: change for change in baseline.metrics}
    for verdicts, start in (
        (("better",), "Better than main"),
        (("worse", "no change seen"), "Worse than main"),
        (("worse", "better"), "Mixed results against main"),
        (("no change seen",), "No change seen against main"),
    ):
        mine = replace(baseline, metrics=tuple(by_verdict[verdict] for verdict in verdicts))
        assert describe_against_baseline(replace(card, baseline=mine)).startswith(start), verdicts
    assert "share no metric or no example" in describe_against_baseline(
        replace(card, baseline=replace(baseline, metrics=()))
    )
    assert describe_against_baseline(replace(card, baseline=None)) == ""


def test_a_faster_run_is_no_better_one(whole: Whole) -> None:
    """Against a baseline quality tells: latency makes no run better or worse, and better quality not mixed."""
    card = whole(20)
    assert card.baseline is not None
    baseline, kinds = card.baseline, {summary.metric: summary.kind for summary in card.summaries}
    time = next(change for change in card.baseline.metrics if kinds[change.metric] == "amount")
    held = next(change for change in card.baseline.metrics if kinds[change.metric] != "amount")

    def said(*changes: MetricChange) -> str:
        return describe_against_baseline(replace(card, baseline=replace(baseline, metrics=changes)))

    for way in ("better", "worse"):
        amount = replace(time, verdict=way)
        same = said(amount, replace(held, verdict="no change seen"))
        assert same.startswith(f"Changed from main: no change in quality seen; {way} on {time.metric}")
        assert said(amount, replace(held, verdict="not enough data")).startswith("Changed from main")
        assert said(amount).startswith(f"{way.capitalize()} than main")  # nothing else was measured
        better = said(amount, replace(held, verdict="better"))
        assert better.startswith(f"Better than main: {held.metric}")
        assert said(amount, replace(held, verdict="worse")).startswith(f"Worse than main: {held.metric}")


def test_every_metric_that_got_worse_is_named(whole: Whole) -> None:
    """However many got worse, each is named with its difference, the largest first, amounts as shares and last."""
    card = whole(20)
    assert card.baseline is not None
    worse = tuple(replace(change, verdict="worse") for change in card.baseline.metrics)
    said = describe_against_baseline(replace(card, baseline=replace(card.baseline, metrics=worse)))
    named = said.partition("Worse than main: ")[2].partition(" (")[0].replace(" and ", ", ").split(", ")
    assert [one.split()[0] for one in named[:2]] == ["recall@5", "context_recall"]
    assert {one.split()[0] for one in named} == {change.metric for change in worse}
    assert [one.split()[0] for one in named[-2:]] == ["context_tokens", "latency"]
    assert named[-1].split()[1] == "+1%"  # 8.4 of 831.6


def test_two_samples_are_not_said_to_share_examples(whole: Whole) -> None:
    """Traffic compared as two samples says how many each has, not that none are in both."""
    card = whole(20)
    assert card.baseline is not None
    samples = replace(card, baseline=replace(card.baseline, matched=Matched(0, 40, 55, paired=False)))
    for said in (describe_against_baseline(samples), markdown(samples), printed(samples, 120)):
        assert "two samples of traffic: 40 examples now, 55 before" in " ".join(said.split())
        assert "0 examples in both" not in said


def test_flag_says_when_it_cannot_be_told(whole: Whole) -> None:
    """Above 30 %, below it, and an interval that holds 30 % make three different sentences."""
    alignment = whole(20).overview.alignment
    assert alignment is not None
    assert "so ranking and generator disagree" in ignored(alignment)
    calm = replace(alignment, flagged=False, ignored_share=MeanEstimate(0.1, Interval(0.05, 0.18, "wilson"), 20))
    assert "below 30%" in ignored(calm)
    unsure = replace(calm, ignored_share=MeanEstimate(0.3, Interval(0.15, 0.5, "wilson"), 20))
    assert "too few examples to tell" in ignored(unsure)


def test_headline_of_each_layer(whole: Whole) -> None:
    """One number stands for each layer: the most telling one that was scored, never an amount."""
    card = whole(20)
    assert [(layer, summary.metric) for layer, summary in first_of_layers(card.summaries)] == [
        ("retrieval", "context_recall"),
        ("generation", "faithfulness"),
        ("end_to_end", "answer_correctness"),
    ]
    without = [summary for summary in card.summaries if summary.metric not in ("context_recall", "faithfulness")]
    assert [summary.metric for _, summary in first_of_layers(without)][:2] == ["recall@5", "answer_relevance"]
    assert first_of_layers([summary for summary in card.summaries if summary.kind == "amount"]) == []


def test_clearly_worse_needs_the_whole_interval(whole: Whole) -> None:
    """A segment is marked only where its whole interval lies on the worse side of the mean over all."""
    card = whole(120)
    card = replace(card, overview=replace(card.overview, causes_by_segment={}))
    temporal, northwind = list_worst_segments(card, ["recall@5"])
    assert (temporal.value, temporal.cells[0][2]) == ("temporal", True)  # 0.32 + 0.18 < 0.62
    assert (northwind.value, northwind.cells[0][2]) == ("northwind", False)  # 0.52 + 0.18 > 0.62


def test_the_worst_segment_is_that_where_most_failed(whole: Whole) -> None:
    """It is ranked by the share that failed, not by the first row of a column; a value without any mean is not it."""
    card = whole(120)
    column = "question type" if "question type" in card.segments else next(iter(card.segments))
    values = list(card.segments[column])
    n = {name: max(summary.n for summary in card.segments[column][name]) for name in values}
    for at, name in enumerate(values):
        lost = {other: {"noise": n[other] if place == at else 0} for place, other in enumerate(values)}
        changed = replace(card, overview=replace(card.overview, causes_by_segment={column: lost}))
        worst = list_worst_segments(changed, ["recall@5"])[0]
        assert (worst.value, worst.failed) == (name, n[name])
        assert ", by failures" in printed(changed, 120)
        bare = tuple(replace(one, mean=None, interval=None, scored=0) for one in card.segments[column][name])
        blank = replace(changed, segments={column: {**card.segments[column], name: bare}})
        assert list_worst_segments(blank, ["recall@5"])[0].value != name
        assert [value.name for value in rank_values(blank, column, ["recall@5"])][-1] == name  # all of it failed: told
