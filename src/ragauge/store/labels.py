"""People's labels, and what was drawn from runs to be labelled."""

from __future__ import annotations

import builtins
import hashlib
import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Select, delete, func, select

from ragauge.core.identity import canonical
from ragauge.core.label import Label, part_of, part_text
from ragauge.store.database import Database, among, chunks, now, rows_among
from ragauge.store.label_schema import draws, labeled_responses
from ragauge.store.label_schema import labels as table
from ragauge.store.names import run_no
from ragauge.store.schema import responses, runs
from ragauge.store.text_codec import pack, unpack

FIELDS = ("part", "question", "value", "annotator", "at", "guideline")
AT_A_TIME = 5_000  # labels written together


class Labels:
    """Labels by what was seen. They are added, never changed, and stay when runs are deleted."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, labels: Iterable[Label]) -> int:
        """Keeps labels, together or not at all; returns how many were new. The same label twice is there once."""
        statement = self._database.insert(table).on_conflict_do_nothing()
        with self._database.write() as connection:
            count = select(func.count()).select_from(table)
            before: int = connection.execute(count).scalar_one()
            for part in chunks(labels, AT_A_TIME):
                rows = [
                    {"key": bytes.fromhex(one.key), "part": part_text(one.part)}
                    | {name: getattr(one, name) for name in FIELDS[1:]}
                    for one in part
                ]
                connection.execute(statement, rows)
            after: int = connection.execute(count).scalar_one()
        return after - before

    def of(self, keys: Collection[str], question: str | None = None) -> builtins.list[Label]:
        """The labels of what has one of these keys, in the order in which they came."""
        query = select(table.c.label_no, table.c.key, *(table.c[name] for name in FIELDS))
        query = query if question is None else query.where(table.c.question == question)
        with self._database.read() as connection:
            found = sorted(rows_among(connection, query, table.c.key, map(bytes.fromhex, keys)), key=lambda row: row[0])
        return [_label(row[1:]) for row in found]

    def list(self, guideline: str | None = None) -> Iterator[Label]:
        """All labels, or those by some instructions, in the order in which they came."""
        query = select(table.c.key, *(table.c[name] for name in FIELDS)).order_by(table.c.label_no)
        query = query if guideline is None else query.where(table.c.guideline == guideline)
        with self._database.read() as connection:
            for row in connection.execute(query):
                yield _label(row)

    def questions(self) -> builtins.list[str]:
        """The questions that there are labels of, in alphabetical order."""
        with self._database.read() as connection:
            return [*connection.execute(select(table.c.question).distinct().order_by(table.c.question)).scalars()]

    def guidelines(self) -> dict[str, int]:
        """Hash of instructions -> how many labels there are by them, most first."""
        count = func.count()
        query = select(table.c.guideline, count).group_by(table.c.guideline).order_by(count.desc(), table.c.guideline)
        with self._database.read() as connection:
            return {row[0]: row[1] for row in connection.execute(query)}

    def queue_decisions(self, numbers: Iterable[int]) -> None:
        """Keeps that responses are to be decided again, in the transaction that keeps their labels."""
        statement = self._database.insert(labeled_responses).on_conflict_do_nothing()
        with self._database.write() as connection:
            for part in chunks(numbers):
                connection.execute(statement, [{"response_no": number} for number in part])

    def queued_decisions(self) -> dict[str, builtins.list[int]]:
        """Run id -> numbers of its responses that are to be decided again, in ascending order."""
        query = (
            select(runs.c.run_id, responses.c.response_no)
            .join_from(labeled_responses, responses, responses.c.response_no == labeled_responses.c.response_no)
            .join(runs, runs.c.run_no == responses.c.run_no)
        )
        numbers_by_run: dict[str, builtins.list[int]] = {}
        with self._database.read() as connection:
            for run_id, number in connection.execute(query.order_by(labeled_responses.c.response_no)):
                numbers_by_run.setdefault(run_id, []).append(number)
        return numbers_by_run

    def end_decisions(self, numbers: Iterable[int]) -> None:
        """Takes responses off those that are to be decided again."""
        with self._database.write() as connection:
            for part in chunks(numbers):
                gone = delete(labeled_responses).where(among(labeled_responses.c.response_no))
                connection.execute(gone, {"values": list(part)})

    def forget(self, annotator: str) -> int:
        """Deletes what somebody labeled; returns how many labels went."""
        with self._database.write() as connection:
            return connection.execute(delete(table).where(table.c.annotator == annotator)).rowcount

    def digest(self, guideline: str) -> str:
        """A hash of all labels by some instructions: it changes with every label that is new."""
        whole = hashlib.sha256()
        for one in sorted(
            self.list(guideline),
            key=lambda label: canonical(
                [label.key, part_text(label.part), label.question, label.annotator, label.at, label.value]
            ),
        ):
            whole.update(
                canonical([one.key, part_text(one.part), one.question, one.value, one.annotator, one.at]).encode()
            )
        return whole.hexdigest()


def _label(row: Any) -> Label:
    key, part, *rest = row
    return Label(key.hex(), part_of(part), *rest)


@dataclass(frozen=True, slots=True)
class LabelDraw:
    """What was drawn from a run to be labelled.

    Attributes:
        run_id: the run.
        question: to be answered.
        guideline: hash of the instructions.
        scheme: random, verdict or uncertain.
        by: sentence or answer.
        inclusion: number of each response that could have been drawn -> the chance that it had, in (0, 1].
        drawn: numbers of those that were.
        at: when, ISO 8601; filled in by the store.
        instructions: their text, where they are not ours.
        number: of the draw; filled in by the store.
    """

    run_id: str
    question: str
    guideline: str
    scheme: str
    by: str
    inclusion: Mapping[int, float]
    drawn: frozenset[int]
    at: str = ""
    instructions: str = ""
    number: int = 0


class Draws:
    """What was drawn from runs; it goes with its run."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, draw: LabelDraw) -> int:
        """Keeps a draw, before anything is labelled by it; returns its number."""
        chances = sorted(set(draw.inclusion.values()))
        body = {
            "numbers": sorted(draw.inclusion),
            "drawn": sorted(draw.drawn),
            "chances": chances[0] if len(chances) == 1 else [draw.inclusion[n] for n in sorted(draw.inclusion)],
        } | ({"instructions": draw.instructions} if draw.instructions else {})
        values = {name: getattr(draw, name) for name in ("question", "guideline", "scheme", "by")}
        with self._database.write() as connection:
            number = run_no(connection, draw.run_id)
            made = connection.execute(
                draws.insert().values(**values, run_no=number, at=draw.at or now(), body=pack(canonical(body)))
            )
            return int((made.inserted_primary_key or (0,))[0])

    def of_run(self, run_id: str, question: str | None = None) -> builtins.list[LabelDraw]:
        """The draws from a run, in their order."""
        with self._database.read() as connection:
            query = _DRAWS.where(draws.c.run_no == run_no(connection, run_id))
        return self._found(query if question is None else query.where(draws.c.question == question))

    def list(self, limit: int, before: int | None = None) -> builtins.list[LabelDraw]:
        """The newest draws of all runs, the last first; those `before` a number."""
        query = _DRAWS.order_by(None).order_by(draws.c.draw_no.desc()).limit(limit)
        return self._found(query if before is None else query.where(draws.c.draw_no < before))

    def read(self, number: int) -> LabelDraw | None:
        """The draw of a number; None where there is none, or its run was deleted."""
        return next(iter(self._found(_DRAWS.where(draws.c.draw_no == number))), None)

    def _found(self, query: Select[Any]) -> builtins.list[LabelDraw]:
        with self._database.read() as connection:
            return [_draw(row["run_id"], row) for row in connection.execute(query).mappings()]


_DRAWS = select(draws, runs.c.run_id).join_from(draws, runs, draws.c.run_no == runs.c.run_no).order_by(draws.c.draw_no)


def _draw(run_id: str, row: Any) -> LabelDraw:
    body = json.loads(unpack(row["body"]))
    numbers, chances = body["numbers"], body["chances"]
    every = chances if isinstance(chances, list) else [chances] * len(numbers)
    return LabelDraw(
        run_id,
        row["question"],
        row["guideline"],
        row["scheme"],
        row["by"],
        dict(zip(numbers, every, strict=True)),
        frozenset(body["drawn"]),
        row["at"],
        body.get("instructions", ""),
        row["draw_no"],
    )
