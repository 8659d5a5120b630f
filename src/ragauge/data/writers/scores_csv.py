"""A table of scores as CSV."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ragauge.data.score import Score
from ragauge.data.score_table import score_table
from ragauge.data.writers.whole import replaced


def write_scores(path: str | Path, scores: Iterable[Score]) -> int:
    """Writes one score a row, columns as in `score_table`, and returns how many there were."""
    table = score_table(scores)
    with replaced(Path(path)) as part:
        table.write_csv(part)
    return table.height
