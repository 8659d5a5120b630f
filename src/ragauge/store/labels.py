"""People's labels, and what was drawn from runs to be labeled."""

from __future__ import annotations

import builtins
import hashlib
import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Select, delete, func, select

from ragauge.core.identity import to_canonical_json
from ragauge.core.label import Label, format_part, parse_part
from ragauge.store.database import Database, build_in_condition, get_timestamp, iter_matching_rows, split_batches
from ragauge.store.label_schema import draws, labeled_responses
from ragauge.store.label_schema import labels as table
from ragauge.store.names import find_run_no
from ragauge.store.schema import responses, runs
from ragauge.store.text_codec import pack_text, unpack_text

LABEL_FIELDS = ("part", "question", "value", "annotator", "at", "guideline")
BATCH_SIZE_LABELS = 5_000  # labels written together


class Labels:
    """Labels by what was seen. They are added, never changed, and stay when runs are deleted."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, labels: Iterable[Label]) -> int:
        """Stores labels, together or not at all; returns how many were new. The same label twice is there once."""
        statement = self._database.insert(table).on_conflict_do_nothing()
        with self._database.write() as connection:
            count = select(func.count()).select_from(table)
            n_before: int = connection.execute(count).scalar_one()
            for batch in split_batches(labels, BATCH_SIZE_LABELS):
                rows = [
                    {"key": bytes.fromhex(label.key), "part": format_part(label.part)}
                    | {name: getattr(label, name) for name in LABEL_FIELDS[1:]}
                    for label in batch
                ]
                connection.execute(statement, rows)
            n_after: int = connection.execute(count).scalar_one()
        return n_after - n_before

    def of(self, keys: Collection[str], question: str | None = None) -> builtins.list[Label]:
        """The labels of what has one of these keys, in the order in which they came."""
        query = select(table.c.label_no, table.c.key, *(table.c[name] for name in LABEL_FIELDS))
        query = query if question is None else query.where(table.c.question == question)
        with self._database.read() as connection:
            rows = sorted(
                iter_matching_rows(connection, query, table.c.key, map(bytes.fromhex, keys)), key=lambda row: row[0]
            )
        return [_build_label(row[1:]) for row in rows]

    def list(self, guideline: str | None = None) -> Iterator[Label]:
        """All labels, or those by some instructions, in the order in which they came."""
        query = select(table.c.key, *(table.c[name] for name in LABEL_FIELDS)).order_by(table.c.label_no)
        query = query if guideline is None else query.where(table.c.guideline == guideline)
        with self._database.read() as connection:
            for row in connection.execute(query):
                yield _build_label(row)

    def questions(self) -> builtins.list[str]:
        """The questions that there are labels of, in alphabetical order."""
        with self._database.read() as connection:
            return [*connection.execute(select(table.c.question).distinct().order_by(table.c.question)).scalars()]

    def count_by_guideline(self) -> dict[str, int]:
        """Hash of instructions -> how many labels there are by them, most first."""
        count = func.count()
        query = select(table.c.guideline, count).group_by(table.c.guideline).order_by(count.desc(), table.c.guideline)
        with self._database.read() as connection:
            return {row[0]: row[1] for row in connection.execute(query)}

    def queue_decisions(self, numbers: Iterable[int]) -> None:
        """Records that responses are to be decided again, in the transaction that keeps their labels."""
        statement = self._database.insert(labeled_responses).on_conflict_do_nothing()
        with self._database.write() as connection:
            for batch in split_batches(numbers):
                connection.execute(statement, [{"response_no": number} for number in batch])

    def load_queued_decisions(self) -> dict[str, builtins.list[int]]:
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
            for batch in split_batches(numbers):
                statement = delete(labeled_responses).where(build_in_condition(labeled_responses.c.response_no))
                connection.execute(statement, {"values": list(batch)})

    def delete_annotator(self, annotator: str) -> int:
        """Deletes what somebody labeled; returns how many labels went."""
        with self._database.write() as connection:
            return connection.execute(delete(table).where(table.c.annotator == annotator)).rowcount

    def compute_digest(self, guideline: str) -> str:
        """A hash of all labels by some instructions: it changes with every label that is new."""
        hasher = hashlib.sha256()
        for stored_label in sorted(
            self.list(guideline),
            key=lambda label: to_canonical_json(
                [label.key, format_part(label.part), label.question, label.annotator, label.at, label.value]
            ),
        ):
            hasher.update(
                to_canonical_json(
                    [
                        stored_label.key,
                        format_part(stored_label.part),
                        stored_label.question,
                        stored_label.value,
                        stored_label.annotator,
                        stored_label.at,
                    ]
                ).encode()
            )
        return hasher.hexdigest()


def _build_label(row: Any) -> Label:
    key, stored_part, *values = row
    return Label(key.hex(), parse_part(stored_part), *values)


@dataclass(frozen=True, slots=True)
class LabelDraw:
    """What was drawn from a run to be labeled."""

    run_id: str  #: the run.
    question: str  #: to be answered.
    guideline: str  #: hash of the instructions.
    scheme: str  #: random, verdict or uncertain.
    by: str  #: sentence or answer.
    #: number of each response that could have been drawn -> the chance that it had, in (0, 1].
    inclusion: Mapping[int, float]
    drawn: frozenset[int]  #: numbers of those that were.
    at: str = ""  #: when, ISO 8601; filled in by the store.
    instructions: str = ""  #: their text, where they are not ours.
    number: int = 0  #: of the draw; filled in by the store.


class Draws:
    """What was drawn from runs; it goes with its run."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, draw: LabelDraw) -> int:
        """Stores a draw, before anything is labeled by it; returns its number."""
        chances = sorted(set(draw.inclusion.values()))
        body = {
            "numbers": sorted(draw.inclusion),
            "drawn": sorted(draw.drawn),
            "chances": chances[0] if len(chances) == 1 else [draw.inclusion[n] for n in sorted(draw.inclusion)],
        } | ({"instructions": draw.instructions} if draw.instructions else {})
        values = {name: getattr(draw, name) for name in ("question", "guideline", "scheme", "by")}
        with self._database.write() as connection:
            number = find_run_no(connection, draw.run_id)
            made = connection.execute(
                draws.insert().values(
                    **values, run_no=number, at=draw.at or get_timestamp(), body=pack_text(to_canonical_json(body))
                )
            )
            return int((made.inserted_primary_key or (0,))[0])

    def list_for_run(self, run_id: str, question: str | None = None) -> builtins.list[LabelDraw]:
        """The draws from a run, in their order."""
        with self._database.read() as connection:
            query = _DRAWS_QUERY.where(draws.c.run_no == find_run_no(connection, run_id))
        return self._load_draws(query if question is None else query.where(draws.c.question == question))

    def list(self, limit: int, before_no: int | None = None) -> builtins.list[LabelDraw]:
        """The newest draws of all runs, the last first; those `before_no` a number."""
        query = _DRAWS_QUERY.order_by(None).order_by(draws.c.draw_no.desc()).limit(limit)
        return self._load_draws(query if before_no is None else query.where(draws.c.draw_no < before_no))

    def read(self, number: int) -> LabelDraw | None:
        """The draw of a number; None where there is none, or its run was deleted."""
        return next(iter(self._load_draws(_DRAWS_QUERY.where(draws.c.draw_no == number))), None)

    def _load_draws(self, query: Select[Any]) -> builtins.list[LabelDraw]:
        with self._database.read() as connection:
            return [_build_draw(row["run_id"], row) for row in connection.execute(query).mappings()]


_DRAWS_QUERY = (
    select(draws, runs.c.run_id).join_from(draws, runs, draws.c.run_no == runs.c.run_no).order_by(draws.c.draw_no)
)


def _build_draw(run_id: str, row: Any) -> LabelDraw:
    body = json.loads(unpack_text(row["body"]))
    numbers, chances = body["numbers"], body["chances"]
    inclusion = chances if isinstance(chances, list) else [chances] * len(numbers)
    return LabelDraw(
        run_id,
        row["question"],
        row["guideline"],
        row["scheme"],
        row["by"],
        dict(zip(numbers, inclusion, strict=True)),
        frozenset(body["drawn"]),
        row["at"],
        body.get("instructions", ""),
        row["draw_no"],
    )
