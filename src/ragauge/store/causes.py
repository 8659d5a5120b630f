"""Why failed examples failed, and what is in the index that they were answered from."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, Connection, and_, bindparam, delete, exists, insert, or_, select, update

from ragauge.core.codec import decode_json, encode_json
from ragauge.core.document import IndexListing
from ragauge.core.example import Example
from ragauge.core.identity import to_canonical_json
from ragauge.scores.results.scorecard import UNCLEAR, Cause
from ragauge.scores.summarize import build_cause_frame
from ragauge.store.database import Database, build_in_condition, iter_matching_rows, iter_raw_rows, split_batches
from ragauge.store.names import find_judge_no, find_run_no, put_judges
from ragauge.store.responses import find_response_no, parse_stored_response
from ragauge.store.schema import causes as table
from ragauge.store.schema import examples, listings, responses, scores
from ragauge.store.text_codec import escape_for_frame, pack_text, unescape_text, unpack_text
from ragauge.store.writes import count_write

if TYPE_CHECKING:
    import polars as pl


class Causes:
    """Why failed examples failed, one row per run, response and judge.

    What is read for a judge holds, of responses that this judge never judged, the causes that were kept for nobody
    (judge None): what record and labels alone show. No row is no proof that a response did not fail: see
    `analysis.scores.known`.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def write(
        self, run_id: str, judge_id: str | None, causes: Mapping[int, Cause | None], judge_repeat: int = 0
    ) -> None:
        """Stores causes by number of response; None = it did not fail, which removes an earlier cause."""
        with self._database.write() as connection:
            run = find_run_no(connection, run_id)
            count_write(connection, run)
            judge = put_judges(self._database, connection, [judge_id])[judge_id]
            key = {"run_no": run, "judge_no": judge, "judge_repeat": judge_repeat}
            condition = and_(*(table.c[name] == value for name, value in key.items()))
            earlier = delete(table).where(condition, build_in_condition(table.c.response_no))
            for batch in split_batches(causes):
                connection.execute(earlier, {"values": batch})
            rows = [
                {**key, "response_no": number, "body": pack_text(encode_json(cause)), "name": cause.name}
                for number, cause in causes.items()
                if cause is not None
            ]
            if rows:
                connection.execute(insert(table), rows)

    def load_frame(self, run_id: str, judge_id: str | None, judge_repeat: int = 0) -> pl.DataFrame:
        """The failed responses in example order, with the columns of `summarize.build_cause_frame`."""
        with self._database.read() as connection:
            query = (
                select(responses.c.query_id, responses.c.repeat, table.c.body)
                .join_from(table, responses, table.c.response_no == responses.c.response_no)
                .where(build_causes_condition(connection, run_id, judge_id, judge_repeat))
                .order_by(table.c.response_no)
            )
            return build_cause_frame(
                (escape_for_frame(unescape_text(query_id)), repeat, _decode_framed_cause(body))
                for batch in iter_raw_rows(connection, query)
                for query_id, repeat, body in batch
            )

    def read(
        self, run_id: str, judge_id: str | None, judge_repeat: int = 0, *, numbers: Sequence[int] | None = None
    ) -> Iterator[tuple[int, Cause]]:
        """Number and cause of one failed response after another, by ascending number; words as in the frame.

        With `numbers`, of these responses alone.
        """
        with self._database.read() as connection:
            query = (
                select(table.c.response_no, table.c.body)
                .where(build_causes_condition(connection, run_id, judge_id, judge_repeat))
                .order_by(table.c.response_no)
            )
            all_rows = (row for batch in iter_raw_rows(connection, query) for row in batch)
            selected = iter_matching_rows(connection, query, table.c.response_no, sorted(numbers or ()))
            for number, body in all_rows if numbers is None else selected:
                yield number, _decode_framed_cause(body)

    def find_for_response(
        self, run_id: str, query_id: str, repeat: int, judge_id: str | None, judge_repeat: int = 0
    ) -> Cause | None:
        """The cause of one response; None when it did not fail."""
        with self._database.read() as connection:
            conditions = (
                table.c.response_no == find_response_no(connection, run_id, query_id, repeat),
                build_causes_condition(connection, run_id, judge_id, judge_repeat),
            )
            body = connection.execute(select(table.c.body).where(*conditions)).scalar()
        return None if body is None else _decode_cause(body)


