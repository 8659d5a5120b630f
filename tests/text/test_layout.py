"""The layout of a text is told by its shape alone."""

import pytest

from ragauge.text.table_rows import detect_common_layout, detect_layout

CELLS = "Segment\nSales\nNorth\n1,204\n1,180\nSouth\n(310)\n295\n—\n%"
TABLE = "| Segment | 2021 | 2022 |\n|---|---|---|\n| North | 1,204 | 1,180 |\n| South | 310 | 295 |"
POEM = "Slow falls the rain\nover the quay\nnobody waits\nfor the last ferry\nlanterns go out\none by one\nhome"


@pytest.mark.parametrize(
    ("text", "layout"),
    [
        ("The quay was rebuilt in 1931. It has 4 berths.", "prose"),
        (TABLE, "table"),
        (TABLE.replace("|", "\t"), "table"),
        (CELLS, "cells"),
        (CELLS.replace("Sales", "売上高").replace("North", "北部"), "cells"),
        (POEM, "prose"),
        ("", "prose"),
        (f"The report of the board follows, with all that it says about the year and its sales. {TABLE}"[:90], "prose"),
    ],
)
def test_layout_is_told_by_shape(text: str, layout: str) -> None:
    """Rows make a table, short lines with amounts make cells, and all else is prose, a poem too."""
    assert detect_layout(text) == layout


def test_longest_layout_speaks_for_several_texts() -> None:
    """Of several passages the layout that holds the most characters counts; of none it is prose."""
    assert detect_common_layout([CELLS, "Short."]) == "cells"
    assert detect_common_layout([CELLS, "A long sentence without end " * 20]) == "prose"
    assert detect_common_layout([]) == "prose"
