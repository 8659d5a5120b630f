"""How often something of a run was written: what was computed from it counts as fresh as long as that number stays.

Every method that writes what a scorecard is computed from counts its write here; `tests/store/test_cards.py` holds them
to it.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, Connection, update

from ragauge.store.schema import judges, runs


def count_write(connection: Connection, run_no: int, *, listed: bool = True, **values: Any) -> None:
    """Counts a write to one run, with new values of its own row; `listed` where lists of its examples may change."""
    counts = {"writes": runs.c.writes + 1} | ({"example_writes": runs.c.example_writes + 1} if listed else {})
    connection.execute(update(runs).where(runs.c.run_no == run_no).values(**counts, **values))


def count_judge_write(connection: Connection, condition: ColumnElement[bool]) -> None:
    """Counts a write to what is known about some judges."""
    connection.execute(update(judges).where(condition).values(writes=judges.c.writes + 1))
