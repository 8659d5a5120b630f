"""What is known about metrics of the user's own: enough to read their scores where their code is not loaded."""

from __future__ import annotations

import builtins
import json
from collections.abc import Sequence

from sqlalchemy import Connection, func, select, update

from ragauge.core.identity import to_canonical_json
from ragauge.metrics.own_class import Declaration
from ragauge.store.database import Database
from ragauge.store.names import put_metrics
from ragauge.store.schema import metrics, own_metrics, runs
from ragauge.store.text_codec import pack_text, unpack_text


class OwnMetrics:
    """Declarations of metrics. Of a name, the version that was declared last is the one whose scores are read."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def save_declarations(self, declarations: Sequence[Declaration]) -> None:
        """Stores what metrics say of themselves, each as the last of its name."""
        with self._database.read() as connection:
            newest = _load_newest(connection)
        changed = [
            declaration
            for declaration in declarations
            if newest.get(declaration.name) != to_canonical_json(declaration.to_json())
        ]
        if not changed:
            return
        with self._database.write() as connection:
            numbers = put_metrics(
                self._database, connection, [(declaration.name, declaration.version) for declaration in changed]
            )
            declared_nos = set(connection.execute(select(own_metrics.c.metric_no)).scalars())
            last = connection.execute(select(func.max(own_metrics.c.place))).scalar() or 0
            rows = [
                {
                    "metric_no": numbers[declaration.name, declaration.version],
                    "place": position,
                    "body": pack_text(to_canonical_json(declaration.to_json())),
                }
                for position, declaration in enumerate(changed, last + 1)
            ]
            statement = self._database.insert(own_metrics)
            updates = {name: statement.excluded[name] for name in ("place", "body")}
            connection.execute(statement.on_conflict_do_update(index_elements=["metric_no"], set_=updates), rows)
            if any(row["metric_no"] in declared_nos for row in rows):  # another version of it is read from now on
                connection.execute(update(runs).values(writes=runs.c.writes + 1))

    def list(self) -> builtins.list[Declaration]:
        """The last declaration of each name."""
        with self._database.read() as connection:
            return [Declaration.from_json(json.loads(text)) for text in _load_newest(connection).values()]


def _load_newest(connection: Connection) -> dict[str, str]:
    """Printed name -> JSON of its last declaration."""
    query = select(metrics.c.name, own_metrics.c.body).join_from(
        own_metrics, metrics, own_metrics.c.metric_no == metrics.c.metric_no
    )
    return {name: unpack_text(body) for name, body in connection.execute(query.order_by(own_metrics.c.place))}
