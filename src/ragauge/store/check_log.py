"""Checks of judges against people, as they ended: a history that is added to and never changed."""

from __future__ import annotations

import json
from typing import Any

from sqlalchemy import select

from ragauge.core.human_labels import CheckedPart, CheckRecord
from ragauge.core.identity import to_canonical_json
from ragauge.store.database import Database, get_timestamp
from ragauge.store.label_schema import check_log as table
from ragauge.store.names import put_judges
from ragauge.store.schema import judges
from ragauge.store.text_codec import pack_text, unpack_text


class CheckLog:
    """What checks of judges found. It belongs to no run, and stays when runs and labels go."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, record: CheckRecord) -> bool:
        """Stores a check; one that says what the last of its name said is not kept, and then False is returned."""
        body = pack_text(
            to_canonical_json(
                {
                    "kappa": record.kappa,
                    "parts": [
                        [checked_part.part, checked_part.group, int(checked_part.right), checked_part.weight]
                        for checked_part in record.parts
                    ],
                }
            )
        )
        with self._database.write() as connection:
            judge = put_judges(self._database, connection, [record.judge_id])[record.judge_id]
            last = connection.execute(
                select(table.c.judge_no, table.c.file, table.c.body)
                .where(table.c.name == record.name)
                .order_by(table.c.check_log_no.desc())
                .limit(1)
            ).first()
            if last is not None and tuple(last) == (judge, record.file, body):
                return False
            connection.execute(
                table.insert().values(
                    judge_no=judge,
                    name=record.name,
                    file=record.file,
                    file_name=record.file_name,
                    at=record.at or get_timestamp(),
                    body=body,
                )
            )
            return True

    def list(self, name: str | None = None) -> list[CheckRecord]:
        """Every check, or those of one name, in the order in which they ended."""
        query = select(judges.c.judge_id, table).join_from(table, judges, judges.c.judge_no == table.c.judge_no)
        query = query if name is None else query.where(table.c.name == name)
        with self._database.read() as connection:
            return [_build_record(row) for row in connection.execute(query.order_by(table.c.check_log_no)).mappings()]


def _build_record(row: Any) -> CheckRecord:
    body = json.loads(unpack_text(row["body"]))
    checked_parts = tuple(
        CheckedPart(part_text, group, bool(right), weight) for part_text, group, right, weight in body["parts"]
    )
    kappa = None if body["kappa"] is None else tuple(body["kappa"])
    return CheckRecord(row["name"], row["judge_id"], row["file"], row["file_name"], kappa, checked_parts, row["at"])
