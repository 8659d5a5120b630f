"""Faults planted in a system on purpose, so that what an evaluation finds can be checked against what was broken."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import ClassVar, Protocol

from ragauge.data.example import Example
from ragauge.data.response import Passage, Response
from ragauge.errors import UsageError


class Answering(Protocol):
    """A system that a fault can be planted in; `ReferenceRag` is one."""

    def respond(self, example: Example) -> Response:
        """The honest answer, with candidates."""

    def respond_from(
        self, example: Example, candidates: Sequence[Passage], *, retrieval_ms: float = 0.0, may_refuse: bool = True
    ) -> Response:
        """The answer from a ranking that is handed in."""


def chance(seed: int, *parts: str) -> float:
    """A number in [0, 1) that depends on the seed and the words alone: the same on every machine and in any order."""
    mixed = hashlib.sha256("\x1f".join((str(seed), *parts)).encode()).digest()
    return int.from_bytes(mixed[:8], "big") / 2**64


@dataclass(frozen=True, slots=True)
class Fault:
    """One way to break an answer, and the questions that it strikes.

    Attributes:
        share: of the questions in `segments`, how many are struck; each is drawn by itself from seed and query_id.
        seed: of that draw.
        segments: column -> values; a question is struck only if it has one of the values in every column named.

    Class facts:
        name: what is recorded as planted.
        causes: the causes of a failure that a diagnosis may rightly name, the likeliest first.
    """

    share: float = 1.0
    seed: int = 0
    segments: Mapping[str, Collection[str]] = field(default_factory=dict)

    name: ClassVar[str]
    causes: ClassVar[tuple[str, ...]]

    def __post_init__(self) -> None:
        if not 0 <= self.share <= 1:
            raise UsageError(f"{type(self).__name__}: share must lie between 0 and 1, got {self.share}.")

    def strikes(self, example: Example) -> bool:
        """Whether this question is to be spoilt."""
        inside = all(example.segments.get(column) in values for column, values in self.segments.items())
        return inside and chance(self.seed, self.name, example.query_id) < self.share

    def spoil(self, example: Example, honest: Response, system: Answering, /) -> Response | None:
        """The spoilt response; None where there is nothing to spoil, such as a number to change."""
        raise NotImplementedError


class FaultySystem:
    """A system whose answers are spoilt for some questions.

    Of several faults that strike a question, the first that can spoil its answer wins, alone.

    Args:
        system: what is honest.
        faults: tried in this order.
    """

    def __init__(self, system: Answering, faults: Sequence[Fault] = ()) -> None:
        self._system = system
        self._faults = tuple(faults)
        self._planted: dict[str, str] = {}

    @property
    def planted(self) -> Mapping[str, str]:
        """query_id -> name of the fault, of the questions answered so far; one that was not spoilt is absent."""
        return MappingProxyType(self._planted)

    def respond(self, example: Example) -> Response:
        """The system's answer, spoilt or not."""
        honest = self._system.respond(example)
        for fault in self._faults:
            spoilt = fault.spoil(example, honest, self._system) if fault.strikes(example) else None
            if spoilt is not None:
                self._planted[example.query_id] = fault.name
                return spoilt
        self._planted.pop(example.query_id, None)
        return honest
