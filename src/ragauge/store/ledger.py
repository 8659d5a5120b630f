"""What became of each trace of production: one line each."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from sqlalchemy import case, func, literal, select, update

from ragauge.store.database import Database, build_in_condition, iter_matching_rows, split_batches
from ragauge.store.traffic_schema import ledger, returns

Outcome = Literal["scored", "to score", "sampled out", "no content", "redacted", "filtered", "over budget", "failed"]

OPEN_OUTCOMES: tuple[Outcome, ...] = ("to score", "over budget")  # no last words
# how begins what the line of one trace says of another, and what says that something makes no label
OF_TRACE_PREFIX, NO_LABEL_PREFIX = "of trace ", "no label: "
JUDGED_OUTCOMES: tuple[Outcome, ...] = ("scored", "failed")


@dataclass(frozen=True, slots=True)
class LedgerLine:
    """The status of one trace."""

    trace_id: str  #: of the trace.
    project: str  #: whose traffic it is.
    day: str  #: UTC date of its arrival.
    outcome: Outcome  #: "to score" is on its way; the others are last words, until more of the trace comes.
    reason: str = ""  #: why; "" where the outcome says it.
    run_id: str = ""  #: of the run that holds its response; "" = none does.
    weight: float = 1.0  #: how many requests its response stands for, by the SDK's own sampler.
    at: float = 0.0  #: when it was decided, seconds since 1970.
    chance: float = 1.0  #: that it was drawn for the judge; a judge's score of it stands for weight / chance requests.
    people: str = ""  #: what became of what people said of it, or said in it of others; "" = they said nothing.


class LedgerCount(NamedTuple):
    """How many traces of a project and day became what; run_id is of the run that holds their responses."""

    day: str
    project: str
    outcome: Outcome
    n: int
    run_id: str


class PeopleCount(NamedTuple):
    """Traces of which people said something; those of which something makes no label, and one of these."""

    traces: int
    left: int
    example: str


class Ledger:
    """A line for every trace that was read."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def write_lines(self, lines: Sequence[LedgerLine]) -> None:
        """Writes lines; a trace that has one gets the new one, all but what people said, which `tell` writes."""
        if not lines:
            return
        new = self._database.insert(ledger)
        unchanged = ("trace_id", "people")
        changed = {column.name: new.excluded[column.name] for column in ledger.c if column.name not in unchanged}
        rows = [{column.name: getattr(line, column.name) for column in ledger.c} for line in lines]
        with self._database.write() as connection:
            connection.execute(new.on_conflict_do_update(index_elements=["trace_id"], set_=changed), rows)

    def write_people_notes(self, lines: Sequence[LedgerLine]) -> None:
        """Says of traces what became of what people said in them; the line stands whole where a trace has none yet."""
        new = self._database.insert(ledger)
        statement = new.on_conflict_do_update(index_elements=["trace_id"], set_={"people": new.excluded.people})
        rows = [{column.name: getattr(line, column.name) for column in ledger.c} for line in lines]
        with self._database.write() as connection:
            if rows:
                connection.execute(statement, rows)

    def find_line(self, trace_id: str) -> LedgerLine | None:
        """The line of a trace; None where it was not read yet."""
        with self._database.read() as connection:
            row = connection.execute(select(ledger).where(ledger.c.trace_id == trace_id)).first()
        return None if row is None else LedgerLine(*row)

    def load_lines(self, trace_ids: Collection[str]) -> dict[str, LedgerLine]:
        """The lines of some traces, of those that have one."""
        with self._database.read() as connection:
            rows = iter_matching_rows(connection, select(ledger), ledger.c.trace_id, trace_ids)
            return {row[0]: LedgerLine(*row) for row in rows}

    def load_page(
        self, outcome: str = "", prefix: str = "", *, limit: int, skip: int = 0
    ) -> tuple[list[LedgerLine], int]:
        """Some lines, the newest day and decision first, and how many there are.

        Args:
            outcome: of all lines; "" = any.
            prefix: how their trace ids begin.
            limit: lines at most.
            skip: lines that are passed over.
        """
        query, count = select(ledger), select(func.count()).select_from(ledger)
        if outcome:
            query, count = query.where(ledger.c.outcome == outcome), count.where(ledger.c.outcome == outcome)
        if prefix:
            condition = ledger.c.trace_id.startswith(prefix, autoescape=True)
            query, count = query.where(condition), count.where(condition)
        order = (ledger.c.day.desc(), ledger.c.at.desc(), ledger.c.trace_id)
        with self._database.read() as connection:
            rows = connection.execute(query.order_by(*order).limit(limit).offset(skip)).all()
            return [LedgerLine(*row) for row in rows], int(connection.execute(count).scalar_one())

    def counts(self, day: str = "") -> list[LedgerCount]:
        """How many traces became what, the newest day first; or those of one day."""
        group = (ledger.c.day, ledger.c.project, ledger.c.outcome)
        query = select(*group, func.count(), func.max(ledger.c.run_id)).group_by(*group)
        query = query.where(ledger.c.day == day) if day else query
        with self._database.read() as connection:
            rows = connection.execute(query.order_by(ledger.c.day.desc(), ledger.c.project, ledger.c.outcome))
            return [LedgerCount(*row) for row in rows]

    def people(self) -> PeopleCount:
        """How many traces people said something of, and whether all of it could be kept."""
        has_notes = (ledger.c.people != "") & ledger.c.people.not_like(f"{OF_TRACE_PREFIX}%")
        is_unlabeled = ledger.c.people.like(f"%{NO_LABEL_PREFIX}%")
        columns = (
            func.count(),
            func.count(case((is_unlabeled, 1))),
            func.max(case((is_unlabeled, ledger.c.trace_id), else_="")),
        )
        with self._database.read() as connection:
            traces, n, example = connection.execute(select(*columns).select_from(ledger).where(has_notes)).one()
        return PeopleCount(traces, n, example or "")

    def unscored(self) -> list[str]:
        """Runs that hold responses which are still to be scored, those of the oldest day first."""
        query = select(ledger.c.run_id).where(ledger.c.run_id != "", ledger.c.outcome.in_(OPEN_OUTCOMES))
        with self._database.read() as connection:
            ordered = query.group_by(ledger.c.run_id).order_by(func.min(ledger.c.day), ledger.c.run_id)
            return list(connection.execute(ordered).scalars())

    def list_waiting(self, run_id: str, outcomes: Collection[Outcome] = OPEN_OUTCOMES) -> dict[str, float]:
        """Traces of a run that are still to be scored, the earliest decided first, and when each was.

        Args:
            run_id: the run.
            outcomes: what they are to be; "over budget" waits until there is money again.
        """
        condition = (ledger.c.run_id == run_id) & ledger.c.outcome.in_(outcomes)
        with self._database.read() as connection:
            query = select(ledger.c.trace_id, ledger.c.at).where(condition).order_by(ledger.c.at, ledger.c.trace_id)
            return {row.trace_id: row.at for row in connection.execute(query)}

    def decide(
        self, decided_at: Mapping[str, float], outcome: Outcome, reason: str | None = "", *, timestamp: float
    ) -> None:
        """Sets the outcome of traces that were still to be scored; of others it stays.

        Args:
            decided_at: trace -> when it was decided on, as `waiting` said; one of which more came meanwhile stays
                as well.
            outcome: what it is.
            reason: why; None = it stays.
            timestamp: the moment.
        """
        values = {"outcome": outcome, "at": timestamp, **({} if reason is None else {"reason": reason})}
        statement = update(ledger).where(build_in_condition(ledger.c.trace_id))
        return_rows = select(ledger.c.trace_id, literal(timestamp)).where(build_in_condition(ledger.c.trace_id))
        open_query = select(ledger.c.trace_id, ledger.c.at).where(
            build_in_condition(ledger.c.trace_id), ledger.c.outcome.in_(OPEN_OUTCOMES)
        )
        with self._database.write() as connection:
            for batch in split_batches(decided_at):
                open_rows = connection.execute(open_query, {"values": list(batch)})
                unchanged_ids = [trace_id for trace_id, stored_at in open_rows if stored_at == decided_at[trace_id]]
                if outcome in JUDGED_OUTCOMES:  # its results may be given back
                    new = self._database.insert(returns).from_select(["trace_id", "at"], return_rows)
                    changed = {"at": new.excluded.at}
                    connection.execute(
                        new.on_conflict_do_update(index_elements=["trace_id"], set_=changed), {"values": unchanged_ids}
                    )
                connection.execute(statement.values(**values), {"values": unchanged_ids})

    def count_waiting_for_judge(self) -> int:
        """How many traces wait for the judge; those that were not drawn wait for a moment only, and have a reason."""
        condition = (ledger.c.outcome == "over budget") | ((ledger.c.outcome == "to score") & (ledger.c.reason == ""))
        with self._database.read() as connection:
            return int(connection.execute(select(func.count()).select_from(ledger).where(condition)).scalar_one())
