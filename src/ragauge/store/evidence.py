"""What judges found, by key."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Select, and_, or_, select

from ragauge.core.codec import FACTS, decode, encode
from ragauge.core.facts import Evidence
from ragauge.core.identity import canonical
from ragauge.store.database import Database, chunks, raw_among
from ragauge.store.names import judge_no, put_judges, run_no
from ragauge.store.responses import response_no
from ragauge.store.schema import evidence as table
from ragauge.store.schema import judges, responses, run_evidence
from ragauge.store.text_codec import pack, unescape, unpack
from ragauge.store.verdict_schema import control_evidence
from ragauge.store.writes import count_write

OK, FAILED, PARTIAL = 0, 1, 2
PACKED = (
    table.c.key,
    table.c.question,
    table.c.question_version,
    judges.c.judge_id,
    table.c.judge_repeat,
    table.c.status,
    table.c.body,
    table.c.replies,
)
LINK = ("response_no", "judge_no", "judge_repeat", "question", "evidence_no")


@dataclass(frozen=True, slots=True)
class PackedEvidence:
    """Evidence as it is stored: the facts are packed JSON, so that most of it is never unpacked on its way.

    Attributes:
        key: as in `Evidence`.
        question: as in `Evidence`.
        question_version: as in `Evidence`.
        judge_id: as in `Evidence`.
        judge_repeat: as in `Evidence`.
        failed: nothing could be had.
        body: packed JSON of the facts, or of the reason where it failed.
        replies: packed JSON of the reply keys; None for none.
        partial: verdicts are missing that the next start may get.
    """

    key: str
    question: str
    question_version: int
    judge_id: str
    judge_repeat: int
    failed: bool
    body: bytes
    replies: bytes | None = None
    partial: bool = False

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
            body=pack(canonical(evidence.reason) if failed else encode(evidence.facts)),
            replies=pack(canonical(list(evidence.reply_keys))) if evidence.reply_keys else None,
            partial=evidence.status == "partial",
        )

    @property
    def n_replies(self) -> int:
        """How many replies it was read from."""
        return len(json.loads(unpack(self.replies))) if self.replies is not None else 0

    def evidence(self) -> Evidence:
        """The evidence with its facts."""
        text = unpack(self.body)
        return Evidence(
            key=self.key,
            question=self.question,
            question_version=self.question_version,
            judge_id=self.judge_id,
            status="failed" if self.failed else "partial" if self.partial else "ok",
            facts=None if self.failed else decode(FACTS[self.question], text),
            judge_repeat=self.judge_repeat,
            reply_keys=tuple(json.loads(unpack(self.replies))) if self.replies is not None else (),
            reason=json.loads(text) if self.failed else "",
        )


class Evidences:
    """What judges found, by key; shared by all runs."""

    def __init__(self, database: Database) -> None:
        self._database = database
        statement = database.insert(run_evidence)
        link = statement.on_conflict_do_update(
            index_elements=list(LINK[:-1]), set_={"evidence_no": statement.excluded.evidence_no}
        )
        # compiled once and run with tuples: twice as fast as through dictionaries
        self._link = link.compile(dialect=database.engine.dialect, column_keys=list(LINK))

    def put(self, evidence: Evidence) -> Evidence:
        """Keeps evidence; returns what is stored under its key: the first that was not failed wins."""
        with self._database.write() as connection:
            numbers = put_judges(self._database, connection, {evidence.judge_id})
            self._insert(connection, {evidence.key: PackedEvidence.of(evidence)}, numbers)
            return _by_key(connection, [evidence.key])[evidence.key].evidence()

    def add_controls(self, run_id: str, found: Mapping[str, PackedEvidence]) -> None:
        """Stores evidence that belongs to no response, and links the run to it: it stays while one such run does.

        Args:
            run_id: of the run whose controls rest on it.
            found: key -> evidence; what is stored and did not fail stays.
        """
        if not found:
            return
        with self._database.write() as connection:
            stored = _there(connection, found)
            new = {key: packed for key, packed in found.items() if key not in stored or _gives_way(stored[key], packed)}
            if new:
                numbers = put_judges(self._database, connection, {packed.judge_id for packed in new.values()})
                self._insert(connection, new, numbers)
                stored |= _there(connection, new)
            run = run_no(connection, run_id)
            links = [{"run_no": run, "evidence_no": row.evidence_no} for row in stored.values()]
            statement = self._database.insert(control_evidence).on_conflict_do_nothing()
            for part in chunks(links):
                connection.execute(statement, part)

    def get(self, key: str) -> Evidence | None:
        """Evidence by key."""
        with self._database.read() as connection:
            found = _by_key(connection, [key]).get(key)
        return None if found is None else found.evidence()

    def known(self, keys: Collection[str]) -> dict[str, PackedEvidence]:
        """What is stored of these keys and did not fail: what need not be asked again."""
        with self._database.read() as connection:
            found = _by_key(connection, keys)
        return {key: one for key, one in found.items() if not (one.failed or one.partial)}

    def add(self, found: Sequence[tuple[int, PackedEvidence]]) -> set[str]:
        """Keeps evidence and links it to responses.

        Args:
            found: (number of a response, its evidence).

        Returns:
            Keys under which something else was stored first: whoever computed from the loser reads it back.
        """
        mine = {one.key: one for _, one in found}
        if not mine:
            return set()
        with self._database.write() as connection:
            numbers = put_judges(self._database, connection, {one.judge_id for one in mine.values()})
            stored = _there(connection, mine)
            # what was found stored is only linked: nothing is written, and nothing read back
            new = {key: one for key, one in mine.items() if key not in stored or _gives_way(stored[key], one)}
            if new:
                self._insert(connection, new, numbers)
                stored |= _there(connection, new)
            links: list[Any] = [
                (response, numbers[one.judge_id], one.judge_repeat, one.question, stored[one.key].evidence_no)
                for response, one in found
            ]
            connection.exec_driver_sql(str(self._link), links)
            _count_writes(connection, run_evidence.c.response_no, {response for response, _ in found})
        return {key for key, one in mine.items() if _differs(stored[key], one)}

    def linked(self, numbers: Collection[int], judge_id: str, judge_repeat: int = 0) -> dict[int, list[PackedEvidence]]:
        """Everything that a judge found about these responses."""
        result: dict[int, list[PackedEvidence]] = {}
        with self._database.read() as connection:
            judge = judge_no(connection, judge_id)
            of = numbers if judge is not None else ()
            for response, *row in raw_among(connection, _linked(judge, judge_repeat), run_evidence.c.response_no, of):
                result.setdefault(response, []).append(_packed(row))
        return result

    def of_response(
        self, run_id: str, query_id: str, repeat: int, judge_id: str, judge_repeat: int = 0
    ) -> dict[str, Evidence]:
        """Question -> evidence of one response."""
        with self._database.read() as connection:
            number = response_no(connection, run_id, query_id, repeat)
        found = self.linked([number], judge_id, judge_repeat).get(number, [])
        return {one.question: one.evidence() for one in found}

    def of_run(
        self, run_id: str, judge_id: str, judge_repeat: int = 0, batch: int = 500
    ) -> Iterator[tuple[str, int, dict[str, Evidence]]]:
        """(query_id, repeat, question -> evidence) of every response, in example order, read as a stream."""
        columns = (responses.c.response_no, responses.c.query_id, responses.c.repeat)
        with self._database.read() as connection:
            mine = responses.c.run_no == run_no(connection, run_id)
            rows = connection.execute(select(*columns).where(mine).order_by(responses.c.response_no)).all()
        for part in chunks(rows, batch):
            found = self.linked([row.response_no for row in part], judge_id, judge_repeat)
            for row in part:
                evidence = {one.question: one.evidence() for one in found.get(row.response_no, [])}
                yield row.query_id, row.repeat, evidence

    def versions(self, run_id: str, judge_id: str, judge_repeat: int = 0) -> dict[str, tuple[int, ...]]:
        """Question -> the versions in which a judge was asked it about this run, ascending."""
        with self._database.read() as connection:
            run = run_no(connection, run_id)
            query = (
                select(table.c.question, table.c.question_version)
                .join_from(run_evidence, table, run_evidence.c.evidence_no == table.c.evidence_no)
                .join(responses, responses.c.response_no == run_evidence.c.response_no)
                .where(
                    responses.c.run_no == run,
                    run_evidence.c.judge_no == judge_no(connection, judge_id),
                    run_evidence.c.judge_repeat == judge_repeat,
                )
                .distinct()
            )

            def read() -> dict[str, tuple[int, ...]]:
                found: dict[str, list[int]] = {}
                for question, version in connection.execute(query):
                    found.setdefault(question, []).append(version)
                return {question: tuple(sorted(some)) for question, some in found.items()}

            return self._database.of_run(connection, run, ("asked", judge_id, judge_repeat), read)

    def _insert(
        self, connection: Connection, mine: Mapping[str, PackedEvidence], numbers: Mapping[str | None, int]
    ) -> None:
        """Adds what is new, and what is better than what is there; see `_gives_way`."""
        rows = [
            {
                "key": bytes.fromhex(key),
                "question": one.question,
                "question_version": one.question_version,
                "judge_no": numbers[one.judge_id],
                "judge_repeat": one.judge_repeat,
                "status": FAILED if one.failed else PARTIAL if one.partial else OK,
                "body": one.body,
                "replies": one.replies,
            }
            for key, one in mine.items()
        ]
        statement = self._database.insert(table)
        known = raw_among(connection, select(table.c.evidence_no), table.c.key, map(bytes.fromhex, mine))
        replaced = [number for (number,) in known]
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
    of = select(responses.c.run_no).join_from(run_evidence, responses, linked).distinct()
    for run in {run for (run,) in raw_among(connection, of, column, numbers)}:
        count_write(connection, run, listed=False)


class _There(NamedTuple):
    """What is stored under a key, as the driver gives it."""

    evidence_no: int
    status: int
    body: bytes


def _gives_way(stored: _There, mine: PackedEvidence) -> bool:
    """Whole evidence stays; partial gives way to what did not fail, failed to anything."""
    return stored.status == FAILED or (stored.status == PARTIAL and not mine.failed)


def _differs(stored: _There, mine: PackedEvidence) -> bool:
    failed = stored.status == FAILED
    if failed and mine.failed:
        return False
    return (failed, stored.body) != (mine.failed, mine.body)


def _there(connection: Connection, keys: Collection[str]) -> dict[str, _There]:
    query = select(table.c.key, table.c.evidence_no, table.c.status, table.c.body)
    rows = raw_among(connection, query, table.c.key, map(bytes.fromhex, keys))
    return {key.hex(): _There(*row) for key, *row in rows}


def _by_key(connection: Connection, keys: Collection[str]) -> dict[str, PackedEvidence]:
    query = select(*PACKED).join_from(table, judges, table.c.judge_no == judges.c.judge_no)
    found = (_packed(row) for row in raw_among(connection, query, table.c.key, map(bytes.fromhex, keys)))
    return {one.key: one for one in found}


def _linked(judge: int | None, judge_repeat: int) -> Select[Any]:
    return (
        select(run_evidence.c.response_no, *PACKED)
        .join_from(run_evidence, table, run_evidence.c.evidence_no == table.c.evidence_no)
        .join(judges, judges.c.judge_no == table.c.judge_no)
        .where(run_evidence.c.judge_no == judge, run_evidence.c.judge_repeat == judge_repeat)
    )


def _packed(row: Sequence[Any]) -> PackedEvidence:
    """The columns of PACKED, as the driver gives them."""
    key, question, version, judge_id, judge_repeat, status, body, replies = row
    failed, partial = status == FAILED, status == PARTIAL
    return PackedEvidence(
        key.hex(), question, version, unescape(judge_id), judge_repeat, failed, body, replies, partial
    )
