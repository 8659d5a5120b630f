"""Verdicts on responses, and the control pairs that show what a run's judge can read."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, Connection, and_, exists, or_, select

from ragauge.core.codec import from_json_value
from ragauge.core.identity import to_canonical_json, to_json_value
from ragauge.core.response import Controls, ControlScale
from ragauge.core.verdict import RULE_VERSION, VERDICTS, ExampleVerdict
from ragauge.store.database import Database, iter_matching_rows, iter_raw_rows, split_batches
from ragauge.store.names import find_judge_no, find_run_no, put_judges, put_reasons
from ragauge.store.schema import judges, reasons, scores
from ragauge.store.text_codec import escape_for_frame, pack_text, unpack_text
from ragauge.store.verdict_schema import controls
from ragauge.store.verdict_schema import verdicts as table
from ragauge.store.writes import count_write

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

VERDICT_CODES = {verdict: code for code, verdict in enumerate(VERDICTS)}
KEY_COLUMNS = ("run_no", "response_no", "judge_no", "judge_repeat")


@dataclass(frozen=True, slots=True, eq=False)
class VerdictColumns:
    """Verdicts on the responses of a run. Every array has an entry a response, by ascending number."""

    number: npt.NDArray[np.int64]  #: of the response.
    verdict: npt.NDArray[np.int8]  #: of the response as a whole, a place in `VERDICTS`.
    right: npt.NDArray[np.int8]  #: whether its answer is right, likewise.
    grounded: npt.NDArray[np.int8]  #: whether its passages support it, likewise.
    rule: npt.NDArray[np.int8]  #: version of the rule by which it was decided.
    reason: npt.NDArray[np.int64]  #: place of the reason in `reasons`.
    #: (in words, what would settle it); ("", ()) of a verdict without one.
    reasons: tuple[tuple[str, tuple[str, ...]], ...]


class Verdicts:
    """The verdict on every response that was looked at, one row per run, response and judge.

    What is read for a judge holds, of responses that this judge never judged, the verdicts that were stored for nobody
    (judge None): what record and labels alone show.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def write(
        self,
        run_id: str,
        judge_id: str | None,
        verdicts: Mapping[int, ExampleVerdict],
        judge_repeat: int = 0,
        *,
        controls: str = "",
    ) -> None:
        """Stores verdicts by number of response, in place of earlier ones, under the present version of the rule.

        Args:
            run_id: of the run.
            judge_id: whose; None = nobody's.
            verdicts: response number -> verdict.
            judge_repeat: which asking of the judge.
            controls: fingerprint of the controls that they rest on; "" = none.
        """
        if not verdicts:
            return
        texts = {number: _encode_reason(verdict) for number, verdict in verdicts.items()}
        with self._database.write() as connection:
            run = find_run_no(connection, run_id)
            count_write(connection, run)
            judge = put_judges(self._database, connection, [judge_id])[judge_id]
            numbers = put_reasons(self._database, connection, sorted({text for text in texts.values() if text}))
            rows = [
                {
                    "run_no": run,
                    "response_no": number,
                    "judge_no": judge,
                    "judge_repeat": judge_repeat,
                    "verdict": VERDICT_CODES[verdict.verdict],
                    "right": VERDICT_CODES[verdict.right],
                    "grounded": VERDICT_CODES[verdict.grounded],
                    "reason_no": numbers.get(texts[number]),
                    "rule": RULE_VERSION,
                    "controls": controls,
                }
                for number, verdict in verdicts.items()
            ]
            statement = self._database.insert(table)
            update = {
                column.name: statement.excluded[column.name] for column in table.c if column.name not in KEY_COLUMNS
            }
            upsert = statement.on_conflict_do_update(index_elements=KEY_COLUMNS, set_=update)
            for batch in split_batches(rows):
                connection.execute(upsert, batch)

    def read(
        self, run_id: str, judge_id: str | None, judge_repeat: int = 0, *, numbers: Sequence[int] | None = None
    ) -> Iterator[tuple[int, ExampleVerdict]]:
        """Number and verdict of one response after another, by ascending number; of some responses with `numbers`."""
        with self._database.read() as connection:
            query = _build_query(connection, run_id, judge_id, judge_repeat)
            all_rows = (row for batch in iter_raw_rows(connection, query) for row in batch)
            selected = iter_matching_rows(connection, query, table.c.response_no, sorted(numbers or ()))
            rows = list(all_rows if numbers is None else selected)
            texts = _load_reasons(connection, {row[-1] for row in rows if row[-1] is not None})
        for number, verdict, right, grounded, _, reason_no in rows:
            yield number, ExampleVerdict(VERDICTS[verdict], VERDICTS[right], VERDICTS[grounded], *texts[reason_no])

    def columns(
        self, run_id: str, judge_id: str | None, judge_repeat: int = 0, *, numbers: Sequence[int] | None = None
    ) -> VerdictColumns:
        """The verdicts as arrays; of some responses with `numbers`."""
        import numpy as np

        with self._database.read() as connection:
            query = _build_query(connection, run_id, judge_id, judge_repeat)
            all_rows = (row for batch in iter_raw_rows(connection, query) for row in batch)
            rows = list(
                all_rows if numbers is None else iter_matching_rows(connection, query, table.c.response_no, numbers)
            )
            texts = _load_reasons(connection, {row[-1] for row in rows if row[-1] is not None})
        indices = {reason_no: index for index, reason_no in enumerate(texts)}
        number, verdict, right, grounded, rule, reason = zip(*rows, strict=True) if rows else ((),) * 6
        return VerdictColumns(
            np.array(number, dtype=np.int64),
            np.array(verdict, dtype=np.int8),
            np.array(right, dtype=np.int8),
            np.array(grounded, dtype=np.int8),
            np.array(rule, dtype=np.int8),
            np.array([indices[reason_no] for reason_no in reason], dtype=np.int64),
            tuple(texts.values()),
        )

    def decided(self, run_id: str, numbers: Collection[int]) -> dict[tuple[str | None, int, str], list[int]]:
        """(judge, judge repeat, fingerprint of controls) -> those of these responses that have a verdict by them."""
        columns = table.c.response_no, judges.c.judge_id, table.c.judge_repeat, table.c.controls
        numbers_by_judge: dict[tuple[str | None, int, str], list[int]] = {}
        with self._database.read() as connection:
            query = select(*columns).join_from(table, judges, table.c.judge_no == judges.c.judge_no)
            query = query.where(table.c.run_no == find_run_no(connection, run_id))
            for number, judge_id, repeat, fingerprint in iter_matching_rows(
                connection, query, table.c.response_no, sorted(numbers)
            ):
                numbers_by_judge.setdefault((judge_id or None, repeat, fingerprint), []).append(number)
        return numbers_by_judge

    def find_outdated(
        self,
        run_id: str,
        judge_id: str | None,
        controls: str = "",
        judge_repeat: int = 0,
        *,
        only: Collection[int] | None = None,
    ) -> set[int]:
        """Numbers of the responses whose verdict was decided by another rule, or with other controls.

        With `only`, of these responses alone.
        """
        with self._database.read() as connection:
            query = select(table.c.response_no).where(
                table.c.run_no == find_run_no(connection, run_id),
                table.c.judge_no == find_judge_no(connection, judge_id),
                table.c.judge_repeat == judge_repeat,
                or_(table.c.rule != RULE_VERSION, table.c.controls != controls),
            )
            if only is not None:
                return {row[0] for row in iter_matching_rows(connection, query, table.c.response_no, sorted(only))}
            return set(connection.execute(query).scalars())


