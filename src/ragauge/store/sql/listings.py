"""What is in the index of the system that gave a run."""

from __future__ import annotations

import json

from sqlalchemy import select

from ragauge.data.canonical import canonical
from ragauge.data.codec import decode
from ragauge.data.example import Example
from ragauge.data.index_listing import IndexListing
from ragauge.store.packing import pack, unpack
from ragauge.store.schema import causes, examples, responses
from ragauge.store.schema import listings as table
from ragauge.store.sql.database import Database
from ragauge.store.sql.names import judge_no, run_no


class SqlListings:
    """`Listings` on a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def write(self, run_id: str, listing: IndexListing) -> None:
        """Keeps the listing of a run in place of an earlier one."""
        body = pack(canonical({"documents": listing.documents, "absent": sorted(listing.absent)}))
        statement = self._database.insert(table)
        update = {"body": statement.excluded.body}
        with self._database.write() as connection:
            connection.execute(
                statement.on_conflict_do_update(index_elements=["run_no"], set_=update),
                [{"run_no": run_no(connection, run_id), "body": body}],
            )

    def read(self, run_id: str) -> IndexListing | None:
        """The listing kept last; None where there is none."""
        with self._database.read() as connection:
            mine = table.c.run_no == run_no(connection, run_id)
            body = connection.execute(select(table.c.body).where(mine)).scalar()
        if body is None:
            return None
        found = json.loads(unpack(body))
        return IndexListing(found["documents"], frozenset(found["absent"]))

    def labelled(self, run_id: str) -> set[str]:
        """Documents that the labels and gold spans of the run's examples name."""
        found: set[str] = set()
        with self._database.read() as connection:
            asked = select(responses.c.example_no).where(responses.c.run_no == run_no(connection, run_id))
            for body in connection.execute(select(examples.c.body).where(examples.c.example_no.in_(asked))).scalars():
                example = decode(Example, unpack(body))
                found.update(doc_id for item in example.relevant or () for doc_id in item.doc_ids)
                found.update(span.doc_id for span in example.gold_spans or ())
        return found

    def outdated(self, run_id: str, judge_id: str | None, fingerprint: str, judge_repeat: int = 0) -> set[int]:
        """Numbers of the failed responses whose cause was found with another listing, or with none."""
        with self._database.read() as connection:
            mine = (
                causes.c.run_no == run_no(connection, run_id),
                causes.c.judge_no == judge_no(connection, judge_id),
                causes.c.judge_repeat == judge_repeat,
            )
            rows = connection.execute(select(causes.c.response_no, causes.c.body).where(*mine))
            return {number for number, body in rows if json.loads(unpack(body)).get("listing", "") != fingerprint}
