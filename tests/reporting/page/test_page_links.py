"""The page as a browser would take it: what it loads, what its links land on, what is read out."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any

from ragauge.evaluation.scorecard import drill_down as behind
from ragauge.evaluation.scorecard.html import render_report
from ragauge.scores.results.scorecard import ScorecardData

Whole = Callable[..., ScorecardData]
Tree = Callable[[ScorecardData], Any]


# ---- what it loads ----


def test_page_needs_nothing_from_outside(page: Any) -> None:
    """The page has no script and asks for nothing: no address leaves it, no style attribute, no handler."""
    page.check_closed()


def test_policy_lets_only_the_own_style_sheet_through(page: Any) -> None:
    """The page's policy forbids everything but the one style element, named by the hash of its text."""
    (style,) = page.all("style")
    digest = base64.b64encode(hashlib.sha256(style.text.encode()).digest()).decode()
    (policy,) = [m.attributes["content"] for m in page.all("meta") if "http-equiv" in m.attributes]
    assert policy == f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


def test_links_of_a_framed_page_stay_in_its_frame(whole: Whole) -> None:
    """A page made for the srcdoc of a frame names itself as the base of its links; one made for a file has no base."""
    card = whole(5, worst=0)
    assert '<base href="about:srcdoc">' in render_report(card, framed=True)
    assert "base-uri" not in render_report(card, framed=True)
    assert "<base" not in render_report(card)


def test_hostile_strings_in_every_field_stay_text(whole: Whole, tree: Tree) -> None:
    """Markup, quotes and control characters in any field neither make an element nor reach the page."""
    evil = "\"'><img src=//x onerror=alert(1)><script>a</script></style></svg></title>&lt;{{7*7}}"
    evil += "\x00\x1b[31m\x9b\ud800\u202e"
    page = tree(whole(30, text=lambda words: f"{words}{evil}"))
    page.check_closed()
    page.check_links()
    assert page.text.count("<script>a</script>") > 100
    assert "{{7*7}}" in page.text
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]", page.text)


