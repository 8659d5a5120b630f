"""Studies and their trials."""

from __future__ import annotations

import builtins
import json
from typing import Any

from sqlalchemy import Connection, Row, delete, insert, select

from ragauge.core.errors import UnknownName, UsageError
from ragauge.core.identity import canonical, plain
from ragauge.core.study import Measurement, Study, Trial
from ragauge.store.database import Database, now
from ragauge.store.names import run_no
from ragauge.store.run_log import refuse_baseline
from ragauge.store.runs import delete_run
from ragauge.store.schema import runs
from ragauge.store.study_schema import measurements, studies, trials
from ragauge.store.text_codec import pack, unpack


class Studies:
    """Studies, their trials and what these measured; the runs of trials stand with all others."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def begin(self, study: Study) -> Study:
        """Keeps a study that has no trial yet; created_at is filled in.

        Raises:
            UsageError: there is one of this name.
        """
        with self._database.write() as connection:
            if _no(connection, study.name) is not None:
                raise UsageError(f"there is a study {study.name!r} already. Choose another name.")
            values = {
                "name": study.name,
                "kind": study.kind,
                "set_name": study.set_name,
                "set_version": study.set_version,
                "fixed": _packed(study.fixed),
                "created_at": study.created_at or now(),
            }
            connection.execute(insert(studies).values(values))
        return self.read(study.name)

    def has(self, name: str) -> bool:
        """Whether there is a study of this name."""
        with self._database.read() as connection:
            return _no(connection, name) is not None

    def read(self, name: str) -> Study:
        """A study with its trials and their measurements, in the order in which they were first asked for.

        Raises:
            UnknownName: there is none of this name.
        """
        with self._database.read() as connection:
            row = connection.execute(select(studies).where(studies.c.name == name)).first()
            if row is None:
                known = connection.execute(select(studies.c.name)).scalars()
                raise UnknownName("study", name, known, "ragauge study list shows them.")
            return _study(connection, row)

    def list(self) -> builtins.list[Study]:
        """Every study, the newest first."""
        with self._database.read() as connection:
            rows = connection.execute(select(studies).order_by(studies.c.study_no.desc())).all()
            return [_study(connection, row) for row in rows]

    def put(self, name: str, trial: Trial) -> None:
        """Keeps a trial in place of the one of its name, which keeps its place; the run of that one goes.

        Raises:
            UnknownName: no such study, or no such run.
        """
        with self._database.write() as connection:
            number = _no(connection, name)
            if number is None:
                raise UnknownName("study", name, connection.execute(select(studies.c.name)).scalars())
            mine = (trials.c.study_no == number) & (trials.c.name == trial.name)
            old = connection.execute(select(trials).where(mine)).first()
            values = {
                "study_no": number,
                "name": trial.name,
                "parameters": _packed(trial.parameters),
                "state": trial.state,
                "reason": trial.reason,
                "run_no": run_no(connection, trial.run_id) if trial.run_id else None,
            }
            if old is None:
                connection.execute(insert(trials).values(values))
            else:
                connection.execute(trials.update().where(mine).values(values))
                if old.run_no is not None and old.run_no != values["run_no"]:
                    delete_run(connection, old.run_no)
            trial_no = connection.execute(select(trials.c.trial_no).where(mine)).scalar_one()
            connection.execute(delete(measurements).where(measurements.c.trial_no == trial_no))
            rows = [
                {"trial_no": trial_no, "place": place, **{key: getattr(one, key) for key in _FIELDS}}
                for place, one in enumerate(trial.measurements)
            ]
            if rows:
                connection.execute(insert(measurements), rows)

    def delete(self, name: str) -> None:
        """Removes a study with its trials and their runs.

        Raises:
            UnknownName: there is none of this name.
            UsageError: a baseline stands for one of its runs.
        """
        study = self.read(name)
        with self._database.write() as connection:
            number = _no(connection, name)
            for trial in study.trials:
                if trial.run_id:
                    refuse_baseline(connection, trial.run_id)
                    delete_run(connection, run_no(connection, trial.run_id))
            connection.execute(delete(studies).where(studies.c.study_no == number))


_FIELDS = ("name", "value", "unit", "low", "high", "n")


def _no(connection: Connection, name: str) -> int | None:
    found: int | None = connection.execute(select(studies.c.study_no).where(studies.c.name == name)).scalar()
    return found


def _packed(settings: Any) -> bytes:
    return pack(canonical(plain(settings)))


def _study(connection: Connection, row: Row[Any]) -> Study:
    mine = (
        select(trials, runs.c.run_id)
        .join_from(trials, runs, trials.c.run_no == runs.c.run_no, isouter=True)
        .where(trials.c.study_no == row.study_no)
        .order_by(trials.c.trial_no)
    )
    return Study(
        row.name,
        row.kind,
        row.set_name,
        row.set_version,
        json.loads(unpack(row.fixed)),
        tuple(_trial(connection, one) for one in connection.execute(mine).all()),
        row.created_at,
    )


def _trial(connection: Connection, row: Row[Any]) -> Trial:
    columns = (measurements.c[name] for name in _FIELDS)
    query = select(*columns).where(measurements.c.trial_no == row.trial_no).order_by(measurements.c.place)
    found = tuple(Measurement(*values) for values in connection.execute(query))
    return Trial(row.name, json.loads(unpack(row.parameters)), row.state, row.reason, row.run_id or "", found)
