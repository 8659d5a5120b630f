"""The small table that gives models their numbers."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import Connection, select

from ragauge.data.ask import ModelName
from ragauge.store.schema import models as table
from ragauge.store.sql.database import Database


def model_nos(database: Database, connection: Connection, names: Collection[ModelName]) -> dict[ModelName, int]:
    """Numbers of models, new ones added."""
    known = {name: number for number, name in named(connection).items()}
    rows = [
        {"provider": one.provider, "model": one.model, "endpoint": one.endpoint} for one in names if one not in known
    ]
    if not rows:
        return known
    connection.execute(database.insert(table).on_conflict_do_nothing(), rows)
    return {name: number for number, name in named(connection).items()}


def named(connection: Connection) -> dict[int, ModelName]:
    """Number -> model."""
    rows = connection.execute(select(table))
    return {row.model_no: ModelName(row.provider, row.model, row.endpoint) for row in rows}
