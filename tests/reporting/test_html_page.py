"""The page as a browser would take it: what it loads, what its links land on, what it says without colour."""

from __future__ import annotations

import base64
import hashlib
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise

import pytest

from ragauge.analysis.overview import Overview
from ragauge.analysis.scorecard import JudgeNote, Scorecard
from ragauge.data.example import Example
from ragauge.data.response import Response
from ragauge.reporting import lists
from ragauge.reporting.html import html

VOID = {"meta", "br", "wbr", "link", "hr", "img", "input"}
Whole = Callable[..., Scorecard]


class Node:
    """One element: its tag, attributes, children and text in order."""

    def __init__(self, tag: str, attributes: dict[str, str]) -> None:
        self.tag, self.attributes = tag, attributes
        self.parts: list[Node | str] = []

    def all(self, *tags: str) -> Iterator[Node]:
        for part in self.parts:
            if isinstance(part, Node):
                if not tags or part.tag in tags:
                    yield part
                yield from part.all(*tags)

    @property
    def text(self) -> str:
        return "".join(part if isinstance(part, str) else part.text for part in self.parts)

    @property
    def classes(self) -> list[str]:
        return self.attributes.get("class", "").split()

    def with_class(self, name: str) -> list[Node]:
        return [node for node in self.all() if name in node.classes]


class Tree(HTMLParser):
    """Reads a page into nodes; an element that is never closed or closed wrongly fails the test."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Node("page", {})
        self.open = [self.root]
        self.feed(text)
        self.close()
        assert [node.tag for node in self.open] == ["page"], "elements left open"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len({name for name, _ in attrs}) == len(attrs), f"an attribute twice on {tag}"
        node = Node(tag, {name: value or "" for name, value in attrs})
        self.open[-1].parts.append(node)
        if tag not in VOID:
            self.open.append(node)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open[-1].tag == tag, f"</{tag}> closes <{self.open[-1].tag}>"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        self.open[-1].parts.append(data)


def tree(card: Scorecard) -> Node:
    return Tree(html(card)).root


def by_id(page: Node) -> dict[str, Node]:
    counted = Counter(node.attributes["id"] for node in page.all() if "id" in node.attributes)
    assert [found for found, count in counted.items() if count > 1] == []
    return {node.attributes["id"]: node for node in page.all() if "id" in node.attributes}


def check_links(page: Node) -> None:
    ids = by_id(page)
    links = [node.attributes["href"] for node in page.all("a") if "href" in node.attributes]
    assert links
    assert {link for link in links if not link.startswith("#") or link[1:] not in ids} == set()
    assert all(re.fullmatch(r"[A-Za-z0-9-]+", found) for found in ids)
    named = {node.attributes["aria-labelledby"] for node in page.all() if "aria-labelledby" in node.attributes}
    assert named <= set(ids)


def check_closed(page: Node) -> None:
    """No script, handler, style attribute or address outside the page."""
    assert not {"script", "iframe", "img", "object", "link", "form", "base", "use", "image", "foreignobject"} & {
        node.tag for node in page.all()
    }
    for node in page.all():
        for name, value in node.attributes.items():
            assert not name.startswith("on"), name
            assert name not in ("style", "src", "srcset", "srcdoc", "action", "xlink:href"), name
            assert "//" not in value or name == "aria-label", (name, value)
    (style,) = page.all("style")
    assert "url(" not in style.text
    assert "@import" not in style.text


@pytest.fixture(scope="module")
def pages() -> dict[int, Node]:
    return {}


def page_of(whole: Whole, pages: dict[int, Node], n: int = 60) -> Node:
    """The page of a full scorecard, made once for the module."""
    if n not in pages:
        pages[n] = tree(whole(n))
    return pages[n]


# ---- what it loads ----


def test_page_needs_nothing_from_outside(whole: Whole, pages: dict[int, Node]) -> None:
    """The page has no script and asks for nothing: no address leaves it, no style attribute, no handler."""
    check_closed(page_of(whole, pages))


def test_policy_lets_only_the_own_style_sheet_through(whole: Whole, pages: dict[int, Node]) -> None:
    """The page's policy forbids everything but the one style element, named by the hash of its text."""
    page = page_of(whole, pages)
    (style,) = page.all("style")
    digest = base64.b64encode(hashlib.sha256(style.text.encode()).digest()).decode()
    (policy,) = [m.attributes["content"] for m in page.all("meta") if "http-equiv" in m.attributes]
    assert policy == f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


