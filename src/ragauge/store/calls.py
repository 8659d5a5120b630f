"""Every attempt at a model, and what it cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, case, false, func, select

from ragauge.core.ask import ModelName, Usage
from ragauge.scores.results.judge_usage import CallTotals
from ragauge.store.database import Database, get_timestamp
from ragauge.store.names import NOBODY, find_judge_no, find_run_no, load_model_names, put_judges, put_models
from ragauge.store.schema import calls as table
from ragauge.store.schema import judges, responses, runs
from ragauge.store.writes import count_write


@dataclass(frozen=True, slots=True)
class Call:
    """One attempt at a model, paid or not."""

    key: str  #: of the reply that was wanted.
    question: str  #: such as verify_answer; "" for what belongs to none.
    model: ModelName  #: as asked.
    outcome: str  #: ok, failed, or the trouble: rate_limited, server, timeout, connection, too_long, cut, refused …
    #: for which response it was made; None for none (preparing a set). A reply that others reuse stays with the
    #: response that paid.
    response_no: int | None = None
    run_id: str = ""  #: for which run; "" for none.
    usage: Usage | None = None  #: tokens; None when unknown.
    cost: float | None = None  #: in US dollars; None when unknown.
    latency_ms: float | None = None  #: of this attempt.
    at: str = ""  #: when it ended, ISO 8601.
    judge_id: str = ""  #: who asked; "" where no judge did.


@dataclass(frozen=True, slots=True)
class ModelSpending:
    """Calls of one model for one question, by one judge."""

    model: ModelName  #: as asked.
    question: str  #: such as verify_answer.
    judge_id: str  #: who asked; "" where no judge did.
    paid: CallTotals  #: what they came to.


CALL_COLUMNS = (
    "run_no",
    "response_no",
    "key",
    "model_no",
    "question",
    "outcome",
    "input_tokens",
    "output_tokens",
    "cached_tokens",
    "cost",
    "latency_ms",
    "at",
    "judge_no",
)


def _count_if(condition: ColumnElement[bool]) -> ColumnElement[int]:
    return func.sum(case((condition, 1), else_=0))


# the fields of Paid, in their order
TOTAL_COLUMNS = (
    func.count(table.c.call_no),
    _count_if(table.c.outcome != "ok"),
    _count_if(table.c.outcome.in_(("ok", "failed"))),
    *(func.coalesce(func.sum(table.c[f"{kind}_tokens"]), 0) for kind in ("input", "output", "cached")),
    func.coalesce(func.sum(table.c.cost), 0.0),
    _count_if(table.c.input_tokens.is_not(None) & table.c.cost.is_(None)),
)


class Calls:
    """Every attempt at a model."""

    def __init__(self, database: Database) -> None:
        self._database = database
        # compiled once: there is a transaction every few calls
        self._insert = table.insert().compile(dialect=database.engine.dialect, column_keys=list(CALL_COLUMNS))

    def add(self, calls: Sequence[Call]) -> None:
        """Records attempts, durably."""
        if not calls:
            return
        with self._database.write() as connection:
            models = put_models(self._database, connection, {call.model for call in calls})
            judge_nos = put_judges(self._database, connection, {call.judge_id for call in calls if call.judge_id})
            run_nos = {run_id: find_run_no(connection, run_id) for run_id in {call.run_id for call in calls} if run_id}
            rows: list[Any] = [
                _build_row(call, models[call.model], run_nos.get(call.run_id), judge_nos.get(call.judge_id))
                for call in calls
            ]
            connection.exec_driver_sql(str(self._insert), rows)
            for number in run_nos.values():
                count_write(connection, number, listed=False)

    def sum_traffic_spending(self, day: str) -> tuple[float, int]:
        """US dollars that calls about traffic cost on a UTC date, and about how many responses they were."""
        query = select(func.coalesce(func.sum(table.c.cost), 0.0), func.count(table.c.response_no.distinct()))
        traffic_query = query.join_from(table, runs, runs.c.run_no == table.c.run_no).where(
            runs.c.kind == "traffic", runs.c.heartbeat >= day, table.c.cost > 0, table.c.at.startswith(day)
        )
        with self._database.read() as connection:
            cost, n = connection.execute(traffic_query).one()
        return float(cost), int(n)

    def spent(self, run_id: str | None = None, judge_id: str | None = None) -> list[ModelSpending]:
        """Tokens and cost by model, question and judge.

        Args:
            run_id: of this run; None = of all, and of calls made for none.
            judge_id: by this judge; None = by all.
        """
        group = (table.c.model_no, table.c.question, judges.c.judge_id)
        query = (
            select(*group, *TOTAL_COLUMNS)
            .outerjoin_from(table, judges, judges.c.judge_no == table.c.judge_no)
            .group_by(*group)
            .order_by(*group)
        )
        with self._database.read() as connection:

            def read_spending() -> tuple[ModelSpending, ...]:
                names = load_model_names(connection)
                rows = connection.execute(query.where(*_build_conditions(connection, run_id, judge_id))).all()
                return tuple(
                    ModelSpending(names[model], question, judge or NOBODY, CallTotals(*paid))
                    for model, question, judge, *paid in rows
                )

            if run_id is None:
                return list(read_spending())
            return list(
                self._database.cache_for_run(
                    connection, find_run_no(connection, run_id), ("spent", judge_id), read_spending
                )
            )

    def sum_by_response(self, run_id: str, judge_id: str | None = None) -> dict[tuple[str, int], CallTotals]:
        """(query_id, repeat) -> what was paid for it, in example order; responses without a call are left out.

        Args:
            run_id: of this run.
            judge_id: by this judge; None = by all.
        """
        query = (
            select(responses.c.query_id, responses.c.repeat, *TOTAL_COLUMNS)
            .join_from(table, responses, responses.c.response_no == table.c.response_no)
            .group_by(responses.c.response_no, responses.c.query_id, responses.c.repeat)
            .order_by(responses.c.response_no)
        )
        with self._database.read() as connection:
            rows = connection.execute(query.where(*_build_conditions(connection, run_id, judge_id))).all()
        return {(query_id, repeat): CallTotals(*paid) for query_id, repeat, *paid in rows}


def _build_conditions(connection: Connection, run_id: str | None, judge_id: str | None) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = []
    if run_id is not None:
        conditions.append(table.c.run_no == find_run_no(connection, run_id))
    if judge_id is not None:
        number = find_judge_no(connection, judge_id)
        conditions.append(false() if number is None else table.c.judge_no == number)
    return conditions


def _build_row(call: Call, model: int, run: int | None, judge: int | None) -> tuple[Any, ...]:
    """The values of COLUMNS."""
    usage = call.usage
    tokens = (usage.input_tokens, usage.output_tokens, usage.cached_tokens) if usage else (None, None, None)
    return (
        run,
        call.response_no,
        bytes.fromhex(call.key),
        model,
        call.question,
        call.outcome,
        *tokens,
        call.cost,
        call.latency_ms,
        call.at or get_timestamp(),
        judge,
    )
