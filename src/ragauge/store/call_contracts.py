"""What the store does with what models said and what it cost. `tests/store` runs each contract on every back end."""

from __future__ import annotations

import builtins
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

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
    """Calls of one model for one question within one run."""

    model: ModelName
    question: str
    calls: int
    failed: int
    input_tokens: int
    output_tokens: int
    cached_tokens: int
    cost: float | None
    unpriced: int     # calls whose price is unknown; cost leaves them out


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

    def spent(self, run_id: str | None = None) -> builtins.list[Spent]:
        """Tokens and cost by model and question, of one run or of all."""

    def by_response(self, run_id: str) -> dict[tuple[str, int], float | None]:
        """Cost by (query_id, repeat) of the responses that calls were made for; None where a price is unknown."""
