"""Sections and their writers."""

from __future__ import annotations

import re

import pytest
from rich.console import Console

from ragauge.evaluation.scorecard.html import render_sections_page
from ragauge.rendering.lists import Anchors, ServedLinks
from ragauge.rendering.plain_csv import format_csv
from ragauge.rendering.sections import (
    Bar,
    Col,
    Phrase,
    ReportColumn,
    ReportItem,
    ReportSection,
    ReportTable,
    build_columns,
    build_frame,
    build_table,
)
from ragauge.rendering.writers.html import render_sections, render_table
from ragauge.rendering.writers.markdown import list_table_lines, render_markdown
from ragauge.rendering.writers.terminal import render_terminal
from ragauge.scores.results.chart import ChartPoint, ReportChart

COMMAND = "ragauge show a-run-with-a-long-name another-example-with-a-long-name"


def shown(*sections: ReportSection, width: int = 60) -> str:
    """What a terminal of that width shows."""
    console = Console(width=width, color_system=None)
    with console.capture() as captured:
        console.print(render_terminal(sections), crop=False)
    return captured.get()


def a_table(*rows: tuple[str, ...]) -> ReportTable:
    """Rows of a name, a bar and a number."""
    return ReportTable((ReportColumn("name"), ReportColumn("0  1", "bar"), ReportColumn("share", "number")), rows)


def test_every_part_of_a_section_is_written_in_its_order() -> None:
    """Heading, about, lead, table, paragraphs, notes and commands follow each other in both formats."""
    parts = ["Title", "beside", "first words", "cell", "a paragraph", "a note", "ragauge runs"]
    section = ReportSection(
        "Title",
        "beside",
        ("first words",),
        a_table(("cell", "██", "0.50")),
        ("a paragraph",),
        ("a note",),
        ("ragauge runs",),
    )
    for text in (shown(section), render_markdown("Page", [section])):
        places = [text.index(part) for part in parts]
        assert places == sorted(places)


@pytest.mark.parametrize("width", [80, 100, 140])
def test_text_from_data_is_no_markup(width: int) -> None:
    """What looks like a terminal's or Markdown's markup is shown as it stands."""
    hostile = "[bold]a[/bold] | *b* <i>"
    section = ReportSection(lead=(hostile,), table=ReportTable(build_columns("name"), ((hostile,),)))
    assert shown(section, width=width).count(hostile) == 2
    page = render_markdown("Page", [section])
    assert "<i>" not in page
    assert page.count(r"\*b\*") == 2
    assert r"\|" in page


def test_a_command_is_never_broken() -> None:
    """A command longer than the terminal stays on one line, so that it can be copied."""
    assert f"  {COMMAND}\n" in shown(ReportSection(commands=(COMMAND,)), width=20)


def test_markdown_leaves_out_bars_and_keeps_numbers_right() -> None:
    """A bar has no column in Markdown; a column of numbers is aligned to the right."""
    assert list(list_table_lines(a_table(("a_b", "██", "0.50 [0.1, 0.9]")))) == [
        "| name | share |",
        "|---|--:|",
        r"| a\_b | 0.50 [0.1, 0.9] |",
    ]


def test_phrases_of_a_cell_keep_their_tone_and_line() -> None:
    """A strong phrase on a line of its own is strong in Markdown, and a line of its own in both."""
    table = ReportTable(build_columns("name"), ((("k: 5 → 8\n", Phrase("not compared", "strong"), ": other set"),),))
    assert list(list_table_lines(table))[-1] == "| k: 5 → 8<br>**not compared**: other set |"
    assert [text.strip() for text in shown(ReportSection(table=table)).splitlines()][-2:] == [
        "not compared: other set",
        "",
    ]


def test_one_blank_line_stands_between_sections() -> None:
    """Sections stand apart by one blank line, whether or not a table, which brings its own, stands between them."""
    table = a_table(("a", "", "1"))
    lines = shown(ReportSection("One", lead=("words",)), ReportSection("Two", table=table), ReportSection("Three"))
    text = "\n".join(line.strip() for line in lines.splitlines())
    assert "words\n\nTwo" in text
    assert "1\n\nThree" in text


def test_links_of_a_page_are_addresses_where_pages_are_served() -> None:
    """The same table leads to parts of a page that stands alone and to addresses of a served one; data stays text."""
    hostile = "<b>q 1</b>"
    bar = Bar(0.1, 0.2, 0.3, to=("low", "recall@5"))
    table = ReportTable(
        (ReportColumn("name"), ReportColumn("on 0 to 1", "bar")),
        (("a group",), ((Phrase(hostile, to=("ex", hostile, 0)), " ↓"), bar)),
    )
    anchors = Anchors()
    anchors.add("ex", hostile, 0)
    alone = str(render_table(table, anchors, hostile))
    served = str(render_table(table, ServedLinks("/ui", "r1"), hostile))
    assert 'href="#ex-b-q-1-b-0"' in alone
    assert alone.count("href=") == 1  # nothing says where the bar leads
    assert 'href="/ui/runs/r1/examples/%3Cb%3Eq%201%3C%2Fb%3E"' in served
    assert 'href="/ui/runs/r1/examples?sort=recall%405"' in served
    for page in (alone, served):
        assert "<b>" not in page
        assert "&lt;b&gt;q 1&lt;/b&gt;</a> ↓" in page
        assert '<th scope="rowgroup" colspan="2">a group</th>' in page


