"""Studies in words and tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import RenderableType


def studies_table(rows: Sequence[Mapping[str, Any]]) -> RenderableType:
    """The stored studies for a terminal: name, kind, set, age and how many trials are in which state."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from ragauge.reporting.words import safe

    if not rows:
        return Text("No studies yet. Start with: ragauge chunking SET --corpus PATH --chunker token:size=200,400")
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in ("study", "kind", "set", "created", "trials"):
        table.add_column(column)
    for row in rows:
        trials = ", ".join(f"{n} {state}" for state, n in row["trials"].items()) or "none"
        head = Text(safe(row["name"])), row["kind"], Text(safe(row["set"]))
        table.add_row(*head, row["created_at"][:16].replace("T", " "), trials)
    return table