class Listings:
    """What is in the index of the system that gave a run."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def write(self, run_id: str, listing: IndexListing) -> None:
        """Stores the listing of a run in place of an earlier one."""
        content = {"documents": listing.documents, "absent": sorted(listing.absent)}
        body = pack_text(
            to_canonical_json({**content, "renamed": sorted(listing.renamed)} if listing.renamed else content)
        )
        statement = self._database.insert(listings)
        update = {"body": statement.excluded.body}
        with self._database.write() as connection:
            number = find_run_no(connection, run_id)
            count_write(connection, number)
            connection.execute(
                statement.on_conflict_do_update(index_elements=["run_no"], set_=update),
                [{"run_no": number, "body": body}],
            )

    def read(self, run_id: str) -> IndexListing | None:
        """The listing kept last; None where there is none."""
        with self._database.read() as connection:
            condition = listings.c.run_no == find_run_no(connection, run_id)
            body = connection.execute(select(listings.c.body).where(condition)).scalar()
        if body is None:
            return None
        content = json.loads(unpack_text(body))
        return IndexListing(content["documents"], frozenset(content["absent"]), frozenset(content.get("renamed", ())))

    def list_labeled_documents(self, run_id: str) -> set[str]:
        """Documents that the labels and gold spans of the run's examples name."""
        doc_ids: set[str] = set()
        with self._database.read() as connection:
            example_nos = select(responses.c.example_no).where(responses.c.run_no == find_run_no(connection, run_id))
            for body in connection.execute(
                select(examples.c.body).where(examples.c.example_no.in_(example_nos))
            ).scalars():
                example = decode_json(Example, unpack_text(body))
                doc_ids.update(doc_id for item in example.relevant or () for doc_id in item.doc_ids)
                doc_ids.update(span.doc_id for span in example.gold_spans or ())
        return doc_ids

    def list_retrieved_documents(self, run_id: str, max_responses: int | None = None) -> set[str]:
        """The doc_ids of all passages and candidates of a run, or of so many of its responses."""
        doc_ids: set[str] = set()
        with self._database.read() as connection:
            query = (
                select(responses.c.body)
                .where(responses.c.run_no == find_run_no(connection, run_id))
                .limit(max_responses)
            )
            for body in connection.execute(query).scalars():
                doc_ids.update(passage["doc_id"] for passage in _list_passages(parse_stored_response(body)))
        return doc_ids

    def rename_documents(self, run_id: str, names: Mapping[str, str]) -> int:
        """Gives retrieved documents other ids, old -> new, wherever a run has them; returns in how many responses."""
        with self._database.write() as connection:
            number, changed = find_run_no(connection, run_id), list[dict[str, Any]]()
            query = select(responses.c.response_no, responses.c.body).where(responses.c.run_no == number)
            for response_no, body in connection.execute(query):
                response = parse_stored_response(body)
                if _rename_documents(response, names):
                    changed.append({"old": response_no, "new": pack_text(to_canonical_json(response))})
            if changed:
                condition = responses.c.response_no == bindparam("old")
                connection.execute(update(responses).where(condition).values(body=bindparam("new")), changed)
                count_write(connection, number)
        return len(changed)

    def find_outdated(self, run_id: str, judge_id: str | None, fingerprint: str, judge_repeat: int = 0) -> set[int]:
        """Numbers of the failed responses whose cause was found with another listing, or with none."""
        with self._database.read() as connection:
            conditions = (
                table.c.run_no == find_run_no(connection, run_id),
                table.c.judge_no == find_judge_no(connection, judge_id),
                table.c.judge_repeat == judge_repeat,
            )
            rows = connection.execute(select(table.c.response_no, table.c.body).where(*conditions))
            return {number for number, body in rows if json.loads(unpack_text(body)).get("listing", "") != fingerprint}


def build_causes_condition(
    connection: Connection, run_id: str, judge_id: str | None, judge_repeat: int
) -> ColumnElement[bool]:
    """The judge's causes, and those by record and labels alone of the responses that this judge never judged."""
    run = find_run_no(connection, run_id)
    nobody, judge = find_judge_no(connection, None), find_judge_no(connection, judge_id)
    unjudged = and_(table.c.judge_no == nobody, table.c.judge_repeat == 0)
    if judge is None or judge == nobody:
        return and_(table.c.run_no == run, unjudged)
    judged_conditions = [
        exists().where(
            other.c.run_no == run,
            other.c.response_no == table.c.response_no,
            other.c.judge_no == judge,
            other.c.judge_repeat == judge_repeat,
        )
        for other in (table.alias(), scores)
    ]
    own_judge = and_(table.c.judge_no == judge, table.c.judge_repeat == judge_repeat)
    return and_(table.c.run_no == run, or_(own_judge, and_(unjudged, *(~condition for condition in judged_conditions))))


def translate_cause_name(name: str) -> str:
    """The name of a cause as it is called today: what was stored as undecided is unclear, which has none."""
    return "" if name == "undecided" else name


def _decode_cause(body: bytes) -> Cause:
    cause = decode_json(Cause, unpack_text(body))
    name = translate_cause_name(cause.name)
    return cause if name else replace(cause, name="", component=UNCLEAR)


@lru_cache(maxsize=1_024)  # most examples fail as others do
def _decode_framed_cause(body: bytes) -> Cause:
    cause = _decode_cause(body)
    return replace(
        cause,
        decided_by=escape_for_frame(cause.decided_by),
        lacking=tuple(escape_for_frame(fact) for fact in cause.lacking),
    )


def _list_passages(response: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Passages and candidates of a response as it is stored."""
    return [*(response.get("passages") or ()), *(response.get("candidates") or ())]


def _rename_documents(response: Mapping[str, Any], names: Mapping[str, str]) -> bool:
    """Gives documents of a response as it is stored other ids; whether it has any of these."""
    passages = _list_passages(response)
    passage_ids = {passage["passage_id"] for passage in passages}
    renamed = [passage for passage in passages if passage["doc_id"] in names]
    for passage in renamed:
        passage["doc_id"] = names[passage["doc_id"]]
    for citation in (response.get("citations") or ()) if renamed else ():
        if citation["target"] not in passage_ids:
            citation["target"] = names.get(citation["target"], citation["target"])
    return bool(renamed)