def test_a_page_has_every_part_of_a_section() -> None:
    """Heading, lead, warning, table, list, paragraph, note and command are each there, in that order."""
    section = ReportSection(
        "Title",
        "beside",
        ("first words",),
        a_table(("cell", "", "0.50")),
        ("a paragraph",),
        ("a note",),
        ("ragauge runs",),
        (ReportItem("a finding", (("fix", "do it"), ("why", ""))),),
        ("mind this",),
    )
    page = str(render_sections([section, ReportSection("Left out", skip=("html",))], Anchors()))
    parts = [
        "Title",
        "beside",
        "first words",
        "mind this",
        "cell",
        "a finding",
        "do it",
        "a paragraph",
        "a note",
        "ragauge runs",
    ]
    places = [page.index(part) for part in parts]
    assert places == sorted(places)
    assert "why" not in page
    assert "Left out" not in page


def test_any_sections_make_a_page() -> None:
    """Title, contents that land, what to know first in the head, charts after their table, no tag of the data."""
    chart = ReportChart("Shares", "bars", "", "share", (ChartPoint("a", 0.5), ChartPoint("b", 0.25)))
    found = (
        ReportSection("<b>Found</b>", lead=("first words",), warnings=("mind this",)),
        ReportSection("Numbers", table=a_table(("cell", "", "0.50")), charts=(chart,)),
        ReportSection(notes=("a note",)),
    )
    for title, heads in (("", ["Numbers"]), ("A run", ["&lt;b&gt;Found&lt;/b&gt;", "Numbers"])):
        page = render_sections_page(found, title)
        body = page[page.index("<header>") :]
        assert re.findall(r'<li><a href="#part\d">(.*)</a>', body) == heads
        assert {*re.findall('href="#(part.)"', body)} <= {*re.findall('id="(part.)"', body)}
        parts = [
            "<header>",
            title or "&lt;b&gt;Found",
            "first words",
            "mind this",
            "</header>",
            "cell",
            "<figure>",
            "<svg",
            "a note",
        ]
        places = [body.index(part) for part in parts]
        assert places == sorted(places)
        assert "<b>" not in page
        assert "<script" not in page


@pytest.mark.parametrize(("width", "left"), [(120, "abc"), (42, "ab"), (30, "a")])
def test_columns_are_left_out_until_the_table_fits(width: int, left: str) -> None:
    """What needs the most room goes first, and what is said in its place stands below the table."""
    table = ReportTable(
        tuple(ReportColumn(name, whole=True, room=room, instead=(f"no {name}",)) for room, name in enumerate("abc")),
        (tuple(name * 15 for name in "abc"),),
    )
    text = shown(ReportSection(table=table), width=width)
    assert [name for name in "abc" if name * 15 in text] == list(left)
    assert [name for name in "abc" if f"no {name}" in text] == [name for name in "abc" if name not in left]


def test_cells_of_a_joined_column_stand_in_the_one_before() -> None:
    """In Markdown a number and its interval are one cell; a named one has its head before it."""
    table = ReportTable(
        (
            *build_columns("name", numbers=("mean",)),
            ReportColumn("95% interval", joins="after"),
            ReportColumn("with error", joins="named"),
        ),
        (("a", "0.5", "[0.1, 0.9]", "[0, 1]"),),
    )
    assert list(list_table_lines(table)) == [
        "| name | mean, 95% interval |",
        "|---|--:|",
        "| a | 0.5 [0.1, 0.9] with error [0, 1] |",
    ]


STEPS = (
    {"name": "a\nb", "n": 1_200, "rate": 0.5, "ends": {"low": 0.25}, "found": Phrase("yes", "good")},
    {"name": "=c", "n": None, "rate": None, "ends": None, "found": ""},
)
DECLARED = (
    Col("step", "name", link=lambda step: ("step", step["n"]), fold=True),
    Col("n", "n", "count"),
    Col("rate", "rate", "{:.3f}", room=1),
    Col("from", "ends.low", "number", key="least"),
)


def test_declared_columns_say_how_values_are_written() -> None:
    """A column reads a path of a row, writes it by its form, and is laid out as it says; None is a dash."""
    table = build_table(STEPS, *DECLARED, None, Col("found"), Col("cut", "name", cut=2))
    assert table is not None
    assert table.rows == (
        (Phrase("a b", to=("step", 1_200)), "1,200", "0.500", "0.25", Phrase("yes", "good"), "a…"),
        (Phrase("=c", to=("step", None)), "–", "–", "–", "", "=c"),
    )
    assert [column.kind for column in table.columns] == ["text", "number", "number", "number", "text", "text"]
    assert (table.columns[0].fold, table.columns[2].room) == (True, 1)
    assert build_table((), *DECLARED) is None


def test_declared_columns_are_a_frame_and_csv() -> None:
    """The same columns give their values, unwritten, under the last part of what they read; without rows too."""
    frame = build_frame(STEPS, *DECLARED)
    assert frame.rows() == [("a\nb", 1_200, 0.5, 0.25), ("=c", None, None, None)]
    assert format_csv(frame).splitlines()[-1] == "'=c,,,"
    assert build_frame((), *DECLARED).schema == frame.schema
    assert frame.columns == ["name", "n", "rate", "least"]
