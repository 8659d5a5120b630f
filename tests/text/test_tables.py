"""Tables in running text are read: rows, headers, scale, sign, unit."""

from __future__ import annotations

import pytest
from tests.conftest import OwnTime

from ragauge.text.table_rows import parse_number
from ragauge.text.tables import Table, find_scale, find_years, read_tables

ROWS = [["", "2022", "2021"], ["Ferry tickets", "$4,120", "$3,980"], ["Harbour dues", "(310)", "—"]]
HTML = "<table>" + "".join("<tr>" + "".join(f"<td>{c}</td>" for c in row) + "</tr>" for row in ROWS) + "</table>"
MARKDOWN = "| | 2022 | 2021 |\n|---|---:|---:|\n| Ferry tickets | $4,120 | $3,980 |\n| Harbour dues | (310) | — |"
ALIGNED = "                2022      2021\nFerry tickets  $ 4,120  $ 3,980\nHarbour dues    (310)        —"
SPACED = "Year 2022 2021\nFerry tickets $4,120 $3,980\nHarbour dues (310) —"
COMMAS = ',2022,2021\n"Ferry tickets","$4,120","$3,980"\n"Harbour dues",(310),—'


def only(text: str) -> Table:
    (table,) = read_tables(text)
    return table


def values(table: Table) -> dict[tuple[str, str], float]:
    return {(table.labels[cell.row], table.headers[cell.column]): cell.value for cell in table.cells}


@pytest.mark.parametrize(
    "text",
    ["\n".join("\t".join(row) for row in ROWS), HTML, MARKDOWN, ALIGNED, COMMAS],
    ids=["tab", "html", "bar", "gap", "comma"],
)
def test_the_same_table_is_read_however_its_cells_are_parted(text: str) -> None:
    """Tabs, HTML, Markdown, aligned columns and quoted commas give the same cells under the same headers."""
    assert values(only(text)) == {
        ("Ferry tickets", "2022"): 4120.0,
        ("Ferry tickets", "2021"): 3980.0,
        ("Harbour dues", "2022"): -310.0,
        ("Harbour dues", "2021"): 0.0,
    }


def test_rows_of_which_only_the_numbers_tell_are_read() -> None:
    """A line that ends in two numbers or more is a row, though single spaces part it."""
    table = only(SPACED)
    assert [cell.value for cell in table.cells if table.labels[cell.row] == "Ferry tickets"] == [4120.0, 3980.0]


def test_every_cell_points_at_its_own_characters() -> None:
    """Offsets are those of the text, also behind tags."""
    for text in (HTML, MARKDOWN, ALIGNED):
        assert text[(cell := only(text).cells[0]).start : cell.end].strip(" $<>/td") == "4,120"


def test_a_header_over_several_columns_stands_for_each() -> None:
    """A year over two columns is the year of both; a lone caption over all is of all."""
    head = "\tYear ended 30 June\t\t\t\n\t2022\t\t2021\t\n\tAmount\t%\tAmount\t%"
    table = only(f"{head}\nTolls\t90\t60%\t70\t58%\nFees\t60\t40\t50\t42")
    assert [find_years(header) for header in table.headers[1:]] == [[2022], [2022], [2021], [2021]]
    assert [cell.percent for cell in table.cells if cell.row == 0] == [False, True, False, True]
    assert all(cell.percent == (cell.column % 2 == 0) for cell in table.cells)


def test_rows_stand_under_their_headings_and_totals_have_a_name() -> None:
    """A line without numbers heads the rows behind it, up to an unlabelled total."""
    table = only("\t2022\t2021\nQuays:\t\t\nNorth\t4\t3\nSouth\t5\t2\n\t9\t5\nVessels\t7\t6")
    assert list(zip(table.sections, table.labels, strict=True)) == [
        ("Quays:", "North"),
        ("Quays:", "South"),
        ("Quays:", "Total"),
        ("", "Vessels"),
    ]


@pytest.mark.parametrize(
    ("caption", "scale"),
    [
        ("(in thousands, except per share amounts)", 3),
        ("€ million", 6),
        ("$'000", 3),
        ("All figures in USD ‘000", 3),
        ("Dollars in billions", 9),
        ("£m", 6),
        ("RMB’Million", 6),
        ("Year ended 31 December", None),
        ("Millions of visitors came", 6),
        ("in the year 2000", None),
    ],
)
def test_scale_is_what_a_caption_says(caption: str, scale: int | None) -> None:
    """Words, zeros and letters behind a currency name the scale; years and dates do not."""
    assert find_scale(caption) == scale


@pytest.mark.parametrize(
    "caption", ["(in thousands)\t2022\t2021", "\t2022\t2021\n\t(in thousands)\t", "\t2022\t2021\n\t$'000\t$'000"]
)
def test_a_table_is_scaled_by_its_corner_its_header_or_the_line_above(caption: str) -> None:
    """The scale is found wherever a table says it, and is no part of a column's name."""
    table = only(f"{caption}\nTolls\t90\t70\nFees\t60\t50")
    assert table.scale == 3
    assert [find_years(header) for header in table.headers[1:]] == [[2022], [2021]]
    assert not any("thousand" in header or "000" in header for header in table.headers)


def test_amounts_per_share_have_no_scale() -> None:
    """A rate or an amount per share is not in millions."""
    table = only("(in millions)\t2022\t2021\nNet income\t90\t70\nEarnings per share\t1.20\t1.05")
    assert table.unscaled == {1}


@pytest.mark.parametrize("text", ["Note 3", "N/A", "2022,", "$'000", "12 of 40 ships", "Q4 2021", "A1", "", "x" * 90])
def test_other_cells_are_no_numbers(text: str) -> None:
    """A cell is a number only where nothing but a number stands there."""
    assert parse_number(text) is None


@pytest.mark.parametrize(
    "prose",
    [
        "The ferry sailed in 2022. It carried 4,120 people.\n\nIn 2021 it carried 3,980 people, and 310 bicycles.",
        "One, two, three.\nFour, five, six.\nSeven, eight, nine.",
        "first line  with a gap\n\nanother line  with a gap",
        "",
    ],
)
def test_prose_is_no_table(prose: str) -> None:
    """Sentences with numbers, commas or wide gaps have no cells."""
    assert read_tables(prose) == ()


@pytest.mark.parametrize(
    "text",
    ["\t", "1\t", "| ", "(", "a  ", "<td>", "<tr><td>1", "1,\n", "$ 1 ", "1 2\n", "a 1 2\n", "in (", "-\t1\n", "'000"],
    ids=repr,
)
def test_hostile_text_is_read_in_bounded_time(text: str, own_time: OwnTime) -> None:
    """A text of nothing but delimiters costs no more than a long table."""
    own_time.within(
        2, lambda: (read_tables(f"{text * 40_000}\n{text * 40_000}"), read_tables(f"{text * 40}\n" * 1_000))
    )
