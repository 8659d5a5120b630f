"""Studies and their trials."""

from __future__ import annotations

import builtins
import json
from typing import Any

from sqlalchemy import Connection, Row, delete, insert, select

from ragauge.core.errors import UnknownName, UsageError
from ragauge.core.identity import to_canonical_json, to_json_value
from ragauge.core.study import Measurement, Study, Trial
from ragauge.store.database import Database, get_timestamp
from ragauge.store.names import find_run_no
from ragauge.store.run_log import check_not_baseline
from ragauge.store.runs import delete_run
from ragauge.store.schema import runs
from ragauge.store.study_schema import measurements, studies, trials
from ragauge.store.text_codec import pack_text, unpack_text


class Studies:
    """Studies, their trials and what these measured; the runs of trials stand with all others."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def begin_study(self, study: Study) -> Study:
        """Stores a study that has no trial yet; created_at is filled in.

        Raises:
            UsageError: there is one of this name.
        """
        with self._database.write() as connection:
            if _find_study_no(connection, study.name) is not None:
                raise UsageError(f"a study named {study.name!r} already exists. Choose another name.")
            values = {
                "name": study.name,
                "kind": study.kind,
                "set_name": study.set_name,
                "set_version": study.set_version,
                "fixed": _pack_settings(study.fixed),
                "created_at": study.created_at or get_timestamp(),
            }
            connection.execute(insert(studies).values(values))
        return self.read(study.name)

    def has_study(self, name: str) -> bool:
        """Whether there is a study of this name."""
        with self._database.read() as connection:
            return _find_study_no(connection, name) is not None

    def read(self, name: str) -> Study:
        """A study with its trials and their measurements, in the order in which they were first asked for.

        Raises:
            UnknownName: there is none of this name.
        """
        with self._database.read() as connection:
            row = connection.execute(select(studies).where(studies.c.name == name)).first()
            if row is None:
                valid_names = connection.execute(select(studies.c.name)).scalars()
                raise UnknownName("study", name, valid_names, "ragauge study list shows them.")
            return _build_study(connection, row)

    def list(self) -> builtins.list[Study]:
        """Every study, the newest first."""
        with self._database.read() as connection:
            rows = connection.execute(select(studies).order_by(studies.c.study_no.desc())).all()
            return [_build_study(connection, row) for row in rows]

    def save_trial(self, name: str, trial: Trial) -> None:
        """Stores a trial in place of the one of its name, which keeps its place; the run of that one goes.

        Raises:
            UnknownName: no such study, or no such run.
        """
        with self._database.write() as connection:
            number = _find_study_no(connection, name)
            if number is None:
                raise UnknownName("study", name, connection.execute(select(studies.c.name)).scalars())
            condition = (trials.c.study_no == number) & (trials.c.name == trial.name)
            previous = connection.execute(select(trials).where(condition)).first()
            values = {
                "study_no": number,
                "name": trial.name,
                "parameters": _pack_settings(trial.parameters),
                "state": trial.state,
                "reason": trial.reason,
                "run_no": find_run_no(connection, trial.run_id) if trial.run_id else None,
            }
            if previous is None:
                connection.execute(insert(trials).values(values))
            else:
                connection.execute(trials.update().where(condition).values(values))
                if previous.run_no is not None and previous.run_no != values["run_no"]:
                    delete_run(connection, previous.run_no)
            trial_no = connection.execute(select(trials.c.trial_no).where(condition)).scalar_one()
            connection.execute(delete(measurements).where(measurements.c.trial_no == trial_no))
            rows = [
                {
                    "trial_no": trial_no,
                    "place": index,
                    **{key: getattr(measurement, key) for key in _MEASUREMENT_FIELDS},
                }
                for index, measurement in enumerate(trial.measurements)
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
            number = _find_study_no(connection, name)
            for trial in study.trials:
                if trial.run_id:
                    check_not_baseline(connection, trial.run_id)
                    delete_run(connection, find_run_no(connection, trial.run_id))
            connection.execute(delete(studies).where(studies.c.study_no == number))


_MEASUREMENT_FIELDS = ("name", "value", "unit", "low", "high", "n")


def _find_study_no(connection: Connection, name: str) -> int | None:
    study_no: int | None = connection.execute(select(studies.c.study_no).where(studies.c.name == name)).scalar()
    return study_no


def _pack_settings(settings: Any) -> bytes:
    return pack_text(to_canonical_json(to_json_value(settings)))


def _build_study(connection: Connection, row: Row[Any]) -> Study:
    trial_query = (
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
        json.loads(unpack_text(row.fixed)),
        tuple(_build_trial(connection, trial_row) for trial_row in connection.execute(trial_query).all()),
        row.created_at,
    )


def _build_trial(connection: Connection, row: Row[Any]) -> Trial:
    columns = (measurements.c[name] for name in _MEASUREMENT_FIELDS)
    query = select(*columns).where(measurements.c.trial_no == row.trial_no).order_by(measurements.c.place)
    trial_measurements = tuple(Measurement(*values) for values in connection.execute(query))
    return Trial(
        row.name, json.loads(unpack_text(row.parameters)), row.state, row.reason, row.run_id or "", trial_measurements
    )
