"""One question in all runs that asked it: its scores side by side."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, Select, and_, select

from ragauge.store.database import Database, chunks, rows_among
from ragauge.store.names import METRIC_RANK, NOBODY, run_no
from ragauge.store.responses import response_no
from ragauge.store.run_list import JUDGES, of_no_study
from ragauge.store.schema import causes, examples, judges, metrics, own_metrics, responses, run_judges, runs, scores
from ragauge.store.spool import query_key_of

AT_A_TIME = 400  # responses whose scores are asked for together


@dataclass(frozen=True, slots=True)
class QuestionInRun:
    """A question in one run.

    Attributes:
        run_id: of the run.
        name: what people call it.
        created_at: when the run began, ISO 8601.
        repeat: which of the system's answers, from 0.
        judge: who judged the run last; "" for nobody.
        failed: whether that judge's verdicts, labels or the record show that the answer failed.
        cause: why; "" where it did not fail, or the cause is unclear.
        values: printed name of a metric -> value, by that judge or by nobody; None where there is none.
    """

    run_id: str
    name: str
    created_at: str
    repeat: int
    judge: str
    failed: bool
    cause: str
    values: Mapping[str, float | None]


class QuestionRuns:
    """Questions across runs."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def read(
        self, run_id: str, query_id: str, names: Sequence[str] = (), *, limit: int | None = None, after: str = ""
    ) -> list[QuestionInRun]:
        """The answers to a question of a run in all runs that asked the same, the newest run first.

        The same is what has the same query_id and the same text: an id alone may mean another question elsewhere.
        Trials of studies are left out.

        Args:
            run_id: a run that has the question.
            query_id: of the question there.
            names: printed names of the metrics to read; () = all.
            limit: answers at most; None = all.
            after: run_id of the run that the page before ended with, whose answers all stood there; "" = from the
                start.

        Raises:
            UnknownName: no such run, or no such question in it.
        """
        with self._database.read() as connection:
            rows = _answers(connection, run_id, query_id, limit, after)
            found: list[QuestionInRun] = []
            for part in chunks(rows, AT_A_TIME):
                found += _with_scores(connection, part, names)
        return found

    def find_responses(self, queries: Collection[str]) -> dict[str, list[int]]:
        """Run id -> numbers of its responses to questions of these texts, by any query_id; trials are left out."""
        keys = {query_key_of(query) for query in queries}
        query = (
            select(runs.c.run_id, responses.c.response_no)
            .join_from(examples, responses, responses.c.example_no == examples.c.example_no)
            .join(runs, runs.c.run_no == responses.c.run_no)
            .where(of_no_study())
        )
        numbers_by_run: dict[str, list[int]] = {}
        with self._database.read() as connection:
            for run_id, number in rows_among(connection, query, examples.c.query_key, sorted(keys)):
                numbers_by_run.setdefault(run_id, []).append(number)
        return numbers_by_run


def _answers(connection: Connection, run_id: str, query_id: str, limit: int | None, after: str) -> Sequence[Row[Any]]:
    """The answers: of the last run of a page all, so that the next page begins with another run."""
    number = response_no(connection, run_id, query_id, 0)
    first = select(responses.c.query_id, examples.c.query_key).join_from(
        responses, examples, responses.c.example_no == examples.c.example_no
    )
    asked = connection.execute(first.where(responses.c.response_no == number)).one()
    query: Select[Any] = (
        select(
            *(runs.c[name] for name in ("run_no", "run_id", "name", "created_at")),
            responses.c.response_no,
            responses.c.repeat,
        )
        .join_from(responses, runs, runs.c.run_no == responses.c.run_no)
        .join(examples, examples.c.example_no == responses.c.example_no)
        .where(responses.c.query_id == asked.query_id, examples.c.query_key == asked.query_key, of_no_study())
        .order_by(responses.c.run_no.desc(), responses.c.repeat)
    )
    if after:
        query = query.where(responses.c.run_no < run_no(connection, after))
    rows = connection.execute(query.limit(limit)).all()
    if limit is None or len(rows) < limit:
        return rows
    last = rows[-1]
    there = {row.response_no for row in rows}
    rest = connection.execute(query.where(responses.c.run_no == last.run_no))
    return [*rows, *(row for row in rest if row.response_no not in there)]


def _with_scores(connection: Connection, rows: Sequence[Row[Any]], names: Sequence[str]) -> Iterator[QuestionInRun]:
    numbers = {row.run_no for row in rows}
    judged: dict[int, str] = {}
    for run, judge in connection.execute(JUDGES.where(run_judges.c.run_no.in_(numbers))):
        judged.setdefault(run, judge)
    r, s, c = responses.c, scores.c, causes.c
    these = r.response_no.in_([row.response_no for row in rows])  # each leads to its own few scores, by their key
    query = (
        select(s.response_no, judges.c.judge_id, metrics.c.name, METRIC_RANK, s.value)
        .join_from(responses, scores, and_(s.run_no == r.run_no, s.response_no == r.response_no))
        .join(metrics, metrics.c.metric_no == s.metric_no)
        .join(own_metrics, own_metrics.c.metric_no == s.metric_no, isouter=True)
        .join(judges, judges.c.judge_no == s.judge_no)
        .where(these, s.judge_repeat == 0)
        .order_by(s.response_no, s.metric_no)
    )
    values: dict[int, dict[str, tuple[tuple[int, bool], float | None]]] = {}
    by_number = {row.response_no: judged.get(row.run_no, NOBODY) for row in rows}
    for number, judge, name, newness, value in connection.execute(query):
        if judge in (NOBODY, by_number[number]):
            rank, mine = (newness, judge != NOBODY), values.setdefault(number, {})
            if name not in mine or mine[name][0] < rank:  # the newest version, the judge's before nobody's
                mine[name] = rank, value
    why = (
        select(c.response_no, judges.c.judge_id, c.name)
        .join_from(responses, causes, and_(c.run_no == r.run_no, c.response_no == r.response_no))
        .join(judges, judges.c.judge_no == c.judge_no)
        .where(these, c.judge_repeat == 0)
    )
    judged_here = {number for number, mine in values.items() if any(rank[1] for rank, _ in mine.values())}
    failed = {  # what was found for nobody counts where the judge never judged
        number: name
        for number, judge, name in connection.execute(why)
        if judge == by_number[number] or (judge == NOBODY and number not in judged_here)
    }
    for row in rows:
        number = row.response_no
        mine = values.get(number, {})
        yield QuestionInRun(
            row.run_id,
            row.name,
            row.created_at,
            row.repeat,
            by_number[number],
            number in failed,
            failed.get(number, ""),
            {name: mine[name][1] for name in names or mine if name in mine},
        )
