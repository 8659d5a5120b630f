"""Which run the content of some files became."""

from __future__ import annotations

import json
from collections.abc import Sequence

from sqlalchemy import select

from ragauge.data.canonical import canonical
from ragauge.store.import_contracts import Imported
from ragauge.store.packing import pack, unpack
from ragauge.store.schema import imports, runs
from ragauge.store.sql.database import Database
from ragauge.store.sql.importing import found_again
from ragauge.store.sql.names import run_no
from ragauge.store.sql.runs import run_of_row


class SqlImports:
    """`Imports` on a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def keep(self, digest: bytes, run_id: str, told: Sequence[str] = ()) -> None:
        """Keeps that files of this digest are this run; an earlier entry of the digest is replaced."""
        statement = self._database.insert(imports)
        update = {"run_no": statement.excluded.run_no, "told": statement.excluded.told}
        with self._database.write() as connection:
            connection.execute(
                statement.on_conflict_do_update(index_elements=["digest"], set_=update),
                [{"digest": digest, "run_no": run_no(connection, run_id), "told": pack(canonical(list(told)))}],
            )

    def find(self, digest: bytes, name: str = "") -> Imported | None:
        """The run of files of this digest, moved to now and called by this name too; None where there is none."""
        mine = select(imports.c.run_no, imports.c.told).where(imports.c.digest == digest)
        with self._database.read() as connection:
            if connection.execute(mine).first() is None:
                return None     # nothing to write: a first import waits for nobody's lock
        with self._database.write() as connection:
            found = connection.execute(mine).first()
            if found is None:
                return None
            found_again(self._database, connection, found.run_no, name)
            run = connection.execute(select(runs).where(runs.c.run_no == found.run_no)).one()
        return Imported(run_of_row(run), tuple(json.loads(unpack(found.told))))
