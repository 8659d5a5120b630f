"""Days that people marked as good or bad."""

from __future__ import annotations

from datetime import UTC, date, datetime

from sqlalchemy import delete, func, select

from ragauge.monitoring.drift.compute import MarkedPeriod
from ragauge.store.database import Database
from ragauge.store.job_schema import periods


class Periods:
    """What people said of days, in the order in which they said it."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def list(self) -> list[MarkedPeriod]:
        """Every period, what was said last at the end."""
        with self._database.read() as connection:
            rows = connection.execute(select(periods).order_by(periods.c.period_no)).all()
        return [
            MarkedPeriod(date.fromisoformat(row.since), date.fromisoformat(row.until), row.was, row.why) for row in rows
        ]

    def mark_period(self, period: MarkedPeriod) -> None:
        """Stores what was said of a period; the same period marked again counts as said last."""
        conditions = (periods.c.since == period.since.isoformat(), periods.c.until == period.until.isoformat())
        row = {
            "since": period.since.isoformat(),
            "until": period.until.isoformat(),
            "was": period.was,
            "why": period.why,
            "at": datetime.now(UTC).isoformat(timespec="seconds"),
        }
        with self._database.write() as connection:
            newest = connection.execute(select(func.max(periods.c.period_no))).scalar() or 0
            connection.execute(delete(periods).where(*conditions))
            connection.execute(periods.insert(), row | {"period_no": newest + 1})

    def delete_marks(self, since: date, until: date) -> int:
        """Takes back what was said of periods that lie within these days; returns of how many."""
        conditions = (periods.c.since >= since.isoformat(), periods.c.until <= until.isoformat())
        with self._database.write() as connection:
            return connection.execute(delete(periods).where(*conditions)).rowcount
