"""Responses as JSON lines, as `rg.capture` writes them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from ragauge.core.values import describe_value
from ragauge.monitoring.intake.bodies import RequestRefusedError
from ragauge.monitoring.intake.otlp import SkippedItems
from ragauge.readers.aliases import list_field_names, to_snake_case
from ragauge.store.inbox import TracePart

MAX_ID_CHARS = 200  # characters
CAPTURE_TIME_FORMAT = "%Y%m%dT%H%M%S.%f"  # how the ids of captured responses begin
MAX_NAMED_LINES = 20  # lines that are left out
CONTENT_KEYS = frozenset(
    {*list_field_names("query"), *list_field_names("answer"), *list_field_names("passages"), "error"}
)


@dataclass(frozen=True, slots=True)
class ParsedLines:
    """Lines that can be read."""

    body: bytes  #: these lines alone.
    parts: tuple[TracePart, ...]  #: one a line, by what identifies it.
    left: SkippedItems  #: lines that are left out.
    named: tuple[str, ...] = ()  #: why the first twenty of them are.


def parse_lines(body: bytes, *, dated: bool = False) -> ParsedLines:
    """The lines of a body, each on its own: one that cannot be read takes no other with it.

    Args:
        body: JSON lines.
        dated: lines count from when they were captured, where their ids say it.

    Raises:
        Refused: 400, where no line can be read.
    """
    wrong, readable, trace_parts = list[str](), list[bytes](), dict[str, TracePart]()
    for n, line in enumerate(body.splitlines(), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            wrong.append(f"line {n} is not valid JSON: {str(error)[:200]}")
            continue
        if reason := find_response_problem(row):
            wrong.append(f"line {n}: {reason}")
            continue
        readable.append(line)
        trace_id = get_row_id(row, line)
        trace_parts[trace_id] = TracePart(trace_id, rooted=True, began=_parse_capture_time(trace_id) if dated else None)
    if wrong and not readable:
        raise RequestRefusedError(
            400,
            f"no line could be read; {format_mistakes(wrong)}. Send one JSON object per line, as rg.capture writes.",
        )
    skipped = SkippedItems(len(wrong), next(iter(wrong), ""))
    return ParsedLines(b"\n".join(readable), tuple(trace_parts.values()), skipped, tuple(wrong[:MAX_NAMED_LINES]))


def _parse_capture_time(query_id: str) -> float | None:
    """When a response was captured, by its id, seconds since 1970; None where the id does not say it.

    >>> _parse_capture_time("20260131T101500.250000-3f9a"), _parse_capture_time("q1")
    (1769854500.25, None)
    """
    try:
        return datetime.strptime(query_id.partition("-")[0], CAPTURE_TIME_FORMAT).replace(tzinfo=UTC).timestamp()
    except ValueError:
        return None


def format_mistakes(wrong: Sequence[str]) -> str:
    """The first twenty mistakes, and how many more there are."""
    more = f"; and {len(wrong) - MAX_NAMED_LINES:,} more" if len(wrong) > MAX_NAMED_LINES else ""
    return "; ".join(wrong[:MAX_NAMED_LINES]) + more


def find_response_problem(row: Any) -> str:
    """Why a row of JSON is no response; "" = it is one."""
    if not isinstance(row, Mapping):
        return f"expected an object, got {describe_value(row)}"
    if CONTENT_KEYS.isdisjoint(to_snake_case(str(key)) for key in row):
        return f"expected a response, with query and answer, got {describe_value(row)}"
    return ""


def iterate_rows(body: bytes, trace_ids: frozenset[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """(id, row) of some lines of a kept body."""
    for line in body.split(b"\n"):
        row = json.loads(line)
        if (trace_id := get_row_id(row, line)) in trace_ids:
            yield trace_id, row


def get_row_id(row: Mapping[str, object], line: bytes) -> str:
    """What identifies a line: its query_id, so that it may be sent again; a hash of the line where it has none."""
    query_id = row.get("query_id")
    if isinstance(query_id, str) and 0 < len(query_id) <= MAX_ID_CHARS:
        return query_id
    return f"line:{hashlib.sha256(line).hexdigest()[:32]}"
