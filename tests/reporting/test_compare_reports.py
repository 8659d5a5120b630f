"""A comparison as page, Markdown and terminal: hostile text stays text, and nothing is asked of anybody."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import pytest
from rich.console import Console
from tests.reporting.conftest import HOSTILE

from ragauge.comparison.tables.sections import build_comparison_table, build_sections
from ragauge.comparison.tables.words import describe_comparison, format_overall, format_p_value, format_size
from ragauge.core.json_keys import encode
from ragauge.core.response import Run
from ragauge.evaluation.scorecard.html import render_comparison
from ragauge.rendering.writers.markdown import render_markdown
from ragauge.rendering.writers.terminal import render_terminal
from ragauge.scores.results.comparison import (
    AmountChange,
    BaselineComparison,
    ChangeEffect,
    ConfigDiff,
    ExampleDelta,
    Failures,
    Flip,
    Flipped,
    Flips,
    Matched,
    MetricChange,
    RunComparison,
    SegmentChange,
    SegmentDrop,
    SegmentLoss,
    Setting,
    Side,
)
from ragauge.scores.results.overview import MeanEstimate
from ragauge.scores.results.scorecard import Finding, Reading
from ragauge.stats.weighted import Interval

GIVEN = {"script", "img", "iframe", "object", "embed", "form", "input", "link", "base", "button"}


def change(metric: str, base: float | None, new: float | None, verdict: str, **more: object) -> MetricChange:
    d = None if base is None or new is None else new - base
    interval = None if d is None else Interval(d - 0.04, d + 0.04, "paired t")
    facts: dict[str, object] = {
        "measures": "generation",
        "direction": "higher",
        "kind": "mean",
        "p_value": 0.001,
        "test": "paired t",
        "effect": ChangeEffect("Hedges' g of differences", 0.3),
        "wins": 10,
        "ties": 70,
        "losses": 20,
        "failed": 2,
        "alone": verdict,
        "corrected": 0.01,
        "discovery": 0.005,
        "moved": (ExampleDelta("q1", 1.0, 0.0), ExampleDelta(f"q2 {HOSTILE}", 0.5, 0.25)) if verdict == "worse" else (),
    }
    found = MeanEstimate(d, interval, 0 if d is None else 100)
    return MetricChange(metric, base=base, new=new, difference=found, verdict=verdict, **{**facts, **more})  # type: ignore[arg-type]


def comparison(name: str = "new", text: str = HOSTILE) -> RunComparison:
    fell = change("faithfulness", 0.8, 0.65, "worse")
    metrics = (
        fell,
        change("recall@5", 0.6, 0.7, "better", measures="retrieval"),
        change("self_knowledge", 0.1, 0.2, "changed"),
        change("mrr", 0.5, 0.5, "no change seen"),
        change("completeness", None, None, "not enough data", failed=3),
        change("latency", 900.0, 450.0, "better", kind="amount", direction="lower"),
    )
    hidden = change("recall@5", 0.6, 0.4, "worse", measures="retrieval")
    segments = (
        SegmentChange("type", text, hidden, 0.1),
        SegmentChange("type", "temporal", fell, -0.15),
        SegmentChange("type", "rare", change("mrr", 0.5, 0.3, "no change seen", alone="worse"), 0.0),
    )
    quantiles = {
        0.5: MeanEstimate(840.0, Interval(812, 871, "order statistics"), 100),
        0.95: MeanEstimate(1900.0, None, 100),
    }
    sides = Side(False, answer=f"before {text}"), Side(True, f"hallucinated {text}", text, None)
    reading = Reading("faithfulness", "low", 0.65, 0.8, Interval(-0.19, -0.11, "t"), text, "baseline", -0.15, 100)
    finding = Finding(
        "noise", text, text, text, text, text, 3, 5, confidence="high", against="baseline", readings=(reading,)
    )
    turned = Flip("q1", f"Why? {text}", -0.4, (Flipped("recall@5", 1, 0),), *sides)
    base = Run("id-base", "main")
    return RunComparison(
        base,
        Run(f"id-{name}", f"{name} {text}", set_version="2", system=text, git=text, variant="replayed"),
        Matched(100, 70, 3, (text, "q9"), ("b1",)),
        metrics,
        segments,
        (AmountChange("latency", quantiles, quantiles, 100),),
        Flips(20, 10, 5, 2, (turned, Flip(text, text, 0.2, (), sides[1], sides[0]))),
        ConfigDiff(
            (Setting(f"a.{text}", new=text),), (Setting("gone", base=[text, 1]),), (Setting("k", 5, {"x": text}),)
        ),
        Failures({"noise": 3}, {text: 4, "": 1}, 3, 5),
        (finding,),
        (text, "Only 5 examples."),
    )


def compared(*runs: RunComparison, text: str = HOSTILE) -> BaselineComparison:
    return BaselineComparison(
        Run("id-base", f"main {text}", set_name=text, set_version="1"), f"judge {text}", runs, 0.95, 6, 3
    )


@pytest.fixture(params=[1, 2], ids=["one run", "two runs"])
def whole(request: pytest.FixtureRequest) -> BaselineComparison:
    """A comparison with everything in it, of hostile strings."""
    return compared(*(comparison(f"new {n}") for n in range(request.param)))


class Seen(HTMLParser):
    """What a page holds: its elements, ids and links."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.attributes: list[str] = []
        self.policy = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        for name, value in attrs:
            self.attributes.append(name)
            if name == "id":
                self.ids.append(value or "")
            elif name in ("href", "xlink:href", "src"):
                self.links.append(value or "")
        found = dict(attrs)
        if found.get("http-equiv") == "Content-Security-Policy":
            self.policy = found["content"] or ""


