"""Responses as JSON lines, as `rg.capture` writes them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from ragauge.core.values import described
from ragauge.monitoring.intake.bodies import Refused
from ragauge.monitoring.intake.otlp import Left
from ragauge.readers.aliases import names_of, snake
from ragauge.store.inbox import TracePart

LONGEST_ID = 200  # characters
CAPTURED = "%Y%m%dT%H%M%S.%f"  # how the ids of captured responses begin
MOST_NAMED = 20  # lines that are left out
CONTENT = frozenset({*names_of("query"), *names_of("answer"), *names_of("passages"), "error"})


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines that can be read.

    Attributes:
        body: these lines alone.
        parts: one a line, by what identifies it.
        left: lines that are left out.
        named: why the first twenty of them are.
    """

    body: bytes
    parts: tuple[TracePart, ...]
    left: Left
    named: tuple[str, ...] = ()


def parse(body: bytes, *, dated: bool = False) -> Lines:
    """The lines of a body, each on its own: one that cannot be read takes no other with it.

    Args:
        body: JSON lines.
        dated: lines count from when they were captured, where their ids say it.

    Raises:
        Refused: 400, where no line can be read.
    """
    wrong, kept, parts = list[str](), list[bytes](), dict[str, TracePart]()
    for n, line in enumerate(body.splitlines(), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            wrong.append(f"line {n} is no JSON: {str(error)[:200]}")
            continue
        if why := no_response(row):
            wrong.append(f"line {n}: {why}")
            continue
        kept.append(line)
        trace_id = id_of(row, line)
        parts[trace_id] = TracePart(trace_id, rooted=True, began=_captured_at(trace_id) if dated else None)
    if wrong and not kept:
        raise Refused(400, f"no line can be read; {several(wrong)}. Send a JSON object a line, as rg.capture writes.")
    left = Left(len(wrong), next(iter(wrong), ""))
    return Lines(b"\n".join(kept), tuple(parts.values()), left, tuple(wrong[:MOST_NAMED]))


def _captured_at(query_id: str) -> float | None:
    """When a response was captured, by its id, seconds since 1970; None where the id does not say it.

    >>> _captured_at("20260131T101500.250000-3f9a"), _captured_at("q1")
    (1769854500.25, None)
    """
    try:
        return datetime.strptime(query_id.partition("-")[0], CAPTURED).replace(tzinfo=UTC).timestamp()
    except ValueError:
        return None


def several(wrong: Sequence[str]) -> str:
    """The first twenty mistakes, and how many more there are."""
    more = f"; and {len(wrong) - MOST_NAMED:,} more" if len(wrong) > MOST_NAMED else ""
    return "; ".join(wrong[:MOST_NAMED]) + more


def no_response(row: Any) -> str:
    """Why a row of JSON is no response; "" = it is one."""
    if not isinstance(row, Mapping):
        return f"expected an object, got {described(row)}"
    if CONTENT.isdisjoint(snake(str(key)) for key in row):
        return f"expected a response, with query and answer, got {described(row)}"
    return ""


def rows_of(body: bytes, wanted: frozenset[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """(id, row) of some lines of a kept body."""
    for line in body.split(b"\n"):
        row = json.loads(line)
        if (trace_id := id_of(row, line)) in wanted:
            yield trace_id, row


def id_of(row: Mapping[str, object], line: bytes) -> str:
    """What identifies a line: its query_id, so that it may be sent again; a hash of the line where it has none."""
    given = row.get("query_id")
    if isinstance(given, str) and 0 < len(given) <= LONGEST_ID:
        return given
    return f"line:{hashlib.sha256(line).hexdigest()[:32]}"