def test_names_that_look_alike_get_ids_of_their_own(whole: Whole, tree: Tree) -> None:
    """Segment values and ids that differ only in marks, or hold nothing an id can, are still told apart."""
    card = whole(20)
    rows = [
        replace(
            row,
            query_id=("a b", "a-b", "a.b", "??", "")[place % 5] + "!" * (place // 5),
            segments={"x y": "p q", "x-y": "p-q"},
        )
        for place, row in enumerate(card.overview.listed)
    ]
    summaries = card.segments["type"]["temporal"]
    page = tree(
        replace(
            card,
            segments={"x y": {"p q": summaries, "?": summaries}, "x-y": {"p-q": summaries, "!": summaries}},
            overview=replace(card.overview, listed=tuple(rows)),
            worst=(),
        )
    )
    page.check_links()


# ---- what links land on ----


def test_every_link_lands_on_something(page: Any) -> None:
    """Each link has its target in the page, no two elements share an id."""
    page.check_links()


def test_claim_leads_to_the_sentence_that_decided_it(page: Any) -> None:
    """A contradicted claim links to the marked sentence of the passage, which links back to the verdict."""
    ids = page.by_id()
    body = page.with_class("ex-body")[0]
    (claim,) = [node for node in body.with_class("contradicted") if node.tag == "a"]
    assert claim.text == "Restores cost 12 euros."
    assert [node.text for node in claim.with_class("miss")] == ["12 euros"]
    anchor = claim.attributes["href"][1:]
    assert anchor.endswith("-p2-w2")
    passage = next(p for p in body.with_class("passage") if any(s.attributes.get("id") == anchor for s in p.all("sup")))
    (mark,) = [node for node in passage.all("mark") if "contradicted" in node.classes]
    assert mark.text == "They cost nothing."
    back = next(ids[anchor].all("a")).attributes["href"][1:]
    assert "contradicted by the passages" in ids[back].text
    assert "12 euros" in ids[back].text


def test_labels_show_without_colour(page: Any) -> None:
    """Every claim of an answer carries a sign and its label in words beside its colour."""
    body = page.with_class("ex-body")[0]
    signs = {sup.text for sup in body.all("sup")}
    for sign, words in (
        ("✓1", "supported by the passages"),
        ("✗2", "contradicted by the passages"),
        ("○3", "not in the passages"),
        ("?4", "no verdict"),
    ):
        assert f"{words}, claim {sign}" in signs


def test_gold_span_is_marked_in_its_passage(page: Any) -> None:
    """The words of a labelled span are marked, apart from what the judge found."""
    body = page.with_class("ex-body")[0]
    gold = "".join(node.text for node in body.all("mark") if "gold" in node.classes)
    assert gold == "The nightly backup takes 40 minutes on the second appliance."


def test_pareto_bar_leads_to_exactly_the_failures_of_its_cause(whole: Whole, page: Any) -> None:
    """The group that a cause's bar lands on lists the failed examples of that cause, all of them."""
    card = whole(60)
    ids = page.by_id()
    chart = next(node for node in page.with_class("chart") if "failed examples" in node.text)
    bars = dict.fromkeys(link.attributes["href"] for link in chart.all("a") if "href" in link.attributes)
    assert len(bars) == len(card.causes)
    for bar, (cause, count) in zip(bars, card.causes.items(), strict=True):
        heading = ids[bar[1:]]
        assert heading.text == (cause or "cause not decided")
        group = next(node for node in page.with_class("group") if heading in list(node.all("h3")))
        names = {row.query_id for row in card.overview.listed if row.failed and row.cause == cause}
        assert {next(row.all("th")).text for row in group.all("tr") if row.attributes.get("id")} == names
        assert len(names) == count


def test_histogram_bar_leads_to_the_examples_in_its_bin(whole: Whole, page: Any) -> None:
    """Each bin's list names examples whose score lies in the bin, and as many as the bar is high."""
    card = whole(60)
    ids, rows = page.by_id(), {row.query_id: row for row in card.overview.listed}
    shown = next(found for found in card.overview.distributions if found.metric == "faithfulness")
    seen = 0
    for place, part in enumerate(shown.bins):
        if part.count:
            names = [link.text for link in ids[f"bin-faithfulness-{place}"].all("a") if link.text != "close"]
            values = [rows[name].values["faithfulness"] for name in names]
            assert len(values) == part.count
            assert all(part.low <= value <= part.high for value in values)
            seen += len(values)
    assert seen == 60


def test_long_list_says_how_many_it_leaves_out(whole: Whole, tree: Tree) -> None:
    """A mark with more examples behind it than are named says how many more there are."""
    card = whole(300, worst=1)
    page = tree(card)
    one = page.by_id()["rank-1"]
    links = [link for link in one.all("a") if link.text != "close"]
    mine = sum(1 in (row.used or ()) for row in card.overview.listed)
    more = sum(int(found) for found in re.findall(r"and (\d+) more", one.text))
    assert len(links) + more == mine > behind.MAX_LINKS


def test_segment_cell_leads_to_its_examples(whole: Whole, page: Any) -> None:
    """A row of the heat map links to a list of the examples of that segment, failed ones by cause."""
    card = whole(60)
    mine = [row for row in card.overview.listed if row.segments["type"] == "temporal"]
    found = page.by_id()["seg-type-temporal"]
    assert {link.text for link in found.all("a")} - {"close"} == {row.query_id for row in mine}
    assert f"passed ({sum(not row.failed for row in mine)})" in found.text


def names_in(node: Any) -> list[str]:
    """The examples that a list names."""
    return [link.text for link in node.all("a") if link.text != "close"]


def parts_of(node: Any) -> dict[str, list[str]]:
    """The parts of a list: title -> examples."""
    return {part.text.partition(" (")[0]: names_in(part) for part in node.with_class("part")}


def test_every_mark_of_every_chart_is_a_link(page: Any) -> None:
    """No bar, dot, line of an interval or slice stands without a link to a list of examples."""
    ids = page.by_id()
    for figure in page.all("figure"):
        title = next(figure.all("h3", "h4", "div")).text
        (chart,) = figure.with_class("chart")
        linked = [shape for link in chart.all("a") for shape in link.all("path", "line", "rect")]
        assert linked, title
        marks = [
            shape
            for group in chart.all("g")
            for shape in group.parts
            if getattr(shape, "tag", "") in ("path", "line", "rect") and drawn(shape)
        ]
        assert not [shape.attributes for shape in marks], title
        for link in chart.all("a"):
            target = ids[link.attributes["href"][1:]]
            assert {"behind", "part"} & set(target.classes) or target.tag == "h3", title
    for name in ("scores", "changes", "strip"):
        (table,) = page.with_class(name)
        for track in table.with_class("track"):
            (link,) = track.all("a")
            assert "behind" in ids[link.attributes["href"][1:]].classes, name


def drawn(shape: Any) -> bool:
    """Whether a shape is a mark: not a grid line, an axis, a frame, or the line through a Pareto chart's points."""
    fill, stroke = (shape.attributes.get(name, "none") for name in ("fill", "stroke"))
    return fill not in ("none", "transparent") or stroke not in ("none", "transparent", "var(--line)", "var(--soft)")


def test_position_leads_to_relevant_passages_there(whole: Whole, page: Any) -> None:
    """A third of the context lists the examples with a relevant passage in it, those that passed one over first."""
    card = whole(60)
    for name, ranks in (("first", {1, 2}), ("middle", {3}), ("last", {4, 5})):  # of five passages
        relevant = {row.query_id: ranks & set(row.relevant or ()) for row in card.overview.listed}
        there = {query_id: wanted for query_id, wanted in relevant.items() if wanted}
        used = {row.query_id: set(row.used or ()) for row in card.overview.listed}
        found = parts_of(page.by_id()[f"third-{name}"])
        assert list(found) == ["not used", "used"]
        assert set(found["not used"]) == {query_id for query_id, wanted in there.items() if wanted - used[query_id]}
        assert set(found["used"]) == {query_id for query_id, wanted in there.items() if not wanted - used[query_id]}


def test_stage_leads_to_the_examples_that_lost_evidence_there(whole: Whole, page: Any) -> None:
    """A stage lists the examples of which fewer labelled documents are left than after the stage before."""
    card = whole(60)
    stages = [stage.name for stage in card.overview.stages]
    for before, name in pairwise(["", *stages]):
        found = parts_of(page.by_id()[f"stage-{name.replace(' ', '-')}"])
        lost = {row.query_id for row in card.overview.listed if row.kept[name] < row.kept.get(before, 1.0)}
        assert set(found.get("lost here", ())) == lost
        assert len(found["nothing lost here"]) == 60 - len(lost)


def test_latency_leads_to_the_slowest(whole: Whole, page: Any) -> None:
    """A stage's dot lists all examples, the slowest first; its lines those between the percentiles that they join."""
    card = whole(60)
    timing = card.overview.timings[1]
    taken = {row.query_id: row.timings["retrieval"] for row in card.overview.listed}
    ids = page.by_id()
    every = names_in(ids["taken-retrieval"])
    assert every == sorted(taken, key=lambda name: -taken[name])
    assert set(names_in(ids["taken-part-retrieval-0"])) == {name for name in taken if taken[name] > timing.p95}
    middle = {name for name in taken if timing.p50 < taken[name] <= timing.p95}
    assert set(names_in(ids["taken-part-retrieval-1"])) == middle
    assert f"{taken[every[0]]:.0f} ms" in ids["taken-retrieval"].text


def test_change_leads_to_what_lost_most(whole: Whole, page: Any) -> None:
    """The bar of a metric that got worse lists the examples that lost most, with before and now."""
    baseline = whole(60).baseline
    assert baseline is not None
    (change, *_) = baseline.worse
    (table,) = page.with_class("changes")
    row = next(row for row in table.all("tr") if next(row.all("th")).text.startswith(change.metric))
    (bar,) = [link for svg in row.all("svg") for link in svg.all("a")]
    found = page.by_id()[bar.attributes["href"][1:]]
    assert names_in(found) == [one.query_id for one in change.moved]
    assert "1.00 → 0.00" in found.text


def test_mean_leads_to_its_worst_examples(whole: Whole, page: Any) -> None:
    """The line of a mean leads to the lowest scores; of a metric that should be low, to the highest."""
    rows = whole(60).overview.listed
    ids, (table,) = page.by_id(), page.with_class("scores")
    for metric, worst in (("faithfulness", min), ("contradicted", max)):
        row = next(row for row in table.all("tr") if next(row.all("th")).text.startswith(metric))
        (link,) = next(row.all("svg")).all("a")
        named = names_in(ids[link.attributes["href"][1:]])
        values = {row.query_id: row.values[metric] for row in rows}
        assert worst(values.values()) in {values[name] for name in named}


def test_mark_whose_examples_are_not_listed_says_so(whole: Whole, tree: Tree) -> None:
    """Of a run larger than its list, a mark none of whose examples is listed leads to a note with their number."""
    card = whole(60)
    few = tuple(row for row in card.overview.listed if row.values["ignored_top_ranked"] == 0.0)
    page = tree(replace(card, overview=replace(card.overview, listed=few), worst=()))
    page.check_links()
    count = 60 - len(few)
    found = page.by_id()["bin-ignored_top_ranked-1"]
    assert f"{count} examples, none of them among the {len(few)} listed on this page" in found.text


# ---- what is read out ----


def test_headings_go_down_one_step_at_a_time(page: Any) -> None:
    """There is one first heading, and no heading skips a level."""
    levels = [int(node.tag[1]) for node in page.all("h1", "h2", "h3", "h4", "h5", "h6")]
    assert levels.count(1) == 1
    assert all(later <= earlier + 1 for earlier, later in pairwise(levels))


def test_tables_name_their_rows_and_columns(page: Any) -> None:
    """Every header cell says whether it heads a row or a column, and every scrolling box can be reached by key."""
    assert all(node.attributes.get("scope") in ("row", "col", "rowgroup") for node in page.all("th"))
    boxes = page.with_class("scroll")
    assert boxes
    assert all(box.attributes["tabindex"] == "0" and box.attributes["aria-label"] for box in boxes)


def test_chart_has_its_numbers_and_links_as_a_table(page: Any) -> None:
    """A chart is hidden from screen readers and keys; the table beside it has every link that its marks have."""
    figures = list(page.all("figure"))
    assert len(figures) > 20
    for figure in figures:
        (chart,) = figure.with_class("chart")
        assert chart.attributes["aria-hidden"] == "true"
        marks = {link.attributes["href"] for link in chart.all("a") if "href" in link.attributes}
        assert all(link.attributes["tabindex"] == "-1" for link in chart.all("a"))
        (table,) = figure.all("table")
        assert marks <= {link.attributes["href"] for link in table.all("a")}


def test_charts_take_their_colours_from_the_page(page: Any) -> None:
    """No chart has a colour of its own, so that dark mode and print reach it."""
    for svg in page.all("svg"):
        for node in (svg, *svg.all()):
            for name in ("fill", "stroke"):
                assert node.attributes.get(name, "none") in ("none", "currentColor", "transparent") or node.attributes[
                    name
                ].startswith("var(--")