def seen(page: str) -> Seen:
    found = Seen()
    found.feed(page)
    return found


def test_page_is_closed_and_hostile_text_stays_text(whole: BaselineComparison) -> None:
    """No script, no request, the report's policy; no tag or handler comes from the data; every link lands."""
    page = render_comparison(whole)
    found = seen(page)
    assert page.startswith("<!doctype html>")
    assert not GIVEN & set(found.tags)
    assert not [name for name in found.attributes if name.startswith("on")]
    assert found.policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "base-uri 'none'" in found.policy
    assert all(link.startswith("#") for link in found.links)
    assert {link[1:] for link in found.links} <= set(found.ids)
    assert len(found.ids) == len(set(found.ids))
    assert "\x1b" not in page
    assert "&lt;script&gt;" in page


def test_page_shows_every_part(whole: BaselineComparison) -> None:
    """The sentence, the forest with a mark a metric, segments, flips with both answers, causes, settings: all there."""
    page = render_comparison(whole)
    text = re.sub(r"<[^>]+>", " ", page)
    for said in (
        "Mixed results against",
        "Segments that got worse",
        "hidden",
        "Every metric",
        "Segments that changed",
        "Perhaps worse",
        "What the change means",
        "Failures by cause, before and now",
        "Examples that flipped",
        "before &lt;script",
        "no answer recorded",
        "Latency, tokens and cost",
        "What differs between the runs",
        "corrected by Holm",
        "70 only in this run",
    ):
        assert said in text, said
    assert page.count("<svg") >= 3 * len(whole.runs)
    assert 'href="#moved-1-faithfulness"' in page


def test_bars_of_causes_are_as_high_as_their_rows(whole: BaselineComparison) -> None:
    """The style sheet gives the drawing of failures before and now its height; a browser would make it 150 px high."""
    page = render_comparison(whole)
    assert '<svg class="pair"' in page
    assert re.search(r"(?m)(?:^|} )\.pair \{[^}]*\bheight: 20px;", page)


@pytest.mark.parametrize("width", [60, 80, 100, 140])
def test_terminal_fits_any_width(whole: BaselineComparison, width: int) -> None:
    """No line is wider than the terminal, no control character reaches it, and markup is printed as it is."""
    out = io.StringIO()
    Console(file=out, width=width, color_system=None).print(render_terminal(build_sections(whole)))
    lines = out.getvalue().splitlines()
    assert max(map(len, lines)) <= width
    assert "\x1b" not in out.getvalue()
    assert "[red]" in out.getvalue()


