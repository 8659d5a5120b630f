"""What every store does, one small contract per area. `tests/store` runs each on every back end."""

from __future__ import annotations

import builtins
import json
from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from ragauge.analysis.results.scorecard import Cause, Summary
from ragauge.analysis.scores.arrays import Columns, ResponseIndex
from ragauge.data.canonical import canonical
from ragauge.data.codec import FACTS, decode, encode
from ragauge.data.example import EvalSet, Example
from ragauge.data.facts import Evidence
from ragauge.data.response import Response
from ragauge.data.run import Run
from ragauge.data.score import Score
from ragauge.metrics.base import Measured
from ragauge.store.order import Order
from ragauge.store.packing import pack, unpack

if TYPE_CHECKING:
    import polars as pl

Record = tuple[Example, Response | None]


@dataclass(frozen=True, slots=True)
class SetInfo:
    """One line of the list of sets."""

    name: str
    version: str
    n: int
    created_at: str


@dataclass(frozen=True, slots=True)
class Loaded:
    """One response of a run as it is evaluated.

    Attributes:
        response_no: its number in this store.
        example: the question and its labels.
        response: what the system returned; an empty retrieval where the run holds none.
    """

    response_no: int
    example: Example
    response: Response


@dataclass(frozen=True, slots=True)
class Column:
    """Whose score stands in one place of a row: the metric, and the judge where it asks one.

    Attributes:
        metric: printed name.
        version: of the metric.
        judge_id: None where nothing is asked.
        judge_repeat: which asking of the judge; 0 where nothing is asked.
    """

    metric: str
    version: int
    judge_id: str | None = None
    judge_repeat: int = 0


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


class Texts(Protocol):
    """Passage texts, each once across all runs, by SHA-256."""

    def put(self, texts: Sequence[str]) -> builtins.list[int]:
        """Their numbers, in order; a text already there keeps its number."""

    def get(self, numbers: Collection[int]) -> dict[int, str]:
        """Texts by number."""

    def count(self) -> int:
        """How many distinct texts there are."""


class Sets(Protocol):
    """Eval sets, by name and version."""

    def add(self, eval_set: EvalSet) -> str:
        """Keeps a set and returns its version; the same content under the same name is kept once."""

    def get(self, name: str, version: str | None = None) -> EvalSet:
        """A set with its examples in order; without a version, the newest. UnknownName if there is none."""

    def list(self) -> builtins.list[SetInfo]:
        """Every set, newest first."""


class Runs(Protocol):
    """Runs and their responses."""

    def import_run(self, run: Run, records: Iterable[Record], batch: int = 500) -> Run:
        """Keeps a run and its responses, all or nothing, reading `records` once as a stream.

        A response of None is an example that a finished run holds nothing for: an empty retrieval, counted by
        `absent`; of a run that is not finished it is pending, and left out. Where a run of the same content is
        already there (examples, responses, system, configuration, variant), that run is returned, so that repeating
        a command resumes; the new name leads to it too.

        Args:
            run: what is known about it; an empty run_id, created_at or set_version is filled in.
            records: example and response, in the order of the run's file.
            batch: records written at a time.

        Returns:
            The run as stored.

        Raises:
            DataError: a query_id and repeat stand twice, a response to another query, or a number is not finite.
            UsageError: the run_id is taken by a run of other content.
        """

    def find(self, which: str) -> Run:
        """The run of an id, of a name (the newest that has it), or "latest": the one that moved last.

        Runs that only put another's causes to the test (`Run.confirms`) are the latest only where there is no other.

        Raises:
            UnknownName: there is none.
        """

    def list(self, limit: int | None = None) -> builtins.list[Run]:
        """Runs, newest first."""

    def delete(self, run_id: str) -> None:
        """Removes a run, its scores, and the texts, examples and evidence that no other run refers to.

        Raises:
            UsageError: it is a baseline.
        """

    def size(self, run_id: str) -> int:
        """How many responses it has, absent ones counted."""

    def absent(self, run_id: str) -> int:
        """How many examples the run held no response for."""

    def order(self, run_id: str, keep: Mapping[str, str] | None = None) -> Order:
        """(number, hash of the question) of every response, in example order.

        Args:
            run_id: the run.
            keep: segment column, or "tag" -> value; only responses whose examples match all.

        Raises:
            UnknownName: no example has this column, or this value in it.
        """

    def load(self, numbers: Sequence[int]) -> builtins.list[Loaded]:
        """Responses by number, in that order, with their examples; numbers that are gone are left out."""

    def pairs(self, run_id: str, batch: int = 500) -> Iterator[tuple[Example, Response]]:
        """Every example with its response, in example order, read as a stream."""

    def response(self, run_id: str, query_id: str, repeat: int = 0) -> tuple[Example, Response]:
        """One example with its response. UnknownName if there is none."""

    def index(self, run_id: str, numbers: Sequence[int]) -> ResponseIndex:
        """Examples, repeats, weights and clusters of some responses, whose numbers ascend."""

    def segments(self, run_id: str) -> pl.DataFrame:
        """query_id and one column per segment (null where an example does not have it), in example order."""

    def clusters(self, run_id: str) -> pl.DataFrame:
        """query_id and cluster (null where there is none), in example order."""


