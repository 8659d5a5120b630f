"""A judge's asks answered from a list: no mock, no event loop."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any, TypeVar

from ragauge.core.ask import Ask, Reply

T = TypeVar("T")
Said = Mapping[str, Any] | str | Reply


def reply(said: Said) -> Reply:
    """A reply from JSON types, from text, or as it is."""
    if isinstance(said, Reply):
        return said
    return Reply("ok", said if isinstance(said, str) else json.dumps(said), finish="stop")


def answered(asking: Generator[list[Ask], list[Reply], T], *turns: Sequence[Said]) -> tuple[T, list[list[Ask]]]:
    """Drives a generator with one list of replies a turn; returns what it found and what it asked."""
    asked: list[list[Ask]] = []
    left = list(turns)
    try:
        asks = next(asking)
        while True:
            asked.append(asks)
            replies = left.pop(0)
            assert len(replies) == len(asks), f"turn {len(asked)} asks {len(asks)} times"
            asks = asking.send([reply(one) for one in replies])
    except StopIteration as done:
        assert not left, f"{len(left)} turns were never asked"
        found: T = done.value
        return found, asked


def always(asking: Generator[list[Ask], list[Reply], T], answer: Callable[[Ask], Said]) -> tuple[T, list[Ask]]:
    """Drives a generator with a function."""
    asked: list[Ask] = []
    try:
        asks = next(asking)
        while True:
            asked += asks
            asks = asking.send([reply(answer(ask)) for ask in asks])
    except StopIteration as done:
        found: T = done.value
        return found, asked