@pytest.mark.parametrize("width", [80, 140])
def test_terminal_cuts_no_name_and_no_number(width: int) -> None:
    """Metrics, segments and quantiles of usual lengths stand whole at 80 columns, those of amounts with their units."""
    fell = change("fabricated_specifics", 0.1, 0.2, "worse", direction="lower")
    slow = change("latency", 900.0, 903.6, "worse", kind="amount", direction="lower")
    quantiles = {0.5: MeanEstimate(840.0, Interval(812, 871, "order"), 100), 0.95: MeanEstimate(1900.0, None, 100)}
    found = replace(
        comparison(text="single_document"),
        metrics=(fell, slow),
        warnings=(),
        findings=(),
        segments=(SegmentChange("type", "single_document", fell, 0.1), SegmentChange("type", "x", slow, 3.6)),
        amounts=(AmountChange("latency", quantiles, quantiles, 100),),
        flips=Flips(),
    )
    out = io.StringIO()
    Console(file=out, width=width, color_system=None).print(render_terminal(build_sections(compared(found, text=""))))
    said = out.getvalue()
    assert "…" not in said
    rows = [" ".join(row.split()) for row in said.splitlines()]
    assert "type=single_document" in rows
    assert any(row.startswith("fabricated_specifics ↓") and "▼ +0.10 [+0.06, +0.14]" in row for row in rows)
    assert any(row.startswith("latency ↓ 900 → 904 ms +3.6 ms [") for row in rows)
    ends = " [812, 871]" if width == 140 else ""
    assert any(row.startswith(f"latency 840 ms{ends} 840 ms{ends} 1,900 ms 1,900 ms") for row in rows)


def test_share_of_an_amount_is_of_its_own_mean() -> None:
    """A small change of an amount is no 0 %; beside a segment the whole run's change is in the segment's unit."""
    slow = change("latency", 900.0, 903.6, "worse", kind="amount", direction="lower")  # 3.6 / 900 = 0.4 %
    part = change("latency", 100.0, 150.0, "worse", kind="amount", direction="lower")
    assert (format_size(slow), format_size(part)) == ("+0.4%", "+50%")
    rose = SegmentChange("type", "a", part, -90.0)  # 900 -> 810 overall: −10 %, not −90 % of the segment's 100
    assert format_overall(rose) == "−90"
    found = replace(comparison(text=""), metrics=(change("latency", 900.0, 810.0, "better", kind="amount"),))
    said = describe_comparison(replace(found, segments=(rose,)))
    assert "worse where type=a (latency +50%), though overall latency −10%" in said


FAST = change("latency", 900.0, 570.0, "better", kind="amount", direction="lower")
SLOW = change("latency", 900.0, 1350.0, "worse", kind="amount", direction="lower")


def only(*metrics: MetricChange, **more: Any) -> RunComparison:
    return replace(comparison(text=""), metrics=metrics, segments=(), flips=Flips(), **more)


@pytest.mark.parametrize(("amount", "word", "size"), [(FAST, "better", "−37%"), (SLOW, "worse", "+50%")])
def test_milliseconds_make_no_run_better_or_worse(amount: MetricChange, word: str, size: str) -> None:
    """Where quality is as it was, the headline says so first; new failures are named before what was gained."""
    same = only(amount, change("mrr", 0.5, 0.5, "no change seen"))
    assert same.verdict == "changed"
    said = describe_comparison(same)
    assert said.startswith(f"Changed from main: no change in quality seen; {word} on latency {size}")
    few = only(amount, change("mrr", 0.5, 0.3, "not enough data"))
    assert describe_comparison(few).startswith("Changed from main: too few examples to tell whether quality changed;")
    missed = replace(same, flips=Flips(2, 0, 2, 0))
    assert "seen; 2 examples newly failed; " in describe_comparison(missed)


