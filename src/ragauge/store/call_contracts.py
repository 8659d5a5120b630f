"""What the store does with what models said and what it cost. `tests/store` runs each contract on every back end."""

from __future__ import annotations

import builtins
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ragauge.analysis.results.paid import Paid
from ragauge.data.ask import Ask, ModelName, Reply, Usage


@dataclass(frozen=True, slots=True)
class Call:
    """One attempt at a model, paid or not.

    Attributes:
        key: of the reply that was wanted.
        question: such as verify_answer; "" for what belongs to none.
        model: as asked.
        outcome: ok, failed, or the trouble: rate_limited, server, timeout, connection, too_long, refused …
        response_no: for which response it was made; None for none (preparing a set). A reply that others reuse
            stays with the response that paid.
        run_id: for which run; "" for none.
        usage: tokens; None when unknown.
        cost: in US dollars; None when unknown.
        latency_ms: of this attempt.
        at: when it ended, ISO 8601.
        judge_id: who asked; "" where no judge did.
    """

    key: str
    question: str
    model: ModelName
    outcome: str
    response_no: int | None = None
    run_id: str = ""
    usage: Usage | None = None
    cost: float | None = None
    latency_ms: float | None = None
    at: str = ""
    judge_id: str = ""


@dataclass(frozen=True, slots=True)
class ReplyInfo:
    """A group of stored replies as `ragauge cache` lists it: those of one model to one question."""

    model: ModelName
    question: str
    n: int
    failed: int
    bytes: int
    first: str
    last: str


@dataclass(frozen=True, slots=True)
class Spent:
    """Calls of one model for one question, by one judge.

    Attributes:
        model: as asked.
        question: such as verify_answer.
        judge_id: who asked; "" where no judge did.
        paid: what they came to.
    """

    model: ModelName
    question: str
    judge_id: str
    paid: Paid


class Replies(Protocol):
    """What models said: the only paid truth. A reply is never changed; a failed one gives way to one that is not."""

    def put(self, found: Sequence[tuple[ModelName, Ask, Reply]]) -> builtins.list[Reply]:
        """Stores replies under their keys, durably, in one transaction.

        Returns:
            The stored reply of each, in order, with its key: of several under one key the first that did not fail.
        """

    def get(self, keys: Collection[str]) -> dict[str, Reply]:
        """The replies of those keys that are stored."""

    def groups(self) -> builtins.list[ReplyInfo]:
        """What is stored, by model and question."""

    def prune(self, *, model: str = "", question: str = "", before: str = "", failed_only: bool = False) -> int:
        """Removes replies that match all that is given; returns how many. Evidence read from them stays.

        Args:
            model: as printed, `provider:model[@endpoint]`.
            question: such as verify_answer.
            before: ISO 8601; older ones.
            failed_only: only failed ones.
        """

    def matching(self, *, model: str = "", question: str = "", before: str = "", failed_only: bool = False) -> int:
        """How many replies `prune` would remove."""

    def lines(self) -> Iterator[Mapping[str, Any]]:
        """Every reply as JSON types, with its ask, for a file that another store can read in."""

    def add_lines(self, lines: Iterable[Mapping[str, Any]]) -> tuple[int, int]:
        """Takes in such lines: (added, already there). A line whose key does not follow from its ask is refused."""


class Calls(Protocol):
    """Every attempt at a model."""

    def add(self, calls: Sequence[Call]) -> None:
        """Records attempts, durably."""

    def spent(self, run_id: str | None = None, judge_id: str | None = None) -> builtins.list[Spent]:
        """Tokens and cost by model, question and judge.

        Args:
            run_id: of this run; None = of all, and of calls made for none.
            judge_id: by this judge; None = by all.
        """

    def by_response(self, run_id: str, judge_id: str | None = None) -> dict[tuple[str, int], Paid]:
        """(query_id, repeat) -> what was paid for it, in example order; responses without a call are left out.

        Args:
            run_id: of this run.
            judge_id: by this judge; None = by all.
        """


class Judges(Protocol):
    """What is known about judges."""

    def keep(self, judge_id: str, spec: str) -> None:
        """Keeps the spec that a judge is built from: a text that names no key."""

    def spec(self, judge_id: str) -> str | None:
        """The spec that a judge is built from; None where none is known."""

    def repeats(self, run_id: str, judge_id: str) -> builtins.list[int]:
        """Which askings of a judge have scored this run, ascending."""
