"""How a text is laid out: sentences, rows of a table, or one cell of a table a line."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import Literal, get_args

from ragauge.text.table_rows import blocks

Layout = Literal["prose", "table", "cells"]
LAYOUTS: tuple[Layout, ...] = get_args(Layout)

MAX_CHARS = 20_000       # of a text that are looked at
MIN_CELL_LINES = 6       # short lines that make a table of one cell a line
MAX_CELL_CHARS = 60
MIN_CELL_SHARE = 0.5     # of the lines that are cells
MIN_AMOUNT_SHARE = 0.25  # of these cells that are amounts: a list or a poem has short lines too
MIN_TABLE_SHARE = 0.5    # of the characters that stand in rows
SENTENCE_END = re.compile(r"[.!?。！？।…:;,]['\"”’»)\]]*$")
AMOUNT = re.compile(r"^[\W_]*(?:\d[\d\s.,'’]*[\W_]*(?:%|[^\W\d_]{1,3})?|[-–—$€£¥₹%])[\W_]*$")


@lru_cache(maxsize=512)
def layout_of(text: str) -> Layout:
    r"""The layout that most of a text has.

    *table*: rows whose cells are parted by bars, tabs, wide gaps, commas or HTML tags. *cells*: a table that lost its
    rows, one cell a line, as PDF readers give it. *prose*: all else, an empty text too.

    >>> layout_of("Fees were raised in May."), layout_of("Year | Fees\n2021 | 12\n2022 | 14")
    ('prose', 'table')
    >>> layout_of("Net sales\n$\n32,136\n$\n31,657\nCost of sales\n17,000\n16,605")
    'cells'
    """
    text = text[:MAX_CHARS]
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    cells = [line for line in lines if len(line) <= MAX_CELL_CHARS and not SENTENCE_END.search(line)]
    amounts = sum(AMOUNT.match(line) is not None for line in cells)
    if len(cells) >= max(MIN_CELL_LINES, MIN_CELL_SHARE * len(lines)) and amounts >= MIN_AMOUNT_SHARE * len(cells):
        return "cells"
    spans = [(rows[0][0].start, rows[-1][-1].end) for rows, _ in blocks(text) if rows[0] and rows[-1]]
    if sum(end - start for start, end in spans) >= MIN_TABLE_SHARE * len(text.strip()) > 0:
        return "table"
    return "prose"


def layout_of_texts(texts: Sequence[str]) -> Layout:
    """The layout of the most characters of several texts; prose where there is none."""
    sizes: Counter[Layout] = Counter()
    for text in texts:
        sizes[layout_of(text)] += len(text)
    return max(LAYOUTS, key=lambda layout: sizes[layout])
