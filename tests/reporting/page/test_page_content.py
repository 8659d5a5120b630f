"""What the page says, what it does where something is lacking, and what it holds and takes at most."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from tests.conftest import OwnTime

from ragauge.core.example import Example
from ragauge.core.response import Response
from ragauge.evaluation.scorecard.html import render_report
from ragauge.scores.indicators import describe_reading
from ragauge.scores.results.overview import Overview
from ragauge.scores.results.scorecard import JudgeNote, ScorecardData

Whole = Callable[..., ScorecardData]
Tree = Callable[[ScorecardData], Any]


# ---- what it says ----


def test_page_says_how_the_run_stands_against_its_baseline(page: Any) -> None:
    """With a baseline the header names what got worse and better, and the scorecard has the changes."""
    (against,) = page.with_class("against")
    assert against.text.startswith(
        "Mixed results against main: worse on recall@5 −0.10 and context_recall −0.08; better on"
    )
    assert "answer_relevance +0.06" in against.text
    assert against in list(next(page.all("header")).all())
    assert "−0.10 [−0.17, −0.04] ▼ worse" in page.with_class("scores")[0].text


def test_first_thing_to_do_stands_at_the_top(whole: Whole, page: Any) -> None:
    """The header says what to do first, with a link to why."""
    (verdict,) = page.with_class("verdict")
    assert f"Start here: {whole(60).findings[0].fix}" in verdict.text
    assert [link.attributes["href"] for link in verdict.all("a")] == ["#todo"]


def test_what_changed_shows_every_metric_once(whole: Whole, page: Any) -> None:
    """Each metric of both runs stands under its verdict, with before, now, difference and where it fell most."""
    baseline = whole(60).baseline
    assert baseline is not None
    (table,) = page.with_class("changes")
    rows = {next(next(row.all("th")).all("a")).text: row.text for row in table.all("tr") if list(row.all("td"))}
    assert set(rows) == {change.metric for change in baseline.metrics}
    assert "0.72 → 0.62" in rows["recall@5"]
    assert "−0.10 [−0.17, −0.04]" in rows["recall@5"]
    assert "largest where type=temporal (−0.20, elsewhere −0.05)" in rows["recall@5"]
    assert "+8.4 ms [+4.19, +12.6]" in rows["latency"]
    assert "+1%" in rows["latency"]
    heads = [row.text for row in table.all("tr") if "layer" in row.classes]
    assert [head.partition(" (")[0] for head in heads] == [
        "▼ Worse",
        "▲ Better",
        "? Not enough data",
        "= No change seen",
    ]
    assert len(list(table.all("svg"))) == len(rows) - 1  # one has no interval


def test_causes_stand_before_and_after(whole: Whole, page: Any) -> None:
    """Every cause of either run has its count in both, and the same bars."""
    card = whole(60)
    assert card.baseline is not None
    (table,) = page.with_class("pairs")
    rows = {next(row.all("th")).text: [cell.text for cell in row.all("td")][:2] for row in table.all("tr")}
    for cause in {*card.causes, *card.baseline.failures.base}:
        counts = [str(card.baseline.failures.base.get(cause, 0)), str(card.causes.get(cause, 0))]
        assert rows[cause or "cause not decided"] == counts
    assert rows["all failures"] == [str(card.baseline.failures.failed_base), str(card.failed_examples)]


def test_finding_shows_what_it_rests_on(whole: Whole, page: Any) -> None:
    """Each reading of a finding is a bar against its point, with its numbers in words beside it."""
    card = whole(60)
    for finding, box in zip(card.findings, page.with_class("finding"), strict=True):
        items = [item for group in box.with_class("readings") for item in group.all("li")]
        assert [next(item.all("a")).text for item in items] == [one.metric for one in finding.readings]
        for item, one in zip(items, finding.readings, strict=True):
            assert describe_reading(one).removeprefix(one.metric).lstrip(" ,") in item.text
            assert len(item.with_class("track")) == 1
    first, second = page.with_class("finding")[:2]
    assert [svg.classes for svg in first.with_class("track")] == [["track", "worse"], ["track"]]
    assert "Difference on a scale from −0.2 to +0.2" in first.text
    # the starting point 0.85 and the interval 0.63 to 0.77, on 0 to 1
    marks = {line.attributes["class"]: line.attributes for line in second.with_class("track")[0].all("line")}
    assert marks["point"]["x1"] == "85.0%"
    assert (marks["reach"]["x1"], marks["reach"]["x2"]) == ("63.0%", "77.0%")


def test_flag_is_raised_above_thirty_percent(whole: Whole, tree: Tree) -> None:
    """The flag on ignored first passages stands where the whole interval lies above 30 %, and not otherwise."""
    card = whole(40, worst=0)
    alignment = card.overview.alignment
    assert alignment is not None
    assert "Flag:" in tree(card).text
    calm = replace(card, overview=replace(card.overview, alignment=replace(alignment, flagged=False)))
    assert "Flag:" not in tree(calm).text


def test_sampled_list_says_so(whole: Whole, tree: Tree) -> None:
    """A list that holds only some of the responses says how many of how many."""
    card = whole(50, worst=0)
    text = tree(replace(card, overview=replace(card.overview, listed_of=4_321))).text
    assert "50 of 4,321 responses" in text


# ---- what may be lacking ----


def test_page_of_nothing_but_means(whole: Whole, tree: Tree) -> None:
    """Without overview, baseline, findings, causes and examples the page stands, and its links land."""
    bare = replace(whole(30), overview=Overview(), baseline=None, findings=(), causes={}, failed_examples=0, worst=())
    bare = replace(bare, pending=0)
    page = tree(bare)
    page.check_links()
    assert "No failed example among 30." in page.text
    assert not {"failures", "spread", "alignment", "cost", "examples", "all"} & set(page.by_id())


def test_page_of_an_incomplete_run_says_so_at_the_top(whole: Whole, tree: Tree) -> None:
    """The header of a run with responses to come counts them, and says to finish it before anything else."""
    card = whole(24)
    page = tree(replace(card, run=replace(card.run, state="interrupted", planned=60, done=24)))
    (verdict,) = page.with_class("verdict")
    assert verdict.text.startswith("Not complete: 24 of 60 responses.")
    assert "Start here: Finish the run: repeat the ragauge run command of reference RAG on golden" in verdict.text


def test_causes_lead_to_examples_without_a_list(whole: Whole, tree: Tree) -> None:
    """Where no responses are listed, a bar leads to the first example of its cause that is shown in full."""
    page = tree(replace(whole(60), overview=Overview()))
    page.check_links()
    chart = page.with_class("chart")[0]
    assert any(link.attributes["href"].startswith("#ex-") for link in chart.all("a") if "href" in link.attributes)


def test_all_metrics_failed(whole: Whole, tree: Tree) -> None:
    """Metrics without any value are shown as such, with the bounds that are known."""
    card = whole(30, worst=1)
    failed = tuple(
        replace(summary, scored=0, undefined=0, failed=30, mean=None, interval=None, micro=None, low=0.0, high=1.0)
        for summary in card.summaries
    )
    page = tree(replace(card, summaries=failed, overview=Overview(), baseline=None))
    page.check_links()
    assert "0 scored · 30 failed range with failed 0.00 to 1.00" in page.text


def test_no_judge_and_one_example(whole: Whole, tree: Tree) -> None:
    """One example that nobody judged makes a page that says so."""
    card = whole(2, worst=1)
    one = replace(card.worst[0], evidence={}, cause=None)
    page = tree(replace(card, n=1, judge=JudgeNote(""), worst=(one,)))
    page.check_links()
    assert "No judge was used" in page.text
    assert "1 example ·" in " ".join(page.text.split())


def test_nothing_at_all(whole: Whole, tree: Tree) -> None:
    """A run without examples and without metrics still makes a page."""
    card = replace(
        whole(2),
        n=0,
        summaries=(),
        segments={},
        findings=(),
        causes={},
        failed_examples=0,
        worst=(),
        overview=Overview(),
        baseline=None,
        definitions={},
    )
    page = tree(card)
    page.check_links()
    assert "Nothing was evaluated." in page.text


def test_response_without_passages_answer_or_texts(whole: Whole, tree: Tree) -> None:
    """A failed system, an empty retrieval and passages that were not recorded are told apart."""
    card = whole(6, worst=3)
    first, second, third = card.worst
    none: Response = replace(first.response, passages=None, answer=None, citations=None, error="timed out")
    empty = replace(second.response, passages=(), citations=None)
    texts = replace(third.response, passages=tuple(replace(p, text=None) for p in third.response.passages or ()))
    page = tree(
        replace(
            card, worst=(replace(first, response=none), replace(second, response=empty), replace(third, response=texts))
        )
    )
    page.check_links()
    one, two, three = page.with_class("ex-body")
    assert "The system failed: timed out" in one.text
    assert "Passages: not recorded" in one.text
    assert "nothing was retrieved" in two.text
    assert "(no text recorded)" in three.text


def test_other_scripts_keep_their_direction(whole: Whole, tree: Tree) -> None:
    """Questions, answers and passages say their own direction; ids among them are kept apart from it."""
    card = whole(6, worst=1)
    arabic, hebrew = "كم يستغرق النسخ الاحتياطي الليلي؟", "הגיבוי אורך ארבעים דקות."
    view = card.worst[0]
    example: Example = replace(view.example, query=arabic, references=(hebrew,))
    view = replace(view, example=example, response=replace(view.response, answer=hebrew), evidence={})
    page = tree(replace(card, worst=(view,)))
    texts = [node for node in page.with_class("text") if hebrew in node.text]
    assert len(texts) == 2  # answer and reference
    assert all(node.attributes["dir"] == "auto" for node in texts)
    assert any(node.text.strip() == arabic for node in page.all("bdi"))


def test_long_passage_keeps_what_decided(whole: Whole, tree: Tree) -> None:
    """Of a long passage the words around its marks are shown with the beginning, and how much that is."""
    card = whole(6, worst=1)
    view = card.worst[0]
    first, *rest = view.response.passages or ()
    assert first.text is not None
    tail = "x" * 200_000
    long = replace(first, text=first.text + tail, span=None)
    page = tree(replace(card, worst=(replace(view, response=replace(view.response, passages=(long, *rest))),)))
    passage = page.with_class("passage")[0]
    assert "The nightly backup takes 40 minutes on the second appliance." in passage.text
    assert f"of {len(first.text) + len(tail):,} characters" in passage.text
    assert len(passage.text) < 3_000


@pytest.mark.prove
def test_thousand_examples_stay_small_and_quick(whole: Whole, own_time: OwnTime) -> None:
    """A page over 1,000 examples with texts of usual length is under 5 MB, made in under 3 s of processor time."""
    story = "The appliance keeps a copy of every file for the days that the plan names and then archives it. "
    card = whole(1_000, text=lambda words: f"{words} {story}")
    made: list[str] = []
    own_time.within(3, lambda: made.append(render_report(card)), times=1)
    page = made[0]
    assert len(page.encode()) < 5_000_000
    assert "All 1,000 responses" in page


def test_every_listed_example_is_on_the_page(whole: Whole, tree: Tree) -> None:
    """What analysis lists is what the page shows: there is no second limit."""
    page = tree(whole(40, worst=0))
    assert "All 40 responses" in page.text
    assert len([row for row in page.all("tr") if re.fullmatch(r"e\d+", row.attributes.get("id", ""))]) == 40