def test_hostile_strings_in_every_field_stay_text(whole: Whole) -> None:
    """Markup, quotes and control characters in any field neither make an element nor reach the page."""
    evil = "\"'><img src=//x onerror=alert(1)><script>a</script></style></svg></title>&lt;{{7*7}}"
    evil += "\x00\x1b[31m\x9b\ud800\u202e"
    page = tree(whole(30, text=lambda words: f"{words}{evil}"))
    check_closed(page)
    check_links(page)
    assert page.text.count("<script>a</script>") > 100
    assert "{{7*7}}" in page.text
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]", page.text)


def test_names_that_look_alike_get_ids_of_their_own(whole: Whole) -> None:
    """Segment values and ids that differ only in marks, or hold nothing an id can, are still told apart."""
    card = whole(20)
    rows = [
        replace(row, query_id=("a b", "a-b", "a.b", "??", "")[place % 5] + "!" * (place // 5),
                segments={"x y": "p q", "x-y": "p-q"})
        for place, row in enumerate(card.overview.listed)
    ]  # fmt: skip
    summaries = card.segments["type"]["temporal"]
    page = tree(replace(
        card, segments={"x y": {"p q": summaries, "?": summaries}, "x-y": {"p-q": summaries, "!": summaries}},
        overview=replace(card.overview, listed=tuple(rows)), worst=(),
    ))  # fmt: skip
    check_links(page)


# ---- what links land on ----


def test_every_link_lands_on_something(whole: Whole, pages: dict[int, Node]) -> None:
    """Each link has its target in the page, no two elements share an id."""
    check_links(page_of(whole, pages))


def test_claim_leads_to_the_sentence_that_decided_it(whole: Whole, pages: dict[int, Node]) -> None:
    """A contradicted claim links to the marked sentence of the passage, which links back to the verdict."""
    page = page_of(whole, pages)
    ids = by_id(page)
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


def test_labels_show_without_colour(whole: Whole, pages: dict[int, Node]) -> None:
    """Every claim of an answer carries a sign and its label in words beside its colour."""
    body = page_of(whole, pages).with_class("ex-body")[0]
    signs = {sup.text for sup in body.all("sup")}
    for sign, words in (("✓1", "supported by the passages"), ("✗2", "contradicted by the passages"),
                        ("○3", "not in the passages"), ("?4", "no verdict")):     # fmt: skip
        assert f"{words}, claim {sign}" in signs


def test_gold_span_is_marked_in_its_passage(whole: Whole, pages: dict[int, Node]) -> None:
    """The words of a labelled span are marked, apart from what the judge found."""
    body = page_of(whole, pages).with_class("ex-body")[0]
    gold = "".join(node.text for node in body.all("mark") if "gold" in node.classes)
    assert gold == "The nightly backup takes 40 minutes on the second appliance."


def test_pareto_bar_leads_to_exactly_the_failures_of_its_cause(whole: Whole, pages: dict[int, Node]) -> None:
    """The group that a cause's bar lands on lists the failed examples of that cause, all of them."""
    card, page = whole(60), page_of(whole, pages)
    ids = by_id(page)
    chart = next(node for node in page.with_class("chart") if "failed examples" in node.text)
    bars = [link for link in chart.all("a") if "href" in link.attributes]
    assert len(bars) == len(card.causes)
    for bar, (cause, count) in zip(bars, card.causes.items(), strict=True):
        heading = ids[bar.attributes["href"][1:]]
        assert heading.text == (cause or "no cause named")
        group = next(node for node in page.with_class("group") if heading in list(node.all("h3")))
        names = {row.query_id for row in card.overview.listed if row.failed and row.cause == cause}
        assert {next(row.all("th")).text for row in group.all("tr") if row.attributes.get("id")} == names
        assert len(names) == count


def test_histogram_bar_leads_to_the_examples_in_its_bin(whole: Whole, pages: dict[int, Node]) -> None:
    """Each bin's list names examples whose score lies in the bin, and as many as the bar is high."""
    card, page = whole(60), page_of(whole, pages)
    ids, rows = by_id(page), {row.query_id: row for row in card.overview.listed}
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


def test_long_list_says_how_many_it_leaves_out(whole: Whole) -> None:
    """A mark with more examples behind it than are named says how many more there are."""
    card = whole(300, worst=1)
    page = tree(card)
    one = by_id(page)["rank-1"]
    links = [link for link in one.all("a") if link.text != "close"]
    mine = sum(1 in (row.used or ()) for row in card.overview.listed)
    more = sum(int(found) for found in re.findall(r"and (\d+) more", one.text))
    assert len(links) + more == mine > lists.MOST_LINKS


def test_segment_cell_leads_to_its_examples(whole: Whole, pages: dict[int, Node]) -> None:
    """A row of the heat map links to a list of the examples of that segment, failed ones by cause."""
    card, page = whole(60), page_of(whole, pages)
    mine = [row for row in card.overview.listed if row.segments["type"] == "temporal"]
    found = by_id(page)["seg-type-temporal"]
    assert {link.text for link in found.all("a")} - {"close"} == {row.query_id for row in mine}
    assert f"not failed ({sum(not row.failed for row in mine)})" in found.text


# ---- what is read out ----


def test_headings_go_down_one_step_at_a_time(whole: Whole, pages: dict[int, Node]) -> None:
    """There is one first heading, and no heading skips a level."""
    levels = [int(node.tag[1]) for node in page_of(whole, pages).all("h1", "h2", "h3", "h4", "h5", "h6")]
    assert levels.count(1) == 1
    assert all(later <= earlier + 1 for earlier, later in pairwise(levels))


def test_tables_name_their_rows_and_columns(whole: Whole, pages: dict[int, Node]) -> None:
    """Every header cell says whether it heads a row or a column, and every scrolling box can be reached by key."""
    page = page_of(whole, pages)
    assert all(node.attributes.get("scope") in ("row", "col", "rowgroup") for node in page.all("th"))
    boxes = page.with_class("scroll")
    assert boxes
    assert all(box.attributes["tabindex"] == "0" and box.attributes["aria-label"] for box in boxes)


def test_chart_has_its_numbers_and_links_as_a_table(whole: Whole, pages: dict[int, Node]) -> None:
    """A chart is hidden from screen readers and keys; the table beside it has every link that its marks have."""
    figures = list(page_of(whole, pages).all("figure"))
    assert len(figures) > 20
    for figure in figures:
        (chart,) = figure.with_class("chart")
        assert chart.attributes["aria-hidden"] == "true"
        marks = {link.attributes["href"] for link in chart.all("a") if "href" in link.attributes}
        assert all(link.attributes["tabindex"] == "-1" for link in chart.all("a"))
        (table,) = figure.all("table")
        assert marks <= {link.attributes["href"] for link in table.all("a")}


def test_charts_take_their_colours_from_the_page(whole: Whole, pages: dict[int, Node]) -> None:
    """No chart has a colour of its own, so that dark mode and print reach it."""
    for svg in page_of(whole, pages).all("svg"):
        for node in (svg, *svg.all()):
            for name in ("fill", "stroke"):
                assert node.attributes.get(name, "none") in ("none", "currentColor", "transparent") or node.attributes[
                    name
                ].startswith("var(--")


# ---- what it says ----


def test_page_says_how_the_run_stands_against_its_baseline(whole: Whole, pages: dict[int, Node]) -> None:
    """With a baseline the header says better or worse with the metrics, and the scorecard has the changes."""
    page = page_of(whole, pages)
    (verdict,) = page.with_class("verdict")
    assert "Mixed against main: worse on recall@5 −0.10" in verdict.text
    assert "better on answer_relevance +0.06" in verdict.text
    assert "▼ worse" in page.with_class("scores")[0].text


def test_flag_is_raised_above_thirty_percent(whole: Whole) -> None:
    """The flag on ignored first passages stands where the whole interval lies above 30 %, and not otherwise."""
    card = whole(40, worst=0)
    alignment = card.overview.alignment
    assert alignment is not None
    assert "Flag:" in tree(card).text
    calm = replace(card, overview=replace(card.overview, alignment=replace(alignment, flagged=False)))
    assert "Flag:" not in tree(calm).text


def test_sampled_list_says_so(whole: Whole) -> None:
    """A list that holds only some of the responses says how many of how many."""
    card = whole(50, worst=0)
    text = tree(replace(card, overview=replace(card.overview, listed_of=4_321))).text
    assert "50 of 4,321 responses" in text


# ---- what may be lacking ----


def test_page_of_nothing_but_means(whole: Whole) -> None:
    """Without overview, baseline, findings, causes and examples the page stands, and its links land."""
    bare = replace(whole(30), overview=Overview(), baseline=None, findings=(), causes={}, failed_examples=0, worst=())
    page = tree(bare)
    check_links(page)
    assert "No failed example among 30." in page.text
    assert not {"failures", "spread", "alignment", "cost", "examples", "all"} & set(by_id(page))


def test_causes_lead_to_examples_without_a_list(whole: Whole) -> None:
    """Where no responses are listed, a bar leads to the first example of its cause that is shown in full."""
    page = tree(replace(whole(60), overview=Overview()))
    check_links(page)
    chart = page.with_class("chart")[0]
    assert any(link.attributes["href"].startswith("#ex-") for link in chart.all("a") if "href" in link.attributes)


def test_all_metrics_failed(whole: Whole) -> None:
    """Metrics without any value are shown as such, with the bounds that are known."""
    card = whole(30, worst=1)
    failed = tuple(
        replace(summary, scored=0, undefined=0, failed=30, mean=None, interval=None, micro=None, low=0.0, high=1.0)
        for summary in card.summaries
    )
    page = tree(replace(card, summaries=failed, overview=Overview(), baseline=None))
    check_links(page)
    assert "0 scored · 30 failed; between 0.00 and 1.00 with the failed ones" in page.text


def test_no_judge_and_one_example(whole: Whole) -> None:
    """One example that nobody judged makes a page that says so."""
    card = whole(2, worst=1)
    one = replace(card.worst[0], evidence={}, cause=None)
    page = tree(replace(card, n=1, judge=JudgeNote(""), worst=(one,)))
    check_links(page)
    assert "No judge was asked" in page.text
    assert "1 example ·" in " ".join(page.text.split())


def test_nothing_at_all(whole: Whole) -> None:
    """A run without examples and without metrics still makes a page."""
    card = replace(whole(2), n=0, summaries=(), segments={}, findings=(), causes={}, failed_examples=0, worst=(),
                   overview=Overview(), baseline=None, definitions={})     # fmt: skip
    page = tree(card)
    check_links(page)
    assert "Nothing was evaluated." in page.text


def test_response_without_passages_answer_or_texts(whole: Whole) -> None:
    """A failed system, an empty retrieval and passages that were not recorded are told apart."""
    card = whole(6, worst=3)
    first, second, third = card.worst
    none: Response = replace(first.response, passages=None, answer=None, citations=None, error="timed out")
    empty = replace(second.response, passages=(), citations=None)
    texts = replace(third.response, passages=tuple(replace(p, text=None) for p in third.response.passages or ()))
    page = tree(replace(card, worst=(replace(first, response=none), replace(second, response=empty),
                                     replace(third, response=texts))))     # fmt: skip
    check_links(page)
    one, two, three = page.with_class("ex-body")
    assert "The system failed: timed out" in one.text
    assert "Passages: not recorded" in one.text
    assert "nothing was retrieved" in two.text
    assert "(no text recorded)" in three.text


def test_other_scripts_keep_their_direction(whole: Whole) -> None:
    """Questions, answers and passages say their own direction; ids among them are kept apart from it."""
    card = whole(6, worst=1)
    arabic, hebrew = "كم يستغرق النسخ الاحتياطي الليلي؟", "הגיבוי אורך ארבעים דקות."
    view = card.worst[0]
    example: Example = replace(view.example, query=arabic, references=(hebrew,))
    view = replace(view, example=example, response=replace(view.response, answer=hebrew), evidence={})
    page = tree(replace(card, worst=(view,)))
    texts = [node for node in page.with_class("text") if hebrew in node.text]
    assert len(texts) == 2     # answer and reference
    assert all(node.attributes["dir"] == "auto" for node in texts)
    assert any(node.text.strip() == arabic for node in page.all("bdi"))


def test_long_passage_keeps_what_decided(whole: Whole) -> None:
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


@pytest.mark.slow
def test_thousand_examples_stay_small_and_quick(whole: Whole) -> None:
    """A page over 1,000 examples with texts of usual length is under 5 MB, made in under 3 s of processor time."""
    story = "The appliance keeps a copy of every file for the days that the plan names and then archives it. "
    card = whole(1_000, text=lambda words: f"{words} {story}")
    began = time.process_time()
    page = html(card)
    assert time.process_time() - began < 3
    assert len(page.encode()) < 5_000_000
    assert "All 1,000 responses" in page


def test_more_than_a_page_holds_is_cut_and_said(whole: Whole, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where more are listed than a page takes, the first ones are shown and counted against all."""
    monkeypatch.setattr(lists, "MOST_ROWS", 10)
    page = tree(whole(40, worst=0))
    check_links(page)
    assert "10 of 40 responses" in page.text
    assert len([row for row in page.all("tr") if re.fullmatch(r"e\d+", row.attributes.get("id", ""))]) == 10