def test_quality_comes_first_in_the_headline() -> None:
    """A run that answers better and takes longer is better, and says so in this order; latency alone decides alone."""
    better = only(SLOW, change("mrr", 0.5, 0.7, "better"))
    assert better.verdict == "better"
    assert describe_comparison(better).startswith("Better than main: mrr +0.20; worse on latency +50%")
    worse = only(FAST, change("mrr", 0.5, 0.3, "worse"))
    assert describe_comparison(worse).startswith("Worse than main: mrr −0.20; better on latency −37%")
    assert (only(FAST).verdict, only(SLOW).verdict) == ("better", "worse")
    unmeasured = change("mrr", None, None, "not enough data")
    assert only(FAST, unmeasured).verdict == "better"


def test_segments_of_latency_stand_behind_quality() -> None:
    """Where a fast run is slow in one segment, the sentence begins with what decides, and ends with that segment."""
    slow = SegmentChange("type", "how_many", replace(SLOW, base=100.0), -100.0)
    worse = replace(only(FAST, change("recall@5", 0.8, 0.6, "worse")), segments=(slow,))
    said = describe_comparison(worse)
    assert said.startswith("Worse than main: recall@5 −0.20; better on latency −37%; worse where type=how_many (")
    same = replace(only(FAST, change("mrr", 0.5, 0.5, "no change seen")), segments=(slow,))
    assert describe_comparison(same).startswith(
        "Changed from main: no change in quality seen; better on latency −37%; worse"
    )


def test_new_failures_of_the_system_are_named() -> None:
    """Calls that fail and did not before stand in the sentence, however good the rest, and once."""
    found = only(FAST, change("context_precision", 0.5, 0.61, "better"), newly_unanswered=4)
    assert describe_comparison(found).startswith(
        "Better than main: context_precision +0.11 and latency −37%; 4 calls failed that succeeded before"
    )
    alike = only(change("mrr", 0.5, 0.5, "no change seen"), newly_unanswered=1)
    assert describe_comparison(alike).startswith("No change seen against main: 1 call failed that succeeded before")
    clearly = change("system_failed", 0.0, 0.2, "worse", direction="lower", kind="rate")
    assert "calls failed" not in describe_comparison(only(clearly, newly_unanswered=20))


def test_the_table_of_several_runs_says_what_a_difference_is() -> None:
    """Every difference has its sign, what it is called and what it is to: on the page and in the terminal."""
    both = compared(*(replace(comparison(f"new {n}"), warnings=()) for n in range(2)), text="")
    out = io.StringIO()
    Console(file=out, width=140, color_system=None).print(render_terminal(build_sections(both)))
    told = " ".join(out.getvalue().split())
    page = " ".join(render_comparison(both).split())
    for text in (told, page):
        for cell in ("−0.15 ▼ worse", "+0.10 ▲ better", "+0.10 ◆ changed", "0.00 = none seen", "−50% ▲ better"):
            assert cell in text, cell
        assert "Each column shows the difference from" in text


def test_markdown_cells_hold(whole: BaselineComparison) -> None:
    """Every row of a table has the cells of its head, whatever the data holds, and no tag of the data survives."""
    text, _, command = render_markdown("", build_sections(whole), 2).rpartition("For charts")
    assert command.count("```") == 2  # code, where markup is text
    assert "<script>" not in text
    rows = 0
    for part in re.findall(r"(?:^\|.*\|$\n?)+", text, re.MULTILINE):
        counts = {len(re.findall(r"(?<!\\)\|", row)) for row in part.splitlines()}
        rows += len(part.splitlines())
        assert len(counts) == 1, part
    assert rows > 20


def test_every_output_says_what_could_have_been_seen() -> None:
    """Where no change of quality is seen, its least visible size is named; not where one is, and not of amounts.

    Where that is more than a metric can change, it is said that none can be seen.
    """
    found = only(
        change("mrr", 0.5, 0.5, "no change seen", detectable=0.0531),
        change("recall@5", 0.5, 0.4, "worse", detectable=0.07),
        change("latency", 900.0, 900.0, "no change seen", kind="amount", detectable=80.0),
        change("recall@3", 0.5, 0.5, "not enough data", detectable=1.33),
    )
    both = compared(found, text="")
    said = "Four of five such comparisons would detect a true change of this size: mrr 0.05."
    out = io.StringIO()
    Console(file=out, width=200, color_system=None).print(render_terminal(build_sections(both)))
    for shown in (out.getvalue(), render_markdown("", build_sections(both)), render_comparison(both)):
        assert said in shown
        assert "Too few examples to detect a change of any size: recall@3." in shown
    assert encode(both)["comparisons"][0]["metrics"]["mrr"]["detectable"] == 0.0531
    wide = MeanEstimate(0.3, Interval(0.2, 0.4, "t"), 100, Interval(-0.9, 1.5, "t"))
    doubted = only(replace(change("recall@3", 0.2, 0.5, "no change seen", detectable=1.33), difference=wide))
    assert "Too few examples, given judge error, to detect a change of any size: recall@3." in (
        render_markdown("", build_sections(compared(doubted, text="")))
    )


