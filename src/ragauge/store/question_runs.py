"""One question in all runs that asked it: its scores side by side."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, Select, and_, select

from ragauge.store.database import Database, iter_matching_rows, split_batches
from ragauge.store.names import METRIC_RANK, NOBODY, find_run_no
from ragauge.store.responses import find_response_no
from ragauge.store.run_facts import JUDGE_QUERY
from ragauge.store.run_list import is_no_trial
from ragauge.store.schema import causes, examples, judges, metrics, own_metrics, responses, run_judges, runs, scores
from ragauge.store.spool import compute_query_key

BATCH_SIZE_RESPONSES = 400  # responses whose scores are asked for together
RankedValue = tuple[tuple[int, bool], float | None]  # (version, whether a judge was asked), value


@dataclass(frozen=True, slots=True)
class QuestionInRun:
    """A question in one run."""

    run_id: str  #: of the run.
    name: str  #: what people call it.
    created_at: str  #: when the run began, ISO 8601.
    repeat: int  #: which of the system's answers, from 0.
    judge: str  #: who judged the run last; "" for nobody.
    failed: bool  #: whether that judge's verdicts, labels or the record show that the answer failed.
    cause: str  #: why; "" where it did not fail, or the cause is unclear.
    #: printed name of a metric -> value, by that judge or by nobody; None where there is none.
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
            rows = _load_answers(connection, run_id, query_id, limit, after)
            answers: list[QuestionInRun] = []
            for batch in split_batches(rows, BATCH_SIZE_RESPONSES):
                answers += _iter_with_scores(connection, batch, names)
        return answers

    def find_responses(self, queries: Collection[str]) -> dict[str, list[int]]:
        """Run id -> numbers of its responses to questions of these texts, by any query_id; trials are left out."""
        keys = {compute_query_key(query) for query in queries}
        query = (
            select(runs.c.run_id, responses.c.response_no)
            .join_from(examples, responses, responses.c.example_no == examples.c.example_no)
            .join(runs, runs.c.run_no == responses.c.run_no)
            .where(is_no_trial())
        )
        numbers_by_run: dict[str, list[int]] = {}
        with self._database.read() as connection:
            for run_id, number in iter_matching_rows(connection, query, examples.c.query_key, sorted(keys)):
                numbers_by_run.setdefault(run_id, []).append(number)
        return numbers_by_run


def _load_answers(
    connection: Connection, run_id: str, query_id: str, limit: int | None, after: str
) -> Sequence[Row[Any]]:
    """The answers: of the last run of a page all, so that the next page begins with another run."""
    number = find_response_no(connection, run_id, query_id, 0)
    first = select(responses.c.query_id, examples.c.query_key).join_from(
        responses, examples, responses.c.example_no == examples.c.example_no
    )
    question_row = connection.execute(first.where(responses.c.response_no == number)).one()
    query: Select[Any] = (
        select(
            *(runs.c[name] for name in ("run_no", "run_id", "name", "created_at")),
            responses.c.response_no,
            responses.c.repeat,
        )
        .join_from(responses, runs, runs.c.run_no == responses.c.run_no)
        .join(examples, examples.c.example_no == responses.c.example_no)
        .where(
            responses.c.query_id == question_row.query_id, examples.c.query_key == question_row.query_key, is_no_trial()
        )
        .order_by(responses.c.run_no.desc(), responses.c.repeat)
    )
    if after:
        query = query.where(responses.c.run_no < find_run_no(connection, after))
    rows = connection.execute(query.limit(limit)).all()
    if limit is None or len(rows) < limit:
        return rows
    last = rows[-1]
    listed_numbers = {row.response_no for row in rows}
    last_run_rows = connection.execute(query.where(responses.c.run_no == last.run_no))
    return [*rows, *(row for row in last_run_rows if row.response_no not in listed_numbers)]


def _iter_with_scores(
    connection: Connection, rows: Sequence[Row[Any]], names: Sequence[str]
) -> Iterator[QuestionInRun]:
    judge_by_run: dict[str, str] = {}
    for run, judge in connection.execute(JUDGE_QUERY.where(run_judges.c.run_no.in_({row.run_no for row in rows}))):
        judge_by_run.setdefault(run, judge)
    judges_by_number = {row.response_no: judge_by_run.get(row.run_no, NOBODY) for row in rows}
    values = _load_values(connection, judges_by_number)
    judged = {number for number, ranked in values.items() if any(is_judged for (_, is_judged), _ in ranked.values())}
    failed = _load_failed(connection, judges_by_number, judged)
    for row in rows:
        number = row.response_no
        own_values = values.get(number, {})
        yield QuestionInRun(
            row.run_id,
            row.name,
            row.created_at,
            row.repeat,
            judges_by_number[number],
            number in failed,
            failed.get(number, ""),
            {name: own_values[name][1] for name in names or own_values if name in own_values},
        )


def _load_values(connection: Connection, judges_by_number: Mapping[int, str]) -> dict[int, dict[str, RankedValue]]:
    """Values of responses by metric: of the newest version, the judge's before nobody's."""
    r, s = responses.c, scores.c
    query = (
        select(s.response_no, judges.c.judge_id, metrics.c.name, METRIC_RANK, s.value)
        .join_from(responses, scores, and_(s.run_no == r.run_no, s.response_no == r.response_no))
        .join(metrics, metrics.c.metric_no == s.metric_no)
        .join(own_metrics, own_metrics.c.metric_no == s.metric_no, isouter=True)
        .join(judges, judges.c.judge_no == s.judge_no)
        .where(
            r.response_no.in_(list(judges_by_number)), s.judge_repeat == 0
        )  # each leads to its few scores, by their key
        .order_by(s.response_no, s.metric_no)
    )
    values: dict[int, dict[str, RankedValue]] = {}
    for number, judge, name, newness, value in connection.execute(query):
        if judge in (NOBODY, judges_by_number[number]):
            rank, own_values = (newness, judge != NOBODY), values.setdefault(number, {})
            if name not in own_values or own_values[name][0] < rank:
                own_values[name] = rank, value
    return values


def _load_failed(
    connection: Connection, judges_by_number: Mapping[int, str], judged: Collection[int]
) -> dict[int, str]:
    """Causes of failed responses; what was found for nobody counts where the judge never judged."""
    r, c = responses.c, causes.c
    query = (
        select(c.response_no, judges.c.judge_id, c.name)
        .join_from(responses, causes, and_(c.run_no == r.run_no, c.response_no == r.response_no))
        .join(judges, judges.c.judge_no == c.judge_no)
        .where(r.response_no.in_(list(judges_by_number)), c.judge_repeat == 0)
    )
    return {
        number: name
        for number, judge, name in connection.execute(query)
        if judge == judges_by_number[number] or (judge == NOBODY and number not in judged)
    }