class StoredControls:
    """The control pairs that show what a judge can read of a run: their scores alone."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def write(self, run_id: str, judge_id: str, new_controls: Controls, judge_repeat: int = 0) -> None:
        """Stores the controls of a run and judge in place of earlier ones."""
        scales = [[*key, to_json_value(scale)] for key, scale in sorted(new_controls.scales.items())]
        plain_controls = {
            "fingerprint": new_controls.fingerprint,
            "scales": scales,
            "known_no": dict(new_controls.known_no),
            "tasks": sorted(new_controls.tasks),
        }
        body = pack_text(to_canonical_json(plain_controls))
        with self._database.write() as connection:
            run = find_run_no(connection, run_id)
            count_write(connection, run)
            judge = put_judges(self._database, connection, [judge_id])[judge_id]
            statement = self._database.insert(controls)
            key = {"run_no": run, "judge_no": judge, "judge_repeat": judge_repeat}
            update = {"body": statement.excluded.body}
            connection.execute(
                statement.on_conflict_do_update(index_elements=list(key), set_=update), [{**key, "body": body}]
            )

    def read(self, run_id: str, judge_id: str | None, judge_repeat: int = 0) -> Controls | None:
        """The controls of a run and judge; None where there are none."""
        with self._database.read() as connection:
            query = select(controls.c.body).where(
                controls.c.run_no == find_run_no(connection, run_id),
                controls.c.judge_no == find_judge_no(connection, judge_id),
                controls.c.judge_repeat == judge_repeat,
            )
            body = connection.execute(query).scalar()
        if body is None:
            return None
        stored = json.loads(unpack_text(body))
        scales = {
            (fact, language, layout): from_json_value(ControlScale, scale)
            for fact, language, layout, scale in stored["scales"]
        }
        return Controls(scales, stored["fingerprint"], stored["known_no"], frozenset(stored.get("tasks", ())))


def _encode_reason(verdict: ExampleVerdict) -> str:
    """What is stored of a reason; "" where there is none."""
    return to_canonical_json([verdict.reason, *verdict.settled_by]) if verdict.reason or verdict.settled_by else ""


def _load_reasons(connection: Connection, numbers: set[int]) -> dict[int | None, tuple[str, tuple[str, ...]]]:
    """Number of a reason -> its words, and what would settle it; None -> neither."""
    query = select(reasons.c.reason_no, reasons.c.body)
    reasons_by_no: dict[int | None, tuple[str, tuple[str, ...]]] = {None: ("", ())}
    for number, body in iter_matching_rows(connection, query, reasons.c.reason_no, sorted(numbers)):
        reason, *settled_by = (escape_for_frame(text) for text in json.loads(unpack_text(body)))
        reasons_by_no[number] = reason, tuple(settled_by)
    return reasons_by_no


def _build_query(connection: Connection, run_id: str, judge_id: str | None, judge_repeat: int) -> Any:
    c = table.c
    columns = c.response_no, c.verdict, c.right, c.grounded, c.rule, c.reason_no
    return select(*columns).where(_build_condition(connection, run_id, judge_id, judge_repeat)).order_by(c.response_no)


def _build_condition(
    connection: Connection, run_id: str, judge_id: str | None, judge_repeat: int
) -> ColumnElement[bool]:
    """The judge's verdicts, and nobody's of the responses that this judge never judged."""
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
    of_judge = and_(table.c.judge_no == judge, table.c.judge_repeat == judge_repeat)
    return and_(table.c.run_no == run, or_(of_judge, and_(unjudged, *(~condition for condition in judged_conditions))))
