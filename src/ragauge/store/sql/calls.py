"""Every attempt at a model, and what it cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, case, func, select

from ragauge.store.call_contracts import Call, Spent
from ragauge.store.schema import calls as table
from ragauge.store.schema import responses
from ragauge.store.sql.clock import now
from ragauge.store.sql.database import Database
from ragauge.store.sql.models import model_nos, named
from ragauge.store.sql.names import run_no


class SqlCalls:
    """`Calls` on a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, calls: Sequence[Call]) -> None:
        """Records attempts."""
        if not calls:
            return
        with self._database.write() as connection:
            models = model_nos(self._database, connection, {call.model for call in calls})
            run_nos = _run_nos(connection, {call.run_id for call in calls if call.run_id})
            rows = [_row(call, models[call.model], run_nos.get(call.run_id)) for call in calls]
            connection.execute(table.insert(), rows)

    def spent(self, run_id: str | None = None) -> list[Spent]:
        """Tokens and cost by model and question, of one run or of all."""
        used = case((table.c.input_tokens.is_not(None), 1), else_=0)
        priced = case((table.c.cost.is_not(None), 1), else_=0)
        query = select(
            table.c.model_no, table.c.question, func.count().label("calls"),
            func.sum(case((table.c.outcome == "ok", 0), else_=1)).label("failed"),
            *(func.coalesce(func.sum(table.c[f"{kind}_tokens"]), 0) for kind in ("input", "output", "cached")),
            func.sum(table.c.cost), func.sum(used * (1 - priced)).label("unpriced"),
        ).group_by(table.c.model_no, table.c.question)  # fmt: skip
        with self._database.read() as connection:
            names = named(connection)
            if run_id is not None:
                query = query.where(table.c.run_no == run_no(connection, run_id))
            rows = connection.execute(query.order_by(table.c.model_no, table.c.question)).all()
        return [Spent(names[model], *rest) for model, *rest in rows]

    def by_response(self, run_id: str) -> dict[tuple[str, int], float | None]:
        """Cost by (query_id, repeat); None where the price of a call is unknown."""
        unpriced = case((table.c.input_tokens.is_not(None) & table.c.cost.is_(None), 1), else_=0)
        query = (
            select(responses.c.query_id, responses.c.repeat, func.sum(table.c.cost), func.sum(unpriced))
            .join_from(table, responses, responses.c.response_no == table.c.response_no)
            .group_by(responses.c.query_id, responses.c.repeat)
        )
        with self._database.read() as connection:
            rows = connection.execute(query.where(table.c.run_no == run_no(connection, run_id))).all()
        return {(query_id, repeat): None if missing else cost or 0.0 for query_id, repeat, cost, missing in rows}


def _run_nos(connection: Connection, run_ids: set[str]) -> dict[str, int]:
    return {run_id: run_no(connection, run_id) for run_id in run_ids}


def _row(call: Call, model: int, run: int | None) -> dict[str, Any]:
    usage = call.usage
    return {
        "run_no": run, "response_no": call.response_no, "key": bytes.fromhex(call.key), "model_no": model,
        "question": call.question, "outcome": call.outcome,
        "input_tokens": usage.input_tokens if usage else None,
        "output_tokens": usage.output_tokens if usage else None,
        "cached_tokens": usage.cached_tokens if usage else None,
        "cost": call.cost, "latency_ms": call.latency_ms, "at": call.at or now(),
    }  # fmt: skip