class Evidences(Protocol):
    """What judges found, by key; shared by all runs."""

    def put(self, evidence: Evidence) -> Evidence:
        """Keeps evidence; returns what is stored under its key: the first that was not failed wins."""

    def get(self, key: str) -> Evidence | None:
        """Evidence by key."""

    def known(self, keys: Collection[str]) -> dict[str, PackedEvidence]:
        """What is stored of these keys and did not fail: what need not be asked again."""

    def add(self, found: Sequence[tuple[int, PackedEvidence]]) -> set[str]:
        """Keeps evidence and links it to responses.

        Args:
            found: (number of a response, its evidence).

        Returns:
            Keys under which something else was stored first: whoever computed from the loser reads it back.
        """

    def linked(
        self, numbers: Collection[int], judge_id: str, judge_repeat: int = 0
    ) -> dict[int, builtins.list[PackedEvidence]]:
        """Everything that a judge found about these responses."""

    def of_response(
        self, run_id: str, query_id: str, repeat: int, judge_id: str, judge_repeat: int = 0
    ) -> dict[str, Evidence]:
        """Question -> evidence of one response."""

    def of_run(
        self, run_id: str, judge_id: str, judge_repeat: int = 0, batch: int = 500
    ) -> Iterator[tuple[str, int, dict[str, Evidence]]]:
        """(query_id, repeat, question -> evidence) of every response, in example order, read as a stream."""

    def versions(self, run_id: str, judge_id: str, judge_repeat: int = 0) -> dict[str, tuple[int, ...]]:
        """Question -> the versions in which a judge was asked it about this run, ascending."""


class Scores(Protocol):
    """Scores, one row per run, response, metric and judge."""

    def write(self, run_id: str, columns: Sequence[Column], rows: Iterable[tuple[int, Sequence[Measured]]]) -> int:
        """Keeps scores; one already there is replaced, since scores are recomputable.

        Args:
            run_id: the run.
            columns: what stands in each place of a row.
            rows: (number of a response, one result per column).

        Returns:
            How many scores were written.
        """

    def complete(self, run_id: str, columns: Sequence[Column], *, failed_too: bool = True) -> set[int]:
        """Numbers of the responses that have a score in every column.

        Args:
            run_id: the run.
            columns: which scores are asked for.
            failed_too: a failed score counts as one; False leaves such responses out, to try them again.
        """

    def frame(self, run_id: str, judge_id: str | None, judge_repeat: int = 0) -> pl.DataFrame:
        """Every score of a run by one judge, with those that ask nobody, in example order.

        Columns: those of `analysis.frames.score_frame`: query_id, repeat, metric, status, value, numerator,
        denominator, low, high, reason, judge_id, weight, cluster.
        Of a metric with several versions, the newest.
        """

    def versions(self, run_id: str, judge_id: str | None, judge_repeat: int = 0) -> dict[str, int]:
        """Printed name -> newest version that the run has scores of, by one judge or by nobody."""

    def metrics(self, run_id: str, judge_id: str | None, judge_repeat: int = 0) -> builtins.list[str]:
        """Printed names of the metrics that `frame` would show, in its order."""

    def evaluated(
        self, run_id: str, judge_id: str | None, names: Sequence[str], *, least: int = 1, judge_repeat: int = 0
    ) -> array[int]:
        """Numbers of the responses with scores of at least so many of the metrics, ascending."""

    def of_metrics(
        self, run_id: str, judge_id: str | None, names: Sequence[str], index: ResponseIndex, judge_repeat: int = 0, *,
        values_only: bool = False,
    ) -> dict[str, Columns]:     # fmt: skip
        """Printed name -> one metric's scores in example order, what `frame` would need for all metrics at once.

        Args:
            run_id: the run.
            judge_id: whose scores, beside those that ask nobody; of a response scored both ways, the judge's.
            names: printed names; they are read together, since scores stand by response. One without a score gets
                empty arrays.
            index: the responses looked at; the scores of others are left out.
            judge_repeat: which asking of the judge.
            values_only: leave out numerators and denominators (NaN) and reasons (""), which is quicker.
        """

    def of_response(
        self, run_id: str, query_id: str, repeat: int, judge_id: str | None, judge_repeat: int = 0
    ) -> dict[str, Score]:
        """Printed name -> score of one response."""

    def judges(self, run_id: str) -> builtins.list[str]:
        """Who judged this run, the last first."""


class Causes(Protocol):
    """Why failed examples failed, one row per run, response and judge.

    What is read for a judge holds, of responses that this judge never judged, the causes that were kept for nobody
    (judge None): what record and labels alone show. No row is no proof that a response did not fail: see
    `analysis.scores.known`.
    """

    def write(
        self, run_id: str, judge_id: str | None, causes: Mapping[int, Cause | None], judge_repeat: int = 0
    ) -> None:
        """Keeps causes by number of response; None = it did not fail, which removes an earlier cause."""

    def frame(self, run_id: str, judge_id: str | None, judge_repeat: int = 0) -> pl.DataFrame:
        """The failed responses in example order, with the columns of `analysis.frames.cause_frame`."""

    def read(
        self, run_id: str, judge_id: str | None, judge_repeat: int = 0, *, numbers: Sequence[int] | None = None
    ) -> Iterator[tuple[int, Cause]]:
        """Number and cause of one failed response after another, by ascending number; words as in the frame.

        With `numbers`, of these responses alone.
        """

    def of_response(
        self, run_id: str, query_id: str, repeat: int, judge_id: str | None, judge_repeat: int = 0
    ) -> Cause | None:
        """The cause of one response; None when it did not fail."""


class Summaries(Protocol):
    """The last summary of a run by a judge, for lists of runs."""

    def write(self, run_id: str, judge_id: str | None, summaries: Sequence[Summary], judge_repeat: int = 0) -> None:
        """Keeps the summaries of a run in place of earlier ones; a store that can only be read stays as it is."""

    def read(self, run_id: str, judge_id: str | None, judge_repeat: int = 0) -> tuple[Summary, ...]:
        """The summaries kept last; () when there are none."""
