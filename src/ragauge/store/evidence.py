"""What judges found, by key."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Select, and_, or_, select

from ragauge.core.codec import FACTS, decode_json, encode_json
from ragauge.core.facts import Evidence
from ragauge.core.identity import to_canonical_json
from ragauge.store.database import Database, iter_raw_matching_rows, split_batches
from ragauge.store.names import find_judge_no, find_run_no, put_judges
from ragauge.store.responses import find_response_no
from ragauge.store.schema import evidence as table
from ragauge.store.schema import judges, responses, run_evidence
from ragauge.store.text_codec import pack_text, unescape_text, unpack_text
from ragauge.store.verdict_schema import control_evidence
from ragauge.store.writes import count_write

OK, FAILED, PARTIAL = 0, 1, 2
PACKED_COLUMNS = (
    table.c.key,
    table.c.question,
    table.c.question_version,
    judges.c.judge_id,
    table.c.judge_repeat,
    table.c.status,
    table.c.body,
    table.c.replies,
)
LINK_COLUMNS = ("response_no", "judge_no", "judge_repeat", "question", "evidence_no")


@dataclass(frozen=True, slots=True)
class PackedEvidence:
    """Evidence as it is stored: the facts are packed JSON, so that most of it is never unpacked on its way."""

    key: str  #: as in `Evidence`.
    question: str  #: as in `Evidence`.
    question_version: int  #: as in `Evidence`.
    judge_id: str  #: as in `Evidence`.
    judge_repeat: int  #: as in `Evidence`.
    failed: bool  #: nothing could be had.
    body: bytes  #: packed JSON of the facts, or of the reason where it failed.
    replies: bytes | None = None  #: packed JSON of the reply keys; None for none.
    partial: bool = False  #: verdicts are missing that the next start may get.

    @staticmethod
    def of(evidence: Evidence) -> PackedEvidence:
        """Evidence as it is stored. DataError when its facts hold what JSON cannot."""
        failed = evidence.status == "failed" or evidence.facts is None
        return PackedEvidence(
            key=evidence.key,
            question=evidence.question,
            question_version=evidence.question_version,
            judge_id=evidence.judge_id,
            judge_repeat=evidence.judge_repeat,
            failed=failed,
            body=pack_text(to_canonical_json(evidence.reason) if failed else encode_json(evidence.facts)),
            replies=pack_text(to_canonical_json(list(evidence.reply_keys))) if evidence.reply_keys else None,
            partial=evidence.status == "partial",
        )

    @property
    def n_replies(self) -> int:
        """How many replies it was read from."""
        return len(json.loads(unpack_text(self.replies))) if self.replies is not None else 0

    def evidence(self) -> Evidence:
        """The evidence with its facts."""
        text = unpack_text(self.body)
        return Evidence(
            key=self.key,
            question=self.question,
            question_version=self.question_version,
            judge_id=self.judge_id,
            status="failed" if self.failed else "partial" if self.partial else "ok",
            facts=None if self.failed else decode_json(FACTS[self.question], text),
            judge_repeat=self.judge_repeat,
            reply_keys=tuple(json.loads(unpack_text(self.replies))) if self.replies is not None else (),
            reason=json.loads(text) if self.failed else "",
        )


class Evidences:
    """What judges found, by key; shared by all runs."""

    def __init__(self, database: Database) -> None:
        self._database = database
        statement = database.insert(run_evidence)
        link = statement.on_conflict_do_update(
            index_elements=list(LINK_COLUMNS[:-1]), set_={"evidence_no": statement.excluded.evidence_no}
        )
        # compiled once and run with tuples: twice as fast as through dictionaries
        self._link = link.compile(dialect=database.engine.dialect, column_keys=list(LINK_COLUMNS))

    def put(self, evidence: Evidence) -> Evidence:
        """Stores evidence; returns what is stored under its key: the first that was not failed wins."""
        with self._database.write() as connection:
            numbers = put_judges(self._database, connection, {evidence.judge_id})
            self._insert_rows(connection, {evidence.key: PackedEvidence.of(evidence)}, numbers)
            return _load_by_key(connection, [evidence.key])[evidence.key].evidence()

    def add_controls(self, run_id: str, packed_by_key: Mapping[str, PackedEvidence]) -> None:
        """Stores evidence that belongs to no response, and links the run to it: it stays while one such run does.

        Args:
            run_id: of the run whose controls rest on it.
            packed_by_key: key -> evidence; what is stored and did not fail stays.
        """
        if not packed_by_key:
            return
        with self._database.write() as connection:
            stored = _load_stored_rows(connection, packed_by_key)
            new = {
                key: packed
                for key, packed in packed_by_key.items()
                if key not in stored or _is_replaced_by(stored[key], packed)
            }
            if new:
                numbers = put_judges(self._database, connection, {packed.judge_id for packed in new.values()})
                self._insert_rows(connection, new, numbers)
                stored |= _load_stored_rows(connection, new)
            run = find_run_no(connection, run_id)
            links = [{"run_no": run, "evidence_no": row.evidence_no} for row in stored.values()]
            statement = self._database.insert(control_evidence).on_conflict_do_nothing()
            for batch in split_batches(links):
                connection.execute(statement, batch)

    def get(self, key: str) -> Evidence | None:
        """Evidence by key."""
        with self._database.read() as connection:
            packed = _load_by_key(connection, [key]).get(key)
        return None if packed is None else packed.evidence()

    def load_known(self, keys: Collection[str]) -> dict[str, PackedEvidence]:
        """What is stored of these keys and did not fail: what need not be asked again."""
        with self._database.read() as connection:
            packed_by_key = _load_by_key(connection, keys)
        return {key: packed for key, packed in packed_by_key.items() if not (packed.failed or packed.partial)}

    def add(self, packed_by_response: Sequence[tuple[int, PackedEvidence]]) -> set[str]:
        """Stores evidence and links it to responses.

        Args:
            packed_by_response: (number of a response, its evidence).

        Returns:
            Keys under which something else was stored first: whoever computed from the loser reads it back.
        """
        packed_by_key = {packed.key: packed for _, packed in packed_by_response}
        if not packed_by_key:
            return set()
        with self._database.write() as connection:
            numbers = put_judges(self._database, connection, {packed.judge_id for packed in packed_by_key.values()})
            stored = _load_stored_rows(connection, packed_by_key)
            # what was found stored is only linked: nothing is written, and nothing read back
            new = {
                key: packed
                for key, packed in packed_by_key.items()
                if key not in stored or _is_replaced_by(stored[key], packed)
            }
            if new:
                self._insert_rows(connection, new, numbers)
                stored |= _load_stored_rows(connection, new)
            links: list[Any] = [
                (
                    response,
                    numbers[packed.judge_id],
                    packed.judge_repeat,
                    packed.question,
                    stored[packed.key].evidence_no,
                )
                for response, packed in packed_by_response
            ]
            connection.exec_driver_sql(str(self._link), links)
            _count_writes(connection, run_evidence.c.response_no, {response for response, _ in packed_by_response})
        return {key for key, packed in packed_by_key.items() if _has_changed(stored[key], packed)}

    def load_linked(
        self, numbers: Collection[int], judge_id: str, judge_repeat: int = 0
    ) -> dict[int, list[PackedEvidence]]:
        """Everything that a judge found about these responses."""
        result: dict[int, list[PackedEvidence]] = {}
        with self._database.read() as connection:
            judge = find_judge_no(connection, judge_id)
            requested = numbers if judge is not None else ()
            for response, *row in iter_raw_matching_rows(
                connection, _build_linked_query(judge, judge_repeat), run_evidence.c.response_no, requested
            ):
                result.setdefault(response, []).append(_build_packed(row))
        return result

    def load_for_response(
        self, run_id: str, query_id: str, repeat: int, judge_id: str, judge_repeat: int = 0
    ) -> dict[str, Evidence]:
        """Question -> evidence of one response."""
        with self._database.read() as connection:
            number = find_response_no(connection, run_id, query_id, repeat)
        packed_evidence = self.load_linked([number], judge_id, judge_repeat).get(number, [])
        return {packed.question: packed.evidence() for packed in packed_evidence}

    def iter_for_run(
        self, run_id: str, judge_id: str, judge_repeat: int = 0, batch: int = 500
    ) -> Iterator[tuple[str, int, dict[str, Evidence]]]:
        """(query_id, repeat, question -> evidence) of every response, in example order, read as a stream."""
        columns = (responses.c.response_no, responses.c.query_id, responses.c.repeat)
        with self._database.read() as connection:
            condition = responses.c.run_no == find_run_no(connection, run_id)
            rows = connection.execute(select(*columns).where(condition).order_by(responses.c.response_no)).all()
        for rows_in_batch in split_batches(rows, batch):
            packed_by_response = self.load_linked([row.response_no for row in rows_in_batch], judge_id, judge_repeat)
            for row in rows_in_batch:
                evidence = {
                    packed.question: packed.evidence() for packed in packed_by_response.get(row.response_no, [])
                }
                yield row.query_id, row.repeat, evidence

    def list_versions(self, run_id: str, judge_id: str, judge_repeat: int = 0) -> dict[str, tuple[int, ...]]:
        """Question -> the versions in which a judge was asked it about this run, ascending."""
        with self._database.read() as connection:
            run = find_run_no(connection, run_id)
            query = (
                select(table.c.question, table.c.question_version)
                .join_from(run_evidence, table, run_evidence.c.evidence_no == table.c.evidence_no)
                .join(responses, responses.c.response_no == run_evidence.c.response_no)
                .where(
                    responses.c.run_no == run,
                    run_evidence.c.judge_no == find_judge_no(connection, judge_id),
                    run_evidence.c.judge_repeat == judge_repeat,
                )
                .distinct()
            )

            def read_versions() -> dict[str, tuple[int, ...]]:
                versions_by_question: dict[str, list[int]] = {}
                for question, version in connection.execute(query):
                    versions_by_question.setdefault(question, []).append(version)
                return {question: tuple(sorted(versions)) for question, versions in versions_by_question.items()}

            return self._database.cache_for_run(connection, run, ("asked", judge_id, judge_repeat), read_versions)

    def _insert_rows(
        self, connection: Connection, packed_by_key: Mapping[str, PackedEvidence], numbers: Mapping[str | None, int]
    ) -> None:
        """Adds what is new, and what is better than what is there; see `_is_replaced_by`."""
        rows = [
            {
                "key": bytes.fromhex(key),
                "question": packed.question,
                "question_version": packed.question_version,
                "judge_no": numbers[packed.judge_id],
                "judge_repeat": packed.judge_repeat,
                "status": FAILED if packed.failed else PARTIAL if packed.partial else OK,
                "body": packed.body,
                "replies": packed.replies,
            }
            for key, packed in packed_by_key.items()
        ]
        statement = self._database.insert(table)
        existing = iter_raw_matching_rows(
            connection, select(table.c.evidence_no), table.c.key, map(bytes.fromhex, packed_by_key)
        )
        replaced = [number for (number,) in existing]
        connection.execute(
            statement.on_conflict_do_update(
                index_elements=["key"],
                set_={name: statement.excluded[name] for name in ("status", "body", "replies")},
                where=or_(
                    table.c.status == FAILED, and_(table.c.status == PARTIAL, statement.excluded.status != FAILED)
                ),
            ),
            rows,
        )
        if replaced:  # other runs may rest on it
            _count_writes(connection, run_evidence.c.evidence_no, replaced)


def _count_writes(connection: Connection, column: ColumnElement[int], numbers: Collection[int]) -> None:
    """Counts a write to the runs whose links have one of some numbers in a column."""
    linked = responses.c.response_no == run_evidence.c.response_no
    run_query = select(responses.c.run_no).join_from(run_evidence, responses, linked).distinct()
    for run in {run for (run,) in iter_raw_matching_rows(connection, run_query, column, numbers)}:
        count_write(connection, run, listed=False)


class _StoredRow(NamedTuple):
    """What is stored under a key, as the driver gives it."""

    evidence_no: int
    status: int
    body: bytes


def _is_replaced_by(stored: _StoredRow, candidate: PackedEvidence) -> bool:
    """Whole evidence stays; partial gives way to what did not fail, failed to anything."""
    return stored.status == FAILED or (stored.status == PARTIAL and not candidate.failed)


def _has_changed(stored: _StoredRow, candidate: PackedEvidence) -> bool:
    failed = stored.status == FAILED
    if failed and candidate.failed:
        return False
    return (failed, stored.body) != (candidate.failed, candidate.body)


def _load_stored_rows(connection: Connection, keys: Collection[str]) -> dict[str, _StoredRow]:
    query = select(table.c.key, table.c.evidence_no, table.c.status, table.c.body)
    rows = iter_raw_matching_rows(connection, query, table.c.key, map(bytes.fromhex, keys))
    return {key.hex(): _StoredRow(*row) for key, *row in rows}


def _load_by_key(connection: Connection, keys: Collection[str]) -> dict[str, PackedEvidence]:
    query = select(*PACKED_COLUMNS).join_from(table, judges, table.c.judge_no == judges.c.judge_no)
    packed_rows = (
        _build_packed(row) for row in iter_raw_matching_rows(connection, query, table.c.key, map(bytes.fromhex, keys))
    )
    return {packed.key: packed for packed in packed_rows}


def _build_linked_query(judge: int | None, judge_repeat: int) -> Select[Any]:
    return (
        select(run_evidence.c.response_no, *PACKED_COLUMNS)
        .join_from(run_evidence, table, run_evidence.c.evidence_no == table.c.evidence_no)
        .join(judges, judges.c.judge_no == table.c.judge_no)
        .where(run_evidence.c.judge_no == judge, run_evidence.c.judge_repeat == judge_repeat)
    )


def _build_packed(row: Sequence[Any]) -> PackedEvidence:
    """The columns of PACKED, as the driver gives them."""
    key, question, version, judge_id, judge_repeat, status, body, replies = row
    failed, partial = status == FAILED, status == PARTIAL
    return PackedEvidence(
        key.hex(), question, version, unescape_text(judge_id), judge_repeat, failed, body, replies, partial
    )