def test_sentence_begins_with_the_segment_that_carries_the_loss() -> None:
    """Where most of what a metric lost was lost in one segment, that stands before the metrics; else it does not."""

    def said(inside: float, outside: float, n: int) -> str:
        fell = change("recall@5", 0.8, 0.6, "worse", where=SegmentDrop("type=multi_hop", inside, outside, n))
        return describe_comparison(replace(comparison(text=""), metrics=(fell,), segments=()))

    assert said(-0.9, -0.02, 20).startswith(
        "Worse than main: in type=multi_hop (recall@5 −0.90, elsewhere −0.02); worse on recall@5 −0.20"
    )
    assert said(-0.3, -0.17, 20).startswith("Worse than main: recall@5 −0.20")
    both = SegmentDrop("type=who", -1.0, 0.0, 14, SegmentLoss("type=who or when", -1.0, 0.0, 20))
    fell = change("recall@5", 0.8, 0.6, "worse", where=both)
    assert describe_comparison(replace(comparison(text=""), metrics=(fell,), segments=())).startswith(
        "Worse than main: in type=who or when (recall@5 −1.00, elsewhere 0.00); worse on recall@5 −0.20"
    )


def test_sentence_names_what_the_mean_hides() -> None:
    """The verdict begins with the segment that got worse though the metric rose; then worse, better, changed."""
    found = comparison(text="multi_hop")
    said = describe_comparison(found)
    assert said.startswith(
        "Mixed results against main: worse where type=multi_hop (recall@5 −0.20), though overall recall@5"
    )
    assert "worse on faithfulness −0.15; better on recall@5 +0.10 and latency −50%" in said
    assert "changed self_knowledge +0.10" in said
    same = replace(found, metrics=found.metrics[3:4], segments=())
    assert describe_comparison(same) == (
        "No change seen against main: 1 metric compared (100 examples in both, scores failed on 2 of them)."
    )
    unknown = replace(found, metrics=found.metrics[4:5], segments=())
    assert describe_comparison(unknown).startswith("Not enough data to compare with main (")


def test_sentence_names_where_it_is_better_though_no_metric_is() -> None:
    """A run that is better in a segment alone is said to be so where, and never better without saying on what."""
    part = SegmentChange("type", "rare", change("recall@5", 0.4, 0.7, "better"), 0.02)
    flat = (change("recall@5", 0.5, 0.52, "no change seen"), change("mrr", 0.5, 0.5, "not enough data"))
    found = replace(comparison(text=""), metrics=flat, segments=(part,))
    assert describe_comparison(found).startswith(
        "Better than main where type=rare (recall@5 +0.30); not enough data for 1 ("
    )
    fell = replace(found, metrics=(change("mrr", 0.5, 0.4, "worse"),))
    assert describe_comparison(fell).startswith(
        "Mixed results against main: worse on mrr −0.10; better where type=rare (recall@5 +0.30)"
    )


def test_table_and_json_of_no_data() -> None:
    """A metric without examples is null in the table and the JSON, never 0."""
    found = compared(comparison())
    row = build_comparison_table(found).filter(metric="completeness").row(0, named=True)
    assert (row["n"], row["difference"], row["low"], row["verdict"]) == (0, None, None, "not enough data")
    mine = encode(found)["comparisons"][0]["metrics"]["completeness"]
    assert (mine["base"], mine["difference"], mine["ci"]) == (None, None, None)
    assert format_p_value(None) == "–"
